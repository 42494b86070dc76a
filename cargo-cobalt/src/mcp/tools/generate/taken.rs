//! The names of experiments that the project has already: results and baselines are kept by them, so no other may have one.

use cobalt::name::case_name;
use cobalt::suggest;

use super::super::Call;
use super::super::list::rows;
use super::super::run::Progress;
use super::Wanted;
use super::agent::Agent;
use super::place::Place;
use crate::error::Error;

/// The names, each with the place where it is declared.
#[derive(Debug, Default)]
pub(super) struct Taken(Vec<(String, String)>);

impl Taken {
    /// Builds the project and lists its experiments, but for those of the target that is written. Beside it, what should be known
    /// where they cannot be listed.
    pub(super) async fn list(
        call: Call<'_>,
        wanted: &Wanted,
        progress: &mut Progress,
    ) -> Result<(Self, Option<String>), Error> {
        let Wanted { project, agent, place, .. } = wanted;
        let listing = rows(call, project, &["--workspace".to_owned()], progress).await?;
        let is_other = |row: &&crate::list::Row| {
            row.package != agent.package.name.as_str() || row.target != place.target
        };
        let others = listing.rows.iter().filter(is_other).map(|row| &row.experiment);
        let taken = others.map(|other| (other.name.clone(), format!("{}:{}", other.file, other.line)));
        let note = (!listing.compile_errors.is_empty()).then(|| {
            "The project does not build, so its experiments could not be listed: the name of the new one may be taken. \
             `cobalt_list` tells."
                .to_owned()
        });
        Ok((Self(taken.collect()), note))
    }

    /// The place of the experiment that has this name, or another name that is the same in test cases.
    fn place_of(&self, name: &str) -> Option<&str> {
        let case = case_name(name);
        let other = self.0.iter().find(|(other, _)| case_name(other) == case)?;
        Some(&other.1)
    }

    /// A name for the new experiment: that of the agent, or else of the target, or else one with a number.
    pub(super) fn free_name(&self, agent: &Agent, place: &Place) -> String {
        let numbered = (2..).map(|number| format!("{}_{number}", agent.name));
        let mut names = [agent.name.clone(), place.target.clone()].into_iter().chain(numbered);
        names.find(|name| self.place_of(name).is_none()).unwrap_or_default()
    }

    /// Which names of experiments cannot be used, in the words for the model.
    pub(super) fn problems(&self, experiments: &[String], free: &str) -> Vec<String> {
        let problem = |name: &String| {
            let place = self.place_of(name)?;
            Some(format!("another experiment is named `{name}`, at {place}: name this one `{free}`"))
        };
        experiments.iter().filter_map(problem).collect()
    }

    /// The names, in a sentence for the model.
    pub(super) fn told(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let names = suggest::list(self.0.iter().map(|(name, _)| name.as_str()));
        format!("\nThese names of experiments are taken: {names}.\n")
    }
}
