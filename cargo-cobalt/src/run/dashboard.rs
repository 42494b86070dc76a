//! The way from a run to the dashboard: where what the run came to is to be seen, and how to get there.

use cobalt::config::Config;
use cobalt::reporters::printable;

use super::Screen;
use crate::browser;
use crate::reporters::Results;
use crate::serve::running;

/// Says where the run is to be seen, and opens it there where that is asked for. Answers with the path of the run where a dashboard
/// is asked for and none runs yet.
pub(super) fn point_to(settings: &Config, results: &Results, screen: &Screen, opens: bool) -> Option<String> {
    let path = path(results)?;
    let is_ci = browser::is_ci(settings);
    if opens && is_ci {
        screen.tell(
            "the dashboard is not opened in CI; `--reporter html` writes what the run came to as a page",
        );
        return None;
    }
    match running(settings) {
        Some(url) if opens => open(&format!("{url}{path}"), screen),
        Some(url) => screen.note(&format!("dashboard: {url}{path}")),
        None if opens && browser::has_reader() => return Some(path),
        None if opens => screen.tell(
            "no dashboard is served where stderr is no terminal; `cargo cobalt serve` in another one shows the run",
        ),
        None if !is_ci => screen.hint("`cargo cobalt serve` shows the runs in the browser"),
        None => {}
    }
    None
}

/// The path of the only run that was kept, or that of the list where there are several.
fn path(results: &Results) -> Option<String> {
    let mut kept = results.experiments.iter().filter(|finished| finished.path.is_some());
    match (kept.next()?, kept.next()) {
        (only, None) => Some(format!("/runs/{}", only.report.id)),
        _ => Some("/".to_owned()),
    }
}

fn open(address: &str, screen: &Screen) {
    match browser::open(address) {
        Ok(()) => screen.tell(&format!("opened {address}")),
        Err(error) => screen.tell(&format!(
            "warning: no browser could be opened: {}; open {address}, or name a browser in BROWSER",
            printable(&error)
        )),
    }
}
