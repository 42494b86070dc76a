//! Calls that are made again: the same tool with the same arguments.

use serde_json::{Map, Value};

use super::call::ToolCall;
use crate::metrics::exact_match;

/// What was called again.
#[derive(Debug, PartialEq)]
pub(super) struct Repeats {
    /// How many calls there are beyond the first of their kind.
    pub(super) count: usize,
    /// The place of the first of each call that is made again, and how often it is made in all.
    pub(super) calls: Vec<(usize, usize)>,
    /// The longest stretch that goes round.
    pub(super) longest: Option<Loop>,
}

/// Calls that were made several times in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Loop {
    /// The place of its first call.
    pub(super) start: usize,
    /// How many calls are gone round.
    pub(super) length: usize,
    /// How often, at least twice.
    pub(super) times: usize,
}

impl Repeats {
    pub(super) fn of(calls: &[ToolCall]) -> Self {
        let kinds = kinds(calls);
        let times = |kind: usize| kinds.iter().filter(|other| **other == kind).count();
        let firsts = kinds.iter().enumerate().filter(|(index, kind)| index == *kind);
        let calls: Vec<_> =
            firsts.map(|(index, _)| (index, times(index))).filter(|(_, times)| *times > 1).collect();
        let count = calls.iter().map(|(_, times)| times - 1).sum();
        Self { count, calls, longest: longest(&kinds) }
    }
}

/// For each call, the place of the first that is the same.
fn kinds(calls: &[ToolCall]) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    let kind_of = |(index, call): (usize, &ToolCall)| {
        let known = firsts.iter().copied().find(|first| same(&calls[*first], call));
        known.unwrap_or_else(|| {
            firsts.push(index);
            index
        })
    };
    calls.iter().enumerate().map(kind_of).collect()
}

fn same(one: &ToolCall, other: &ToolCall) -> bool {
    let none = Value::Object(Map::new());
    one.name == other.name
        && exact_match(one.arguments.as_ref().unwrap_or(&none), other.arguments.as_ref().unwrap_or(&none))
}

/// The loop that most calls belong to, the shortest of those.
fn longest(kinds: &[usize]) -> Option<Loop> {
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
