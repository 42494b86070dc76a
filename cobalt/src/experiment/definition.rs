//! `Experiment`, the builder, and the definition that it becomes.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::causes::BoxError;
use cobalt_core::report::{Category, SourcePlace, Threshold};
use cobalt_core::wording;

use super::agent::{Agent, AgentFn};
use crate::dataset::{Dataset, IntoDataset};
use crate::error::Error;
use crate::evaluators::Evaluator;
use crate::settings::{LONGEST_TIMEOUT, MOST_RUNS};

/// What an experiment is, apart from its data and its agent.
#[derive(Clone, Debug)]
pub struct Definition {
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
    pub fn fingerprint(&self) -> String {
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
        cobalt_core::hash::sha256_hex(&parts)
    }

    /// A hash of each evaluator's settings, with those of the models that judges ask: 16 hexadecimal digits.
    pub fn evaluator_hashes(&self) -> Vec<String> {
        let hash = |evaluator: &Arc<dyn Evaluator>| {
            let settings = [evaluator.fingerprint(), self.models.clone().unwrap_or_default()];
            let mut hash = cobalt_core::hash::sha256_hex(&settings);
            hash.truncate(16);
            hash
        };
        self.evaluators.iter().map(hash).collect()
    }

    /// Says what cannot be right, and what to change.
    pub fn check(&self) -> Result<(), String> {
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
        let (threshold, instead) = (threshold.case_name(), wording::instead(wanted, names));
        Err(format!(
            "{place}the threshold `{threshold}` is of an evaluator `{wanted}` that it does not have; {instead}"
        ))
    }
}

pub type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// An experiment: it runs an agent over a data set and scores each output.
///
/// The attribute [`experiment`](macro@crate::experiment) builds one; so may you.
///
/// ```
/// use cobalt::{Dataset, ExactMatch, Experiment};
///
/// # async fn example() -> Result<(), cobalt::Error> {
/// let dataset = Dataset::from_items([
///     cobalt::item! { "input": "ping", "expectedOutput": "PING" },
///     cobalt::item! { "input": "pong", "expectedOutput": "PONG" },
/// ]);
/// let report = Experiment::new("shouting", dataset)
///     .evaluator(ExactMatch::new("exact", "expectedOutput"))
///     .run(|item: cobalt::Item| async move { item["input"].as_str().unwrap_or_default().to_uppercase() })
///     .await?;
/// assert_eq!(report.summary.scores["exact"].avg, 1.0);
/// # Ok(())
/// # }
/// ```
#[must_use = "an experiment does nothing until it is run"]
pub struct Experiment {
    pub(crate) declaration: Declaration,
    pub(crate) dataset: Result<Dataset, BoxError>,
    pub(crate) progress: Option<Progress>,
    pub(crate) save: bool,
}

/// What is said of an experiment, apart from its data and its agent. What is not said follows from the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) runs: usize,
    pub(crate) concurrency: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) tags: Vec<String>,
    pub(crate) evaluators: Vec<Arc<dyn Evaluator>>,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) strict: Option<bool>,
    /// Variables without which it is not run.
    pub(crate) ignore_without: Vec<String>,
    /// A hash of the declaration's source, where an attribute made it.
    pub(crate) source_hash: Option<u64>,
    /// Where the declaration stands, where an attribute made it.
    pub(crate) declared_at: Option<SourcePlace>,
}

impl Declaration {
    /// The first of the variables without which it is not run that is not set, or empty.
    pub(crate) fn ignored_without(&self) -> Option<&str> {
        let is_missing = |name: &&String| std::env::var_os(name).is_none_or(|value| value.is_empty());
        self.ignore_without.iter().find(is_missing).map(String::as_str)
    }

    /// An error where it is not to be run.
    pub(crate) fn refuse_if_ignored(&self) -> Result<(), Error> {
        let ignored =
            |variable: &str| Error::Ignored { experiment: self.name.clone(), variable: variable.to_owned() };
        self.ignored_without().map_or(Ok(()), |variable| Err(ignored(variable)))
    }
}

impl Experiment {
    /// An experiment over `dataset`: a [`Dataset`], a path relative to the package, or a `Result` of one.
    ///
    /// A data set that cannot be read is reported when the experiment is run.
    pub fn new(name: impl Into<String>, dataset: impl IntoDataset) -> Self {
        Self {
            declaration: Declaration {
                name: name.into(),
                runs: 1,
                concurrency: None,
                timeout: None,
                tags: Vec::new(),
                evaluators: Vec::new(),
                thresholds: Vec::new(),
                strict: None,
                ignore_without: Vec::new(),
                source_hash: None,
                declared_at: None,
            },
            dataset: dataset.into_dataset(),
            progress: None,
            save: true,
        }
    }

    /// Adds an evaluator; their names must differ. An experiment without any has those of `cobalt.toml`, and at least
    /// one is needed.
    pub fn evaluator(mut self, evaluator: impl Evaluator) -> Self {
        self.declaration.evaluators.push(Arc::new(evaluator));
        self
    }

    /// How often each item is run (once unless it is set). Runs of one item come one after another.
    pub fn runs(mut self, runs: usize) -> Self {
        self.declaration.runs = runs;
        self
    }

    /// How many items are worked on at a time (unless it is set, what
    /// [the configuration](crate::configuration) says, else 5).
    pub fn concurrency(mut self, items: usize) -> Self {
        self.declaration.concurrency = Some(items);
        self
    }

    /// How long the agent may take for one run of an item, and each evaluator for its output (unless it
    /// is set, what [the configuration](crate::configuration) says, else 30 s).
    ///
    /// An async agent is cancelled at its next `.await`. A plain function cannot be stopped: it is left behind, its
    /// late result dropped.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.declaration.timeout = Some(timeout);
        self
    }

    /// Adds a tag, which is kept with the results.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.declaration.tags.push(tag.into());
        self
    }

    /// Adds a condition that the whole run must meet. An experiment without any has those of `cobalt.toml`.
    ///
    /// ```
    /// # use cobalt::{Dataset, Experiment};
    /// # fn example(experiment: Experiment) -> Result<Experiment, Box<dyn std::error::Error>> {
    /// let experiment = experiment.threshold("score.avg >= 0.8".parse()?).threshold("latency.p95 <= 5s".parse()?);
    /// # Ok(experiment)
    /// # }
    /// ```
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.declaration.thresholds.push(threshold);
        self
    }

    /// Whether every item must reach the pass mark of every evaluator. Unless it is set: yes without thresholds, no
    /// with them, be they of `cobalt.toml`.
    pub fn strict(mut self, strict: bool) -> Self {
        self.declaration.strict = Some(strict);
        self
    }

    /// Names a variable of the environment without which the experiment is not run, such as that of a key. May be said of
    /// several.
    ///
    /// Where one of them is not set, or empty, [`run`](Self::run) gives [`Error::Ignored`](crate::Error::Ignored) before it
    /// reads anything. What it means for test cases is said at [`experiment`](macro@crate::experiment).
    pub fn ignore_without(mut self, variable: impl Into<String>) -> Self {
        self.declaration.ignore_without.push(variable.into());
        self
    }

    /// Calls `progress(done, total)` after each execution; items × runs are `total`.
    pub fn on_progress(mut self, progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Whether the journal and the result file are written (they are unless this is set to `false`).
    pub fn save(mut self, save: bool) -> Self {
        self.save = save;
        self
    }

    /// The experiment with its agent, ready to run.
    #[doc(hidden)]
    pub fn bind<M>(self, agent: impl Agent<M>) -> Prepared {
        Prepared { experiment: self, agent: agent.into_shared().0 }
    }
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Experiment")
            .field("declaration", &self.declaration)
            .field("dataset", &self.dataset)
            .field("save", &self.save)
            .finish_non_exhaustive()
    }
}

/// An experiment with its agent.
#[doc(hidden)]
#[must_use = "a prepared experiment does nothing until it is run"]
pub struct Prepared {
    pub(crate) experiment: Experiment,
    pub(crate) agent: AgentFn,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prepared").field(&self.experiment).finish()
    }
}
