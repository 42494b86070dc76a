//! Experiments that were named: all test binaries are asked for theirs before the first one runs, as a run costs money.

use std::process::ExitStatus;

use cobalt::reporters::Event;
use cobalt::{Wanted, suggest};

use super::process::{Asked, Message, run};
use super::{WithVariables, interrupt};
use crate::cli::Selection;
use crate::error::Error;
use crate::project::Binary;

/// Sees that each name is that of an experiment in one of the binaries. One that does not answer at all may be of a version that
/// knows no names, and would run all that it has: nothing is run.
pub(crate) fn check(binaries: &[WithVariables<'_>], named: &[String]) -> Result<(), Error> {
    if named.is_empty() {
        return Ok(());
    }
    let (mut names, mut is_complete) = (Vec::new(), true);
    let all = Selection::default();
    for (binary, variables) in binaries {
        let asked = Asked { selection: &all, wanted: Wanted::Names, arguments: &[], variables };
        let (mut greeted, mut said) = (false, Vec::new());
        let status = run(binary, asked, |message| match message {
            Message::Event(event, _) => match *event {
                Event::Hello { .. } => greeted = true,
                Event::Listed(experiment) => names.push(experiment.name),
                _ => {}
            },
            Message::Stderr(line) => said.push(line),
            Message::Stdout(_) => {}
        })?;
        if interrupt::was_heard() {
            return Err(Error::Interrupted);
        }
        if !greeted {
            return Err(Error::Broken(vec![unnamed(binary, status, &said)]));
        }
        is_complete &= status.success();
    }
    // They come in the order in which they were linked.
    names.sort_unstable();
    names.dedup();
    match named.iter().find(|name| !names.contains(name)) {
        Some(name) if is_complete => Err(Error::NothingMatched(format!(
            "no experiment is named `{name}`; {}",
            suggest::instead(name, names.iter().map(String::as_str))
        ))),
        _ => Ok(()),
    }
}

/// What is told of a binary that did not name its experiments, with what it `said` on stderr.
pub(crate) fn unnamed(binary: &Binary, status: ExitStatus, said: &[String]) -> String {
    format!("{} ended ({status}) before it named its experiments\n{}", binary.name(), said.join("\n"))
}
