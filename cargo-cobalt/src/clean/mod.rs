//! `cargo cobalt clean`: lists what old runs, answers of models and copies of data sets take up, and removes it.
//!
//! Only files are touched that have names of ours, in the folders of the store, and through no symbolic link.

mod answers;
mod datasets;
mod entry;
mod folder;
mod journals;
mod kept;
mod limits;
mod listing;
mod remove;
mod reports;
mod results;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use cobalt::config::{Config, Flags};

use self::entry::{Entry, Found};
use self::limits::Limits;
use crate::cli::Clean;
use crate::config::settings;
use crate::error::{CommandError, Error};
use crate::index::{Filter, Index};
use crate::terminal::{eprint_folded, paint, print};

pub(crate) fn clean(arguments: &Clean, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.keep.is_some() && (arguments.cache || arguments.datasets) && !arguments.results {
        return Err(Error::Arguments("`--keep` is about runs: name `--results`, too".to_owned()));
    }
    let settings = settings(flags)?;
    let is_named = arguments.results || arguments.cache || arguments.datasets;
    let limits = Limits::of(arguments);
    let mut found = Found::default();
    if arguments.results || !is_named {
        runs(&settings, &limits, &mut found)?;
    }
    if arguments.cache || !is_named {
        answers::find(&settings, &limits, &mut found)?;
    }
    if arguments.datasets || !is_named {
        datasets::find(settings.layout(), &limits, &mut found)?;
    }
    print(&listing::listing(&found.entries, arguments.verbose, paint(&io::stdout())))
        .map_err(Error::Print)?;
    found.notes.iter().for_each(|note| eprint_folded(note));
    if found.entries.is_empty() {
        eprintln!("there is nothing to remove");
    } else if !is_named {
        eprint_folded(
            "nothing was removed; name what is to go: `--results`, `--cache`, `--datasets`, or several of them",
        );
    } else if arguments.yes || is_confirmed(&found.entries)? {
        remove(&found.entries, &settings)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks for all that runs have left.
fn runs(settings: &Config, limits: &Limits, found: &mut Found) -> Result<(), Error> {
    let (whole, skipped) = Index::open(settings.layout())?.runs(&Filter::ALL)?;
    let kept = limits.keep.map(|most| kept::Kept::of(&whole.runs, most));
    results::find(settings, &whole.runs, &skipped, limits, kept.as_ref(), found)?;
    journals::find(settings.layout(), limits, kept.as_ref(), found)?;
    if kept.is_none() {
        reports::find(settings.layout(), limits, found)?;
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("failed to ask: {0}; with `--yes` nothing is asked")]
struct AskError(io::Error);

impl CommandError for AskError {}

/// Asks whether the files are to go; where nobody can be asked, they are not.
fn is_confirmed(entries: &[Entry]) -> Result<bool, AskError> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        eprintln!("nothing was removed; with `--yes` these files are");
        return Ok(false);
    }
    eprint!("remove {}? [y/N] ", listing::total(entries));
    let mut answer = String::new();
    let asked = io::stderr().flush().and_then(|()| io::stdin().read_line(&mut answer));
    asked.map_err(AskError)?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        eprintln!("nothing was removed");
    }
    Ok(is_yes)
}

/// Removes the files, and has the index know.
fn remove(entries: &[Entry], settings: &Config) -> Result<(), Error> {
    let removed = remove::remove(entries);
    removed.notes.iter().for_each(|note| eprint_folded(note));
    eprintln!("removed {}", listing::total(&removed.entries));
    if removed.entries.iter().any(|entry| entry.kind == entry::Kind::Result) {
        Index::open(settings.layout())?.runs(&Filter::ALL)?;
    }
    if removed.errors.is_empty() { Ok(()) } else { Err(Error::Broken(removed.errors)) }
}
