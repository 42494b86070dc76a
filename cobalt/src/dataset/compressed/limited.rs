//! A decompressed stream up to a number of bytes, with errors that say what to do.

use std::io::{self, Read};

use super::Compression;
use crate::dataset::error::too_large;
use crate::wording::thousands;

/// Counts what comes of a decoder.
pub(super) struct Limited<R> {
    compression: Compression,
    decoder: R,
    max_bytes: Option<u64>,
    /// How much was read so far.
    bytes: u64,
}

impl<R: Read> Limited<R> {
    pub(super) fn new(compression: Compression, decoder: R, max_bytes: Option<u64>) -> Self {
        Limited { compression, decoder, max_bytes, bytes: 0 }
    }

    /// Says of a decoder's error what it means.
    fn explain(&self, error: io::Error) -> io::Error {
        // The caller tries again, or is told what to do already.
        if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::Unsupported) {
            return error;
        }
        let (compression, bytes) = (self.compression, thousands(self.bytes));
        let what = match is_end(&error) {
            true => "is cut off".to_owned(),
            false => format!("is damaged ({error})"),
        };
        let text =
            format!("the {compression} stream {what} after {bytes} bytes of content: get the file again");
        io::Error::new(error.kind(), text)
    }
}

/// Whether the stream ended too early, which the decoder of zstd says deep within its error.
fn is_end(error: &io::Error) -> bool {
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<io::Error>()
            && is_end(inner)
        {
            return true;
        }
        cause = inner.source();
    }
    error.kind() == io::ErrorKind::UnexpectedEof
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer).map_err(|error| self.explain(error))?;
        self.bytes += read as u64;
        match self.max_bytes {
            Some(max_bytes) if self.bytes > max_bytes => Err(too_large(max_bytes)),
            _ => Ok(read),
        }
    }
}
