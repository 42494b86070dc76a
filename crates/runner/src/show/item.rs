//! One item of a run in full: its fields, and the output and evaluations of each trial.

use std::fmt::Write as _;

use cobalt_core::item::TokenCount;
use cobalt_core::prices::{PriceTable, format_cost_precise};
use cobalt_core::report::{ChangedFile, Execution, PatchLine, Report, ScoredEvaluation, WorkspaceChanges};
use cobalt_core::reporters::{
    Style, escape_control, expected_field, format_attempts, format_duration, format_faults, format_metric,
    format_score, format_trial_traffic, render_transcript,
};
use cobalt_core::wording::{count, group_thousands};
use serde_json::Value;

use super::items::result;
use crate::results::NamedItem;
use crate::terminal::one_line;
use crate::text_table::plain_text;

/// The item as text.
pub fn text(report: &Report, named: &NamedItem, prices: &PriceTable, paint: Style) -> String {
    let NamedItem { key, case, item } = named;
    let mut text =
        format!("{}: {}\n", paint.bold(one_line(&format!("{}::{case}", report.name))), result(report, item));
    let key = if key == case { String::new() } else { format!("key {key}, ") };
    let of = format!(
        "{key}index {}, run {}, latency {}{}",
        item.index,
        report.id,
        format_duration(item.latency_ms()),
        if item.is_replayed() { " (as recorded)" } else { "" }
    );
    text += &(paint.faint(one_line(&of)) + "\n");
    let expected = expected_field(&item.input);
    let rank = |name: &str| match name {
        "input" => 0,
        _ if expected == Some(name) => 1,
        _ => 2,
    };
    let mut fields: Vec<_> = item.input.iter().collect();
    fields.sort_by_key(|(name, _)| rank(name));
    for (name, value) in fields {
        paragraph(&mut text, name, &format_value(value), paint);
    }
    for (index, run) in item.runs.iter().enumerate() {
        if item.runs.len() > 1 {
            let trial =
                format!("trial {} of {}, {}", index + 1, item.runs.len(), format_duration(run.latency_ms));
            let _ = write!(text, "\n{}\n", paint.bold(trial));
        }
        execution(&mut text, report, run, prices, paint);
    }
    text
}

fn execution(text: &mut String, report: &Report, run: &Execution, prices: &PriceTable, paint: Style) {
    if let Some(transcript) = &run.transcript {
        let transcript = render_transcript(transcript, usize::MAX, paint);
        let transcript = transcript.replace('\n', "\n  ").replace("\n  \n", "\n\n");
        let _ = write!(text, "\n{}\n  {transcript}\n", paint.faint("conversation"));
    }
    if let Some(error) = &run.error {
        paragraph(text, "error", error, paint);
    }
    if let Some(output) = &run.output {
        paragraph(text, "output", &format_value(output.value()), paint);
    }
    if let Some(attempts) = format_attempts(run) {
        paragraph(text, "attempts", &attempts, paint);
    }
    if let Some(faults) = format_faults(run) {
        paragraph(text, "faults", &faults, paint);
    }
    if !run.metrics.is_empty() {
        let metrics = run.metrics.iter().map(|(name, metric)| format!("{name}: {}", format_metric(metric)));
        paragraph(text, "metrics", &metrics.collect::<Vec<_>>().join("\n"), paint);
    }
    let metadata = metadata(run, prices);
    if !metadata.is_empty() {
        paragraph(text, "metadata", &metadata, paint);
    }
    if let Some(changes) = &run.workspace {
        workspace(text, changes, paint);
    }
    let marks: Vec<_> = report.config.evaluators().collect();
    for (name, evaluation) in run.evaluations.iter() {
        let mark = marks.iter().find(|(known, _)| *known == name).map(|(_, mark)| *mark);
        paragraph(text, name, &self::evaluation(evaluation, mark), paint);
    }
}

/// What the agent changed: a line per file, then the patch.
fn workspace(text: &mut String, changes: &WorkspaceChanges, paint: Style) {
    let mut lines = vec![changes.summary()];
    lines.extend(changes.files.iter().map(|file| {
        let ChangedFile { path, change, added_lines, removed_lines, bytes, binary } = file;
        let size = match binary {
            true => format!("binary, {} bytes", group_thousands(*bytes)),
            false => format!("+{added_lines} −{removed_lines}"),
        };
        format!("{:8}{path}  {size}", change.name())
    }));
    if changes.omitted_files > 0 {
        lines.push(format!("and {}", count(changes.omitted_files, "more file")));
    }
    lines.extend(changes.kept.iter().map(|folder| format!("kept in {folder}")));
    paragraph(text, "workspace", &lines.join("\n"), paint);
    if changes.patch.is_empty() && !changes.patch_truncated {
        return;
    }
    let title = if changes.patch_truncated { "patch (truncated)" } else { "patch" };
    let _ = write!(text, "\n{}\n", paint.faint(title));
    for line in changes.patch.lines() {
        let shown = escape_control(line);
        let shown = match PatchLine::of(line) {
            PatchLine::Added => paint.success(shown),
            PatchLine::Removed => paint.error(shown),
            PatchLine::Header => paint.bold(shown),
            PatchLine::Hunk => paint.faint(shown),
            PatchLine::Context => shown.into_owned(),
        };
        let _ = writeln!(text, "  {shown}");
    }
}

/// The model, tokens, cost and everything else that the agent reported, also before a failure.
fn metadata(run: &Execution, prices: &PriceTable) -> String {
    let metadata = run.metadata();
    let (model, tokens) = (metadata.get("model").and_then(Value::as_str), run.token_count());
    let mut lines = Vec::new();
    lines.extend(model.map(|model| format!("model: {model}")));
    lines.extend(tokens.map(|tokens| format!("tokens: {}", self::tokens(tokens))));
    lines.extend(run.cost(prices).map(|cost| format!("agent cost: {}", format_cost_precise(cost))));
    let traffic = run.traffic.as_deref();
    lines.extend(traffic.and_then(format_trial_traffic).map(|traffic| format!("traffic: {traffic}")));
    let diverged = traffic.and_then(|traffic| traffic.diverged.as_ref());
    lines.extend(diverged.map(|place| format!("diverged: {place}")));
    let spans = run.trace.spans().len() + run.dropped_spans;
    lines.extend((spans > 0).then(|| format!("trace: {}, shown with --trace", count(spans, "span"))));
    let is_told = |name: &str| match name {
        "model" => model.is_some(),
        "tokens" => tokens.is_some(),
        "cost" => metadata["cost"].is_number(),
        _ => false,
    };
    let others = metadata.iter().filter(|(name, _)| !is_told(name));
    lines.extend(others.map(|(name, value)| format!("{name}: {}", format_value(value))));
    lines.join("\n")
}

fn tokens(tokens: TokenCount) -> String {
    let TokenCount { total, split, cached_input } = tokens;
    let Some((input, output)) = split else { return group_thousands(total) };
    let cached =
        if cached_input > 0 { format!(" ({} cached)", group_thousands(cached_input)) } else { String::new() };
    format!(
        "{}: {} input{cached}, {} output",
        group_thousands(total),
        group_thousands(input),
        group_thousands(output)
    )
}

/// The score and its pass mark, with reasons.
fn evaluation(evaluation: &ScoredEvaluation, mark: Option<f64>) -> String {
    let ScoredEvaluation { score, reason, chain_of_thought, metadata, error, .. } = evaluation;
    let mut lines = vec![match (score, mark) {
        (Some(score), Some(mark)) if *score < mark => {
            format!("{}, below the pass mark of {mark}", format_score(*score))
        }
        (Some(score), Some(mark)) => format!("{}, pass mark {mark}", format_score(*score)),
        (Some(score), None) => format_score(*score),
        (None, _) if evaluation.not_applicable => "n/a: does not apply to this item".to_owned(),
        (None, _) => "no score".to_owned(),
    }];
    let texts = [("error", error), ("reason", reason), ("chain of thought", chain_of_thought)];
    lines.extend(texts.into_iter().filter_map(|(name, text)| Some(format!("{name}: {}", text.as_ref()?))));
    if !metadata.is_empty() {
        lines.push(format!("metadata: {}", Value::Object(metadata.clone())));
    }
    lines.join("\n")
}

/// Strings unchanged; lists and objects as indented JSON.
fn format_value(value: &Value) -> String {
    match value {
        Value::Array(values) if values.is_empty() => "[]".to_owned(),
        Value::Array(_) | Value::Object(_) => format!("{value:#}"),
        other => plain_text(other).into_owned(),
    }
}

fn paragraph(text: &mut String, title: &str, body: &str, paint: Style) {
    let body = escape_control(body).trim_end_matches('\n').replace('\n', "\n  ");
    let _ = write!(text, "\n{}\n  {body}\n", paint.faint(one_line(title)));
}
