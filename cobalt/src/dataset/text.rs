//! Shared by the text formats: detection of the encoding by the byte order mark, and the callback for each item.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use cobalt_core::item::Item;

use super::DatasetError;

/// Drops a UTF-8 byte order mark, and tells its length; refuses the marks of other encodings.
pub fn skip_bom<R: BufRead>(
    mut reader: R,
    file: &str,
) -> Result<(impl BufRead + use<R>, usize), DatasetError> {
    let mut start = Vec::with_capacity(4);
    reader.by_ref().take(4).read_to_end(&mut start).map_err(|error| DatasetError::read(file, error))?;
    let mark =
        bom_length(&start).map_err(|encoding| DatasetError::Encoding { file: file.to_owned(), encoding })?;
    let mut start = Cursor::new(start);
    start.set_position(mark as u64);
    Ok((start.chain(reader), mark))
}

/// The length of the UTF-8 byte order mark, 0 without one, or the name of the encoding that is not UTF-8.
pub fn bom_length(start: &[u8]) -> Result<usize, &'static str> {
    match start {
        [0xef, 0xbb, 0xbf, ..] => Ok(3),
        [0xff, 0xfe, 0, 0, ..] => Err("UTF-32 (little endian)"),
        [0, 0, 0xfe, 0xff, ..] => Err("UTF-32 (big endian)"),
        [0xff, 0xfe, ..] => Err("UTF-16 (little endian)"),
        [0xfe, 0xff, ..] => Err("UTF-16 (big endian)"),
        _ => Ok(0),
    }
}

/// Called for each element: the line that it starts on, and the item or what is wrong with it. An error stops the
/// reading.
pub type OnElement<'t> = &'t mut dyn FnMut(usize, Result<Item, String>) -> Result<(), DatasetError>;

/// Collects the items of a JSON file. The first element that is not an item is an error, with its index.
pub fn collect_items(
    file: &str,
    each: impl FnOnce(OnElement<'_>) -> Result<(), DatasetError>,
) -> Result<Vec<Item>, DatasetError> {
    let mut items = Vec::new();
    each(&mut |line, item| {
        let reason =
            |reason| DatasetError::malformed(file, line, format!("{reason} (items[{}])", items.len()));
        items.push(item.map_err(reason)?);
        Ok(())
    })?;
    Ok(items)
}

/// The decompressed content of a file.
pub struct Content {
    /// The first bytes, already read.
    pub head: Vec<u8>,
    pub rest: Rest,
}

/// The rest of the content.
pub enum Rest {
    /// Directly from the file.
    File(File),
    /// From a decoder.
    Decompressed(Box<dyn Read>),
}

impl Content {
    /// The whole content.
    pub fn text(self) -> impl BufRead {
        BufReader::new(Cursor::new(self.head).chain(self.rest))
    }
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Rest::File(file) => file.read(buffer),
            Rest::Decompressed(reader) => reader.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<u8>, DatasetError> {
        let mut rest = Vec::new();
        skip_bom(bytes, "f")?.0.read_to_end(&mut rest).unwrap();
        Ok(rest)
    }

    #[test]
    fn a_utf_8_mark_is_dropped_once() {
        assert_eq!(read(b"\xef\xbb\xbf[]").unwrap(), b"[]");
        assert_eq!(read(b"\xef\xbb\xbf").unwrap(), b"");
        assert_eq!(read(b"\xef\xbb\xbf\xef\xbb\xbf[]").unwrap(), b"\xef\xbb\xbf[]");
    }

    #[test]
    fn text_without_a_mark_is_left_alone() {
        for text in [&b""[..], b"a", b"ab", b"abc", b"abcdefgh", b"\xef\xbbx"] {
            assert_eq!(read(text).unwrap(), text);
        }
    }

    #[test]
    fn another_encoding_is_named() {
        for (bytes, encoding) in [
            (&b"\xff\xfe[\0"[..], "UTF-16 (little endian)"),
            (b"\xfe\xff\0[", "UTF-16 (big endian)"),
            (b"\xff\xfe\0\0", "UTF-32 (little endian)"),
            (b"\0\0\xfe\xff", "UTF-32 (big endian)"),
        ] {
            let message = read(bytes).unwrap_err().to_string();
            assert_eq!(message, format!("f: expected UTF-8, found {encoding}; save the file as UTF-8"));
        }
    }
}
