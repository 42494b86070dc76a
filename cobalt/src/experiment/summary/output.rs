//! What a summary function returns: metrics and tables.

use cobalt_core::error_chain::IntoReason;
use cobalt_core::report::builders::{Metric, MetricNumber, Table};
use cobalt_core::report::{MetricValue, RunTable};

/// The metrics and tables of a summary function. Without a name of its own, each has that of the function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryOutput {
    pub(crate) metrics: Vec<(Option<String>, MetricValue)>,
    pub(crate) tables: Vec<(Option<String>, RunTable)>,
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

macro_rules! numbers_are_summaries {
    ($($number:ty)*) => {$(
        impl IntoSummary for $number {
            fn into_summary(self) -> Result<SummaryOutput, String> {
                of_number(self.to_f64())
            }
        }
    )*};
}

numbers_are_summaries! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 }

fn of_number(value: f64) -> Result<SummaryOutput, String> {
    if !value.is_finite() {
        return Err(format!("the value is {value}, expected a finite number"));
    }
    let metric = (None, MetricValue { value, ..MetricValue::default() });
    Ok(SummaryOutput { metrics: vec![metric], tables: Vec::new() })
}

impl IntoSummary for Metric {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        let (name, value) = self.into_parts()?;
        Ok(SummaryOutput { metrics: vec![(Some(name), value)], tables: Vec::new() })
    }
}

impl IntoSummary for Table {
    fn into_summary(self) -> Result<SummaryOutput, String> {
        Ok(SummaryOutput { metrics: Vec::new(), tables: vec![self.into_parts()?] })
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
