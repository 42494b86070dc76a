//! `Experiment`: an agent's data, its evaluators and its settings, as a value.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::agent::{Agent, AgentFn};
use crate::dataset::{Dataset, DatasetError, IntoDataset};
use crate::error::{BoxError, Error};
use crate::evaluators::Evaluator;
use crate::nesting::{DEEPEST, is_too_deep};
use crate::report::Threshold;

/// How many items are worked on at a time, unless the experiment says otherwise.
const DEFAULT_CONCURRENCY: usize = 5;
/// How long an agent may take for an item, unless the experiment says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

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
    pub(crate) definition: Definition,
    pub(crate) dataset: Result<Dataset, BoxError>,
    pub(crate) progress: Option<Progress>,
    pub(crate) save: bool,
}

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
    pub(crate) strict: Option<bool>,
    /// A hash of the declaration's source, where an attribute made it.
    pub(crate) source_hash: Option<u64>,
}

impl Definition {
    /// Whether each item must pass by itself: unless it was said, where no threshold decides.
    pub(crate) fn is_strict(&self) -> bool {
        self.strict.unwrap_or(self.thresholds.is_empty())
    }

    /// Text that changes with whatever makes results incomparable, except the data.
    pub(crate) fn fingerprint(&self) -> String {
        let mut parts = vec![
            format!("runs {}", self.runs),
            format!("timeout {:?}", self.timeout),
            format!("strict {}", self.is_strict()),
        ];
        parts.extend(self.source_hash.map(|hash| format!("source {hash:016x}")));
        let evaluator =
            |e: &Arc<dyn Evaluator>| format!("{} from {} {}", e.name(), e.pass_mark(), e.fingerprint());
        parts.extend(self.evaluators.iter().map(evaluator));
        parts.extend(self.thresholds.iter().map(Threshold::case_name));
        crate::hash::sha256_hex(&parts)
    }

    fn check(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err("its name is empty; give it one".to_owned());
        }
        if self.runs == 0 || self.concurrency == 0 {
            return Err("`runs` and `concurrency` must be at least 1".to_owned());
        }
        if self.timeout.is_zero() {
            return Err("`timeout` must be longer than zero".to_owned());
        }
        if self.evaluators.is_empty() {
            return Err("it has no evaluator, so nothing would be measured; add one".to_owned());
        }
        for (index, evaluator) in self.evaluators.iter().enumerate() {
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
            if self.evaluators[..index].iter().any(|earlier| earlier.name() == evaluator.name()) {
                return Err(format!(
                    "two evaluators are named `{}`; scores are kept by name, so rename one",
                    evaluator.name()
                ));
            }
        }
        for (index, threshold) in self.thresholds.iter().enumerate() {
            threshold.validate().map_err(|error| error.to_string())?;
            let name = threshold.case_name();
            if self.thresholds[..index].iter().any(|earlier| earlier.case_name() == name) {
                return Err(format!("the threshold `{name}` is there twice; remove one"));
            }
        }
        Ok(())
    }
}

impl Experiment {
    /// An experiment over `dataset`: a [`Dataset`], a path relative to the package, or a `Result` of one.
    ///
    /// A data set that cannot be read is reported when the experiment is run.
    pub fn new(name: impl Into<String>, dataset: impl IntoDataset) -> Self {
        Self {
            definition: Definition {
                name: name.into(),
                runs: 1,
                concurrency: DEFAULT_CONCURRENCY,
                timeout: DEFAULT_TIMEOUT,
                tags: Vec::new(),
                evaluators: Vec::new(),
                thresholds: Vec::new(),
                strict: None,
                source_hash: None,
            },
            dataset: dataset.into_dataset(),
            progress: None,
            save: true,
        }
    }

    /// Adds an evaluator. At least one is needed; their names must differ.
    pub fn evaluator(mut self, evaluator: impl Evaluator) -> Self {
        self.definition.evaluators.push(Arc::new(evaluator));
        self
    }

    /// How often each item is run (once unless it is set). Runs of one item come one after another.
    pub fn runs(mut self, runs: usize) -> Self {
        self.definition.runs = runs;
        self
    }

    /// How many items are worked on at a time (5 unless it is set).
    pub fn concurrency(mut self, items: usize) -> Self {
        self.definition.concurrency = items;
        self
    }

    /// How long the agent may take for one run of an item, and each evaluator for its output (30 s unless it is set).
    ///
    /// An async agent is cancelled at its next `.await`. A plain function cannot be stopped: it is left behind, its
    /// late result dropped.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = timeout;
        self
    }

    /// Adds a tag, which is kept with the results.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.definition.tags.push(tag.into());
        self
    }

    /// Adds a condition that the whole run must meet.
    ///
    /// ```
    /// # use cobalt::{Dataset, Experiment};
    /// # fn example(experiment: Experiment) -> Result<Experiment, Box<dyn std::error::Error>> {
    /// let experiment = experiment.threshold("score.avg >= 0.8".parse()?).threshold("latency.p95 <= 5s".parse()?);
    /// # Ok(experiment)
    /// # }
    /// ```
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.definition.thresholds.push(threshold);
        self
    }

    /// Whether every item must reach the pass mark of every evaluator. Unless it is set: yes without thresholds, no
    /// with them.
    pub fn strict(mut self, strict: bool) -> Self {
        self.definition.strict = Some(strict);
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
            .field("definition", &self.definition)
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

impl Prepared {
    /// Takes the data set out, once it and the settings are known to be fit to run.
    pub(crate) fn checked(mut self) -> Result<(Self, Dataset), Error> {
        let name = || self.experiment.definition.name.clone();
        self.experiment
            .definition
            .check()
            .map_err(|problem| Error::Definition { experiment: name(), problem })?;
        let placeholder = Dataset::from_items(std::iter::empty::<crate::Item>());
        let dataset = std::mem::replace(&mut self.experiment.dataset, Ok(placeholder));
        let dataset = dataset.map_err(|source| Error::DatasetOf { experiment: name(), source })?;
        if dataset.is_empty() {
            let source = "the data set is empty; add items, or mend the filter that left none".into();
            return Err(Error::DatasetOf { experiment: name(), source });
        }
        if let Some(index) = dataset.iter().position(|item| item.values().any(is_too_deep)) {
            let source = DatasetError::TooDeep { index, deepest: DEEPEST }.into();
            return Err(Error::DatasetOf { experiment: name(), source });
        }
        Ok((self, dataset))
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prepared").field(&self.experiment).finish()
    }
}
