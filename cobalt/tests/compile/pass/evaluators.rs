#![deny(warnings, unused_qualifications, nonstandard_style, missing_debug_implementations, unreachable_pub)]
#![forbid(unsafe_code)]

use cobalt::{EvalContext, Item, Score};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Question {
    answer: String,
}

#[derive(Deserialize)]
struct Answer {
    text: String,
}

#[cobalt::evaluator]
fn of_text(output: &str) -> bool {
    output.len() < 80
}

#[cobalt::evaluator]
fn of_json(output: &Value) -> f64 {
    if output.is_object() { 1.0 } else { 0.0 }
}

#[cobalt::evaluator]
fn of_an_item_and_an_own_type(question: &Question, output: Answer) -> Score {
    Score::from(output.text == question.answer).reason("compared")
}

#[cobalt::evaluator]
fn of_an_owned_item(Question { answer }: Question, _output: String) -> Result<bool, std::fmt::Error> {
    Ok(answer.is_empty())
}

#[cobalt::evaluator]
fn of_everything(item: &Item, output: &str, metadata: &Item, cx: &EvalContext) -> bool {
    item.len() + output.len() + metadata.len() > cx.index()
}

#[cobalt::evaluator]
fn of_nothing() -> bool {
    true
}

#[cobalt::evaluator(name = "a name of its own", pass_mark = 1)]
pub(crate) async fn asynchronous(question: &Question, output: &str, cx: EvalContext) -> f32 {
    std::future::ready(if output.contains(&question.answer) && cx.run_index() == 0 { 1.0 } else { 0.5 }).await
}

const MARK: f64 = 0.7;

#[cobalt::evaluator(pass_mark = MARK)]
async fn r#match(item: Item, output: Value, metadata: Item) -> Result<Score, String> {
    Ok(Score::new((item.len() + metadata.len()) as f64 * output.as_f64().ok_or("not a number")?))
}

mod outer {
    use cobalt::Score;

    // A local variable and a field of the same name do not disturb each other.
    #[cobalt::evaluator]
    pub(crate) fn concise(output: &str) -> Score {
        let concise = output.len() < 80;
        Score::from(concise)
    }
}

fn main() {
    use outer::concise;

    #[cobalt::evaluator]
    fn inside(output: &str) -> bool {
        !output.is_empty()
    }

    let of_text = of_text("short");
    assert!(of_text && inside("x") && of_nothing());
    assert_eq!(concise("short"), Score::new(1.0));
    assert!(of_an_owned_item(Question { answer: String::new() }, String::new()).is_ok());
}
