//! `PartEvaluator`: an evaluator that sees a part of the output, or turns of a conversation.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::item::{Item, Output};
use cobalt_core::report::{Transcript, Turn};
use cobalt_core::wording::count;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::field_path::AgentField;
use super::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
#[cfg(feature = "schema")]
use crate::settings::NamedChoice as _;
use crate::settings::{NonEmptyString, named_choices};
use crate::thread_pool::join_all;

/// An evaluator that sees a part of the output, one turn of a conversation, or each turn. Made by [`EvaluatorExt`].
#[derive(Clone)]
pub struct PartEvaluator {
    evaluator: Arc<dyn Evaluator>,
    part: Part,
}

/// What every evaluator can see instead of the whole output: a part of it, one turn of a conversation, or each turn.
///
/// The list of evaluators in [`experiment`](macro@crate::experiment) needs no import for these methods.
pub trait EvaluatorExt: Evaluator + Sized {
    /// This evaluator, for a part of the output: a path such as `answer.text`, or `metadata.plan`. A missing part is a scoring error.
    ///
    /// ```
    /// use cobalt::{Contains, EvaluatorExt as _};
    ///
    /// let cites = Contains::text("cites", "https://").part("answer.sources[0]");
    /// ```
    fn part(self, path: &str) -> PartEvaluator {
        PartEvaluator::new(self, Part::Path(part_path(path)))
    }

    /// This evaluator, for one turn of a [conversation](crate::conversations), from 1. It sees the reply as the output, the message of
    /// the user as the item's `input`, and the spans of the turn. It does not apply to shorter conversations.
    ///
    /// ```
    /// use cobalt::{Contains, EvaluatorExt as _};
    ///
    /// let greets = Contains::text("greets", "Hello").turn(1);
    /// ```
    fn turn(self, number: usize) -> PartEvaluator {
        PartEvaluator::new(self, Part::Turn(number))
    }

    /// This evaluator, for the last turn of a conversation. See [`turn`](Self::turn).
    fn last_turn(self) -> PartEvaluator {
        PartEvaluator::new(self, Part::LastTurn)
    }

    /// This evaluator, for each turn of a conversation. The reason names the turns below the pass mark; the score's metadata has all as
    /// `turns`. See [`turn`](Self::turn).
    ///
    /// ```
    /// use cobalt::{CombineTurns, Contains, EvaluatorExt as _};
    ///
    /// let polite = Contains::texts("polite", ["shut up"]).none().each_turn(CombineTurns::Min);
    /// ```
    fn each_turn(self, combine: CombineTurns) -> PartEvaluator {
        PartEvaluator::new(self, Part::EachTurn(combine))
    }
}

impl<E: Evaluator> EvaluatorExt for E {}

/// What the evaluator sees.
#[derive(Clone, Debug)]
enum Part {
    /// The value at a path into the output.
    Path(AgentField),
    /// A turn, by its number from 1.
    Turn(usize),
    LastTurn,
    EachTurn(CombineTurns),
}

/// How the scores of all turns become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CombineTurns {
    /// The lowest.
    Min,
    /// The arithmetic mean.
    Mean,
    /// The highest.
    Max,
}

named_choices! {
    /// How the scores of all turns become one.
    CombineTurnsName(CombineTurns), "combination", "combinations", "the name of ": "min" => Min, "mean" => Mean, "max" => Max;
}

/// A number of a turn, or `"last"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TurnChoice {
    /// The number, from 1.
    Number(usize),
    /// A turn by name.
    Named(TurnName),
}

/// The name of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnName {
    /// The last one.
    Last,
}

impl<'de> Deserialize<'de> for TurnChoice {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let odd = || serde::de::Error::custom("expected the number of a turn, at least 1, or \"last\"");
        match Value::deserialize(deserializer)? {
            Value::String(name) if name == "last" => Ok(Self::Named(TurnName::Last)),
            number => match number.as_u64().and_then(|number| usize::try_from(number).ok()) {
                Some(number) if number > 0 => Ok(Self::Number(number)),
                _ => Err(odd()),
            },
        }
    }
}

/// The keys that every evaluator in `cobalt.toml` has.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PartOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<AgentField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    each_turn: Option<CombineTurnsName>,
}

impl PartOptions {
    /// The names of the keys.
    pub const KEYS: [&str; 3] = ["part", "turn", "each-turn"];

    /// Adds the keys to the JSON schema of a table, or of each of several.
    #[cfg(feature = "schema")]
    pub fn add_to_schema(schema: &mut schemars::Schema) {
        let keys = json!({
            "part": {
                "type": "string",
                "pattern": "\\S",
                "description": "The only part of the output that the evaluator sees: a path such as \"output.answer\" or \"metadata.plan\".",
            },
            "turn": {
                "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "last" }],
                "description": "The only turn of the conversation that the evaluator sees: its number from 1, or \"last\".",
            },
            "each-turn": {
                "enum": CombineTurns::ALL.iter().map(|combine| combine.name()).collect::<Vec<_>>(),
                "description": "Scores each turn of the conversation, and combines the scores.",
            },
        });
        let add = |properties: Option<&mut Value>| {
            if let (Some(Value::Object(properties)), Value::Object(keys)) = (properties, &keys) {
                properties.extend(keys.clone());
            }
        };
        match schema.get_mut("oneOf") {
            Some(Value::Array(tables)) => {
                tables.iter_mut().for_each(|table| add(table.get_mut("properties")))
            }
            _ => add(schema.get_mut("properties")),
        }
    }

    /// Rejects contradictory keys.
    pub fn checked(self) -> Result<Self, String> {
        let keys = [self.part.is_some(), self.turn.is_some(), self.each_turn.is_some()];
        let mut set = Self::KEYS.iter().zip(keys).filter(|(_, is_set)| *is_set).map(|(key, _)| *key);
        match (set.next(), set.next()) {
            (Some(one), Some(other)) => {
                Err(format!("`{one}` and `{other}` both set what the evaluator sees; remove one"))
            }
            _ => Ok(self),
        }
    }

    /// The evaluator with what it sees.
    pub fn apply(&self, evaluator: Arc<dyn Evaluator>) -> Arc<dyn Evaluator> {
        let part = match self {
            Self { part: Some(path), .. } => Part::Path(path.clone()),
            Self { turn: Some(TurnChoice::Number(number)), .. } => Part::Turn(*number),
            Self { turn: Some(TurnChoice::Named(TurnName::Last)), .. } => Part::LastTurn,
            Self { each_turn: Some(CombineTurnsName(combine)), .. } => Part::EachTurn(*combine),
            _ => return evaluator,
        };
        Arc::new(PartEvaluator { evaluator, part })
    }
}

impl PartEvaluator {
    fn new(evaluator: impl Evaluator, part: Part) -> Self {
        Self { evaluator: Arc::new(evaluator), part }
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let path = match &self.part {
            Part::Path(path) => path,
            part => return self.score_turns(part, cx).await,
        };
        let value = path.resolve(cx)?.clone();
        let mut output = Output::new(value);
        *output.metadata_mut() = cx.metadata().clone();
        self.evaluator.evaluate(&cx.with_output(output)).await
    }

    async fn score_turns(&self, part: &Part, cx: &EvalContext) -> Result<Score, EvalError> {
        let Some(transcript) = cx.transcript() else {
            return Err(EvalError::new(
                "there is no conversation: the agent does not take turns, see `cobalt::conversations`",
            ));
        };
        let turns = transcript.turns.len();
        let index = match part {
            Part::Turn(number) => number.checked_sub(1),
            Part::LastTurn => turns.checked_sub(1),
            Part::Path(_) | Part::EachTurn(_) => None,
        };
        if let Part::EachTurn(combine) = part {
            return self.score_each(*combine, transcript, cx).await;
        }
        match index.and_then(|index| Some((index, transcript.turns.get(index)?))) {
            Some((index, turn)) => self.evaluator.evaluate(&of_turn(cx, transcript, index, turn)).await,
            None => Ok(Score::not_applicable(format!("the conversation has {}", count(turns, "turn")))),
        }
    }

    async fn score_each(
        &self,
        combine: CombineTurns,
        transcript: &Transcript,
        cx: &EvalContext,
    ) -> Result<Score, EvalError> {
        let turns = transcript.turns.iter().enumerate().map(
            |(index, turn)| -> Pin<Box<dyn Future<Output = _> + Send>> {
                let cx = of_turn(cx, transcript, index, turn);
                Box::pin(async move { self.evaluator.evaluate(&cx).await })
            },
        );
        let (mut scores, mut reasons, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for (number, scored) in (1..).zip(join_all(turns.collect()).await) {
            let scored =
                scored.map_err(|error| EvalError::new(format!("turn {number}: {error}")))?.into_evaluation();
            if let Some(error) = scored.error {
                return Err(EvalError::new(format!("turn {number}: {error}")));
            }
            let Some(score) = scored.score else { continue };
            scores.push(score);
            let is_low = score < self.evaluator.pass_mark();
            let reason = scored.reason.unwrap_or_default();
            if is_low {
                let separator = if reason.is_empty() { "" } else { ": " };
                reasons.push(format!("turn {number} scores {score:.3}{separator}{reason}"));
            }
            entries.push(json!({ "turn": number, "score": score, "reason": reason }));
        }
        let Some(first) = scores.first().copied() else {
            return Ok(Score::not_applicable("the evaluator applies to no turn"));
        };
        let combined = match combine {
            CombineTurns::Min => scores.iter().copied().fold(first, f64::min),
            CombineTurns::Max => scores.iter().copied().fold(first, f64::max),
            CombineTurns::Mean => scores.iter().sum::<f64>() / scores.len() as f64,
        };
        let reason = match reasons.is_empty() {
            true => format!("{} at the pass mark", count(scores.len(), "turn")),
            false => reasons.join("; "),
        };
        Ok(Score::new(combined).reason(reason).metadata("turns", entries))
    }
}

/// What an evaluator of a turn sees: the reply as the output, the message of the user as `input`, and the spans of the turn.
fn of_turn(cx: &EvalContext, transcript: &Transcript, index: usize, turn: &Turn) -> EvalContext {
    let mut output = Output::new(turn.reply.clone().map_or(Value::Null, Value::String));
    let metadata = output.metadata_mut();
    if let Some(tokens) = turn.tokens {
        metadata.insert("tokens".to_owned(), tokens.into());
    }
    if let Some(calls) = recorded_calls(cx, transcript, index) {
        metadata.insert("toolCalls".to_owned(), calls.into());
    }
    let trace = transcript.trace_of_turn(index, cx.trace());
    let mut item = cx.item().clone();
    item.insert("input".to_owned(), turn.message.clone().into());
    cx.with_output(output).with_item(item).with_trace(trace)
}

/// The tool calls of a turn, if the agent recorded all of its calls: they are in the metadata in the order of the turns.
fn recorded_calls(cx: &EvalContext, transcript: &Transcript, index: usize) -> Option<Vec<Value>> {
    let all = cx.metadata().get("toolCalls")?.as_array()?;
    let numbers = transcript.turns.iter().map(|turn| turn.tool_calls.len());
    let before: usize = numbers.clone().take(index).sum();
    let is_complete = numbers.sum::<usize>() == all.len();
    is_complete.then(|| all[before..before + transcript.turns[index].tool_calls.len()].to_vec())
}

impl fmt::Debug for PartEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartEvaluator").field("part", &self.part).field("evaluator", &self.evaluator).finish()
    }
}

impl Evaluator for PartEvaluator {
    fn name(&self) -> &str {
        self.evaluator.name()
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.score(cx))
    }

    fn pass_mark(&self) -> f64 {
        self.evaluator.pass_mark()
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        match &self.part {
            Part::Path(path) => {
                path.check()?;
                self.evaluator.check(setup)
            }
            Part::Turn(0) => Err(CheckError::new("turns are numbered from 1; there is no turn 0")),
            Part::Turn(_) | Part::LastTurn | Part::EachTurn(_) => {
                let with_input = |mut item: Item| {
                    item.insert("input".to_owned(), "the message of the turn".into());
                    item
                };
                let dataset = setup.dataset.clone().map(with_input);
                let Setup { has_workspace, is_partial, .. } = *setup;
                let models = Arc::clone(&setup.models);
                self.evaluator.check(&Setup { dataset, models, has_workspace, is_partial })
            }
        }
    }

    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        self.evaluator.time_limit(timeout)
    }

    fn finish(&self) {
        self.evaluator.finish();
    }

    fn needs_live_agent(&self) -> Option<&str> {
        self.evaluator.needs_live_agent()
    }

    fn fingerprint(&self) -> String {
        format!("{:?} of {}", self.part, self.evaluator.fingerprint())
    }
}

/// The path in Rust code: that of a part of the output, with or without `output`.
fn part_path(path: &str) -> AgentField {
    let is_whole = path == "output" || path.starts_with("output.") || path.starts_with("output[");
    let is_metadata = path.starts_with("metadata.");
    let NonEmptyString(path) = NonEmptyString(match is_whole || is_metadata {
        true => path.to_owned(),
        false => format!("output.{path}"),
    });
    AgentField::new(&path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contains, FnEvaluator};

    fn cx(replies: &[&str]) -> EvalContext {
        let turn = |(index, reply): (usize, &&str)| Turn {
            message: format!("question {}", index + 1),
            reply: Some((*reply).to_owned()),
            start_ms: 10.0 * index as f64,
            latency_ms: 5.0,
            ..Turn::default()
        };
        let turns = replies.iter().enumerate().map(turn).collect();
        let output =
            Output::new(json!({ "answer": { "text": "York" }, "draft": "Leeds" })).metadata("plan", "Hull");
        EvalContext::new(crate::item! { "city": "York" }, output)
            .with_transcript(Transcript { turns, ..Transcript::default() })
    }

    async fn score(evaluator: &PartEvaluator, cx: &EvalContext) -> Result<(Option<f64>, String), String> {
        let score = evaluator.evaluate(cx).await.map_err(|error| error.to_string())?.into_evaluation();
        Ok((score.score, score.reason.unwrap_or_default()))
    }

    fn york() -> Contains {
        Contains::text("york", "York")
    }

    #[tokio::test]
    async fn a_part_of_the_output_is_all_that_the_evaluator_sees() {
        let cx = cx(&[]);
        let found = |path: &'static str| {
            let cx = cx.clone();
            async move { score(&york().part(path), &cx).await.map(|(score, _)| score) }
        };
        assert_eq!(found("answer.text").await, Ok(Some(1.0)));
        assert_eq!(found("output.draft").await, Ok(Some(0.0)));
        assert_eq!(found("metadata.plan").await, Ok(Some(0.0)));
        let error = found("reply").await.unwrap_err();
        assert_eq!(error, "the agent's `output.reply` is missing or null");
    }

    #[tokio::test]
    async fn an_evaluator_sees_one_turn_or_each() {
        let cx = cx(&["To York?", "On Friday.", "York, Friday."]);
        assert_eq!(score(&york().turn(1), &cx).await.unwrap().0, Some(1.0));
        assert_eq!(score(&york().turn(2), &cx).await.unwrap().0, Some(0.0));
        assert_eq!(score(&york().last_turn(), &cx).await.unwrap().0, Some(1.0));
        let (lowest, reason) = score(&york().each_turn(CombineTurns::Min), &cx).await.unwrap();
        assert_eq!(lowest, Some(0.0));
        assert!(reason.starts_with("turn 2 scores 0.000: "), "{reason}");
        let mean = score(&york().each_turn(CombineTurns::Mean), &cx).await.unwrap().0.unwrap();
        assert!((mean - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(score(&york().turn(4), &cx).await, Ok((None, "the conversation has 3 turns".to_owned())));
    }

    #[tokio::test]
    async fn the_message_of_the_turn_is_the_input() {
        let echoed = FnEvaluator::new("second", |cx| {
            cx.item()["input"] == "question 2" && cx.item()["city"] == "York"
        });
        assert_eq!(score(&echoed.turn(2), &cx(&["a", "b"])).await.unwrap().0, Some(1.0));
    }

    #[tokio::test]
    async fn the_recorded_tool_calls_of_a_turn_are_those_of_the_evaluator() {
        let mut transcript = cx(&["a", "b", "c"]).transcript().unwrap().clone();
        transcript.turns[0].tool_calls = vec!["search".to_owned(), "search".to_owned()];
        transcript.turns[2].tool_calls = vec!["book".to_owned()];
        let call = |tool: &str, day: &str| json!({ "tool": tool, "arguments": { "day": day } });
        let calls = json!([call("search", "Monday"), call("search", "Friday"), call("book", "Friday")]);
        let cx = EvalContext::new(Item::new(), Output::new("c").metadata("toolCalls", calls))
            .with_transcript(transcript);
        let days = |evaluator: PartEvaluator| {
            let cx = cx.clone();
            async move { score(&evaluator, &cx).await.map(|(score, _)| score) }
        };
        let number = |wanted: usize| {
            FnEvaluator::new("calls", move |cx: &EvalContext| {
                let calls = cx.tool_calls().map_err(|error| error.to_string())?;
                Ok::<_, String>(calls.len() == wanted)
            })
        };
        assert_eq!(days(number(2).turn(1)).await, Ok(Some(1.0)));
        assert_eq!(days(number(0).turn(2)).await, Ok(Some(1.0)), "no calls, which is known");
        let booked = FnEvaluator::new("friday", |cx: &EvalContext| {
            cx.metadata()["toolCalls"][0]["arguments"]["day"] == "Friday"
        });
        assert_eq!(days(booked.turn(3)).await, Ok(Some(1.0)));
        let searched = crate::ToolCalls::called("searched", "search");
        assert_eq!(days(searched.each_turn(CombineTurns::Min)).await, Ok(Some(0.0)));
    }

    #[tokio::test]
    async fn without_a_conversation_there_is_no_score() {
        let cx = EvalContext::new(Item::new(), Output::new("York"));
        let error = score(&york().last_turn(), &cx).await.unwrap_err();
        assert!(error.starts_with("there is no conversation"), "{error}");
    }
}
