//! What the process has noted on a run's traffic and traces.

use cobalt_core::report::Report;

use crate::recording::{RecordingFailure, RunTraffic};
#[cfg(feature = "otlp")]
use crate::trace::export_note;
use crate::trace::take_note;

/// Adds what the process knows of the traffic, and prints what it has noted. Returns why something could not be recorded.
pub fn add_notes(traffic: Option<&RunTraffic>, report: &mut Report) -> Option<RecordingFailure> {
    let unrecorded = traffic.and_then(|traffic| traffic.finish(&mut report.summary.traffic));
    if let Some(note) = take_note() {
        eprintln!("{note}");
    }
    #[cfg(feature = "otlp")]
    if let Some(note) = export_note() {
        eprintln!("{note}");
    }
    unrecorded
}
