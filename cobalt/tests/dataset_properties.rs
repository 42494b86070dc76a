//! Property tests for datasets.

use std::collections::HashSet;
use std::io::{BufReader, Read};

use cobalt::dataset::{parse_csv, parse_json, parse_jsonl};
use cobalt::{Dataset, DatasetError, Item, item};
use proptest::collection::{btree_map, hash_set, vec};
use proptest::prelude::*;
use serde_json::Value;

/// Texts with many characters that are special in the formats.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => any::<char>().prop_map(String::from),
        4 => "[ab ,;\t\"'\r\n{}:\\[\\]0-9]{0,4}",
        1 => Just("\r\n".to_owned()),
        1 => Just("\u{feff}".to_owned()),
    ];
    vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// Bytes that often resemble one of the formats.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let token = proptest::sample::select(vec![
        "{\"a\":",
        "1",
        "\"x\"",
        "}",
        "]",
        ",",
        "\n",
        "[",
        "{\"items\":[",
        "{}",
        "{\"a\":1}\n",
        " ",
        "null",
    ]);
    prop_oneof![
        vec(any::<u8>(), 0..200),
        vec(text(), 0..20).prop_map(|parts| parts.concat().into_bytes()),
        vec(token, 0..30).prop_map(|tokens| tokens.concat().into_bytes()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    vec(btree_map(text(), value(), 0..4).prop_map(|fields| fields.into_iter().collect()), 1..8)
}

/// A header with unique names, rows with as many fields, and how fields and lines are written.
#[derive(Clone, Debug)]
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    always_quote: bool,
    line_end: &'static str,
    last_line_end: bool,
    delimiter: char,
}

fn table() -> impl Strategy<Value = Table> {
    let name = || text().prop_filter("names are not blank", |name| !name.trim().is_empty());
    (1..5_usize).prop_flat_map(move |columns| {
        let style = (any::<bool>(), proptest::sample::select(vec!["\n", "\r\n"]), any::<bool>());
        let delimiter = proptest::sample::select(vec![',', '\t']);
        (hash_set(name(), columns), vec(vec(text(), columns), 1..6), style, delimiter).prop_map(
            |(names, rows, (always_quote, line_end, last_line_end), delimiter)| Table {
                names: names.into_iter().collect(),
                rows,
                always_quote,
                line_end,
                last_line_end,
                delimiter,
            },
        )
    })
}

impl Table {
    /// Writes the table by RFC 4180.
    fn write(&self) -> String {
        let delimiter = self.delimiter.to_string();
        let line = |fields: &Vec<String>| {
            let fields: Vec<_> = fields.iter().map(|field| self.write_field(field, fields.len())).collect();
            fields.join(&delimiter) + self.line_end
        };
        let mut text: String = std::iter::once(&self.names).chain(&self.rows).map(line).collect();
        if !self.last_line_end {
            text.truncate(text.len() - self.line_end.len());
        }
        text
    }

    fn write_field(&self, field: &str, columns: usize) -> String {
        // A byte order mark at the start would belong to the file, and a single empty field would be a blank line.
        let special =
            |character| matches!(character, '"' | '\r' | '\n' | '\u{feff}') || character == self.delimiter;
        if self.always_quote || field.contains(special) || (field.is_empty() && columns == 1) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.to_owned()
        }
    }

    fn items(&self) -> Vec<Item> {
        let value = |field: &String| Value::from(field.as_str());
        self.rows.iter().map(|row| self.names.iter().cloned().zip(row.iter().map(value)).collect()).collect()
    }
}

/// A reader that returns one byte at a time.
struct Trickle<'b>(&'b [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

fn trickle(bytes: &[u8]) -> BufReader<Trickle<'_>> {
    BufReader::with_capacity(1, Trickle(bytes))
}

/// The outcome with errors as text, for comparison.
fn outcome(parsed: Result<Vec<Item>, DatasetError>) -> Result<Vec<Item>, String> {
    parsed.map_err(|error| error.to_string())
}

fn numbers(dataset: &Dataset) -> Vec<usize> {
    dataset.iter().map(|item| item["n"].as_u64().unwrap() as usize).collect()
}

fn numbered(count: usize) -> Dataset {
    (0..count).map(|n| item! { "n": n }).collect()
}

fn with_mark(mark: bool, text: &str) -> String {
    format!("{}{text}", if mark { "\u{feff}" } else { "" })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_parser_panic_or_give_an_empty_data_set(bytes in bytes()) {
        for parsed in [
            parse_json(&bytes[..], "f"),
            parse_jsonl(&bytes[..], "f"),
            parse_csv(&bytes[..], "f", b','),
            parse_csv(&bytes[..], "f", b'\t'),
        ] {
            match parsed {
                Ok(items) => prop_assert!(!items.is_empty()),
                Err(error) => prop_assert!(error.to_string().starts_with('f')),
            }
        }
    }

    #[test]
    fn how_the_bytes_arrive_does_not_matter(bytes in bytes()) {
        prop_assert_eq!(outcome(parse_json(&bytes[..], "f")), outcome(parse_json(trickle(&bytes), "f")));
        prop_assert_eq!(outcome(parse_jsonl(&bytes[..], "f")), outcome(parse_jsonl(trickle(&bytes), "f")));
        prop_assert_eq!(outcome(parse_csv(&bytes[..], "f", b',')), outcome(parse_csv(trickle(&bytes), "f", b',')));
    }

    #[test]
    fn a_line_that_an_error_names_is_in_the_text(bytes in bytes()) {
        let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
        for parsed in [parse_json(&bytes[..], "f"), parse_jsonl(&bytes[..], "f"), parse_csv(&bytes[..], "f", b',')] {
            if let Err(DatasetError::Malformed { line, .. }) = parsed {
                prop_assert!((1..=lines).contains(&line), "line {} of {}", line, lines);
            }
        }
    }

    #[test]
    fn a_table_written_by_rfc_4180_reads_back(table in table(), mark: bool) {
        let text = with_mark(mark, &table.write());
        prop_assert_eq!(parse_csv(text.as_bytes(), "f", table.delimiter as u8).unwrap(), table.items());
    }

    #[test]
    fn json_reads_back(items in items(), pretty: bool, wrapped: bool, mark: bool) {
        let document = if wrapped { serde_json::json!({ "items": items }) } else { serde_json::json!(items) };
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
        let text = with_mark(mark, &text.unwrap());
        prop_assert_eq!(parse_json(text.as_bytes(), "f").unwrap(), items);
    }

    #[test]
    fn jsonl_reads_back(items in items(), line_end in "\r?\n", blank in "[ \t]{0,2}", mark: bool) {
        let line = |item| format!("{}{line_end}{blank}{line_end}", serde_json::to_string(item).unwrap());
        let text = with_mark(mark, &items.iter().map(line).collect::<String>());
        prop_assert_eq!(parse_jsonl(text.as_bytes(), "f").unwrap(), items);
    }

    #[test]
    fn the_hash_and_the_keys_outlive_writing_and_reading(items in items()) {
        let text = serde_json::to_string(&items).unwrap();
        let read = Dataset::from_items(parse_json(text.as_bytes(), "f").unwrap());
        let made = Dataset::from_items(items);
        prop_assert_eq!(read.hash(), made.hash());
        prop_assert_eq!(read.keys(), made.keys());
    }

    #[test]
    fn keys_and_names_of_cases_are_all_different(
        ids in vec(proptest::option::of(prop_oneof![text(), "[ab](-[23]){0,2}", "0{0,3}[0-9]"]), 0..40),
    ) {
        let dataset: Dataset = ids.iter().map(|id| item! { "id": id }).collect();
        for names in [dataset.keys(), dataset.case_keys()] {
            prop_assert_eq!(names.len(), dataset.len());
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), dataset.len(), "{:?}", names);
        }
        for name in dataset.case_keys() {
            prop_assert!(!name.is_empty() && !name.contains(char::is_whitespace) && !name.contains(':'), "{}", name);
        }
    }

    #[test]
    fn a_sample_is_drawn_from_the_items_without_repeats(count in 0..200_usize, n in 0..250_usize, seed: u64) {
        let dataset = numbered(count);
        let drawn = numbers(&dataset.clone().sample_with_seed(n, seed));
        prop_assert_eq!(drawn.len(), n.min(count));
        prop_assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
        prop_assert!(drawn.iter().all(|number| *number < count));
        prop_assert_eq!(&drawn, &numbers(&dataset.clone().sample_with_seed(n, seed)));
        prop_assert_eq!(&drawn, &numbers(&dataset.sample_with_seed(count, seed).slice(..n)));
    }

    #[test]
    fn a_slice_is_what_the_range_takes_of_a_list(count in 0..20_usize, start in 0..25_usize, length in 0..25_usize) {
        let expected: Vec<_> = (0..count).skip(start).take(length).collect();
        prop_assert_eq!(numbers(&numbered(count).slice(start..start + length)), expected);
    }
}

#[test]
fn a_text_is_read_no_further_than_its_first_fault() {
    let without_end = |start: &'static str| BufReader::new(start.as_bytes().chain(std::io::repeat(b'x')));
    assert!(parse_json(without_end("[{}, []"), "f").unwrap_err().to_string().contains("items[1]"));
    assert!(parse_jsonl(without_end("{}\n1\n"), "f").unwrap_err().to_string().contains("items[1]"));
    assert!(parse_csv(without_end("a,b\n1\n"), "f", b',').unwrap_err().to_string().starts_with("f:2: "));
}

/// The original sorted with a random comparison, which favours some items and positions.
#[test]
fn every_item_is_drawn_as_often_at_every_place() {
    const ITEMS: usize = 10;
    const DRAWN: usize = 4;
    const ROUNDS: u64 = 20_000;
    let dataset = numbered(ITEMS);
    let mut places = [[0_u32; ITEMS]; DRAWN];
    let mut pairs = [0_u32; ITEMS * ITEMS];
    for seed in 0..ROUNDS {
        let drawn = numbers(&dataset.clone().sample_with_seed(DRAWN, seed));
        for (place, number) in drawn.iter().enumerate() {
            places[place][*number] += 1;
        }
        pairs[drawn[0] * ITEMS + drawn[1]] += 1;
    }
    // The 99.9% quantile of the chi-square distribution is 27.9 with 9 degrees of freedom and 135 with 89.
    for (place, counts) in places.iter().enumerate() {
        let statistic = chi_square(counts, ROUNDS);
        assert!(statistic < 27.9, "place {place}: {statistic}, {counts:?}");
    }
    let pairs: Vec<_> = (0..pairs.len()).filter(|n| n / ITEMS != n % ITEMS).map(|n| pairs[n]).collect();
    let statistic = chi_square(&pairs, ROUNDS);
    assert!(statistic < 135.0, "pairs: {statistic}");
}

/// Pearson's statistic against equal shares.
fn chi_square(counts: &[u32], total: u64) -> f64 {
    let expected = total as f64 / counts.len() as f64;
    counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}
