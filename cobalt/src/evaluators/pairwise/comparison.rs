//! Two answers, compared in both orders, and the score of what came of it.

use std::pin::Pin;

use serde_json::{Map, Value, json};

use crate::evaluators::asking::answer_schema::{object, string};
use crate::evaluators::asking::{answer, tagged};
use crate::evaluators::{EvalError, Score};
use crate::future::join_all;
use crate::llm::{Asking, ModelChoice, Schema};

const TASK: &str = "\
Two answers to the same input follow, `first` and `second`; other texts help to compare them. Decide by the criterion below, and by nothing else, which is \
better. In which order they stand means nothing; which is longer counts only where the criterion speaks of it. Where by the \
criterion neither is better, it is a tie. Give first `reason`, one to three sentences that name what decided, and then `winner`: \
\"first\", \"second\" or \"tie\".";

/// The answers to be compared.
#[derive(Debug)]
pub(super) struct Sides<'a> {
    pub(super) criterion: &'a str,
    pub(super) output: String,
    pub(super) other: String,
    /// The item's field that holds the other answer.
    pub(super) field: &'a str,
    /// What both answer, and other texts that are shown.
    pub(super) texts: Vec<(&'a str, String)>,
}

/// Who is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Winner {
    Output,
    Other,
    Tie,
}

/// What the judge says of one order.
#[derive(Debug)]
struct Verdict {
    winner: Winner,
    reason: Option<String>,
}

impl Sides<'_> {
    /// What the answers are called: nothing tells which is whose.
    pub(super) const TAGS: [&'static str; 2] = ["first", "second"];

    /// Asks in both orders, side by side.
    pub(super) async fn compare(&self, asking: &Asking, model: &ModelChoice) -> Result<Score, EvalError> {
        if self.output == self.other {
            return Ok(
                Score::new(0.5).reason(format!("a tie: the output is the same text as `{}`", self.field))
            );
        }
        let orders = [true, false].map(|output_first| -> Pin<Box<dyn Future<Output = _> + Send + '_>> {
            Box::pin(self.ask(asking, model, output_first))
        });
        let verdicts = join_all(orders.into()).await.into_iter().collect::<Result<Vec<Verdict>, _>>()?;
        Ok(self.score(&verdicts))
    }

    async fn ask(
        &self,
        asking: &Asking,
        model: &ModelChoice,
        output_first: bool,
    ) -> Result<Verdict, EvalError> {
        let [first, second] = Self::TAGS;
        let answers = if output_first { [&self.output, &self.other] } else { [&self.other, &self.output] };
        let texts = self.texts.iter().map(|(name, text)| (*name, text.as_str()));
        let texts: Vec<_> =
            texts.chain([(first, answers[0].as_str()), (second, answers[1].as_str())]).collect();
        let prompt = tagged::prompt(&format!("{TASK}\n\nThe criterion: {}", self.criterion), &texts);
        let read = |answer: &Map<String, Value>| read(answer, output_first);
        tagged::ask(asking, model, prompt, schema(), 0, read).await.map_err(|error| {
            let order = if output_first { first } else { second };
            EvalError::new(format!("no verdict where the output stands {order}: {error}"))
        })
    }

    /// Who wins in both orders has won. Anything else is a tie.
    fn score(&self, verdicts: &[Verdict]) -> Score {
        let count = |winner| verdicts.iter().filter(|verdict| verdict.winner == winner).count();
        let all = verdicts.len();
        let (value, what) = match (count(Winner::Output), count(Winner::Other)) {
            (won, _) if won == all => (1.0, "the output is better in both orders".to_owned()),
            (_, lost) if lost == all => (0.0, format!("`{}` is better in both orders", self.field)),
            (0, 0) => (0.5, "a tie in both orders".to_owned()),
            (_, 0) => (0.5, "a tie: the output is better in one order only".to_owned()),
            (0, _) => (0.5, format!("a tie: `{}` is better in one order only", self.field)),
            _ => (0.5, "a tie: each is better in one order".to_owned()),
        };
        let reasons = verdicts.iter().zip(Self::TAGS).filter_map(|(verdict, place)| {
            verdict.reason.as_ref().map(|reason| format!("; output {place}: {reason}"))
        });
        let reason = [what].into_iter().chain(reasons).collect::<String>();
        let (output, other) = ("output".to_owned(), format!("item.{}", self.field));
        let orders = [(&output, &other), (&other, &output)].into_iter().zip(verdicts);
        let orders = orders.map(|((first, second), Verdict { winner, reason })| {
            let winner = match winner {
                Winner::Output => &output,
                Winner::Other => &other,
                Winner::Tie => "tie",
            };
            json!({ "first": first, "second": second, "winner": winner, "reason": reason })
        });
        Score::new(value).reason(reason).metadata("orders", orders.collect::<Vec<_>>())
    }
}

fn schema() -> Schema {
    let [first, second] = Sides::TAGS;
    let winner =
        json!({ "type": "string", "enum": [first, second, "tie"], "description": "which is better" });
    Schema { name: "comparison", schema: object(&[("reason", string("what decided")), ("winner", winner)]) }
}

fn read(answer: &Map<String, Value>, output_first: bool) -> Result<Verdict, String> {
    let named = answer::field(answer, "winner")?;
    let winner = match named.as_str() {
        Some("tie") => Winner::Tie,
        Some("first") if output_first => Winner::Output,
        Some("second") if !output_first => Winner::Output,
        Some("first" | "second") => Winner::Other,
        _ => {
            let named = answer::shown(named);
            return Err(format!("`winner` is {named}; it must be \"first\", \"second\" or \"tie\""));
        }
    };
    Ok(Verdict { winner, reason: answer::reasons(answer, "reason") })
}
