//! Records that an agent makes while it works: kept if its execution fails, and added to its output if it succeeds.

use std::sync::{Arc, Mutex, PoisonError};

use cobalt_core::item::usage::{self, ModelUsage};
use cobalt_core::item::{Item, ModelCall};
use cobalt_core::nesting::{drop_iteratively, is_too_deep, too_deep_message};
use cobalt_core::report::Metrics;
use cobalt_core::report::builders::Metric;
use cobalt_core::wording::group_thousands;
use serde_json::{Value, json};

use crate::evaluators::{ToolCall, has_calls, has_no_calls, reports_calls};

/// The maximum number of tool calls, and of messages, per execution.
const MAX_RECORDS: usize = 10_000;
/// The maximum number of metrics per execution.
const MAX_METRICS: usize = 1_000;

/// A record for [`Context::record`](crate::Context::record): a [`ModelCall`], one or several [`ToolCall`]s, a [`Metric`], a message or
/// a note.
#[derive(Clone, Debug)]
#[must_use = "a record counts only if it is passed to `Context::record`"]
pub struct Record(RecordKind);

#[derive(Clone, Debug)]
enum RecordKind {
    Model(ModelCall),
    Tools(Vec<ToolCall>),
    Metric(Metric),
    Message(Value),
    Note(String, Value),
}

impl Record {
    /// Tool calls, in order.
    ///
    /// An empty list means that there were none so far. Record it first if the agent may answer without any call: otherwise evaluators
    /// cannot distinguish an agent that made no calls from one that does not report them, which is an error.
    ///
    /// ```
    /// # fn example(context: &cobalt::Context) {
    /// context.record(cobalt::Record::tool_calls([]));
    /// # }
    /// ```
    pub fn tool_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self(RecordKind::Tools(calls.into_iter().collect()))
    }

    /// A message of the conversation in the format of the model's API, or a list of them. A string is a message of the assistant. They
    /// become `metadata.messages`.
    pub fn message(message: impl Into<Value>) -> Self {
        Self(RecordKind::Message(message.into()))
    }

    /// A metadata field, as with [`Output::metadata`](crate::Output::metadata). A later note with the same key replaces an earlier one.
    pub fn note(key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self(RecordKind::Note(key.into(), value.into()))
    }
}

impl From<ModelCall> for Record {
    fn from(call: ModelCall) -> Self {
        Self(RecordKind::Model(call))
    }
}

impl From<Metric> for Record {
    fn from(metric: Metric) -> Self {
        Self(RecordKind::Metric(metric))
    }
}

impl From<ToolCall> for Record {
    fn from(call: ToolCall) -> Self {
        Self::tool_calls([call])
    }
}

/// Collects the records of one execution, from any thread, until it is closed.
#[derive(Clone, Debug)]
pub(crate) struct Recorder(Arc<Mutex<Option<Records>>>);

impl Recorder {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Some(Records::default()))))
    }

    pub(crate) fn record(&self, record: Record) {
        if let Some(recorded) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            recorded.add(record.0);
        }
    }

    /// The model calls and the tools so far.
    pub(crate) fn so_far(&self) -> RecordsSoFar {
        let recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.as_ref().map_or_else(RecordsSoFar::default, |recorded| {
            let calls = recorded.calls.iter().flatten();
            let names = calls.map(|call| call["tool"].as_str().unwrap_or_default().to_owned());
            RecordsSoFar { usage: recorded.usage.clone(), tool_calls: names.collect() }
        })
    }

    /// Returns everything that was recorded. Later records are ignored: the execution has ended.
    pub(crate) fn close(&self) -> Records {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

/// The model calls and the names of called tools that were recorded so far.
#[derive(Debug, Default)]
pub struct RecordsSoFar {
    pub usage: Vec<ModelUsage>,
    pub tool_calls: Vec<String>,
}

/// The records of one execution, summed up.
#[derive(Debug, Default)]
pub(crate) struct Records {
    usage: Vec<ModelUsage>,
    /// `None` if no calls were reported, as opposed to a report that there were none.
    calls: Option<Vec<Value>>,
    messages: Vec<Value>,
    notes: Item,
    metrics: Metrics,
    /// Why something could not be recorded.
    problem: Option<String>,
}

impl Records {
    fn add(&mut self, record: RecordKind) {
        let outcome = match record {
            RecordKind::Model(call) => usage::add(&mut self.usage, call),
            RecordKind::Tools(calls) => {
                let kept = self.calls.get_or_insert_default();
                calls.into_iter().try_for_each(|call| push_limited(kept, call.into_value(), "tool call"))
            }
            RecordKind::Metric(metric) => self.add_metric(metric),
            RecordKind::Message(Value::Array(messages)) => messages
                .into_iter()
                .try_for_each(|message| push_limited(&mut self.messages, to_message(message), "message")),
            RecordKind::Message(message) => push_limited(&mut self.messages, to_message(message), "message"),
            RecordKind::Note(key, value) => check_depth(value, &format!("the note `{key}`"))
                .map(|value| drop(self.notes.insert(key, value))),
        };
        if let Err(problem) = outcome {
            self.problem.get_or_insert(problem);
        }
    }

    /// Adds the usage of a trace, unless usage was recorded.
    pub(crate) fn add_trace_usage(&mut self, calls: Vec<ModelCall>) {
        if self.usage.is_empty() {
            // The costs in a trace are valid.
            calls.into_iter().for_each(|call| drop(usage::add(&mut self.usage, call)));
        }
    }

    /// Whether the agent asked a model.
    pub(crate) fn has_usage(&self) -> bool {
        !self.usage.is_empty()
    }

    fn add_metric(&mut self, metric: Metric) -> Result<(), String> {
        let (name, value) = metric.into_parts()?;
        if self.metrics.len() >= MAX_METRICS && !self.metrics.contains_key(&name) {
            let most = group_thousands(MAX_METRICS as u64);
            return Err(format!(
                "the agent recorded more than {most} metrics; record fewer, or aggregate them"
            ));
        }
        self.metrics.insert(name, value);
        Ok(())
    }

    /// The recorded metrics, which do not become metadata.
    pub(crate) fn take_metrics(&mut self) -> Metrics {
        std::mem::take(&mut self.metrics)
    }

    /// Why something could not be recorded: the error of an item that has no other.
    pub(crate) fn problem(&mut self) -> Option<String> {
        self.problem.take()
    }

    /// Adds the records that the metadata does not already contain, then sums the usage per model.
    pub(crate) fn merge_into(self, metadata: &mut Item) {
        let Self { usage, calls, messages, notes, metrics: _, problem: _ } = self;
        let calls = calls.filter(|calls| match calls.is_empty() {
            // An empty list means nothing if calls are reported elsewhere, or if there are messages.
            true => messages.is_empty() && !reports_calls(metadata),
            false => !has_calls(metadata),
        });
        for (key, value) in notes {
            metadata.entry(key).or_insert(value);
        }
        // A field that is `null` does not override records, and neither does `toolCalls` without any call.
        let is_recorded = |key: &str| match key {
            "tokens" | "usage" | "model" | "cost" => !usage.is_empty(),
            "toolCalls" => calls.is_some(),
            "messages" => !messages.is_empty(),
            _ => false,
        };
        let is_empty = |key: &str, value: &Value| key == "toolCalls" && has_no_calls(value);
        metadata.retain(|key, value| !(value.is_null() || is_empty(key, value)) || !is_recorded(key));
        usage::add_recorded(metadata, usage);
        if let Some(calls) = calls {
            metadata.entry("toolCalls").or_insert(calls.into());
        }
        if !messages.is_empty() {
            metadata.entry("messages").or_insert(messages.into());
        }
    }
}

/// Converts a string to a message of the assistant: in a list of messages it would be taken for a tool's name.
fn to_message(message: Value) -> Value {
    match message {
        Value::String(text) => json!({ "role": "assistant", "content": text }),
        message => message,
    }
}

fn push_limited(kept: &mut Vec<Value>, value: Value, what: &str) -> Result<(), String> {
    let value = check_depth(value, &format!("a recorded {what}"))?;
    if kept.len() >= MAX_RECORDS {
        let most = group_thousands(MAX_RECORDS as u64);
        return Err(format!("the agent recorded more than {most} {what}s; record fewer, or aggregate them"));
    }
    kept.push(value);
    Ok(())
}

fn check_depth(value: Value, what: &str) -> Result<Value, String> {
    if is_too_deep(&value) {
        drop_iteratively(value);
        return Err(too_deep_message(what));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use cobalt_core::item::Output;

    use super::*;

    fn recorded(records: impl IntoIterator<Item = Record>) -> Records {
        let recorder = Recorder::new();
        records.into_iter().for_each(|record| recorder.record(record));
        recorder.close()
    }

    impl Records {
        fn into_metadata(self) -> Item {
            let mut metadata = Item::new();
            self.merge_into(&mut metadata);
            metadata
        }
    }

    fn metadata(records: impl IntoIterator<Item = Record>) -> Value {
        recorded(records).into_metadata().into()
    }

    #[test]
    fn usage_of_two_models_is_kept_apart_and_summed_up_at_the_end() {
        let output = Output::new("")
            .usage(ModelCall::new("a").tokens(1, 2))
            .usage(ModelCall::new("b").tokens(3, 4).cost(0.5))
            .usage(ModelCall::new("a").tokens(5, 6));
        let mut kept = output.into_metadata();
        Records::default().merge_into(&mut kept);
        assert_eq!(
            Value::from(kept),
            serde_json::json!({
                "usage": [
                    { "model": "a", "calls": 2, "tokens": { "input": 6, "output": 8 } },
                    { "model": "b", "calls": 1, "tokens": { "input": 3, "output": 4 }, "cost": 0.5 },
                ],
                "tokens": { "input": 9, "output": 12 },
            })
        );
    }

    #[test]
    fn calls_of_one_model_are_summed_up() {
        let call = || ModelCall::new("gpt-4o-mini").tokens(20, 3).cached_tokens(4);
        assert_eq!(
            metadata([call().into(), call().into()]),
            json!({
                "model": "gpt-4o-mini",
                "tokens": { "input": 40, "output": 6, "cachedInput": 8 },
                "usage": [{ "model": "gpt-4o-mini", "calls": 2, "tokens": { "input": 40, "output": 6, "cachedInput": 8 } }],
            })
        );
    }

    #[test]
    fn calls_of_two_models_are_kept_apart_and_calls_of_known_cost_from_others() {
        let calls = [
            ModelCall::new("a").tokens(1, 2).cost(0.5),
            ModelCall::new("b").tokens(3, 4),
            ModelCall::new("a").tokens(5, 6),
            ModelCall::new("a").tokens(7, 8).cost(0.25),
        ];
        assert_eq!(
            metadata(calls.map(Record::from)),
            json!({
                "tokens": { "input": 16, "output": 20 },
                "usage": [
                    { "model": "a", "calls": 2, "tokens": { "input": 8, "output": 10 }, "cost": 0.75 },
                    { "model": "b", "calls": 1, "tokens": { "input": 3, "output": 4 } },
                    { "model": "a", "calls": 1, "tokens": { "input": 5, "output": 6 } },
                ],
            })
        );
    }

    #[test]
    fn the_cost_is_summed_up_where_it_is_known_of_all_calls() {
        let call = |cost| Record::from(ModelCall::new("a").cost(cost));
        let expected =
            json!({ "model": "a", "cost": 0.75, "usage": [{ "model": "a", "calls": 2, "cost": 0.75 }] });
        assert_eq!(metadata([call(0.5), call(0.25)]), expected);
        assert_eq!(metadata([call(0.5), ModelCall::new("a").tokens(1, 1).into()]).get("cost"), None);
    }

    #[test]
    fn tool_calls_are_written_in_a_shape_that_is_read_back() {
        let calls = [
            ToolCall::new("weather").arguments(json!({ "city": "York" })).result("18 °C"),
            ToolCall::new("shell").arguments("ls -l").error("no such tool"),
            ToolCall::new("now"),
        ];
        let written = metadata(calls.clone().map(Record::from));
        assert_eq!(ToolCall::read(&written["toolCalls"]).unwrap(), calls);
    }

    #[test]
    fn an_empty_list_of_calls_says_that_there_were_none() {
        assert_eq!(metadata([Record::tool_calls([])]), json!({ "toolCalls": [] }));
        let calls = [Record::tool_calls([]), ToolCall::new("now").into()];
        assert_eq!(metadata(calls), json!({ "toolCalls": [{ "tool": "now" }] }));
    }

    #[test]
    fn an_empty_list_of_calls_says_nothing_beside_messages() {
        let message = json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "now" } }] });
        let records = [Record::tool_calls([]), Record::message(message.clone())];
        assert_eq!(metadata(records), json!({ "messages": [message] }));
    }

    #[test]
    fn calls_in_the_outputs_own_contents_win_and_documents_there_are_none() {
        let with = |contents: Value| {
            let mut own = crate::item! { "contents": contents };
            recorded([ToolCall::new("recorded").into()]).merge_into(&mut own);
            own.contains_key("toolCalls")
        };
        assert!(!with(json!([{ "parts": [{ "functionCall": { "name": "now", "args": {} } }] }])));
        assert!(with(json!(["a document"])));
    }

    #[test]
    fn fields_that_are_null_give_way_to_what_was_recorded() {
        let null = || crate::item! { "tokens": null, "usage": null, "cost": null, "toolCalls": null, "messages": null };
        let mut own = null();
        recorded([
            ModelCall::new("a").tokens(1, 2).cost(0.5).into(),
            ToolCall::new("now").into(),
            Record::message("hello"),
        ])
        .merge_into(&mut own);
        let tokens = json!({ "input": 1, "output": 2 });
        assert_eq!(
            Value::from(own),
            json!({
                "model": "a", "tokens": tokens, "cost": 0.5, "toolCalls": [{ "tool": "now" }],
                "messages": [{ "role": "assistant", "content": "hello" }],
                "usage": [{ "model": "a", "calls": 1, "tokens": tokens, "cost": 0.5 }],
            })
        );
        let mut own = null();
        recorded([]).merge_into(&mut own);
        assert_eq!(own, null(), "nothing was recorded");
    }

    #[test]
    fn recorded_usage_keeps_its_cost_beside_usage_in_another_shape() {
        let raw = json!({ "prompt_tokens": 7 });
        let mut own = crate::item! { "usage": raw };
        let calls = [("gpt-4o", 2.5), ("gpt-4o-mini", 0.15)];
        recorded(calls.map(|(model, _)| ModelCall::new(model).tokens(1_000_000, 0).into()))
            .merge_into(&mut own);
        assert_eq!(own["usage"], raw);
        let spending = usage::ExecutionUsage::of(&own, &cobalt_core::prices::PriceTable::default());
        assert_eq!((spending.tokens, spending.cost), (Some(2_000_000), Some(calls[0].1 + calls[1].1)));
    }

    #[test]
    fn of_a_metric_the_last_value_counts() {
        let metrics = [
            Metric::new("retrieved", 3),
            Metric::new("cache", 0.5_f32).lower_is_better(),
            Metric::new("retrieved", 7_usize).unit("documents").higher_is_better(),
        ];
        let mut records = recorded(metrics.map(Record::from));
        assert_eq!(
            json!(records.take_metrics()),
            json!({
                "cache": { "value": 0.5, "better": "lower" },
                "retrieved": { "value": 7.0, "unit": "documents", "better": "higher" },
            })
        );
        assert_eq!((records.problem(), Value::from(records.into_metadata())), (None, json!({})));
    }

    #[test]
    fn a_metric_that_is_no_number_or_has_no_name_is_a_problem() {
        let problem = |metric| recorded([Record::from(metric)]).problem().unwrap();
        assert_eq!(
            problem(Metric::new("rate", f64::NAN)),
            "the metric `rate` is NaN, expected a finite number"
        );
        assert_eq!(
            problem(Metric::new("rate", -1.0 / 0.0)),
            "the metric `rate` is -inf, expected a finite number"
        );
        assert!(problem(Metric::new(" ", 1)).starts_with("a metric has no name"));
        let many = (0..=MAX_METRICS).map(|index| Metric::new(format!("m{index}"), index).into());
        let mut many = recorded(many);
        assert!(many.problem().unwrap().starts_with("the agent recorded more than 1,000 metrics"));
        assert_eq!(many.take_metrics().len(), MAX_METRICS);
    }

    #[test]
    fn messages_are_kept_in_order_and_the_later_note_counts() {
        let say = |text: &str| json!({ "role": "user", "content": text });
        let records = [
            Record::message(say("a")),
            Record::message(vec![say("b"), say("c")]),
            Record::note("turn", 1),
            Record::note("turn", 2),
        ];
        assert_eq!(metadata(records), json!({ "messages": [say("a"), say("b"), say("c")], "turn": 2 }));
    }

    #[test]
    fn what_the_output_says_by_itself_wins() {
        let records = || {
            recorded([
                ModelCall::new("a").tokens(1, 2).cost(0.5).into(),
                ToolCall::new("recorded").into(),
                Record::message("recorded"),
                Record::note("note", "recorded"),
            ])
        };
        let mut own = crate::item! { "note": "own", "tokens": { "input": 9, "output": 9 }, "calls": [] };
        records().merge_into(&mut own);
        let message = json!({ "role": "assistant", "content": "recorded" });
        assert_eq!(
            Value::from(own),
            json!({
                "note": "own", "tokens": { "input": 9, "output": 9 }, "calls": [], "toolCalls": [{ "tool": "recorded" }],
                "messages": [message],
            })
        );
        let own_call = json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "own" } }] });
        let mut own = crate::item! { "model": "b", "messages": [own_call], "cost": 0.1 };
        records().merge_into(&mut own);
        let usage = json!([{ "model": "a", "calls": 1, "tokens": { "input": 1, "output": 2 }, "cost": 0.5 }]);
        assert_eq!(
            Value::from(own),
            json!({
                "model": "b", "messages": [own_call], "cost": 0.1, "tokens": { "input": 1, "output": 2 },
                "usage": usage, "note": "recorded",
            })
        );
    }

    #[test]
    fn recorded_calls_stay_where_the_output_has_none_in_the_usual_places() {
        let said = json!({ "role": "assistant", "content": "done" });
        for own in [
            json!({ "messages": [said] }),
            json!({ "messages": [] }),
            json!({ "toolCalls": [] }),
            json!({ "toolCalls": "[]" }),
            json!({ "toolCalls": [said] }),
            json!({ "toolCalls": { "messages": [said] } }),
            json!({ "trace": "4bf92f3577b34da6" }),
            json!({ "calls": 3 }),
        ] {
            let Value::Object(mut metadata) = own.clone() else { panic!("metadata is an object") };
            recorded([ToolCall::new("delete_file").into()]).merge_into(&mut metadata);
            assert_eq!(metadata["toolCalls"], json!([{ "tool": "delete_file" }]), "{own}");
        }
        let mut metadata = crate::item! { "messages": [said] };
        recorded([Record::tool_calls([])]).merge_into(&mut metadata);
        assert_eq!(metadata.get("toolCalls"), None, "the messages may contain them");
    }

    #[test]
    fn a_message_that_is_text_is_no_call() {
        let written =
            metadata([Record::tool_calls([]), Record::message("It is sunny"), Record::message(vec!["now"])]);
        assert_eq!(written["messages"][1], json!({ "role": "assistant", "content": "now" }));
        assert_eq!(ToolCall::read(&written["messages"]).unwrap(), []);
    }

    #[test]
    fn a_recorded_cost_is_not_that_of_other_tokens() {
        let cost = |own: (u64, u64)| {
            let tokens = json!({ "input": own.0, "output": own.1 });
            let mut metadata = crate::item! { "model": "gpt-4o", "tokens": tokens };
            recorded([ModelCall::new("text-embedding-3-small").tokens(500, 0).cost(0.00001).into()])
                .merge_into(&mut metadata);
            usage::ExecutionUsage::of(&metadata, &cobalt_core::prices::PriceTable::default()).cost
        };
        assert_eq!(cost((1_000_000, 0)), Some(2.5));
        let mut unnamed = crate::item! { "tokens": { "input": 1_000_000, "output": 0 } };
        recorded([ModelCall::new("text-embedding-3-small").tokens(500, 0).into()]).merge_into(&mut unnamed);
        assert_eq!(unnamed.get("model"), None, "the output's tokens are not from this model");
        assert_eq!(cost((500, 0)), Some(0.00001), "the cost of these tokens");
    }

    #[test]
    fn what_is_recorded_after_the_end_is_ignored() {
        let recorder = Recorder::new();
        recorder.record(Record::note("a", 1));
        assert_eq!(Value::from(recorder.close().into_metadata()), json!({ "a": 1 }));
        recorder.record(Record::note("b", 2));
        assert_eq!(recorder.close().into_metadata(), Item::new());
    }

    #[test]
    fn what_cannot_be_kept_is_named_and_the_rest_is_kept() {
        let abyss = (0..100_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let mut recorded = recorded([
            Record::message(json!({ "role": "user" })),
            Record::note("deep", abyss),
            ModelCall::new("a").tokens(1, 2).cost(f64::NAN).into(),
        ]);
        assert!(recorded.problem().unwrap().starts_with("the note `deep` is nested more than 100 levels"));
        let kept = recorded.into_metadata();
        assert_eq!(kept["messages"], json!([{ "role": "user" }]));
        assert_eq!(kept["tokens"], json!({ "input": 1, "output": 2 }));
    }

    #[test]
    fn more_calls_than_are_kept_are_a_problem() {
        let mut recorded = recorded((0..=MAX_RECORDS).map(|_| ToolCall::new("again").into()));
        assert_eq!(
            recorded.problem().unwrap(),
            "the agent recorded more than 10,000 tool calls; record fewer, or aggregate them"
        );
        assert_eq!(recorded.calls.map(|calls| calls.len()), Some(MAX_RECORDS));
    }
}
