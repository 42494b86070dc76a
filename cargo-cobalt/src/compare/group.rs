//! The runs of all variants of an experiment that were run together.

use std::fs;
use std::path::Path;

use cobalt_core::report::RunVariant;
use cobalt_core::store::strip_bom;
use serde::Deserialize;

use crate::error::Error;
use crate::runs::{KnownRuns, ResolvedRun};
use crate::terminal::one_line;

/// The runs of the group that a run belongs to, in the order of the variants.
pub fn runs_of_group(known: &KnownRuns, run: &ResolvedRun) -> Result<Vec<ResolvedRun>, Error> {
    let own = read_variant(&run.path).ok_or_else(|| {
        let (id, experiment) = (one_line(&run.id), one_line(&run.experiment));
        Error::Arguments(format!(
            "run {id} (`{experiment}`) is not a variant, so there is nothing to compare it with; select at least two runs"
        ))
    })?;
    let mut found = vec![(own.position, run.clone())];
    let mut names = vec![&*run.experiment];
    for other in known.whole() {
        let is_variant = other
            .name
            .strip_prefix(&*own.experiment)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
        if !is_variant || names.contains(&&*other.name) {
            continue;
        }
        let resolved = known.resolved(other);
        if let Some(variant) = read_variant(&resolved.path).filter(|variant| variant.group == own.group) {
            names.push(&other.name);
            found.push((variant.position, resolved));
        }
    }
    found.sort_by_key(|(position, _)| *position);
    match found.len() {
        1 => Err(Error::NothingMatched(format!(
            "run {} is the only one of its variants that is complete; select at least two runs",
            one_line(&run.id)
        ))),
        _ => Ok(found.into_iter().map(|(_, run)| run).collect()),
    }
}

/// The variant that a result file is of.
fn read_variant(path: &Path) -> Option<RunVariant> {
    #[derive(Deserialize)]
    struct ResultFile {
        variant: Option<RunVariant>,
    }

    let text = fs::read(path).ok()?;
    serde_json::from_slice::<ResultFile>(strip_bom(&text)).ok()?.variant
}
