//! Decompresses gzip responses as they arrive.
//!
//! The feature `gzip` of reqwest would also affect the clients of the user's crate.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH};

/// The only requested compression.
pub const GZIP: &str = "gzip";

/// Removes the compression headers, and returns whether the response is compressed.
pub fn take_gzip_header(response: &mut Response) -> bool {
    let headers = response.headers_mut();
    let is_gzip = headers.get(CONTENT_ENCODING).is_some_and(|value| {
        let value = value.as_bytes();
        value.eq_ignore_ascii_case(b"gzip") || value.eq_ignore_ascii_case(b"x-gzip")
    });
    if is_gzip {
        headers.remove(CONTENT_ENCODING);
        // It is the length of the compressed response.
        headers.remove(CONTENT_LENGTH);
    }
    is_gzip
}

/// Why a chunk was not written.
#[derive(Debug)]
pub enum WriteError {
    /// The response exceeds the limit.
    TooLong,
    /// The target failed.
    Target(io::Error),
    /// The response is corrupt.
    Corrupt(io::Error),
}

/// Writes a response, decompressed if needed.
pub enum BodyWriter<W: Write> {
    Plain(LimitedWriter<W>),
    Gzip { decoder: Box<MultiGzDecoder<LimitedWriter<W>>>, has_begun: bool },
}

impl<W: Write> BodyWriter<W> {
    /// Writes at most `most` bytes, decompressed.
    pub fn new(to: W, is_gzip: bool, most: u64) -> Self {
        let to = LimitedWriter { to, written: 0, most, failure: None };
        if is_gzip {
            Self::Gzip { decoder: Box::new(MultiGzDecoder::new(to)), has_begun: false }
        } else {
            Self::Plain(to)
        }
    }

    pub fn write(&mut self, piece: &[u8]) -> Result<(), WriteError> {
        let written = match self {
            Self::Plain(to) => to.write_all(piece),
            Self::Gzip { decoder, has_begun } => {
                *has_begun |= !piece.is_empty();
                decoder.write_all(piece)
            }
        };
        written.map_err(|error| self.failed(error))
    }

    /// Writes the rest, and returns the total size in bytes. A truncated response is corrupt.
    pub fn finish(&mut self) -> Result<u64, WriteError> {
        let finished = match self {
            Self::Gzip { decoder, has_begun: true } => decoder.try_finish(),
            Self::Plain(_) | Self::Gzip { has_begun: false, .. } => Ok(()),
        };
        finished.map_err(|error| self.failed(error))?;
        Ok(self.bounded().written)
    }

    fn failed(&mut self, error: io::Error) -> WriteError {
        let is_plain = matches!(self, Self::Plain(_));
        match self.bounded().failure.take() {
            Some(Failure::TooLong) => WriteError::TooLong,
            Some(Failure::Target) => WriteError::Target(error),
            None if is_plain => WriteError::Target(error),
            None => WriteError::Corrupt(error),
        }
    }

    fn bounded(&mut self) -> &mut LimitedWriter<W> {
        match self {
            Self::Plain(to) => to,
            Self::Gzip { decoder, .. } => decoder.get_mut(),
        }
    }
}

/// A writer with a size limit.
pub struct LimitedWriter<W> {
    to: W,
    written: u64,
    most: u64,
    failure: Option<Failure>,
}

/// Failures that are not caused by the response.
enum Failure {
    TooLong,
    Target,
}

impl<W: Write> Write for LimitedWriter<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if piece.len() as u64 > self.most - self.written {
            self.failure = Some(Failure::TooLong);
            return Err(io::Error::other("larger than the limit"));
        }
        let written = self.to.write(piece);
        match &written {
            Ok(written) => self.written += *written as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.failure = Some(Failure::Target),
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    /// Decompresses these bytes in chunks of three.
    fn read(bytes: &[u8], most: u64) -> Result<String, WriteError> {
        let mut text = Vec::new();
        let written = {
            let mut body = BodyWriter::new(&mut text, true, most);
            bytes.chunks(3).try_for_each(|piece| body.write(piece))?;
            body.finish()?
        };
        assert_eq!(written, text.len() as u64);
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn an_answer_of_several_members_is_read_in_pieces() {
        assert_eq!(read(&[packed("one "), packed(""), packed("two")].concat(), 7).unwrap(), "one two");
        assert_eq!(read(&[], 7).unwrap(), "");
    }

    #[test]
    fn an_answer_that_is_cut_short_or_no_gzip_is_damaged() {
        let whole = packed("a text that is long enough to be cut anywhere");
        for end in 1..whole.len() {
            assert!(matches!(read(&whole[..end], 1000), Err(WriteError::Corrupt(_))), "{end}");
        }
        assert!(matches!(read(b"no gzip at all", 1000), Err(WriteError::Corrupt(_))));
        assert!(matches!(read(&[&whole[..], b"and more"].concat(), 1000), Err(WriteError::Corrupt(_))));
    }

    #[test]
    fn the_bound_is_of_what_is_unpacked() {
        let bomb = packed(&" ".repeat(1 << 20));
        assert!(bomb.len() < 2000);
        assert!(matches!(read(&bomb, 100_000), Err(WriteError::TooLong)));
        assert!(read(&bomb, 1 << 20).is_ok());
    }
}
