//! Comparisons of a measured value with a bound.

use std::fmt;

/// How a measured value is compared with the bound.
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

/// Whether a bound is a lower or an upper one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A lower bound: `>=` or `>`.
    Lower,
    /// An upper bound: `<=` or `<`.
    Upper,
}

/// The relative tolerance for rounding errors.
const ROUNDING: f64 = 1e-12;

impl Comparison {
    /// The comparison with this symbol.
    #[doc(hidden)]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            ">=" => Self::AtLeast,
            ">" => Self::Above,
            "<=" => Self::AtMost,
            "<" => Self::Below,
            _ => return None,
        })
    }

    /// The comparison's symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    /// Whether it is a lower or an upper bound.
    #[doc(hidden)]
    pub fn direction(self) -> Direction {
        match self {
            Self::AtLeast | Self::Above => Direction::Lower,
            Self::AtMost | Self::Below => Direction::Upper,
        }
    }

    /// The equivalent comparison with its sides swapped.
    #[doc(hidden)]
    pub fn mirrored(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::Above => Self::Below,
            Self::AtMost => Self::AtLeast,
            Self::Below => Self::Above,
        }
    }

    /// Whether a measured value satisfies the bound; NaN never does.
    ///
    /// Values that differ only by rounding errors are equal: the calculated mean of 0.7, 0.8 and 0.9 is slightly below 0.8.
    pub fn is_met_by(self, value: f64, bound: f64) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_decides_no_threshold() {
        let mean = (0.7 + 0.8 + 0.9) / 3.0;
        assert!(mean < 0.8, "the mean is below the bound");
        assert!(Comparison::AtLeast.is_met_by(mean, 0.8) && !Comparison::Below.is_met_by(mean, 0.8));
        assert!(Comparison::AtMost.is_met_by(0.1 + 0.2, 0.3) && !Comparison::Above.is_met_by(0.1 + 0.2, 0.3));
        assert!(!Comparison::AtLeast.is_met_by(0.799_999, 0.8));
        assert!(!Comparison::AtMost.is_met_by(2e-13, 1e-13), "small values are distinguished");
    }
}
