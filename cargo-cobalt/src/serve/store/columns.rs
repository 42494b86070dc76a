//! Columns of items whose values are read from the file.

use std::borrow::Cow;
use std::collections::HashMap;

use cobalt_core::item::{FieldPath, Item};
use cobalt_core::redact::redacted_document;
use cobalt_core::report::Evaluations;
use cobalt_core::reporters::expected_field;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::cell::Cell;

/// A column whose values are in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileColumn {
    /// A field of the input, by its path.
    Input(String),
    /// A field of the metadata of the first trial, by its path.
    Metadata(String),
    /// What the item expects.
    Expected,
    /// An evaluator's reason in the first trial.
    Reason(String),
    /// The mean number of turns over the trials with a conversation.
    Turns,
    /// The number of tool calls over all trials.
    ToolCalls,
    /// The names of the called tools.
    Tool,
    /// The names of the models that answered the agent.
    Model,
}

/// The values of a column, one for each item of the run.
#[derive(Debug)]
pub struct ColumnValues {
    pub cells: Vec<Cell>,
    /// Hashes of the texts that are cut, by the index of the item.
    pub cut: HashMap<usize, u64>,
    /// The length of the texts that are cut, in characters.
    pub longest: usize,
}

impl ColumnValues {
    pub fn size(&self) -> usize {
        self.cells.iter().map(Cell::size).sum::<usize>() + self.cut.len() * 2 * size_of::<(usize, u64)>()
    }

    /// The length to which texts are cut, if any is.
    pub fn cut_length(&self) -> Option<usize> {
        (!self.cut.is_empty()).then_some(self.longest)
    }
}

/// The parts of an item, not yet parsed.
#[derive(Deserialize)]
struct RawItem<'a> {
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    evaluations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    runs: Option<Vec<RawTrial<'a>>>,
    #[serde(borrow, default)]
    output: Option<RawOutput<'a>>,
    #[serde(borrow, default)]
    trace: Option<&'a RawValue>,
    #[serde(borrow, default)]
    transcript: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Deserialize)]
struct RawTrial<'a> {
    #[serde(borrow, default)]
    output: Option<RawOutput<'a>>,
    #[serde(borrow, default)]
    trace: Option<&'a RawValue>,
    #[serde(borrow, default)]
    transcript: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Deserialize)]
struct RawOutput<'a> {
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct SpanNames<'a> {
    #[serde(borrow, default)]
    tool: Option<ToolName<'a>>,
    #[serde(borrow, default)]
    model: Option<ModelName<'a>>,
}

#[derive(Deserialize)]
struct ToolName<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
}

#[derive(Deserialize)]
struct ModelName<'a> {
    #[serde(borrow, default)]
    asked: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    answered: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct TurnTools {
    #[serde(default)]
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Turn {
    #[serde(default)]
    tool_calls: Vec<String>,
}

impl FileColumn {
    /// The value of an item, by its JSON.
    pub fn read(&self, item: &str) -> Cell {
        serde_json::from_str(item).map_or(Cell::Missing, |item| self.read_raw(&item))
    }

    fn read_raw(&self, item: &RawItem<'_>) -> Cell {
        match self {
            Self::Input(path) => item.field(item.input, path),
            Self::Metadata(path) => item.field(item.output.and_then(|output| output.metadata), path),
            Self::Expected => item.expected().as_ref().map_or(Cell::Missing, Cell::of),
            Self::Reason(evaluator) => {
                let evaluations: Option<Evaluations> = item.evaluations.and_then(parse);
                let reason =
                    evaluations.and_then(|all| all.get(evaluator).and_then(|given| given.reason.clone()));
                reason.map_or(Cell::Missing, |reason| Cell::Text(reason.into()))
            }
            Self::Turns => item.mean_turns().map_or(Cell::Missing, Cell::number),
            Self::ToolCalls => item.tool_calls().map_or(Cell::Missing, |calls| Cell::number(calls as f64)),
            Self::Tool => Cell::names(item.tools()),
            Self::Model => Cell::names(item.models()),
        }
    }
}

/// Parses a part of an item, without the secrets that are known now.
fn parse<T: DeserializeOwned>(part: &RawValue) -> Option<T> {
    serde_json::from_slice(&redacted_document(part.get().as_bytes().to_vec())).ok()
}

impl<'a> RawItem<'a> {
    /// All trials; an item of a single one has its fields itself.
    fn trials(&self) -> Cow<'_, [RawTrial<'a>]> {
        match &self.runs {
            Some(runs) if !runs.is_empty() => Cow::Borrowed(runs),
            _ => Cow::Owned(vec![RawTrial {
                output: self.output,
                trace: self.trace,
                transcript: self.transcript,
            }]),
        }
    }

    fn field(&self, root: Option<&RawValue>, path: &str) -> Cell {
        let fields: Option<Item> = root.and_then(parse);
        fields.map_or(Cell::Missing, |fields| {
            FieldPath::new(path).resolve(&fields).map_or(Cell::Missing, Cell::of)
        })
    }

    fn expected(&self) -> Option<Value> {
        let mut input: Item = self.input.and_then(parse)?;
        input.remove(expected_field(&input)?)
    }

    fn mean_turns(&self) -> Option<f64> {
        let trials = self.trials();
        let turns: Vec<_> = trials.iter().filter_map(|trial| Some(trial.turns()?.len())).collect();
        (!turns.is_empty()).then(|| turns.iter().sum::<usize>() as f64 / turns.len() as f64)
    }

    /// `None` without a trace.
    fn tool_calls(&self) -> Option<usize> {
        let trials = self.trials();
        let traces: Vec<_> = trials.iter().filter_map(RawTrial::spans).collect();
        let calls = traces.iter().flatten().filter(|span| span.tool.is_some()).count();
        (!traces.is_empty()).then_some(calls)
    }

    fn tools(&self) -> Vec<String> {
        let mut names = Vec::new();
        for trial in &*self.trials() {
            let spans = trial.spans().into_iter().flatten();
            names.extend(spans.filter_map(|span| Some(span.tool?.name.into_owned())));
            names.extend(trial.turns().into_iter().flatten().flat_map(|turn| turn.tool_calls));
        }
        names
    }

    fn models(&self) -> Vec<String> {
        let mut names = Vec::new();
        for trial in &*self.trials() {
            let metadata: Option<Item> = trial.output.and_then(|output| output.metadata).and_then(parse);
            let reported = metadata.as_ref().and_then(|metadata| metadata.get("model")?.as_str());
            names.extend(reported.map(str::to_owned));
            let spans = trial.spans().into_iter().flatten();
            let models = spans.filter_map(|span| span.model.and_then(|model| model.answered.or(model.asked)));
            names.extend(models.map(Cow::into_owned));
        }
        names
    }
}

impl<'a> RawTrial<'a> {
    fn spans(&self) -> Option<Vec<SpanNames<'a>>> {
        serde_json::from_str(self.trace?.get()).ok()
    }

    fn turns(&self) -> Option<Vec<Turn>> {
        serde_json::from_str::<TurnTools>(self.transcript?.get()).ok().map(|transcript| transcript.turns)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(column: FileColumn, item: &Value) -> Cell {
        column.read(&item.to_string())
    }

    fn of(value: &Value) -> Cell {
        Cell::of(value)
    }

    #[test]
    fn fields_are_found_by_path_and_what_an_item_does_not_have_is_missing() {
        let item = json!({
            "input": { "meta": { "topic": "billing" }, "a.b": 1, "expectedOutput": { "answer": 4 }, "none": null },
            "output": { "output": "x", "metadata": { "tokens": { "input": 7 } } },
            "evaluations": { "tone": { "score": 0.5, "reason": "curt" } },
        });
        let input = |path: &str| read(FileColumn::Input(path.to_owned()), &item);
        assert_eq!(input("meta.topic"), of(&json!("billing")));
        assert_eq!(input("a.b"), of(&json!(1)));
        assert_eq!((input("none"), input("meta.nothing")), (Cell::Missing, Cell::Missing));
        assert_eq!(read(FileColumn::Metadata("tokens.input".to_owned()), &item), of(&json!(7)));
        assert_eq!(read(FileColumn::Expected, &item), of(&json!({ "answer": 4 })));
        assert_eq!(read(FileColumn::Reason("tone".to_owned()), &item), of(&json!("curt")));
        assert_eq!(read(FileColumn::Reason("other".to_owned()), &item), Cell::Missing);
        assert_eq!(
            (read(FileColumn::Turns, &item), read(FileColumn::ToolCalls, &item)),
            (Cell::Missing, Cell::Missing)
        );
    }

    #[test]
    fn calls_and_turns_are_those_of_all_trials() {
        let trial = |tools: &[&str], turns: usize| {
            let span = |name: &&str| json!({ "kind": "tool", "name": "call", "tool": { "name": name } });
            let model = json!({ "kind": "model", "model": { "asked": "gpt-4o", "answered": "gpt-4o-2024" } });
            let trace: Vec<_> = tools.iter().map(span).chain([model]).collect();
            json!({ "trace": trace, "transcript": { "turns": vec![json!({ "message": "m", "toolCalls": ["ask"] }); turns] } })
        };
        let item = json!({ "input": {}, "runs": [trial(&["search", "book"], 1), trial(&["search"], 2)] });
        assert_eq!(read(FileColumn::ToolCalls, &item), of(&json!(3)));
        assert_eq!(read(FileColumn::Turns, &item), of(&json!(1.5)));
        assert_eq!(read(FileColumn::Tool, &item).text().unwrap(), "ask, book, search");
        assert_eq!(read(FileColumn::Model, &item).text().unwrap(), "gpt-4o-2024");
        let mut single = trial(&["search"], 1);
        single["output"] = json!({ "metadata": { "model": "gpt-4o" } });
        assert_eq!(read(FileColumn::Model, &single).text().unwrap(), "gpt-4o, gpt-4o-2024");
    }

    #[test]
    fn a_known_secret_is_redacted() {
        cobalt_core::redact::register_secret("COLUMN_KEY", "kn0wn-of-the-columns");
        let item = json!({ "input": { "note": "it is kn0wn-of-the-columns" } });
        let note = read(FileColumn::Input("note".to_owned()), &item);
        assert_eq!(note, of(&json!("it is [redacted:COLUMN_KEY]")));
    }
}
