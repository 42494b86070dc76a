//! What an experiment is once everything is known of it: what was declared, completed by the configuration.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::evaluators::Evaluator;
use crate::report::{Category, SourcePlace, Threshold};
use crate::settings::{LONGEST_TIMEOUT, MOST_RUNS};
use crate::suggest;

/// What an experiment is, apart from its data and its agent.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) runs: usize,
    pub(crate) concurrency: usize,
    pub(crate) timeout: Duration,
    pub(crate) tags: Vec<String>,
    pub(crate) evaluators: Vec<Arc<dyn Evaluator>>,
    pub(crate) thresholds: Vec<Threshold>,
    /// Whether each item must pass by itself.
    pub(crate) strict: bool,
    /// What the configuration says of whom judges ask, where it says anything.
    pub(crate) models: Option<String>,
    /// A hash of the declaration's source, where an attribute made it.
    pub(crate) source_hash: Option<u64>,
    /// Where the declaration stands, where an attribute made it.
    pub(crate) declared_at: Option<SourcePlace>,
}

impl Definition {
    /// Text that changes with whatever makes results incomparable, except the data.
    pub(crate) fn fingerprint(&self) -> String {
        let mut parts = vec![
            format!("runs {}", self.runs),
            format!("timeout {:?}", self.timeout),
            format!("strict {}", self.strict),
        ];
        parts.extend(self.source_hash.map(|hash| format!("source {hash:016x}")));
        parts.extend(self.models.iter().map(|models| format!("models {models}")));
        let evaluator =
            |e: &Arc<dyn Evaluator>| format!("{} from {} {}", e.name(), e.pass_mark(), e.fingerprint());
        parts.extend(self.evaluators.iter().map(evaluator));
        parts.extend(self.thresholds.iter().map(Threshold::case_name));
        crate::hash::sha256_hex(&parts)
    }

    /// A hash of each evaluator's settings, with those of the models that judges ask: 16 hexadecimal digits.
    pub(crate) fn evaluator_hashes(&self) -> Vec<String> {
        let hash = |evaluator: &Arc<dyn Evaluator>| {
            let settings = [evaluator.fingerprint(), self.models.clone().unwrap_or_default()];
            let mut hash = crate::hash::sha256_hex(&settings);
            hash.truncate(16);
            hash
        };
        self.evaluators.iter().map(hash).collect()
    }

    /// Says what cannot be right, and what to change.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err("its name is empty; give it one".to_owned());
        }
        if self.runs == 0 || self.concurrency == 0 {
            return Err("`runs` and `concurrency` must be at least 1".to_owned());
        }
        // More items at a time than there are do no harm.
        if self.runs > MOST_RUNS {
            return Err(format!("`runs` is {}; make it {MOST_RUNS} at most", self.runs));
        }
        if self.timeout.is_zero() {
            return Err("`timeout` must be longer than zero".to_owned());
        }
        if self.timeout > LONGEST_TIMEOUT {
            let hours = self.timeout.as_secs() / 3600;
            let most = LONGEST_TIMEOUT.as_secs() / 3600;
            return Err(format!("`timeout` is {hours}h; make it {most}h at most"));
        }
        if self.evaluators.is_empty() {
            return Err("it has no evaluator, so nothing would be measured; add one, or name some for all experiments \
                        under `evaluators` in cobalt.toml"
                .to_owned());
        }
        self.check_evaluators()?;
        self.check_thresholds()
    }

    fn check_evaluators(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for evaluator in &self.evaluators {
            let (name, mark) = (evaluator.name(), evaluator.pass_mark());
            if name.trim().is_empty() {
                return Err(
                    "an evaluator's name is empty; scores are kept by name, so give it one".to_owned()
                );
            }
            if !(0.0..=1.0).contains(&mark) {
                return Err(format!(
                    "the pass mark of evaluator `{name}` is {mark}; make it a number from 0 to 1"
                ));
            }
            if !names.insert(evaluator.name()) {
                return Err(format!(
                    "two evaluators are named `{}`; scores are kept by name, so rename one",
                    evaluator.name()
                ));
            }
        }
        Ok(())
    }

    fn check_thresholds(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for threshold in &self.thresholds {
            threshold.validate().map_err(|error| error.to_string())?;
            if let Some(name) = names.replace(threshold.case_name()) {
                return Err(format!("the threshold `{name}` is there twice; remove one"));
            }
            self.check_evaluator_of(threshold)?;
        }
        Ok(())
    }

    /// Refuses a threshold of an evaluator that the experiment does not have: no score could meet it, and the run would be
    /// paid for in vain.
    fn check_evaluator_of(&self, threshold: &Threshold) -> Result<(), String> {
        let Category::Evaluator(wanted) = threshold.category() else { return Ok(()) };
        let names = self.evaluators.iter().map(|evaluator| evaluator.name());
        if names.clone().any(|name| name == wanted) {
            return Ok(());
        }
        let place = threshold.place().map(|place| format!("{place}: ")).unwrap_or_default();
        let (threshold, instead) = (threshold.case_name(), suggest::instead(wanted, names));
        Err(format!(
            "{place}the threshold `{threshold}` is of an evaluator `{wanted}` that it does not have; {instead}"
        ))
    }
}
