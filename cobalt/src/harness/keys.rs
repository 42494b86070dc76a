//! The keys that are missing for what a process would run, found before any data is read.

use super::args::Args;
use super::chosen::Chosen;
use super::filter::Filter;
use super::schedule::part;
use crate::config::Config;
use crate::private::ExperimentDefinition;
use crate::reporters::MissingKey;
use crate::session::MissingKeys;

/// The keys that are missing, each once. What else is wrong is told when the experiments are run.
pub(super) fn missing(
    definitions: &[&'static ExperimentDefinition],
    filter: &Filter<'_>,
    args: &Args,
    config: &Config,
) -> Vec<MissingKey> {
    let mut missing = MissingKeys::default();
    if args.mimic.list {
        return missing.into();
    }
    for (declared, resumed) in Chosen::of(definitions, filter, config).experiments {
        let is_ignored = declared.ignored_without().is_some();
        if is_ignored && !args.runs_ignored() {
            continue;
        }
        let lacking = declared.declaration().map(|declaration| MissingKeys::of(declaration, config));
        let lacking = lacking.unwrap_or_default();
        if resumed.is_some() || args.selects_all(is_ignored) && config.runs_all() {
            missing.extend(lacking);
        } else if !lacking.is_empty() {
            // Whether it is run at all hangs on its items.
            drop(part(declared, is_ignored, resumed, args, config, &mut missing));
        }
    }
    missing.into()
}
