//! The distribution of scores and latencies over all items of a run, in bins.

use cobalt_core::report::{ItemOutcome, Report, RunConfig};

/// The number of bins of scores.
pub const SCORE_BINS: usize = 10;
/// The number of bins of latencies.
pub const LATENCY_BINS: usize = 24;

/// The scores of each evaluator and the latencies of all items.
#[derive(Debug, Default)]
pub struct Distributions {
    scores: Vec<ScoreBins>,
    /// Latencies that are not yet in bins, as their range is known only after the last.
    latencies: Vec<f64>,
    latency: Option<LatencyBins>,
}

/// The scores of an evaluator in equal bins from 0 to 1.
#[derive(Clone, Debug)]
pub struct ScoreBins {
    pub pass_mark: f64,
    pub all: [usize; SCORE_BINS],
    pub below_pass_mark: [usize; SCORE_BINS],
}

/// Latencies in milliseconds in equal bins from the lowest to the highest.
#[derive(Clone, Debug)]
pub struct LatencyBins {
    pub low: f64,
    pub high: f64,
    pub bins: [usize; LATENCY_BINS],
}

impl Distributions {
    pub fn new(config: &RunConfig) -> Self {
        let bins = |(_, pass_mark): (&str, f64)| ScoreBins {
            pass_mark,
            all: [0; SCORE_BINS],
            below_pass_mark: [0; SCORE_BINS],
        };
        Self { scores: config.evaluators().map(bins).collect(), ..Self::default() }
    }

    /// Of a report with all its items.
    pub fn of(report: &Report) -> Self {
        let mut all = Self::new(&report.config);
        let outcomes = report.items.iter().map(|item| ItemOutcome::of(item, String::new(), &report.config));
        outcomes.for_each(|outcome| all.add(&outcome));
        all.binned()
    }

    pub fn add(&mut self, item: &ItemOutcome) {
        for (evaluator, bins) in self.scores.iter_mut().enumerate() {
            for score in item.scores.given(evaluator) {
                let bin = bin(score, 0.0, 1.0, SCORE_BINS);
                bins.all[bin] += 1;
                bins.below_pass_mark[bin] += usize::from(score < bins.pass_mark);
            }
        }
        self.latencies.push(item.latency_ms);
    }

    /// The distributions after the last item.
    pub fn binned(self) -> Self {
        let latency = LatencyBins::of(&self.latencies);
        Self { latency, latencies: Vec::new(), ..self }
    }

    /// The scores of an evaluator, by its position among the evaluators.
    pub fn scores(&self, evaluator: usize) -> Option<&ScoreBins> {
        self.scores.get(evaluator)
    }

    /// The latencies; absent if all are equal.
    pub fn latency(&self) -> Option<&LatencyBins> {
        self.latency.as_ref()
    }
}

impl LatencyBins {
    fn of(latencies: &[f64]) -> Option<Self> {
        let low = latencies.iter().copied().fold(f64::INFINITY, f64::min);
        let high = latencies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut bins = [0; LATENCY_BINS];
        latencies.iter().for_each(|latency| bins[bin(*latency, low, high, LATENCY_BINS)] += 1);
        (low < high).then_some(Self { low, high, bins })
    }
}

/// The bin of a value. A value at an edge belongs to the bin above it.
fn bin(value: f64, low: f64, high: f64, bins: usize) -> usize {
    // Compensates for rounding: 0.3 / 0.1 is slightly less than 3.
    let place = ((value - low) / (high - low) * bins as f64 + 1e-9).floor();
    (place.max(0.0) as usize).min(bins - 1)
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::ItemScores;

    use super::*;

    #[test]
    fn a_value_at_an_edge_belongs_to_the_bin_above_it() {
        let bins = [0.0, 0.1, 0.3, 0.35, 0.999, 1.0].map(|score| bin(score, 0.0, 1.0, SCORE_BINS));
        assert_eq!(bins, [0, 1, 3, 3, 9, 9]);
    }

    #[test]
    fn a_score_at_the_pass_mark_is_not_below_it() {
        let config = serde_json::json!({
            "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right"], "passMarks": [0.95],
        });
        let mut all = Distributions::new(&serde_json::from_value(config).unwrap());
        for score in [0.95, 0.94, 0.2] {
            let scores = ItemScores::from_values(1, [score].into());
            let (key, index, latency_ms) = (String::new(), 0, 1.0);
            all.add(&ItemOutcome { key, index, latency_ms, passed: true, is_in_error: false, scores });
        }
        let bins = all.scores(0).unwrap();
        assert_eq!((bins.all[2], bins.all[9]), (1, 2));
        assert_eq!((bins.below_pass_mark[2], bins.below_pass_mark[9]), (1, 1));
    }

    #[test]
    fn equal_latencies_have_no_distribution() {
        assert!(LatencyBins::of(&[]).is_none() && LatencyBins::of(&[3.0, 3.0]).is_none());
        let bins = LatencyBins::of(&[1.0, 2.0, 25.0, 25.0]).unwrap();
        assert_eq!((bins.low, bins.high, bins.bins[0], bins.bins[1], bins.bins[23]), (1.0, 25.0, 1, 1, 2));
    }
}
