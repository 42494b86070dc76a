//! Runs as CSV (RFC 4180): one row per trial of each item.
//!
//! No cell is a formula: a string that a spreadsheet would treat as one gets a leading `'`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use ::csv::{Terminator, Writer, WriterBuilder};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::{Execution, ItemResult, Report, Status};
use cobalt_core::reporters::expected_field;
use cobalt_core::store::{CaseNames, ReportFile, StoreError};
use serde_json::Value;

/// The score of an evaluator that does not apply.
const NOT_APPLICABLE: &str = "n/a";

/// The columns before the evaluators' columns.
const COLUMNS: [&str; 23] = [
    "run_id",
    "experiment",
    "index",
    "key",
    "case",
    "run",
    "status",
    "passed",
    "latency_ms",
    "tokens",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "error",
    "input",
    "expected",
    "output",
    "replayed",
    "live",
    "recorded_at",
    "diverged",
    "attempts",
    "conversation_end",
];

/// Leading characters that make a spreadsheet treat a string as a formula, or as the end of the previous cell; full-width forms too.
const FORMULA_PREFIXES: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A header, then one row per trial of each item; `docs/formats.md` describes the columns. Costs are computed from `prices`. Items are
/// read one by one.
///
/// # Errors
///
/// It cannot be written, or a part of a run in parts is damaged.
pub fn write_csv(to: impl Write, files: &[ReportFile], prices: &PriceTable) -> io::Result<()> {
    let runs: Vec<_> = files.iter().map(CsvRun::of).collect::<Result<_, _>>().map_err(io::Error::other)?;
    let evaluators = evaluator_names(&runs);
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(to);
    let of_evaluator = |name: &&str| ["score", "reason", "error"].map(|what| format!("{name}.{what}"));
    let header = COLUMNS.iter().map(ToString::to_string).chain(evaluators.iter().flat_map(of_evaluator));
    let metrics: BTreeSet<&String> = runs.iter().flat_map(|run| &run.metrics).collect();
    let header = header.chain(metrics.iter().map(|name| format!("metric.{name}")));
    write_row(&mut writer, header.map(|cell| escape_formula(&cell).into_owned()))?;
    for CsvRun { file, cases, .. } in &runs {
        for (position, item) in file.items().enumerate() {
            let item = item.map_err(io::Error::other)?;
            let case = cases.name(position, &item.key, item.index);
            for (index, run) in item.runs.iter().enumerate() {
                let row =
                    item_cells(file.report(), &item, &case).into_iter().chain([(index + 1).to_string()]);
                let row = row.chain(run_cells(&item, run, prices));
                let row = row.chain(evaluators.iter().flat_map(|name| evaluation_cells(run, name)));
                let metric =
                    |name: &&String| number_cell(run.metrics.get(name.as_str()).map(|metric| metric.value));
                write_row(&mut writer, row.chain(metrics.iter().map(metric)))?;
            }
        }
    }
    writer.flush()
}

/// A run, and what all its items decide.
struct CsvRun<'a> {
    file: &'a ReportFile,
    cases: CaseNames,
    /// The names of the metrics that the items have.
    metrics: BTreeSet<String>,
}

impl<'a> CsvRun<'a> {
    fn of(file: &'a ReportFile) -> Result<Self, StoreError> {
        let mut metrics = BTreeSet::new();
        let mut add = |name: &String| {
            if !metrics.contains(name) {
                metrics.insert(name.clone());
            }
        };
        match file.parts() {
            None => {
                let trials = file.report().items.iter().flat_map(|item| &item.runs);
                trials.flat_map(|run| run.metrics.keys()).for_each(&mut add);
            }
            Some(parts) => {
                for row in parts.rows() {
                    row?.rest.iter().flat_map(|rest| rest.metrics.keys()).for_each(&mut add);
                }
            }
        }
        Ok(Self { cases: file.case_names()?, file, metrics })
    }
}

fn write_row(writer: &mut Writer<impl Write>, row: impl Iterator<Item = String>) -> io::Result<()> {
    Ok(writer.write_record(row.collect::<Vec<_>>())?)
}

/// The distinct names of all evaluators.
fn evaluator_names<'a>(runs: &[CsvRun<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in runs.iter().flat_map(|run| &run.file.report().config.evaluators) {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    names
}

fn item_cells(report: &Report, item: &ItemResult, case: &str) -> [String; 5] {
    let text = |text: &str| escape_formula(text).into_owned();
    [text(&report.id), text(&report.name), item.index.to_string(), text(&item.key), text(case)]
}

/// The cells from `status` to `conversation_end`.
fn run_cells(item: &ItemResult, run: &Execution, prices: &PriceTable) -> [String; 17] {
    let traffic = run.traffic.as_deref();
    let tokens = run.token_count();
    let split = tokens.and_then(|tokens| tokens.split);
    let whole = || Value::Object((*item.input).clone()).to_string();
    [
        status_name(run.status).to_owned(),
        item.passed.to_string(),
        run.latency_ms.to_string(),
        number_cell(tokens.map(|tokens| tokens.total)),
        number_cell(split.map(|(input, _)| input)),
        number_cell(split.map(|(_, output)| output)),
        number_cell(run.cost(prices)),
        escape_formula(run.error.as_deref().unwrap_or_default()).into_owned(),
        item.input.get("input").map_or_else(whole, value_cell),
        expected_field(&item.input).map(|field| value_cell(&item.input[field])).unwrap_or_default(),
        run.output.as_ref().map(|output| value_cell(output.value())).unwrap_or_default(),
        number_cell(traffic.map(|traffic| traffic.replayed)),
        number_cell(traffic.map(|traffic| traffic.live)),
        number_cell(traffic.and_then(|traffic| traffic.recorded_at)),
        escape_formula(traffic.and_then(|traffic| traffic.diverged.as_deref()).unwrap_or_default())
            .into_owned(),
        (run.retried.len() + 1).to_string(),
        run.transcript.as_ref().map(|transcript| transcript.end.label().to_owned()).unwrap_or_default(),
    ]
}

fn evaluation_cells(run: &Execution, evaluator: &str) -> [String; 3] {
    let Some(evaluation) = run.evaluations.get(evaluator) else { return <[String; 3]>::default() };
    let text = |text: &Option<String>| escape_formula(text.as_deref().unwrap_or_default()).into_owned();
    let score =
        if evaluation.not_applicable { NOT_APPLICABLE.to_owned() } else { number_cell(evaluation.score) };
    [score, text(&evaluation.reason), text(&evaluation.error)]
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Timeout => "timeout",
        Status::Error => "error",
    }
}

fn number_cell(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A string unchanged, anything else as JSON.
fn value_cell(value: &Value) -> String {
    match value {
        Value::String(text) => escape_formula(text).into_owned(),
        // Of all other JSON, only negative numbers start like a formula, and they are not formulas.
        other => other.to_string(),
    }
}

/// Adds a leading `'` to a string that a spreadsheet would treat as a formula. This is reversible: a formula after any number of
/// `'` gets one more.
fn escape_formula(text: &str) -> Cow<'_, str> {
    match text.trim_start_matches('\'').starts_with(FORMULA_PREFIXES) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ::csv::{Reader, StringRecord};
    use cobalt_core::prices::PriceTable;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::formats::fixtures::{broken, conversation, item, replayed, report, retried};

    /// Runs with these reports.
    fn csv(reports: Vec<Value>) -> String {
        let file = |report| ReportFile::of_report(Path::new("run"), serde_json::from_value(report).unwrap());
        let files: Vec<_> = reports.into_iter().map(file).collect();
        let mut bytes = Vec::new();
        write_csv(&mut bytes, &files, &PriceTable::default()).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// The rows, each as a lookup by column name.
    fn read(text: &str) -> Vec<impl Fn(&str) -> String + use<>> {
        let mut reader = Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let rows: Result<Vec<StringRecord>, _> = reader.records().collect();
        let cell = move |header: &StringRecord, row: &StringRecord, name: &str| {
            row[header.iter().position(|column| column == name).unwrap()].to_owned()
        };
        let of_row = |row: StringRecord| {
            let header = header.clone();
            move |name: &str| cell(&header, &row, name)
        };
        rows.unwrap().into_iter().map(of_row).collect()
    }

    #[test]
    fn an_item_below_its_pass_mark_has_not_passed_though_thresholds_decide() {
        let mut low = item(1, &json!("b"), 0.0);
        low["passed"] = json!(true);
        let mut report = report(&[item(0, &json!("a"), 1.0), low]);
        report["config"]["thresholds"] = json!(["right.avg>=0.1"]);
        let text = csv(vec![report]);
        assert_eq!(read(&text).iter().map(|row| row("passed")).collect::<Vec<_>>(), ["true", "false"]);
    }

    #[test]
    fn each_run_of_each_item_has_a_row_with_what_it_used_and_what_was_found() {
        let mut twice = item(0, &json!("unused"), 1.0);
        let run = |tokens: u64| {
            json!({
                "output": { "output": { "a": [1] }, "metadata": { "model": "gpt-4o", "tokens": { "input": tokens, "output": 0 } } },
                "latencyMs": 20.5, "status": "ok", "evaluations": { "right": { "score": 1.0, "reason": "so" } },
            })
        };
        twice["runs"] = json!([run(1_000_000), run(2_000_000)]);
        let failed = broken(1, "error", "the agent broke");
        let text = csv(vec![report(&[twice, failed])]);
        assert!(text.starts_with("run_id,experiment,") && text.ends_with("\r\n"), "{text}");
        let rows = read(&text);
        assert_eq!(rows.len(), 3);
        let cells = |row: usize, names: &[&str]| names.iter().map(|name| rows[row](name)).collect::<Vec<_>>();
        assert_eq!(
            cells(1, &["run_id", "experiment", "index", "key", "case", "run", "passed"]),
            ["0123456789ab", "desk", "0", "k0", "item-0", "2", "true"]
        );
        assert_eq!(
            cells(1, &["latency_ms", "tokens", "input_tokens", "output_tokens", "cost_usd"]),
            ["20.5", "2000000", "2000000", "0", "5"]
        );
        assert_eq!(
            cells(1, &["input", "expected", "output", "right.score", "right.reason"]),
            ["what now?", "4", "{\"a\":[1]}", "1", "so"]
        );
        assert_eq!(
            cells(2, &["status", "error", "output", "tokens", "cost_usd", "right.score"]),
            ["error", "the agent broke", "", "", "", ""]
        );
    }

    #[test]
    fn what_a_failed_item_used_and_a_cost_that_was_reported_have_their_cells() {
        let mut failed = broken(0, "timeout", "timed out after 1s");
        failed["output"]["metadata"] =
            json!({ "model": "gpt-4o", "tokens": { "input": 1_000_000, "output": 0 } });
        let mut known = broken(1, "error", "the agent broke");
        known["output"]["metadata"] = json!({ "model": "ours", "tokens": 7, "cost": 0.25 });
        let rows = read(&csv(vec![report(&[failed, known])]));
        let cells = |row: usize| ["output", "tokens", "input_tokens", "cost_usd"].map(|name| rows[row](name));
        assert_eq!(cells(0), ["", "1000000", "1000000", "2.5"]);
        assert_eq!(cells(1), ["", "7", "", "0.25"]);
    }

    #[test]
    fn each_trial_says_what_was_replayed_and_where_it_diverged() {
        let mut report = replayed();
        report["items"].as_array_mut().unwrap().push(item(2, &json!("c"), 1.0));
        report["items"][1]["traffic"]["diverged"] = json!("=`messages[1]`");
        let rows = read(&csv(vec![report]));
        let recorded = "2026-01-21T09:00:00.000Z";
        let cells = |row: usize| ["replayed", "live", "recorded_at", "diverged"].map(|name| rows[row](name));
        assert_eq!(cells(0), ["2", "0", recorded, ""]);
        assert_eq!(cells(1), ["1", "3", recorded, "'=`messages[1]`"]);
        assert_eq!(cells(2), [""; 4], "its traffic did not pass through the gateway");
    }

    #[test]
    fn each_trial_has_the_number_of_its_attempts() {
        let rows = read(&csv(vec![retried()]));
        assert_eq!([rows[0]("attempts"), rows[1]("attempts")], ["3", "1"]);
    }

    #[test]
    fn each_trial_of_a_conversation_says_how_it_ended() {
        let rows = read(&csv(vec![conversation()]));
        assert_eq!([rows[0]("conversation_end"), rows[1]("conversation_end")], ["error", ""]);
    }

    #[test]
    fn metrics_have_columns_after_the_evaluators() {
        let mut items = [item(0, &json!("a"), 1.0), item(1, &json!("b"), 1.0)];
        items[0]["metrics"] = json!({ "retrieved": { "value": 7.5, "unit": "documents" } });
        items[1]["metrics"] = json!({ "first": { "value": -1 } });
        let text = csv(vec![report(&items)]);
        assert!(
            text.lines().next().unwrap().ends_with(",right.error,metric.first,metric.retrieved"),
            "{text}"
        );
        let rows = read(&text);
        let cells = |row: usize| ["metric.first", "metric.retrieved"].map(|name| rows[row](name));
        assert_eq!([cells(0), cells(1)], [["", "7.5"], ["-1", ""]]);
    }

    #[test]
    fn runs_with_other_evaluators_share_the_columns() {
        let mut other = report(&[item(0, &json!("a"), 1.0)]);
        other["config"]["evaluators"] = json!(["=brief", "right"]);
        let text = csv(vec![report(&[item(0, &json!("a"), 1.0)]), other]);
        let header = text.lines().next().unwrap();
        assert_eq!(header.matches("right.score").count(), 1);
        assert!(header.ends_with(",'=brief.score,'=brief.reason,'=brief.error"), "{header}");
        assert_eq!(read(&text)[1]("'=brief.score"), "");
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in "(['=@+\t-]|\r?\n|\"|,|.){0,12}") {
            let items = [item(0, &json!(text), 1.0)];
            let rows = read(&csv(vec![report(&items)]));
            let cell = rows[0]("output");
            prop_assert!(!cell.starts_with(FORMULA_PREFIXES));
            let bare = cell.strip_prefix('\'').filter(|rest| rest.trim_start_matches('\'').starts_with(FORMULA_PREFIXES));
            prop_assert_eq!(bare.unwrap_or(&cell), text);
        }
    }

    #[test]
    fn a_text_that_could_be_a_formula_is_set_off_and_a_number_is_not() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("'tis", "'tis"),
            ("1=1", "1=1"),
        ] {
            assert_eq!(escape_formula(text), cell);
        }
        assert_eq!(value_cell(&Value::from(-5)), "-5");
        assert_eq!(value_cell(&Value::from("-5")), "'-5");
    }
}
