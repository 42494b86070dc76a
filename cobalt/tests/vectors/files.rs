//! The check for each vector file.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::case::{Case, Checked};
use crate::{cost, judged, metrics, similarity, stats, template, text, translations};

/// How to treat the lines of a file.
enum Row {
    /// Checks each asserted line, and each with a recommendation.
    Checked(fn(&Case) -> Checked),
    /// Behaviour of the original that we do not follow.
    Information,
}

/// The files, with the evaluator named in their lines.
const FILES: [(&str, &str, Row); 47] = [
    ("answer_correctness", "AnswerCorrectness", Row::Checked(judged::check)),
    ("answer_relevancy", "AnswerRelevancy", Row::Checked(judged::check)),
    ("answer_similarity", "AnswerSimilarity", Row::Checked(judged::check)),
    ("battle", "Battle", Row::Checked(judged::check)),
    ("bleu", "Bleu", Row::Checked(translations::check_bleu)),
    ("chrf", "ChrF", Row::Checked(translations::check_chrf)),
    ("closed_qa", "ClosedQA", Row::Checked(judged::check)),
    ("cobalt_autoevals_adapter", "CobaltAutoevals", Row::Information),
    ("cobalt_cost", "CobaltCost", Row::Checked(cost::check)),
    ("cobalt_llm_judge", "CobaltLlmJudge", Row::Information),
    ("cobalt_similarity", "CobaltSimilarity", Row::Checked(similarity::check)),
    ("cobalt_stats", "CobaltStats", Row::Checked(stats::check_original)),
    ("cobalt_template", "CobaltTemplate", Row::Checked(template::check)),
    ("context_entity_recall", "ContextEntityRecall", Row::Checked(judged::check)),
    ("context_precision", "ContextPrecision", Row::Checked(judged::check)),
    ("context_recall", "ContextRecall", Row::Checked(judged::check)),
    ("context_relevancy", "ContextRelevancy", Row::Checked(judged::check)),
    ("embedding_similarity", "EmbeddingSimilarity", Row::Checked(judged::check)),
    ("exact_match", "ExactMatch", Row::Checked(judged::check)),
    ("factuality", "Factuality", Row::Checked(judged::check)),
    ("faithfulness", "Faithfulness", Row::Checked(judged::check)),
    ("humor", "Humor", Row::Checked(judged::check)),
    ("json_diff", "JsonDiff", Row::Checked(judged::check)),
    ("levenshtein", "Levenshtein", Row::Checked(judged::check)),
    ("list_contains", "ListContains", Row::Checked(judged::check)),
    ("llm_classifier", "LLMClassifier", Row::Checked(judged::check)),
    ("moderation", "Moderation", Row::Checked(judged::check)),
    ("numeric_diff", "NumericDiff", Row::Checked(judged::check)),
    ("possible", "Possible", Row::Checked(judged::check)),
    ("ragas_composite", "Ragas", Row::Checked(judged::check)),
    ("ragas_context_precision_ap", "RagasContextPrecisionAP", Row::Checked(metrics::check_average_precision)),
    ("ragas_fbeta", "RagasFBeta", Row::Checked(metrics::check_f_beta)),
    ("ragas_harmonic", "RagasHarmonic", Row::Checked(metrics::check_harmonic_mean)),
    ("rouge", "Rouge", Row::Checked(text::check_rouge)),
    ("security", "Security", Row::Checked(judged::check)),
    ("semantic_list_contains", "SemanticListContains", Row::Checked(judged::check)),
    ("sql", "Sql", Row::Checked(judged::check)),
    ("squad_f1", "SquadF1", Row::Checked(text::check_squad)),
    ("stats_bootstrap", "BootstrapMean", Row::Checked(stats::check_bootstrap)),
    ("stats_describe", "Describe", Row::Checked(stats::check_description)),
    ("stats_paired", "PairedComparison", Row::Checked(stats::check_paired)),
    ("stats_pass_at_k", "PassAtK", Row::Checked(stats::check_pass_at_k)),
    ("stats_wilson", "WilsonInterval", Row::Checked(stats::check_wilson)),
    ("summary", "Summary", Row::Checked(judged::check)),
    ("translation", "Translation", Row::Checked(judged::check)),
    ("valid_json", "ValidJSON", Row::Checked(judged::check)),
    ("wer", "Wer", Row::Checked(text::check_word_errors)),
];

/// The names of the vector files in a directory, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| entry.expect("an entry of the folder").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".jsonl"));
    names.sort_unstable();
    assert!(!names.is_empty(), "{} contains no vectors", folder.display());
    names
}

/// Checks a file, and returns how many of its lines ran and failed.
pub(crate) fn check(name: &str, path: &Path) -> Checked {
    let known = FILES.iter().find(|(file, ..)| name.strip_suffix(".jsonl") == Some(*file));
    let (_, evaluator, row) = known.ok_or("`files.rs` has no row for this file")?;
    let cases = read(path)?;
    if let Some(case) = cases.iter().find(|case| case.evaluator() != *evaluator) {
        return Err(format!("{}: unknown evaluator `{}`", case.name(), case.evaluator()));
    }
    let check = match row {
        Row::Checked(check) => check,
        Row::Information => {
            println!("{name}: {} lines, for information only", cases.len());
            return Ok(());
        }
    };
    let wanted: Vec<_> = cases.iter().filter(|case| case.is_asserted() || case.is_recommended()).collect();
    let asserted = wanted.iter().filter(|case| case.is_asserted()).count();
    let failures: Vec<_> = wanted
        .iter()
        .filter_map(|case| check(case).err().map(|why| format!("{}: {why}", case.name())))
        .collect();
    println!(
        "{name}: {} ran ({asserted} asserted, {} recommended), {} failed; {} have nothing to check",
        wanted.len(),
        wanted.len() - asserted,
        failures.len(),
        cases.len() - wanted.len()
    );
    match &failures[..] {
        _ if wanted.is_empty() => Err("no line has anything to check".to_owned()),
        [] => Ok(()),
        failures => Err(format!("{} of {} failed\n{}", failures.len(), wanted.len(), failures.join("\n"))),
    }
}

fn read(path: &Path) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let fields: Value =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))?;
            Ok(Case::new(fields))
        })
        .collect()
}
