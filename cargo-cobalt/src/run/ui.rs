//! Opens what a run came to in the browser.

use std::path::{Path, PathBuf};

use cobalt::config::{Config, ReporterKind};
use cobalt::reporters::printable;
use url::Url;

use super::Screen;
use crate::error::Error;
use crate::formats;
use crate::reporters::{FileReporter, Reporter as _, Results};

/// Opens the page of a run, which is written here unless a reporter has done so. In CI nobody sees a browser, so that the page
/// is named only; likewise where none can be opened.
pub(super) fn open(settings: &Config, results: &Results, screen: &Screen) -> Result<(), Error> {
    if results.experiments.is_empty() && results.broken.is_empty() {
        return Ok(());
    }
    let path = page(settings, results, screen)?;
    if settings.is_ci() || is_set("CI") {
        screen.tell(&format!("the page of the run is not opened in CI: {}", shown(&path)));
        return Ok(());
    }
    match address(&path).and_then(|address| opener::open_browser(address).map_err(|error| error.to_string()))
    {
        Ok(()) => screen.tell(&format!("opened {}", shown(&path))),
        Err(error) => screen.tell(&format!(
            "warning: no browser could be opened: {}; open {}, or name a browser in BROWSER",
            printable(&error),
            shown(&path)
        )),
    }
    Ok(())
}

/// The file that a reporter has written, or else one of our own.
fn page(settings: &Config, results: &Results, screen: &Screen) -> Result<PathBuf, Error> {
    let asked = settings.reporters().iter().filter(|reporter| reporter.kind == ReporterKind::Html);
    if let Some(path) = asked.filter_map(|reporter| reporter.path.clone()).next() {
        return Ok(path);
    }
    let name = ReporterKind::Html.file_name().unwrap_or("report.html");
    let path = settings.layout().reports().join(name);
    FileReporter { path: path.clone(), render: formats::html }.finish(results, screen)?;
    Ok(path)
}

/// Whether a variable is set to anything but a word for no.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !["", "0", "false"].iter().any(|no| value == *no))
}

/// The address of a file for a browser.
fn address(path: &Path) -> Result<String, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    let url = Url::from_file_path(&path).map_err(|()| format!("`{}` has no address", path.display()))?;
    Ok(url.into())
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}
