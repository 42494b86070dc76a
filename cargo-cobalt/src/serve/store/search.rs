//! Full-text search in the items of a run.
//!
//! The bytes of an item are searched first; only an item that contains the text in any case is read, value by value.

use std::fmt;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use cobalt_core::redact::redacted_document;
use memchr::memmem::Finder;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Store;
use super::item_set::{ItemSet, Selection};
use super::loaded_run::LoadedRun;
use super::run_file::RunFileError;

impl Store {
    /// The items with a text in their key, input, outputs, errors, reasons, tool calls, metadata or
    /// transcript; case-insensitive.
    pub fn search(&self, run: &LoadedRun, text: &str) -> Result<Arc<ItemSet>, RunFileError> {
        let needle = Needle::new(text);
        self.selected(run, Selection::Search(needle.text.clone()), || {
            let found = self.scan_items(run, |item| needle.is_in_item(item))?;
            // The key of an item without an id is not in the file.
            Ok(found
                .into_iter()
                .zip(&run.items)
                .map(|(found, item)| found || needle.is_in(&item.key))
                .collect())
        })
    }
}

/// Whether a text contains a lower-case one, ignoring case.
pub fn contains_ignore_case(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(wanted)
}

/// A text to search for.
struct Needle {
    /// In lower case.
    text: String,
    /// Finds it in ASCII.
    finder: Option<AhoCorasick>,
    /// Finds the longest part of it that JSON does not escape.
    in_json: Option<AhoCorasick>,
    /// Characters outside ASCII that this part may have in an item.
    others: Vec<Finder<'static>>,
}

/// The characters outside ASCII whose lower case contains an ASCII letter: the Kelvin sign, and a capital I with a dot.
const ALMOST_ASCII: [(char, &str); 2] = [('k', "\u{212a}"), ('i', "\u{130}")];

impl Needle {
    fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        let is_plain = |c: char| c.is_ascii() && !c.is_ascii_control() && !matches!(c, '"' | '\\' | '/');
        let part = text.split(|c| !is_plain(c)).max_by_key(|part| part.len()).filter(|part| !part.is_empty());
        // Very long texts have no finder, and are searched for in every item.
        let finder = |text: &str| AhoCorasick::builder().ascii_case_insensitive(true).build([text]).ok();
        let others =
            ALMOST_ASCII.iter().filter(|(letter, _)| part.is_some_and(|part| part.contains(*letter)));
        Self {
            in_json: part.and_then(finder),
            others: others.map(|(_, other)| Finder::new(other)).collect(),
            finder: finder(&text).filter(|_| text.is_ascii()),
            text,
        }
    }

    /// Whether the bytes of an item may contain it. Most items are ruled out here.
    fn may_be_in(&self, item: &str) -> bool {
        self.in_json.as_ref().is_none_or(|finder| finder.is_match(item))
            || self.others.iter().any(|other| other.find(item.as_bytes()).is_some())
    }

    /// Whether a text contains it.
    fn is_in(&self, text: &str) -> bool {
        match &self.finder {
            Some(finder) if text.is_ascii() => finder.is_match(text),
            _ => contains_ignore_case(text, &self.text),
        }
    }

    /// Whether one of the texts of an item contains it.
    fn is_in_item(&self, item: &str) -> bool {
        if !self.may_be_in(item) {
            return false;
        }
        let item = redacted_document(item.as_bytes().to_vec());
        let mut is_found = false;
        let search = Search { needle: self, part: Part::Item, is_found: &mut is_found };
        // The search ends with an error where the text is found.
        let _ = search.deserialize(&mut serde_json::Deserializer::from_slice(&item));
        is_found
    }
}

/// A part of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The item, a trial or an attempt.
    Item,
    /// Evaluations by evaluator.
    Evaluations,
    Evaluation,
    Span,
    Tool,
    Transcript,
    Turn,
    /// All values are searched; the names of fields are not.
    Values,
}

impl Part {
    /// The part that a field has; `None` if it is not searched.
    fn field(self, name: &str) -> Option<Self> {
        Some(match (self, name) {
            (Self::Values, _) => Self::Values,
            (Self::Evaluations, _) => Self::Evaluation,
            (Self::Item, "key" | "input" | "output" | "error" | "metadata") => Self::Values,
            (Self::Item, "evaluations") => Self::Evaluations,
            (Self::Item, "trace") => Self::Span,
            (Self::Item, "transcript") => Self::Transcript,
            (Self::Item, "runs" | "retried") => Self::Item,
            (Self::Evaluation, "reason" | "chainOfThought" | "error" | "metadata") => Self::Values,
            (Self::Span, "tool") => Self::Tool,
            (Self::Span, "error") => Self::Values,
            (Self::Tool, "name" | "arguments" | "result" | "error") => Self::Values,
            (Self::Transcript, "turns") => Self::Turn,
            (Self::Turn, "message" | "reply" | "toolCalls" | "error") => Self::Values,
            _ => return None,
        })
    }
}

/// Searches a part of an item.
struct Search<'a> {
    needle: &'a Needle,
    part: Part,
    is_found: &'a mut bool,
}

impl Search<'_> {
    fn text<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        // Only values are searched; a list of parts has no other texts.
        if self.part == Part::Values && self.needle.is_in(text) {
            *self.is_found = true;
            return Err(E::custom("found"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of an item")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.text(if value { "true" } else { "false" })
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.text(&value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.text(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.text(&value.to_string())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let Self { needle, part, is_found } = self;
        while values.next_element_seed(Search { needle, part, is_found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { needle, part, is_found } = self;
        while let Some(FieldPart(field)) = fields.next_key_seed(part)? {
            match field {
                Some(part) => fields.next_value_seed(Search { needle, part, is_found })?,
                None => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The part that a field has.
struct FieldPart(Option<Part>);

impl<'de> DeserializeSeed<'de> for Part {
    type Value = FieldPart;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FieldPart, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Part {
    type Value = FieldPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<FieldPart, E> {
        Ok(FieldPart(self.field(name)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item() -> String {
        json!({
            "index": 0, "key": "greeting-1", "status": "ok",
            "input": { "question": "Where is my \"parcel\"?", "severity": 12, "urgent": true },
            "output": { "output": "Am Bahnhof in Köln", "metadata": { "region": "north", "tokens": { "input": 345 } } },
            "evaluations": { "tone": { "score": 0.25, "reason": "Too CURT", "chainOfThought": "step by step" } },
            "trace": [
                { "id": "span-7", "kind": "model", "model": { "asked": "gpt-4o", "input": "system prompt" } },
                { "id": "span-8", "kind": "tool", "tool": { "name": "lookup_order", "arguments": { "order": "A-17" }, "result": ["delayed"] } },
            ],
            "transcript": { "turns": [{ "message": "Good day", "reply": "Hello there", "toolCalls": ["find_shop"] }] },
            "runs": [{ "output": { "output": "second trial" }, "evaluations": {}, "error": "it timed out" }],
        })
        .to_string()
    }

    #[test]
    fn texts_of_an_item_are_found_in_any_case() {
        for text in [
            "GREETING",
            "my \"Parcel\"?",
            "12",
            "true",
            "köLN",
            "north",
            "345",
            "curt",
            "step by",
            "lookup_",
            "a-17",
            "delayed",
            "good day",
            "HELLO",
            "find_shop",
            "second",
            "timed out",
        ] {
            assert!(Needle::new(text).is_in_item(&item()), "{text}");
        }
    }

    #[test]
    fn names_of_fields_prompts_and_what_is_only_machinery_are_not_found() {
        for text in [
            "question",
            "severity",
            "span-7",
            "system prompt",
            "tone",
            "0.25",
            "latency",
            "nowhere",
            "gpt-4o",
        ] {
            assert!(!Needle::new(text).is_in_item(&item()), "{text}");
        }
    }

    #[test]
    fn letters_outside_ascii_are_found_as_their_lower_case() {
        let item = |text: &str| json!({ "input": { "text": text } }).to_string();
        assert!(Needle::new("273 kelvin").is_in_item(&item("273 \u{212a}elvin")));
        assert!(Needle::new("ÄRGER").is_in_item(&item("viel ärger")));
        assert!(Needle::new("a\\b/c").is_in_item(&item("A\\B/C")));
        assert!(!Needle::new("ärger").is_in_item(&item("arger")));
    }

    #[test]
    fn a_known_secret_cannot_be_guessed() {
        cobalt_core::redact::register_secret("SEARCH_KEY", "kn0wn-of-the-search");
        let item = json!({ "input": { "note": "it is kn0wn-of-the-search" } }).to_string();
        assert!(!Needle::new("kn0wn").is_in_item(&item));
        assert!(Needle::new("it is").is_in_item(&item));
    }
}
