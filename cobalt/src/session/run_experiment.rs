//! `Experiment::run`: runs an experiment value in the caller's runtime.

use cobalt_core::report::{ItemResult, Report};
use cobalt_core::wording::escape_control;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::{
    Interrupter, ItemSelection, Listener, MissingKeys, Plan, Run, RunEnd, Session, require_runs_to_resume,
};
use crate::budget;
use crate::config::Config;
use crate::error::Error;
use crate::experiment::{Agent, Experiment};

impl Experiment {
    /// Runs the agent over the dataset and returns the report.
    ///
    /// Settings that are not set come from [the configuration](crate::configuration), except its `[env]`, which is ignored. Low scores
    /// and failed items are in the report; they are not errors of this call.
    ///
    /// Must be called in a tokio runtime. An async agent must not block its threads, which timeouts need; a plain function may block.
    /// If `COBALT_RESUME` names a run of this experiment, that run is resumed.
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
        let config = Config::from_environment()?;
        if let Some((max, ledger)) = config.max_cost() {
            budget::limit(*max, ledger.clone());
        }
        let mut plan = Plan::new(self.bind(agent), &config)?;
        let layout = config.layout();
        let resumed = require_runs_to_resume(layout)?.into_iter().find(|run| run.experiment == plan.name());
        let mut missing = MissingKeys::default();
        let selection = resumed.as_ref().and_then(|run| run.selection.as_deref());
        plan.check(selection, &mut missing)?;
        if selection.is_none() {
            plan.find_baseline(&config)?;
        }
        missing.into_result()?;
        for warning in plan.warnings() {
            eprintln!("warning: {}", escape_control(&warning.to_string()));
        }
        let runtime =
            Handle::try_current().map_err(|_| Error::NoRuntime { experiment: plan.name().to_owned() })?;
        let run = match resumed {
            Some(run) => Run::resume(plan, layout, &run.id)?,
            None => Run::new(plan, ItemSelection::default(), layout)?,
        };
        if let Some(why) = run.reason() {
            eprintln!("note: {}: {why}", run.plan().name());
        }
        let (sender, ending) = oneshot::channel();
        let session = Session::start(vec![run], config, EndListener(Some(sender)), &runtime);
        // Dropping this future cancels the run.
        let _cancel = InterruptOnDrop(session.interrupter());
        match ending.await.expect("the recorder tells how each experiment ended") {
            RunEnd::Finished(outcome) => outcome.into_report(),
            RunEnd::Interrupted(interrupted) => Err(interrupted.into()),
        }
    }
}

/// A listener that only waits for the end of the single experiment.
struct EndListener(Option<oneshot::Sender<RunEnd>>);

impl Listener for EndListener {
    fn item(&mut self, _: usize, _: &ItemResult) {}

    fn on_end(&mut self, _: usize, ending: RunEnd) {
        if let Some(sender) = self.0.take() {
            // The receiver may be gone.
            let _ = sender.send(ending);
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
