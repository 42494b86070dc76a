//! What the process has noted on a run's traffic and traces.

use cobalt_core::report::Report;

use crate::recording::RunTraffic;
#[cfg(feature = "otlp")]
use crate::trace::export_note;
use crate::trace::take_note;

/// Adds what the process knows of the traffic, and prints what it has noted.
pub fn add_notes(traffic: Option<&RunTraffic>, report: &mut Report) {
    if let Some(traffic) = traffic {
        traffic.finish(&mut report.summary.traffic);
    }
    if let Some(note) = take_note() {
        eprintln!("{note}");
    }
    #[cfg(feature = "otlp")]
    if let Some(note) = export_note() {
        eprintln!("{note}");
    }
}
