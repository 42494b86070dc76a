//! Decompresses zstd streams frame by frame, up to a size limit.

use std::io::{self, BufRead, Read};

use cobalt_core::wording::group_thousands;
use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Compression;
use crate::dataset::error::too_large;

fn unsupported(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("the zstd stream {reason}"))
}

/// The content of all frames of a stream. The decoder reads only one frame, and does not verify checksums.
pub struct FrameReader<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> FrameReader<R> {
    pub fn new(source: R) -> Self {
        FrameReader { source, decoder: FrameDecoder::new() }
    }

    /// Starts the next non-empty frame, if there is one.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(length.into())?,
                // These frames are valid, but the decoder does not support them.
                Err(
                    FrameDecoderError::WindowSizeTooBig { .. }
                    | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { .. }),
                ) => {
                    return Err(unsupported(
                        "has too large a window; compress the file again without `--long`",
                    ));
                }
                Err(FrameDecoderError::DictNotProvided { .. }) => {
                    return Err(unsupported("needs a dictionary; compress the file again without one"));
                }
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        match io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? {
            skipped if skipped == length => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Verifies the checksum of the frame, if it has one.
    fn verify_checksum(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(written) if self.decoder.get_calculated_checksum() != Some(written) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "checksum mismatch"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for FrameReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !buffer.is_empty() {
            if !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                continue;
            }
            self.verify_checksum()?;
            if !self.next_frame()? {
                return Ok(0);
            }
        }
        self.decoder.read(buffer)
    }
}

/// Limits the output of a decoder.
pub struct LimitedReader<R> {
    compression: Compression,
    decoder: R,
    max_bytes: Option<u64>,
    /// The bytes read so far.
    bytes: u64,
}

impl<R: Read> LimitedReader<R> {
    pub fn new(compression: Compression, decoder: R, max_bytes: Option<u64>) -> Self {
        LimitedReader { compression, decoder, max_bytes, bytes: 0 }
    }

    /// Explains an error of the decoder.
    fn explain(&self, error: io::Error) -> io::Error {
        // The caller retries, or the message already says what to do.
        if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::Unsupported) {
            return error;
        }
        let (compression, bytes) = (self.compression, group_thousands(self.bytes));
        let what = match is_end(&error) {
            true => "is truncated".to_owned(),
            false => format!("is corrupt ({error})"),
        };
        let text = format!(
            "the {compression} stream {what} after {bytes} bytes of content; download or copy the file again"
        );
        io::Error::new(error.kind(), text)
    }
}

/// Whether the stream ended too early; the zstd decoder nests this error deeply.
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

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer).map_err(|error| self.explain(error))?;
        self.bytes += read as u64;
        match self.max_bytes {
            Some(max_bytes) if self.bytes > max_bytes => Err(too_large(max_bytes)),
            _ => Ok(read),
        }
    }
}
