//! Collects rows in columns.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::{Execution, ItemResult, Report};
use cobalt_core::reporters::expected_field;
use serde_json::Value;

use super::ColumnNames;

/// A batch ends at this number of rows, or at this size of texts.
const MAX_ROWS: usize = 8_192;
const MAX_TEXT: usize = 8 << 20;

/// The time zone of times.
const UTC: &str = "UTC";

/// The columns of a batch.
pub struct Rows {
    schema: SchemaRef,
    names: Vec<Arc<str>>,
    metric_names: Vec<String>,
    rows: usize,
    /// The size of its texts in bytes.
    text: usize,
    texts: [StringBuilder; TEXTS.len()],
    start: TimestampMillisecondBuilder,
    counts: [Int64Builder; COUNTS.len()],
    passed: BooleanBuilder,
    numbers: [Float64Builder; NUMBERS.len()],
    scores: Vec<(Float64Builder, StringBuilder)>,
    metrics: Vec<Float64Builder>,
}

/// The columns by type, in the order in which the builders have them.
const TEXTS: [&str; 11] = [
    "run_id",
    "experiment",
    "variant",
    "run_name",
    "commit",
    "key",
    "status",
    "error",
    "input",
    "expected",
    "output",
];
const COUNTS: [&str; 6] = ["index", "trials", "attempts", "tokens", "input_tokens", "output_tokens"];
const NUMBERS: [&str; 3] = ["latency_ms", "cost_usd", "judge_cost_usd"];

/// The columns that every row has.
const REQUIRED: [&str; 7] = ["run_id", "experiment", "key", "status", "index", "trials", "latency_ms"];

impl Rows {
    pub fn new(names: &ColumnNames) -> Self {
        let timestamp = DataType::Timestamp(TimeUnit::Millisecond, Some(UTC.into()));
        let field = |name: &str, kind: DataType| Field::new(name, kind, !REQUIRED.contains(&name));
        let mut fields = Vec::new();
        fields.extend(TEXTS.map(|name| field(name, DataType::Utf8)));
        fields.push(Field::new("start", timestamp, true));
        fields.extend(COUNTS.map(|name| field(name, DataType::Int64)));
        fields.push(Field::new("passed", DataType::Boolean, false));
        fields.extend(NUMBERS.map(|name| field(name, DataType::Float64)));
        for name in &names.evaluators {
            fields.push(Field::new(format!("{name}.score"), DataType::Float64, true));
            fields.push(Field::new(format!("{name}.reason"), DataType::Utf8, true));
        }
        fields.extend(
            names.metrics.iter().map(|name| Field::new(format!("metric.{name}"), DataType::Float64, true)),
        );
        Self {
            schema: Arc::new(Schema::new(fields)),
            names: names.evaluators.clone(),
            metric_names: names.metrics.iter().cloned().collect(),
            rows: 0,
            text: 0,
            texts: std::array::from_fn(|_| StringBuilder::new()),
            start: TimestampMillisecondBuilder::new().with_timezone(UTC),
            counts: std::array::from_fn(|_| Int64Builder::new()),
            passed: BooleanBuilder::new(),
            numbers: std::array::from_fn(|_| Float64Builder::new()),
            scores: names.evaluators.iter().map(|_| (Float64Builder::new(), StringBuilder::new())).collect(),
            metrics: names.metrics.iter().map(|_| Float64Builder::new()).collect(),
        }
    }

    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether the batch should be written.
    pub fn is_full(&self) -> bool {
        self.rows >= MAX_ROWS || self.text >= MAX_TEXT
    }

    /// Adds an item of a run.
    pub fn push(&mut self, run: &Report, item: &ItemResult, prices: &PriceTable) {
        let first = item.runs.first();
        let whole = || Value::Object((*item.input).clone()).to_string();
        let texts: [Option<String>; TEXTS.len()] = [
            Some(run.id.clone()),
            Some(run.name.clone()),
            run.variant.as_ref().map(|variant| variant.name.clone()),
            run.run_name.clone(),
            run.git.as_ref().map(|git| git.commit.clone()),
            Some(item.key.clone()),
            Some(item.status().name().to_owned()),
            item.first_error(),
            Some(item.input.get("input").map_or_else(whole, text_of)),
            expected_field(&item.input).map(|field| text_of(&item.input[field])),
            first.and_then(|first| first.output.as_ref()).map(|output| text_of(output.value())),
        ];
        for (builder, text) in self.texts.iter_mut().zip(texts) {
            self.text += text.as_ref().map_or(0, String::len);
            builder.append_option(text);
        }
        let start = run.timestamp.time().duration_since(UNIX_EPOCH).ok();
        self.start.append_option(start.and_then(|start| i64::try_from(start.as_millis()).ok()));
        let tokens: Vec<_> = item.runs.iter().filter_map(Execution::token_count).collect();
        let splits: Option<Vec<_>> = tokens.iter().map(|tokens| tokens.split).collect();
        let splits = splits.filter(|splits| !splits.is_empty());
        let attempts = item.runs.len() + item.retried_attempts();
        let counts: [Option<u64>; COUNTS.len()] = [
            Some(item.index as u64),
            Some(item.runs.len() as u64),
            Some(attempts as u64),
            (!tokens.is_empty()).then(|| saturating_sum(tokens.iter().map(|tokens| tokens.total))),
            splits.as_ref().map(|splits| saturating_sum(splits.iter().map(|(input, _)| *input))),
            splits.as_ref().map(|splits| saturating_sum(splits.iter().map(|(_, output)| *output))),
        ];
        for (builder, count) in self.counts.iter_mut().zip(counts) {
            builder.append_option(count.and_then(|count| i64::try_from(count).ok()));
        }
        self.passed.append_value(item.passed);
        let judges: Vec<_> = judge_costs(item).collect();
        let numbers = [
            Some(item.latency_ms()),
            item.runs.iter().map(|run| run.cost(prices)).sum::<Option<f64>>(),
            (!judges.is_empty()).then(|| judges.iter().sum()),
        ];
        for (builder, number) in self.numbers.iter_mut().zip(numbers) {
            builder.append_option(number);
        }
        for ((scores, reasons), name) in self.scores.iter_mut().zip(&self.names) {
            scores.append_option(mean(item.scores(name)));
            let reason = item.runs.iter().find_map(|run| run.evaluations.get(name)?.reason.as_deref());
            self.text += reason.map_or(0, str::len);
            reasons.append_option(reason);
        }
        for (builder, name) in self.metrics.iter_mut().zip(&self.metric_names) {
            builder
                .append_option(mean(item.runs.iter().filter_map(|run| Some(run.metrics.get(name)?.value))));
        }
        self.rows += 1;
    }

    /// The rows since the last batch.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        (self.rows, self.text) = (0, 0);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        columns.extend(self.texts.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef));
        columns.push(Arc::new(self.start.finish()));
        columns.extend(self.counts.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef));
        columns.push(Arc::new(self.passed.finish()));
        columns.extend(self.numbers.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef));
        for (scores, reasons) in &mut self.scores {
            columns.push(Arc::new(scores.finish()));
            columns.push(Arc::new(reasons.finish()));
        }
        columns.extend(self.metrics.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef));
        RecordBatch::try_new(self.schema(), columns)
    }
}

/// A string unchanged, anything else as JSON.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The costs of the judges that were asked.
fn judge_costs(item: &ItemResult) -> impl Iterator<Item = f64> {
    let evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
    evaluations.filter_map(|(_, evaluation)| Some(evaluation.judge.as_ref()?.cost))
}

/// The sum; stored counts may be anything.
fn saturating_sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The mean; `None` without values.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
