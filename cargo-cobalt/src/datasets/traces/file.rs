//! Reads the traces of a file of OpenTelemetry's collector: a line of JSON per export.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use cobalt_core::store::strip_bom;
use cobalt_core::wording::count;
use cobalt_otlp::{Export, ExportError, ExportedSpan};

use super::RecordedTrace;
use crate::error::CommandError;
use crate::terminal::one_line;

/// Why a file of traces cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    #[error("failed to read `{}`: {source}", one_line(&.path.display().to_string()))]
    Read { path: PathBuf, source: io::Error },

    #[error(
        "`{}:{line}`: {source}; pass a file of the collector's `file` exporter with the format `json`, uncompressed",
        one_line(&.path.display().to_string())
    )]
    NotTraces { path: PathBuf, line: usize, source: ExportError },
}

impl CommandError for TraceFileError {}

/// The traces of a file, by start, and notes on what could not be read.
pub fn read(path: &Path) -> Result<(Vec<RecordedTrace>, Vec<String>), TraceFileError> {
    let failed = |source| TraceFileError::Read { path: path.to_owned(), source };
    let mut lines = BufReader::new(File::open(path).map_err(failed)?);
    let mut traces: HashMap<u128, Vec<ExportedSpan>> = HashMap::new();
    let (mut line, mut text) = (0, Vec::new());
    let (mut invalid, mut other_signals, mut unreadable) = (0, 0, Vec::new());
    loop {
        text.clear();
        if lines.read_until(b'\n', &mut text).map_err(failed)? == 0 {
            break;
        }
        line += 1;
        if text.trim_ascii().is_empty() {
            continue;
        }
        match Export::from_json(strip_bom(&text)) {
            Ok(export) => {
                invalid += export.invalid;
                export.spans.into_iter().for_each(|span| traces.entry(span.trace_id).or_default().push(span));
            }
            // A collector can write metrics and logs to the same file.
            Err(ExportError::NotSpans) if is_of_other_signal(&text) => other_signals += 1,
            Err(source) => unreadable.push((line, source)),
        }
    }
    if traces.is_empty() && !unreadable.is_empty() {
        let (line, source) = unreadable.swap_remove(0);
        return Err(TraceFileError::NotTraces { path: path.to_owned(), line, source });
    }
    let mut notes = Vec::new();
    if let Some((line, error)) = unreadable.first() {
        let place = one_line(&format!("{}:{line}", path.display()));
        notes.push(format!(
            "left out {}, the first at `{place}`: {error}",
            count(unreadable.len(), "unreadable line")
        ));
    }
    if invalid > 0 {
        notes.push(format!("left out {} without a valid ID", count(invalid, "span")));
    }
    if other_signals > 0 {
        notes.push(format!("left out {} of metrics or logs", count(other_signals, "line")));
    }
    let mut traces: Vec<_> = traces.into_iter().map(|(id, spans)| RecordedTrace::new(id, spans)).collect();
    traces.sort_by_key(|trace| (trace.start_nanos(), trace.id));
    Ok((traces, notes))
}

fn is_of_other_signal(line: &[u8]) -> bool {
    let has = |field: &str| memchr::memmem::find(line, field.as_bytes()).is_some();
    has("\"resourceMetrics\"") || has("\"resourceLogs\"") || has("\"resourceProfiles\"")
}
