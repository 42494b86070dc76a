//! A copy of a run without what its items contain: for a store whose readers may not see inputs and outputs.
//!
//! Every field of a run is named here, so a new one has to be decided on. What is kept gives the same figures as the whole run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cobalt_core::error_chain::BoxError;
use cobalt_core::item::usage::retain_usage;
use cobalt_core::item::{Item, Output, without_content};
use cobalt_core::prices::PriceTable;
use cobalt_core::redact::REDACTED;
use cobalt_core::report::{
    Execution, ItemResult, Report, Rescored, RetriedExecution, RunMetric, RunVariant, ScoredEvaluation,
    Summary, Traffic, Transcript, Turn, UserMistake,
};
use cobalt_core::store::{Layout, PartsWriter, ReportFile, strip_bom};
use cobalt_core::trace::{ModelSpan, Span, Trace};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The result file of a redacted run.
pub fn redact_result(bytes: &[u8]) -> serde_json::Result<Vec<u8>> {
    let report: Report = serde_json::from_slice(strip_bom(bytes))?;
    let mut text = serde_json::to_vec(&redact_report(report))?;
    text.push(b'\n');
    Ok(text)
}

/// The files of a run in parts, redacted, until dropped.
#[derive(Debug)]
pub struct RedactedParts {
    /// The result file; its items file is beside it.
    pub result: PathBuf,
    _folder: TempDir,
}

impl RedactedParts {
    /// Writes the files, item by item. Their columns have the costs by these prices.
    pub fn write(path: &Path, prices: &PriceTable) -> Result<Self, BoxError> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let layout = Layout::new(folder.path().to_owned(), at("results"), at("history.db"), at("cache"));
        let file = ReportFile::open(path)?;
        let head = redact_report(file.report().without_items());
        let mut writer = PartsWriter::create(&layout, &head, prices)?;
        for item in file.items() {
            writer.push(&redact_item((*item?).clone(), &head.config.group_by))?;
        }
        let result = writer.finish(&head)?;
        Ok(Self { result, _folder: folder })
    }
}

/// A run without inputs, outputs, expected values, reasons, errors, contents of traces and transcripts, files, notes and tables.
fn redact_report(report: Report) -> Report {
    let Report { schema, id, name, run_name, note: _, timestamp, tags, declared_at, variant, .. } = report;
    let Report { rescored, config, summary, ci_status, passed, verdict, partial, shard, shard_plan, .. } =
        report;
    let Report { shard_group, shards, pooled, dataset, git, sources, baseline, prices_as_of, .. } = report;
    let items = report.items.into_iter().map(|item| redact_item(item, &config.group_by)).collect();
    // Settings of a variant may be a prompt.
    let variant = variant.map(|variant| Box::new(RunVariant { settings: Value::Null, ..*variant }));
    let rescored = rescored.map(|rescored| Box::new(Rescored { notes: Vec::new(), ..*rescored }));
    Report {
        schema,
        id,
        name,
        run_name,
        note: None,
        timestamp,
        tags,
        declared_at,
        variant,
        rescored,
        config,
        summary: redact_summary(summary),
        ci_status,
        passed,
        verdict,
        partial,
        shard,
        shard_plan,
        shard_group,
        shards,
        pooled,
        dataset,
        git,
        sources,
        baseline,
        prices_as_of,
        redacted: true,
        items,
    }
}

/// A summary without tables and texts.
fn redact_summary(summary: Summary) -> Summary {
    let without_note = |(name, metric): (String, RunMetric)| {
        let RunMetric { value, ci95, note: _, unit, better } = metric;
        (name, RunMetric { value, ci95, note: None, unit, better })
    };
    let without_text = |(name, _)| (name, REDACTED.to_owned());
    Summary {
        total_items: summary.total_items,
        total_duration_ms: summary.total_duration_ms,
        avg_latency_ms: summary.avg_latency_ms,
        total_tokens: summary.total_tokens,
        estimated_cost: summary.estimated_cost,
        scores: summary.scores,
        not_applicable: summary.not_applicable,
        successful_items: summary.successful_items,
        failed_items: summary.failed_items,
        timeouts: summary.timeouts,
        eval_errors: summary.eval_errors,
        passed_items: summary.passed_items,
        low_items: summary.low_items,
        retried_items: summary.retried_items,
        retried_executions: summary.retried_executions,
        passed_after_retry: summary.passed_after_retry,
        unpriced_items: summary.unpriced_items,
        judge_cost: summary.judge_cost,
        judge_replayed_cost: summary.judge_replayed_cost,
        judge_tokens: summary.judge_tokens,
        judge_calls: summary.judge_calls,
        judge_cached: summary.judge_cached,
        judge_replayed: summary.judge_replayed,
        judge_models: summary.judge_models,
        simulated_users: summary.simulated_users,
        unpriced_models: summary.unpriced_models,
        latency: summary.latency,
        traffic: summary.traffic,
        metrics: summary.metrics,
        run_metrics: summary.run_metrics.into_iter().map(without_note).collect(),
        tables: BTreeMap::new(),
        summary_errors: summary.summary_errors.into_iter().map(without_text).collect(),
        groups: summary.groups,
    }
}

fn redact_item(item: ItemResult, group_by: &[String]) -> ItemResult {
    let ItemResult { index, key, input, passed, runs } = item;
    let input = Arc::new(without_content(&input, group_by));
    ItemResult { index, key, input, passed, runs: runs.into_iter().map(redact_trial).collect() }
}

fn redact_trial(trial: Execution) -> Execution {
    let Execution { status, output, latency_ms, evaluations, error, recorded, traffic, trace, .. } = trial;
    let evaluations = evaluations.iter().map(|(name, it)| (name.into(), redact_evaluation(it))).collect();
    Execution {
        status,
        output: output.map(redact_output),
        latency_ms,
        evaluations,
        error: hidden(error),
        recorded: retain_usage(recorded),
        traffic: traffic.map(|traffic| Box::new(redact_traffic(*traffic))),
        trace: redact_trace(&trace),
        dropped_spans: trial.dropped_spans,
        metrics: trial.metrics,
        retried: trial.retried.into_iter().map(redact_attempt).collect(),
        transcript: trial.transcript.map(|transcript| Box::new(redact_transcript(*transcript))),
        workspace: None,
        faults: Vec::new(),
    }
}

/// What stands for a text, if there is one.
fn hidden(text: Option<String>) -> Option<String> {
    text.map(|_| REDACTED.to_owned())
}

fn redact_output(output: Output) -> Output {
    let mut redacted = Output::new("");
    *redacted.metadata_mut() = retain_usage(output.into_metadata());
    redacted
}

fn redact_attempt(attempt: RetriedExecution) -> RetriedExecution {
    let RetriedExecution { error: _, latency_ms, metadata } = attempt;
    RetriedExecution { error: REDACTED.to_owned(), latency_ms, metadata: retain_usage(metadata) }
}

fn redact_evaluation(evaluation: &ScoredEvaluation) -> ScoredEvaluation {
    let orders = evaluation.metadata.get("orders").and_then(Value::as_array);
    let orders = orders.map(|orders| orders.iter().map(redact_order).collect::<Vec<_>>());
    ScoredEvaluation {
        score: evaluation.score,
        reason: None,
        chain_of_thought: None,
        metadata: orders.map(|orders| ("orders".to_owned(), orders.into())).into_iter().collect(),
        judge: evaluation.judge.clone(),
        error: hidden(evaluation.error.clone()),
        not_applicable: evaluation.not_applicable,
    }
}

/// Which answer won, of two that a judge compared in one order.
fn redact_order(order: &Value) -> Value {
    let answer = |field: &str| {
        let answer = order[field].as_str().filter(|answer| ["output", "tie"].contains(answer));
        answer.unwrap_or("other")
    };
    json!({ "first": answer("first"), "second": answer("second"), "winner": answer("winner") })
}

/// Of the requests, their numbers remain, and the hashes by which two runs are compared.
fn redact_traffic(traffic: Traffic) -> Traffic {
    Traffic {
        replayed: traffic.replayed,
        live: traffic.live,
        replayed_judges: traffic.replayed_judges,
        recorded_at: traffic.recorded_at,
        live_cost: traffic.live_cost,
        retried: traffic.retried,
        waited_ms: traffic.waited_ms,
        diverged: hidden(traffic.diverged),
        asked: traffic.asked,
        replayed_tools: traffic.replayed_tools,
        unattributed: traffic.unattributed,
    }
}

fn redact_trace(trace: &Trace) -> Trace {
    let span = |span: &Span| Span {
        id: span.id.clone(),
        parent: span.parent.clone(),
        name: String::new(),
        kind: span.kind,
        start_ms: span.start_ms,
        duration_ms: span.duration_ms,
        status: span.status,
        error: hidden(span.error.clone()),
        attributes: Item::new(),
        model: span.model.as_deref().map(|model| Box::new(redact_model(model))),
        tool: span.tool.is_some().then(Box::default),
    };
    trace.spans().iter().map(span).collect()
}

fn redact_model(model: &ModelSpan) -> ModelSpan {
    ModelSpan {
        provider: model.provider.clone(),
        asked: model.asked.clone(),
        answered: model.answered.clone(),
        tokens: model.tokens,
        cost: model.cost,
        is_local: model.is_local,
        time_to_first_token_ms: model.time_to_first_token_ms,
        finish_reason: None,
        retries: model.retries,
        replayed: model.replayed,
        recorded_latency_ms: model.recorded_latency_ms,
        response_id: None,
        input: None,
        output: None,
    }
}

fn redact_transcript(transcript: Transcript) -> Transcript {
    let turn = |turn: Turn| Turn {
        message: REDACTED.to_owned(),
        reply: hidden(turn.reply),
        start_ms: turn.start_ms,
        latency_ms: turn.latency_ms,
        tokens: turn.tokens,
        cost: turn.cost,
        model_calls: turn.model_calls,
        tool_calls: Vec::new(),
        checks: Vec::new(),
        error: hidden(turn.error),
    };
    let mistake =
        |UserMistake { turn, kind, reason: _ }| UserMistake { turn, kind, reason: REDACTED.to_owned() };
    Transcript {
        turns: transcript.turns.into_iter().map(turn).collect(),
        end: transcript.end,
        unplayed: Vec::new(),
        simulated: transcript.simulated,
        mistakes: transcript.mistakes.into_iter().map(mistake).collect(),
        unchecked: hidden(transcript.unchecked),
        user: transcript.user,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cobalt::command::config::Config;
    use cobalt::command::shards::{OtherVariants, ShardFile, merge};
    use cobalt_core::item::content_hash;
    use cobalt_core::report::{MeasuredItem, Measurements};
    use cobalt_core::store::items_file;
    use serde_json::json;

    use super::*;

    /// A run with a secret word in each text that quotes an item.
    fn run() -> Value {
        let trial = json!({
            "output": { "output": "SECRET", "metadata": { "model": "small", "tokens": { "input": 3, "output": 4 }, "note": "SECRET" } },
            "latencyMs": 12.5, "status": "ok",
            "evaluations": {
                "right": { "score": 0.5, "reason": "SECRET", "chainOfThought": "SECRET", "metadata": { "a": "SECRET" } },
                "tone": { "error": "SECRET" },
            },
            "trace": [{ "id": "a", "name": "SECRET", "kind": "tool", "durationMs": 1 }],
            "retried": [{ "error": "SECRET", "latencyMs": 1 }], "faults": [{ "tool": "SECRET", "call": 1, "fault": "SECRET" }],
            "metrics": { "retrieved": { "value": 3.0 } },
        });
        let mut item = trial.clone();
        item["index"] = json!(0);
        item["key"] = json!("refund");
        item["passed"] = json!(false);
        item["input"] = json!({ "input": "SECRET", "expected": "SECRET" });
        item["error"] = json!("SECRET");
        item["status"] = json!("error");
        let mut second = trial;
        second["status"] = json!("timeout");
        second["error"] = json!("SECRET");
        item["runs"] = json!([item.clone(), second]);
        json!({
            "schema": 1, "id": "5ea00522f3eb", "name": "desk", "timestamp": "2026-02-05T10:00:00.000Z", "note": "SECRET",
            "config": { "runs": 2, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "tone"] },
            "summary": { "totalItems": 1, "failedItems": 1, "avgLatencyMs": 12.5,
                "tables": { "confusion": { "columns": ["SECRET"], "rows": [] } }, "summaryErrors": { "f1": "SECRET" } },
            "passed": false, "items": [item],
        })
    }

    #[test]
    fn nothing_that_quotes_an_item_is_kept_and_every_number_is() {
        let bytes = redact_result(run().to_string().as_bytes()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("SECRET"), "{text}");
        let report: Report = serde_json::from_str(&text).unwrap();
        assert_eq!((report.id.as_str(), report.summary.failed_items), ("5ea00522f3eb", 1));
        let item = &report.items[0];
        assert_eq!((item.key.as_str(), item.runs.len()), ("refund", 2));
        assert_eq!(item.scores("right").collect::<Vec<_>>(), [0.5, 0.5]);
        assert_eq!(item.first_error().as_deref(), Some(REDACTED));
        let trial = item.first_trial();
        assert_eq!((trial.latency_ms, trial.token_count().unwrap().total), (12.5, 7));
        assert_eq!((trial.trace.spans().len(), &*trial.trace.spans()[0].name), (1, ""));
        assert_eq!((trial.retried.len(), &*trial.retried[0].error), (1, REDACTED));
        assert!(report.redacted);
        let original: Report = serde_json::from_value(run()).unwrap();
        assert_eq!(
            content_hash(&item.input),
            content_hash(&original.items[0].input),
            "and whether it changes is seen"
        );
    }

    /// One of two shards, with everything that figures are made of.
    fn shard(number: usize) -> Report {
        let usage = json!({ "models": ["gpt-4o"], "calls": 2, "cached": 1, "tokens": { "input": 100, "output": 10 }, "cost": 0.25,
            "unpriced": [] });
        let item = |index: usize| {
            let orders = json!([{ "first": "output", "second": "item.SECRET", "winner": "output", "reason": "SECRET" },
                { "first": "item.SECRET", "second": "output", "winner": "item.SECRET" }]);
            json!({
                "index": index, "key": format!("item-{index}"), "status": "ok", "latencyMs": 10 * (index + 1),
                "input": { "id": format!("item-{index}"), "input": "SECRET", "topic": format!("topic-{}", index % 2),
                    "meta": { "kind": index }, "cluster": if index < 3 { "SECRET" } else { "" } },
                "output": { "output": "SECRET", "metadata": { "model": "gpt-4o", "tokens": { "input": 1000, "output": 10 },
                    "cost": { "SECRET": 1 }, "note": "SECRET" } },
                "evaluations": {
                    "right": { "score": index as f64 / 4.0, "reason": "SECRET", "judge": usage },
                    "better": { "score": 0.5, "metadata": { "orders": orders, "a": "SECRET" } },
                },
                "traffic": { "replayed": index, "live": 1, "liveCost": 0.5, "diverged": "SECRET", "asked": ["s0123", "abcd"] },
                "trace": [
                    { "id": "1", "name": "SECRET", "kind": "model", "startMs": 1, "durationMs": 2, "attributes": { "a": "SECRET" },
                      "model": { "answered": "gpt-4o", "timeToFirstTokenMs": 5, "input": "SECRET", "output": "SECRET" } },
                    { "id": "2", "parent": "1", "name": "SECRET", "kind": "tool", "startMs": 2, "durationMs": 1,
                      "tool": { "name": "SECRET", "arguments": { "a": "SECRET" }, "result": "SECRET" } },
                ],
                "retried": [{ "error": "SECRET", "latencyMs": 3, "metadata": { "model": "gpt-4o", "tokens": { "input": 5, "output": 5 } } }],
                "transcript": { "turns": [{ "message": "SECRET", "reply": "SECRET", "startMs": 0, "latencyMs": 4 }], "end": "goal-met",
                    "simulated": true, "mistakes": [{ "turn": 1, "kind": "told-answer", "reason": "SECRET" }], "user": usage },
                "metrics": { "retrieved": { "value": index, "unit": "documents" } },
            })
        };
        let items: Vec<_> = (2 * number..2 * number + 2).map(item).collect();
        let file = json!({
            "schema": 1, "id": format!("5ea00522f3e{number}"), "name": "desk", "timestamp": "2026-02-05T10:00:00.000Z", "note": "SECRET",
            "partial": true, "shard": { "index": number + 1, "of": 2 }, "dataset": { "source": "desk.jsonl", "items": 4, "hash": "ab" },
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "better"], "groupBy": ["topic", "meta.kind"],
                "thresholds": ["right.avg>=0.1", "tool_calls.total<=100", "time_to_first_token.p95<=1s", "user_cost.total<=5"] },
            "summary": { "totalItems": 2, "totalDurationMs": 40 }, "items": items,
        });
        serde_json::from_value(file).unwrap()
    }

    #[test]
    fn merged_redacted_shards_give_the_figures_of_whole_ones() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::load(folder.path(), |_| None).unwrap();
        let merged = |redacts: bool| {
            let shards =
                (0..2).map(|number| if redacts { redact_report(shard(number)) } else { shard(number) });
            let files = shards.map(|report| ShardFile { path: folder.path().to_owned(), report }).collect();
            merge(files, &config).unwrap().evaluate(&OtherVariants::default(), &config).unwrap()
        };
        let (whole, redacted) = (merged(false), merged(true));
        assert!(!serde_json::to_string(&redacted).unwrap().contains("SECRET") && redacted.redacted);
        assert_eq!(redacted.summary, whole.summary);
        assert_eq!(redacted.ci_status, whole.ci_status);
        assert_eq!(redacted.case_names(), whole.case_names());
        let measured = |report: &Report| -> Vec<MeasuredItem> {
            let items = Measurements::from_report(report, config.prices()).items;
            // The names of clusters are hashes.
            items.iter().map(|item| MeasuredItem { cluster: None, ..item.to_item() }).collect()
        };
        assert_eq!(measured(&redacted), measured(&whole));
        let users = whole.summary.simulated_users.unwrap();
        assert_eq!((whole.summary.retried_executions, users.calls), (4, 8), "there is something to compare");
        assert_eq!(whole.summary.groups.len(), 2);
    }

    #[test]
    fn a_run_in_parts_is_redacted_item_by_item() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let layout = Layout::new(folder.path().to_owned(), at("results"), at("history.db"), at("cache"));
        let report: Report = serde_json::from_value(run()).unwrap();
        let prices = PriceTable::default();
        let mut writer = PartsWriter::create(&layout, &report, &prices).unwrap();
        (0..100).for_each(|_| writer.push(&report.items[0]).unwrap());
        let path = writer.finish(&report).unwrap();
        let redacted = RedactedParts::write(&path, &prices).unwrap();
        assert!(!fs::read_to_string(&redacted.result).unwrap().contains("SECRET"));
        let file = ReportFile::open(&redacted.result).unwrap();
        assert_eq!(file.item_count(), 100);
        for item in file.items() {
            let text = serde_json::to_string(&*item.unwrap()).unwrap();
            assert!(!text.contains("SECRET") && text.contains("refund"), "{text}");
        }
        // The same each time, so it is pushed once.
        let again = RedactedParts::write(&path, &prices).unwrap();
        for file in [|path: &Path| path.to_owned(), items_file] {
            assert!(fs::read(file(&redacted.result)).unwrap() == fs::read(file(&again.result)).unwrap());
        }
    }

    #[test]
    fn a_run_is_redacted_to_the_same_bytes_each_time() {
        let once = redact_result(run().to_string().as_bytes()).unwrap();
        assert_eq!(redact_result(&once).unwrap(), once);
    }
}
