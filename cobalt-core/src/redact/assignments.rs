//! Values after a name that marks them as secret: `?api_key=…`, `password: …`, `"token": "…"`, `<password>…`, and
//! `"name": "API_KEY", "value": "…"`.

use std::ops::Range;

use base64::Engine as _;

use super::key_format_table::{ALNUM, Alphabet, DASH, DOT, EQUALS, PLUS_SLASH, TILDE, UNDERSCORE, is_of};
use super::key_formats::{STANDARD, begins_at, end_of_run, ends_at, is_mixed, is_password, is_random};
use super::names::OTHER_WORDS;
use super::{headers, marks};

/// The maximum length of a name.
const LONGEST_NAME: usize = 64;
/// The maximum length of a value: an AWS session token has about 1,000 characters.
const LONGEST_VALUE: usize = 8192;
/// The minimum number of letters and digits of a key.
const SHORTEST_KEY: usize = 16;

/// From this length on, a key need not look entirely random.
const LONG_KEY: usize = 20;

/// Endings of names whose values are keys.
const KEYS: [&str; 24] = [
    "apikey",
    "accesskey",
    "secretkey",
    "secretaccesskey",
    "privatekey",
    "accountkey",
    "sharedkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "authkey",
    "subscriptionkey",
    "servicekey",
    "appkey",
    "clientkey",
    "storagekey",
    "functionkey",
    "licensekey",
    "presharedkey",
    "secretkeybase",
    "dockerconfigjson",
    "dockercfg",
    "apikeys",
    "secretkeys",
];
/// Endings of names whose values are passwords.
const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "passcode", "pwd"];
/// Words before `token` that make it harmless: a page token, or a token of a model's vocabulary.
const HARMLESS_TOKENS: [&str; 20] = [
    "page",
    "next",
    "previous",
    "prev",
    "continuation",
    "continue",
    "cursor",
    "sync",
    "resume",
    "csrf",
    "xsrf",
    "stop",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "special",
    "max",
    "last",
];

/// Names of cookies with sessions. Other session IDs name conversations.
const SESSIONS: [&str; 4] = ["jsessionid", "phpsessid", "aspnetsessionid", "connectsid"];
/// Words after the name of a secret that still name one: `API_KEY_PROD`, `token_value`.
const SUFFIXES: [&str; 16] = [
    "value",
    "prod",
    "production",
    "dev",
    "test",
    "staging",
    "live",
    "old",
    "new",
    "primary",
    "secondary",
    "base64",
    "b64",
    "raw",
    "header",
    "v",
];
/// Values of fields for passwords that are none.
const NO_PASSWORDS: [&str; 26] = [
    "string",
    "text",
    "password",
    "passwd",
    "passphrase",
    "required",
    "optional",
    "secret",
    "hidden",
    "none",
    "null",
    "true",
    "false",
    "undefined",
    "number",
    "integer",
    "boolean",
    "object",
    "varchar",
    "username",
    "example",
    "default",
    "unknown",
    "missing",
    "changeme",
    "placeholder",
];
/// Parts of names of accounts.
const ACCOUNTS: [&str; 4] = ["user", "uid", "login", "email"];
/// Fields of connection strings, which are for an account.
const HOSTS: [&str; 2] = ["server=", "host="];
/// How far from a password they are looked for, in bytes.
const NEAR: usize = 160;

/// The kind of secret that a name indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    Key,
    Password,
    Secret,
    Token,
    /// A field such as docker's `auth`: base64 of a user and a password, or a random value.
    Auth,
    /// The value of a header, with a scheme.
    Authorization,
    Cookie,
}

impl SecretKind {
    /// The kind that a name indicates, if any.
    pub fn of(name: &[u8]) -> Option<Self> {
        let (mut letters, mut length) = ([0; LONGEST_NAME], 0);
        for byte in
            name[name.len().saturating_sub(LONGEST_NAME)..].iter().filter(|byte| byte.is_ascii_alphanumeric())
        {
            letters[length] = byte.to_ascii_lowercase();
            length += 1;
        }
        let name = &letters[..length];
        Self::of_letters(without_digits(name)).or_else(|| {
            let plain = SUFFIXES.iter().find_map(|suffix| {
                let name = if suffix.ends_with(|letter: char| letter.is_ascii_digit()) {
                    name
                } else {
                    without_digits(name)
                };
                name.strip_suffix(suffix.as_bytes())
            });
            Self::of_letters(without_digits(plain?))
        })
    }

    /// The kind of a name in small letters.
    fn of_letters(name: &[u8]) -> Option<Self> {
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end.as_bytes()));
        if ends(&PASSWORDS) || name.ends_with(b"pass") && !ends(&OTHER_WORDS) {
            Some(Self::Password)
        } else if ends(&KEYS) {
            Some(Self::Key)
        } else if ends(&["secret", "credential", "credentials"]) {
            Some(Self::Secret)
        } else if ends(&["authorization"]) {
            Some(Self::Authorization)
        } else if ends(&["cookie", "cookies"]) {
            Some(Self::Cookie)
        } else if ends(&["auth"]) {
            Some(Self::Auth)
        } else if ends(&SESSIONS) {
            Some(Self::Token)
        } else if let Some(before) = name.strip_suffix(b"token") {
            (!HARMLESS_TOKENS.iter().any(|word| before.ends_with(word.as_bytes()))).then_some(Self::Token)
        } else {
            None
        }
    }

    /// The name used in the redaction mark.
    pub fn id(self) -> &'static str {
        match self {
            Self::Key => "api-key",
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Auth => "auth",
            Self::Authorization => "authorization",
            Self::Cookie => "cookie",
        }
    }

    /// Whether a value fits the kind, and is neither a placeholder nor an ordinary word.
    pub fn fits(self, value: &[u8]) -> bool {
        if value.len() < 8 || value.len() > LONGEST_VALUE || is_placeholder(value) {
            return false;
        }
        match self {
            // The shell's `PWD` and `OLDPWD` end like names of passwords, but contain folders.
            Self::Password => !is_absolute(value) && is_password(value),
            Self::Auth => is_account(value) || is_random(value, SHORTEST_KEY),
            Self::Key | Self::Secret | Self::Token | Self::Authorization | Self::Cookie => {
                let is_key =
                    |part: &[u8]| is_random(part, SHORTEST_KEY) || part.len() >= LONG_KEY && is_mixed(part);
                !is_expression(value)
                    && (is_key(value) || value.split(|byte| !byte.is_ascii_alphanumeric()).any(is_key))
            }
        }
    }

    /// The secrets in a value with such a name.
    pub fn secrets(self, value: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::Authorization => headers::credentials(value),
            Self::Cookie => headers::cookies(value),
            _ => {
                let start = value.len() - value.trim_ascii_start().len();
                let whole = start..start + value.trim_ascii().len();
                Some(whole).filter(|whole| self.fits(&value[whole.clone()])).into_iter().collect()
            }
        }
    }
}

fn without_digits(name: &[u8]) -> &[u8] {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    &name[..name.len() - digits]
}

/// Whether a value is base64 of a user and a password.
fn is_account(value: &[u8]) -> bool {
    let decoded = STANDARD.decode(value).ok().and_then(|decoded| String::from_utf8(decoded).ok());
    decoded.is_some_and(|pair| {
        pair.split_once(':').is_some_and(|(user, _)| !user.is_empty()) && !pair.contains(char::is_control)
    })
}

/// Whether a value is a path to a field in code, such as `self.config.token`.
fn is_expression(value: &[u8]) -> bool {
    let mut parts = value.split(|byte| *byte == b'.');
    let is_name = |part: &[u8]| {
        part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.iter().all(|byte| is_of(*byte, ALNUM | UNDERSCORE))
    };
    let first = parts.next().unwrap_or_default();
    let is_word = (2..=12).contains(&first.len()) && first.iter().all(u8::is_ascii_lowercase);
    let rest: Vec<_> = parts.collect();
    is_word && !rest.is_empty() && rest.len() < 8 && rest.iter().all(|part| is_name(part) && part.len() <= 32)
}

/// Whether a value is a password although it may be a word, as its account is named nearby.
pub fn is_weak_password(value: &[u8]) -> bool {
    let is_of_password = |byte: &u8| byte.is_ascii_alphanumeric() || b"!@#$%^&*?+".contains(byte);
    let letters: Vec<u8> = value.to_ascii_lowercase();
    let has = |part: &str| memchr::memmem::find(&letters, part.as_bytes()).is_some();
    (6..=64).contains(&value.len())
        && value.iter().all(is_of_password)
        && !is_placeholder(value)
        && !NO_PASSWORDS.iter().any(|word| without_digits(&letters) == word.as_bytes())
        && !["pass", "pwd", "secret", "token"].iter().any(|part| has(part))
        && value.iter().any(u8::is_ascii_alphabetic)
}

/// Whether the name of a field names an account.
pub fn is_account_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ACCOUNTS.iter().any(|word| name.contains(word))
}

/// Whether an account is named near a password.
fn is_account_near(text: &[u8], name: usize, value: &Range<usize>) -> bool {
    let before = &text[name.saturating_sub(NEAR)..name];
    let behind = &text[value.end..text.len().min(value.end + NEAR)];
    [before, behind].into_iter().any(|part| {
        let part = part.to_ascii_lowercase();
        ACCOUNTS.iter().chain(&HOSTS).any(|word| memchr::memmem::find(&part, word.as_bytes()).is_some())
    })
}

/// Whether a value is an absolute path.
fn is_absolute(value: &[u8]) -> bool {
    matches!(value, [b'/', ..] | [b'A'..=b'Z' | b'a'..=b'z', b':', b'/' | b'\\', ..])
}

/// Whether a value stands for a secret or names one that is elsewhere.
pub fn is_placeholder(value: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(value, part).is_some();
    b"$%{<".contains(&value[0])
        || ["arn:", "op:", "vault:", "projects/"].iter().any(|start| value.starts_with(start.as_bytes()))
        || value.iter().any(|byte| b"{}<>[]() ".contains(byte) || byte.is_ascii_control())
        || ["xxxx", "****", "...", "example", "placeholder", "://"].iter().any(|part| has(part.as_bytes()))
        || value.len() > 4 && value[..4].eq_ignore_ascii_case(b"your")
}

/// The secrets in the value after a name that contains a hint that ends at `end`, with the name's kind.
pub fn secrets(text: &[u8], end: usize) -> Option<(Vec<Range<usize>>, SecretKind)> {
    // Most names are not followed by a value.
    let after =
        text.get(end).filter(|byte| b"=:\"'`\\ \t]>\r\n_-".contains(byte) || byte.is_ascii_digit())?;
    let end = match after {
        b'0'..=b'9' => end_of_run(text, end, super::key_format_table::DIGIT, 4),
        // A word such as `_PROD` may follow.
        b'_' | b'-' => end_of_run(text, end, ALNUM | UNDERSCORE | DASH, 16),
        _ => end,
    };
    // The name in a redaction mark is not a field name.
    if text.get(end) == Some(&b']') && marks::ends_at(text, end + 1) {
        return None;
    }
    let is_of_name = |byte: &&u8| is_of(**byte, ALNUM | UNDERSCORE | DASH | DOT);
    let length = text[..end].iter().rev().take(LONGEST_NAME).take_while(is_of_name).count();
    let name = end - length;
    // After a slash, it is part of a path.
    let before = name.checked_sub(1).map(|before| text[before]);
    if before == Some(b'/') || before == Some(b']') && marks::ends_at(text, name) {
        return None;
    }
    let is_element = before == Some(b'<') && text.get(end) == Some(&b'>');
    let (start, operator) = if is_element {
        (end + 1, Operator::Element)
    } else {
        operator(text, end).or_else(|| Some((labelled(text, end)?, Operator::Loose)))?
    };
    // A list with one value.
    let start = if text[start..].starts_with(b"[\"") { start + 1 } else { start };
    let is_in_query = before.is_some_and(|before| b"?&".contains(&before)) && operator == Operator::Tight;
    let kind = match SecretKind::of(&text[name..end]) {
        None if is_in_query => kind_in_query(&text[name..end])?,
        kind => kind?,
    };
    let is_option = text[name..].starts_with(b"--");
    let is_netrc = || kind == SecretKind::Password && is_netrc(text, name);
    if operator == Operator::Space && !is_option && !is_netrc() {
        return None;
    }
    if matches!(kind, SecretKind::Authorization | SecretKind::Cookie) {
        let value = line_range(text, start);
        let secrets = kind.secrets(&text[value.clone()]).into_iter();
        let secrets = secrets.map(|part| value.start + part.start..value.start + part.end);
        return Some((secrets.collect(), kind));
    }
    let value = match operator {
        Operator::Element => {
            start..start + text[start..].iter().take(LONGEST_VALUE).position(|byte| *byte == b'<')?
        }
        operator => value_range(text, start, kind, operator)?,
    };
    let written = &text[value.clone()];
    let is_quoted = value.start > start;
    let is_bare = !is_quoted
        && operator == Operator::Tight
        && text.get(value.end).is_none_or(|byte| b";& \n\r\"'\\<".contains(byte));
    let is_supported = || {
        if is_option || operator == Operator::Space {
            // Names may end with a number.
            has_digit_within(written)
        } else if is_variable(&text[name..end]) {
            !written.iter().all(u8::is_ascii_alphabetic)
        } else {
            (is_quoted || is_bare || operator == Operator::Element) && is_account_near(text, name, &value)
        }
    };
    let is_weak = || kind == SecretKind::Password && is_weak_password(written) && is_supported();
    if written.is_empty() {
        return None;
    }
    let is_secret =
        if is_code(&text[name..end]) { is_random(written, 30) } else { kind.fits(written) || is_weak() };
    is_secret.then(|| (vec![value], kind))
}

/// Whether this is the name of a variable of several words, such as `DB_PASSWORD`.
fn is_variable(name: &[u8]) -> bool {
    name.contains(&b'_')
        && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

fn has_digit_within(value: &[u8]) -> bool {
    value.windows(2).any(|pair| pair[0].is_ascii_digit() && !pair[1].is_ascii_digit())
}

/// The kind of a parameter of a URL whose name only there names a secret.
fn kind_in_query(name: &[u8]) -> Option<SecretKind> {
    let name = name.to_ascii_lowercase();
    let is_known = [&b"key"[..], b"sig", b"code"].contains(&&*name) || name.ends_with(b"signature");
    is_known.then_some(SecretKind::Key)
}

/// Whether a parameter may be an error code as well as a key of Azure functions.
fn is_code(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"code")
}

/// Whether a password is that of an account in a file `.netrc`.
fn is_netrc(text: &[u8], name: usize) -> bool {
    let before = &text[name.saturating_sub(2 * NEAR)..name];
    ["machine ", "login "].iter().all(|word| memchr::memmem::find(before, word.as_bytes()).is_some())
}

/// The start of the value in `"name": "API_KEY", "value": "…"`, after the name.
fn labelled(text: &[u8], end: usize) -> Option<usize> {
    let at = skip(text, end, b"\\\"'", 4);
    let next = skip(text, at, b", \t\r\n", 48);
    let is_pair = text[end.saturating_sub(13)..end].eq_ignore_ascii_case(b"authorization")
        && text[at..next].starts_with(b",");
    let at = skip(text, next, b"\\\"'", 4);
    let rest = text.get(at..at + 5)?;
    if at == end || !rest.eq_ignore_ascii_case(b"value") {
        // Headers may be pairs: `["authorization", "…"]`.
        return is_pair.then_some(next);
    }
    let at = skip(text, at + 5, b"\\\"' \t", 8);
    text.get(at).filter(|byte| b":=".contains(byte))?;
    Some(skip(text, at + 1, b" \t", 16))
}

/// The value of a header: to the end of its quotes or of its line.
fn line_range(text: &[u8], start: usize) -> Range<usize> {
    let escapes = skip(text, start, b"\\", 4);
    let quote = text.get(escapes).copied().filter(|byte| b"\"'`".contains(byte));
    let start = if quote.is_some() { escapes + 1 } else { start };
    let before = start.checked_sub(1).map(|before| text[before]);
    let ends = |at: usize| match (quote, text[at]) {
        (_, b'\n' | b'\r') => true,
        (Some(quote), byte) if byte == quote => escapes > 0 || text[at - 1] != b'\\' || before == Some(b'\\'),
        // Quotes around the whole header, as in `-H 'Cookie: …'`.
        (None, byte) => b"'`<".contains(&byte),
        _ => false,
    };
    let last = text.len().min(start + LONGEST_VALUE);
    start..(start..last).find(|at| ends(*at)).unwrap_or(last)
}

/// The operator between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `=` without a space.
    Tight,
    /// `=` or `:`, with spaces.
    Loose,
    /// Only a space, as after `--token`.
    Space,
    /// The end of a tag of XML.
    Element,
}

/// The operator after a name, and the start of the value.
fn operator(text: &[u8], end: usize) -> Option<(usize, Operator)> {
    // The end of a quoted name, which may be inside a quoted text: `"token\":`, `["token"]`.
    let at = skip(text, end, b"\\\"'`]", 6);
    let spaced = skip(text, at, b" \t", 16);
    let operator = match text.get(spaced..)? {
        [b'=', b'=', ..] | [b':', b':', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => spaced + 2,
        [b'=', ..] => spaced + 1,
        [b':', rest @ ..] => {
            // A type may be declared before the value: `API_KEY: &str = "…"`.
            let is_of_type = |byte: &&u8| is_of(**byte, ALNUM | UNDERSCORE) || b"&'<> ".contains(byte);
            let declared = rest.iter().take(24).take_while(is_of_type).count();
            let is_declared =
                declared > 1 && rest.get(declared) == Some(&b'=') && rest.get(declared - 1) == Some(&b' ');
            spaced + 1 + if is_declared { declared + 1 } else { 0 }
        }
        _ if spaced > at && at == end => return Some((spaced, Operator::Space)),
        _ => return None,
    };
    let value = skip(text, operator, b" \t", 16);
    let is_tight = spaced == end && value == operator && text[operator - 1] == b'=';
    Some((value, if is_tight { Operator::Tight } else { Operator::Loose }))
}

fn skip(text: &[u8], start: usize, bytes: &[u8], most: usize) -> usize {
    start + text[start..].iter().take(most).take_while(|byte| bytes.contains(byte)).count()
}

/// The value that starts at `start`, quoted or not.
fn value_range(text: &[u8], start: usize, kind: SecretKind, operator: Operator) -> Option<Range<usize>> {
    // Laravel's keys.
    let start = if text[start..].starts_with(b"base64:") { start + b"base64:".len() } else { start };
    let escapes = skip(text, start, b"\\", 4);
    if let Some(quote) = text.get(escapes).filter(|byte| b"\"'`".contains(byte)) {
        let value = escapes + 1;
        let rest = &text[value..];
        let length = quoted(rest, *quote, escapes > start)?;
        return Some(value..value + length);
    }
    if escapes > start || !begins_at(text, start, 0) {
        return None;
    }
    let is_sign = |byte: u8| kind == SecretKind::Password && b"!@$%^*#?".contains(&byte) || byte == b'%';
    const OF_KEYS: Alphabet = ALNUM | UNDERSCORE | DASH | DOT | PLUS_SLASH | TILDE;
    let rest = &text[start..];
    let length = rest.iter().position(|byte| !is_of(*byte, OF_KEYS) && !is_sign(*byte)).unwrap_or(rest.len());
    let mut end = end_of_run(text, start + length, EQUALS, 3);
    while end > start && text[end - 1] == b'.' {
        end -= 1;
    }
    // Calls, indexing and declarations are code.
    let is_code = text.get(end).is_some_and(|byte| b"([{<:".contains(byte));
    let is_short_code = operator == Operator::Loose && end - start < 12;
    (!is_code && !is_short_code && ends_at(text, end)).then_some(start..end)
}

/// The length of a quoted value. Inside a quoted text, such as JSON in JSON, the closing quote is preceded by backslashes; elsewhere
/// a backslash escapes the next quote.
fn quoted(rest: &[u8], quote: u8, is_within_quotes: bool) -> Option<usize> {
    let mut at = 0;
    while at <= LONGEST_VALUE {
        let next = at + memchr::memchr3(quote, b'\n', b'\\', rest.get(at..)?)?;
        if rest[next] != b'\\' {
            return (rest[next] == quote).then_some(next);
        }
        let behind = skip(rest, next, b"\\", usize::MAX);
        if is_within_quotes && rest.get(behind) == Some(&quote) {
            return Some(next);
        }
        at = if is_within_quotes { behind } else { next + 2 };
    }
    None
}
