//! Builders for metrics of one's own, numbers with a name, a unit and a direction, and for tables.

use super::custom_metric::{Direction, MetricValue, RunTable};

/// A metric of your own: of one execution if it is passed to `Context::record`, of the whole run if a summary function returns it.
///
/// ```
/// use cobalt::Metric;
///
/// # fn example(context: &cobalt::Context) {
/// context.metric("retrieved", 7);
/// context.record(Metric::new("retrieved", 7).unit("documents").higher_is_better());
/// # }
/// ```
///
/// The direction decides what a comparison calls better or worse; without one, it says only that the metric changed. Thresholds may
/// bound any metric on either side.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a metric counts only if it is passed to `Context::record` or returned by a summary function"]
pub struct Metric {
    name: String,
    value: MetricValue,
}

impl Metric {
    /// Creates a metric without a unit and a direction.
    pub fn new(name: impl Into<String>, value: impl MetricNumber) -> Self {
        Self { name: name.into(), value: MetricValue { value: value.to_f64(), ..MetricValue::default() } }
    }

    /// Sets the unit, such as `ms` or `documents`.
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.value.unit = Some(unit.into());
        self
    }

    /// Higher values are better.
    pub fn higher_is_better(mut self) -> Self {
        self.value.better = Some(Direction::Higher);
        self
    }

    /// Lower values are better.
    pub fn lower_is_better(mut self) -> Self {
        self.value.better = Some(Direction::Lower);
        self
    }

    /// The name and the value if they can be stored, or else the error.
    #[doc(hidden)]
    pub fn into_parts(self) -> Result<(String, MetricValue), String> {
        let Self { name, value: MetricValue { value, .. } } = &self;
        if name.trim().is_empty() {
            return Err("a metric has no name: give it one, such as `retrieved`".to_owned());
        }
        if !value.is_finite() {
            return Err(format!("the metric `{name}` is {value}, expected a finite number"));
        }
        Ok((self.name, self.value))
    }
}

/// A number that can be the value of a [`Metric`].
#[diagnostic::on_unimplemented(
    message = "the value of a metric must be a number, not `{Self}`",
    label = "not a number"
)]
pub trait MetricNumber {
    /// The number.
    fn to_f64(self) -> f64;
}

macro_rules! numbers_are_values {
    ($($number:ty)*) => {$(
        impl MetricNumber for $number {
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

numbers_are_values! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 }

/// A table of the whole run, such as a confusion matrix.
///
/// ```
/// let table = cobalt::Table::new(["spam", "ham"]).label("expected").row("spam", [8, 2]).row("ham", [1, 9]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a table counts only if a summary function returns it"]
pub struct Table {
    name: Option<String>,
    table: RunTable,
}

impl Table {
    /// Creates a table with these columns and no rows. Its name is that of the summary function.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { name: None, table: RunTable { columns, ..RunTable::default() } }
    }

    /// Sets the name, for a function that returns several tables.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the header of the rows' names, such as `expected`.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.table.label = label.into();
        self
    }

    /// Adds a row with one value per column.
    pub fn row(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = impl MetricNumber>,
    ) -> Self {
        let values = values.into_iter().map(MetricNumber::to_f64).collect();
        self.table.rows.push((name.into(), values));
        self
    }

    /// The name, if it has one, and the table if it can be stored, or else the error.
    #[doc(hidden)]
    pub fn into_parts(self) -> Result<(Option<String>, RunTable), String> {
        let columns = self.table.columns.len();
        for (name, values) in &self.table.rows {
            if values.len() != columns {
                return Err(format!(
                    "the row `{name}` has {} values for {columns} columns; give it one value per column",
                    values.len()
                ));
            }
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(format!("the row `{name}` has the value {value}, expected finite numbers"));
            }
        }
        Ok((self.name, self.table))
    }
}
