//! The request for a job, and the arguments of its command. Arguments are passed as a list, never through a shell, and each value is
//! part of its option's argument: `--experiment=--help` is an experiment.

use cobalt::command::config::MaxCost;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::serve::error::ApiError;
use crate::serve::job::JobKind;
use crate::serve::live::LiveRunState;
use crate::serve::store::Store;

/// The longest name of an experiment, in characters.
const MAX_NAME: usize = 500;

/// A job to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartJob {
    kind: JobKind,
    /// The name of the experiment to run; all experiments by default. Only for `run`.
    experiment: Option<String>,
    /// The id of the run: for `resume` an interrupted one, for `rerunFailed` the newest one of its experiment.
    run: Option<String>,
    /// The budget of agents, judges and simulated users in USD.
    max_cost: Option<f64>,
}

/// A checked request.
#[derive(Debug)]
pub struct JobPlan {
    pub kind: JobKind,
    pub experiment: Option<String>,
    pub run: Option<String>,
    /// The arguments after `cargo cobalt run`.
    pub arguments: Vec<String>,
}

impl StartJob {
    /// Checks the request against the runs of the project.
    pub fn plan(self, store: &Store) -> Result<JobPlan, ApiError> {
        let Self { kind, experiment, run, max_cost } = self;
        let max_cost = max_cost.map(parse_max_cost).transpose()?;
        let mut plan = match (kind, experiment, run) {
            (JobKind::Run, experiment, None) => plan_run(experiment, store)?,
            (JobKind::Resume, None, Some(run)) => plan_resume(run, store)?,
            (JobKind::RerunFailed, None, Some(run)) => plan_rerun(run, store)?,
            _ => {
                return Err(ApiError::bad_request(
                    "expected `experiment` or nothing for the kind `run`, and `run` for `resume` and `rerunFailed`",
                ));
            }
        };
        plan.arguments.extend(max_cost.map(|max| format!("--max-cost={max}")));
        Ok(plan)
    }
}

fn parse_max_cost(max: f64) -> Result<MaxCost, ApiError> {
    max.to_string().parse().map_err(|error| ApiError::bad_request(format!("`maxCost`: {error}")))
}

fn plan_run(experiment: Option<String>, store: &Store) -> Result<JobPlan, ApiError> {
    let arguments = match &experiment {
        Some(name) => {
            check_name(name)?;
            let known = store.known()?;
            let of_variant = known.runs.iter().find(|run| run.experiment == *name && run.variant.is_some());
            let variant = of_variant.and_then(|run| run.variant.as_ref());
            selection(variant.map_or(name, |it| &it.experiment), variant.map(|it| &*it.name))?
        }
        None => Vec::new(),
    };
    Ok(JobPlan { kind: JobKind::Run, experiment, run: None, arguments })
}

fn plan_resume(id: String, store: &Store) -> Result<JobPlan, ApiError> {
    let live = store.live().runs();
    let Some(run) = live.iter().find(|run| run.id == id) else {
        // Fails if there is no such run.
        store.run_file(&id)?;
        return Err(ApiError::conflict(format!("run `{id}` is finished; there is nothing to resume")));
    };
    if run.state == LiveRunState::Running {
        return Err(ApiError::conflict(format!("run `{id}` is in progress already")));
    }
    // The option takes a list, and the id comes from a file.
    if !is_run_id(&id) {
        return Err(ApiError::conflict(format!("`{id}` is not a run id; resume it at the terminal")));
    }
    let arguments = vec![format!("--resume={id}")];
    Ok(JobPlan { kind: JobKind::Resume, experiment: Some(run.name.clone()), run: Some(id), arguments })
}

fn is_run_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn plan_rerun(id: String, store: &Store) -> Result<JobPlan, ApiError> {
    let known = store.known()?;
    let Some(run) = known.run(&id) else {
        store.run_file(&id)?;
        return Err(ApiError::conflict(format!(
            "run `{id}` is not finished; wait for it, or resume it first"
        )));
    };
    let newest = known.runs.iter().find(|other| other.experiment == run.experiment);
    if let Some(newest) = newest.filter(|newest| newest.timestamp > run.timestamp) {
        return Err(ApiError::conflict(format!(
            "the items' last results are those of the newer run {}: run its failed items instead",
            newest.id
        )));
    }
    let variant = run.variant.as_ref();
    let name = variant.map_or(&run.experiment, |variant| &variant.experiment);
    check_name(name)?;
    let mut arguments = selection(name, variant.map(|variant| &*variant.name))?;
    arguments.push("--rerun-failed".to_owned());
    Ok(JobPlan {
        kind: JobKind::RerunFailed,
        experiment: Some(run.experiment.clone()),
        run: Some(id),
        arguments,
    })
}

/// The options that select an experiment, or one of its variants.
fn selection(experiment: &str, variant: Option<&str>) -> Result<Vec<String>, ApiError> {
    let mut arguments = vec![format!("--experiment={experiment}")];
    if let Some(variant) = variant {
        check_name(variant)?;
        // The option takes a list.
        if variant.contains(',') {
            return Err(ApiError::conflict(format!("variant `{variant}` can only be run at the terminal")));
        }
        arguments.push(format!("--variant={variant}"));
    }
    Ok(arguments)
}

fn check_name(name: &str) -> Result<(), ApiError> {
    match !name.trim().is_empty() && name.chars().count() <= MAX_NAME && !name.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(ApiError::bad_request(format!(
            "expected the name of an experiment: one line of at most {MAX_NAME} characters"
        ))),
    }
}

/// The command as it is typed at a terminal.
pub fn displayed(arguments: &[String]) -> String {
    let quoted = arguments.iter().map(|argument| {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=.:/".contains(char);
        match argument.chars().all(is_plain) {
            true => argument.clone(),
            false => format!("'{}'", argument.replace('\'', r"'\''")),
        }
    });
    ["cargo cobalt run".to_owned()].into_iter().chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_argument_whatever_it_is() {
        for name in ["--help", "; rm -rf /", "$(reboot)", "a b", "-", "--"] {
            check_name(name).unwrap();
            assert_eq!(selection(name, None).unwrap(), [format!("--experiment={name}")]);
        }
        for name in ["", "  ", "a\nb", "a\0b", "\u{1b}[2J", &"x".repeat(501)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(selection("desk", Some("a,b")).is_err());
    }

    #[test]
    fn the_command_can_be_pasted() {
        let arguments = ["--experiment=it's; rm".to_owned(), "--max-cost=0.5".to_owned()];
        assert_eq!(displayed(&arguments), r"cargo cobalt run '--experiment=it'\''s; rm' --max-cost=0.5");
    }

    #[test]
    fn a_budget_is_an_amount() {
        assert_eq!(parse_max_cost(0.5).unwrap().to_string(), "0.5");
        for max in [0.0, -1.0, f64::INFINITY] {
            assert!(parse_max_cost(max).is_err(), "{max}");
        }
    }
}
