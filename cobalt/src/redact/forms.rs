//! Keys recognised by their form: how they begin, which characters follow, how many, and how varied they are.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::marks;
use super::random::{entropy, is_random};
use super::table::{self, Alphabet, BASE64, Check, DASH, DOT, EQUALS, Form, PLUS_SLASH, URL_SAFE, is_of};

/// The longest first part of a signed token.
const LONGEST_HEADER: usize = 8192;
/// The fewest bytes of a private key between its first and its last line.
const SHORTEST_PRIVATE_KEY: usize = 64;
/// The most.
const LONGEST_PRIVATE_KEY: usize = 32 * 1024;
/// The shortest run of base64 in it that is no word: mostly a line has 64 characters.
const SHORTEST_LINE: usize = 16;
/// The fewest characters of the first line of a private key of which the rest is missing.
const SHORTEST_FIRST_LINE: usize = 40;
/// How a private key ends.
const END: &[u8] = b"-----END";

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
pub(super) const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const OF_ADDRESSES: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// How far the bytes of an alphabet reach from `start`; `most` of them are looked at.
pub(super) fn run(text: &[u8], start: usize, alphabet: Alphabet, most: usize) -> usize {
    let rest = &text[start.min(text.len())..];
    let rest = &rest[..rest.len().min(most)];
    start + rest.iter().position(|byte| !is_of(*byte, alphabet)).unwrap_or(rest.len())
}

/// Whether a key of this alphabet can begin here: behind nothing that would be a part of it.
pub(super) fn begins_at(text: &[u8], at: usize, alphabet: Alphabet) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|before| text.get(before)) else { return true };
    if before == b']' {
        return !marks::ends_at(text, at);
    }
    let is_inside =
        is_of(before, table::ALNUM | table::UNDERSCORE) || before == b'-' && is_of(b'-', alphabet);
    !is_inside || is_escape(&text[..at])
}

/// Whether a text ends with what stands for another character: `\n`, `\u0022`, `%3D`.
fn is_escape(text: &[u8]) -> bool {
    let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    match text {
        [.., b'\\', letter] if b"nrtbf".contains(letter) => true,
        [.., b'%', a, b] if hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] => hex(&[*a, *b, *c, *d]),
        _ => false,
    }
}

/// Whether a key can end here.
pub(super) fn ends_at(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None => true,
        Some(b'[') => !marks::begins_at(text, at),
        Some(byte) => !is_of(*byte, table::ALNUM | table::UNDERSCORE),
    }
}

/// The key of a form whose beginning stands at `start`.
pub(super) fn key(text: &[u8], start: usize, form: &Form) -> Option<Range<usize>> {
    // `cache-key-<hash>` is a name in which the beginning of another form happens to stand.
    let is_in_name = form.prefix.contains('-') && text[..start].ends_with(b"-");
    if is_in_name || !begins_at(text, start, form.alphabet) {
        return None;
    }
    let body = start + form.prefix.len();
    let (fewest, most) = form.length;
    let mut end = run(text, body, form.alphabet, most + 1);
    while is_of(b'.', form.alphabet) && end > body && text[end - 1] == b'.' {
        end -= 1;
    }
    let characters = &text[body..end];
    let fits = (fewest..=most).contains(&characters.len()) && ends_at(text, end);
    (fits && passes(characters, form.check, fewest)).then_some(start..end)
}

fn passes(characters: &[u8], check: Check, fewest: usize) -> bool {
    let is_random = || is_random(characters, fewest.min(16));
    match check {
        Check::Entropy(least) => entropy(characters) >= least,
        Check::Random => is_random(),
        Check::OpenAi => characters.windows(8).any(|part| part == b"T3BlbkFJ") || is_random(),
        Check::Uuid => is_uuid(characters),
    }
}

fn is_uuid(characters: &[u8]) -> bool {
    let is_dash = |at: usize| [8, 13, 18, 23].contains(&at);
    let is_right = |(at, byte): (usize, &u8)| is_dash(at) == (*byte == b'-');
    characters.len() == 36 && characters.iter().enumerate().all(is_right) && entropy(characters) >= 2.5
}

/// A token of signed JSON, `header.payload.signature`: the header is a JSON object with the field `alg`.
pub(super) fn signed_token(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !begins_at(text, start, URL_SAFE) {
        return None;
    }
    let header = run(text, start, URL_SAFE, LONGEST_HEADER);
    let payload = part_behind(text, header)?;
    let mut end = part_behind(text, payload)?;
    // An encrypted token has five parts.
    for _ in 0..2 {
        end = part_behind(text, end).filter(|next| *next > end + 1).unwrap_or(end);
    }
    #[derive(serde::Deserialize)]
    struct Header {
        #[serde(rename = "alg")]
        _algorithm: serde::de::IgnoredAny,
    }
    let header = OF_ADDRESSES.decode(&text[start..header]).ok()?;
    serde_json::from_slice::<Header>(&header).ok()?;
    (payload - start >= 20 && ends_at(text, end)).then_some(start..end)
}

/// The end of the part behind a full stop.
fn part_behind(text: &[u8], stop: usize) -> Option<usize> {
    (text.get(stop) == Some(&b'.')).then(|| run(text, stop + 1, URL_SAFE | EQUALS, usize::MAX))
}

/// Where the next private key ends, so that a text with many beginnings is searched once.
#[derive(Debug, Default)]
pub(super) struct Ends {
    next: Option<Option<usize>>,
}

impl Ends {
    fn from(&mut self, text: &[u8], start: usize) -> Option<usize> {
        match self.next {
            Some(None) => None,
            Some(Some(end)) if end >= start => Some(end),
            _ => {
                let found = memchr::memmem::find(&text[start..], END).map(|at| start + at);
                self.next = Some(found);
                found
            }
        }
    }
}

/// A private key from its first line to its last, or as much of it as there is.
pub(super) fn private_key(text: &[u8], start: usize, ends: &mut Ends) -> Option<Range<usize>> {
    const BEGIN: usize = "-----BEGIN".len();
    let line = &text[start + BEGIN..text.len().min(start + BEGIN + 100)];
    let title = &line[..memchr::memmem::find(line, b"-----")?];
    memchr::memmem::find(title, b"PRIVATE KEY")?;
    let body = start + BEGIN + title.len() + 5;
    if let Some(end) = ends.from(text, body) {
        let line = &text[end + END.len()..text.len().min(end + END.len() + 100)];
        let last = memchr::memmem::find(line, b"-----").map_or(end, |at| end + END.len() + at + 5);
        let is_one =
            memchr::memmem::find(&text[body..end.min(body + LONGEST_PRIVATE_KEY)], b"-----BEGIN").is_none();
        if is_one && end - body <= LONGEST_PRIVATE_KEY && is_base64(&text[body..end]) {
            return Some(start..last);
        }
    }
    let rest = &text[body..text.len().min(body + LONGEST_PRIVATE_KEY)];
    Some(start..body + base64_at_start(rest)?)
}

/// The runs of base64 in a text, each as long as it can be. A word is one, too.
fn base64_runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(|byte| is_of(*byte, BASE64))?;
        at = run(text, start, BASE64, usize::MAX);
        Some(start..at)
    })
}

/// Whether a text between two lines is a key, and not prose or a program that speaks of keys.
fn is_base64(text: &[u8]) -> bool {
    let lengths = base64_runs(text).map(|run| run.len());
    let in_lines: usize = lengths.filter(|length| *length >= SHORTEST_LINE).sum();
    let written = text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    in_lines >= SHORTEST_PRIVATE_KEY && 5 * in_lines >= 3 * written
}

/// How far the lines of a key reach that was cut off. The fields of an encrypted key may stand before them.
fn base64_at_start(text: &[u8]) -> Option<usize> {
    const FIELDS: usize = 256;
    let fields = &text[..text.len().min(FIELDS)];
    let latest = memchr::memmem::find(fields, b"-----").unwrap_or(FIELDS);
    let mut runs = base64_runs(text);
    let first = runs.find(|run| run.len() >= SHORTEST_FIRST_LINE || run.start > latest)?;
    if first.start > latest || entropy(&text[first.clone()]) < 4.0 {
        return None;
    }
    // Line breaks may be written as escapes, and each line may be a text of a program by itself.
    let is_between = |between: &[u8]| between.iter().all(|byte| b" \r\n\t\\\"'+,nr".contains(byte));
    let mut end = first.end;
    for run in runs {
        if !is_between(&text[end..run.start]) {
            break;
        }
        if run.len() >= SHORTEST_LINE || run.end == text.len() {
            end = run.end;
        } else if !is_between(&text[run]) {
            break;
        }
    }
    Some(end)
}

/// The token of a bot of Telegram, by its middle `:AA`.
pub(super) fn telegram(text: &[u8], middle: usize) -> Option<Range<usize>> {
    let digits = text[..middle].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let start = middle - digits;
    let end = run(text, middle + 1, URL_SAFE, 40);
    let is_one = (8..=10).contains(&digits) && end - middle == 36 && begins_at(text, start, URL_SAFE);
    (is_one && ends_at(text, end) && is_random(&text[middle + 1..end], 16)).then_some(start..end)
}

/// The secret of an application of Azure, by its middle `Q~`.
pub(super) fn azure_secret(text: &[u8], middle: usize) -> Option<Range<usize>> {
    const AZURE: Alphabet = URL_SAFE | DOT | table::TILDE;
    let start = middle.checked_sub(4)?;
    let end = run(text, middle + 2, AZURE, 40);
    let begins_well =
        text[middle - 1].is_ascii_digit() && text[start..middle].iter().all(|byte| is_of(*byte, AZURE));
    let is_one = begins_well && begins_at(text, start, AZURE) && (31..=34).contains(&(end - middle - 2));
    (is_one && ends_at(text, end) && is_random(&text[start..end], 16)).then_some(start..end)
}

/// What stands behind `Bearer`. In a header it may be short.
pub(super) fn bearer(text: &[u8], start: usize) -> Option<Range<usize>> {
    let token = behind_scheme(text, start, b"bearer".len())?;
    let characters = &text[token.clone()];
    let has_digit = || characters.iter().any(u8::is_ascii_digit);
    let is_short_one = || is_in_header(text, start) && has_digit() && entropy(characters) >= 2.5;
    let is_one =
        characters.len() >= 16 && is_random(characters, 14) || characters.len() >= 8 && is_short_one();
    is_one.then_some(token)
}

/// What stands behind `Basic`: base64 of a user, a colon and a password.
pub(super) fn basic(text: &[u8], start: usize) -> Option<Range<usize>> {
    let token = behind_scheme(text, start, b"basic".len())?;
    let characters = &text[token.clone()];
    let is_word = characters.iter().skip(1).all(u8::is_ascii_lowercase);
    if characters.len() < 8 || is_word || characters.iter().any(|byte| is_of(*byte, DASH | DOT)) {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(characters).ok()?).ok()?;
    (pair.contains(':') && !pair.contains(char::is_control)).then_some(token)
}

/// The token behind a scheme of authentication.
fn behind_scheme(text: &[u8], start: usize, length: usize) -> Option<Range<usize>> {
    if !begins_at(text, start, URL_SAFE) {
        return None;
    }
    let rest = &text[start + length..];
    let spaces = rest.iter().take(4).take_while(|byte| **byte == b' ').count();
    let quoted = rest.get(spaces).is_some_and(|byte| b"\"'`".contains(byte));
    let token = start + length + spaces + usize::from(quoted);
    let mut end = run(text, token, URL_SAFE | DOT | PLUS_SLASH | EQUALS | table::TILDE, usize::MAX);
    while end > token && text[end - 1] == b'.' {
        end -= 1;
    }
    (spaces > 0 && end > token && ends_at(text, end)).then_some(token..end)
}

fn is_in_header(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(24)..at];
    before.windows(13).any(|word| word.eq_ignore_ascii_case(b"authorization"))
}
