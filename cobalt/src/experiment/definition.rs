//! `Experiment`, the builder, and the resolved definition.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::error_chain::BoxError;
use cobalt_core::report::{Category, SourceLocation, Threshold};
use cobalt_core::wording;
use serde::Serialize;
use serde_json::Value;

use super::agent::{Agent, AgentFn, SharedAgent};
use super::conversation::Conversation;
use super::summary::FnSummary;
use super::variants::{ResolvedVariant, Variants};
use crate::dataset::{Dataset, DecodeError, IntoDataset};
use crate::error::Error;
use crate::evaluators::Evaluator;
use crate::recording::{RECORD_VARIABLE, RecordMode, Recordings, ResolvedRecording};
use crate::settings::{MAX_RUNS, MAX_TIMEOUT};
use crate::tools::Faults;
use crate::workspace::Workspace;

/// The maximum number of retries per trial.
const MAX_RETRIES: usize = 10;

/// The resolved settings of an experiment, without its data and its agent.
#[derive(Clone, Debug)]
pub struct ResolvedDefinition {
    pub(crate) name: String,
    pub(crate) runs: usize,
    /// How often a trial is repeated after a transient error.
    pub(crate) retries: usize,
    pub(crate) concurrency: usize,
    pub(crate) timeout: Duration,
    /// The time limit of each evaluator.
    pub(crate) evaluator_timeout: Duration,
    pub(crate) tags: Vec<String>,
    pub(crate) evaluators: Vec<Arc<dyn Evaluator>>,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) summaries: Vec<FnSummary>,
    /// The variant that it is, if the experiment has variants.
    pub(crate) variant: Option<ResolvedVariant>,
    /// The fields of the items by whose values the statistics are also grouped.
    pub(crate) group_by: Vec<String>,
    /// Whether every item must pass.
    pub(crate) strict: bool,
    /// A fingerprint of the configured judge models, if any are configured.
    pub(crate) models: Option<String>,
    /// How recordings of model traffic are used.
    pub(crate) recording: ResolvedRecording,
    /// The settings of its conversations, if the agent takes turns.
    pub(crate) conversation: Option<Arc<Conversation>>,
    /// A hash of the declaration's source, if declared with an attribute.
    pub(crate) source_hash: Option<u64>,
    /// The location of the declaration, if declared with an attribute.
    pub(crate) declared_at: Option<SourceLocation>,
    /// The files that the agent works on.
    pub(crate) workspace: Option<Workspace>,
    /// The faults that are injected into the calls of tools.
    pub(crate) faults: Arc<Faults>,
}

impl ResolvedDefinition {
    /// A fingerprint of everything that makes results incomparable, except the data.
    pub fn fingerprint(&self) -> String {
        let mut parts = vec![
            format!("runs {}", self.runs),
            format!("timeout {:?}", self.timeout),
            format!("strict {}", self.strict),
        ];
        // Without retries, it is that of earlier versions.
        parts.extend((self.retries > 0).then(|| format!("retries {}", self.retries)));
        parts.extend(self.source_hash.map(|hash| format!("source {hash:016x}")));
        parts.extend(self.models.iter().map(|models| format!("models {models}")));
        let evaluator =
            |e: &Arc<dyn Evaluator>| format!("{} from {} {}", e.name(), e.pass_mark(), e.fingerprint());
        parts.extend(self.evaluators.iter().map(evaluator));
        parts.extend(self.thresholds.iter().map(Threshold::case_name));
        parts.extend(self.variant.iter().map(|variant| format!("variant {}", variant.settings)));
        parts.extend(self.conversation.iter().map(|conversation| conversation.fingerprint()));
        parts.extend(self.workspace.iter().map(|workspace| format!("{workspace:?}")));
        parts.extend((!self.faults.is_empty()).then(|| format!("faults {}", self.faults)));
        cobalt_core::hash::sha256_hex(&parts)
    }

    /// A hash of each evaluator's settings, including the configured judge models: 16 hexadecimal digits.
    pub fn evaluator_hashes(&self) -> Vec<String> {
        let hash = |evaluator: &Arc<dyn Evaluator>| {
            let settings = [evaluator.fingerprint(), self.models.clone().unwrap_or_default()];
            let mut hash = cobalt_core::hash::sha256_hex(&settings);
            hash.truncate(16);
            hash
        };
        self.evaluators.iter().map(hash).collect()
    }

    /// Returns what is invalid, and what to change.
    pub fn validate(&self) -> Result<(), String> {
        if self.name.trim().is_empty() {
            return Err("its name is empty".to_owned());
        }
        if self.runs == 0 || self.concurrency == 0 {
            return Err("`runs` and `concurrency` must be at least 1".to_owned());
        }
        // A concurrency above the number of items is harmless.
        if self.runs > MAX_RUNS {
            let most = wording::group_thousands(MAX_RUNS as u64);
            return Err(format!("`runs` is {}, but the maximum is {most}", self.runs));
        }
        if self.retries > MAX_RETRIES {
            return Err(format!(
                "`retries` is {}, but the maximum is {MAX_RETRIES}; for limits that last longer, wait in the agent",
                self.retries
            ));
        }
        if self.timeout.is_zero() {
            return Err("`timeout` must be greater than zero".to_owned());
        }
        if self.timeout > MAX_TIMEOUT {
            let hours = self.timeout.as_secs() / 3600;
            let most = MAX_TIMEOUT.as_secs() / 3600;
            return Err(format!("`timeout` is {hours}h, but the maximum is {most}h"));
        }
        if self.recording.mode != RecordMode::Off && cfg!(not(feature = "record")) {
            return Err(format!(
                "its model traffic is recorded or replayed, which needs the feature `record` of `cobalt`; enable it in Cargo.toml, or \
                 set {RECORD_VARIABLE}=off"
            ));
        }
        if self.evaluators.is_empty() {
            return Err("it has no evaluator, so nothing would be measured; add one, or set `evaluators` for all experiments \
                        in cobalt.toml"
                .to_owned());
        }
        self.check_evaluators()?;
        self.check_summaries()?;
        self.check_faults()?;
        self.check_thresholds()
    }

    fn check_evaluators(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for evaluator in &self.evaluators {
            let (name, mark) = (evaluator.name(), evaluator.pass_mark());
            if name.trim().is_empty() {
                return Err(
                    "an evaluator has an empty name; scores are stored by name, so give it one".to_owned()
                );
            }
            if !(0.0..=1.0).contains(&mark) {
                return Err(format!(
                    "the pass mark of evaluator `{name}` is {mark}; it must be a number from 0 to 1"
                ));
            }
            if !names.insert(evaluator.name()) {
                return Err(format!(
                    "two evaluators are named `{}`; scores are stored by name, so rename one",
                    evaluator.name()
                ));
            }
        }
        Ok(())
    }

    fn check_summaries(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for name in self.summaries.iter().map(FnSummary::name) {
            if name.trim().is_empty() {
                return Err(
                    "a summary function has an empty name; its metric is stored by name, so give it one"
                        .to_owned(),
                );
            }
            if !names.insert(name) {
                return Err(format!(
                    "two summary functions are named `{name}`; their metrics are stored by name, so rename one"
                ));
            }
        }
        Ok(())
    }

    fn check_faults(&self) -> Result<(), String> {
        let place = || self.declared_at.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        self.faults.validate().map_err(|error| format!("{}{error}", place()))
    }

    fn check_thresholds(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        for threshold in &self.thresholds {
            threshold.validate().map_err(|error| error.to_string())?;
            if let Some(name) = names.replace(threshold.case_name()) {
                return Err(format!("duplicate threshold `{name}`; remove one"));
            }
            self.check_evaluator_of(threshold)?;
        }
        Ok(())
    }

    /// Refuses a threshold for an evaluator that the experiment does not have: it could never be met, and the run would cost money for
    /// nothing.
    fn check_evaluator_of(&self, threshold: &Threshold) -> Result<(), String> {
        let Category::Evaluator(wanted) = threshold.category() else { return Ok(()) };
        let names = self.evaluators.iter().map(|evaluator| evaluator.name());
        if names.clone().any(|name| name == wanted) {
            return Ok(());
        }
        let place = threshold.location().map(|place| format!("{place}: ")).unwrap_or_default();
        let (threshold, instead) = (threshold.case_name(), wording::suggest_or_list(wanted, names));
        Err(format!(
            "{place}the threshold `{threshold}` is for an evaluator `{wanted}` that it does not have; {instead}"
        ))
    }
}

/// Checks the settings of a variant.
pub type VariantCheck = fn(&Value) -> Result<(), DecodeError>;

pub type ProgressCallback = Arc<dyn Fn(usize, usize) + Send + Sync>;

/// An experiment: runs an agent over a dataset and scores each output.
///
/// The attribute [`experiment`](macro@crate::experiment) builds one; you can also build one as a value.
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
    pub(crate) progress: Option<ProgressCallback>,
    pub(crate) save: bool,
}

/// The declared settings of an experiment, without its data and its agent. Missing ones come from the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) runs: usize,
    pub(crate) retries: usize,
    pub(crate) concurrency: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) tags: Vec<String>,
    pub(crate) evaluators: Vec<Arc<dyn Evaluator>>,
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) summaries: Vec<FnSummary>,
    pub(crate) variants: Variants,
    /// The name of the variant whose runs have the experiment's own name.
    pub(crate) default_variant: Option<String>,
    /// Checks the settings of a variant against the type of the agent's parameter.
    pub(crate) variant_check: Option<VariantCheck>,
    /// The variant that this is, once the experiment is divided into its variants.
    pub(crate) variant: Option<ResolvedVariant>,
    /// The fields of the items by whose values the statistics are also grouped.
    pub(crate) group_by: Vec<String>,
    pub(crate) strict: Option<bool>,
    /// Recordings of its model traffic.
    pub(crate) recordings: Option<Recordings>,
    /// The settings of its conversations.
    pub(crate) conversation: Option<Conversation>,
    /// Whether the agent is called once per turn of a conversation.
    pub(crate) takes_turns: bool,
    /// Variables that must be set for it to run.
    pub(crate) ignore_without: Vec<String>,
    /// A hash of the declaration's source, if declared with an attribute.
    pub(crate) source_hash: Option<u64>,
    /// The location of the declaration, if declared with an attribute.
    pub(crate) declared_at: Option<SourceLocation>,
    /// The files that the agent works on.
    pub(crate) workspace: Option<Workspace>,
    /// The faults that are injected into the calls of tools.
    pub(crate) faults: Faults,
}

impl Declaration {
    /// The first required variable that is unset or empty.
    pub(crate) fn missing_variable(&self) -> Option<&str> {
        let is_missing = |name: &&String| std::env::var_os(name).is_none_or(|value| value.is_empty());
        self.ignore_without.iter().find(is_missing).map(String::as_str)
    }

    /// An error if a required variable is missing.
    pub(crate) fn check_required_variables(&self) -> Result<(), Error> {
        let ignored =
            |variable: &str| Error::Ignored { experiment: self.name.clone(), variable: variable.to_owned() };
        self.missing_variable().map_or(Ok(()), |variable| Err(ignored(variable)))
    }
}

impl Experiment {
    /// An experiment over `dataset`: a [`Dataset`], a path relative to the package, or a `Result` of one.
    ///
    /// If the dataset cannot be read, the error is reported when the experiment is run.
    pub fn new(name: impl Into<String>, dataset: impl IntoDataset) -> Self {
        Self {
            declaration: Declaration {
                name: name.into(),
                runs: 1,
                retries: 0,
                concurrency: None,
                timeout: None,
                tags: Vec::new(),
                evaluators: Vec::new(),
                thresholds: Vec::new(),
                summaries: Vec::new(),
                variants: Variants::new(),
                default_variant: None,
                variant_check: None,
                variant: None,
                group_by: Vec::new(),
                strict: None,
                recordings: None,
                conversation: None,
                takes_turns: false,
                ignore_without: Vec::new(),
                source_hash: None,
                declared_at: None,
                workspace: None,
                faults: Faults::new(),
            },
            dataset: dataset.into_dataset(),
            progress: None,
            save: true,
        }
    }

    /// Adds an evaluator. Names must be unique. An experiment without evaluators uses those of `cobalt.toml`; at least one is required.
    pub fn evaluator(mut self, evaluator: impl Evaluator) -> Self {
        self.declaration.evaluators.push(Arc::new(evaluator));
        self
    }

    /// The number of trials per item (default 1). The trials of an item run one after another.
    pub fn runs(mut self, runs: usize) -> Self {
        self.declaration.runs = runs;
        self
    }

    /// How often a trial is repeated if the agent says that its failure is transient, with
    /// [`AgentError::transient`](crate::AgentError::transient): at most 10, default 0.
    ///
    /// Retries are counted and shown, and what failed attempts used counts. They are no trials: for pass@k, set [`runs`](Self::runs). See
    /// [`experiment`](macro@crate::experiment#retries).
    pub fn retries(mut self, retries: usize) -> Self {
        self.declaration.retries = retries;
        self
    }

    /// The maximum number of items in parallel (default: from [the configuration](crate::configuration), else 5).
    pub fn concurrency(mut self, items: usize) -> Self {
        self.declaration.concurrency = Some(items);
        self
    }

    /// The time limit for the agent per trial, and for each evaluator per output (default: from
    /// [the configuration](crate::configuration), else 30 s).
    ///
    /// An async agent is cancelled at its next `.await`. A plain function cannot be stopped: it is abandoned, and its late result is
    /// dropped.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.declaration.timeout = Some(timeout);
        self
    }

    /// Adds a tag, which is stored with the results.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.declaration.tags.push(tag.into());
        self
    }

    /// Adds a threshold that the whole run must meet. An experiment without thresholds uses those of `cobalt.toml`.
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

    /// Adds a summary function, which calculates metrics or tables from all items of a run. Names must be unique.
    ///
    /// ```
    /// # use cobalt::{Dataset, Experiment, FnSummary};
    /// # fn example(experiment: Experiment) -> Experiment {
    /// experiment.summary(FnSummary::new("outputs", |items| items.len()))
    /// # }
    /// ```
    pub fn summary(mut self, summary: FnSummary) -> Self {
        self.declaration.summaries.push(summary);
        self
    }

    /// Adds a variant: the same agent and dataset with other settings, which [`Context::variant`](crate::Context::variant) gives to the
    /// agent. Each variant is a run of its own; [`run_variants`](Self::run_variants) runs them all and compares them.
    pub fn variant(mut self, name: impl Into<String>, settings: impl Serialize) -> Self {
        self.declaration.variants.extend(Variants::new().variant(name, settings));
        self
    }

    /// Adds variants: [`Variants`], or a list of names and settings.
    pub fn variants(mut self, variants: impl Into<Variants>) -> Self {
        self.declaration.variants.extend(variants.into());
        self
    }

    /// Names the default variant. Its runs have the experiment's own name, so history and baselines continue when other variants come
    /// and go. The runs of the others are named `<experiment>::<variant>`.
    pub fn default_variant(mut self, name: impl Into<String>) -> Self {
        self.declaration.default_variant = Some(name.into());
        self
    }

    /// Also groups the statistics by a field of the items, such as `category`. Can be called several times.
    pub fn group_by(mut self, field: impl Into<String>) -> Self {
        self.declaration.group_by.push(field.into());
        self
    }

    /// Whether every item must reach the pass mark of every evaluator. Default: `true` without thresholds, `false` with them, including
    /// those of `cobalt.toml`.
    pub fn strict(mut self, strict: bool) -> Self {
        self.declaration.strict = Some(strict);
        self
    }

    /// Requires an environment variable, such as that of a key. Can be called several times.
    ///
    /// If one of them is unset or empty, [`run`](Self::run) returns [`Error::Ignored`](crate::Error::Ignored) before it reads anything.
    /// For the effect on test cases, see [`experiment`](macro@crate::experiment).
    pub fn ignore_without(mut self, variable: impl Into<String>) -> Self {
        self.declaration.ignore_without.push(variable.into());
        self
    }

    /// Records the model traffic of the agent and the judges, and replays it: a folder relative to the package, or
    /// [`Recordings`](crate::recording::Recordings). See [`recording`](crate::recording).
    ///
    /// Only the attribute leads clients to the gateway by variables such as `OPENAI_BASE_URL`. With this method, use
    /// [`Context::base_url`](crate::Context::base_url) or a header.
    pub fn record(mut self, recordings: impl Into<Recordings>) -> Self {
        self.declaration.recordings = Some(recordings.into());
        self
    }

    /// Sets how conversations go, for an agent that takes turns: a function of `(&mut Chat<S>, &str)`. See
    /// [`conversations`](crate::conversations).
    pub fn conversation(mut self, conversation: Conversation) -> Self {
        self.declaration.conversation = Some(conversation);
        self
    }

    /// Gives each execution its own copy of files, in [`Context::dir`](crate::Context::dir): a folder relative to the package, which may
    /// contain fields of the item as in `fixtures/{{id}}`, or a [`Workspace`]. See [`workspaces`](crate::workspaces).
    pub fn workspace(mut self, workspace: impl Into<Workspace>) -> Self {
        self.declaration.workspace = Some(workspace.into());
        self
    }

    /// Injects faults into the calls of the agent's [tools](crate::tools): rules as text, such as `"search: timeout at 30%"`, a list of
    /// them, or [`Faults`]. A variant with a setting `faults` has its own plan.
    ///
    /// ```
    /// # fn example(experiment: cobalt::Experiment) -> cobalt::Experiment {
    /// experiment.faults(["search#1: error", "*: slow 200ms"])
    /// # }
    /// ```
    pub fn faults(mut self, plan: impl Into<Faults>) -> Self {
        self.declaration.faults = plan.into();
        self
    }

    /// Calls `progress(done, total)` after each trial; `total` is the number of items × trials.
    pub fn on_progress(mut self, progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Whether to write the journal and the result file (default `true`).
    pub fn save(mut self, save: bool) -> Self {
        self.save = save;
        self
    }

    /// The experiment with its agent, ready to run.
    #[doc(hidden)]
    pub fn bind<M>(mut self, agent: impl Agent<M>) -> Prepared {
        let SharedAgent { call, takes_turns } = agent.into_shared();
        self.declaration.takes_turns = takes_turns;
        Prepared { experiment: self, agent: call }
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
