//! Finds secrets in one pass over a text.
//!
//! An automaton finds prefixes of secrets and keywords near them, in time linear in the text. Each candidate is read for one prefix
//! only, or has a bounded length, so the entire scan is linear.

use std::ops::Range;
use std::sync::Arc;
use std::{fmt, iter};

use aho_corasick::Input;
use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::dfa::DFA;

use super::marks::{BEGIN, mark_at};
use super::table::{FORMS, Form};
use super::{addresses, assignments, forms};

/// The number of bytes of a known secret that the automaton searches for before the comparison.
const HEAD: usize = 8;
/// How many layers of escapes are decoded: JSON in JSON has two.
const LAYERS: usize = 2;

/// What a prefix may belong to.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    Mark,
    Known(usize),
    Form(&'static Form),
    Near(Near),
}

/// A hint that a secret may be nearby.
#[derive(Clone, Copy, Debug)]
enum Near {
    SignedToken,
    PrivateKey,
    Telegram,
    AzureSecret,
    Bearer,
    Basic,
    Address,
    Name,
}

/// Texts that hint at nearby secrets.
const NEAR: [(&str, Near); 5] = [
    ("eyJ", Near::SignedToken),
    ("-----BEGIN", Near::PrivateKey),
    (":AA", Near::Telegram),
    ("Q~", Near::AzureSecret),
    ("://", Near::Address),
];
/// Words that hint at nearby secrets, in lower case, upper case and capitalized.
const WORDS: [(&str, Near); 12] = [
    ("bearer", Near::Bearer),
    ("basic", Near::Basic),
    ("password", Near::Name),
    ("passwd", Near::Name),
    ("passphrase", Near::Name),
    ("passcode", Near::Name),
    ("pwd", Near::Name),
    ("key", Near::Name),
    ("secret", Near::Name),
    ("token", Near::Name),
    ("signature", Near::Name),
    ("sig", Near::Name),
];

/// The precedence of rules that find the same secret: greater is more specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Near,
    Form,
    Known,
}

/// A secret in a text.
#[derive(Debug)]
pub struct Found {
    pub(super) range: Range<usize>,
    rank: Rank,
    pub(super) name: Name,
}

/// The name in the redaction mark.
#[derive(Clone, Debug)]
pub enum Name {
    Rule(&'static str),
    Secret(Arc<str>),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(name) => f.write_str(name),
            Self::Secret(name) => f.write_str(name),
        }
    }
}

/// An encoded secret to search for.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub bytes: Vec<u8>,
    pub name: Arc<str>,
}

/// Finds secrets in texts.
pub struct Scanner {
    /// Finds everything.
    all: Machine,
    /// Finds known secrets in decoded texts; absent without known secrets.
    known: Option<Machine>,
    patterns: Vec<Pattern>,
    /// The bytes of the patterns.
    alphabet: [bool; 256],
    with_forms: bool,
}

/// An automaton, and the meaning of its patterns.
struct Machine {
    automaton: DFA,
    triggers: Vec<Trigger>,
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The patterns are secrets.
        f.debug_struct("Scanner").finish_non_exhaustive()
    }
}

impl Machine {
    fn new(triggers: Vec<(Vec<u8>, Trigger)>) -> Self {
        let (texts, triggers): (Vec<_>, Vec<_>) = triggers.into_iter().unzip();
        let automaton = DFA::builder().prefilter(false).build(&texts);
        // Fails only with more than 2^31 states; each secret adds about a hundred.
        Self { automaton: automaton.expect("the automaton is small"), triggers }
    }

    /// Calls `at` with each match and its range.
    fn run(&self, text: &[u8], mut at: impl FnMut(Trigger, Range<usize>)) {
        let input = Input::new(text);
        let mut state = OverlappingState::start();
        while self.automaton.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(found) = state.get_match() else { return };
            at(self.triggers[found.pattern().as_usize()], found.range());
        }
    }
}

impl Scanner {
    pub fn new(patterns: Vec<Pattern>, with_forms: bool) -> Self {
        let head = |(at, pattern): (usize, &Pattern)| {
            (pattern.bytes[..pattern.bytes.len().min(HEAD)].to_vec(), Trigger::Known(at))
        };
        let known: Vec<_> = patterns.iter().enumerate().map(head).collect();
        let mut all = known.clone();
        all.push((BEGIN.as_bytes().to_vec(), Trigger::Mark));
        if with_forms {
            all.extend(FORMS.iter().map(|form| (form.prefix.as_bytes().to_vec(), Trigger::Form(form))));
            all.extend(NEAR.map(|(text, near)| (text.as_bytes().to_vec(), Trigger::Near(near))));
            for (word, near) in WORDS {
                let capital = word[..1].to_uppercase() + &word[1..];
                let written = [word.to_owned(), word.to_uppercase(), capital];
                all.extend(written.map(|text| (text.into_bytes(), Trigger::Near(near))));
            }
        }
        let known = (!known.is_empty()).then(|| Machine::new(known));
        let mut alphabet = [false; 256];
        patterns
            .iter()
            .flat_map(|pattern| &pattern.bytes)
            .for_each(|byte| alphabet[usize::from(*byte)] = true);
        Self { all: Machine::new(all), known, patterns, alphabet, with_forms }
    }

    /// Whether keys are also found by their format.
    pub fn finds_forms(&self) -> bool {
        self.with_forms
    }

    /// Whether any value is known to be secret.
    pub fn knows_secrets(&self) -> bool {
        self.known.is_some()
    }

    /// The secrets of a text, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let bytes = text.as_bytes();
        let (mut found, mut marks) = (Vec::new(), Vec::new());
        let (mut ends, mut signed) = (forms::Ends::default(), 0);
        self.all.run(bytes, |trigger, at| match trigger {
            Trigger::Mark => marks.extend(mark_at(bytes, at.start)),
            Trigger::Known(pattern) => found.extend(self.known(pattern, bytes, at.start)),
            Trigger::Form(form) => found.extend(forms::key(bytes, at.start, form).map(|range| Found {
                range,
                rank: Rank::Form,
                name: Name::Rule(form.id),
            })),
            // The parts of a JWT start the same way.
            Trigger::Near(Near::SignedToken) if at.start < signed => {}
            Trigger::Near(Near::SignedToken) => {
                found.extend(forms::signed_token(bytes, at.start).map(|range| {
                    signed = range.end;
                    near("jwt", range)
                }))
            }
            Trigger::Near(other) => other.find(bytes, at, &mut ends, &mut found),
        });
        if let Some(machine) = &self.known {
            self.find_encoded(machine, bytes, &mut found);
        }
        if found.is_empty() { found } else { merged(found, &marks) }
    }

    /// The known secrets in the strings of a JSON document, never splitting an escape. The document stays valid JSON after
    /// replacement.
    pub fn find_in_document(&self, text: &str) -> Vec<Found> {
        let Some(machine) = &self.known else { return Vec::new() };
        let (bytes, mut found) = (text.as_bytes(), Vec::new());
        machine.run(bytes, |trigger, at| match trigger {
            Trigger::Known(pattern) => found.extend(self.known(pattern, bytes, at.start)),
            Trigger::Mark | Trigger::Form(_) | Trigger::Near(_) => {}
        });
        // Excludes matches that start inside an escape such as `\\n`.
        found.retain(|found| {
            bytes[..found.range.start].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
        });
        self.find_encoded(machine, bytes, &mut found);
        if !found.is_empty() {
            retain_in_strings(bytes, &mut found);
        }
        if found.is_empty() { found } else { merged(found, &[]) }
    }

    fn known(&self, pattern: usize, text: &[u8], start: usize) -> Option<Found> {
        let Pattern { bytes, name } = &self.patterns[pattern];
        let range = start..start + bytes.len();
        let found = || Found { range, rank: Rank::Known, name: Name::Secret(Arc::clone(name)) };
        text[start..].starts_with(bytes).then(found)
    }

    /// Finds known secrets in the decoded text.
    fn find_encoded(&self, machine: &Machine, text: &[u8], found: &mut Vec<Found>) {
        type Undo = fn(&[u8]) -> Option<addresses::Decoded>;
        let [json, percent]: [Undo; 2] = [addresses::json, addresses::percent];
        let hides = [
            addresses::hides_in_json(text, &self.alphabet),
            addresses::hides_in_percent(text, &self.alphabet),
        ];
        for (undo, _) in [json, percent].into_iter().zip(hides).filter(|(_, hides)| *hides) {
            let mut layers: Vec<addresses::Decoded> = Vec::new();
            while layers.len() < LAYERS
                && let Some(layer) = undo(layers.last().map_or(text, |layer| &layer.bytes))
            {
                machine.run(&layer.bytes, |trigger, at| {
                    let Trigger::Known(pattern) = trigger else { return };
                    found.extend(self.known(pattern, &layer.bytes, at.start).map(|found| {
                        let range = layers
                            .iter()
                            .rev()
                            .fold(layer.place(&found.range), |range, below| below.place(&range));
                        Found { range, ..found }
                    }));
                });
                layers.push(layer);
            }
        }
    }
}

impl Near {
    fn find(self, text: &[u8], at: Range<usize>, ends: &mut forms::Ends, found: &mut Vec<Found>) {
        let start = at.start;
        let near = |name: &'static str| move |range| near(name, range);
        match self {
            Self::SignedToken => {}
            Self::PrivateKey => found.extend(forms::private_key(text, start, ends).map(near("private-key"))),
            Self::Telegram => found.extend(forms::telegram(text, start).map(near("telegram-token"))),
            Self::AzureSecret => found.extend(forms::azure_secret(text, start).map(near("azure-secret"))),
            Self::Bearer => found.extend(forms::bearer(text, start).map(near("bearer-token"))),
            Self::Basic => found.extend(forms::basic(text, start).map(near("basic-auth"))),
            Self::Address => {
                found.extend(addresses::password(text, start).map(near("url-password")));
                found.extend(addresses::webhook(text, start).map(near("chat-webhook")));
            }
            Self::Name => {
                found.extend(assignments::value(text, at.end).map(|(range, kind)| near(kind.id())(range)));
            }
        }
    }
}

fn near(name: &'static str, range: Range<usize>) -> Found {
    Found { range, rank: Rank::Near, name: Name::Rule(name) }
}

/// Keeps matches that are within a single string of a JSON document.
fn retain_in_strings(document: &[u8], found: &mut Vec<Found>) {
    let mut at = 0;
    let mut quote = || {
        loop {
            let next = at + memchr::memchr2(b'"', b'\\', document.get(at..)?)?;
            at = next + if document[next] == b'"' { 1 } else { 2 };
            if document[next] == b'"' {
                return Some(next);
            }
        }
    };
    // A truncated line ends within a string.
    let mut strings = iter::from_fn(|| Some(quote()? + 1..quote().unwrap_or(document.len()))).peekable();
    found.sort_by_key(|found| found.range.start);
    found.retain(|found| {
        while strings.next_if(|string| string.end < found.range.end).is_some() {}
        strings.peek().is_some_and(|string| string.start <= found.range.start)
    });
}

/// Drops matches that touch a mark, and merges overlapping ones.
fn merged(mut found: Vec<Found>, marks: &[Range<usize>]) -> Vec<Found> {
    found.retain(|found| {
        let next = marks.partition_point(|mark| mark.end <= found.range.start);
        marks.get(next).is_none_or(|mark| mark.start >= found.range.end)
    });
    found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut().filter(|last| next.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(next.range.end);
                if next.rank > last.rank {
                    (last.rank, last.name) = (next.rank, next.name);
                }
            }
            None => merged.push(next),
        }
    }
    merged
}
