//! Prints the log's events on stderr, one line each: the seconds since the start, level, module, message, fields.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::time::Instant;

use cobalt_core::redact::redact;
use cobalt_core::reporters::escape_control;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;

use super::{FilterError, check};

/// The most characters of a value.
const MAX_VALUE: usize = 300;

static LOG: OnceLock<Log> = OnceLock::new();

struct Log {
    filter: String,
    dispatch: Dispatch,
}

/// Starts the log, once in a process: a second filter is checked and has no effect.
///
/// # Errors
///
/// The filter is invalid.
pub fn init(filter: &str) -> Result<(), FilterError> {
    check(filter)?;
    // `Targets` would take spaces for a part of a name.
    let compact: String = filter.split_whitespace().collect();
    let targets: Targets = compact.parse().map_err(|_| FilterError { directive: filter.to_owned() })?;
    LOG.get_or_init(|| Log {
        filter: filter.to_owned(),
        dispatch: Dispatch::new(Sink::new(targets, write_to_stderr, is_colorful())),
    });
    Ok(())
}

/// Whether there is a log: the only cost of an event if there is none.
#[must_use]
pub fn is_enabled() -> bool {
    LOG.get().is_some()
}

/// The filter of the log, if there is one.
#[must_use]
pub fn filter() -> Option<&'static str> {
    LOG.get().map(|log| &*log.filter)
}

/// Passes an event to the log, and to nothing else.
pub fn emit(event: impl FnOnce()) {
    if let Some(log) = LOG.get() {
        tracing::dispatcher::with_default(&log.dispatch, event);
    }
}

fn is_colorful() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal()
        && !is_set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// In one call, so lines of several threads and processes stay whole. A closed stderr is no reason to fail.
fn write_to_stderr(line: &str) {
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// A subscriber that prints events and knows no spans.
struct Sink<W> {
    targets: Targets,
    started: Instant,
    write: W,
    is_colorful: bool,
}

impl<W> Sink<W> {
    fn new(targets: Targets, write: W, is_colorful: bool) -> Self {
        Self { targets, started: Instant::now(), write, is_colorful }
    }

    fn line(&self, event: &Event<'_>) -> String {
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let mut fields = Fields::default();
        event.record(&mut fields);
        let (bright, dim, plain) = match self.is_colorful {
            true => (color(*level), "\x1b[2m", "\x1b[0m"),
            false => ("", "", ""),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let Fields { message, others } = fields;
        format!(
            "{dim}{seconds:8.3}s{plain} {bright}{level:>5}{plain} {dim}{target}:{plain} {message}{dim}{others}{plain}\n"
        )
    }
}

fn color(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\x1b[31m",
        Level::WARN => "\x1b[33m",
        Level::INFO => "\x1b[32m",
        Level::DEBUG => "\x1b[34m",
        Level::TRACE => "\x1b[35m",
    }
}

impl<W: Fn(&str) + 'static> Subscriber for Sink<W> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Also for what a value's `Display` emits.
        let is_ours = super::CRATES.contains(&metadata.target().split("::").next().unwrap_or_default());
        metadata.is_event() && is_ours && self.targets.would_enable(metadata.target(), metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.targets.iter().map(|(_, level)| level).chain(self.targets.default_level()).max()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        (self.write)(&self.line(event));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The fields of an event as text: ` name=value`, without secrets.
#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Fields {
    fn add(&mut self, field: &Field, mut value: String) {
        redact(&mut value);
        let mut shown = escape_control(&value).into_owned();
        if let Some((end, _)) = shown.char_indices().nth(MAX_VALUE) {
            shown.truncate(end);
            shown.push('…');
        }
        if field.name() == "message" {
            // An event is one line.
            self.message = shown.replace('\n', "\\n");
        } else if shown.is_empty() || shown.contains([' ', '\t', '\n', '"', '=']) {
            let _ = write!(self.others, " {}={shown:?}", field.name());
        } else {
            let _ = write!(self.others, " {}={shown}", field.name());
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use cobalt_core::redact::register_secret;
    use tracing::{Dispatch, debug, info, trace};

    use super::*;

    /// The lines that an action logs, without their times.
    fn logged(filter: &str, action: impl FnOnce()) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let write = move |line: &str| kept.lock().unwrap().push(line.to_owned());
        let log = Dispatch::new(Sink::new(filter.parse().unwrap(), write, false));
        tracing::dispatcher::with_default(&log, action);
        let lines = lines.lock().unwrap();
        lines.iter().map(|line| line.split_once("s ").unwrap().1.trim_start().to_owned()).collect()
    }

    #[test]
    fn events_are_lines_with_fields() {
        let lines = logged("debug", || {
            debug!(target: "cobalt::a", item = "refund", count = 2, absent = None::<u64>, reason = %"too late", "sent");
        });
        assert_eq!(lines, ["DEBUG cobalt::a: sent item=refund count=2 reason=\"too late\"\n"]);
    }

    #[test]
    fn filters_select_by_module_and_level() {
        let lines = logged("cobalt::a=trace,warn", || {
            trace!(target: "cobalt::a::b", "one");
            info!(target: "cobalt::c", "two");
            info!(target: "hyper", "three");
        });
        assert_eq!(lines, ["TRACE cobalt::a::b: one\n"]);
    }

    #[test]
    fn secrets_and_control_characters_are_not_written() {
        register_secret("LOG_TEST_KEY", "correct horse battery");
        let lines = logged("debug", || {
            debug!(target: "cobalt", key = "correct horse battery", text = %"a\nb", "with\ncorrect horse battery");
        });
        assert_eq!(
            lines,
            ["DEBUG cobalt: with\\n[redacted:LOG_TEST_KEY] key=[redacted:LOG_TEST_KEY] text=\"a\\nb\"\n"]
        );
    }

    #[test]
    fn spans_and_other_crates_stay_out() {
        let lines = logged("trace", || {
            let _in_span = tracing::info_span!(target: "cobalt", "span").entered();
            info!(target: "reqwest::connect", "other");
            info!(target: "cobaltish", "other");
        });
        assert_eq!(lines, [""; 0]);
    }
}
