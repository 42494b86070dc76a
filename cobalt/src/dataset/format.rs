//! File formats of datasets, and how they are detected.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use cobalt_core::wording;
use serde::de::IgnoredAny;

use super::{DatasetError, text};

/// The format of a dataset file, see [the module](crate::dataset#files).
///
/// ```
/// use cobalt::dataset::Format;
///
/// assert_eq!("ndjson".parse(), Ok(Format::Jsonl));
/// assert_eq!(Format::Jsonl.to_string(), "jsonl");
/// assert!("xlsx".parse::<Format>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An array of objects, or an object with such an array as `items`.
    Json,
    /// An object per line.
    Jsonl,
    /// A header, then a row per item, comma-separated.
    Csv,
    /// A header, then a row per item, tab-separated.
    Tsv,
    /// Apache Parquet. Needs the feature `parquet`.
    Parquet,
    /// Apache Arrow, as a file (Feather version 2) or a stream. Needs the feature `parquet`.
    Arrow,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Json, Format::Jsonl, Format::Csv, Format::Tsv, Format::Parquet, Format::Arrow];

    /// The canonical name, then other names and extensions.
    fn names(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["json"],
            Format::Jsonl => &["jsonl", "ndjson", "jsonlines"],
            Format::Csv => &["csv"],
            Format::Tsv => &["tsv", "tab"],
            Format::Parquet => &["parquet", "pq"],
            Format::Arrow => &["arrow", "feather", "ipc", "arrows"],
        }
    }

    /// The registered media types, and unregistered ones in use.
    fn media_types(self) -> &'static [&'static str] {
        match self {
            Format::Json => &["application/json", "text/json"],
            Format::Jsonl => &[
                "application/x-ndjson",
                "application/ndjson",
                "application/jsonl",
                "application/x-jsonl",
                "application/jsonlines",
                "application/x-jsonlines",
            ],
            Format::Csv => &["text/csv", "application/csv"],
            Format::Tsv => &["text/tab-separated-values"],
            Format::Parquet => &["application/vnd.apache.parquet", "application/x-parquet"],
            Format::Arrow => &["application/vnd.apache.arrow.file", "application/vnd.apache.arrow.stream"],
        }
    }
}

impl Format {
    /// Whether the extension stands for tab-separated values.
    pub(crate) fn is_split_at_tabs(path: &Path) -> bool {
        by_extension(&path.to_string_lossy()) == Some(Format::Tsv)
    }
}

/// The canonical name, which [`FromStr`] parses.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.names()[0])
    }
}

/// The error for an unknown format name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{wanted}`; {}", wording::suggest_or_list(.wanted, Format::ALL.map(|format| format.names()[0])))]
pub struct UnknownFormat {
    wanted: String,
}

/// Parses a name or extension, case-insensitively: `json`; `jsonl`, `ndjson`, `jsonlines`; `csv`; `tsv`,
/// `tab`; `parquet`, `pq`; `arrow`, `arrows`, `feather`, `ipc`.
impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        let known = |format: &Format| format.names().iter().any(|known| known.eq_ignore_ascii_case(name));
        Format::ALL.into_iter().find(known).ok_or_else(|| UnknownFormat { wanted: name.to_owned() })
    }
}

/// What is known about a file apart from its content.
#[derive(Clone, Debug, Default)]
pub struct FormatHints {
    /// The requested format; overrides everything else.
    pub format: Option<Format>,
    /// Names whose extension may give the format, best first: of the file, of a URL, of a download.
    pub names: Vec<String>,
    /// The media type from the server, with or without parameters.
    pub media_type: Option<String>,
    /// The size limit in bytes after decompression; for Parquet and Arrow, of the items as lines of JSON. No limit if
    /// `None`.
    pub max_bytes: Option<u64>,
}

impl FormatHints {
    /// Hints from the file's name.
    pub fn by_name(name: impl Into<String>) -> FormatHints {
        FormatHints { names: vec![name.into()], ..FormatHints::default() }
    }

    /// The format of a file that starts with `head`: the requested one, else by magic bytes, else by extension, media type,
    /// and the look of the content.
    pub fn format(&self, head: &[u8], shown: &str) -> Result<Format, DatasetError> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        // Every parser rejects the byte order mark of another encoding.
        let text = &head[text::bom_length(head).unwrap_or(0)..];
        let told = by_magic_bytes(head)
            .or_else(|| self.names.iter().find_map(|name| by_extension(name)))
            .or_else(|| self.media_type.as_deref().and_then(by_media_type));
        match (told, by_content(text)) {
            // JSONL files are often named `.json`.
            (Some(Format::Json), Some(Format::Jsonl)) => Ok(Format::Jsonl),
            (Some(format), _) | (None, Some(format)) => Ok(format),
            (None, None) if text.trim_ascii().is_empty() => {
                Err(DatasetError::empty(shown, "the file is blank"))
            }
            (None, None) => match text::bom_length(head) {
                Ok(_) => Err(DatasetError::UnknownFormat { file: shown.to_owned() }),
                Err(encoding) => Err(DatasetError::Encoding { file: shown.to_owned(), encoding }),
            },
        }
    }
}

/// By magic bytes, which no text file starts with.
fn by_magic_bytes(head: &[u8]) -> Option<Format> {
    /// The first bytes of a message in an Arrow stream, before its length.
    const CONTINUATION: &[u8] = &[0xff; 4];
    match head {
        _ if head.starts_with(b"PAR1") => Some(Format::Parquet),
        _ if head.starts_with(b"ARROW1\0\0") || head.starts_with(CONTINUATION) => Some(Format::Arrow),
        _ => None,
    }
}

/// By the extension of a name, ignoring the extension of a compression.
pub fn by_extension(name: &str) -> Option<Format> {
    let mut path = Path::new(name);
    if let Some("gz" | "gzip" | "zst" | "zstd") = extension(path).as_deref() {
        path = Path::new(path.file_stem()?);
    }
    extension(path)?.parse().ok()
}

fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

fn by_media_type(media_type: &str) -> Option<Format> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let known =
        |format: &Format| format.media_types().iter().any(|known| known.eq_ignore_ascii_case(essence));
    Format::ALL.into_iter().find(known)
}

fn by_content(text: &[u8]) -> Option<Format> {
    let text = text.trim_ascii_start();
    let line_end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let (line, rest) = text.split_at(line_end);
    match text.first()? {
        b'{' if rest.trim_ascii_start().starts_with(b"{") && is_whole_json(line) => Some(Format::Jsonl),
        b'[' | b'{' => Some(Format::Json),
        _ if text.contains(&0) => None,
        _ if line.contains(&b',') => Some(Format::Csv),
        _ if line.contains(&b'\t') => Some(Format::Tsv),
        _ => None,
    }
}

fn is_whole_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, head: &[u8]) -> Result<Format, String> {
        FormatHints::by_name(name).format(head, name).map_err(|error| error.to_string())
    }

    #[test]
    fn the_extension_tells_the_format_in_any_case() {
        for (name, expected) in [
            ("a.json", Format::Json),
            ("a.JSONL", Format::Jsonl),
            ("a.ndjson", Format::Jsonl),
            ("a.jsonlines", Format::Jsonl),
            ("b.c.csv", Format::Csv),
            ("a.tsv", Format::Tsv),
            ("a.TAB", Format::Tsv),
            ("a.pq", Format::Parquet),
            ("a.feather", Format::Arrow),
            ("a.csv.gz", Format::Csv),
            ("a.b.JSONL.ZST", Format::Jsonl),
        ] {
            assert_eq!(format(name, b"anything"), Ok(expected), "{name}");
        }
    }

    #[test]
    fn every_format_is_read_by_the_name_that_it_is_written_with() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!("NDJSON".parse(), Ok(Format::Jsonl));
        assert_eq!(
            "parket".parse::<Format>().unwrap_err().to_string(),
            "unknown format `parket`; did you mean `parquet`? available: `json`, `jsonl`, `csv`, `tsv`, `parquet`, \
             `arrow`"
        );
    }

    #[test]
    fn the_content_tells_the_format_of_other_files() {
        for (head, expected) in [
            (&b"\xef\xbb\xbf\n [{}]"[..], Format::Json),
            (b"{\"items\": [{}]}", Format::Json),
            (b"{\n \"items\": [{}]}", Format::Json),
            (b"{\"a\": 1}\r\n\r\n{\"a\": 2}", Format::Jsonl),
            (b"id,input\n1,2", Format::Csv),
            (b"id\tinput\n1\t2", Format::Tsv),
        ] {
            assert_eq!(format("data", head), Ok(expected), "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn bytes_that_no_text_begins_with_count_more_than_a_name() {
        assert_eq!(format("a.json", b"PAR1\x15\x04"), Ok(Format::Parquet));
        assert_eq!(format("a.parquet", b"ARROW1\0\0"), Ok(Format::Arrow));
        assert_eq!(format("a.csv", b"\xff\xff\xff\xff\x10\x01\0\0"), Ok(Format::Arrow));
    }

    #[test]
    fn what_was_asked_for_counts_more_than_all_else() {
        let told = FormatHints { format: Some(Format::Csv), ..FormatHints::by_name("a.json") };
        assert_eq!(told.format(b"PAR1", "a.json").unwrap(), Format::Csv);
    }

    #[test]
    fn a_media_type_tells_what_no_name_tells() {
        let format = |names: &[&str], media_type: &str| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            let told = FormatHints { names, media_type: Some(media_type.into()), ..FormatHints::default() };
            told.format(b"a,b\n1,2\n", "x").unwrap()
        };
        assert_eq!(format(&["export"], "application/x-ndjson; charset=utf-8"), Format::Jsonl);
        assert_eq!(format(&[], "Text/Tab-Separated-Values"), Format::Tsv);
        assert_eq!(format(&["rows", "rows.json"], "text/csv"), Format::Json);
        for silent in ["text/plain", "application/octet-stream", "application/gzip", ""] {
            assert_eq!(format(&["export.php"], silent), Format::Csv, "{silent}");
        }
    }

    #[test]
    fn an_object_per_line_called_json_is_read_as_jsonl() {
        assert_eq!(format("a.json", b"{\"items\": []}\n{\"a\": 2}"), Ok(Format::Jsonl));
        assert_eq!(format("a.json", b"{\"a\": 1}\n"), Ok(Format::Json));
        assert_eq!(format("a.json", b"{\"a\":\n{}}\n"), Ok(Format::Json));
    }

    #[test]
    fn content_that_looks_like_no_format_is_refused() {
        assert!(
            format("data.bin", b"\x7fELF\0\0,")
                .unwrap_err()
                .starts_with("data.bin: expected a JSON, JSONL, CSV, Parquet or Arrow")
        );
        assert!(format("data", b" \n").unwrap_err().starts_with("data: the dataset is empty"));
        assert!(format("data", b"\xff\xfea").unwrap_err().contains("UTF-16"));
    }
}
