//! Text metrics against rouge-score, jiwer and the official functions of SQuAD.

use cobalt::metrics::{
    Overlap, WordErrors, cer, character_errors, rouge_l, rouge_lsum, rouge_n, squad_exact_match,
    squad_normalize, token_f1, wer, word_errors,
};
use serde_json::{Value, json};

use crate::case::{Case, Checked};

pub(crate) fn check_rouge(case: &Case) -> Checked {
    let output = text(case.input(), "hypothesis")?;
    let references = texts(case.input(), "reference", "references")?;
    let stem = case.input()["use_stemmer"].as_bool().ok_or("use_stemmer is not a boolean")?;
    let best = |score: &dyn Fn(&str) -> Overlap| {
        Overlap::best(references.iter().map(|reference| score(reference))).ok_or("no reference")
    };
    for (field, ours) in [
        ("rouge1", best(&|reference| rouge_n(output, reference, 1, stem))?),
        ("rouge2", best(&|reference| rouge_n(output, reference, 2, stem))?),
        ("rouge3", best(&|reference| rouge_n(output, reference, 3, stem))?),
        ("rougeL", best(&|reference| rouge_l(output, reference, stem))?),
        ("rougeLsum", best(&|reference| rouge_lsum(output, reference, stem))?),
    ] {
        let expected = &case.expected()[field];
        case.close(&format!("precision of {field}"), ours.precision, &expected["precision"])?;
        case.close(&format!("recall of {field}"), ours.recall, &expected["recall"])?;
        case.close(&format!("F1 of {field}"), ours.f1, &expected["f"])?;
        if field == "rougeL" {
            case.check_score(Ok(ours.f1))?;
        }
    }
    Ok(())
}

pub(crate) fn check_word_errors(case: &Case) -> Checked {
    let outputs = texts(case.input(), "hypothesis", "hypotheses")?;
    let references = texts(case.input(), "reference", "references")?;
    if outputs.len() != references.len() {
        return Err("the numbers of references and hypotheses differ".to_owned());
    }
    let pairs = || outputs.iter().zip(&references);
    let words: WordErrors = pairs().map(|(output, reference)| word_errors(output, reference)).sum();
    let letters: WordErrors = pairs().map(|(output, reference)| character_errors(output, reference)).sum();
    let expected = case.expected();
    case.check_score(Ok(words.rate()))?;
    case.close("wer", words.rate(), &expected["wer"])?;
    case.close("cer", letters.rate(), &expected["cer"])?;
    if let ([output], [reference]) = (&outputs[..], &references[..]) {
        case.close("wer()", wer(output, reference), &expected["wer"])?;
        case.close("cer()", cer(output, reference), &expected["cer"])?;
    }
    // If several alignments need equally few edits, ours are those of jiwer, so all counts can be compared.
    case.close("mer", words.match_error_rate(), &expected["mer"])?;
    case.close("wip", words.information_preserved(), &expected["wip"])?;
    case.close("wil", 1.0 - words.information_preserved(), &expected["wil"])?;
    check_counts("", words, expected)?;
    check_counts("char_", letters, expected)
}

fn check_counts(prefix: &str, ours: WordErrors, expected: &Value) -> Checked {
    let WordErrors { hits, substitutions, deletions, insertions } = ours;
    for (field, ours) in [
        ("hits", hits),
        ("substitutions", substitutions),
        ("deletions", deletions),
        ("insertions", insertions),
    ] {
        let expected = &expected[format!("{prefix}{field}")];
        if *expected != json!(ours) {
            return Err(format!("{prefix}{field}: {ours}, expected {expected}"));
        }
    }
    Ok(())
}

pub(crate) fn check_squad(case: &Case) -> Checked {
    let output = text(case.input(), "prediction")?;
    let references = texts(case.input(), "reference", "references")?;
    let expected = case.expected();
    let best = Overlap::best(references.iter().map(|reference| token_f1(output, reference)));
    let f1 = best.ok_or("no reference")?.f1;
    case.check_score(Ok(f1))?;
    case.close("f1", f1, &expected["f1"])?;
    let matches = references.iter().any(|reference| squad_exact_match(output, reference));
    case.close("exact match", f64::from(u8::from(matches)), &expected["em"])?;
    let normal: Vec<_> = references.iter().map(|reference| squad_normalize(reference)).collect();
    for (field, ours) in
        [("normalized_prediction", json!(squad_normalize(output))), ("normalized_references", json!(normal))]
    {
        if expected[field] != ours {
            return Err(format!("{field}: {ours}, expected {}", expected[field]));
        }
    }
    Ok(())
}

fn text<'a>(fields: &'a Value, field: &str) -> Result<&'a str, String> {
    fields[field].as_str().ok_or_else(|| format!("{field} is {}, not a string", fields[field]))
}

/// The texts of a list, or the text in another field.
fn texts<'a>(fields: &'a Value, one: &str, several: &str) -> Result<Vec<&'a str>, String> {
    match &fields[several] {
        Value::Array(list) => list
            .iter()
            .map(|text| text.as_str().ok_or_else(|| format!("{several} has {text}, not a string")))
            .collect(),
        _ => Ok(vec![text(fields, one)?]),
    }
}
