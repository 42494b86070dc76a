//! How far a run has come, in plain lines: a log is no terminal, where a bar could be drawn anew.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cobalt::reporters::{Event, ExperimentStarted, printable, time};
use cobalt::wording::thousands;

/// Lines are at least so far apart.
const APART: Duration = Duration::from_secs(5);

/// How far the experiments of the binary at hand have come.
#[derive(Debug)]
pub(super) struct Progress {
    running: BTreeMap<usize, Running>,
    told: Instant,
}

#[derive(Debug)]
struct Running {
    name: String,
    items: usize,
    finished: usize,
    failed: usize,
    started: Instant,
    /// How many tenths have been told.
    tenths: usize,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { running: BTreeMap::new(), told: Instant::now() }
    }

    /// Takes an event in; answers with a line where another tenth of an experiment is done, and the last line is old.
    pub(super) fn hear(&mut self, event: &Event, now: Instant) -> Option<String> {
        match event {
            // Another binary counts its experiments anew.
            Event::Hello { .. } => self.running.clear(),
            Event::ExperimentStarted(ExperimentStarted { experiment, name, items, .. }) => {
                let (name, items) = (name.clone(), *items);
                let running = Running { name, items, finished: 0, failed: 0, started: now, tenths: 0 };
                self.running.insert(*experiment, running);
                // The build before it may have taken long.
                self.told = now;
            }
            Event::ItemFinished(item) => {
                let running = self.running.get_mut(&item.experiment)?;
                running.finished += 1;
                running.failed += usize::from(item.fails());
                let tenths = running.finished * 10 / running.items.max(1);
                if tenths > running.tenths && tenths < 10 && now.duration_since(self.told) >= APART {
                    (running.tenths, self.told) = (tenths, now);
                    return Some(running.line(now));
                }
            }
            _ => {}
        }
        None
    }
}

impl Running {
    fn line(&self, now: Instant) -> String {
        let Self { name, items, finished, failed, started, .. } = self;
        let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!(
            "{}: {} of {} items ({} %){failed}, after {}",
            printable(name),
            thousands(*finished as u64),
            thousands(*items as u64),
            finished * 100 / items.max(&1),
            time(now.duration_since(*started).as_secs_f64() * 1000.0)
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: serde_json::Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    /// The lines on 100 items that end after so many milliseconds each.
    fn lines(each: u64) -> Vec<String> {
        let mut progress = Progress::new();
        let start = progress.told;
        let started = json!({
            "event": "experiment-started", "experiment": 0, "id": "a", "name": "desk", "tags": [], "items": 100, "done": 0,
            "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1, "partial": false,
        });
        progress.hear(&event(started), start);
        let finished = |index: u64| {
            let item = json!({
                "event": "item-finished", "experiment": 0, "index": index, "item": "a", "status": "ok",
                "passed": index > 0, "latencyMs": 1.0, "scores": {},
            });
            progress.hear(&event(item), start + Duration::from_millis(each * (index + 1)))
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
        let mut progress = Progress::new();
        let start = progress.told + Duration::from_secs(60);
        let started = json!({
            "event": "experiment-started", "experiment": 0, "id": "a", "name": "desk", "tags": [], "items": 4, "done": 0,
            "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1, "partial": false,
        });
        progress.hear(&event(started), start);
        let mut finished = |index: u64, seconds: u64| {
            let item = json!({
                "event": "item-finished", "experiment": 0, "index": index, "item": "a", "status": "ok",
                "passed": true, "latencyMs": 1.0, "scores": {},
            });
            progress.hear(&event(item), start + Duration::from_secs(seconds))
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
