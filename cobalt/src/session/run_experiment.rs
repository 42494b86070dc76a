//! `Experiment::run`: runs an experiment value in the caller's runtime.

use cobalt_core::report::ranking::Ranking;
use cobalt_core::report::{ItemResult, Report};
use cobalt_core::store::new_run_id;
use cobalt_core::wording::{self, escape_control};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::{
    Interrupter, ItemSelection, Listener, MissingKeys, Plan, Run, RunEnd, Session, divide_into_variants,
    require_runs_to_resume,
};
use crate::budget;
use crate::config::{Config, VARIANT};
use crate::error::Error;
use crate::experiment::{Agent, Experiment, Prepared};
use crate::rescore::ScoredRun;

impl Experiment {
    /// Runs the agent over the dataset and returns the report.
    ///
    /// Settings that are not set come from [the configuration](crate::configuration), except its `[env]`, which is ignored. Low scores
    /// and failed items are in the report; they are not errors of this call.
    ///
    /// Must be called in a tokio runtime. An async agent must not block its threads, which timeouts need; a plain function may block.
    /// If `COBALT_RESUME` names a run of this experiment, that run is resumed. If `COBALT_SCORE` names one, its outputs are
    /// [scored](crate::rescoring), and the agent is not called.
    ///
    /// # Errors
    ///
    /// - The configuration or a setting is invalid.
    /// - The dataset or the baseline cannot be read, or the dataset is empty.
    /// - An evaluator cannot score the items or lacks a key.
    /// - A variable of [`ignore_without`](Self::ignore_without) is not set.
    /// - There is no tokio runtime.
    /// - The run to resume does not match.
    /// - The results cannot be written. The error then contains the report; a run whose journal cannot be written is stopped at once.
    pub async fn run<M>(self, agent: impl Agent<M>) -> Result<Report, Error> {
        self.declaration.check_required_variables()?;
        if !self.declaration.variants.is_empty() {
            let problem = "it has variants; call `run_variants`, which returns the report of each".to_owned();
            return Err(Error::Definition { experiment: self.declaration.name, problem });
        }
        let mut reports = run_all(vec![self.bind(agent)], Config::from_environment()?).await?.reports;
        Ok(reports.pop().expect("each run ends with a report or an error"))
    }

    /// Runs the agent over the dataset once per variant, all at the same time, and returns the report of each and how they compare.
    ///
    /// The agent gets the settings of its variant from [`Context::variant`](crate::Context::variant). An experiment without variants is
    /// run once.
    ///
    /// ```
    /// use cobalt::{Context, Dataset, ExactMatch, Experiment, Item};
    /// use serde_json::json;
    ///
    /// # async fn example() -> Result<(), cobalt::Error> {
    /// let dataset = Dataset::from_items([cobalt::item! { "input": "ping", "expectedOutput": "PING" }]);
    /// let variants = Experiment::new("shouting", dataset)
    ///     .evaluator(ExactMatch::new("exact", "expectedOutput"))
    ///     .variant("quiet", json!({ "loud": false }))
    ///     .variant("loud", json!({ "loud": true }))
    ///     .save(false)
    ///     .run_variants(|item: Item, context: Context| async move {
    ///         let settings: serde_json::Value = context.variant()?;
    ///         let input = item["input"].as_str().unwrap_or_default();
    ///         Ok::<_, cobalt::BoxError>(if settings["loud"] == true { input.to_uppercase() } else { input.to_owned() })
    ///     })
    ///     .await?;
    /// assert_eq!(variants.reports[1].summary.scores["exact"].avg, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run), and if the variants are invalid or `COBALT_VARIANT` selects none of them. Reports of other variants
    /// are in their result files then.
    pub async fn run_variants<M>(self, agent: impl Agent<M>) -> Result<VariantReports, Error> {
        self.declaration.check_required_variables()?;
        let config = Config::from_environment()?;
        let experiment = self.declaration.name.clone();
        let names: Vec<_> = self.declaration.variants.names().map(str::to_owned).collect();
        let invalid = |problem| Error::Definition { experiment: experiment.clone(), problem };
        let variants =
            divide_into_variants(self.bind(agent), config.variants(), &new_run_id()).map_err(invalid)?;
        if variants.is_empty() {
            let names = wording::join_quoted(names.iter().map(String::as_str));
            return Err(invalid(format!("none of its variants is selected by {VARIANT}; they are {names}")));
        }
        run_all(variants, config).await
    }
}

/// The reports of an experiment's variants.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VariantReports {
    /// The report of each variant that was run, in the order of their declaration.
    pub reports: Vec<Report>,
    /// How they compare; absent if only one of them was run with all items.
    pub ranking: Option<Ranking>,
}

/// Runs experiments at the same time: those to resume, or else all.
async fn run_all(experiments: Vec<Prepared>, config: Config) -> Result<VariantReports, Error> {
    if let Some((max, ledger)) = config.max_cost() {
        budget::limit(*max, ledger.clone());
    }
    let layout = config.layout();
    let resumed = require_runs_to_resume(layout)?;
    let mut missing = MissingKeys::default();
    let mut planned = Vec::with_capacity(experiments.len());
    let mut stored = ScoredRun::find_all(&config)?;
    let mut without_outputs = Vec::new();
    for prepared in experiments {
        let name = prepared.experiment.declaration.name.clone();
        let resumed = resumed.iter().find(|run| run.experiment == name);
        let mut scored =
            stored.iter().position(|run| run.experiment() == name).map(|place| stored.remove(place));
        if scored.is_none() && !config.score().runs.is_empty() {
            without_outputs.push(name);
            continue;
        }
        if let Some(resumed) = &resumed {
            scored = ScoredRun::of_resumed(resumed, layout)?;
        }
        let mut plan = Plan::new(prepared, scored, &config)?;
        let selection = resumed.map_or(plan.stored_selection(), |run| run.selection.as_deref());
        let selection = selection.map(<[usize]>::to_vec);
        plan.check(selection.as_deref(), &mut missing)?;
        if selection.is_none() {
            plan.find_baseline(&config)?;
        }
        planned.push((plan, resumed, selection));
    }
    if let (true, Some(name)) = (planned.is_empty(), without_outputs.first()) {
        let reason = format!("no run of experiment `{name}` is named");
        return Err(Error::Score { run: config.score().runs.join(","), reason });
    }
    missing.into_result()?;
    if planned.iter().any(|(_, resumed, _)| resumed.is_some()) {
        planned.retain(|(_, resumed, _)| resumed.is_some());
    }
    let mut runs = Vec::with_capacity(planned.len());
    for (plan, resumed, selection) in planned {
        for warning in plan.warnings() {
            eprintln!("warning: {}", escape_control(&warning.to_string()));
        }
        if Handle::try_current().is_err() {
            return Err(Error::NoRuntime { experiment: plan.name().to_owned() });
        }
        let run = match resumed {
            Some(run) => Run::resume(plan, layout, &run.id)?,
            None => {
                let why = plan.rescored().map(ToString::to_string);
                Run::new(plan, ItemSelection::of(selection), layout)?.with_reason(why)
            }
        };
        if let Some(why) = run.reason() {
            eprintln!("note: {}: {why}", run.plan().name());
        }
        runs.push(run);
    }
    let (sender, ended) = oneshot::channel();
    let listener =
        EndListener { endings: runs.iter().map(|_| None).collect(), ranking: None, sender: Some(sender) };
    let session = Session::start(runs, config, listener, &Handle::current());
    // Dropping this future cancels the runs.
    let _cancel = InterruptOnDrop(session.interrupter());
    let (endings, ranking) = ended.await.expect("the recorder tells how each experiment ended");
    let reports = endings.into_iter().map(|ending| match ending {
        RunEnd::Finished(outcome) => outcome.into_report(),
        RunEnd::Interrupted(interrupted) => Err(interrupted.into()),
    });
    Ok(VariantReports { reports: reports.collect::<Result<_, _>>()?, ranking })
}

/// How each run has ended, and how they compare.
type Endings = (Vec<RunEnd>, Option<Ranking>);

/// A listener that only waits for the end of all runs.
struct EndListener {
    endings: Vec<Option<RunEnd>>,
    ranking: Option<Ranking>,
    sender: Option<oneshot::Sender<Endings>>,
}

impl Listener for EndListener {
    fn item(&mut self, _: usize, _: &ItemResult) {}

    fn on_end(&mut self, experiment: usize, ending: RunEnd) {
        self.endings[experiment] = Some(ending);
    }

    fn on_variants_compared(&mut self, ranking: Ranking) {
        self.ranking = Some(ranking);
    }
}

impl Drop for EndListener {
    fn drop(&mut self) {
        let endings = std::mem::take(&mut self.endings).into_iter().collect::<Option<_>>();
        if let (Some(sender), Some(endings)) = (self.sender.take(), endings) {
            // The receiver may be gone.
            let _ = sender.send((endings, self.ranking.take()));
        }
    }
}

struct InterruptOnDrop(Interrupter);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, EvalContext, Evaluation, Evaluator, ExactMatch, Item, Setup};

    #[derive(Debug)]
    struct WithoutKey;

    impl Evaluator for WithoutKey {
        fn name(&self) -> &str {
            "judge"
        }

        fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
            unreachable!("nothing is run")
        }

        fn check(&self, _: &Setup) -> Result<(), crate::CheckError> {
            Err(crate::CheckError::missing_key("SOME_KEY", "`m` of someone"))
        }
    }

    fn refused(experiment: Experiment) -> Error {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime
            .block_on(experiment.save(false).run(|_: Item| -> &'static str { unreachable!() }))
            .unwrap_err()
    }

    #[test]
    fn an_experiment_without_its_variable_is_refused_before_its_data_are_looked_at() {
        let experiment = Experiment::new("desk", Dataset::from_file("no-such-file.jsonl"))
            .evaluator(ExactMatch::new("exact", "answer"))
            .ignore_without("PATH")
            .ignore_without("COBALT_TEST_OF_A_VARIABLE_THAT_NOBODY_SETS");
        let error = refused(experiment);
        assert!(
            matches!(&error, Error::Ignored { variable, .. } if variable.ends_with("NOBODY_SETS")),
            "{error}"
        );
    }

    #[test]
    fn a_missing_key_is_an_error_before_the_agent_is_called() {
        let items = Dataset::from_items([crate::item! { "input": "1" }]);
        let error = refused(Experiment::new("desk", items).evaluator(WithoutKey));
        let expected =
            "SOME_KEY is unset or empty: it is the API key for `m` of someone, needed by experiment `desk`.";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
