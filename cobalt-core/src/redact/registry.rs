//! Known secret values, from settings, variables and code.
//!
//! They are registered for the whole process and found in all of its output, also in the usual encodings.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::key_formats::{entropy, is_random};
use super::marks;
use super::names::holds_secret;
use super::scanner::{Pattern, Scanner};
use crate::hash::hex;

/// Shorter values are part of many ordinary texts.
const SHORTEST: usize = 8;
/// Words up to this length also occur in ordinary texts: `development`.
const LONGEST_WORDS: usize = 15;
/// Numbers with fewer digits may be a date, a time or an amount.
pub const FEWEST_DIGITS: usize = 12;
/// Longer values are files, not keys.
const LONGEST: usize = 64 * 1024;
/// URL parameters whose values are never secret.
pub const HARMLESS_PARAMETERS: [&str; 3] = ["api-version", "version", "region"];
/// URL parameters with secret values despite their names: signatures, and keys of Azure functions.
const SECRET_PARAMETERS: [&str; 3] = ["code", "sig", "signature"];
/// The minimum number of letters and digits for a part of a URL to count as a key.
const SHORTEST_PART: usize = 12;

#[derive(Debug)]
struct Registry {
    /// Names and values.
    secrets: Vec<(Arc<str>, String)>,
    forms: bool,
    /// Built from the above on demand.
    scanner: Option<Arc<Scanner>>,
}

static REGISTRY: RwLock<Registry> = RwLock::new(Registry { secrets: Vec::new(), forms: true, scanner: None });
/// Finds keys only by their format.
pub static FORMS: LazyLock<Arc<Scanner>> = LazyLock::new(|| Arc::new(Scanner::new(Vec::new(), true)));

/// The scanner for the currently known secrets and, unless disabled, for key formats.
pub fn scanner() -> Arc<Scanner> {
    if let Some(scanner) = &REGISTRY.read().unwrap_or_else(PoisonError::into_inner).scanner {
        return Arc::clone(scanner);
    }
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let Registry { secrets, forms, scanner } = &mut *registry;
    let make = || match (secrets.is_empty(), *forms) {
        (true, true) => Arc::clone(&FORMS),
        (_, forms) => Arc::new(Scanner::new(secrets.iter().flat_map(patterns).collect(), forms)),
    };
    Arc::clone(scanner.get_or_insert_with(make))
}

/// Enables or disables the detection of keys by their format for this process.
pub fn set_forms(on: bool) {
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    if registry.forms != on {
        registry.forms = on;
        registry.scanner = None;
    }
}

/// Registers a secret: from now on, all output of this process has `[redacted:<name>]` instead of the value. Values that also occur
/// in ordinary texts are ignored: short values, numbers, paths, single words.
pub fn register_secret(name: &str, value: &str) {
    let value = value.trim();
    if let Some((_, token)) = value.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)) {
        return register_secret(name, token);
    }
    if value.starts_with("https://") || value.starts_with("http://") {
        return register_address(name, value);
    }
    if !is_distinctive(value) || is_registered(value) {
        return;
    }
    let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    registry.secrets.push((marks::name(name).into(), value.to_owned()));
    registry.scanner = None;
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "apikey"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn is_registered(value: &str) -> bool {
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    registry.secrets.iter().any(|(_, known)| known == value)
}

/// Registers the secrets of a URL: the password, or the user if it is a key, and secret query parameters.
pub fn register_address(name: &str, address: &str) {
    let Some((_, rest)) = address.split_once("://") else { return };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split(['/', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let parameters = query.split('#').next().unwrap_or_default().split('&');
    let values = parameters.filter_map(|parameter| parameter.split_once('='));
    let values = values.filter(|(name, value)| is_secret_parameter(name, value)).map(|(_, value)| value);
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let user = Some(user).filter(|user| is_random(user.as_bytes(), SHORTEST_PART));
    for value in user.into_iter().chain([password]).chain(values) {
        register_part(name, value);
    }
}

/// Whether a parameter's value is a secret: by its name, or because it looks like neither a name, a date nor a version.
fn is_secret_parameter(name: &str, value: &str) -> bool {
    let has_key = || value.split(['-', '_', '.']).any(|part| is_random(part.as_bytes(), SHORTEST_PART));
    !HARMLESS_PARAMETERS.contains(&name)
        && (holds_secret(name, value) || SECRET_PARAMETERS.contains(&name) || has_key())
}

/// Registers the URL of a webhook, whose path is sufficient to send messages.
pub fn register_webhook(name: &str, address: &str) {
    register_secret(name, address);
    let Some((_, rest)) = address.split_once("://") else { return };
    let place = rest.split(['?', '#']).next().unwrap_or_default();
    let Some((_, path)) = place.split_once('/') else { return };
    // A path such as `api/v1/notifications` is not secret, and may occur in other texts.
    if path.split('/').any(is_distinctive) {
        register_part(name, path);
    }
}

/// Registers a part of a URL, which may be percent-encoded.
fn register_part(name: &str, part: &str) {
    let decoded = super::urls::decode_percent(part.as_bytes()).map(|decoded| decoded.bytes);
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    register_secret(name, decoded.as_deref().unwrap_or(part));
}

/// Registers the values of variables that hold secrets, and the passwords of URLs in others.
pub fn register_variables<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (name, value) in variables {
        if holds_secret(name, value) {
            register_secret(name, value);
        } else if value.contains('@') && value.contains("://") {
            register_address(name, value);
        }
    }
}

/// Registers the secret variables of this process's environment.
pub fn register_environment() {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    variables.for_each(|(name, value)| register_variables([(&*name, &*value)]));
}

/// Registers the secret variables of a `.env` file, if it exists. Lines that are not assignments are skipped.
pub fn register_env_file(path: &std::path::Path) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim().trim_start_matches("export ");
        let Some((name, value)) = line.split_once('=') else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|quote| "\"'".contains(*quote));
        let value = match quote {
            // A quoted value may span several lines.
            Some(quote) => match quoted(&value[1..], quote, &mut lines) {
                Some(value) => value,
                // The quote is part of the value, and the next line is a separate assignment.
                None => without_comment(value).to_owned(),
            },
            None => without_comment(value).to_owned(),
        };
        register_variables([(name.trim(), &*value)]);
        // Programs that load the file see the unescaped value.
        if quote != Some('\'') && value.contains('\\') {
            register_variables([(name.trim(), &*unescape(&value))]);
        }
    }
}

/// A quoted value that starts in `first` and may end in one of the next lines, which are then consumed. `None` if the quote is not
/// closed.
fn quoted<'a>(
    first: &'a str,
    quote: char,
    lines: &mut (impl Iterator<Item = &'a str> + Clone),
) -> Option<String> {
    let mut ahead = lines.clone();
    let (mut value, mut line) = (String::new(), first);
    while value.len() + line.len() <= LONGEST {
        if let Some(end) = closing_quote(line, quote) {
            *lines = ahead;
            return Some(value + &line[..end]);
        }
        value = value + line + "\n";
        line = ahead.next()?;
    }
    None
}

/// An unquoted value without a trailing comment.
fn without_comment(value: &str) -> &str {
    let ends = value.match_indices('#').find(|(at, _)| value[..*at].ends_with(char::is_whitespace));
    ends.map_or(value, |(at, _)| &value[..at])
}

/// The end of a quoted value. In double quotes, a backslash escapes a quote.
fn closing_quote(value: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    value.char_indices().find_map(|(at, letter)| {
        let ends = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && quote == '"' && !is_escaped;
        ends.then_some(at)
    })
}

/// Resolves the escapes of `.env` files: `\"`, `\\`, `\$` and `\n`.
fn unescape(value: &str) -> String {
    let (mut plain, mut letters) = (String::with_capacity(value.len()), value.chars());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => plain.push('\n'),
            Some(escaped) if "\"\\$'".contains(escaped) => plain.push(escaped),
            other => plain.extend(Some('\\').into_iter().chain(other)),
        }
    }
    plain
}

/// Whether a value does not occur in ordinary texts.
pub fn is_distinctive(value: &str) -> bool {
    let is_number = value
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter.is_whitespace() || ".,:_+-/".contains(letter));
    // Keys may be long numbers, also in groups; times, amounts and addresses contain other characters.
    let is_numeric_key = value.bytes().filter(u8::is_ascii_digit).count() >= FEWEST_DIGITS
        && !value.contains(['.', ',', ':', '_', '+', '/']);
    let is_words = value
        .chars()
        .all(|letter| letter.is_alphabetic() || letter.is_whitespace() || "_.-".contains(letter));
    let is_mixed = || entropy(value.as_bytes()) >= 3.0 && is_random(value.as_bytes(), SHORTEST);
    let is_short_of_words = is_words && value.chars().count() <= LONGEST_WORDS && !is_mixed();
    let is_placeholder = value.starts_with("${") || value.starts_with('<') && value.ends_with('>');
    (SHORTEST..=LONGEST).contains(&value.len())
        && (!is_number || is_numeric_key)
        && !is_short_of_words
        && !is_placeholder
        && !is_path(value)
        && !value.contains(marks::MARK_START)
        && entropy(value.as_bytes()) >= 1.5
}

fn is_path(value: &str) -> bool {
    let is_drive = value.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\" || rest == b":/");
    let begins = ["/", "./", "../", "~/", "\\\\"].iter().any(|begin| value.starts_with(begin));
    // Base64 may also start with a slash.
    (begins || is_drive) && (value.contains(['.', '-', '_', ' ', ':']) || !is_random(value.as_bytes(), 16))
}

/// The encodings of a secret to search for. Percent-encoding and JSON escapes have many variants, so the text is decoded
/// instead.
pub fn patterns((name, value): &(Arc<str>, String)) -> Vec<Pattern> {
    let bytes = value.as_bytes();
    let mut written = vec![bytes.to_vec(), hex(bytes).into_bytes(), hex(bytes).to_uppercase().into_bytes()];
    if value.contains(' ') {
        written.push(value.replace(' ', "+").into_bytes());
    }
    // In base64, a byte's characters depend on its position modulo three; those shared with neighboring bytes are excluded.
    for before in 0..3 {
        let padded = [&[0; 3][..before], bytes].concat();
        let characters = [0, 2, 3][before]..(padded.len() * 8) / 6;
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            written.push(text[characters.clone()].as_bytes().to_vec());
        }
    }
    for text in [STANDARD_NO_PAD.encode(bytes), URL_SAFE_NO_PAD.encode(bytes)] {
        written.push(text.into_bytes());
    }
    written.sort_unstable();
    written.dedup();
    let patterns = written.into_iter().filter(|bytes| bytes.len() >= SHORTEST);
    patterns.map(|bytes| Pattern { bytes, name: Arc::clone(name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_ordinary_texts_have_are_not_registered() {
        let ordinary = [
            "",
            "true",
            "1",
            "test",
            "hunter2",
            "20240101",
            "2024-01-01",
            "2024-01-01 12:00:00",
            "192.168.100.200:8080",
            "/tmp/ssh-a1B2c3D4e5/agent.4711",
            "./key.pem",
            "C:\\keys\\a.pem",
            "development",
            "changeme",
            "local-server",
            "<your key>",
            "${OPENAI_API_KEY}",
            "xxxxxxxxxxxxxxxx",
            "https://login.example.com/oauth",
        ];
        for value in ordinary {
            assert!(!is_distinctive(value) || value.starts_with("https://"), "{value}");
        }
        for value in [
            "s3cret-of-the-test",
            "/K7MDENGbPxRfiCYEXAMPLE0/wJalrXUtnFEMI00",
            "correct horse battery staple",
            "swordfish-4711",
            "83920174658392017465",
            "4711-0815-2342-9981",
        ] {
            assert!(is_distinctive(value), "{value}");
        }
    }
}
