//! What a summary function returns: metrics and tables.

use cobalt_core::error_chain::IntoReason;
use cobalt_core::report::{MetricValue, RunTable};

use crate::experiment::metric::{Metric, MetricNumber};

/// The metrics and tables of a summary function. Without a name of its own, each has that of the function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryOutput {
    pub(crate) metrics: Vec<(Option<String>, MetricValue)>,
    pub(crate) tables: Vec<(Option<String>, RunTable)>,
}

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

    /// The table if it can be stored, or else the error.
    fn checked(self) -> Result<Self, String> {
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
        Ok(self)
    }
}

/// Return types of summary functions: a number, a [`Metric`] with a unit and a direction, a [`Table`], several of them as a tuple or a
/// `Vec`, or a `Result` of one.
///
/// An error is an error of the run. The error types are the same as for [agents](crate::IntoOutput).
#[diagnostic::on_unimplemented(
    message = "a summary function cannot return `{Self}`",
    label = "not a number, `cobalt::Metric`, `cobalt::Table` or a `Result` of one",
    note = "return a number, `cobalt::Metric` to set a unit or a direction, `cobalt::Table`, a tuple or `Vec` of them, or a `Result` of one"
)]
pub trait IntoSummary {
    /// Converts the returned value.
    ///
    /// # Errors
    ///
    /// Returns the error of the summary function, or that its value cannot be stored.
    fn into_summary(self) -> Result<SummaryOutput, String>;
}

impl<N: MetricNumber> IntoSummary for N {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        let value = self.to_f64();
        if !value.is_finite() {
            return Err(format!("the value is {value}, expected a finite number"));
        }
        let metric = (None, MetricValue { value, ..MetricValue::default() });
        Ok(SummaryOutput { metrics: vec![metric], tables: Vec::new() })
    }
}

impl IntoSummary for Metric {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        let Self { name, value } = self.checked()?;
        Ok(SummaryOutput { metrics: vec![(Some(name), value)], tables: Vec::new() })
    }
}

impl IntoSummary for Table {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        let Self { name, table } = self.checked()?;
        Ok(SummaryOutput { metrics: Vec::new(), tables: vec![(name, table)] })
    }
}

impl<T: IntoSummary> IntoSummary for Vec<T> {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        let mut all = SummaryOutput::default();
        for one in self {
            let SummaryOutput { metrics, tables } = one.into_summary()?;
            all.metrics.extend(metrics);
            all.tables.extend(tables);
        }
        Ok(all)
    }
}

impl<A: IntoSummary, B: IntoSummary> IntoSummary for (A, B) {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        vec![self.0.into_summary(), self.1.into_summary()].into_summary()
    }
}

impl<A: IntoSummary, B: IntoSummary, C: IntoSummary> IntoSummary for (A, B, C) {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        ((self.0, self.1), self.2).into_summary()
    }
}

impl IntoSummary for SummaryOutput {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        Ok(self)
    }
}

impl<T: IntoSummary, E: IntoReason> IntoSummary for Result<T, E> {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        self.map_err(IntoReason::into_reason)?.into_summary()
    }
}
