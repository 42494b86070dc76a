//! The events as JSON, one a line.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::event::Event;

/// Where events are written: a file or a pipe.
#[derive(Debug)]
pub(crate) struct Stream(Option<BufWriter<File>>);

impl Stream {
    /// Opens what is there; a pipe waits for its reader.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self(Some(BufWriter::with_capacity(1 << 15, file))))
    }

    /// Another stream to the same place. What the first has buffered comes later than what this one has flushed.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        let file = self.0.as_ref().map(|file| file.get_ref().try_clone()).transpose()?;
        Ok(Self(file.map(BufWriter::new)))
    }

    /// Adds an event, which is told at the latest when the stream is flushed.
    pub(crate) fn send(&mut self, event: &Event) {
        self.write(|to| {
            serde_json::to_writer(&mut *to, event)?;
            to.write_all(b"\n")
        });
    }

    pub(crate) fn flush(&mut self) {
        self.write(Write::flush);
    }

    /// Where nobody reads any more, the run goes on untold.
    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(file) = &mut self.0
            && write(file).is_err()
            && let Some(file) = self.0.take()
        {
            // What is buffered has no reader either.
            drop(file.into_parts());
        }
    }
}
