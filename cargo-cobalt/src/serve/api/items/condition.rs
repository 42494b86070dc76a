//! The conditions of `where`: a column, an operator and a value.

use std::cmp::Ordering;
use std::sync::Arc;

use super::column::{Column, no_values};
use crate::serve::error::ApiError;
use crate::serve::store::{
    Cell, FileColumn, ItemSet, LoadedRun, RunFileError, Selection, Store, contains_ignore_case,
};

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
}

/// Longer ones first: `<=` starts with `<`.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("~", Operator::Contains),
];

impl Operator {
    fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual)
    }

    fn accepts(self, order: Ordering) -> bool {
        match self {
            Self::Equal | Self::Contains => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A parsed condition.
#[derive(Debug)]
struct Condition {
    operator: Operator,
    value: String,
    /// In lower case.
    lower: String,
    number: Option<f64>,
    integer: Option<i128>,
}

/// The ways to split a condition into a column's name and the rest, the shortest name first: names of evaluators and fields may contain
/// operators.
fn splits(text: &str) -> impl Iterator<Item = (&str, Condition)> {
    let places = text.match_indices(['!', '=', '<', '>', '~']).map(|(at, _)| at).filter(|at| *at > 0);
    places.filter_map(|at| {
        let (name, rest) = text.split_at(at);
        let (operator, value) =
            OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, rest.strip_prefix(sign)?)))?;
        Some((name.trim(), Condition::new(operator, value)))
    })
}

impl Condition {
    fn new(operator: Operator, value: &str) -> Self {
        let number = value.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let integer = value.trim().parse().ok();
        Self { operator, value: value.to_owned(), lower: value.to_lowercase(), number, integer }
    }

    fn test(&self, cell: &Cell) -> bool {
        match (cell, self.operator) {
            // An item without a value differs from every value.
            (Cell::Missing, operator) => operator == Operator::NotEqual,
            (Cell::Names(names), Operator::Equal) => names.iter().any(|name| **name == *self.value),
            (Cell::Names(names), Operator::NotEqual) => names.iter().all(|name| **name != *self.value),
            (Cell::Names(names), Operator::Contains) => {
                names.iter().any(|name| contains_ignore_case(name, &self.lower))
            }
            (Cell::Text(text) | Cell::Json(text), Operator::Contains) => {
                contains_ignore_case(text, &self.lower)
            }
            (cell, Operator::Contains) => {
                cell.text().is_some_and(|text| contains_ignore_case(&text, &self.lower))
            }
            (Cell::Text(text), operator) => operator.accepts((**text).cmp(&self.value)),
            (cell, operator) => self.compare(cell).is_some_and(|order| operator.accepts(order)),
        }
    }

    /// Compares a value with that of the condition: numbers as numbers, anything else as text.
    fn compare(&self, cell: &Cell) -> Option<Ordering> {
        if let Some((integer, wanted)) = cell.as_integer().zip(self.integer) {
            return Some(integer.cmp(&wanted));
        }
        match cell.as_f64().zip(self.number) {
            Some((number, wanted)) => number.partial_cmp(&wanted),
            None => Some(cell.text()?.as_str().cmp(&self.value)),
        }
    }

    /// Rejects what no item can meet, whatever the values are.
    fn check_status(&self, column: &Column) -> Result<(), ApiError> {
        const STATUSES: [&str; 3] = ["ok", "timeout", "error"];
        let is_known = STATUSES.contains(&&*self.value) || self.operator == Operator::Contains;
        match *column == Column::Status && (self.operator.is_order() || !is_known) {
            true => Err(ApiError::bad_request(
                "`status` is `ok`, `timeout` or `error`; compare it with `=` or `!=`",
            )),
            false => Ok(()),
        }
    }

    /// Rejects values that no item can have.
    fn check(&self, name: &str, column: &Column, values: &Values) -> Result<(), ApiError> {
        let Self { operator, value, number, .. } = self;
        if operator.is_order() && values.has_names {
            return Err(ApiError::bad_request(format!(
                "`{name}` holds names, which have no order; use `=`, `!=` or `~`"
            )));
        }
        let needs_number = *operator != Operator::Contains && number.is_none();
        let has_only_numbers = values.has_numbers && !values.has_others;
        if needs_number && (column.is_numeric() || has_only_numbers) {
            return Err(ApiError::bad_request(format!(
                "`{name}` is a number, but `{value}` is not; use a number, as in `{name}>=1`"
            )));
        }
        Ok(())
    }
}

/// What values the items have.
#[derive(Clone, Copy, Debug, Default)]
struct Values {
    has_numbers: bool,
    has_names: bool,
    /// Including names.
    has_others: bool,
}

impl Values {
    fn of(cell: &Cell) -> Self {
        let is_number = cell.as_f64().is_some();
        Self {
            has_numbers: is_number,
            has_names: matches!(cell, Cell::Names(_)),
            has_others: !is_number && !cell.is_missing(),
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            has_numbers: self.has_numbers || other.has_numbers,
            has_names: self.has_names || other.has_names,
            has_others: self.has_others || other.has_others,
        }
    }

    fn is_empty(self) -> bool {
        !self.has_numbers && !self.has_others
    }
}

/// The items of the run that meet a condition, cached.
pub fn items_that_meet(store: &Store, run: &LoadedRun, text: &str) -> Result<Arc<ItemSet>, RunFileError> {
    store.selected(run, Selection::Condition(text.to_owned()), || select(store, run, text))
}

fn select(store: &Store, run: &LoadedRun, text: &str) -> Result<ItemSet, RunFileError> {
    let mut splits = splits(text);
    let (name, condition) = splits.next().ok_or_else(|| {
        ApiError::bad_request(format!(
            "invalid condition `{text}`: expected a column, an operator (`=`, `!=`, `<`, `<=`, `>`, `>=` or `~`) and a value, as in \
             `input.topic=billing` or `latency>=500`"
        ))
    })?;
    match test_items(store, run, name, &condition) {
        Err(RunFileError::Permanent(error)) => {
            // Of the items' fields, only sampled ones are known.
            let fields = store.item_fields(run)?;
            let is_known = |name: &str| {
                fields.iter().any(|field| field.name == name)
                    || evaluator_of(name).is_some_and(|it| run.evaluator_index(it).is_some())
            };
            let (name, condition) = splits.find(|(name, _)| is_known(name)).ok_or(error)?;
            test_items(store, run, name, &condition)
        }
        tested => tested,
    }
}

/// The items whose value of a column meets a condition. The column must have a value, unless all runs have it.
fn test_items(
    store: &Store,
    run: &LoadedRun,
    name: &str,
    condition: &Condition,
) -> Result<ItemSet, RunFileError> {
    let column = Column::expect(run, name)?;
    condition.check_status(&column)?;
    let test = |cell: &Cell| (condition.test(cell), Values::of(cell));
    let tested = match &column {
        Column::File(file) => store.scan_column(run, file, test)?,
        _ => run.items.iter().map(|item| test(&column.computed(item))).collect(),
    };
    let values = tested.iter().fold(Values::default(), |all, (_, values)| all.join(*values));
    let may_be_absent =
        matches!(column, Column::Metric(_) | Column::File(FileColumn::Input(_) | FileColumn::Metadata(_)));
    if may_be_absent && !run.items.is_empty() && values.is_empty() {
        return Err(no_values(store, run, name)?.into());
    }
    condition.check(name, &column, &values)?;
    Ok(tested.into_iter().map(|(is_met, _)| is_met).collect())
}

/// The evaluator that a column is of.
fn evaluator_of(name: &str) -> Option<&str> {
    name.strip_prefix("score.").or_else(|| name.strip_prefix("reason."))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn meets(condition: &str, value: &Value) -> bool {
        let (name, condition) = splits(condition).next().unwrap();
        assert_eq!(name, "input.x");
        condition.test(&Cell::of(value))
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_anything_else_as_text() {
        for (condition, value) in [
            ("input.x=9", json!(9.0)),
            ("input.x<10", json!(9)),
            ("input.x>=9", json!(10)),
            ("input.x!=9", json!(9.5)),
            ("input.x=9.0", json!(9)),
            ("input.x=9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("input.x>-1", json!(u64::MAX)),
            ("input.x=billing", json!("billing")),
            ("input.x<b", json!("a")),
            ("input.x~BILL", json!("my bill")),
            ("input.x~1", json!(215)),
            ("input.x=true", json!(true)),
            ("input.x~a=b", json!("c a=b d")),
            ("input.x=", json!("")),
            ("input.x!=a", json!(null)),
            ("input.x~two", json!(["one", "two"])),
        ] {
            assert!(meets(condition, &value), "{condition} {value}");
        }
        for (condition, value) in [
            ("input.x=9", json!("nine")),
            ("input.x=9007199254740992", json!(9_007_199_254_740_993_u64)),
            ("input.x<10", json!(10)),
            ("input.x=Billing", json!("billing")),
            ("input.x=a", json!(null)),
            ("input.x~a", json!(null)),
            ("input.x<5", json!(null)),
        ] {
            assert!(!meets(condition, &value), "{condition} {value}");
        }
    }

    #[test]
    fn an_item_meets_a_condition_on_names_by_any_of_them() {
        let cell = Cell::names(vec!["search".to_owned(), "book_room".to_owned()]);
        let meets = |condition: &str| splits(condition).next().unwrap().1.test(&cell);
        assert!(meets("tool=search") && meets("tool~ROOM") && meets("tool!=cancel"));
        assert!(!meets("tool=room") && !meets("tool!=search"));
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in ["", "latency", "=3", "latency!3", "~"] {
            assert!(splits(text).next().is_none(), "{text}");
        }
    }

    #[test]
    fn a_name_may_contain_operators() {
        let names: Vec<_> =
            splits("score.a>=b<0.5").map(|(name, condition)| (name, condition.value)).collect();
        assert_eq!(
            names,
            [("score.a", "b<0.5"), ("score.a>", "b<0.5"), ("score.a>=b", "0.5")]
                .map(|(name, value)| (name, value.to_owned()))
        );
    }
}
