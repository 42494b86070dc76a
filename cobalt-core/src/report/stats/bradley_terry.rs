//! The strengths of runs whose outputs were compared in pairs, by the model of Bradley and Terry.

use std::collections::{BTreeMap, BTreeSet};

use super::{Interval, student_t_quantile};

/// Two of several runs compared by a judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairwiseComparison<'a> {
    /// What was compared: comparisons of the same item depend on each other.
    pub cluster: &'a str,
    /// The place of the run whose output the judge saw first.
    pub first: usize,
    /// The place of the other run.
    pub second: usize,
    /// 1 if the first one won, 0 if the second one won, 0.5 for a tie.
    pub outcome: f64,
}

/// The strengths of runs: `ln(p / (1 - p))` of the probability that one wins is the difference of their strengths, plus the preference
/// for the first position if it is first.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// The logarithm of each run's strength; they add up to 0.
    pub strengths: Vec<f64>,
    /// The 95% CI of each.
    pub ci95: Vec<Interval>,
    /// How much the judge prefers the first position; `None` unless the model has the term and a pair was compared in both orders.
    pub first_position: Option<f64>,
}

/// Stops once no parameter changes by more than this.
const TOLERANCE: f64 = 1e-13;
const MAX_ITERATIONS: usize = 100_000;

/// Fits the model to comparisons of `runs` runs, with a term for the position if `with_position`. Ties count as half a win for both.
///
/// The maximum of the likelihood is found by the MM algorithm of Hunter ("MM algorithms for generalized Bradley-Terry models", Annals of
/// Statistics 32, 2004). The errors are those of the sandwich estimator clustered by item (Liang and Zeger, "Longitudinal data analysis
/// using generalized linear models", Biometrika 73, 1986) with the factor `G / (G - 1)` and Student's t with `G - 1` degrees of freedom for
/// `G` clusters.
///
/// A run that won or lost all its comparisons would have an infinite strength. So each run has one more tie than it was compared, spread
/// evenly over all others and both orders; the ties of a pair are a cluster of their own. This moves strengths a little towards 0, and its
/// weight is that of one comparison per run.
///
/// `None` with fewer than two runs or clusters, for a run that does not exist or is compared with itself, and for an outcome outside of 0
/// to 1.
#[must_use]
pub fn bradley_terry(
    comparisons: &[PairwiseComparison<'_>],
    runs: usize,
    with_position: bool,
) -> Option<BradleyTerry> {
    let is_valid = |it: &PairwiseComparison<'_>| {
        it.first.max(it.second) < runs && it.first != it.second && (0.0..=1.0).contains(&it.outcome)
    };
    if runs < 2 || !comparisons.iter().all(is_valid) {
        return None;
    }
    let counts = Counts::of(comparisons, runs);
    let model = counts.fit(with_position && counts.is_in_both_orders());
    let variances = model.variances(&counts, comparisons)?;
    let clusters = comparisons.iter().map(|it| it.cluster).collect::<BTreeSet<_>>().len();
    let t = student_t_quantile(0.975, clusters.checked_sub(1).filter(|df| *df > 0)? as f64)?;
    let scale = clusters as f64 / (clusters - 1) as f64;
    let interval = |(strength, variance): (&f64, &f64)| {
        let margin = t * (scale * variance).max(0.0).sqrt();
        Interval { low: strength - margin, high: strength + margin }
    };
    Some(BradleyTerry {
        ci95: model.strengths.iter().zip(&variances).map(interval).collect(),
        strengths: model.strengths,
        first_position: model.position,
    })
}

/// The comparisons of each ordered pair, with the added ties.
struct Counts {
    /// How often the first one won and how often the second one did, by first and second.
    wins: Vec<Vec<[f64; 2]>>,
    /// The comparisons added per pair and order.
    added: f64,
    /// The comparisons of each ordered pair without the added ones.
    observed: Vec<Vec<usize>>,
}

impl Counts {
    fn of(comparisons: &[PairwiseComparison<'_>], runs: usize) -> Self {
        let added = 0.5 / (runs - 1) as f64;
        let mut wins = vec![vec![[0.5 * added; 2]; runs]; runs];
        let mut observed = vec![vec![0; runs]; runs];
        for &PairwiseComparison { first, second, outcome, .. } in comparisons {
            let [of_first, of_second] = &mut wins[first][second];
            *of_first += outcome;
            *of_second += 1.0 - outcome;
            observed[first][second] += 1;
        }
        Self { wins, added, observed }
    }

    /// Whether a pair was compared in both orders.
    fn is_in_both_orders(&self) -> bool {
        self.pairs()
            .any(|(first, second)| self.observed[first][second] > 0 && self.observed[second][first] > 0)
    }

    /// The ordered pairs of runs.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let runs = self.wins.len();
        (0..runs).flat_map(move |first| {
            (0..runs).filter(move |second| *second != first).map(move |second| (first, second))
        })
    }

    /// The parameters with the highest likelihood.
    fn fit(&self, with_position: bool) -> Model {
        let runs = self.wins.len();
        let (mut strengths, mut position) = (vec![1.0; runs], 1.0);
        for _ in 0..MAX_ITERATIONS {
            let before = (strengths.clone(), position);
            let (mut won, mut rates) = (vec![0.0; runs], vec![0.0; runs]);
            for (first, second) in self.pairs() {
                let [of_first, of_second] = self.wins[first][second];
                let rate = (of_first + of_second) / (position * strengths[first] + strengths[second]);
                won[first] += of_first;
                won[second] += of_second;
                rates[first] += position * rate;
                rates[second] += rate;
            }
            strengths = won.iter().zip(&rates).map(|(won, rate)| won / rate).collect();
            let mean = strengths.iter().map(|it: &f64| it.ln()).sum::<f64>() / runs as f64;
            strengths.iter_mut().for_each(|strength| *strength /= mean.exp());
            if with_position {
                position = self.position(&strengths, position);
            }
            let change = |(now, then): (&f64, &f64)| (now / then).ln().abs();
            let moved = strengths.iter().zip(&before.0).chain([(&position, &before.1)]).map(change);
            if moved.fold(0.0, f64::max) <= TOLERANCE {
                break;
            }
        }
        let position = with_position.then(|| position.ln());
        Model { strengths: strengths.into_iter().map(f64::ln).collect(), position }
    }

    /// The next advantage of the first position.
    fn position(&self, strengths: &[f64], position: f64) -> f64 {
        let (mut won, mut rates) = (0.0, 0.0);
        for (first, second) in self.pairs() {
            let [of_first, of_second] = self.wins[first][second];
            won += of_first;
            rates +=
                (of_first + of_second) * strengths[first] / (position * strengths[first] + strengths[second]);
        }
        won / rates
    }
}

/// The parameters, as logarithms.
struct Model {
    strengths: Vec<f64>,
    position: Option<f64>,
}

impl Model {
    /// The probability that the first one wins.
    fn chance(&self, first: usize, second: usize) -> f64 {
        let advantage = self.strengths[first] - self.strengths[second] + self.position.unwrap_or(0.0);
        1.0 / (1.0 + (-advantage).exp())
    }

    /// How the advantage of the first run depends on each parameter; the position is last.
    fn gradient(&self, first: usize, second: usize) -> Vec<f64> {
        let mut gradient = vec![0.0; self.strengths.len() + usize::from(self.position.is_some())];
        gradient[self.strengths.len()..].fill(1.0);
        (gradient[first], gradient[second]) = (1.0, -1.0);
        gradient
    }

    /// The clustered variance of each strength.
    fn variances(&self, counts: &Counts, comparisons: &[PairwiseComparison<'_>]) -> Option<Vec<f64>> {
        let runs = self.strengths.len();
        let size = runs + usize::from(self.position.is_some());
        let mut information = vec![vec![0.0; size]; size];
        // The likelihood does not change if all strengths rise by the same amount. This makes the matrix regular and leaves the variance
        // of strengths that add up to 0 as it is.
        for row in &mut information[..runs] {
            row[..runs].fill(1.0 / runs as f64);
        }
        for (first, second) in counts.pairs() {
            let chance = self.chance(first, second);
            let weight = counts.wins[first][second].iter().sum::<f64>() * chance * (1.0 - chance);
            add_product(&mut information, &self.gradient(first, second), weight);
        }
        let inverse = inverse(information)?;
        let mut scores: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        let mut add = |cluster, first, second, residual: f64| {
            let score = scores.entry(cluster).or_insert_with(|| vec![0.0; size]);
            let gradient = self.gradient(first, second);
            score.iter_mut().zip(gradient).for_each(|(score, gradient)| *score += residual * gradient);
        };
        for it in comparisons {
            let residual = it.outcome - self.chance(it.first, it.second);
            add((Some(it.cluster), 0, 0), it.first, it.second, residual);
        }
        for (first, second) in counts.pairs() {
            let residual = counts.added * (0.5 - self.chance(first, second));
            add((None, first.min(second), first.max(second)), first, second, residual);
        }
        let influences: Vec<Vec<f64>> = scores.values().map(|score| multiply(&inverse, score)).collect();
        Some((0..runs).map(|run| influences.iter().map(|it| it[run] * it[run]).sum()).collect())
    }
}

/// Adds `weight · v vᵀ`.
fn add_product(matrix: &mut [Vec<f64>], vector: &[f64], weight: f64) {
    for (row, left) in matrix.iter_mut().zip(vector) {
        row.iter_mut().zip(vector).for_each(|(cell, right)| *cell += weight * left * right);
    }
}

fn multiply(matrix: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(vector).map(|(left, right)| left * right).sum()).collect()
}

/// The inverse of a positive definite matrix, by Gauss and Jordan; `None` if it is singular.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for (index, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|column| f64::from(u8::from(column == index))));
    }
    for pivot in 0..size {
        let head = matrix[pivot][pivot];
        if head.is_nan() || head <= f64::MIN_POSITIVE {
            return None;
        }
        matrix[pivot].iter_mut().for_each(|cell| *cell /= head);
        let pivot_row = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(index, _)| *index != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&pivot_row).for_each(|(cell, by)| *cell -= factor * by);
        }
    }
    Some(matrix.into_iter().map(|row| row[size..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(cluster: &str, first: usize, second: usize, outcome: f64) -> PairwiseComparison<'_> {
        PairwiseComparison { cluster, first, second, outcome }
    }

    #[test]
    fn a_run_that_wins_everything_has_a_finite_strength_with_a_wide_interval() {
        let names: Vec<_> = (0..20).map(|item| item.to_string()).collect();
        let all: Vec<_> = names.iter().map(|item| compared(item, 0, 1, 1.0)).collect();
        let found = bradley_terry(&all, 2, true).unwrap();
        // 20.5 of 21 comparisons.
        assert!((found.strengths[0] - 41.0_f64.ln() / 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.strengths.iter().sum::<f64>()).abs() < 1e-9, "{found:?}");
        assert!(found.ci95[0].low < 1.0 && found.ci95[0].high > 2.7, "{found:?}");
        assert_eq!(found.first_position, None, "the second run was never first");
    }

    #[test]
    fn a_judge_that_always_prefers_the_first_position_prefers_no_run() {
        let all = ["a", "b", "c"].map(|item| [compared(item, 0, 1, 1.0), compared(item, 1, 0, 1.0)]).concat();
        let found = bradley_terry(&all, 2, true).unwrap();
        assert!(found.strengths[0].abs() < 1e-9, "{found:?}");
        assert!(found.first_position.unwrap() > 2.0, "{found:?}");
        let without = bradley_terry(&all, 2, false).unwrap();
        assert_eq!(without.first_position, None);
    }

    #[test]
    fn what_is_not_a_comparison_has_no_strengths() {
        let good = [compared("a", 0, 1, 1.0), compared("b", 1, 0, 0.5)];
        assert!(bradley_terry(&good, 2, false).is_some());
        assert_eq!(bradley_terry(&good, 1, false), None);
        assert_eq!(bradley_terry(&[], 2, false), None);
        assert_eq!(bradley_terry(&good[..1], 2, false), None, "one cluster has no error");
        for bad in [compared("a", 0, 0, 1.0), compared("a", 0, 2, 1.0), compared("a", 0, 1, f64::NAN)] {
            assert_eq!(bradley_terry(&[good[0], good[1], bad], 2, false), None, "{bad:?}");
        }
    }
}
