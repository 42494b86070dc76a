//! Runs the items of experiments and tells what happens. Knows nothing of terminals or files.

mod item;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::dataset::Dataset;
use crate::evaluators::Evaluator;
use crate::experiment::{AgentFn, Definition};
use crate::future::join_all;
use crate::llm::Models;
use crate::report::ItemResult;
use crate::threads;

/// How long evaluators may take to let go of what they hold, all together.
const FINISHING: Duration = Duration::from_secs(10);

/// An experiment's work: which items to run, and all that it takes.
pub(crate) struct Work {
    /// The number under which events speak of the experiment.
    pub(crate) experiment: usize,
    pub(crate) definition: Arc<Definition>,
    /// The evaluators' names, shared by all results.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) agent: AgentFn,
    pub(crate) dataset: Dataset,
    /// What evaluators may ask.
    pub(crate) models: Arc<Models>,
    /// The items' keys, by index.
    pub(crate) keys: Arc<[Arc<str>]>,
    /// The indexes of the items to run, in the order in which they are started.
    pub(crate) items: Vec<usize>,
    /// As many permits as items may be worked on at a time. An item takes one; whoever keeps the results gives it back
    /// when the item is safe, so that never more than that many can be lost, and closes them where items cannot be kept.
    pub(crate) slots: Arc<Semaphore>,
}

/// What happens in a run. The events of all experiments go through one channel, which puts them in one order.
#[derive(Debug)]
pub(crate) enum Event {
    /// An agent's output was evaluated, or the agent failed: in this run of the item with this index.
    ExecutionFinished { experiment: usize, index: usize, run: usize },
    /// All runs of an item are done.
    ItemFinished { experiment: usize, item: ItemResult },
    /// All items of an experiment are done, or no more of them will be.
    ExperimentFinished { experiment: usize },
    /// The experiments that are not finished will not be.
    Interrupted,
}

impl Event {
    /// The experiment that it is about; none where it is about all.
    pub(crate) fn experiment(&self) -> Option<usize> {
        match self {
            Self::ExecutionFinished { experiment, .. }
            | Self::ItemFinished { experiment, .. }
            | Self::ExperimentFinished { experiment } => Some(*experiment),
            Self::Interrupted => None,
        }
    }
}

/// Runs the items, `concurrency` of them at a time. Dropping the future cancels what is going on.
pub(crate) async fn run(work: Work, events: Sender<Event>) {
    // Told however this ends, so that nobody waits for items that will not come.
    let _told_at_the_end = TellsAtTheEnd { experiment: work.experiment, events: events.clone() };
    let work = Arc::new(work);
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..work.definition.concurrency.min(work.items.len()) {
        workers.spawn(run_items(Arc::clone(&work), Arc::clone(&next), events.clone()));
    }
    while let Some(ended) = workers.join_next().await {
        // Agents and evaluators are guarded one by one: a panic here is a fault of this library, not to be hidden.
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    finish(work.definition.evaluators.clone()).await;
}

/// Lets the evaluators go of what they hold, each on a thread where it may block. One that hangs is left behind.
async fn finish(evaluators: Vec<Arc<dyn Evaluator>>) {
    let finishing = evaluators.into_iter().map(|evaluator| -> Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(threads::run(move || evaluator.finish()))
    });
    // What was scored stays so, whatever comes of this.
    let _ = timeout(FINISHING, join_all(finishing.collect())).await;
}

struct TellsAtTheEnd {
    experiment: usize,
    events: Sender<Event>,
}

impl Drop for TellsAtTheEnd {
    fn drop(&mut self) {
        send(&self.events, Event::ExperimentFinished { experiment: self.experiment });
    }
}

/// Takes the next item, as soon as there is a slot for it, until there is none or the slots are closed.
async fn run_items(work: Arc<Work>, next: Arc<AtomicUsize>, events: Sender<Event>) {
    while let Ok(slot) = work.slots.acquire().await
        && let Some(&index) = work.items.get(next.fetch_add(1, Ordering::Relaxed))
    {
        let item = item::run(&work, index, |run| {
            send(&events, Event::ExecutionFinished { experiment: work.experiment, index, run });
        });
        let item = item.await;
        slot.forget();
        send(&events, Event::ItemFinished { experiment: work.experiment, item });
    }
}

/// Nobody listens any more only when the run was given up.
fn send(events: &Sender<Event>, event: Event) {
    let _ = events.send(event);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::evaluators::{EvalContext, EvalError, Evaluation};

    #[derive(Debug)]
    struct Panics;

    impl Evaluator for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }

        fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
            Box::pin(async { Err(EvalError::new("never asked")) })
        }

        fn finish(&self) {
            panic!("as a test wants it");
        }
    }

    #[derive(Debug, Default)]
    struct Notes(AtomicBool);

    impl Evaluator for Notes {
        fn name(&self) -> &'static str {
            "notes"
        }

        fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
            Box::pin(async { Err(EvalError::new("never asked")) })
        }

        fn finish(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn an_evaluator_that_panics_at_the_end_keeps_no_other_from_finishing() {
        let notes = Arc::new(Notes::default());
        finish(vec![Arc::new(Panics), Arc::clone(&notes) as Arc<dyn Evaluator>]).await;
        assert!(notes.0.load(Ordering::SeqCst));
    }
}
