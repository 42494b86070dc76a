//! Pushes the runs of an invocation when it has finished, if the settings say so.

use cobalt::command::config::{Config, Origin};
use cobalt_core::wording::count;
use indicatif::BinaryBytes;

use super::error::RemoteError;
use super::location::Location;
use super::parallel;
use super::store::Remote;
use crate::interrupt;
use crate::results::{Output, Results};
use crate::shell;
use crate::terminal::one_line;

/// Refuses settings with which finished runs could not be pushed, before anything is run.
pub fn check_push(settings: &Config) -> Result<(), RemoteError> {
    if settings.remote().pushes { Location::open(settings.remote()).map(drop) } else { Ok(()) }
}

/// Pushes the saved runs of an invocation, if the settings say so. A failure is a warning with the command that repeats it. Returns
/// whether nothing is left to push.
pub fn push_finished(settings: &Config, results: &Results, output: &dyn Output) -> bool {
    let saved: Vec<_> = results
        .experiments
        .iter()
        .filter_map(|finished| Some((finished.report.id.as_str(), finished.path.as_deref()?)))
        .collect();
    if !settings.remote().pushes || saved.is_empty() {
        return true;
    }
    let ids: Vec<_> = saved.iter().map(|(id, _)| *id).collect();
    let again = format!("to push later: `{}`", command(settings, &ids));
    if interrupt::was_received() {
        output.warn(&format!("not pushed, as the run was interrupted; {again}"));
        return false;
    }
    let redacts = settings.remote().redacts.then(|| settings.prices());
    let outcomes = Remote::open(settings).and_then(|remote| {
        remote.prepare(settings.layout())?;
        let outcomes = parallel::map(&saved, |(_, path)| remote.push_run(path, redacts));
        outcomes.into_iter().collect::<Result<Vec<_>, _>>().map(|runs| (remote, runs))
    });
    match outcomes {
        Ok((remote, runs)) => {
            let size = BinaryBytes(runs.iter().map(|run| run.entry.stored_bytes()).sum());
            let runs = count(runs.len(), "run");
            output.eprintln(&format!("pushed {runs} ({size}) to `{}`", one_line(remote.url())));
            // The runs are in the store; another push will pack.
            let _ = remote.pack();
            true
        }
        Err(error) => {
            output.warn(&format!("{error}; the results are saved on this machine; {again}"));
            false
        }
    }
}

/// The command that pushes these runs as this one would have: settings of files and variables are there again.
fn command(settings: &Config, ids: &[&str]) -> String {
    let mut words = vec!["cargo cobalt push".to_owned()];
    let config = settings.settings().iter().find(|setting| setting.key == "config");
    if let Some(path) =
        config.filter(|config| config.origin == Origin::Flag).and_then(|config| config.value.as_str())
    {
        words.push(format!("--config {}", shell::quoted(path)));
    }
    let remote = settings.remote();
    if let Some(url) = remote.url.as_ref().filter(|_| remote.origin == Some(Origin::Flag)) {
        words.push(format!("--remote {}", shell::quoted(url.as_str())));
    }
    words.extend(ids.iter().map(|id| (*id).to_owned()));
    words.join(" ")
}
