//! What was answered, scored: relevancy and faithfulness of the answer.

use serde_json::{Map, Value};

use super::judge::Judge;
use super::retrieval::{Finding, share};
use crate::evaluators::asking::answer;
use crate::evaluators::asking::answer_schema::{flag, list_of, object, string};
use crate::evaluators::asking::source::Inputs;
use crate::evaluators::asking::tagged::prompt;
use crate::evaluators::{EvalError, Score};
use crate::future::join_all;
use crate::llm::Schema;
use crate::wording::count;

/// Whether the output answers the input: questions that it would answer are compared with the one that was asked.
pub(super) async fn answer_relevancy(
    judge: &Judge<'_>,
    inputs: &Inputs,
    strictness: u32,
    expected_min: f64,
) -> Result<Score, EvalError> {
    let generated = (0..strictness).map(|which| -> std::pin::Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(question_for(judge, inputs, which))
    });
    let generated = join_all(generated.collect()).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let noncommittal = generated.iter().any(|(_, noncommittal)| *noncommittal);
    let questions: Vec<String> = generated.into_iter().map(|(question, _)| question).collect();
    if noncommittal {
        return Ok(Score::new(0.0).reason("the output evades the question").metadata("questions", questions));
    }
    let input = inputs.text("input");
    let embeddings = judge.embed(questions.iter().map(String::as_str).chain([&*input])).await?;
    let similarities = questions.iter().map(|question| embeddings.similarity(question, &input, expected_min));
    let sum = similarities.sum::<Result<f64, _>>()?;
    let reason = format!("mean likeness of the input to {}", count(questions.len(), "question"));
    Ok(Score::new(sum / questions.len() as f64).reason(reason).metadata("questions", questions))
}

async fn question_for(judge: &Judge<'_>, inputs: &Inputs, which: u32) -> Result<(String, bool), EvalError> {
    let task = "The output was given as an answer to a question that you do not see; the context is what was known. Write \
                the question that the output answers best. Say as well whether the output is noncommittal: 1 where it evades, is \
                vague or says that it does not know, 0 where it commits itself to an answer.";
    let (context, output) = (inputs.text("context"), inputs.text("output"));
    let prompt = prompt(task, &[("context", &context), ("output", &output)]);
    let schema = object(&[
        ("question", string("the question that the output answers")),
        ("noncommittal", flag("1 where the output is noncommittal, else 0")),
    ]);
    let read = |answer: &Map<String, Value>| {
        Ok((answer::text(answer, "question")?.to_owned(), answer::flag(answer, "noncommittal")?))
    };
    judge.ask(prompt, Schema { name: "answer_relevancy", schema }, which, read).await
}

/// The share of the output's statements that follow from the context.
pub(super) async fn faithfulness(judge: &Judge<'_>, inputs: &Inputs) -> Result<Score, EvalError> {
    let statements = statements_of_output(judge, inputs).await?;
    if statements.is_empty() {
        return Ok(Score::new(0.0).reason("the output states nothing"));
    }
    let task = "For each of the statements, in their order, decide whether it follows from the context alone: 1 where the \
                context says so or it plainly follows from it, 0 where it does not.";
    let numbered: Vec<_> =
        statements.iter().enumerate().map(|(index, text)| format!("{}. {text}", index + 1)).collect();
    let prompt = prompt(task, &[("context", &inputs.text("context")), ("statements", &numbered.join("\n"))]);
    let verdict = object(&[
        ("statement", string("the statement")),
        ("reason", string("why it follows from the context or not")),
        ("verdict", flag("1 where it follows from the context, else 0")),
    ]);
    let schema =
        object(&[("faithfulness", list_of(&verdict, "a verdict on each statement, in their order"))]);
    let read = |answer: &Map<String, Value>| {
        let verdicts = answer::objects(answer, "faithfulness")?;
        // A statement that is passed over would raise the share of the others.
        if verdicts.len() != statements.len() {
            let (given, wanted) = (count(verdicts.len(), "verdict"), count(statements.len(), "statement"));
            return Err(format!("`faithfulness` holds {given} on {wanted}; give one on each"));
        }
        verdicts.into_iter().map(|each| Finding::read(each, "verdict")).collect::<Result<Vec<_>, _>>()
    };
    let findings = judge.ask(prompt, Schema { name: "faithfulness", schema }, 0, read).await?;
    Ok(share(findings, "supported by the context"))
}

async fn statements_of_output(judge: &Judge<'_>, inputs: &Inputs) -> Result<Vec<String>, EvalError> {
    let task = "The output answers the input. Take the output apart into its single statements. Each is a full sentence that \
                can be understood by itself: replace words such as `it` or `she` by what they stand for.";
    let (input, output) = (inputs.text("input"), inputs.text("output"));
    let schema = object(&[("statements", list_of(&string("a statement"), "all statements of the output"))]);
    let schema = Schema { name: "statements", schema };
    let prompt = prompt(task, &[("input", &input), ("output", &output)]);
    judge.ask(prompt, schema, 0, |answer| answer::texts(answer, "statements")).await
}
