//! What a judge finds of each part of a text: read strictly, and scored by the share of good ones.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::form::Field;
use crate::evaluators::asking::answer;
use crate::evaluators::asking::answer_schema::{list_of, object, string};
use crate::wording::{count, cut, decimal};

/// A list of findings that a judge makes.
#[derive(Debug)]
pub(super) struct List {
    /// The field that holds it.
    pub(super) field: &'static str,
    /// What an entry is called; the field of its text. In the alphabet it stands before `reason`, as that does before
    /// `verdict`: schemas are sent in this order, but a server may sort them, and models write in the order that they see.
    pub(super) noun: &'static str,
    /// What the entries are, and in which order.
    pub(super) what: &'static str,
    /// The verdict that speaks for the output.
    pub(super) good: Mark,
    /// Those that speak against it.
    pub(super) bad: &'static [Mark],
    /// The share of good ones in the metadata, where there are several lists.
    pub(super) figure: Option<&'static str>,
    /// The reason for the 1 that a list without entries scores; `None` where such a list is no answer.
    pub(super) none: Option<&'static str>,
}

/// A verdict on an entry.
#[derive(Debug)]
pub(super) struct Mark {
    /// The word for it in the answer.
    pub(super) word: &'static str,
    /// When it is right, as the judge is told.
    pub(super) meaning: &'static str,
    /// What it says of entries, in reasons.
    pub(super) says: &'static str,
}

impl List {
    /// All verdicts; the good one last, so that it can be told as none of the others.
    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.bad.iter().chain([&self.good])
    }

    /// The list as a field of the answer.
    pub(super) fn field(&self) -> Field {
        let marks: Vec<_> =
            self.marks().map(|mark| format!("\"{}\", where {}", mark.word, mark.meaning)).collect();
        let empty = if self.none.is_some() { "; an empty list where there is none" } else { "" };
        let (noun, what) = (self.noun, self.what);
        let text = format!(
            "a list of objects, one for each {noun}: {what}{empty}. Each has these fields, in this order: `{noun}`, text; \
             `reason`, text, one sentence that names what decides; `verdict`, one of these words: {}.",
            marks.join("; ")
        );
        let words: Vec<_> = self.marks().map(|mark| mark.word).collect();
        let entry = object(&[
            (noun, string(&format!("the {noun}"))),
            ("reason", string("what decides")),
            ("verdict", json!({ "type": "string", "enum": words })),
        ]);
        Field { name: self.field, text, schema: list_of(&entry, what) }
    }

    /// The entries of the list in an answer, each with its mark. One that is there again counts once; where its verdict is
    /// another then, there is no answer.
    fn read<'a>(&'a self, answer: &Map<String, Value>) -> Result<Vec<(&'a Mark, Value)>, String> {
        let (field, noun) = (self.field, self.noun);
        let entries = answer::objects(answer, field)?;
        if entries.is_empty() && self.none.is_none() {
            return Err(format!("`{field}` is empty; it must hold at least one {noun}"));
        }
        let (mut found, mut verdicts) = (Vec::new(), BTreeMap::new());
        for (number, entry) in (1..).zip(entries) {
            let told = |problem: String| format!("{noun} {number} of `{field}`: {problem}");
            let (text, mark) = self.entry(entry).map_err(told)?;
            match verdicts.insert(text.to_lowercase(), (number, mark.word)) {
                None => {
                    let reason = answer::reasons(entry, "reason");
                    found.push((mark, json!({ noun: text, "verdict": mark.word, "reason": reason })));
                }
                Some((_, before)) if before == mark.word => {}
                Some((first, before)) => {
                    return Err(told(format!(
                        "`verdict` is \"{}\", and \"{before}\" for the same text in {noun} {first}; list it once",
                        mark.word
                    )));
                }
            }
        }
        Ok(found)
    }

    /// The text of an entry, and its mark.
    fn entry<'v>(&self, entry: &'v Map<String, Value>) -> Result<(&'v str, &Mark), String> {
        let text = answer::text(entry, self.noun)?.trim();
        if text.is_empty() {
            return Err(format!("`{}` is empty", self.noun));
        }
        let word = answer::field(entry, "verdict")?;
        let mark = self.marks().find(|mark| word == mark.word).ok_or_else(|| {
            let words: Vec<_> = self.marks().map(|mark| format!("\"{}\"", mark.word)).collect();
            format!("`verdict` is {}; it must be one of {}", answer::shown(word), words.join(", "))
        })?;
        Ok((text, mark))
    }
}

/// The score of the lists in an answer, its reason, and what is kept: the entries, and the shares of several lists.
pub(super) fn read(
    answer: &Map<String, Value>,
    lists: &[List],
) -> Result<(f64, String, Map<String, Value>), String> {
    let (mut lowest, mut reasons, mut figures) = (1.0_f64, Vec::new(), Map::new());
    for list in lists {
        let entries = list.read(answer)?;
        let share = share(list, &entries);
        let reason = reason(list, &entries);
        lowest = lowest.min(share);
        reasons.push(match list.figure {
            Some(figure) => {
                figures.insert(figure.to_owned(), share.into());
                format!("{figure} {}: {reason}", decimal(share, 2))
            }
            None => reason,
        });
        figures.insert(list.field.to_owned(), entries.into_iter().map(|(_, entry)| entry).collect());
    }
    Ok((lowest, reasons.join("; "), figures))
}

fn good(list: &List, entries: &[(&Mark, Value)]) -> usize {
    entries.iter().filter(|(mark, _)| mark.word == list.good.word).count()
}

/// The share of good entries, 1 of none.
fn share(list: &List, entries: &[(&Mark, Value)]) -> f64 {
    if entries.is_empty() { 1.0 } else { good(list, entries) as f64 / entries.len() as f64 }
}

/// How many entries are good, and which are not.
fn reason(list: &List, entries: &[(&Mark, Value)]) -> String {
    if entries.is_empty() {
        return list.none.unwrap_or_default().to_owned();
    }
    let (good, all) = (good(list, entries), count(entries.len(), list.noun));
    let mut parts = vec![format!("{good} of {all} {}", list.good.says)];
    for mark in list.bad {
        let texts = entries.iter().filter(|(found, _)| found.word == mark.word);
        let texts: Vec<&str> = texts.filter_map(|(_, entry)| entry[list.noun].as_str()).collect();
        if !texts.is_empty() {
            parts.push(format!("{}: {}", mark.says, quoted(&texts)));
        }
    }
    parts.join("; ")
}

/// The first few texts, each in quotes.
fn quoted(texts: &[&str]) -> String {
    const SHOWN: usize = 3;
    const LONGEST: usize = 120;
    let first: Vec<_> = texts.iter().take(SHOWN).map(|text| format!("“{}”", cut(text, LONGEST))).collect();
    match texts.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
