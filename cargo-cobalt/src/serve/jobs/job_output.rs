//! The output of a job: the last lines, redacted, up to a size.

use std::collections::VecDeque;

use anstream::adapter::strip_str;
use cobalt_core::redact::redacted;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest line in bytes; the rest of it is dropped.
const MAX_LINE: usize = 4 << 10;
/// How much of a line is read. A line is redacted before it is cut, so no part of a secret remains.
const MAX_READ: usize = 4 * MAX_LINE;
/// The maximum number of kept lines.
const MAX_LINES: usize = 5_000;
/// The maximum size of the kept lines in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The last lines of an output.
#[derive(Debug, Default)]
pub struct JobOutput {
    lines: VecDeque<String>,
    /// The total size of the lines in bytes.
    bytes: usize,
    /// How many earlier lines were dropped.
    dropped: usize,
}

impl JobOutput {
    /// Adds a line without secrets and colours, cut to the longest length.
    pub fn push(&mut self, line: &str) {
        let plain = strip_str(line).to_string();
        let mut shown = redacted(&plain).into_owned();
        // What was not read may hold the end of a secret, and redaction has moved its beginning forward.
        if line.len() >= MAX_READ && shown.len() < 2 * MAX_LINE {
            shown.truncate(shown.rfind(char::is_whitespace).unwrap_or_default());
        }
        let mut line = shown;
        let end = (0..=MAX_LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or_default());
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(first) = self.lines.pop_front() else { break };
            self.bytes -= first.len();
            self.dropped += 1;
        }
    }

    /// The number of lines, including dropped ones.
    pub fn len(&self) -> usize {
        self.dropped + self.lines.len()
    }

    /// The kept lines after this many, and the number of the first of them.
    pub fn lines_after(&self, count: usize) -> (usize, Vec<String>) {
        let first = count.clamp(self.dropped, self.len());
        (first, self.lines.iter().skip(first - self.dropped).cloned().collect())
    }
}

/// Reads lines of any length; longer ones than the limit are cut.
#[derive(Debug)]
pub struct LineReader<T> {
    output: T,
    chunk: Vec<u8>,
    /// The position of the unread part of the chunk.
    position: usize,
    line: Vec<u8>,
    limit: usize,
}

impl<T: AsyncRead + Unpin> LineReader<T> {
    pub fn new(output: T) -> Self {
        Self::with_limit(output, MAX_READ)
    }

    /// With another limit in bytes.
    pub fn with_limit(output: T, limit: usize) -> Self {
        Self { output, chunk: Vec::new(), position: 0, line: Vec::new(), limit }
    }

    /// The next line; `None` at the end.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            let unread = &self.chunk[self.position..];
            let end = memchr::memchr(b'\n', unread);
            let part = &unread[..end.unwrap_or(unread.len())];
            self.line.extend_from_slice(&part[..part.len().min(self.limit - self.line.len())]);
            self.position += part.len();
            if end.is_some() {
                self.position += 1;
                return Some(self.take());
            }
            self.chunk.resize(8 << 10, 0);
            let read = self.output.read(&mut self.chunk).await.unwrap_or_default();
            self.chunk.truncate(read);
            self.position = 0;
            if read == 0 {
                return (!self.line.is_empty()).then(|| self.take());
            }
        }
    }

    fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::redact::register_secret;

    use super::*;

    #[test]
    fn of_a_long_output_the_end_is_kept() {
        let mut output = JobOutput::default();
        (0..MAX_LINES + 10).for_each(|line| output.push(&line.to_string()));
        assert_eq!(output.len(), MAX_LINES + 10);
        let (first, lines) = output.lines_after(0);
        assert_eq!((first, lines.len(), &*lines[0]), (10, MAX_LINES, "10"));
        assert_eq!(output.lines_after(MAX_LINES + 9), (MAX_LINES + 9, vec![(MAX_LINES + 9).to_string()]));
        assert_eq!(output.lines_after(usize::MAX), (MAX_LINES + 10, Vec::new()));
        (0..2 * MAX_BYTES / MAX_LINE).for_each(|_| output.push(&"x".repeat(MAX_LINE)));
        assert!(output.lines_after(0).1.iter().map(String::len).sum::<usize>() <= MAX_BYTES);
    }

    #[test]
    fn secrets_and_colours_are_removed() {
        register_secret("JOB_KEY", "hunter2-of-jobs");
        let mut output = JobOutput::default();
        output.push("\u{1b}[31mkey hunter2-of-jobs\u{1b}[0m");
        let (_, lines) = output.lines_after(0);
        assert!(lines[0].starts_with("key ") && !lines[0].contains("hunter2"), "{lines:?}");
    }

    #[tokio::test]
    async fn a_cut_line_has_no_part_of_a_secret() {
        register_secret("CUT_KEY", "hunter3-of-long-lines");
        let text = format!("{}hunter3-of-long-lines{}", "x".repeat(MAX_LINE - 8), "é".repeat(MAX_LINE));
        let mut output = JobOutput::default();
        output.push(&LineReader::new(text.as_bytes()).next().await.unwrap());
        let (_, lines) = output.lines_after(0);
        assert!(lines[0].len() <= MAX_LINE && !lines[0].contains("hunter"), "{lines:?}");

        // So many secrets that the line is short without them, and ends within one.
        let secret = format!("hunter4-{}", "a1B2".repeat(75));
        register_secret("LONG_KEY", &secret);
        let text = format!("{secret} ").repeat(MAX_READ / secret.len() + 1);
        output.push(&LineReader::new(text.as_bytes()).next().await.unwrap());
        let (_, lines) = output.lines_after(1);
        assert!(!lines[0].is_empty() && !lines[0].contains("hunter"), "{lines:?}");
    }

    #[tokio::test]
    async fn lines_are_cut_and_the_last_one_needs_no_end() {
        let text = format!("one\r\n{}\n\ntwo", "x".repeat(20_000));
        let mut lines = LineReader::with_limit(text.as_bytes(), 10_000);
        assert_eq!(lines.next().await.as_deref(), Some("one"));
        assert_eq!(lines.next().await, Some("x".repeat(10_000)));
        assert_eq!(lines.next().await.as_deref(), Some(""));
        assert_eq!(lines.next().await.as_deref(), Some("two"));
        assert_eq!(lines.next().await, None);
    }
}
