//! Keys that are missing: all test binaries are asked for them before the first one runs, as a run costs money.

use cobalt::reporters::Event;
use cobalt::{MissingKey, Wanted};

use super::process::{Asked, Message, run};
use super::{WithVariables, interrupt};
use crate::cli::RunOptions;
use crate::error::Error;

/// The keys that are missing, each once with all experiments that need it. A single binary is not asked: it says so by
/// itself before it runs anything.
pub(super) fn missing(
    binaries: &[WithVariables<'_>],
    arguments: &RunOptions,
) -> Result<Vec<MissingKey>, Error> {
    let mut keys = Vec::new();
    if binaries.len() < 2 {
        return Ok(keys);
    }
    for (binary, variables) in binaries {
        let (selection, arguments) = (&arguments.selection, &*arguments.harness);
        let asked = Asked { selection, wanted: Wanted::MissingKeys, arguments, variables };
        // Whatever else is wrong with it, and what it prints, comes again when it runs.
        run(binary, asked, |message| {
            if let Message::Event(event, _) = message
                && let Event::KeyMissing(key) = *event
            {
                key.add_to(&mut keys);
            }
        })?;
        if interrupt::was_heard() {
            return Err(Error::Interrupted);
        }
    }
    Ok(keys)
}
