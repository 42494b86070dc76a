//! What happens: runs that are going on, followed by their journals, and results that come.
//!
//! Files are looked at several times a second, and only while somebody listens or asks: a file system may be one that tells
//! nobody of its changes.

mod journal;
mod journals;
mod results;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cobalt::report::ItemResult;
use cobalt::report::stats::describe;
use cobalt::store::Layout;
use tokio::sync::Notify;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::time::{MissedTickBehavior, interval};

use self::journals::Journals;
use self::results::ResultFiles;
use super::api::{Happening, LiveRun};

/// How often files are looked at while somebody listens.
const PERIOD: Duration = Duration::from_millis(250);
/// The most items that are told at a time; of those that are left out, the counts tell.
const ITEMS: usize = 50;
/// How many happenings a listener may be behind before it is told anew how all stands.
const BEHIND: usize = 8 * ITEMS;

/// What happens in a store.
#[derive(Debug)]
pub(in crate::serve) struct Live {
    seen: Mutex<Seen>,
    /// Tells the listeners; absent when it is over.
    listeners: Mutex<Option<Sender<Happening>>>,
    /// Somebody new listens, or it is over.
    called: Notify,
}

/// What was seen, and what of it is not told yet.
#[derive(Debug)]
struct Seen {
    journals: Journals,
    results: ResultFiles,
    /// The runs as they were told, but for the time that passes.
    told: Vec<LiveRun>,
    untold_items: Vec<Happening>,
    are_results_untold: bool,
}

impl Seen {
    fn look(&mut self) {
        let untold = &mut self.untold_items;
        self.journals.follow(|run, item| {
            if untold.len() < ITEMS {
                untold.push(finished(run, &item));
            }
        });
        // After the journals: the file of a run that has ended is there before its journal is removed.
        self.are_results_untold |= self.results.have_changed();
    }

    /// The runs that have not ended.
    fn runs(&self) -> Vec<LiveRun> {
        let mut runs = self.journals.runs();
        runs.retain(|run| !self.results.have(&run.id));
        runs
    }

    /// What has happened since it was last told.
    fn news(&mut self) -> Vec<Happening> {
        let runs = self.runs();
        let timeless: Vec<_> = runs.iter().map(|run| LiveRun { elapsed_ms: 0, ..run.clone() }).collect();
        let mut news = std::mem::take(&mut self.untold_items);
        if timeless != self.told {
            self.told = timeless;
            news.insert(0, Happening::Live { runs });
        }
        if std::mem::take(&mut self.are_results_untold) {
            news.push(Happening::Results {});
        }
        news
    }
}

impl Live {
    pub(in crate::serve) fn of(layout: &Layout) -> Self {
        Self::of_folders(&layout.journals(), layout.results())
    }

    fn of_folders(journals: &Path, results: &Path) -> Self {
        let seen = Seen {
            journals: Journals::of(journals.to_owned()),
            results: ResultFiles::of(results.to_owned()),
            told: Vec::new(),
            untold_items: Vec::new(),
            are_results_untold: false,
        };
        Self { seen: Mutex::new(seen), listeners: Mutex::new(Some(channel(BEHIND).0)), called: Notify::new() }
    }

    /// The runs that have not ended, the newest first.
    pub(in crate::serve) fn runs(&self) -> Vec<LiveRun> {
        let mut seen = held(&self.seen);
        seen.look();
        seen.runs()
    }

    /// The run of this id, where it has not ended.
    pub(in crate::serve) fn run(&self, id: &str) -> Option<LiveRun> {
        self.runs().into_iter().find(|run| run.id == id)
    }

    /// The journal of the run of this id, where it has not ended.
    pub(in crate::serve) fn journal(&self, id: &str) -> Option<PathBuf> {
        let mut seen = held(&self.seen);
        seen.look();
        seen.journals.path(id).filter(|_| !seen.results.have(id)).map(Path::to_owned)
    }

    /// Begins to listen: the runs that have not ended, and what happens from now on; `None` when it is over.
    pub(in crate::serve) fn listen(&self) -> Option<(Vec<LiveRun>, Receiver<Happening>)> {
        let mut seen = held(&self.seen);
        seen.look();
        let listener = {
            let listeners = held(&self.listeners);
            let listeners = listeners.as_ref()?;
            if listeners.receiver_count() == 0 {
                // What has happened while nobody listened is no news.
                drop(seen.news());
            }
            listeners.subscribe()
        };
        self.called.notify_one();
        Some((seen.runs(), listener))
    }

    /// Ends what is told to all listeners.
    pub(in crate::serve) fn end(&self) {
        held(&self.listeners).take();
        self.called.notify_one();
    }

    /// Tells the listeners what happens, until it is over.
    pub(in crate::serve) async fn tell(self: Arc<Self>) {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let listeners = held(&self.listeners).as_ref().map(Sender::receiver_count);
            match listeners {
                None => return,
                Some(0) => self.called.notified().await,
                Some(_) => {
                    let live = Arc::clone(&self);
                    let told = tokio::task::spawn_blocking(move || live.tell_news()).await;
                    // It has panicked, of which the terminal tells.
                    if told.is_err() {
                        return self.end();
                    }
                    ticks.tick().await;
                }
            }
        }
    }

    fn tell_news(&self) {
        let mut seen = held(&self.seen);
        seen.look();
        let news = seen.news();
        // Before anybody else looks, who would know later news than he is told.
        if let Some(listeners) = held(&self.listeners).as_ref() {
            // The last of them may have gone.
            news.into_iter().for_each(|happening| drop(listeners.send(happening)));
        }
    }
}

/// What a thread that has panicked leaves is looked at anew.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn finished(run: &str, item: &ItemResult) -> Happening {
    let names = item.runs.iter().flat_map(|run| run.evaluations.iter()).map(|(name, _)| name);
    let scores: BTreeMap<_, _> = names
        .filter_map(|name| {
            let scores = describe(&item.scores(name).collect::<Vec<_>>())?;
            Some((name.to_owned(), scores.mean))
        })
        .collect();
    Happening::Item {
        run: run.to_owned(),
        key: item.key.clone(),
        index: item.index,
        passed: item.passed,
        status: item.status(),
        latency_ms: item.latency_ms(),
        scores,
    }
}
