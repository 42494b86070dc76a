//! The reporter `otlp`: sends runs, items and their traces as OpenTelemetry spans.

mod attributes;
mod ids;
mod run_spans;
mod send;
mod settings;
#[cfg(test)]
mod tests;
mod trace_spans;

pub use self::send::OtlpReporter;
