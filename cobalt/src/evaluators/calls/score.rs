//! Scores of calls: on their own, against the expected ones, and for repeats and loops.

use std::cmp::Reverse;

use cobalt_core::wording::{count, format_decimal};
use serde_json::{Map, Value, json};

use super::call::ToolCall;
use super::compare::{self, Comparison, Pairing};
use crate::evaluators::Score;
use crate::evaluators::reasons::{format_list, format_times};
use crate::metrics::{exact_match, f_beta};

/// A share of a whole, which is not 0.
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// 1 if the tool was called with readable arguments.
pub fn called(tool: &str, calls: &[ToolCall]) -> Score {
    let (right, unread): (Vec<_>, Vec<_>) =
        calls.iter().filter(|call| call.name == tool).partition(|call| call.arguments_error.is_none());
    let reason = match (right.first(), unread.first()) {
        (Some(first), _) => format!("called {}: {}", format_times(right.len()), compare::format_call(first)),
        (None, Some(first)) => format!("called with unreadable arguments: {}", compare::format_failed(first)),
        (None, None) if calls.is_empty() => format!("`{tool}` was not called; no calls were made"),
        (None, None) => {
            let mut others = names(calls);
            others.sort_unstable();
            others.dedup();
            format!("`{tool}` was not called, only {}", format_list(&others))
        }
    };
    Score::from(!right.is_empty()).reason(reason).metadata("calls", right.len())
}

/// 1 if the tool was not called, whatever the result.
pub fn not_called(tool: &str, calls: &[ToolCall]) -> Score {
    let of_tool: Vec<_> = calls.iter().filter(|call| call.name == tool).collect();
    let reason = match &of_tool[..] {
        [] => format!("`{tool}` was not called"),
        of_tool => {
            let shown: Vec<_> = of_tool.iter().map(|call| compare::format_call(call)).collect();
            format!("called {}: {}", format_times(of_tool.len()), format_list(&shown))
        }
    };
    Score::from(of_tool.is_empty()).reason(reason).metadata("calls", of_tool.len())
}

/// The share of the calls that did not fail; 1 without calls.
pub fn succeeded(calls: &[ToolCall]) -> Score {
    let failed: Vec<_> = calls.iter().filter(|call| !call.succeeded()).map(compare::format_failed).collect();
    let right = calls.len() - failed.len();
    if calls.is_empty() {
        return Score::new(1.0).reason("no calls were made").metadata("calls", 0).metadata("failed", 0);
    }
    let tail = if failed.is_empty() { String::new() } else { format!("; failed: {}", format_list(&failed)) };
    Score::new(share(right, calls.len()))
        .reason(format!("{right} of {} succeeded{tail}", count(calls.len(), "call")))
        .metadata("calls", calls.len())
        .metadata("failed", failed.len())
}

/// 1 up to the limit, and beyond it the limit divided by the number of calls.
pub fn at_most(most: usize, calls: &[ToolCall]) -> Score {
    let made = calls.len();
    let score = if made <= most { 1.0 } else { share(most, made) };
    let tail = if made <= most { String::new() } else { format!(": {}", format_list(&names(calls))) };
    Score::new(score)
        .reason(format!("{}, at most {most}{tail}", count(made, "call")))
        .metadata("calls", made)
        .metadata("most", most)
}

/// 1 up to the limit of repeats, and beyond it the share of the calls that are not repeats over the limit.
pub fn repeats_at_most(most: usize, calls: &[ToolCall]) -> Score {
    let repeats = Repeats::find(calls);
    let surplus = repeats.count.saturating_sub(most);
    let score = if surplus == 0 { 1.0 } else { share(calls.len() - surplus, calls.len()) };
    let reason = format!(
        "{}, at most {most}{}",
        count(repeats.count, "repeated call"),
        describe_repeats(&repeats, calls)
    );
    let score = Score::new(score)
        .reason(reason)
        .metadata("calls", calls.len())
        .metadata("repeats", repeats.count)
        .metadata("most", most);
    match repeats.longest {
        Some(Loop { start, length, times }) => {
            score.metadata("loop", json!({ "start": start, "length": length, "times": times }))
        }
        None => score,
    }
}

/// Describes the repeats: the longest loop, and all repeats if there are others.
fn describe_repeats(repeats: &Repeats, calls: &[ToolCall]) -> String {
    let mut text = String::new();
    let mut in_a_row = 0;
    if let Some(Loop { start, length, times: often }) = repeats.longest {
        let round = format_list(&names(&calls[start..start + length]));
        text = format!("; loop: {round} {}", format_times(often));
        in_a_row = length * (often - 1);
    }
    if in_a_row < repeats.count {
        let mut most_first = repeats.calls.clone();
        most_first.sort_by_key(|(_, times)| Reverse(*times));
        let of = |(index, often): (usize, usize)| {
            format!("{} {}", compare::format_call(&calls[index]), format_times(often))
        };
        let all: Vec<_> = most_first.into_iter().map(of).collect();
        text = format!("{text}; repeated: {}", format_list(&all));
    }
    text
}

fn names(calls: &[ToolCall]) -> Vec<String> {
    calls.iter().map(|call| call.name.clone()).collect()
}

/// Applies a measure to expected and made calls.
pub fn score_expected(measure: fn(&Comparison) -> Score, calls: &Comparison) -> Score {
    let (expected, made) = (calls.expected.len(), calls.made.len());
    let score = match (expected, made) {
        (0, 0) => Score::new(1.0).reason("no calls are expected, and none were made"),
        _ => measure(calls),
    };
    score.metadata("expected", expected).metadata("made", made)
}

/// The expected calls that were made in order, without others.
pub fn exact_order(calls: &Comparison) -> Score {
    ordered(calls, false)
}

/// The expected calls that were made in order.
pub fn in_order(calls: &Comparison) -> Score {
    ordered(calls, true)
}

/// The expected calls that were made in order, as a share of the expected calls, or of the longer list if no others are
/// allowed.
fn ordered(calls: &Comparison, allow_extra: bool) -> Score {
    let pairing = calls.match_in_order();
    let (expected, made) = (calls.expected.len(), calls.made.len());
    let whole = if allow_extra { expected } else { expected.max(made) };
    let head = format!("{} in order", describe_matched(calls, &pairing));
    let score = Score::new(share_or_all(pairing.matched.len(), whole));
    with_reason(score, head, calls, &pairing, true, !allow_extra)
}

pub fn recall(calls: &Comparison) -> Score {
    let pairing = calls.match_in_any_order();
    let score = Score::new(share_or_all(pairing.matched.len(), calls.expected.len()));
    with_reason(score, describe_matched(calls, &pairing), calls, &pairing, true, false)
}

/// A share of a whole; 1 if the whole is 0.
fn share_or_all(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { share(part, whole) }
}

fn describe_matched(calls: &Comparison, pairing: &Pairing) -> String {
    match calls.expected.len() {
        0 => "no calls are expected".to_owned(),
        expected => format!("{} of {} made", pairing.matched.len(), count(expected, "expected call")),
    }
}

pub fn precision(calls: &Comparison) -> Score {
    let pairing = calls.match_in_any_order();
    let (met, made) = (pairing.matched.len(), calls.made.len());
    if made == 0 {
        let reason = format!("no calls were made, {} expected", calls.expected.len());
        return with_reason(Score::new(0.0), reason, calls, &pairing, false, false);
    }
    let head = format!("{met} of {} as expected", count(made, "call"));
    with_reason(Score::new(share(met, made)), head, calls, &pairing, false, true)
}

pub fn f1(calls: &Comparison) -> Score {
    let pairing = calls.match_in_any_order();
    let met = pairing.matched.len();
    let (made, expected) = (calls.made.len(), calls.expected.len());
    let score = Score::new(f_beta(met, made - met, expected - met, 1.0));
    let head = format!("{}, {met} of {} as expected", describe_matched(calls, &pairing), count(made, "call"));
    with_reason(score, head, calls, &pairing, true, true)
}

/// The mean, over the expected calls, of the share of their arguments that a call of the tool has.
pub fn arguments(calls: &Comparison) -> Score {
    let expected = calls.expected.len();
    if expected == 0 {
        return Score::new(1.0).reason("no calls are expected");
    }
    let pairs = calls.match_by_arguments();
    // The sum of an empty list of floats is -0.
    let sum = pairs.iter().fold(0.0, |sum, (_, _, share)| sum + share);
    let right = pairs.iter().filter(|(_, _, share)| *share == 1.0).count();
    let mut pairing = Pairing::default();
    for (one, other, share) in pairs {
        let kind = if share == 1.0 { &mut pairing.matched } else { &mut pairing.wrong_arguments };
        kind.push((one, other));
    }
    let pairing = calls.with_unmatched(pairing);
    let score = Score::new(sum / expected as f64);
    let head = format!(
        "correct arguments in {right} of {}, mean share {}",
        count(expected, "expected call"),
        format_decimal(sum / expected as f64, 2)
    );
    with_reason(score, head, calls, &pairing, true, false)
}

/// Adds the reason and metadata to a score: what matched, and what did not.
fn with_reason(
    score: Score,
    head: String,
    calls: &Comparison,
    pairing: &Pairing,
    missing_matters: bool,
    needless_matters: bool,
) -> Score {
    let expected =
        |places: &[usize]| places.iter().map(|place| compare::format_call(&calls.expected[*place])).collect();
    let made =
        |places: &[usize]| places.iter().map(|place| compare::format_call(&calls.made[*place])).collect();
    let wrong = |(one, other): &(usize, usize)| {
        compare::format_wrong_arguments(&calls.expected[*one], &calls.made[*other])
    };
    let out_of_order: Vec<usize> = pairing.out_of_order.iter().map(|(_, made)| *made).collect();
    let parts: [(&str, &str, Vec<String>, bool); 4] = [
        ("wrong arguments", "wrongArguments", pairing.wrong_arguments.iter().map(wrong).collect(), true),
        ("out of order", "outOfOrder", made(&out_of_order), true),
        ("missing", "missing", expected(&pairing.missing), missing_matters),
        ("unexpected", "needless", made(&pairing.unexpected), needless_matters),
    ];
    let mut reason = head;
    let mut score = score.metadata("matched", pairing.matched.len());
    for (title, key, texts, matters) in parts {
        if matters && !texts.is_empty() {
            reason.push_str(&format!("; {title}: {}", format_list(&texts)));
        }
        if !texts.is_empty() {
            score = score.metadata(key, texts.into_iter().map(Value::from).collect::<Vec<_>>());
        }
    }
    score.reason(reason)
}

/// Repeated calls.
#[derive(Debug, PartialEq)]
pub struct Repeats {
    /// The number of calls that repeat an earlier one.
    pub(super) count: usize,
    /// For each repeated call, the index of its first occurrence and the total number of occurrences.
    pub(super) calls: Vec<(usize, usize)>,
    /// The longest loop.
    pub(super) longest: Option<Loop>,
}

/// A sequence of calls that was made several times in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// The index of its first call.
    pub(super) start: usize,
    /// The number of calls in the sequence.
    pub(super) length: usize,
    /// The number of repetitions, at least 2.
    pub(super) times: usize,
}

impl Repeats {
    pub fn find(calls: &[ToolCall]) -> Self {
        let kinds = first_equal(calls);
        let times = |kind: usize| kinds.iter().filter(|other| **other == kind).count();
        let firsts = kinds.iter().enumerate().filter(|(index, kind)| index == *kind);
        let calls: Vec<_> =
            firsts.map(|(index, _)| (index, times(index))).filter(|(_, times)| *times > 1).collect();
        let count = calls.iter().map(|(_, times)| times - 1).sum();
        Self { count, calls, longest: longest_loop(&kinds) }
    }
}

/// For each call, the index of the first equal one.
fn first_equal(calls: &[ToolCall]) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    let kind_of = |(index, call): (usize, &ToolCall)| {
        let known = firsts.iter().copied().find(|first| is_same_call(&calls[*first], call));
        known.unwrap_or_else(|| {
            firsts.push(index);
            index
        })
    };
    calls.iter().enumerate().map(kind_of).collect()
}

fn is_same_call(one: &ToolCall, other: &ToolCall) -> bool {
    let none = Value::Object(Map::new());
    one.name == other.name
        && exact_match(one.arguments.as_ref().unwrap_or(&none), other.arguments.as_ref().unwrap_or(&none))
}

/// The loop with the most calls; the shortest sequence if several are equal.
fn longest_loop(kinds: &[usize]) -> Option<Loop> {
    let mut best: Option<Loop> = None;
    for length in 1..=kinds.len() / 2 {
        let mut start = 0;
        while start + 2 * length <= kinds.len() {
            let round = &kinds[start..start + length];
            let times = kinds[start..].chunks_exact(length).take_while(|next| *next == round).count();
            if times > 1 && best.is_none_or(|best| times * length > best.times * best.length) {
                best = Some(Loop { start, length, times });
            }
            start += if times > 1 { (times - 1) * length } else { 1 };
        }
    }
    best
}
