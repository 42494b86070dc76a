//! The metrics of RAGAS: for retrieval, for generation, and their mean.

use std::pin::Pin;

use cobalt_core::wording::{count, format_decimal};
use serde_json::{Map, Value};

use super::classify::Judge;
use super::{AutoevalKind, Options};
use crate::evaluators::judge_support::inputs::{Inputs, prompt};
use crate::evaluators::judge_support::response;
use crate::evaluators::judge_support::response_schema::{flag, list_of, object, string};
use crate::evaluators::{EvalError, Score};
use crate::llm::Schema;
use crate::metrics::list_contains;
use crate::thread_pool::join_all;

type PartFuture<'a> = Pin<Box<dyn Future<Output = Result<Score, EvalError>> + Send + 'a>>;

/// The arithmetic mean, with its parts in the metadata. If one of them fails, there is no score.
pub async fn ragas(judge: &Judge<'_>, inputs: &Inputs, options: &Options) -> Result<Score, EvalError> {
    let relevancy = answer_relevancy(judge, inputs, options.strictness, options.expected_min());
    let parts: [(AutoevalKind, PartFuture<'_>); 4] = [
        (AutoevalKind::ContextPrecision, Box::pin(context_precision(judge, inputs))),
        (AutoevalKind::ContextRecall, Box::pin(context_recall(judge, inputs))),
        (AutoevalKind::Faithfulness, Box::pin(faithfulness(judge, inputs))),
        (AutoevalKind::AnswerRelevancy, Box::pin(relevancy)),
    ];
    let (kinds, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut scores = Vec::new();
    for (kind, score) in kinds.into_iter().zip(join_all(parts).await) {
        let score = score.map_err(|error| EvalError::new(format!("{kind}: {error}")))?;
        scores.push((kind, score));
    }
    let mean = scores.iter().map(|(_, score)| score.value()).sum::<f64>() / scores.len() as f64;
    let in_words = |(kind, score): &(AutoevalKind, Score)| {
        let why = score.why().map_or_else(String::new, |why| format!(", {why}"));
        format!("{kind} {}{why}", format_decimal(score.value(), 3))
    };
    let reason = scores.iter().map(in_words).collect::<Vec<_>>().join("; ");
    let whole = Score::new(mean).reason(reason);
    Ok(scores.iter().fold(whole, |whole, (kind, part)| whole.metadata(kind.name(), part.value())))
}

/// The share of the expected answer's statements that the context supports.
pub async fn context_recall(judge: &Judge<'_>, inputs: &Inputs) -> Result<Score, EvalError> {
    let task = "The expected text answers the input. Take it apart into its single statements. For each, decide whether it \
                can be attributed to the context: 1 where the context says so or it plainly follows from it, 0 where it does not.";
    let texts = [inputs.text("input"), inputs.text("context"), inputs.text("expected")];
    let prompt = prompt(task, &[("input", &texts[0]), ("context", &texts[1]), ("expected", &texts[2])]);
    let statement = object(&[
        ("statement", string("a statement of the expected text")),
        ("reason", string("why it can or cannot be attributed to the context")),
        ("attributed", flag("1 where it can be attributed to the context, else 0")),
    ]);
    let schema = object(&[("statements", list_of(&statement, "all statements of the expected text"))]);
    let read = |answer: &Map<String, Value>| {
        let statements = response::objects(answer, "statements")?;
        statements.into_iter().map(|each| Finding::read(each, "attributed")).collect::<Result<Vec<_>, _>>()
    };
    let findings = judge.ask(prompt, Schema { name: "context_recall", schema }, 0, read).await?;
    Ok(share(findings, "attributed to the context"))
}

/// Whether the context was useful to reach the expected answer.
pub async fn context_precision(judge: &Judge<'_>, inputs: &Inputs) -> Result<Score, EvalError> {
    let task = "The expected text answers the input. Decide whether the context was useful to arrive at that answer: 1 where \
                it holds what the answer is made of, 0 where it does not.";
    let texts = [inputs.text("input"), inputs.text("context"), inputs.text("expected")];
    let prompt = prompt(task, &[("input", &texts[0]), ("context", &texts[1]), ("expected", &texts[2])]);
    let schema = object(&[
        ("reason", string("why the context was useful or not")),
        ("verdict", flag("1 where the context was useful, else 0")),
    ]);
    let read = |answer: &Map<String, Value>| {
        Ok((response::flag(answer, "verdict")?, response::optional_reasons(answer, "reason")))
    };
    let (useful, reason) = judge.ask(prompt, Schema { name: "context_precision", schema }, 0, read).await?;
    let score = Score::from(useful);
    Ok(match reason {
        Some(reason) => score.reason(reason),
        None => score,
    })
}

/// The share of the context, in code points, that is needed to answer the input.
pub async fn context_relevancy(judge: &Judge<'_>, inputs: &Inputs) -> Result<Score, EvalError> {
    let context = inputs.text("context");
    let length = context.chars().count();
    if length == 0 {
        return Ok(Score::new(0.0).reason("the context is empty"));
    }
    let task = "Pick from the context those sentences that are needed to answer the input. Copy each word for word, without \
                changing or joining anything. Pick none where the context does not help, or where you are not sure.";
    let input = inputs.text("input");
    let prompt = prompt(task, &[("input", &input), ("context", &context)]);
    let sentence = object(&[
        ("sentence", string("a sentence of the context, word for word")),
        ("reasons", list_of(&string("a reason"), "why it is needed")),
    ]);
    let schema = object(&[("sentences", list_of(&sentence, "the sentences that are needed"))]);
    let read = |answer: &Map<String, Value>| {
        let sentences = response::objects(answer, "sentences")?;
        let sentences = sentences.into_iter().map(|each| Ok(response::text(each, "sentence")?.to_owned()));
        sentences.collect::<Result<Vec<_>, String>>()
    };
    let sentences = judge.ask(prompt, Schema { name: "context_relevancy", schema }, 0, read).await?;
    let needed: usize = sentences.iter().map(|sentence| sentence.chars().count()).sum();
    let reason = format!("{} needed, {needed} of {length} characters", count(sentences.len(), "sentence"));
    let score = Score::new((needed as f64 / length as f64).min(1.0));
    Ok(score.reason(reason).metadata("sentences", sentences))
}

/// How far the context names the entities of the expected answer.
pub async fn context_entity_recall(
    judge: &Judge<'_>,
    inputs: &Inputs,
    expected_min: f64,
) -> Result<Score, EvalError> {
    let (expected, context) = (inputs.text("expected"), inputs.text("context"));
    let found = join_all(vec![
        Box::pin(entities(judge, "expected", &expected)),
        Box::pin(entities(judge, "context", &context)),
    ]);
    let mut found = found.await.into_iter();
    let mut next = || found.next().unwrap_or_else(|| Ok(Vec::new()));
    let (expected, context) = (next()?, next()?);
    let embeddings = judge.embed(expected.iter().chain(&context).map(String::as_str)).await?;
    let score = list_similarity(&context, &expected, true, |a, b| embeddings.similarity(a, b, expected_min))?;
    let reason = format!("{} entities expected, {} in the context", expected.len(), context.len());
    Ok(Score::new(score)
        .reason(reason)
        .metadata("expectedEntities", expected)
        .metadata("contextEntities", context))
}

async fn entities(judge: &Judge<'_>, name: &str, text: &str) -> Result<Vec<String>, EvalError> {
    let task = "List the entities that the text names: persons, places, organisations, works, events, dates, quantities and \
                other things with a name. List each once, as the text writes it.";
    let schema = object(&[("entities", list_of(&string("an entity"), "all entities of the text"))]);
    let schema = Schema { name: "entities", schema };
    judge.ask(prompt(task, &[(name, text)]), schema, 0, |answer| response::texts(answer, "entities")).await
}

/// [`list_contains`] with a fallible similarity.
pub fn list_similarity(
    output: &[String],
    expected: &[String],
    allow_extra: bool,
    likeness: impl Fn(&str, &str) -> Result<f64, EvalError>,
) -> Result<f64, EvalError> {
    let failed = std::cell::RefCell::new(None);
    let score = list_contains(output, expected, allow_extra, |a, b| {
        likeness(a, b).unwrap_or_else(|error| {
            failed.borrow_mut().get_or_insert(error);
            0.0
        })
    });
    failed.into_inner().map_or(Ok(score), Err)
}

/// A judge's finding on a statement.
pub struct Finding {
    holds: bool,
    /// The statement and the reason, as the judge wrote them.
    written: Value,
}

impl Finding {
    /// Reads a finding with its verdict in this field.
    pub fn read(written: &Map<String, Value>, verdict: &str) -> Result<Self, String> {
        Ok(Self { holds: response::flag(written, verdict)?, written: Value::Object(written.clone()) })
    }
}

/// The share of statements that hold; 0 if there are none. The metadata has all findings.
pub fn share(findings: Vec<Finding>, what: &str) -> Score {
    let held = findings.iter().filter(|finding| finding.holds).count();
    let score = if findings.is_empty() { 0.0 } else { held as f64 / findings.len() as f64 };
    let reason = format!("{held} of {} {what}", count(findings.len(), "statement"));
    let written: Vec<_> = findings.into_iter().map(|finding| finding.written).collect();
    Score::new(score).reason(reason).metadata("statements", written)
}

/// Whether the output answers the input: compares the input with generated questions that the output would answer.
pub async fn answer_relevancy(
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
    let reason = format!("mean similarity of the input to {}", count(questions.len(), "question"));
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
        Ok((response::text(answer, "question")?.to_owned(), response::flag(answer, "noncommittal")?))
    };
    judge.ask(prompt, Schema { name: "answer_relevancy", schema }, which, read).await
}

/// The share of the output's statements that follow from the context.
pub async fn faithfulness(judge: &Judge<'_>, inputs: &Inputs) -> Result<Score, EvalError> {
    let statements = statements_of_output(judge, inputs).await?;
    if statements.is_empty() {
        return Ok(Score::new(0.0).reason("the output makes no statements"));
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
        let verdicts = response::objects(answer, "faithfulness")?;
        // A skipped statement would distort the share.
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
    judge.ask(prompt, schema, 0, |answer| response::texts(answer, "statements")).await
}
