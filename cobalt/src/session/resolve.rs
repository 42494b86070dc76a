//! What an experiment declares, completed by the configuration.

use std::collections::HashSet;

use crate::config::Config;
use crate::error::Error;
use crate::experiment::{Declaration, Definition};
use crate::report::Threshold;

/// The definition that is run. A declared value comes before one of the file, see [`crate::config`] for all of the order.
pub(super) fn resolve(declaration: Declaration, config: &Config) -> Result<Definition, Error> {
    let Declaration {
        name,
        runs,
        concurrency,
        timeout,
        tags,
        mut evaluators,
        thresholds,
        strict,
        ignore_without: _,
        source_hash,
        declared_at,
    } = declaration;
    let refused = |problem| Error::Definition { experiment: name.clone(), problem };
    if evaluators.is_empty() {
        evaluators = config.evaluators().map_err(|error| refused(error.to_string()))?;
    }
    let mut thresholds = if thresholds.is_empty() { config.thresholds().to_vec() } else { thresholds };
    // Before those are added that are for CI: they ask for more, never for less.
    let strict = strict.unwrap_or(thresholds.is_empty());
    add_missing(&mut thresholds, config.additional_thresholds());
    let definition = Definition {
        name: name.clone(),
        runs: config.runs(runs),
        concurrency: config.concurrency(concurrency),
        timeout: config.timeout(timeout),
        tags,
        evaluators,
        thresholds,
        strict,
        models: config.models().fingerprint(),
        source_hash,
        declared_at,
    };
    definition.check().map_err(refused)?;
    Ok(definition)
}

/// Adds the thresholds that are not there yet under the same name.
pub(crate) fn add_missing(thresholds: &mut Vec<Threshold>, more: &[Threshold]) {
    let declared: HashSet<_> = thresholds.iter().map(Threshold::case_name).collect();
    thresholds.extend(more.iter().filter(|threshold| !declared.contains(&threshold.case_name())).cloned());
}
