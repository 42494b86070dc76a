//! How far a run has come, in plain lines: a log is no terminal, where a bar could be drawn anew.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cobalt::reporters::{Event, ExperimentStarted, printable, time};
use cobalt::wording::thousands;

use crate::results::{Experiment, RunState};

/// Lines are at least so far apart.
const APART: Duration = Duration::from_secs(5);

/// What was told of the experiments of the binary at hand, and when.
#[derive(Debug)]
pub(super) struct Progress {
    running: BTreeMap<usize, Told>,
    told: Instant,
}

#[derive(Debug)]
struct Told {
    started: Instant,
    /// How many tenths have been told.
    tenths: usize,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { running: BTreeMap::new(), told: Instant::now() }
    }

    /// Hears an event that is in the state already; answers with a line where another tenth of an experiment is done, and the
    /// last line is old.
    pub(super) fn hear(&mut self, event: &Event, state: &RunState, now: Instant) -> Option<String> {
        match event {
            Event::ExperimentStarted(started) => {
                self.running.insert(started.experiment, Told { started: now, tenths: 0 });
                // The build before it may have taken long.
                self.told = now;
            }
            Event::ItemFinished(item) => {
                let experiment = state.experiment(item.experiment)?;
                let told = self.running.get_mut(&item.experiment)?;
                let tenths = experiment.done * 10 / experiment.started.items.max(1);
                if tenths > told.tenths && tenths < 10 && now.duration_since(self.told) >= APART {
                    (told.tenths, self.told) = (tenths, now);
                    return Some(line(experiment, now.duration_since(told.started)));
                }
            }
            _ => {}
        }
        None
    }
}

/// How far an experiment is after so long.
fn line(experiment: &Experiment, after: Duration) -> String {
    let Experiment { started: ExperimentStarted { name, items, .. }, done, failed, .. } = experiment;
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!(
        "{}: {} of {} items ({} %){failed}, after {}",
        printable(name),
        thousands(*done as u64),
        thousands(*items as u64),
        done * 100 / items.max(&1),
        time(after.as_secs_f64() * 1000.0)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: serde_json::Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    /// A call that tells of its progress.
    struct Call {
        state: RunState,
        progress: Progress,
    }

    impl Call {
        fn new() -> Self {
            Self { state: RunState::default(), progress: Progress::new() }
        }

        fn hear(&mut self, told: serde_json::Value, now: Instant) -> Option<String> {
            let event = event(told);
            self.state.apply(&event);
            self.progress.hear(&event, &self.state, now)
        }
    }

    /// The lines on 100 items that end after so many milliseconds each.
    fn lines(each: u64) -> Vec<String> {
        let mut call = Call::new();
        let start = call.progress.told;
        let started = json!({
            "event": "experiment-started", "experiment": 0, "id": "a", "name": "desk", "tags": [], "items": 100, "done": 0,
            "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1, "partial": false,
        });
        call.hear(started, start);
        let finished = |index: u64| {
            let item = json!({
                "event": "item-finished", "experiment": 0, "index": index, "item": "a", "status": "ok",
                "passed": index > 0, "latencyMs": 1.0, "scores": {},
            });
            call.hear(item, start + Duration::from_millis(each * (index + 1)))
        };
        (0..100).filter_map(finished).collect()
    }

    #[test]
    fn a_slow_run_tells_of_each_tenth() {
        let lines = lines(1000);
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[0], "desk: 10 of 100 items (10 %), 1 failed, after 10.0 s");
    }

    #[test]
    fn the_time_before_a_run_counts_for_nothing_and_a_share_is_told_as_it_is() {
        let mut call = Call::new();
        let start = call.progress.told + Duration::from_secs(60);
        let started = json!({
            "event": "experiment-started", "experiment": 0, "id": "a", "name": "desk", "tags": [], "items": 4, "done": 0,
            "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1, "partial": false,
        });
        call.hear(started, start);
        let mut finished = |index: u64, seconds: u64| {
            let item = json!({
                "event": "item-finished", "experiment": 0, "index": index, "item": "a", "status": "ok",
                "passed": true, "latencyMs": 1.0, "scores": {},
            });
            call.hear(item, start + Duration::from_secs(seconds))
        };
        assert_eq!(finished(0, 1), None);
        assert_eq!(finished(1, 9).as_deref(), Some("desk: 2 of 4 items (50 %), after 9.0 s"));
        assert_eq!(finished(2, 15).as_deref(), Some("desk: 3 of 4 items (75 %), after 15.0 s"));
    }

    #[test]
    fn a_quick_run_tells_little() {
        assert_eq!(lines(100), ["desk: 50 of 100 items (50 %), 1 failed, after 5.0 s"]);
        assert_eq!(lines(1), [""; 0]);
    }
}
