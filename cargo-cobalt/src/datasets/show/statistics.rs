//! Statistics of each field over all items.

use std::collections::{BTreeMap, HashMap, HashSet};

use cobalt_core::item::Item;
use cobalt_core::report::stats::percentile;
use cobalt_core::reporters::expected_field;
use serde::Serialize;
use serde_json::Value;

use crate::text_table::{Type, is_empty};

/// Statistics of one field.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldStatistics {
    /// The name; for a field of an object with the object's name: `metadata.topic`.
    pub name: String,
    /// The field that contains it: `metadata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The number of items that have it, including null.
    pub items: usize,
    /// The number of items that lack it.
    pub missing: usize,
    /// The number of items where it is null.
    pub null: usize,
    /// The number of items where it is an empty string, list or object.
    pub empty: usize,
    /// The number of distinct values.
    pub distinct: usize,
    /// The number of items per type, without null.
    pub types: BTreeMap<&'static str, usize>,
    /// The lengths of its strings in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<NumberRange>,
    /// Its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberRange>,
    /// The lengths of its lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<NumberRange>,
}

/// The range of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NumberRange {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl NumberRange {
    fn from_values(mut figures: Vec<f64>) -> Option<Self> {
        figures.sort_unstable_by(f64::total_cmp);
        Some(Self { min: *figures.first()?, median: percentile(&figures, 50.0)?, max: *figures.last()? })
    }
}

/// The fields: `id`, `input` and the expected output first, then the others in order of occurrence. Each is followed by the fields of
/// its objects, one level deep.
pub fn statistics<'i>(items: impl ExactSizeIterator<Item = &'i Item>) -> Vec<FieldStatistics> {
    let all = items.len();
    let mut fields: HashMap<(&str, Option<&str>), FieldValues<'_>> = HashMap::new();
    for item in items {
        for (name, value) in item {
            let place = fields.len();
            let outer =
                fields.entry((name, None)).or_insert_with(|| FieldValues::new((rank(item, name), place, 0)));
            outer.add(value);
            let (rank, outer, _) = outer.place;
            for (inner, value) in value.as_object().into_iter().flatten() {
                let place = fields.len();
                fields
                    .entry((name, Some(inner)))
                    .or_insert_with(|| FieldValues::new((rank, outer, place)))
                    .add(value);
            }
        }
    }
    let mut fields: Vec<_> = fields.into_iter().collect();
    fields.sort_unstable_by_key(|(_, values)| values.place);
    fields.into_iter().map(|((name, inner), values)| values.statistics(name, inner, all)).collect()
}

/// The sort rank of a field.
fn rank(item: &Item, name: &str) -> usize {
    match name {
        "id" => 0,
        "input" => 1,
        _ if expected_field(item) == Some(name) => 2,
        _ => 3,
    }
}

/// The values of a field.
#[derive(Default)]
struct FieldValues<'i> {
    /// The sort key: the rank of its top-level field, the first occurrence of that field, and its own first occurrence.
    place: (usize, usize, usize),
    items: usize,
    null: usize,
    empty: usize,
    types: BTreeMap<&'static str, usize>,
    distinct: HashSet<&'i Value>,
    characters: Vec<f64>,
    numbers: Vec<f64>,
    elements: Vec<f64>,
}

impl<'i> FieldValues<'i> {
    fn new(place: (usize, usize, usize)) -> Self {
        Self { place, ..Self::default() }
    }

    fn add(&mut self, value: &'i Value) {
        self.items += 1;
        self.empty += usize::from(is_empty(value));
        self.distinct.insert(value);
        match value {
            Value::Null => {
                self.null += 1;
                return;
            }
            Value::String(text) => self.characters.push(text.chars().count() as f64),
            Value::Number(number) => self.numbers.extend(number.as_f64()),
            Value::Array(values) => self.elements.push(values.len() as f64),
            Value::Bool(_) | Value::Object(_) => {}
        }
        *self.types.entry(Type::of(value).name()).or_default() += 1;
    }

    fn statistics(self, name: &str, inner: Option<&str>, all: usize) -> FieldStatistics {
        FieldStatistics {
            name: inner.map_or_else(|| name.to_owned(), |inner| format!("{name}.{inner}")),
            within: inner.map(|_| name.to_owned()),
            items: self.items,
            missing: all - self.items,
            null: self.null,
            empty: self.empty,
            distinct: self.distinct.len(),
            types: self.types,
            characters: NumberRange::from_values(self.characters),
            numbers: NumberRange::from_values(self.numbers),
            elements: NumberRange::from_values(self.elements),
        }
    }
}

#[cfg(test)]
mod tests {
    use cobalt::item;

    use super::*;

    fn of(items: &[Item], name: &str) -> FieldStatistics {
        statistics(items.iter()).into_iter().find(|field| field.name == name).unwrap()
    }

    #[test]
    fn a_field_is_counted_by_what_items_have_of_it() {
        let items = [
            item! { "a": "質問" },
            item! { "a": "" },
            item! { "a": null },
            item! { "a": "four" },
            item! { "a": "four" },
            item! {},
        ];
        let expected = FieldStatistics {
            name: "a".to_owned(),
            within: None,
            items: 5,
            missing: 1,
            null: 1,
            empty: 1,
            distinct: 4,
            types: BTreeMap::from([("string", 4)]),
            characters: Some(NumberRange { min: 0.0, median: 3.0, max: 4.0 }),
            numbers: None,
            elements: None,
        };
        assert_eq!(of(&items, "a"), expected);
    }

    #[test]
    fn numbers_lists_and_texts_of_one_field_are_told_apart() {
        let items = [
            item! { "a": 10 },
            item! { "a": -2.5 },
            item! { "a": 1 },
            item! { "a": [1, 2] },
            item! { "a": "10" },
            item! { "a": true },
        ];
        let found = of(&items, "a");
        assert_eq!(found.types, BTreeMap::from([("array", 1), ("boolean", 1), ("number", 3), ("string", 1)]));
        assert_eq!(found.numbers, Some(NumberRange { min: -2.5, median: 1.0, max: 10.0 }));
        assert_eq!(found.elements, Some(NumberRange { min: 2.0, median: 2.0, max: 2.0 }));
        assert_eq!(found.characters, Some(NumberRange { min: 2.0, median: 2.0, max: 2.0 }));
        assert_eq!((found.empty, found.distinct), (0, 6));
    }

    #[test]
    fn fields_of_objects_follow_them_and_deeper_ones_do_not() {
        let items = [
            item! { "b": { "c": { "e": 1 } } },
            item! { "a": [{ "f": 1 }] },
            item! { "b": { "d": 1 }, "b.c": 1, "id": 1 },
        ];
        let names: Vec<_> = statistics(items.iter()).into_iter().map(|field| field.name).collect();
        assert_eq!(names, ["id", "b", "b.c", "b.d", "a", "b.c"]);
    }
}
