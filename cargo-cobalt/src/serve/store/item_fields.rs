//! The columns that the items of a run have, from a sample of them.

use std::collections::{BTreeMap, BTreeSet};

use cobalt_core::item::Item;
use cobalt_core::report::ItemResult;
use cobalt_core::reporters::expected_field;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::cell::Cell;
use super::columns::FileColumn;

/// The maximum number of columns of the input, and of the metadata.
const MAX_FIELDS: usize = 100;
/// The maximum depth of an object whose fields are columns.
const MAX_DEPTH: usize = 4;
/// The maximum number of distinct values, and their maximum length in characters.
const MAX_VALUES: usize = 12;
const MAX_VALUE_LEN: usize = 60;

/// A column that items have.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ItemField {
    /// The column, as in `columns` and `where`.
    pub name: String,
    /// A name for people.
    pub label: String,
    /// The type that all of its values have; `json` for lists, objects and mixed values.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Its distinct values as text, if they are short and at most 12.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    Text,
    Number,
    Boolean,
    Json,
}

impl FieldType {
    /// `None` for a missing value.
    fn of(cell: &Cell) -> Option<Self> {
        Some(match cell {
            Cell::Missing => return None,
            Cell::Bool(_) => Self::Boolean,
            Cell::Number(_) => Self::Number,
            Cell::Text(_) | Cell::Names(_) => Self::Text,
            Cell::Json(_) => Self::Json,
        })
    }

    fn join(self, other: Self) -> Self {
        if self == other { self } else { Self::Json }
    }
}

impl ItemField {
    /// The approximate memory use in bytes.
    pub fn size(&self) -> usize {
        /// The overhead of an allocation.
        const OVERHEAD: usize = 24;
        let texts = [&self.name, &self.label].into_iter().chain(&self.values);
        size_of::<Self>() + texts.map(|text| text.len() + OVERHEAD).sum::<usize>()
    }
}

/// The columns so far, in the order in which items have them.
#[derive(Default)]
pub struct Fields {
    input: Columns,
    metadata: Columns,
    metrics: Columns,
    others: Columns,
}

#[derive(Default)]
struct Columns {
    order: Vec<String>,
    known: BTreeMap<String, Column>,
}

struct Column {
    kind: FieldType,
    /// `None` if there are too many, or one is long.
    values: Option<BTreeSet<String>>,
}

impl Columns {
    fn add(&mut self, name: &str, cell: &Cell) {
        let Some(kind) = FieldType::of(cell) else { return };
        if let Some(column) = self.known.get_mut(name) {
            column.kind = column.kind.join(kind);
            column.add(cell);
        } else if self.order.len() < MAX_FIELDS {
            let mut column = Column { kind, values: Some(BTreeSet::new()) };
            column.add(cell);
            self.order.push(name.to_owned());
            self.known.insert(name.to_owned(), column);
        }
    }

    /// Adds the fields of an object by their paths.
    fn add_fields(&mut self, path: &str, fields: &Item, depth: usize) {
        for (name, value) in fields {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match value {
                Value::Object(fields) if depth < MAX_DEPTH && !fields.is_empty() => {
                    self.add_fields(&path, fields, depth + 1);
                }
                other => self.add(&path, &Cell::of(other)),
            }
        }
    }

    fn finish(self, prefix: &str, label: impl Fn(&str) -> String) -> Vec<ItemField> {
        let Self { order, mut known } = self;
        let field = |name: String| {
            let Column { kind, values } = known.remove(&name)?;
            let values = values.filter(|_| kind != FieldType::Json).into_iter().flatten().collect();
            Some(ItemField { label: label(&name), name: format!("{prefix}{name}"), kind, values })
        };
        order.into_iter().filter_map(field).collect()
    }
}

impl Column {
    fn add(&mut self, cell: &Cell) {
        let names: Vec<String> = match cell {
            Cell::Names(names) => names.iter().map(ToString::to_string).collect(),
            other => other.text().into_iter().collect(),
        };
        for name in names {
            let is_short = name.chars().nth(MAX_VALUE_LEN).is_none();
            if let Some(values) = &mut self.values {
                values.insert(name);
                if !is_short || values.len() > MAX_VALUES {
                    self.values = None;
                }
            }
        }
    }
}

/// The other columns, with their names for people.
const OTHERS: [(&str, &str); 6] = [
    ("expected", "Expected"),
    ("turns", "Turns"),
    ("tool_calls", "Tool calls"),
    ("tool", "Tools"),
    ("model", "Models"),
    ("attempts", "Attempts"),
];

impl Fields {
    /// Adds the columns of an item.
    pub fn add(&mut self, item: &ItemResult) {
        let expected = expected_field(&item.input);
        let mut input = (*item.input).clone();
        if let Some(value) = expected.and_then(|name| input.shift_remove(name)) {
            self.others.add("expected", &Cell::of(&value));
        }
        self.input.add_fields("", &input, 1);
        self.metadata.add_fields("", item.first_trial().metadata(), 1);
        for (name, metric) in item.runs.iter().flat_map(|run| &run.metrics) {
            self.metrics.add(name, &Cell::number(metric.value));
        }
        // Written again without what was left out above, which these columns do not need.
        let text = serde_json::to_string(item).unwrap_or_default();
        let columns = [
            ("turns", FileColumn::Turns),
            ("tool_calls", FileColumn::ToolCalls),
            ("tool", FileColumn::Tool),
            ("model", FileColumn::Model),
        ];
        for (name, column) in columns {
            self.others.add(name, &column.read(&text));
        }
        if item.retried_attempts() > 0 {
            self.others.add("attempts", &Cell::number((item.runs.len() + item.retried_attempts()) as f64));
        }
    }

    pub fn finish(self) -> Vec<ItemField> {
        let Self { input, metadata, metrics, mut others } = self;
        let is_in_input: BTreeSet<_> = input.order.iter().cloned().collect();
        others.order = OTHERS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let other_label = |name: &str| {
            OTHERS.iter().find(|(known, _)| *known == name).map_or(name, |(_, label)| label).to_owned()
        };
        let metadata_label = |name: &str| match is_in_input.contains(name) {
            true => format!("{name} (metadata)"),
            false => name.to_owned(),
        };
        let mut fields = input.finish("input.", str::to_owned);
        fields.extend(metadata.finish("metadata.", metadata_label));
        fields.extend(metrics.finish("metric.", str::to_owned));
        fields.extend(others.finish("", other_label));
        fields
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(items: &[Value]) -> Vec<ItemField> {
        let mut fields = Fields::default();
        items.iter().for_each(|item| fields.add(&serde_json::from_value(item.clone()).unwrap()));
        fields.finish()
    }

    fn item(input: Value, output: Value) -> Value {
        json!({ "index": 0, "key": "k", "input": input, "output": output, "latencyMs": 1, "evaluations": {}, "status": "ok" })
    }

    #[test]
    fn columns_have_the_type_of_their_values_and_the_values_if_they_are_few() {
        let items: Vec<_> = (0..20)
            .map(|index| {
                item(
                    json!({ "meta": { "topic": if index % 2 == 0 { "billing" } else { "refunds" } }, "question": format!("q{index}"), "mixed": if index == 0 { json!(1) } else { json!("b") }, "expectedOutput": "x" }),
                    json!({ "output": "a", "metadata": { "model": "gpt-4o", "question": index, "cached": index > 3 } }),
                )
            })
            .collect();
        let fields = fields(&items);
        let found: Vec<_> =
            fields.iter().map(|it| (&*it.name, &*it.label, it.kind, it.values.len())).collect();
        assert_eq!(
            found,
            [
                ("input.meta.topic", "meta.topic", FieldType::Text, 2),
                ("input.question", "question", FieldType::Text, 0),
                ("input.mixed", "mixed", FieldType::Json, 0),
                ("metadata.model", "model", FieldType::Text, 1),
                ("metadata.question", "question (metadata)", FieldType::Number, 0),
                ("metadata.cached", "cached", FieldType::Boolean, 2),
                ("expected", "Expected", FieldType::Text, 1),
                ("model", "Models", FieldType::Text, 1),
            ]
        );
        assert_eq!(fields[0].values, ["billing", "refunds"]);
    }

    #[test]
    fn tools_are_named_and_metrics_counted() {
        let mut one = item(json!({}), json!({ "output": "a" }));
        one["trace"] = json!([{ "id": "1", "name": "t", "kind": "tool", "tool": { "name": "search" } }]);
        one["metrics"] = json!({ "retrieved": { "value": 3 } });
        let fields = fields(&[one]);
        let found: Vec<_> = fields.iter().map(|it| (&*it.name, it.values.join(","))).collect();
        assert_eq!(
            found,
            [
                ("metric.retrieved", "3".to_owned()),
                ("tool_calls", "1".to_owned()),
                ("tool", "search".to_owned())
            ]
        );
    }
}
