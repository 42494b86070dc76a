//! The value of a column of an item.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use cobalt_core::wording::truncate;
use serde_json::{Number, Value};

/// A value of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Missing,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    /// A list or an object, as JSON.
    Json(Box<str>),
    /// Distinct names, sorted.
    Names(Box<[Box<str>]>),
}

impl Cell {
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Missing,
            Value::Bool(value) => Self::Bool(*value),
            // 1 and 1.0 are the same value.
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(fraction) => Self::number(fraction),
                None => Self::Number(number.clone()),
            },
            Value::String(text) => Self::Text(text.as_str().into()),
            other => Self::Json(other.to_string().into()),
        }
    }

    /// A count, a cost or another number; a number that JSON does not have is missing.
    pub fn number(number: impl Into<f64>) -> Self {
        let number = number.into();
        // Counts are shown without a fraction.
        let whole = (number.fract() == 0.0 && number.abs() < 1e15).then(|| Number::from(number as i64));
        whole.or_else(|| Number::from_f64(number)).map_or(Self::Missing, Self::Number)
    }

    /// Names, each once.
    pub fn names(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        names.dedup();
        match names.is_empty() {
            true => Self::Missing,
            false => Self::Names(names.into_iter().map(String::into_boxed_str).collect()),
        }
    }

    pub fn is_missing(&self) -> bool {
        *self == Self::Missing
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    /// A whole number, exactly: identifiers may have more digits than an `f64`.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Number(number) => {
                number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
            }
            _ => None,
        }
    }

    /// As text; `None` if it is missing.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Self::Missing => return None,
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) | Self::Json(text) => text.to_string(),
            Self::Names(names) => names.join(", "),
        })
    }

    /// As JSON, with long texts cut; `None` if it is missing.
    pub fn preview(&self, length: usize) -> Option<Value> {
        Some(match self {
            Self::Missing => return None,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(_) | Self::Json(_) | Self::Names(_) => {
                truncate(&self.text().unwrap_or_default(), length).into()
            }
        })
    }

    /// Cuts a long text; returns the hash of a text that was cut.
    pub fn cut(&mut self, length: usize) -> Option<u64> {
        let (Self::Text(text) | Self::Json(text)) = self else { return None };
        let Cow::Owned(beginning) = truncate(text, length) else { return None };
        let mut hash = DefaultHasher::new();
        text.hash(&mut hash);
        *text = beginning.into();
        Some(hash.finish())
    }

    /// The approximate memory use in bytes.
    pub fn size(&self) -> usize {
        /// The overhead of an allocation.
        const OVERHEAD: usize = 16;
        size_of::<Self>()
            + match self {
                Self::Text(text) | Self::Json(text) => text.len() + OVERHEAD,
                Self::Names(names) => names.iter().map(|name| name.len() + 2 * OVERHEAD).sum(),
                Self::Missing | Self::Bool(_) | Self::Number(_) => 0,
            }
    }
}

/// A value to sort by: numbers as numbers, then anything else as text, ignoring case.
#[derive(Clone, Debug, PartialEq)]
pub enum SortKey {
    Number(f64),
    Text(String),
}

impl SortKey {
    /// `None` if the value is missing.
    pub fn of(cell: &Cell) -> Option<Self> {
        match cell.as_f64() {
            Some(number) => Some(Self::Number(number)),
            None => cell.text().map(|text| Self::Text(text.to_lowercase())),
        }
    }

    /// Missing values come last in both directions.
    pub fn cmp_known_first(one: &Option<Self>, two: &Option<Self>, is_descending: bool) -> Ordering {
        match (one, two) {
            (Some(one), Some(two)) if is_descending => two.cmp(one),
            (Some(one), Some(two)) => one.cmp(two),
            (one, two) => two.is_some().cmp(&one.is_some()),
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_sorted_as_numbers_before_texts_and_missing_values_come_last_both_ways() {
        let values = [json!("b"), json!(10), json!(null), json!(9.5), json!("A")];
        let sorted = |is_descending| {
            let mut cells: Vec<_> = values.iter().map(Cell::of).collect();
            let key = |cell: &Cell| SortKey::of(cell);
            cells.sort_by(|one, two| SortKey::cmp_known_first(&key(one), &key(two), is_descending));
            cells.iter().map(|cell| cell.text().unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(false), ["9.5", "10", "A", "b", ""]);
        assert_eq!(sorted(true), ["b", "A", "10", "9.5", ""]);
    }

    #[test]
    fn a_long_text_is_cut_and_a_list_is_shown_as_json() {
        let mut cell = Cell::of(&json!("é".repeat(300)));
        let mut other = Cell::of(&json!("é".repeat(301)));
        let hashes = [&mut cell, &mut other].map(|cell| cell.cut(200).unwrap());
        assert!(cell.text().unwrap().chars().count() == 201 && cell == other && hashes[0] != hashes[1]);
        assert_eq!(Cell::of(&json!(["a", 1])).preview(200), Some(json!(r#"["a",1]"#)));
        assert_eq!(Cell::number(3.0).preview(200), Some(json!(3)));
        assert_eq!(Cell::of(&json!(3.0)), Cell::of(&json!(3)));
        assert_eq!(Cell::number(f64::NAN), Cell::Missing);
        let names = Cell::names(vec!["search".to_owned(), "book".to_owned(), "search".to_owned()]);
        assert_eq!(names.text().unwrap(), "book, search");
    }
}
