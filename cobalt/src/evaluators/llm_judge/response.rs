//! The responses of judges: their forms, and reading verdicts, scores and findings. Errors of reading are sent to the judge.

use std::collections::BTreeMap;

use cobalt_core::report::DEFAULT_PASS_MARK;
use cobalt_core::wording::{count, format_decimal, truncate};
use serde_json::{Map, Value, json};

use crate::evaluators::judge_support::response::{self, truncated_json};
use crate::evaluators::judge_support::response_schema::{list_of, object, string};

/// The result of a judge.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// From 0 to 1; for a verdict, 0 or 1.
    pub(super) score: f64,
    pub(super) reason: Option<String>,
    pub(super) chain_of_thought: Option<String>,
    /// The components of the score, for the metadata.
    pub(super) metadata: Map<String, Value>,
}

/// A text field that is not blank.
pub fn text(answer: &Map<String, Value>, field: &str) -> Option<String> {
    let text = answer.get(field).and_then(Value::as_str).map(str::trim)?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// The verdict as 1 or 0. A score replaces a missing verdict.
pub fn verdict(answer: &Map<String, Value>) -> Result<f64, String> {
    let yes = match answer.get("verdict") {
        Some(Value::Bool(verdict)) => *verdict,
        None | Some(Value::Null) => {
            let missing = "the field `verdict` is missing; it must be `true` or `false`";
            score(answer)?.ok_or(missing)? >= DEFAULT_PASS_MARK
        }
        Some(other) => {
            return Err(format!("`verdict` is {}; it must be `true` or `false`", truncated_json(other)));
        }
    };
    Ok(if yes { 1.0 } else { 0.0 })
}

/// An optional number from 0 to 1.
pub fn score(answer: &Map<String, Value>) -> Result<Option<f64>, String> {
    match answer.get("score") {
        None | Some(Value::Null) => Ok(None),
        Some(found) => {
            let score = found.as_f64().filter(|score| (0.0..=1.0).contains(score));
            score.map(Some).ok_or_else(|| {
                format!("`score` is {}; it must be a number from 0 to 1", truncated_json(found))
            })
        }
    }
}

/// A list of findings in a response.
#[derive(Debug)]
pub(super) struct FindingList {
    /// The field of the response.
    pub(super) field: &'static str,
    /// The name of an entry, and of its text field. Alphabetically before `reason` and `verdict`: a server may sort the schema,
    /// and models write fields in the order that they see.
    pub(super) noun: &'static str,
    /// Describes the entries and their order, for the judge.
    pub(super) what: &'static str,
    /// The verdict in favour of the output.
    pub(super) good: VerdictKind,
    /// The verdicts against it.
    pub(super) bad: &'static [VerdictKind],
    /// The metadata key for the share of good entries, if there are several lists.
    pub(super) figure: Option<&'static str>,
    /// The reason if the list is empty, which scores 1; `None` if an empty list is invalid.
    pub(super) none: Option<&'static str>,
}

/// A possible verdict on an entry.
#[derive(Debug)]
pub(super) struct VerdictKind {
    /// Its value in the response.
    pub(super) value: &'static str,
    /// When it applies, for the judge.
    pub(super) meaning: &'static str,
    /// Its wording in reasons.
    pub(super) label: &'static str,
}

impl FindingList {
    /// All verdicts; the good one last, as it may be described as none of the others.
    fn verdicts(&self) -> impl Iterator<Item = &VerdictKind> {
        self.bad.iter().chain([&self.good])
    }

    /// The list as a field of the response.
    pub(super) fn field(&self) -> ResponseField {
        let marks: Vec<_> =
            self.verdicts().map(|mark| format!("\"{}\", where {}", mark.value, mark.meaning)).collect();
        let empty = if self.none.is_some() { "; an empty list where there is none" } else { "" };
        let (noun, what) = (self.noun, self.what);
        let text = format!(
            "a list of objects, one for each {noun}: {what}{empty}. Each has these fields, in this order: `{noun}`, text; \
             `reason`, text, one sentence that names what decides; `verdict`, one of these words: {}.",
            marks.join("; ")
        );
        let words: Vec<_> = self.verdicts().map(|mark| mark.value).collect();
        let entry = object(&[
            (noun, string(&format!("the {noun}"))),
            ("reason", string("what decides")),
            ("verdict", json!({ "type": "string", "enum": words })),
        ]);
        ResponseField { name: self.field, text, schema: list_of(&entry, what) }
    }

    /// Reads the entries with their verdicts. A repeated entry counts once; with a different verdict, the response is invalid.
    fn read<'a>(&'a self, answer: &Map<String, Value>) -> Result<Vec<(&'a VerdictKind, Value)>, String> {
        let (field, noun) = (self.field, self.noun);
        let entries = response::objects(answer, field)?;
        if entries.is_empty() && self.none.is_none() {
            return Err(format!("`{field}` is empty; it must hold at least one {noun}"));
        }
        let (mut found, mut verdicts) = (Vec::new(), BTreeMap::new());
        for (number, entry) in (1..).zip(entries) {
            let told = |problem: String| format!("{noun} {number} of `{field}`: {problem}");
            let (text, mark) = self.entry(entry).map_err(told)?;
            match verdicts.insert(text.to_lowercase(), (number, mark.value)) {
                None => {
                    let reason = response::optional_reasons(entry, "reason");
                    found.push((mark, json!({ noun: text, "verdict": mark.value, "reason": reason })));
                }
                Some((_, before)) if before == mark.value => {}
                Some((first, before)) => {
                    return Err(told(format!(
                        "`verdict` is \"{}\", and \"{before}\" for the same text in {noun} {first}; list it once",
                        mark.value
                    )));
                }
            }
        }
        Ok(found)
    }

    /// Reads the text and the verdict of an entry.
    fn entry<'v>(&self, entry: &'v Map<String, Value>) -> Result<(&'v str, &VerdictKind), String> {
        let text = response::text(entry, self.noun)?.trim();
        if text.is_empty() {
            return Err(format!("`{}` is empty", self.noun));
        }
        let word = response::field(entry, "verdict")?;
        let mark = self.verdicts().find(|mark| word == mark.value).ok_or_else(|| {
            let words: Vec<_> = self.verdicts().map(|mark| format!("\"{}\"", mark.value)).collect();
            format!("`verdict` is {}; it must be one of {}", response::truncated_json(word), words.join(", "))
        })?;
        Ok((text, mark))
    }
}

/// Reads all lists: the score, its reason, and the metadata with the entries and, for several lists, their shares.
pub fn read_lists(
    answer: &Map<String, Value>,
    lists: &[FindingList],
) -> Result<(f64, String, Map<String, Value>), String> {
    let (mut lowest, mut reasons, mut figures) = (1.0_f64, Vec::new(), Map::new());
    for list in lists {
        let entries = list.read(answer)?;
        let share = good_share(list, &entries);
        let reason = reason(list, &entries);
        lowest = lowest.min(share);
        reasons.push(match list.figure {
            Some(figure) => {
                figures.insert(figure.to_owned(), share.into());
                format!("{figure} {}: {reason}", format_decimal(share, 2))
            }
            None => reason,
        });
        figures.insert(list.field.to_owned(), entries.into_iter().map(|(_, entry)| entry).collect());
    }
    Ok((lowest, reasons.join("; "), figures))
}

fn count_good(list: &FindingList, entries: &[(&VerdictKind, Value)]) -> usize {
    entries.iter().filter(|(mark, _)| mark.value == list.good.value).count()
}

/// The share of good entries; 1 if there are none.
fn good_share(list: &FindingList, entries: &[(&VerdictKind, Value)]) -> f64 {
    if entries.is_empty() { 1.0 } else { count_good(list, entries) as f64 / entries.len() as f64 }
}

/// The number of good entries, and the texts of the others.
fn reason(list: &FindingList, entries: &[(&VerdictKind, Value)]) -> String {
    if entries.is_empty() {
        return list.none.unwrap_or_default().to_owned();
    }
    let (good, all) = (count_good(list, entries), count(entries.len(), list.noun));
    let mut parts = vec![format!("{good} of {all} {}", list.good.label)];
    for mark in list.bad {
        let texts = entries.iter().filter(|(found, _)| found.value == mark.value);
        let texts: Vec<&str> = texts.filter_map(|(_, entry)| entry[list.noun].as_str()).collect();
        if !texts.is_empty() {
            parts.push(format!("{}: {}", mark.label, quoted(&texts)));
        }
    }
    parts.join("; ")
}

/// The first few texts, each in quotes.
fn quoted(texts: &[&str]) -> String {
    const SHOWN: usize = 3;
    const LONGEST: usize = 120;
    let first: Vec<_> =
        texts.iter().take(SHOWN).map(|text| format!("“{}”", truncate(text, LONGEST))).collect();
    match texts.len().saturating_sub(SHOWN) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The form of a response.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResponseForm {
    /// Whether the criteria are met: 1 or 0.
    Verdict,
    /// How far they are met, from 0 to 1.
    Scale,
    /// Lists of findings with verdicts. The score is the share of good findings, the lowest one of several lists.
    Findings(&'static [FindingList]),
}

/// A field of a response.
pub(super) struct ResponseField {
    pub(super) name: &'static str,
    /// Its description, for the judge.
    pub(super) text: String,
    pub(super) schema: Value,
}

const THOUGHTS: &str = "\
text. Write this first. Go through the criteria one by one, say for each what in the material \
speaks for it and what against it, and only then come to a conclusion.";
const THOUGHTS_OF_FINDINGS: &str = "\
text. Write this first. Read the texts with the question in mind, and work out what belongs into each list below and what \
speaks for each verdict and what against it. The lists follow from this.";
const REASON: &str = "text. One or two sentences that name what decided, so that a person can check it.";
const VERDICT: &str = "`true` where all criteria are met, `false` where any is not.";
const SCORE: &str = "\
a number from 0 to 1. 1 means that the criteria are met in full, 0 that they are not met at all; in between \
it says how far they are met, and 0.5 is halfway. Where the criteria speak of another scale, convert it to this one.";

impl ResponseForm {
    /// Whether a judge reasons at length by default. Findings have a reason each.
    pub(super) fn reasons_by_default(self) -> bool {
        matches!(self, Self::Verdict)
    }

    /// Whether a response is a yes/no verdict, to which the pass mark does not apply.
    pub(super) fn is_verdict(self) -> bool {
        matches!(self, Self::Verdict)
    }

    /// The fields of the response, in the order in which models write them: reasoning before the result.
    pub(super) fn fields(self, chain_of_thought: bool) -> Vec<ResponseField> {
        let field = |name, text: &str, kind: &str| ResponseField {
            name,
            text: text.to_owned(),
            schema: json!({ "type": kind }),
        };
        let mut fields = Vec::new();
        if chain_of_thought {
            let thoughts = if let Self::Findings(_) = self { THOUGHTS_OF_FINDINGS } else { THOUGHTS };
            fields.push(field("chainOfThought", thoughts, "string"));
        }
        match self {
            Self::Verdict => {
                fields.extend([field("reason", REASON, "string"), field("verdict", VERDICT, "boolean")]);
            }
            Self::Scale => {
                fields.extend([field("reason", REASON, "string"), field("score", SCORE, "number")]);
            }
            Self::Findings(lists) => fields.extend(lists.iter().map(FindingList::field)),
        }
        fields
    }

    /// Reads the judgement from a response.
    pub(super) fn read(self, answer: &Map<String, Value>) -> Result<Judgement, String> {
        let chain_of_thought = text(answer, "chainOfThought");
        match self {
            Self::Verdict => {
                let (score, reason) = (verdict(answer)?, text(answer, "reason"));
                Ok(Judgement { score, reason, chain_of_thought, metadata: Map::new() })
            }
            Self::Scale => {
                let missing = "the field `score` is missing; it must be a number from 0 to 1";
                let (score, reason) = (score(answer)?.ok_or(missing)?, text(answer, "reason"));
                Ok(Judgement { score, reason, chain_of_thought, metadata: Map::new() })
            }
            Self::Findings(lists) => {
                let (score, reason, figures) = read_lists(answer, lists)?;
                Ok(Judgement { score, reason: Some(reason), chain_of_thought, metadata: figures })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ResponseForm, *};

    fn reads(form: ResponseForm, answer: &Value) -> Result<f64, String> {
        form.read(answer.as_object().unwrap()).map(|judgement| judgement.score)
    }

    #[test]
    fn a_verdict_goes_before_a_score() {
        for (answer, score) in [
            (json!({ "verdict": true }), 1.0),
            (json!({ "verdict": false, "score": 0.9 }), 0.0),
            (json!({ "verdict": true, "score": 85 }), 1.0),
            (json!({ "score": 0.5 }), 1.0),
            (json!({ "score": 0.49 }), 0.0),
            (json!({ "verdict": null, "score": 0 }), 0.0),
        ] {
            assert_eq!(reads(ResponseForm::Verdict, &answer), Ok(score), "{answer}");
        }
    }

    #[test]
    fn what_only_looks_like_a_verdict_is_refused() {
        for (answer, problem) in [
            (json!({ "verdict": "true" }), "`verdict` is \"true\"; it must be `true` or `false`"),
            (json!({ "verdict": 1 }), "`verdict` is 1; it must be `true` or `false`"),
            (json!({ "score": 85 }), "`score` is 85; it must be a number from 0 to 1"),
            (json!({ "score": null }), "the field `verdict` is missing; it must be `true` or `false`"),
            (json!({}), "the field `verdict` is missing; it must be `true` or `false`"),
        ] {
            assert_eq!(reads(ResponseForm::Verdict, &answer), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_score_is_a_number_from_0_to_1() {
        for score in [0.0, 0.25, 1.0] {
            assert_eq!(reads(ResponseForm::Scale, &json!({ "score": score, "verdict": false })), Ok(score));
        }
        assert_eq!(reads(ResponseForm::Scale, &json!({ "score": 1 })), Ok(1.0));
        for (answer, problem) in [
            (json!({ "score": 1.7 }), "`score` is 1.7; it must be a number from 0 to 1"),
            (json!({ "score": -0.1 }), "`score` is -0.1; it must be a number from 0 to 1"),
            (json!({ "score": "0.8" }), "`score` is \"0.8\"; it must be a number from 0 to 1"),
            (json!({ "verdict": true }), "the field `score` is missing; it must be a number from 0 to 1"),
        ] {
            assert_eq!(reads(ResponseForm::Scale, &answer), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_blank_reason_is_none() {
        let answer = json!({ "verdict": true, "reason": " ", "chainOfThought": "a, then b\n", "extra": 1 });
        let judgement = ResponseForm::Verdict.read(answer.as_object().unwrap()).unwrap();
        assert_eq!((judgement.reason, judgement.chain_of_thought.as_deref()), (None, Some("a, then b")));
    }
}
