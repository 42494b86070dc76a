//! What BLEU makes of orders in which nothing matches.

/// What [`Bleu`](super::Bleu) takes for the precision of an order in which nothing matches. Where nothing matches in any
/// order, the score is 0 all the same. The methods are those of Chen and Cherry (2014) that sacrebleu has; in place of a value
/// below 0, 0 is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BleuSmoothing {
    /// 0, so that the score is 0.
    None,
    /// So many matches instead of none (method 1). sacrebleu takes 0.1.
    Floor(f64),
    /// So many more matches and n-grams in each order above 1 (method 2). sacrebleu takes 1.
    AddK(f64),
    /// 1/2 of a match in the first order without one, 1/4 in the second, and so on (method 3, that of NIST).
    #[default]
    Exponential,
}

impl BleuSmoothing {
    /// The precision of each order: all 0 where nothing matches in any.
    pub(super) fn precisions(self, matches: &[usize], totals: &[usize]) -> Vec<f64> {
        if matches.iter().all(|matches| *matches == 0) {
            return vec![0.0; matches.len()];
        }
        let mut next = 1.0;
        let precision = |(order, (matches, total)): (usize, (&usize, &usize))| {
            let more = self.added(order);
            let (mut matches, total) = (*matches as f64 + more, *total as f64 + more);
            if total == 0.0 {
                return 0.0;
            }
            if matches == 0.0 {
                matches = match self {
                    Self::None | Self::AddK(_) => 0.0,
                    Self::Floor(value) => value.max(0.0),
                    Self::Exponential => {
                        next /= 2.0;
                        next
                    }
                };
            }
            matches / total
        };
        (1..).zip(matches.iter().zip(totals)).map(precision).collect()
    }

    /// How many orders have an n-gram.
    pub(super) fn orders(self, totals: &[usize]) -> usize {
        (1..).zip(totals).filter(|(order, total)| **total as f64 + self.added(*order) > 0.0).count()
    }

    /// How many matches and n-grams an order has more.
    fn added(self, order: usize) -> f64 {
        match self {
            Self::AddK(k) if order > 1 => k.max(0.0),
            _ => 0.0,
        }
    }
}
