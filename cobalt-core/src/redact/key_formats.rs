//! Recognizes keys by their format: prefix, alphabet, length and randomness.

use std::ops::Range;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};

use super::key_format_table::{
    self, Alphabet, BASE64, Check, DASH, DOT, EQUALS, KeyFormat, PLUS_SLASH, URL_SAFE, is_of,
};
use super::marks;

/// The maximum length of a JWT header.
const LONGEST_HEADER: usize = 8192;
/// The minimum number of bytes of a private key between its first and last line.
const SHORTEST_PRIVATE_KEY: usize = 64;
/// The maximum number.
const LONGEST_PRIVATE_KEY: usize = 32 * 1024;
/// The shortest run of base64 in it that is not a word: lines usually have 64 characters.
const SHORTEST_LINE: usize = 16;
/// The minimum length of the first line of a truncated private key.
const SHORTEST_FIRST_LINE: usize = 40;
/// The end of a private key.
const END: &[u8] = b"-----END";

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
pub const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE_ENGINE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Decodes base64 of either alphabet.
pub fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(text).or_else(|_| URL_SAFE_ENGINE.decode(text)).ok()
}

/// The end of the run of bytes of an alphabet from `start`, limited to `most` bytes.
pub fn end_of_run(text: &[u8], start: usize, alphabet: Alphabet, most: usize) -> usize {
    let rest = &text[start.min(text.len())..];
    let rest = &rest[..rest.len().min(most)];
    start + rest.iter().position(|byte| !is_of(*byte, alphabet)).unwrap_or(rest.len())
}

/// Whether a key of this alphabet can start here: not after a character that would belong to it.
pub fn begins_at(text: &[u8], at: usize, alphabet: Alphabet) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|before| text.get(before)) else { return true };
    if before == b']' {
        return !marks::ends_at(text, at);
    }
    let is_inside = is_of(before, key_format_table::ALNUM | key_format_table::UNDERSCORE)
        || before == b'-' && is_of(b'-', alphabet);
    !is_inside || is_escape(&text[..at])
}

/// Whether a text ends with an escape: `\n`, `\u0022`, `%3D`.
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
pub fn ends_at(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None => true,
        Some(b'[') => !marks::begins_at(text, at),
        Some(byte) => !is_of(*byte, key_format_table::ALNUM | key_format_table::UNDERSCORE),
    }
}

/// The key of a format whose prefix is at `start`.
pub fn key(text: &[u8], start: usize, form: &KeyFormat) -> Option<Range<usize>> {
    // `cache-key-<hash>` is a name that happens to contain the prefix of a format.
    let is_in_name = form.prefix.contains('-') && text[..start].ends_with(b"-");
    if is_in_name || !begins_at(text, start, form.alphabet) {
        return None;
    }
    let body = start + form.prefix.len();
    let (fewest, most) = form.length;
    let mut end = end_of_run(text, body, form.alphabet, most + 1);
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
        Check::Mixed => is_mixed(characters),
        Check::OpenAi => characters.windows(8).any(|part| part == b"T3BlbkFJ") || is_random(),
        Check::Uuid => is_uuid(characters),
    }
}

/// Whether the characters are digits and letters, and not mostly words.
pub fn is_mixed(characters: &[u8]) -> bool {
    let counts = CharacterCounts::of(&characters[..characters.len().min(256)]);
    counts.digits > 0
        && counts.digits < counts.letters_and_digits
        && !counts.is_mostly_words()
        && entropy(characters) >= 3.0
}

fn is_uuid(characters: &[u8]) -> bool {
    let is_dash = |at: usize| [8, 13, 18, 23].contains(&at);
    let is_right = |(at, byte): (usize, &u8)| is_dash(at) == (*byte == b'-');
    characters.len() == 36 && characters.iter().enumerate().all(is_right) && entropy(characters) >= 2.5
}

/// A JWT, `header.payload.signature`: the header is a JSON object with the field `alg`.
pub fn jwt(text: &[u8], start: usize) -> Option<Range<usize>> {
    if !begins_at(text, start, URL_SAFE) {
        return None;
    }
    let header = end_of_run(text, start, URL_SAFE, LONGEST_HEADER);
    let payload = end_of_part(text, header)?;
    let mut end = end_of_part(text, payload)?;
    // An encrypted token has five parts.
    for _ in 0..2 {
        end = end_of_part(text, end).filter(|next| *next > end + 1).unwrap_or(end);
    }
    #[derive(serde::Deserialize)]
    struct Header {
        #[serde(rename = "alg")]
        _algorithm: serde::de::IgnoredAny,
    }
    let header = URL_SAFE_ENGINE.decode(&text[start..header]).ok()?;
    serde_json::from_slice::<Header>(&header).ok()?;
    (payload - start >= 20 && ends_at(text, end)).then_some(start..end)
}

/// The end of the part after a dot.
fn end_of_part(text: &[u8], stop: usize) -> Option<usize> {
    (text.get(stop) == Some(&b'.')).then(|| end_of_run(text, stop + 1, URL_SAFE | EQUALS, usize::MAX))
}

/// Caches the end of the next private key, so a text with many starts is searched once.
#[derive(Debug, Default)]
pub struct PrivateKeyEnds {
    next: Option<Option<usize>>,
}

impl PrivateKeyEnds {
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

/// A private key from its first to its last line, or a truncated one.
pub fn private_key(text: &[u8], start: usize, ends: &mut PrivateKeyEnds) -> Option<Range<usize>> {
    const BEGIN: usize = "-----BEGIN".len();
    let line = &text[start + BEGIN..text.len().min(start + BEGIN + 100)];
    let title = &line[..memchr::memmem::find(line, b"-----")?];
    if !["PRIVATE KEY", "Static key"]
        .iter()
        .any(|kind| memchr::memmem::find(title, kind.as_bytes()).is_some())
    {
        return None;
    }
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

/// The maximal runs of base64 in a text, including words.
fn base64_runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(|byte| is_of(*byte, BASE64))?;
        at = end_of_run(text, start, BASE64, usize::MAX);
        Some(start..at)
    })
}

/// Whether the text between the first and the last line is a key, not prose or code about keys.
fn is_base64(text: &[u8]) -> bool {
    let lengths = base64_runs(text).map(|run| run.len());
    let in_lines: usize = lengths.filter(|length| *length >= SHORTEST_LINE).sum();
    let written = text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    in_lines >= SHORTEST_PRIVATE_KEY && 5 * in_lines >= 3 * written
}

/// The end of the lines of a truncated key. The fields of an encrypted key may precede them.
fn base64_at_start(text: &[u8]) -> Option<usize> {
    const FIELDS: usize = 256;
    let fields = &text[..text.len().min(FIELDS)];
    let latest = memchr::memmem::find(fields, b"-----").unwrap_or(FIELDS);
    let mut runs = base64_runs(text);
    let first = runs.find(|run| run.len() >= SHORTEST_FIRST_LINE || run.start > latest)?;
    if first.start > latest || entropy(&text[first.clone()]) < 4.0 {
        return None;
    }
    // Line breaks may be escaped, and each line may be a string literal of its own.
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

/// A Telegram bot token, by its middle `:AA`.
pub fn telegram(text: &[u8], middle: usize) -> Option<Range<usize>> {
    let digits = text[..middle].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let start = middle - digits;
    let end = end_of_run(text, middle + 1, URL_SAFE, 40);
    // In addresses, it follows `/bot`.
    let begins = begins_at(text, start, URL_SAFE) || text[..start].ends_with(b"/bot");
    let is_one = (8..=10).contains(&digits) && end - middle == 36 && begins;
    (is_one && ends_at(text, end) && entropy(&text[middle + 1..end]) >= 3.5).then_some(start..end)
}

/// An Azure application secret, by its middle `Q~`.
pub fn azure_secret(text: &[u8], middle: usize) -> Option<Range<usize>> {
    const AZURE: Alphabet = URL_SAFE | DOT | key_format_table::TILDE;
    let start = middle.checked_sub(4)?;
    let end = end_of_run(text, middle + 2, AZURE, 40);
    let begins_well =
        text[middle - 1].is_ascii_digit() && text[start..middle].iter().all(|byte| is_of(*byte, AZURE));
    let is_one = begins_well && begins_at(text, start, AZURE) && (31..=34).contains(&(end - middle - 2));
    (is_one && ends_at(text, end) && is_random(&text[start..end], 16)).then_some(start..end)
}

/// The secret key of AWS that follows an access key, as in a CSV file.
pub fn aws_secret(text: &[u8], end: usize) -> Option<Range<usize>> {
    let rest = &text[end..text.len().min(end + 16)];
    let separators = rest.iter().take_while(|byte| b",:;|\"' \t\r\n".contains(byte)).count();
    let start = end + separators;
    let last = end_of_run(text, start, BASE64, 41);
    (separators > 0 && last - start == 40 && ends_at(text, last) && is_mixed(&text[start..last]))
        .then_some(start..last)
}

/// A bot token of Discord: the base64 of its ID, and two parts after dots.
pub fn discord(text: &[u8], start: usize) -> Option<Range<usize>> {
    let id = end_of_run(text, start, key_format_table::ALNUM, 30);
    if !(23..=28).contains(&(id - start))
        || text.get(id) != Some(&b'.')
        || !begins_at(text, start, URL_SAFE | DOT)
    {
        return None;
    }
    let time = end_of_run(text, id + 1, URL_SAFE, 8);
    let end = end_of_run(text, time + 1, URL_SAFE, 40);
    let is_one = time - id == 7 && text.get(time) == Some(&b'.') && (27..=38).contains(&(end - time - 1));
    (is_one && ends_at(text, end)).then_some(start..end)
}

/// A key that ends with a known suffix.
pub fn with_suffix(text: &[u8], suffix: Range<usize>, name: &str) -> Option<Range<usize>> {
    let (alphabet, length, more) = match name {
        "mailchimp-key" => {
            (key_format_table::HEX, 32, end_of_run(text, suffix.end, key_format_table::DIGIT, 3))
        }
        "maxmind-key" => (key_format_table::WORD, 36, suffix.end),
        _ => (key_format_table::ALNUM, 14, end_of_run(text, suffix.end, URL_SAFE | EQUALS, 71)),
    };
    let start = suffix.start.checked_sub(length)?;
    let key = &text[start..suffix.start];
    let is_one = key.iter().all(|byte| is_of(*byte, alphabet)) && entropy(key) >= 2.5;
    let is_long = name != "terraform-token" || more - suffix.end >= 60;
    let is_numbered = name != "mailchimp-key" || more > suffix.end;
    (is_one && is_long && is_numbered && begins_at(text, start, alphabet) && ends_at(text, more))
        .then_some(start..more)
}

/// The lines of a private key in the formats of SSH2 and PuTTY.
pub fn key_lines(text: &[u8], hint: Range<usize>) -> Option<Range<usize>> {
    let line = &text[hint.start..text.len().min(hint.start + 100)];
    let length = memchr::memchr2(b'\n', b'\\', line)?;
    let is_private =
        line.starts_with(b"Private") || memchr::memmem::find(&line[..length], b"PRIVATE").is_some();
    let body = hint.start + length;
    let rest = &text[body..text.len().min(body + LONGEST_PRIVATE_KEY)];
    is_private.then_some(body + 1..body + base64_at_start(rest)?)
}

/// The private fields of a JSON Web Key, by the place of its field `kty`.
pub fn jwk(text: &[u8], at: usize) -> Vec<Range<usize>> {
    const LONGEST: usize = 4096;
    const FIELDS: [&str; 7] = ["\"d\"", "\"p\"", "\"q\"", "\"dp\"", "\"dq\"", "\"qi\"", "\"k\""];
    let before = &text[at.saturating_sub(LONGEST)..at];
    let start = at - before.len() + before.iter().rposition(|byte| b"{}".contains(byte)).unwrap_or(0);
    let behind = &text[at..text.len().min(at + LONGEST)];
    let end = at + behind.iter().position(|byte| b"{}".contains(byte)).unwrap_or(behind.len());
    let key = &text[start..end];
    let value = |field: &&str| {
        let name = memchr::memmem::find(key, field.as_bytes())? + field.len();
        let is_between = |byte: &u8| b": \"\t\r\n".contains(byte);
        let value = name + key[name..].iter().take(8).take_while(|byte| is_between(byte)).count();
        let last = end_of_run(key, value, URL_SAFE | EQUALS, LONGEST);
        (last - value >= 20).then_some(start + value..start + last)
    };
    FIELDS.iter().filter_map(value).collect()
}

/// The token after `Bearer`. In a header it may be short.
pub fn bearer(text: &[u8], start: usize) -> Option<Range<usize>> {
    let token = token_after_scheme(text, start, b"bearer".len())?;
    let characters = &text[token.clone()];
    let has_digit = || characters.iter().any(u8::is_ascii_digit);
    let is_short_one = || is_in_header(text, start) && has_digit() && entropy(characters) >= 2.5;
    let is_one =
        characters.len() >= 16 && is_random(characters, 14) || characters.len() >= 8 && is_short_one();
    is_one.then_some(token)
}

/// The token after `Basic`: base64 of `user:password`.
pub fn basic(text: &[u8], start: usize) -> Option<Range<usize>> {
    let token = token_after_scheme(text, start, b"basic".len())?;
    let characters = &text[token.clone()];
    let is_word = characters.iter().skip(1).all(u8::is_ascii_lowercase);
    if characters.len() < 8 || is_word || characters.iter().any(|byte| is_of(*byte, DASH | DOT)) {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(characters).ok()?).ok()?;
    (pair.contains(':') && !pair.contains(char::is_control)).then_some(token)
}

/// The token after an authentication scheme.
fn token_after_scheme(text: &[u8], start: usize, length: usize) -> Option<Range<usize>> {
    if !begins_at(text, start, URL_SAFE) {
        return None;
    }
    let rest = &text[start + length..];
    let spaces = rest.iter().take(4).take_while(|byte| **byte == b' ').count();
    let quoted = rest.get(spaces).is_some_and(|byte| b"\"'`".contains(byte));
    let token = start + length + spaces + usize::from(quoted);
    let mut end =
        end_of_run(text, token, URL_SAFE | DOT | PLUS_SLASH | EQUALS | key_format_table::TILDE, usize::MAX);
    while end > token && text[end - 1] == b'.' {
        end -= 1;
    }
    (spaces > 0 && end > token && ends_at(text, end)).then_some(token..end)
}

fn is_in_header(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(24)..at];
    before.windows(13).any(|word| word.eq_ignore_ascii_case(b"authorization"))
}

/// The maximum length of a word with a number in names, such as `release2024`.
const LONGEST_WORD: usize = 14;

/// The Shannon entropy of the first 256 bytes, in bits per byte.
pub fn entropy(bytes: &[u8]) -> f64 {
    let bytes = &bytes[..bytes.len().min(256)];
    let mut counts = [0_u16; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    let share = |count: u16| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(share).sum()
}

/// Counts that distinguish random characters from names.
#[derive(Clone, Copy, Debug, Default)]
struct CharacterCounts {
    letters_and_digits: usize,
    digits: usize,
    upper: usize,
    lower: usize,
    /// The pieces of a name: `getUser2` has three, `get`, `User` and `2`.
    pieces: usize,
    /// Changes between letters and digits.
    turns: usize,
    /// Whether a part between separators is neither a word nor a number.
    has_odd_part: bool,
    is_hex: bool,
    /// The letters of words: capitalized ones, and lower-case or upper-case ones between separators.
    in_words: usize,
    words: usize,
}

impl CharacterCounts {
    fn of(bytes: &[u8]) -> Self {
        let mut counts = Self { is_hex: true, ..Self::default() };
        let mut before = 0_u8;
        for &byte in bytes {
            counts.digits += usize::from(byte.is_ascii_digit());
            counts.upper += usize::from(byte.is_ascii_uppercase());
            counts.lower += usize::from(byte.is_ascii_lowercase());
            counts.is_hex &= byte.is_ascii_hexdigit();
            let turns = before.is_ascii_alphanumeric() && before.is_ascii_digit() != byte.is_ascii_digit();
            let is_hump = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
            if byte.is_ascii_alphanumeric() {
                counts.turns += usize::from(turns);
                counts.pieces += usize::from(turns || is_hump || !before.is_ascii_alphanumeric());
            }
            before = byte;
        }
        counts.letters_and_digits = counts.digits + counts.upper + counts.lower;
        counts.has_odd_part = bytes.split(|byte| !byte.is_ascii_alphanumeric()).any(is_odd);
        for part in bytes.split(|byte| !byte.is_ascii_alphanumeric()) {
            counts.add_words(part);
        }
        counts
    }

    /// Counts the words of a part between separators.
    fn add_words(&mut self, part: &[u8]) {
        let mut at = 0;
        while at < part.len() {
            let rest = &part[at..];
            let capitals = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
            let small = rest[capitals.min(1)..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
            let length = match capitals {
                0 | 1 => capitals.min(1) + small,
                capitals => capitals,
            };
            let ends_well = part.get(at + length).is_none_or(u8::is_ascii_uppercase);
            let is_word = match capitals {
                0 => small >= 3 && at == 0 && ends_well,
                1 => small >= 2,
                capitals => capitals >= 3 && capitals == part.len(),
            };
            if is_word && length <= LONGEST_WORD {
                self.in_words += length;
                self.words += 1;
            }
            at += length.max(1);
        }
    }

    /// Whether most characters belong to words, as in `base64Token2Key`.
    fn is_mostly_words(self) -> bool {
        self.words >= 2 && self.in_words * 5 >= self.letters_and_digits * 3
    }

    fn letters_a_piece(self) -> f64 {
        self.letters_and_digits as f64 / self.pieces.max(1) as f64
    }
}

/// Whether a part is neither a word, optionally with a number, nor a number.
pub fn is_odd(part: &[u8]) -> bool {
    let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = part.split_at(letters);
    let rest = word.get(1..).unwrap_or_default();
    let is_word = rest.iter().all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase);
    part.len() > LONGEST_WORD || !is_word || !number.iter().all(u8::is_ascii_digit)
}

/// Whether the bytes look like a random key rather than a name.
pub fn is_random(bytes: &[u8], shortest: usize) -> bool {
    let counts = CharacterCounts::of(&bytes[..bytes.len().min(256)]);
    let CharacterCounts { letters_and_digits, digits, upper, lower, turns, has_odd_part, is_hex, .. } =
        counts;
    if letters_and_digits < shortest || !has_odd_part || entropy(bytes) < 2.75 {
        return false;
    }
    let letters = upper + lower;
    let a_piece = counts.letters_a_piece();
    if digits > 0 && !is_hex && counts.is_mostly_words() {
        return false;
    }
    // Both cases and a digit, mixed unlike in any name.
    if digits > 0
        && upper >= 3
        && lower >= 3
        && counts.in_words * 5 < letters_and_digits * 2
        && a_piece <= 4.0
    {
        return true;
    }
    match digits {
        // Only letters: both cases, mixed unlike in any name.
        0 => 2 * upper >= lower && 2 * lower >= upper && a_piece <= 5.0 && letters_and_digits >= 20,
        _ if is_hex => letters >= 1 && letters_and_digits >= 16,
        1 if letters_and_digits > 16 => upper > 0 && lower > 0 && a_piece <= 3.6,
        // Such names have few numbers, and long words.
        _ => letters >= 1 && (a_piece <= 2.6 || turns >= 3 && a_piece <= 4.0),
    }
}

/// Whether a text looks like a password: letters with digits in between, or with digits and symbols.
pub fn is_password(bytes: &[u8]) -> bool {
    let counts = CharacterCounts::of(&bytes[..bytes.len().min(256)]);
    let CharacterCounts { letters_and_digits, digits, turns, .. } = counts;
    let has_sign = bytes.iter().any(|byte| b"!@#$%^&*?".contains(byte));
    let has_both = digits > 0 && letters_and_digits > digits;
    let is_shaped = turns >= 3 && !counts.is_mostly_words() || has_sign;
    bytes.len() >= 8 && (has_both && is_shaped || is_random(bytes, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_generator_made_is_told_from_what_people_write() {
        let random = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY d41d8cd98f00b204e9800998ecf8427e \
                      550e8400-e29b-41d4-a716-446655440000 q7Zk2mP0xV9nT4bL hXmQpZtWbKvRnYcJfLgD";
        for text in random.split_whitespace() {
            assert!(is_random(text.as_bytes(), 16), "{text}");
        }
        let written = "correct-horse-battery-staple YOUR_API_KEY_GOES_HERE v2-beta3-release4-2024 authentication \
                       Base64EncodedString2019 get_user_by_id_from_database aaaaaaaaaaaaaaaaaaaaaaaa1 2019-2022 \
                       my-super-secret-token-2024 x86_64-unknown-linux-gnu the_key_of_the_test_suite_1";
        for text in written.split_whitespace() {
            assert!(!is_random(text.as_bytes(), 16), "{text}");
        }
    }

    #[test]
    fn passwords_are_told_from_words() {
        for text in ["S3cr3tPassw0rd", "hunter2hunter2", "Summer2024!", "Tr0ub4dor&3"] {
            assert!(is_password(text.as_bytes()), "{text}");
        }
        for text in ["required", "Utf8String", "string", "hunter2", "changeme", "correct-horse"] {
            assert!(!is_password(text.as_bytes()), "{text}");
        }
    }
}
