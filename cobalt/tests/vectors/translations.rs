//! BLEU and chrF against sacrebleu.

use cobalt::metrics::{Bleu, BleuSmoothing, BleuTokenizer, ChrF};
use serde_json::Value;

use crate::case::{Case, Checked, numbers};

pub(crate) fn check_bleu(case: &Case) -> Checked {
    let bleu = bleu(case.input())?;
    let score = match case.input()["level"].as_str() {
        Some("sentence") => bleu.score(text(&case.input()["hypothesis"])?, &texts(case, "references")?),
        Some("corpus") => bleu.corpus_score(corpus(case)?),
        other => return Err(format!("unknown level {other:?}")),
    };
    case.check_score(Ok(score.score))?;
    let expected = case.expected();
    // Percentages there, shares here.
    case.close("BLEU", 100.0 * score.score, &expected["bleu"])?;
    let precisions: Vec<f64> = score.precisions.iter().map(|precision| 100.0 * precision).collect();
    check_list(case, "precisions", &precisions)?;
    // sacrebleu returns the counts after smoothing.
    let k = match bleu.smoothing {
        BleuSmoothing::AddK(k) if score.matches[0] > 0 => k,
        _ => 0.0,
    };
    let smoothed = |counts: &[usize]| -> Vec<f64> {
        (0..).zip(counts).map(|(index, count)| *count as f64 + if index > 0 { k } else { 0.0 }).collect()
    };
    check_list(case, "counts", &smoothed(&score.matches))?;
    check_list(case, "totals", &smoothed(&score.totals))?;
    case.close("brevity penalty", score.brevity_penalty, &expected["bp"])?;
    case.close("output length", score.output_length as f64, &expected["sys_len"])?;
    case.close("reference length", score.reference_length as f64, &expected["ref_len"])
}

fn check_list(case: &Case, field: &str, ours: &[f64]) -> Checked {
    let expected = &case.expected()[field];
    if numbers(expected).len() != ours.len() {
        return Err(format!("{field}: {ours:?}, expected {expected}"));
    }
    (0..).zip(ours).try_for_each(|(index, ours): (usize, _)| case.close(field, *ours, &expected[index]))
}

fn bleu(options: &Value) -> Result<Bleu, String> {
    let value = options["smooth_value"].as_f64();
    Ok(Bleu {
        tokenizer: match text(&options["tokenize"])? {
            "13a" => BleuTokenizer::V13a,
            "none" => BleuTokenizer::None,
            "char" => BleuTokenizer::Char,
            "intl" => BleuTokenizer::Intl,
            other => return Err(format!("unknown tokenizer {other}")),
        },
        smoothing: match text(&options["smooth_method"])? {
            "none" => BleuSmoothing::None,
            "floor" => BleuSmoothing::Floor(value.unwrap_or(0.1)),
            "add-k" => BleuSmoothing::AddK(value.unwrap_or(1.0)),
            "exp" => BleuSmoothing::Exponential,
            other => return Err(format!("unknown smoothing {other}")),
        },
        max_order: order(&options["max_ngram_order"])?,
        effective_order: flag(&options["effective_order"])?,
        lowercase: flag(&options["lowercase"])?,
    })
}

pub(crate) fn check_chrf(case: &Case) -> Checked {
    let options = case.input();
    let chrf = ChrF {
        char_order: order(&options["char_order"])?,
        word_order: order(&options["word_order"])?,
        beta: options["beta"].as_f64().ok_or("no beta")?,
        lowercase: flag(&options["lowercase"])?,
        whitespace: flag(&options["whitespace"])?,
        eps_smoothing: flag(&options["eps_smoothing"])?,
    };
    let score = match options["level"].as_str() {
        Some("sentence") => chrf.score(text(&options["hypothesis"])?, &texts(case, "references")?).score,
        Some("corpus") => chrf.corpus_score(corpus(case)?).score,
        other => return Err(format!("unknown level {other:?}")),
    };
    case.check_score(Ok(score))?;
    case.close("chrF", 100.0 * score, &case.expected()["chrf"])
}

/// The texts of a corpus, each with its references.
fn corpus(case: &Case) -> Result<Vec<(&str, Vec<&str>)>, String> {
    let references = case.input()["references"].as_array().ok_or("no references")?;
    let outputs = texts(case, "hypotheses")?;
    if outputs.len() != references.len() {
        return Err("the numbers of references and texts differ".to_owned());
    }
    outputs.into_iter().zip(references).map(|(output, texts)| Ok((output, list(texts)?))).collect()
}

fn texts<'c>(case: &'c Case, field: &str) -> Result<Vec<&'c str>, String> {
    list(&case.input()[field])
}

fn list(values: &Value) -> Result<Vec<&str>, String> {
    values.as_array().ok_or("no list of texts")?.iter().map(text).collect()
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{value} is not a string"))
}

fn order(value: &Value) -> Result<usize, String> {
    value
        .as_u64()
        .and_then(|order| usize::try_from(order).ok())
        .ok_or_else(|| format!("{value} is not an order"))
}

fn flag(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("{value} is not a boolean"))
}
