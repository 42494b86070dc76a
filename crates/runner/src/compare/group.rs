//! The runs of all variants of an experiment that were run together.

use std::fs;
use std::path::Path;

use cobalt_core::report::RunVariant;
use cobalt_core::store::strip_bom;
use serde::Deserialize;

use crate::error::Error;
use crate::lookup::RunLookup;
use crate::runs::ResolvedRun;
use crate::terminal::one_line;

/// The runs of the group that a run belongs to, in the order of the variants.
pub fn runs_of_group(lookup: &RunLookup<'_>, run: &ResolvedRun) -> Result<Vec<ResolvedRun>, Error> {
    let own = read_variant(&run.path).ok_or_else(|| {
        let (id, experiment) = (one_line(&run.id), one_line(&run.experiment));
        Error::Arguments(format!(
            "run {id} (`{experiment}`) is not a variant, so there is nothing to compare it with; select at least two runs"
        ))
    })?;
    let mut found = vec![(own.position, run.clone())];
    let (known, mut names, mut others) = (lookup.known(), vec![&*run.experiment], Vec::new());
    for other in known.whole() {
        if other.variant_group.as_ref() == Some(&own.group) && !names.contains(&&*other.name) {
            names.push(&other.name);
            others.push(known.resolved(other));
        }
    }
    for other in lookup.fetch(others)? {
        found.extend(read_variant(&other.path).map(|variant| (variant.position, other)));
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
