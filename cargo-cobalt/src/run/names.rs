//! Experiments that were named: all test binaries are asked for theirs before the first one runs, as a run costs money.

use cobalt::reporters::Event;
use cobalt::{Wanted, suggest};

use super::WithVariables;
use super::process::{Asked, Message, run};
use crate::cli::Selection;
use crate::error::Error;

/// Sees that each name is that of an experiment in one of the binaries. Where one of them cannot tell, it says so by itself when
/// it runs.
pub(crate) fn check(binaries: &[WithVariables<'_>], named: &[String]) -> Result<(), Error> {
    if named.is_empty() {
        return Ok(());
    }
    let (mut names, mut is_complete) = (Vec::new(), true);
    let all = Selection::default();
    for (binary, variables) in binaries {
        let asked = Asked { selection: &all, wanted: Wanted::Names, arguments: &[], variables };
        let status = run(binary, asked, |message| {
            if let Message::Event(event, _) = message
                && let Event::Listed(experiment) = *event
            {
                names.push(experiment.name);
            }
        })?;
        is_complete &= status.success();
    }
    match named.iter().find(|name| !names.contains(name)) {
        Some(name) if is_complete => Err(Error::NothingMatched(format!(
            "no experiment is named `{name}`; {}",
            suggest::instead(name, names.iter().map(String::as_str))
        ))),
        _ => Ok(()),
    }
}
