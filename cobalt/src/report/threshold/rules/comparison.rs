//! How a measured value is held against the bound, and on which side the good values lie.

use std::fmt;

use super::category::Category;
use super::metric::Metric;

/// How a measured value is held against the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

/// On which side of the bound the good values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// The value must not fall below the bound: `>=` or `>`.
    Lower,
    /// The value must not rise above the bound: `<=` or `<`.
    Upper,
}

/// How much a figure may be off by rounding, as a share of it.
const ROUNDING: f64 = 1e-12;

impl Comparison {
    /// The comparison that is written so.
    pub(crate) fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            ">=" => Self::AtLeast,
            ">" => Self::Above,
            "<=" => Self::AtMost,
            "<" => Self::Below,
            _ => return None,
        })
    }

    /// How the comparison is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    /// The side on which the values lie that it lets pass.
    pub(crate) fn direction(self) -> Direction {
        match self {
            Self::AtLeast | Self::Above => Direction::Lower,
            Self::AtMost | Self::Below => Direction::Upper,
        }
    }

    /// The comparison that says the same with its two sides exchanged.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::Above => Self::Below,
            Self::AtMost => Self::AtLeast,
            Self::Below => Self::Above,
        }
    }

    /// Whether a measured value satisfies the bound; NaN never does.
    ///
    /// Figures are worked out from rounded numbers: the mean of 0.7, 0.8 and 0.9 comes out a little below 0.8. What
    /// differs by no more than such rounding is equal.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        let equal = (value - bound).abs() <= ROUNDING * value.abs().max(bound.abs());
        match self {
            Self::AtLeast => equal || value > bound,
            Self::Above => !equal && value > bound,
            Self::AtMost => equal || value < bound,
            Self::Below => !equal && value < bound,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.symbol())
    }
}

/// Refuses `=`, `==` and `!=`, and says what to write.
pub(crate) fn not_a_comparison(symbol: &str, category: &Category, metric: Metric, bound: &str) -> String {
    let right = match category.direction(metric) {
        Direction::Lower => Comparison::AtLeast,
        Direction::Upper => Comparison::AtMost,
    };
    let figure = category.figure(metric);
    format!("a threshold is a bound, not `{symbol}`: write `{figure} {right} {bound}`")
}
