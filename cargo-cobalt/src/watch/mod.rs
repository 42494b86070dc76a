//! `cargo cobalt watch`: runs what a change touches, after each change.
//!
//! What a change touches is worked out as for `run --changed`, from what there is after it: here it is only noticed that
//! something may have changed.

mod changes;
mod folders;
mod scope;
mod watched;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::wording::count;

pub(crate) use self::folders::folders;
pub(crate) use self::scope::{Scope, is_made};
pub(crate) use self::watched::{Watched, is_change};

use self::changes::Changes;
use crate::cli::{Color, RunOptions};
use crate::error::{Error, ErrorKind};
use crate::run::Repeats;
use crate::terminal::{eprint_folded, seen};
use crate::{interrupt, run};

/// How many of the files that have changed are named.
const MOST_NAMED: usize = 3;

pub(crate) fn watch(options: &RunOptions, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    interrupt::pass_on()?;
    // What changes from here on is noticed, also while something runs.
    let mut changes = Changes::of(Scope::read(&options.selection, &options.build, flags)?)?;
    let run = || {
        let ran = run::once(options, flags, color, Repeats::OnChange)?;
        if ran.dashboard.is_some() {
            let hint = "no dashboard runs: `cargo cobalt serve` in another terminal shows each run live";
            eprint_folded(hint);
        }
        Ok(ran.code)
    };
    let mut outcome = run();
    if let Err(error) = outcome.as_ref()
        && is_for_the_user_to_type(error)
    {
        return outcome;
    }
    loop {
        if let Err(error) = &outcome {
            error.tell();
        }
        if interrupt::was_heard() {
            return Err(Error::Interrupted);
        }
        changes.has_run();
        eprint_folded(&format!("\nwaiting for changes in {}; Ctrl-C ends", places(&changes.scope.roots)));
        let changed = changes.wait()?;
        eprint_folded(&format!("\nchanged: {}; running what that touches", named(&changed)));
        // With an error in a manifest or in the settings, all stays as it was; the run tells of the error.
        if let Ok(scope) = Scope::read(&options.selection, &options.build, flags) {
            changes.follow(scope)?;
        }
        outcome = run();
    }
}

/// Whether no change of a file will mend it.
fn is_for_the_user_to_type(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Arguments | ErrorKind::NothingMatched)
}

/// The folders that are looked into, but for those within them: the current one first.
fn places(roots: &BTreeSet<PathBuf>) -> String {
    let is_outermost = |folder: &&PathBuf| !folder.ancestors().skip(1).any(|above| roots.contains(above));
    let (here, others): (Vec<_>, Vec<_>) =
        roots.iter().filter(is_outermost).map(|folder| seen(folder)).partition(String::is_empty);
    let here = here.iter().map(|_| "this folder".to_owned());
    here.chain(others.iter().map(|folder| format!("`{folder}`"))).collect::<Vec<_>>().join(", ")
}

/// Files by their names, but for those that are too many.
fn named(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return "more than could be noticed".to_owned();
    }
    let names: Vec<_> = files.iter().take(MOST_NAMED).map(|file| format!("`{}`", seen(file))).collect();
    match files.len() - names.len() {
        0 => names.join(", "),
        others => format!("{} and {} more", names.join(", "), count(others, "file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_folder_comes_before_others_wherever_they_lie_and_folders_within_others_are_not_named() {
        let here = std::env::current_dir().unwrap();
        let roots = ["/0/first", "/~/last", "/~/last/within"].map(PathBuf::from);
        let roots = roots.into_iter().chain([here.join("member"), here]).collect();
        assert_eq!(places(&roots), "this folder, `/0/first`, `/~/last`");
    }

    #[test]
    fn a_few_files_are_named_and_the_others_counted() {
        let files: Vec<_> = ["a", "b", "c", "d"].map(PathBuf::from).into();
        assert_eq!(named(&files[..2]), "`a`, `b`");
        assert_eq!(named(&files), "`a`, `b`, `c` and 1 file more");
        assert_eq!(named(&[]), "more than could be noticed");
    }
}
