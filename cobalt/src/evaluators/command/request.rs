//! What a program is asked: an execution as a line of JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use crate::dataset::Item;
use crate::evaluators::EvalContext;

/// Goes up when a program that was written for the version before could not read a request any more. A field that is
/// added is no such change.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    version: u32,
    id: u64,
    evaluator: &'a str,
    item: &'a Item,
    output: &'a Value,
    metadata: &'a Item,
    key: &'a str,
    index: usize,
    run_index: usize,
}

/// A request, as a program reads it.
#[derive(Debug)]
pub(super) struct Request {
    /// Its number, which an answer may repeat.
    pub(super) id: u64,
    /// With the line break at its end.
    pub(super) line: Vec<u8>,
}

impl Request {
    /// The request for an evaluator of this name.
    ///
    /// # Errors
    ///
    /// Never for what JSON can hold, which is all that items and outputs are made of.
    pub(super) fn new(id: u64, cx: &EvalContext, evaluator: &str) -> Result<Self, serde_json::Error> {
        let fields = Fields {
            version: VERSION,
            id,
            evaluator,
            item: cx.item(),
            output: cx.output(),
            metadata: cx.metadata(),
            key: cx.key(),
            index: cx.index(),
            run_index: cx.run_index(),
        };
        let mut line = Vec::new();
        fields.serialize(&mut Serializer::with_formatter(&mut line, Ascii))?;
        line.push(b'\n');
        Ok(Self { id, line })
    }
}

/// Escapes what is not ASCII. So no program reads it in another encoding than was meant, and none takes one of the
/// further line separators of Unicode for the end of the line, as readers of lines in some languages do.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| !letter.is_ascii()) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + letter.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experiment::Output;

    #[test]
    fn a_request_is_one_line_of_ascii_that_reads_as_what_was_meant() {
        let text = "Grüße\n質問 \u{2028}\u{85} 🚲 \"quoted\" \\ \u{7f}";
        let cx = EvalContext::new(crate::item! { text: text }, Output::new(text).metadata("model", "m"));
        let Request { line, .. } = Request::new(7, &cx, "bridge").unwrap();
        assert!(line.is_ascii());
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        assert_eq!(
            serde_json::from_slice::<Value>(&line).unwrap(),
            json!({
                "version": 1, "id": 7, "evaluator": "bridge", "item": { text: text }, "output": text,
                "metadata": { "model": "m" }, "key": "", "index": 0, "runIndex": 0,
            })
        );
    }
}
