//! Metrics of one's own: numbers with a name, a unit and a direction.

use cobalt_core::report::{Direction, MetricValue};

/// A metric of your own: of one execution if it is passed to [`Context::record`](crate::Context::record), of the whole run if a
/// [summary function](macro@crate::summary) returns it.
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
    pub(crate) name: String,
    pub(crate) value: MetricValue,
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

    /// The metric if its name and its value can be stored, or else the error.
    pub(crate) fn checked(self) -> Result<Self, String> {
        let Self { name, value: MetricValue { value, .. } } = &self;
        if name.trim().is_empty() {
            return Err("a metric has no name: give it one, such as `retrieved`".to_owned());
        }
        if !value.is_finite() {
            return Err(format!("the metric `{name}` is {value}, expected a finite number"));
        }
        Ok(self)
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
