//! The reader of journals takes any bytes, and any beginning of a real journal gives the beginning of its items.

use std::sync::OnceLock;

use cobalt::store::{JournalContents, JournalError, read_journal};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A journal as the library writes it: its header, and items with all that items can have.
fn journal() -> String {
    let header = json!({
        "journal": 1, "id": "0123456789ab", "name": "質問", "timestamp": "2026-02-05T14:30:00.000Z", "tags": ["a"],
        "config": { "runs": 1, "concurrency": 4, "timeout": 30_000, "evaluators": ["exact"], "strict": true },
        "dataset": { "source": "items.jsonl", "items": 4, "hash": "00" }, "definition": "ff",
    });
    let item = |index: usize, rest: Value| {
        let mut item = json!({
            "index": index, "key": format!("k{index}"), "input": { "input": "a\nb \u{2028} ü" },
            "output": { "output": "x" }, "latencyMs": 0.125, "evaluations": { "exact": { "score": 0.5 } },
            "status": "ok", "passed": true,
        });
        item.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        json!({ "at": index * 10, "item": item })
    };
    let lines = [
        header,
        item(2, json!({})),
        item(0, json!({ "status": "error", "error": "no", "output": { "output": "" }, "evaluations": {} })),
        item(3, json!({ "output": { "output": [[1, {}]], "metadata": { "tokens": { "input": 1 } } } })),
        item(1, json!({ "evaluations": { "exact": { "error": "the score is NaN", "reason": "\u{0}" } } })),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn whole() -> &'static (String, JournalContents) {
    static WHOLE: OnceLock<(String, JournalContents)> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let text = journal();
        let contents = read_journal(text.as_bytes()).unwrap();
        assert_eq!((contents.items.len(), contents.damaged), (4, 0));
        (text, contents)
    })
}

#[test]
fn every_beginning_of_a_journal_gives_the_beginning_of_its_items() {
    let (text, all) = whole();
    for end in 0..=text.len() {
        let beginning = &text.as_bytes()[..end];
        let lines = beginning.iter().filter(|byte| **byte == b'\n').count();
        match read_journal(beginning) {
            Ok(read) => {
                assert_eq!(read.header, all.header);
                assert_eq!(read.items, all.items[..lines - 1], "{end} bytes");
                assert_eq!(read.damaged, 0, "a line without its end is no damage");
            }
            Err(JournalError::Empty) => assert_eq!(lines, 0),
            Err(error) => panic!("{end} bytes: {error}"),
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read_journal(&bytes);
    }

    #[test]
    fn no_lines_after_a_header_make_the_reader_panic_or_fail(
        rest in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..20),
    ) {
        let header = journal().lines().next().unwrap().to_owned();
        let bytes = [header.into_bytes(), rest.concat(), Vec::new()].join(&b'\n');
        let read = read_journal(&bytes).unwrap();
        prop_assert!(read.items.is_empty());
    }

    #[test]
    fn a_flipped_byte_costs_no_other_item(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (text, all) = whole();
        let header = text.find('\n').unwrap() + 1;
        let mut bytes = text.clone().into_bytes();
        let place = header + at.index(bytes.len() - header);
        prop_assume!(bytes[place] != b'\n' && byte != b'\n');
        bytes[place] = byte;
        let read = read_journal(&bytes).unwrap();
        let damaged_line = bytes[header..place].iter().filter(|byte| **byte == b'\n').count();
        for (line, item) in all.items.iter().enumerate().filter(|(line, _)| *line != damaged_line) {
            prop_assert!(read.items.contains(item), "item {line} is lost");
        }
        prop_assert_eq!(read.items.len() + read.damaged, all.items.len());
    }

    #[test]
    fn a_line_torn_off_by_a_kill_and_gone_on_from_costs_one_item(cut in any::<prop::sample::Index>()) {
        // Another process appends to a line that was never ended, where nobody cut it off.
        let (text, all) = whole();
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let torn = &lines[2].as_bytes()[..cut.index(lines[2].len())];
        let bytes = [lines[..2].concat().as_bytes(), torn, lines[3..].concat().as_bytes()].concat();
        let read = read_journal(&bytes).unwrap();
        prop_assert!(read.items.len() >= all.items.len() - 2);
        prop_assert_eq!(&read.items[0], &all.items[0]);
    }
}

#[test]
fn a_line_nested_without_end_is_damage() {
    let (text, all) = whole();
    let abyss = format!("{text}{}\n", "[".repeat(1_000_000));
    let read = read_journal(abyss.as_bytes()).unwrap();
    assert_eq!((&read.items, read.damaged), (&all.items, 1));
}
