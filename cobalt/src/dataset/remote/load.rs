//! How a data set is had: from the copy that is kept, or by fetching it.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;

use super::error::FetchError;
use super::expected::{changed, check_terms, fits, unexpected_copy};
use super::kept::{Copy, Found, Kept, Lock};
use super::session::{Lookup, Session};
use super::source::{Fetched, Source};
use super::terms::Terms;
use crate::dataset::settings::FetchSettings;
use crate::dataset::{Dataset, DatasetError};
use crate::report::Fetch;
use crate::timestamp::Timestamp;
use crate::wording::printable;

/// How long a fetch, or another process's, takes before people are told of it, who wait for it.
const UNTOLD: Duration = Duration::from_secs(1);

/// The items of a source on these terms.
pub(super) fn load(
    source: &impl Source,
    terms: &Terms,
    settings: &FetchSettings,
    variable: Lookup<'_>,
) -> Result<Dataset, DatasetError> {
    let session = Session::new(terms, settings, variable);
    let label = source.label();
    check_terms(&label, terms)?;
    let kept = Kept::new(&settings.folder, &label, &source.identity(&session));
    if settings.offline {
        return offline(&kept, label, terms);
    }
    let is_usable = |copy: &Copy| is_fresh(copy, terms, settings) && fits(&copy.dataset, terms);
    if let Some(copy) = kept.read()?.copy().filter(is_usable) {
        return Ok(copy.dataset);
    }
    let waits = || eprintln!("fetching {}: another process does, and this one waits…", printable(&label));
    let lock = told_when_late(waits, || kept.lock())?;
    // Another process may have fetched it while this one waited.
    match kept.read()?.copy() {
        Some(copy) if is_usable(&copy) => Ok(copy.dataset),
        copy => fetch_and_keep(source, &session, terms, &kept, &lock, copy),
    }
}

/// The items of the copy, however old it is.
fn offline(kept: &Kept, dataset: String, terms: &Terms) -> Result<Dataset, DatasetError> {
    match kept.read()? {
        Found::Copy(copy) if fits(&copy.dataset, terms) => Ok(copy.dataset),
        Found::Copy(copy) => Err(unexpected_copy(&copy, terms)),
        Found::Nothing => Err(DatasetError::NoCopy { dataset }),
        Found::Damaged(problem) => {
            let file = kept.path.display().to_string();
            Err(DatasetError::DamagedCopy { dataset, problem, file })
        }
    }
}

/// Whether a copy needs not be fetched again.
fn is_fresh(copy: &Copy, terms: &Terms, settings: &FetchSettings) -> bool {
    // A time that is yet to come, as after a clock was set back, says nothing.
    let now = Timestamp::now();
    let is_young = |most| now.time().duration_since(copy.at.time()).is_ok_and(|age| age <= most);
    let is_old = !settings.is_resumed && !terms.max_age.is_none_or(is_young);
    // As precise as the copy's time.
    let is_refreshed = |since| copy.at >= Timestamp::from(since) && copy.at <= now;
    !is_old && settings.refresh.is_none_or(is_refreshed)
}

/// Fetches it, and keeps it if it is what is expected.
fn fetch_and_keep(
    source: &impl Source,
    session: &Session<'_>,
    terms: &Terms,
    kept: &Kept,
    lock: &Lock,
    copy: Option<Copy>,
) -> Result<Dataset, DatasetError> {
    let usable = copy.as_ref().filter(|copy| fits(&copy.dataset, terms));
    let failed = |error: FetchError| DatasetError::Fetch {
        dataset: source.label(),
        problem: error.to_string(),
        copy: usable.map(Copy::to_string).unwrap_or_default(),
    };
    // What changes while it is fetched may be missing.
    let at = Timestamp::now();
    let Fetched { items, version } = fetch(source, session).map_err(failed)?;
    if items.is_empty() {
        return Err(DatasetError::empty(&source.label(), "the source has no items"));
    }
    let fetch = Fetch { at, version };
    let dataset = Dataset::fetched(&source.label(), items, fetch.clone());
    if !fits(&dataset, terms) {
        return Err(changed(&dataset, terms, copy.as_ref()));
    }
    kept.write(&dataset, &fetch, lock)?;
    Ok(dataset)
}

/// Fetches, on another thread, as the one it is called on may be of a runtime.
fn fetch(source: &impl Source, session: &Session<'_>) -> Result<Fetched, FetchError> {
    let run = || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| FetchError::problem(format!("no runtime: {error}")))?;
        runtime.block_on(source.fetch(session))
    };
    told_when_late(|| eprintln!("fetching {}…", printable(&source.label())), run)
}

/// What comes of this, which runs on a thread of its own and is told of where people have to wait for it.
fn told_when_late<T: Send>(tell: impl FnOnce(), run: impl FnOnce() -> T + Send) -> T {
    // Closed when the thread ends.
    let (running, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let _running = running;
            run()
        });
        if ended.recv_timeout(UNTOLD) == Err(RecvTimeoutError::Timeout) {
            tell();
        }
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
