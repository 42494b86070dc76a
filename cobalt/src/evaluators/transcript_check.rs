//! `TranscriptCheck`: scores the course of a conversation, without a model.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::report::{ConversationEnd, Transcript};
use cobalt_core::wording::count;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::options::{Options, fingerprint};
use super::reasons::format_list;
use super::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::settings::{
    NamedChoice as _, NoSharedKeys, NonEmptyString, NonNegativeInt, ScoreValue, named_choices, non_empty_list,
};

/// Scores the course of a [conversation](crate::conversations): its number of turns, repeated replies, the expectations of its script,
/// and how it ended.
///
/// No model is called. By default an output passes only with a full score; [`pass_mark`](Self::pass_mark) changes that.
///
/// ```
/// use cobalt::TranscriptCheck;
/// use cobalt::report::ConversationEnd;
///
/// let brief = TranscriptCheck::turns("brief", 1..=6);
/// let fresh = TranscriptCheck::no_repeated_reply("fresh");
/// let script = TranscriptCheck::script("script");
/// let done = TranscriptCheck::ended("done", [ConversationEnd::GoalMet]);
/// ```
#[derive(Clone)]
pub struct TranscriptCheck(TranscriptCheckOptions);

fingerprint! {
    TranscriptCheck as "TranscriptCheck", it: name = it.name(), check = it.0.check.0, min_turns = it.0.min(), max_turns = it.0.max(),
    ends = it.0.ends(), pass_mark = Evaluator::pass_mark(it)
}

/// The keys of `type = "transcript"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("allOf" = check_rules_schema())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TranscriptCheckOptions {
    /// The check to apply.
    check: TranscriptCheckName,
    /// Name in reports. Default: the check.
    name: Option<NonEmptyString>,
    /// For "turns", the minimum number of turns.
    min_turns: Option<NonNegativeInt>,
    /// For "turns", the maximum number of turns.
    max_turns: Option<NonNegativeInt>,
    /// For "ended", how the conversation may end.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    ends: Option<Vec<AllowedEndName>>,
    /// Minimum score for an output to pass. Default: 1.
    pass_mark: Option<ScoreValue>,
}

named_choices! {
    /// A check of a conversation.
    TranscriptCheckName(Check), "transcript check", "checks": "turns" => Turns, "no-repeated-reply" => NoRepeatedReply,
        "script" => Script, "ended" => Ended;
    /// How a conversation may end.
    AllowedEndName(AllowedEnd), "end of a conversation", "ends": "script-end" => ScriptEnd, "goal-met" => GoalMet, "gave-up" => GaveUp,
        "handed-over" => HandedOver, "agent-ended" => AgentEnded, "turn-limit" => TurnLimit;
}

/// A check of a conversation, as named in `cobalt.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Whether the number of turns is between `min-turns` and `max-turns`.
    Turns,
    /// Whether no reply of the agent repeats an earlier one.
    NoRepeatedReply,
    /// The share of the script's expectations that are met.
    Script,
    /// Whether the conversation ended in one of `ends`.
    Ended,
}

/// How a conversation may end that is scored: one that failed has no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AllowedEnd {
    /// All turns of the script were played.
    ScriptEnd,
    /// The simulated user reached its goal.
    GoalMet,
    /// The simulated user gave up.
    GaveUp,
    /// The agent handed over.
    HandedOver,
    /// The agent ended the conversation.
    AgentEnded,
    /// The limit of turns was reached.
    TurnLimit,
}

impl AllowedEnd {
    /// The end, if conversations with it are scored.
    fn of(end: ConversationEnd) -> Option<Self> {
        match end {
            ConversationEnd::ScriptEnd => Some(Self::ScriptEnd),
            ConversationEnd::GoalMet => Some(Self::GoalMet),
            ConversationEnd::GaveUp => Some(Self::GaveUp),
            ConversationEnd::HandedOver => Some(Self::HandedOver),
            ConversationEnd::AgentEnded => Some(Self::AgentEnded),
            ConversationEnd::TurnLimit => Some(Self::TurnLimit),
            _ => None,
        }
    }
}

/// The keys that checks require or reject, for the JSON schema.
#[cfg(feature = "schema")]
fn check_rules_schema() -> serde_json::Value {
    let only = |check: Check| serde_json::json!({ "properties": { "check": { "const": check } } });
    serde_json::json!([
        {
            "if": only(Check::Turns),
            "then": { "anyOf": [{ "required": ["min-turns"] }, { "required": ["max-turns"] }] },
            "else": { "properties": { "min-turns": false, "max-turns": false } },
        },
        { "if": only(Check::Ended), "then": { "required": ["ends"] }, "else": { "properties": { "ends": false } } },
    ])
}

impl Options for TranscriptCheckOptions {
    type Shared = NoSharedKeys;

    fn checked(self, _: &NoSharedKeys) -> Result<Self, String> {
        self.problem().map_or(Ok(self), Err)
    }

    fn make(mut self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        self.name.get_or_insert_with(|| NonEmptyString(self.check.0.name().to_owned()));
        Ok(Arc::new(TranscriptCheck(self)))
    }
}

impl TranscriptCheckOptions {
    fn min(&self) -> usize {
        self.min_turns.map_or(0, |NonNegativeInt(turns)| turns)
    }

    fn max(&self) -> usize {
        self.max_turns.map_or(usize::MAX, |NonNegativeInt(turns)| turns)
    }

    fn ends(&self) -> Vec<AllowedEnd> {
        self.ends.iter().flatten().map(|AllowedEndName(end)| *end).collect()
    }

    /// A missing key, or one that the check does not support.
    fn problem(&self) -> Option<String> {
        let Self { check: TranscriptCheckName(check), min_turns, max_turns, ends, .. } = self;
        let name = check.name();
        let has_range = min_turns.is_some() || max_turns.is_some();
        match check {
            Check::Turns if !has_range => {
                return Some(format!(
                    "the check `{name}` needs a number of turns; add `min-turns` or `max-turns`"
                ));
            }
            Check::Turns if self.min() > self.max() => {
                return Some(format!(
                    "at least {} and at most {} turns is impossible",
                    self.min(),
                    self.max()
                ));
            }
            Check::Ended if self.ends().is_empty() => {
                return Some(format!("the check `{name}` needs how the conversation may end; add `ends`"));
            }
            _ => {}
        }
        let extra = [
            ("min-turns", min_turns.is_some(), Check::Turns),
            ("max-turns", max_turns.is_some(), Check::Turns),
            ("ends", ends.is_some(), Check::Ended),
        ];
        let (key, ..) = extra.into_iter().find(|(_, is_set, owner)| *is_set && check != owner)?;
        Some(format!("the check `{name}` does not use `{key}`; remove it"))
    }
}

impl TranscriptCheck {
    /// Scores 1 if the number of turns is within a range, such as `2..=6`, else 0.
    pub fn turns(name: impl Into<String>, turns: RangeInclusive<usize>) -> Self {
        let mut check = Self::new(name, Check::Turns);
        check.0.min_turns = Some(NonNegativeInt(*turns.start()));
        check.0.max_turns = Some(NonNegativeInt(*turns.end()));
        check
    }

    /// The share of replies that do not repeat an earlier reply; upper and lower case and white space do not matter.
    pub fn no_repeated_reply(name: impl Into<String>) -> Self {
        Self::new(name, Check::NoRepeatedReply)
    }

    /// The share of the script's expectations, `expect`, that are met. A conversation without any does not apply.
    pub fn script(name: impl Into<String>) -> Self {
        Self::new(name, Check::Script)
    }

    /// Scores 1 if the conversation ended in one of these ways, else 0. A conversation that ends with an error or a timeout has no
    /// output, so it is never scored.
    pub fn ended(name: impl Into<String>, ends: impl IntoIterator<Item = ConversationEnd>) -> Self {
        let mut check = Self::new(name, Check::Ended);
        check.0.ends = Some(ends.into_iter().filter_map(AllowedEnd::of).map(AllowedEndName).collect());
        check
    }

    fn new(name: impl Into<String>, check: Check) -> Self {
        Self(TranscriptCheckOptions {
            check: TranscriptCheckName(check),
            name: Some(NonEmptyString(name.into())),
            min_turns: None,
            max_turns: None,
            ends: None,
            pass_mark: None,
        })
    }

    /// Sets the minimum score for an output to pass. Default: 1.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(ScoreValue(mark));
        self
    }

    fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.0.problem() {
            return Err(EvalError::new(problem));
        }
        let Some(transcript) = cx.transcript() else {
            return Err(EvalError::new(
                "there is no conversation: the agent does not take turns, see `cobalt::conversations`",
            ));
        };
        Ok(match self.0.check.0 {
            Check::Turns => {
                let turns = transcript.turns.len();
                Score::from((self.0.min()..=self.0.max()).contains(&turns)).reason(count(turns, "turn"))
            }
            Check::NoRepeatedReply => no_repeated_reply(transcript),
            Check::Script => script(transcript),
            Check::Ended => {
                let is_allowed =
                    AllowedEnd::of(transcript.end).is_some_and(|end| self.0.ends().contains(&end));
                Score::from(is_allowed).reason(transcript.end.label())
            }
        })
    }
}

fn no_repeated_reply(transcript: &Transcript) -> Score {
    let mut said = HashMap::new();
    let mut repeated = Vec::new();
    let replies =
        (1..).zip(&transcript.turns).filter_map(|(number, turn)| Some((number, turn.reply.as_ref()?)));
    let mut all = 0;
    for (number, reply) in replies {
        let words: Vec<_> = reply.split_whitespace().map(str::to_lowercase).collect();
        all += 1;
        match said.get(&words) {
            Some(first) => repeated.push(format!("turn {number} repeats turn {first}")),
            None => drop(said.insert(words, number)),
        }
    }
    let reason = if repeated.is_empty() { "no reply is repeated".to_owned() } else { format_list(&repeated) };
    let share = if all == 0 { 1.0 } else { (all - repeated.len()) as f64 / all as f64 };
    Score::new(share).reason(reason)
}

/// Whether the item has a script of which no turn says what the reply must meet. A simulated user has no script.
fn expects_nothing(item: &Item) -> bool {
    let turns = item.get("turns").and_then(Value::as_array);
    turns.is_some_and(|turns| turns.iter().all(|turn| turn.get("expect").is_none()))
}

fn script(transcript: &Transcript) -> Score {
    let checks = || {
        (1..)
            .zip(&transcript.turns)
            .flat_map(|(number, turn)| turn.checks.iter().map(move |check| (number, check)))
    };
    let all = checks().count() + transcript.unplayed.len();
    if all == 0 {
        return Score::not_applicable("the script expects nothing");
    }
    let missed = checks().filter(|(_, check)| !check.passed);
    let missed = missed.map(|(number, check): (i32, _)| format!("turn {number}: {}", check.expected));
    let unplayed = transcript.unplayed.iter().map(|check| check.expected.clone());
    let missed: Vec<_> = missed.chain(unplayed).collect();
    let met = all - missed.len();
    let reason = match missed.is_empty() {
        true => format!("{} met", count(all, "expectation")),
        false => format!("{met} of {} met; missed: {}", count(all, "expectation"), format_list(&missed)),
    };
    Score::new(met as f64 / all as f64).reason(reason)
}

impl Evaluator for TranscriptCheck {
    fn name(&self) -> &str {
        self.0.name.as_ref().map_or("", |NonEmptyString(name)| name)
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn pass_mark(&self) -> f64 {
        self.0.pass_mark.map_or(1.0, |ScoreValue(mark)| mark)
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        if let Some(problem) = self.0.problem() {
            return Err(CheckError::new(problem));
        }
        let is_unused = self.0.check.0 == Check::Script
            && !setup.is_partial
            && !setup.dataset.is_empty()
            && setup.items().all(|item| expects_nothing(&item));
        if is_unused {
            return Err(CheckError::new(
                "no turn of any item's `turns` has `expect`, so the check `script` checks nothing; add `expect`, or use another check",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::item::Output;
    use cobalt_core::report::{Turn, TurnCheck};

    use super::*;

    fn scored(check: &TranscriptCheck, transcript: Transcript) -> (Option<f64>, String) {
        let cx = EvalContext::new(Item::new(), Output::new("Done.")).with_transcript(transcript);
        let score = check.score(&cx).unwrap().into_evaluation();
        (score.score, score.reason.unwrap())
    }

    fn transcript(replies: &[&str]) -> Transcript {
        let turn = |reply: &&str| Turn { reply: Some((*reply).to_owned()), ..Turn::default() };
        Transcript { turns: replies.iter().map(turn).collect(), ..Transcript::default() }
    }

    #[test]
    fn turns_are_counted() {
        let brief = TranscriptCheck::turns("brief", 2..=3);
        assert_eq!(scored(&brief, transcript(&["a"])), (Some(0.0), "1 turn".to_owned()));
        assert_eq!(scored(&brief, transcript(&["a", "b", "c"])).0, Some(1.0));
    }

    #[test]
    fn a_repeated_reply_is_named() {
        let found = scored(
            &TranscriptCheck::no_repeated_reply("n"),
            transcript(&["Where to?", "When?", "where  to?", "Ok."]),
        );
        assert_eq!(found, (Some(0.75), "turn 3 repeats turn 1".to_owned()));
    }

    #[test]
    fn the_script_is_met_in_part() {
        let mut played = transcript(&["a", "b"]);
        let check = |expected: &str, passed| TurnCheck { expected: expected.to_owned(), passed };
        played.turns[1].checks = vec![check("contains \"b\"", true), check("contains \"c\"", false)];
        let found = scored(&TranscriptCheck::script("n"), played);
        assert_eq!(found, (Some(0.5), "1 of 2 expectations met; missed: turn 2: contains \"c\"".to_owned()));
        assert_eq!(scored(&TranscriptCheck::script("n"), transcript(&["a"])).0, None);
        let unplayed = vec![check("turn 2, which was not played: contains \"b\"", false)];
        let ended = Transcript { unplayed, ..transcript(&["a"]) };
        let found = scored(&TranscriptCheck::script("n"), ended);
        let reason = "0 of 1 expectation met; missed: turn 2, which was not played: contains \"b\"";
        assert_eq!(found, (Some(0.0), reason.to_owned()));
    }

    #[test]
    fn the_end_is_one_of_those_that_are_allowed() {
        let done = TranscriptCheck::ended("n", [ConversationEnd::GoalMet, ConversationEnd::HandedOver]);
        let ended = |end| scored(&done, Transcript { end, ..Transcript::default() });
        assert_eq!(ended(ConversationEnd::GoalMet), (Some(1.0), "goal met".to_owned()));
        assert_eq!(ended(ConversationEnd::TurnLimit), (Some(0.0), "turn limit reached".to_owned()));
    }

    #[test]
    fn a_check_that_cannot_work_says_why() {
        for (check, problem) in [
            (
                TranscriptCheck::ended("n", []),
                "the check `ended` needs how the conversation may end; add `ends`",
            ),
            (
                TranscriptCheck::turns("n", RangeInclusive::new(3, 2)),
                "at least 3 and at most 2 turns is impossible",
            ),
        ] {
            assert_eq!(check.0.problem().as_deref(), Some(problem));
        }
        let cx = EvalContext::new(Item::new(), Output::new("x"));
        let error = TranscriptCheck::script("n").score(&cx).unwrap_err().to_string();
        assert!(error.starts_with("there is no conversation"), "{error}");
    }
}
