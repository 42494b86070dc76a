//! Which experiments a process works on: those to resume, or all that the filter selects.

use super::cases::Declared;
use super::filter::Filter;
use crate::config::Config;
use crate::error::Error;
use crate::private::ExperimentDefinition;
use crate::session::named_to_resume;
use crate::store::CutOff;

/// The experiments of a process, and what it was asked to resume beside them.
pub(super) struct Chosen {
    /// The experiments in their order, each with the run of it that is resumed.
    pub(super) experiments: Vec<(Declared, Option<CutOff>)>,
    /// Runs to resume that are of none of them.
    pub(super) left: Vec<CutOff>,
    /// Ids of runs to resume of which nothing is known here.
    pub(super) unknown: Vec<(String, Error)>,
}

impl Chosen {
    /// Reads the declarations, and no data.
    pub(super) fn of(
        definitions: &[&'static ExperimentDefinition],
        filter: &Filter<'_>,
        config: &Config,
    ) -> Self {
        let (mut resume, unknown) = named_to_resume(config.layout());
        let resumes = !(resume.is_empty() && unknown.is_empty());
        let mut experiments = Vec::with_capacity(definitions.len());
        for definition in definitions {
            let resumed = resume.iter().position(|run| run.experiment == (definition.name)());
            let resumed = resumed.map(|index| resume.remove(index));
            if resumes && resumed.is_none() {
                continue;
            }
            let declared = Declared::new(definition);
            if declared.is_selected_by(filter) {
                experiments.push((declared, resumed));
            }
        }
        Self { experiments, left: resume, unknown }
    }
}
