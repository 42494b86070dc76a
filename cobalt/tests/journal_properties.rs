//! The journal reader accepts any bytes; any prefix of a real journal yields a prefix of its items.

use std::sync::OnceLock;

use cobalt::report::ScoredEvaluation;
use cobalt_core::store::{JournalContents, JournalError, read_journal};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A journal as the library writes it: a header, and items with all possible fields.
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
        item(
            0,
            json!({ "status": "error", "error": "no", "output": { "output": "" }, "evaluations": {}, "passed": false }),
        ),
        item(3, json!({ "output": { "output": [[1, {}]], "metadata": { "tokens": { "input": 1 } } } })),
        item(
            1,
            json!({ "evaluations": { "exact": { "error": "the score is NaN", "reason": "\u{0}" } }, "passed": false }),
        ),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The same with a checksum per line, as in this version.
fn journal_with_checksums() -> String {
    let header = journal().replacen("{", "{\"checksums\":true,", 1);
    let with_checksum = |line: &str| {
        let checksum = crc32fast::hash(line.as_bytes());
        format!("{},\"crc32\":\"{checksum:08x}\"}}\n", line.strip_suffix('}').unwrap())
    };
    header.lines().map(with_checksum).collect()
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

/// A small change, as made by a disk, an editor or a merge.
#[derive(Clone, Debug)]
enum Change {
    Flip(prop::sample::Index, u8),
    Put(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Digit(prop::sample::Index, char),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<prop::sample::Index>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Put(at, byte)),
        (any::<prop::sample::Index>(), 1..200_usize).prop_map(|(at, bytes)| Change::Remove(at, bytes)),
        (any::<prop::sample::Index>(), prop::char::range('0', '9'))
            .prop_map(|(at, digit)| Change::Digit(at, digit)),
    ]
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Flip(at, bit) => *at.get_mut(bytes) ^= 1 << bit,
            Self::Put(at, byte) => bytes.insert(at.index(bytes.len()), *byte),
            Self::Remove(at, count) => {
                let start = at.index(bytes.len());
                bytes.drain(start..bytes.len().min(start + count));
            }
            Self::Digit(at, digit) => {
                let mut digits: Vec<_> = bytes.iter_mut().filter(|byte| byte.is_ascii_digit()).collect();
                if !digits.is_empty() {
                    let place = at.index(digits.len());
                    *digits[place] = *digit as u8;
                }
            }
        }
    }
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
                assert_eq!(read.damaged, 0, "an incomplete last line is not damage");
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
        // Another process appends to an incomplete line that was not truncated.
        let (text, all) = whole();
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let torn = &lines[2].as_bytes()[..cut.index(lines[2].len())];
        let bytes = [lines[..2].concat().as_bytes(), torn, lines[3..].concat().as_bytes()].concat();
        let read = read_journal(&bytes).unwrap();
        prop_assert!(read.items.len() >= all.items.len() - 2);
        prop_assert_eq!(&read.items[0], &all.items[0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_false_is_taken_over_where_lines_have_checksums(changes in prop::collection::vec(change(), 1..6)) {
        let all = &whole().1;
        let mut bytes = journal_with_checksums().into_bytes();
        changes.iter().for_each(|change| change.apply(&mut bytes));
        if let Ok(read) = read_journal(&bytes) {
            // Without the mark and its own checksum, the first line looks like that of an earlier version, whose lines may have none.
            prop_assume!(read.header.checksums);
            prop_assert_eq!((&read.header.id, &read.header.config), (&all.header.id, &all.header.config));
            prop_assert_eq!(&read.header.dataset, &all.header.dataset);
            for item in &read.items {
                prop_assert!(all.items.contains(item), "{:?}", item);
            }
            prop_assert!(read.elapsed <= all.elapsed);
        }
    }

    #[test]
    fn without_checksums_no_value_is_taken_over_that_no_run_gives(changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = whole().0.clone().into_bytes();
        changes.iter().for_each(|change| change.apply(&mut bytes));
        if let Ok(read) = read_journal(&bytes) {
            let JournalContents { header, items, .. } = read;
            for item in items {
                prop_assert!(item.index < header.dataset.items && item.runs.len() == header.config.runs);
                for run in &item.runs {
                    prop_assert!(run.latency_ms >= 0.0 && run.latency_ms.is_finite());
                    let fits = |(name, evaluation): (&str, &ScoredEvaluation)| {
                        header.config.evaluators.iter().any(|known| known == name)
                            && evaluation.score.is_none_or(|score| (0.0..=1.0).contains(&score))
                    };
                    prop_assert!(run.evaluations.iter().all(fits));
                }
            }
        }
    }
}

#[test]
fn a_journal_with_checksums_is_read_as_one_without() {
    let (_, all) = whole();
    let read = read_journal(journal_with_checksums().as_bytes()).unwrap();
    assert_eq!((&read.items, read.damaged, read.elapsed), (&all.items, 0, all.elapsed));
}

#[test]
fn a_line_without_its_checksum_is_damage_where_all_have_one() {
    let text = journal_with_checksums();
    let (first, rest) = text.split_once("\n").unwrap();
    let bare = journal().lines().nth(1).unwrap().to_owned();
    let read = read_journal(format!("{first}\n{bare}\n{rest}").as_bytes()).unwrap();
    assert_eq!((read.items.len(), read.damaged), (4, 1));
}

#[test]
fn a_selection_that_the_data_set_does_not_have_is_an_error() {
    for selection in ["[5000]", "[0,4]", "[1,2,1]"] {
        let text = journal().replacen("{", &format!("{{\"selection\":{selection},"), 1);
        let error = read_journal(text.as_bytes()).unwrap_err();
        assert!(matches!(error, JournalError::Selection { items: 4, .. }), "{selection}: {error}");
    }
    let some = journal().replacen("{", "{\"selection\":[0,2],", 1);
    let read = read_journal(some.as_bytes()).unwrap();
    assert_eq!(
        (read.items.len(), read.damaged),
        (2, 2),
        "items that were not selected are not part of the run"
    );
}

#[test]
fn a_line_nested_without_end_is_damage() {
    let (text, all) = whole();
    let abyss = format!("{text}{}\n", "[".repeat(1_000_000));
    let read = read_journal(abyss.as_bytes()).unwrap();
    assert_eq!((&read.items, read.damaged), (&all.items, 1));
}
