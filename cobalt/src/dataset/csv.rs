//! CSV according to RFC 4180, strictly: violations are errors with a line number; nothing is guessed.

use std::collections::HashMap;
use std::io::BufRead;
use std::ops::Range;

use cobalt_core::item::Item;
use cobalt_core::wording::count;
use serde_json::Value;

use super::text::OnElement;
use super::{DatasetError, text};

/// Parses a header and a row per item; `delimiter` is `b','`, or `b'\t'` for tab-separated values.
#[doc(hidden)]
pub fn parse_csv(reader: impl BufRead, file: &str, delimiter: u8) -> Result<Vec<Item>, DatasetError> {
    let mut items = Vec::new();
    each_row(reader, file, delimiter, &mut |line, item| {
        items.push(item.map_err(|reason| DatasetError::malformed(file, line, reason))?);
        Ok(())
    })?;
    Ok(items)
}

/// The records of a text, the header first: the byte range of each, including the end of its line, and its fields.
#[doc(hidden)]
pub fn csv_records(
    text: &str,
    file: &str,
    delimiter: u8,
) -> impl Iterator<Item = Result<(Range<usize>, Vec<String>), DatasetError>> {
    let start = text::bom_length(text.as_bytes()).unwrap_or(0);
    let mut records = Records::new(&text.as_bytes()[start..], file, delimiter);
    std::iter::from_fn(move || {
        let record = records.next().transpose()?;
        Some(record.map(|record| (record.start + start..records.read + start, record.fields)))
    })
}

/// Passes on each row. After an invalid row, continues with the next line.
pub fn each_row(
    reader: impl BufRead,
    file: &str,
    delimiter: u8,
    take: OnElement<'_>,
) -> Result<(), DatasetError> {
    let mut records = Records::new(text::skip_bom(reader, file)?.0, file, delimiter);
    let Some(header) = records.next()? else {
        return Err(DatasetError::empty(file, "the file is blank"));
    };
    check_header(&header).map_err(|reason| DatasetError::malformed(file, header.line, reason))?;
    let names = header.fields;
    let mut is_empty = true;
    loop {
        match records.next() {
            Ok(None) if is_empty => return Err(DatasetError::empty(file, "it has a header but no rows")),
            Ok(None) => return Ok(()),
            Ok(Some(row)) if row.fields.len() != names.len() => {
                take(row.line, Err(wrong_field_count(&row, &names)))?
            }
            Ok(Some(row)) => {
                let fields = row.fields.into_iter().map(Value::String);
                take(row.line, Ok(names.iter().cloned().zip(fields).collect()))?;
            }
            Err(DatasetError::Malformed { line, reason, .. }) => take(line, Err(reason))?,
            Err(error) => return Err(error),
        }
        is_empty = false;
    }
}

fn check_header(header: &Record) -> Result<(), String> {
    let mut columns = HashMap::with_capacity(header.fields.len());
    for (column, name) in header.fields.iter().enumerate() {
        if name.trim().is_empty() {
            return Err(format!("expected a name for column {} in the header, found none", column + 1));
        }
        if let Some(first) = columns.insert(name, column) {
            let (first, second) = (first + 1, column + 1);
            return Err(format!(
                "expected different names in the header, found `{name}` in columns {first} and {second}"
            ));
        }
    }
    Ok(())
}

fn wrong_field_count(row: &Record, names: &[String]) -> String {
    format!(
        "expected {} as in the header, found {}; put quotes around a field that contains a comma, a quote or a line \
        break",
        count(names.len(), "field"),
        count(row.fields.len(), "field")
    )
}

/// One record: the header or a row.
struct Record {
    /// The line that it starts on, counted from 1.
    line: usize,
    /// The byte offset of that line.
    start: usize,
    fields: Vec<String>,
}

/// Splits a text into records, holding one line in memory at a time.
struct Records<'f, R> {
    reader: R,
    file: &'f str,
    delimiter: u8,
    /// The line number of `text`, counted from 1.
    line: usize,
    /// The current line including its end; the buffer is reused.
    text: Vec<u8>,
    /// The current position in `text`.
    at: usize,
    /// How many bytes were read from the reader.
    read: usize,
}

impl<'f, R: BufRead> Records<'f, R> {
    fn new(reader: R, file: &'f str, delimiter: u8) -> Self {
        Records { reader, file, delimiter, line: 0, text: Vec::new(), at: 0, read: 0 }
    }

    /// The next record; empty lines are skipped.
    fn next(&mut self) -> Result<Option<Record>, DatasetError> {
        loop {
            if !self.next_line()? {
                return Ok(None);
            }
            if self.end() > 0 {
                break;
            }
        }
        let (line, start) = (self.line, self.read - self.text.len());
        let mut fields = Vec::new();
        loop {
            let bytes = match self.text.get(self.at) {
                Some(b'"') => self.quoted()?,
                _ => self.unquoted()?,
            };
            let field = String::from_utf8(bytes).map_err(|_| {
                self.malformed(
                    line,
                    format!("expected UTF-8, found another encoding in column {}", fields.len() + 1),
                )
            })?;
            fields.push(field);
            if self.at >= self.end() {
                return Ok(Some(Record { line, start, fields }));
            }
            self.at += 1;
        }
    }

    fn next_line(&mut self) -> Result<bool, DatasetError> {
        self.text.clear();
        self.at = 0;
        self.line += 1;
        match self.reader.read_until(b'\n', &mut self.text) {
            Ok(count) => {
                self.read += count;
                Ok(count > 0)
            }
            Err(error) => Err(DatasetError::read(self.file, error)),
        }
    }

    /// The length of the line without its LF or CRLF.
    fn end(&self) -> usize {
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        text.strip_suffix(b"\r").unwrap_or(text).len()
    }

    /// Reads an unquoted field, up to a delimiter or the end of the line.
    fn unquoted(&mut self) -> Result<Vec<u8>, DatasetError> {
        let rest = &self.text[self.at..self.end()];
        let length = rest.iter().position(|byte| *byte == self.delimiter).unwrap_or(rest.len());
        let field = rest[..length].to_vec();
        if field.contains(&b'"') {
            let reason = "unexpected quote in an unquoted field; put quotes around the whole field, and double each \
            quote in it";
            return Err(self.malformed(self.line, reason));
        }
        if field.contains(&b'\r') {
            let reason = "expected lines that end in LF or CRLF, found a lone carriage return";
            return Err(self.malformed(self.line, reason));
        }
        self.at += length;
        Ok(field)
    }

    /// Reads a quoted field, which may span lines, up to and including its closing quote.
    fn quoted(&mut self) -> Result<Vec<u8>, DatasetError> {
        let opened = self.line;
        let mut field = Vec::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
                field.extend_from_slice(rest);
                if !self.next_line()? {
                    return Err(self.malformed(
                        opened,
                        "expected a closing quote for the field that starts on this line",
                    ));
                }
                continue;
            };
            field.extend_from_slice(&rest[..length]);
            self.at += length + 1;
            match self.text.get(self.at) {
                Some(b'"') => {
                    field.push(b'"');
                    self.at += 1;
                }
                Some(byte) if self.at < self.end() && *byte != self.delimiter => {
                    let reason = "expected the end of the field after a closing quote, found more text; double each \
                    quote in a quoted field";
                    return Err(self.malformed(self.line, reason));
                }
                _ => return Ok(field),
            }
        }
    }

    fn malformed(&self, line: usize, reason: impl Into<String>) -> DatasetError {
        DatasetError::malformed(self.file, line, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn read(text: &str) -> Vec<Item> {
        parse_csv(text.as_bytes(), "data.csv", b',').unwrap()
    }

    fn fails(text: &[u8]) -> String {
        parse_csv(text, "data.csv", b',').unwrap_err().to_string()
    }

    #[test]
    fn rows_are_items_of_strings_under_the_names_of_the_header() {
        assert_eq!(
            read("id,n\na,1\nb,02.0\n"),
            [item! { "id": "a", "n": "1" }, item! { "id": "b", "n": "02.0" }]
        );
    }

    #[test]
    fn line_breaks_commas_and_doubled_quotes_live_in_quoted_fields() {
        assert_eq!(
            read("q,a\n\"two\nlines, and \"\"quotes\"\"\",\"\r\n\"\n\"\"\"\",\"\"\"x\"\n"),
            [item! { "q": "two\nlines, and \"quotes\"", "a": "\r\n" }, item! { "q": "\"", "a": "\"x" }]
        );
    }

    #[test]
    fn a_record_lies_from_its_first_line_to_the_end_of_its_last() {
        let text = "\u{feff}\r\nq,a\r\n\n\"two\nlines\",\"\"\"\"\r\n\nlast,";
        let records: Vec<_> = csv_records(text, "data.csv", b',').map(Result::unwrap).collect();
        let texts: Vec<_> = records.iter().map(|(place, _)| &text[place.clone()]).collect();
        assert_eq!(texts, ["q,a\r\n", "\"two\nlines\",\"\"\"\"\r\n", "last,"]);
        assert_eq!(records[1].1, ["two\nlines", "\""]);
        assert_eq!(csv_records("\n", "data.csv", b',').count(), 0);
    }

    #[test]
    fn the_last_line_may_lack_its_end() {
        assert_eq!(read("a,b\n1,2"), read("a,b\n1,2\n"));
        assert_eq!(read("a,b\n1,\"2\""), read("a,b\n1,2\n"));
        assert_eq!(read("a,b\n1,"), [item! { "a": "1", "b": "" }]);
    }

    #[test]
    fn crlf_a_mark_and_blank_lines_are_passed_over() {
        assert_eq!(read("\u{feff}\"a\",b\r\n\r\n1,2\r\n\n"), [item! { "a": "1", "b": "2" }]);
    }

    #[test]
    fn an_empty_field_in_quotes_is_no_blank_line() {
        assert_eq!(read("a\n\"\"\n\nx\n"), [item! { "a": "" }, item! { "a": "x" }]);
    }

    #[test]
    fn spaces_are_part_of_a_field() {
        assert_eq!(read("a, b\n 1 ,\" 2 \"\n"), [item! { "a": " 1 ", " b": " 2 " }]);
    }

    #[test]
    fn tabs_may_be_the_delimiter() {
        let items = parse_csv(&b"a\tb\n1,5\t\"2\t3\"\n"[..], "data.tsv", b'\t').unwrap();
        assert_eq!(items, [item! { "a": "1,5", "b": "2\t3" }]);
    }

    #[test]
    fn a_repeated_or_missing_name_in_the_header_is_refused() {
        assert_eq!(
            fails(b"a,b,a\n1,2,3\n"),
            "data.csv:1: expected different names in the header, found `a` in columns 1 and 3"
        );
        assert_eq!(
            fails(b"\na,,c\n1,2,3\n"),
            "data.csv:2: expected a name for column 2 in the header, found none"
        );
        assert_eq!(
            fails(b"a, \n1,2\n"),
            "data.csv:1: expected a name for column 2 in the header, found none"
        );
    }

    #[test]
    fn a_ragged_row_is_refused_with_the_line_it_begins_on() {
        let message = fails(b"a,b\n\"1\n2\n3\",4\n5\n");
        assert!(
            message.starts_with("data.csv:5: expected 2 fields as in the header, found 1 field; "),
            "{message}"
        );
        assert!(
            fails(b"a\n\"1\n2\",3\n")
                .starts_with("data.csv:2: expected 1 field as in the header, found 2 fields")
        );
    }

    #[test]
    fn a_stray_quote_is_refused_with_its_line() {
        assert!(fails(b"a,b\n1,2\"3\n").starts_with("data.csv:2: unexpected quote in an unquoted field"));
        assert!(fails(b"a,b\n1, \"2\"\n").starts_with("data.csv:2: unexpected quote in an unquoted field"));
        assert!(fails(b"a,b\n1,\"2\n\"3\n").starts_with("data.csv:3: expected the end of the field"));
        assert!(fails(b"a,b\n1,\"2\" \n").starts_with("data.csv:2: expected the end of the field"));
    }

    #[test]
    fn an_open_quote_is_refused_with_the_line_it_opens_on() {
        assert!(fails(b"a,b\n1,\"2\n3,4\n5,6\n").starts_with("data.csv:2: expected a closing quote"));
        assert!(fails(b"a,b\n1,\"").starts_with("data.csv:2: expected a closing quote"));
    }

    #[test]
    fn a_carriage_return_by_itself_is_refused() {
        assert!(fails(b"a,b\r1,2\r3,4").starts_with("data.csv:1: expected lines that end in LF or CRLF"));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused_with_line_and_column() {
        assert_eq!(
            fails(b"a,b\n1,caf\xe9\n"),
            "data.csv:2: expected UTF-8, found another encoding in column 2"
        );
    }

    #[test]
    fn a_file_without_rows_is_an_error() {
        for text in [&b""[..], b"\n\r\n", b"a,b\n", b"a,b\r\n\r\n"] {
            assert!(fails(text).starts_with("data.csv: the dataset is empty"), "{}", fails(text));
        }
    }

    #[test]
    fn the_time_to_read_a_header_grows_with_its_columns() {
        let text = |columns: usize| {
            let header: Vec<_> = (0..columns).map(|n| format!("column {n}")).collect();
            format!("{}\n{}\n", header.join(","), vec!["1"; columns].join(","))
        };
        let texts = [10_000, 40_000].map(|columns| (columns, text(columns)));
        let took = || {
            texts.each_ref().map(|(columns, text)| {
                let started = std::time::Instant::now();
                assert_eq!(read(text)[0].len(), *columns);
                started.elapsed()
            })
        };
        // Other programs may slow down some rounds.
        let is_in_proportion = |[few, many]: [std::time::Duration; 2]| many < few * 8;
        assert!(
            (0..5).any(|_| is_in_proportion(took())),
            "4 times the columns take more than 8 times as long"
        );
    }
}
