//! Compressed files: gzip and zstd, told by their first bytes, read as a stream with all their members and frames.

#[cfg(test)]
mod tests;
#[cfg(feature = "remote")]
mod zstd;

use std::fmt;
use std::io::Read;

use super::DatasetError;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Compression {
    /// That of a file that begins with `head`. Names tell nothing: a server may send a `.gz` that its client has
    /// unpacked already.
    pub fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            // A frame, and one to be skipped, as parallel compressors write it first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// What was compressed. Reading it fails where the stream is damaged or cut off, or has more than `max_bytes`.
    #[cfg(feature = "remote")]
    pub fn decoder(
        self,
        reader: impl std::io::BufRead + 'static,
        max_bytes: Option<u64>,
        _shown: &str,
    ) -> Result<Box<dyn Read>, DatasetError> {
        use zstd::Limited;
        Ok(match self {
            Compression::Gzip => {
                Box::new(Limited::new(self, flate2::bufread::MultiGzDecoder::new(reader), max_bytes))
            }
            Compression::Zstd => Box::new(Limited::new(self, zstd::Frames::new(reader), max_bytes)),
        })
    }

    /// Says which feature reads it.
    #[cfg(not(feature = "remote"))]
    pub fn decoder(
        self,
        _reader: impl Read,
        _max_bytes: Option<u64>,
        shown: &str,
    ) -> Result<Box<dyn Read>, DatasetError> {
        Err(DatasetError::FeatureOff { file: shown.to_owned(), format: "gzip and zstd", feature: "remote" })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}
