//! A cost of which only bounds may be known.

use std::fmt;
use std::ops::Add;

use cobalt_core::prices::CostFormat;

/// Bounds of a cost, in USD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostRange {
    least: f64,
    /// `None` if it is not known.
    most: Option<f64>,
}

impl CostRange {
    pub const NOTHING: Self = Self { least: 0.0, most: Some(0.0) };
    pub const UNKNOWN: Self = Self { least: 0.0, most: None };

    pub fn exactly(cost: f64) -> Self {
        Self { least: cost, most: Some(cost) }
    }

    /// The same cost, or any part of it.
    pub fn or_less(self) -> Self {
        Self { least: 0.0, ..self }
    }
}

impl Add for CostRange {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let most = self.most.zip(other.most).map(|(one, other)| one + other);
        Self { least: self.least + other.least, most }
    }
}

/// `$0.12`, `up to $0.12`, `$0.05 to $0.12`, `at least $0.05`, or `unknown`.
impl fmt::Display for CostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let costs = CostFormat::of([self.least].into_iter().chain(self.most));
        let least = costs.format(self.least);
        match self.most.map(|most| (most, costs.format(most))) {
            None if self.least > 0.0 => write!(f, "at least {least}"),
            None => f.write_str("unknown"),
            Some((_, most)) if most == least => f.write_str(&most),
            Some((most, shown)) if most > self.least && self.least <= 0.0 => write!(f, "up to {shown}"),
            Some((_, most)) => write!(f, "{least} to {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_as_certain_as_its_parts() {
        let shown =
            |parts: &[CostRange]| parts.iter().fold(CostRange::NOTHING, |sum, part| sum + *part).to_string();
        let cent = CostRange::exactly(0.01);
        assert_eq!(shown(&[]), "$0.00");
        assert_eq!(shown(&[cent, cent]), "$0.020");
        assert_eq!(shown(&[cent, CostRange::UNKNOWN]), "at least $0.010");
        assert_eq!(shown(&[CostRange::UNKNOWN]), "unknown");
        assert_eq!(shown(&[cent.or_less()]), "up to $0.010");
        assert_eq!(shown(&[cent, cent.or_less()]), "$0.010 to $0.020");
        assert_eq!(shown(&[CostRange::UNKNOWN.or_less()]), "unknown");
    }
}
