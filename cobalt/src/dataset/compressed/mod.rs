//! Compressed files: gzip and zstd, detected by magic bytes, decompressed as a stream with all members and frames.

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
    /// The compression of a file that starts with `head`. Names are ignored: a `.gz` file may already have been decompressed
    /// by the HTTP client.
    pub fn detect(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            // A frame, or a skippable frame, which parallel compressors write first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// Decompresses the content. Reading fails if the stream is corrupt or truncated, or exceeds `max_bytes`.
    #[cfg(feature = "remote")]
    pub fn decoder(
        self,
        reader: impl std::io::BufRead + 'static,
        max_bytes: Option<u64>,
        _shown: &str,
    ) -> Result<Box<dyn Read>, DatasetError> {
        use zstd::LimitedReader;
        Ok(match self {
            Compression::Gzip => {
                Box::new(LimitedReader::new(self, flate2::bufread::MultiGzDecoder::new(reader), max_bytes))
            }
            Compression::Zstd => {
                Box::new(LimitedReader::new(self, zstd::FrameReader::new(reader), max_bytes))
            }
        })
    }

    /// An error that names the required feature.
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
