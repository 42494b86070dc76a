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

use super::assignments::SecretKind;
use super::key_format_table::{KEY_FORMATS, KeyFormat};
use super::marks::{MARK_START, has_mark, mark_at};
use super::{assignments, commands, key_formats, urls};

/// The number of bytes of a known secret that the automaton searches for before the comparison.
const PREFIX_LENGTH: usize = 8;
/// How many layers of escapes are decoded: JSON in JSON in JSON has three.
const MAX_LAYERS: usize = 3;

/// What a prefix may belong to.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    Mark,
    Known(usize),
    Form(&'static KeyFormat),
    Hint(Hint),
}

/// A hint that a secret may be nearby.
#[derive(Clone, Copy, Debug)]
enum Hint {
    SignedToken,
    PrivateKey,
    Telegram,
    AzureSecret,
    Bearer,
    Basic,
    Address,
    Name,
    /// The name is followed by one more character.
    Code,
    Discord,
    Suffix(&'static str),
    KeyLines,
    Jwk,
    Program,
}

/// Texts that hint at nearby secrets.
const HINTS: [(&str, Hint); 23] = [
    ("eyJ", Hint::SignedToken),
    ("-----BEGIN", Hint::PrivateKey),
    (":AA", Hint::Telegram),
    ("Q~", Hint::AzureSecret),
    ("://", Hint::Address),
    ("code=", Hint::Code),
    ("SESSID", Hint::Name),
    ("SESSIONID", Hint::Name),
    ("_SessionId", Hint::Name),
    ("connect.sid", Hint::Name),
    ("KEY_BASE", Hint::Name),
    ("key_base", Hint::Name),
    ("MT", Hint::Discord),
    ("Nz", Hint::Discord),
    ("OT", Hint::Discord),
    ("-us", Hint::Suffix("mailchimp-key")),
    ("_mmk", Hint::Suffix("maxmind-key")),
    (".atlasv1.", Hint::Suffix("terraform-token")),
    ("---- BEGIN", Hint::KeyLines),
    ("Private-Lines:", Hint::KeyLines),
    ("\"kty\"", Hint::Jwk),
    ("dockercfg", Hint::Name),
    ("dockerconfigjson", Hint::Name),
];
/// Words that hint at nearby secrets, in lower case, upper case and capitalized.
const HINT_WORDS: [(&str, Hint); 19] = [
    ("bearer", Hint::Bearer),
    ("basic", Hint::Basic),
    ("password", Hint::Name),
    ("passwd", Hint::Name),
    ("passphrase", Hint::Name),
    ("passcode", Hint::Name),
    ("pwd", Hint::Name),
    ("key", Hint::Name),
    ("secret", Hint::Name),
    ("token", Hint::Name),
    ("signature", Hint::Name),
    ("sig", Hint::Name),
    ("pass", Hint::Name),
    ("credential", Hint::Name),
    ("credentials", Hint::Name),
    ("authorization", Hint::Name),
    ("auth", Hint::Name),
    ("cookie", Hint::Name),
    ("sessionid", Hint::Name),
];

/// The precedence of rules that find the same secret: greater is more specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The value of a header, whose scheme may say more.
    Header,
    Hint,
    Form,
    Known,
}

/// A secret in a text.
#[derive(Debug)]
pub struct Match {
    pub(super) range: Range<usize>,
    rank: Rank,
    pub(super) name: MarkName,
}

/// The name in the redaction mark.
#[derive(Clone, Debug)]
pub enum MarkName {
    Rule(&'static str),
    Secret(Arc<str>),
}

impl fmt::Display for MarkName {
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
    all: TriggerAutomaton,
    /// Finds known secrets in decoded texts; absent without known secrets.
    known: Option<TriggerAutomaton>,
    patterns: Vec<Pattern>,
    /// The bytes of the patterns.
    alphabet: [bool; 256],
    with_forms: bool,
}

/// An automaton, and the meaning of its patterns.
struct TriggerAutomaton {
    automaton: DFA,
    triggers: Vec<Trigger>,
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The patterns are secrets.
        f.debug_struct("Scanner").finish_non_exhaustive()
    }
}

impl TriggerAutomaton {
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
            (pattern.bytes[..pattern.bytes.len().min(PREFIX_LENGTH)].to_vec(), Trigger::Known(at))
        };
        let known: Vec<_> = patterns.iter().enumerate().map(head).collect();
        let mut all = known.clone();
        all.push((MARK_START.as_bytes().to_vec(), Trigger::Mark));
        if with_forms {
            all.extend(KEY_FORMATS.iter().map(|form| (form.prefix.as_bytes().to_vec(), Trigger::Form(form))));
            all.extend(HINTS.map(|(text, near)| (text.as_bytes().to_vec(), Trigger::Hint(near))));
            let program = |name: &'static str| (name.as_bytes().to_vec(), Trigger::Hint(Hint::Program));
            all.extend(commands::programs().map(program));
            for (word, near) in HINT_WORDS {
                let capital = word[..1].to_uppercase() + &word[1..];
                let written = [word.to_owned(), word.to_uppercase(), capital];
                all.extend(written.map(|text| (text.into_bytes(), Trigger::Hint(near))));
            }
        }
        let known = (!known.is_empty()).then(|| TriggerAutomaton::new(known));
        let mut alphabet = [false; 256];
        patterns
            .iter()
            .flat_map(|pattern| &pattern.bytes)
            .for_each(|byte| alphabet[usize::from(*byte)] = true);
        Self { all: TriggerAutomaton::new(all), known, patterns, alphabet, with_forms }
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
    pub fn find(&self, text: &str) -> Vec<Match> {
        let bytes = text.as_bytes();
        let (mut found, mut marks) = (Vec::new(), Vec::new());
        self.scan(bytes, &mut found, &mut marks);
        match (self.with_forms, &self.known) {
            (true, _) => {
                let scan = |text: &[u8], found: &mut Vec<Match>| self.scan(text, found, &mut Vec::new());
                find_decoded(bytes, &[true; 256], &scan, &mut found);
                self.find_in_base64(bytes, &mut found);
            }
            (false, Some(machine)) => self.find_encoded(machine, bytes, &mut found),
            (false, None) => {}
        }
        if found.is_empty() { found } else { merge_matches(bytes, found, &marks) }
    }

    /// The secrets of a field's value. The name may mark it as secret.
    pub fn find_in_field(&self, name: &str, text: &str) -> Vec<Match> {
        let mut found = self.find(text);
        let Some(kind) = SecretKind::of(name.as_bytes()).filter(|_| self.with_forms && !has_mark(text))
        else {
            return found;
        };
        let is_headerlike = matches!(kind, SecretKind::Authorization | SecretKind::Cookie);
        if found.is_empty() || is_headerlike {
            found.extend(kind.secrets(text.as_bytes()).into_iter().map(|range| named_match(kind, range)));
            found = merge_matches(text.as_bytes(), found, &[]);
        }
        found
    }

    /// Scans a text once, without decoding it.
    fn scan(&self, bytes: &[u8], found: &mut Vec<Match>, marks: &mut Vec<Range<usize>>) {
        let (mut ends, mut signed) = (key_formats::PrivateKeyEnds::default(), 0);
        self.all.run(bytes, |trigger, at| match trigger {
            Trigger::Mark => marks.extend(mark_at(bytes, at.start)),
            Trigger::Known(pattern) => found.extend(self.known(pattern, bytes, at.start)),
            Trigger::Form(form) => {
                let key = key_formats::key(bytes, at.start, form);
                if let Some(key) = key.as_ref().filter(|_| form.id == "aws-access-key") {
                    let secret = key_formats::aws_secret(bytes, key.end);
                    found.extend(secret.map(|range| hint_match("aws-secret-key", range)));
                }
                found.extend(key.map(|range| Match {
                    range,
                    rank: Rank::Form,
                    name: MarkName::Rule(form.id),
                }));
            }
            // The parts of a JWT start the same way.
            Trigger::Hint(Hint::SignedToken) if at.start < signed => {}
            Trigger::Hint(Hint::SignedToken) => {
                found.extend(key_formats::jwt(bytes, at.start).map(|range| {
                    signed = range.end;
                    hint_match("jwt", range)
                }))
            }
            Trigger::Hint(other) => other.find(bytes, at, &mut ends, found),
        });
    }

    /// Finds secrets in base64 of texts.
    fn find_in_base64(&self, text: &[u8], found: &mut Vec<Match>) {
        for (run, decoded) in urls::base64_texts(text) {
            let mut inner = Vec::new();
            self.scan(&decoded, &mut inner, &mut Vec::new());
            let last = decoded.len();
            found.extend(inner.into_iter().map(|found| {
                let Range { start, end } = found.range;
                let end = if end == last { run.end } else { run.end.min(run.start + (end * 4).div_ceil(3)) };
                Match { range: run.start + start * 4 / 3..end, ..found }
            }));
        }
    }

    /// The known secrets in the strings of a JSON document, never splitting an escape. The document stays valid JSON after
    /// replacement.
    pub fn find_in_document(&self, text: &str) -> Vec<Match> {
        let Some(machine) = &self.known else { return Vec::new() };
        let (bytes, mut found) = (text.as_bytes(), Vec::new());
        machine.run(bytes, |trigger, at| match trigger {
            Trigger::Known(pattern) => found.extend(self.known(pattern, bytes, at.start)),
            Trigger::Mark | Trigger::Form(_) | Trigger::Hint(_) => {}
        });
        // Excludes matches that start inside an escape such as `\\n`.
        found.retain(|found| {
            bytes[..found.range.start].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
        });
        self.find_encoded(machine, bytes, &mut found);
        if !found.is_empty() {
            retain_in_strings(bytes, &mut found);
        }
        if found.is_empty() { found } else { merge_matches(bytes, found, &[]) }
    }

    fn known(&self, pattern: usize, text: &[u8], start: usize) -> Option<Match> {
        let Pattern { bytes, name } = &self.patterns[pattern];
        let range = start..start + bytes.len();
        let found = || Match { range, rank: Rank::Known, name: MarkName::Secret(Arc::clone(name)) };
        text[start..].starts_with(bytes).then(found)
    }

    /// Finds known secrets in the decoded text.
    fn find_encoded(&self, machine: &TriggerAutomaton, text: &[u8], found: &mut Vec<Match>) {
        let scan = |text: &[u8], found: &mut Vec<Match>| {
            machine.run(text, |trigger, at| {
                let Trigger::Known(pattern) = trigger else { return };
                found.extend(self.known(pattern, text, at.start));
            });
        };
        find_decoded(text, &self.alphabet, &scan, found);
    }
}

/// Finds secrets in the decoded text. Escapes of bytes outside of the alphabet are not decoded.
fn find_decoded(
    text: &[u8],
    alphabet: &[bool; 256],
    scan: &dyn Fn(&[u8], &mut Vec<Match>),
    found: &mut Vec<Match>,
) {
    type Undo = fn(&[u8]) -> Option<urls::Decoded>;
    let [json, percent]: [Undo; 2] = [urls::decode_json, urls::decode_percent];
    let hides =
        [urls::may_need_json_decoding(text, alphabet), urls::may_need_percent_decoding(text, alphabet)];
    for (undo, _) in [json, percent].into_iter().zip(hides).filter(|(_, hides)| *hides) {
        let mut layers: Vec<urls::Decoded> = Vec::new();
        while layers.len() < MAX_LAYERS
            && let Some(layer) = undo(layers.last().map_or(text, |layer| &layer.bytes))
        {
            let mut inner = Vec::new();
            scan(&layer.bytes, &mut inner);
            found.extend(inner.into_iter().map(|found| {
                let range = layer.place(&found.range);
                let range = layers.iter().rev().fold(range, |range, below| below.place(&range));
                Match { range, ..found }
            }));
            layers.push(layer);
        }
    }
}

impl Hint {
    fn find(
        self,
        text: &[u8],
        at: Range<usize>,
        ends: &mut key_formats::PrivateKeyEnds,
        found: &mut Vec<Match>,
    ) {
        let start = at.start;
        let near = |name: &'static str| move |range| hint_match(name, range);
        match self {
            Self::SignedToken => {}
            Self::PrivateKey => {
                found.extend(key_formats::private_key(text, start, ends).map(near("private-key")))
            }
            Self::Telegram => found.extend(key_formats::telegram(text, start).map(near("telegram-token"))),
            Self::AzureSecret => {
                found.extend(key_formats::azure_secret(text, start).map(near("azure-secret")))
            }
            Self::Bearer => found.extend(key_formats::bearer(text, start).map(near("bearer-token"))),
            Self::Basic => found.extend(key_formats::basic(text, start).map(near("basic-auth"))),
            Self::Address => {
                found.extend(urls::password(text, start).map(near("url-password")));
                found.extend(urls::webhook(text, start).map(near("chat-webhook")));
            }
            Self::Name => add_assigned(text, at.end, found),
            Self::Code => add_assigned(text, at.end - 1, found),
            Self::Discord => found.extend(key_formats::discord(text, start).map(near("discord-token"))),
            Self::Suffix(name) => found.extend(key_formats::with_suffix(text, at, name).map(near(name))),
            Self::KeyLines => found.extend(key_formats::key_lines(text, at).map(near("private-key"))),
            Self::Jwk => found.extend(key_formats::jwk(text, start).into_iter().map(near("private-key"))),
            Self::Program => {
                let secrets = commands::secrets(text, at);
                found.extend(secrets.into_iter().map(near("password")));
            }
        }
    }
}

/// Adds the secrets after a name that contains a hint that ends at `end`.
fn add_assigned(text: &[u8], end: usize, found: &mut Vec<Match>) {
    let assigned = assignments::secrets(text, end);
    found.extend(
        assigned
            .into_iter()
            .flat_map(|(ranges, kind)| ranges.into_iter().map(move |range| named_match(kind, range))),
    );
}

/// A secret after a name of a kind.
fn named_match(kind: SecretKind, range: Range<usize>) -> Match {
    let rank = if kind == SecretKind::Authorization { Rank::Header } else { Rank::Hint };
    Match { rank, ..hint_match(kind.id(), range) }
}

fn hint_match(name: &'static str, range: Range<usize>) -> Match {
    Match { range, rank: Rank::Hint, name: MarkName::Rule(name) }
}

/// Keeps matches that are within a single string of a JSON document.
fn retain_in_strings(document: &[u8], found: &mut Vec<Match>) {
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
fn merge_matches(text: &[u8], mut found: Vec<Match>, marks: &[Range<usize>]) -> Vec<Match> {
    // A bounded search may end within a character.
    for Match { range, .. } in &mut found {
        while text.get(range.end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            range.end += 1;
        }
    }
    found.retain(|found| {
        let next = marks.partition_point(|mark| mark.end <= found.range.start);
        marks.get(next).is_none_or(|mark| mark.start >= found.range.end)
    });
    found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
    let mut merged: Vec<Match> = Vec::with_capacity(found.len());
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
