//! Truncates texts and JSON to a byte budget, measures them, and divides a budget.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

/// The smallest truncated size. A value with too many parts for this becomes a text.
const MIN_SIZE: usize = 60;
/// The longest name of a field.
const LONGEST_NAME: usize = 100;
/// The longest sentence, in bytes.
pub const LONGEST_SENTENCE: usize = 600;
/// The field of an object that holds the fields that did not fit, as JSON text.
const OVERFLOW_FIELD: &str = "…";

/// The text in at most `room` bytes, with a note on how much was cut.
pub fn text(text: &str, room: usize) -> String {
    if size_up_to(text, room) <= room {
        return text.to_owned();
    }
    let mark = |left: usize| format!("… [cut: {left} more characters]");
    let characters = text.chars().count();
    let mut left = room.saturating_sub(size(&mark(characters)));
    let fits = |character: &char| match left.checked_sub(escaped_size(*character)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let beginning: String = text.chars().take_while(fits).collect();
    let cut = characters - beginning.chars().count();
    beginning + &mark(cut)
}

/// The size of a character in a JSON string inside a JSON string.
fn escaped_size(character: char) -> usize {
    match character {
        '"' | '\\' => 4,
        '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 3,
        '\0'..='\u{1f}' => 7,
        other => other.len_utf8(),
    }
}

/// The value in at most `room` bytes: its texts are cut or, if too little of each would remain, it becomes a cut text of its JSON.
pub fn value(value: Value, room: usize) -> Value {
    let room = room.max(MIN_SIZE);
    if size_up_to(&value, room) <= room {
        return value;
    }
    match value {
        Value::String(content) => text(&content, room).into(),
        Value::Array(elements) => match shares_of(elements.iter(), elements.len() + 2, room) {
            Some(shares) => {
                elements.into_iter().zip(shares).map(|(it, room)| self::value(it, room)).collect()
            }
            None => text(&Value::Array(elements).to_string(), room).into(),
        },
        Value::Object(fields) => match field_shares(&fields, room) {
            Some(shares) => cut_fields(fields, shares).into(),
            None => text(&Value::Object(fields).to_string(), room).into(),
        },
        // No number is as long.
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Like [`value`], but the result is an object.
pub fn object(fields: Map<String, Value>, room: usize) -> Map<String, Value> {
    if size_up_to(&fields, room) <= room {
        return fields;
    }
    match field_shares(&fields, room) {
        Some(shares) => cut_fields(fields, shares),
        None => {
            let around = size(&Map::from_iter([(OVERFLOW_FIELD.to_owned(), Value::Null)]));
            let json = Value::Object(fields).to_string();
            Map::from_iter([(OVERFLOW_FIELD.to_owned(), text(&json, room.saturating_sub(around)).into())])
        }
    }
}

fn field_shares(fields: &Map<String, Value>, room: usize) -> Option<Vec<usize>> {
    let names = fields.keys().map(|name| size(name) + 2).sum::<usize>();
    let is_named_short = fields.keys().all(|name| name.len() <= LONGEST_NAME);
    is_named_short.then(|| shares_of(fields.values(), names + 2, room)).flatten()
}

/// The room for each part, or `None` if it is too little.
fn shares_of<'a>(parts: impl Iterator<Item = &'a Value>, around: usize, room: usize) -> Option<Vec<usize>> {
    let sizes: Vec<_> = parts.map(|part| size_up_to(part, room)).collect();
    let shares = divide(&sizes, room.checked_sub(around)?);
    let is_enough = sizes.iter().zip(&shares).all(|(size, share)| share >= size || *share >= MIN_SIZE);
    is_enough.then_some(shares)
}

fn cut_fields(fields: Map<String, Value>, shares: Vec<usize>) -> Map<String, Value> {
    fields.into_iter().zip(shares).map(|((name, field), room)| (name, value(field, room))).collect()
}

/// The size in bytes of a value as JSON inside a JSON string, as clients of older protocol versions get it; for newer clients
/// it is smaller.
pub fn size(value: &(impl Serialize + ?Sized)) -> usize {
    size_up_to(value, usize::MAX)
}

/// Like [`size`] up to `most`; else any larger number. Stops early on huge values.
pub fn size_up_to(value: &(impl Serialize + ?Sized), most: usize) -> usize {
    let mut counter = Counter { counted: 0, most };
    // Fails when the count exceeds `most`; a value that cannot be serialized is never sent.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.counted
}

struct Counter {
    counted: usize,
    most: usize,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.counted += bytes.len();
        if self.counted <= self.most {
            self.counted += bytes.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        }
        if self.counted > self.most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Divides room among parts of these sizes: small parts get their whole size, large ones equal shares.
pub fn divide(sizes: &[usize], room: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..sizes.len()).collect();
    places.sort_by_key(|place| sizes[*place]);
    let (mut left, mut shares) = (room, vec![0; sizes.len()]);
    for (given, place) in places.into_iter().enumerate() {
        shares[place] = sizes[place].min(left / (sizes.len() - given));
        left -= shares[place];
    }
    shares
}

/// Keeps the first elements that fit, and notes how many do not.
pub fn keep_fitting<T: Serialize>(
    elements: &mut Vec<T>,
    room: usize,
    what: &str,
    left_out: &mut Vec<String>,
) {
    let (mut taken, all) = (0, elements.len());
    let fits = |element: &T| {
        taken += size(element) + 1;
        taken <= room
    };
    elements.truncate(elements.iter().map(fits).take_while(|fits| *fits).count());
    if elements.len() < all {
        left_out.push(format!("{what}: {} of {all}", all - elements.len()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_size_is_that_of_json_in_a_string() {
        for value in [json!("a\"b\\c\n\u{1}é"), json!({ "a": [1, null] }), json!("\u{7f}\u{2028}")] {
            let within = serde_json::to_string(&value.to_string()).unwrap();
            assert_eq!(size(&value), within.len() - 2, "{value}");
        }
    }

    #[test]
    fn a_size_is_counted_up_to_a_limit() {
        for value in [json!("a\"b"), json!(["a", { "b": "\"\"" }])] {
            let size = size(&value);
            assert_eq!((size_up_to(&value, size), size_up_to(&value, size + 1)), (size, size));
            assert!((1..size).all(|most| size_up_to(&value, most) > most));
        }
    }

    #[test]
    fn small_parts_get_their_size_and_large_ones_equal_shares() {
        assert_eq!(divide(&[10, 500, 900], 210), [10, 100, 100]);
        assert_eq!(divide(&[10, 20], 100), [10, 20]);
        assert_eq!(divide(&[], 100), [0; 0]);
    }

    #[test]
    fn a_cut_text_says_how_much_is_missing() {
        assert_eq!(text("short", 20), "short");
        let long = "é".repeat(1000);
        let cut = text(&long, 200);
        let kept = cut.chars().take_while(|character| *character == 'é').count();
        assert_eq!(cut, format!("{}… [cut: {} more characters]", "é".repeat(kept), 1000 - kept));
        assert!(size(&cut) <= 200 && size(&cut) > 190);
    }

    #[test]
    fn control_characters_count_as_they_are_escaped() {
        for character in ["\u{1}", "\"", "\\", "\n", "質", "\u{1f600}"] {
            let cut = text(&character.repeat(10_000), 500);
            assert!(size(&cut) <= 500 && size(&cut) > 480, "{character:?}: {}", size(&cut));
        }
    }

    #[test]
    fn long_nested_texts_are_cut_and_short_ones_stay() {
        let whole = json!({ "question": "why?", "document": "x".repeat(5000), "sources": [{ "text": "y".repeat(5000), "page": 3 }] });
        let cut = value(whole, 1000);
        assert_eq!(cut["question"], "why?");
        assert_eq!(cut["sources"][0]["page"], 3);
        assert!(cut["document"].as_str().unwrap().contains("… [cut: 4"));
        assert!(cut["sources"][0]["text"].as_str().unwrap().contains("… [cut: 4"));
        assert!(size(&cut) <= 1000);
    }

    #[test]
    fn a_value_with_too_many_parts_becomes_a_text_of_its_json() {
        let whole: Map<_, _> =
            (0..5000).map(|number| (format!("field-{number}"), json!("0123456789"))).collect();
        let cut = value(whole.clone().into(), 400);
        assert!(cut.as_str().unwrap().starts_with(r#"{"field-0":"0123456789","#), "{cut}");
        let cut = object(whole, 400);
        assert!(cut["…"].as_str().unwrap().starts_with(r#"{"field-0""#));
        assert!(size(&cut) <= 400);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,400}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 64, 12, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
                prop::collection::btree_map(".{0,130}", inner, 0..12)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_takes_more_than_its_room(whole in json(), room in 100_usize..2000) {
            let cut = value(whole, room);
            prop_assert!(size(&cut) <= room, "{} of {room}: {cut}", size(&cut));
        }
    }
}
