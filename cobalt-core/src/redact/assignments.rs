//! Values after a name that marks them as secret: `?api_key=…`, `password: …`, `"token": "…"`.

use std::ops::Range;

use super::key_format_table::{ALNUM, Alphabet, DASH, DOT, EQUALS, PLUS_SLASH, TILDE, UNDERSCORE, is_of};
use super::key_formats::{begins_at, end_of_run, ends_at, is_password, is_random};
use super::marks;

/// The maximum length of a name.
const LONGEST_NAME: usize = 64;
/// The maximum length of a value: an AWS session token has about 1,000 characters.
const LONGEST_VALUE: usize = 8192;
/// The minimum number of letters and digits of a key.
const SHORTEST_KEY: usize = 16;

/// Endings of names whose values are keys.
const KEYS: [&str; 18] = [
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

/// The kind of secret that a name indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    Key,
    Password,
    Secret,
    Token,
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
        while length > 0 && letters[length - 1].is_ascii_digit() {
            length -= 1;
        }
        let name = &letters[..length];
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end.as_bytes()));
        if ends(&PASSWORDS) {
            Some(Self::Password)
        } else if ends(&KEYS) {
            Some(Self::Key)
        } else if ends(&["secret"]) {
            Some(Self::Secret)
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
            Self::Key | Self::Secret | Self::Token => is_random(value, SHORTEST_KEY),
        }
    }
}

/// Whether a value is an absolute path.
fn is_absolute(value: &[u8]) -> bool {
    matches!(value, [b'/', ..] | [b'A'..=b'Z' | b'a'..=b'z', b':', b'/' | b'\\', ..])
}

fn is_placeholder(value: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(value, part).is_some();
    b"$%{<".contains(&value[0])
        || value.iter().any(|byte| b"{}<>[]() ".contains(byte) || byte.is_ascii_control())
        || ["xxxx", "****", "...", "example", "placeholder", "://"].iter().any(|part| has(part.as_bytes()))
        || value.len() > 4 && value[..4].eq_ignore_ascii_case(b"your")
}

/// The value after a name that ends at `end`, with the name's kind.
pub fn value(text: &[u8], end: usize) -> Option<(Range<usize>, SecretKind)> {
    // Most names are not followed by a value.
    let after = text.get(end).filter(|byte| b"=:\"'`\\ \t]".contains(byte) || byte.is_ascii_digit())?;
    let end =
        if after.is_ascii_digit() { end_of_run(text, end, super::key_format_table::DIGIT, 4) } else { end };
    // The name in a redaction mark is not a field name.
    if *after == b']' && marks::ends_at(text, end + 1) {
        return None;
    }
    let (start, operator) = operator(text, end)?;
    let is_of_name = |byte: &&u8| is_of(**byte, ALNUM | UNDERSCORE | DASH | DOT);
    let length = text[..end].iter().rev().take(LONGEST_NAME).take_while(is_of_name).count();
    let name = end - length;
    // After a slash, it is part of a path.
    let before = name.checked_sub(1).map(|before| text[before]);
    if before == Some(b'/') || before == Some(b']') && marks::ends_at(text, name) {
        return None;
    }
    let is_in_query = name > 0 && b"?&".contains(&text[name - 1]) && operator == Operator::Tight;
    let kind = match SecretKind::of(&text[name..end]) {
        None if is_in_query && [&b"key"[..], b"sig", b"signature"].contains(&&text[name..end]) => {
            SecretKind::Key
        }
        kind => kind?,
    };
    if operator == Operator::Space && !text[name..].starts_with(b"--") {
        return None;
    }
    let value = value_range(text, start, kind, operator)?;
    kind.fits(&text[value.clone()]).then_some((value, kind))
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

/// Endings of words that mark a name as secret. `tokens` is missing, as a number of tokens is not secret.
const SECRET_ENDINGS: [&str; 12] = [
    "credential",
    "credentials",
    "key",
    "keys",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pwd",
    "secret",
    "token",
];
/// Whole words that mark a name as secret.
const SECRET_WORDS: [&str; 3] = ["auth", "authorization", "secrets"];
/// Names that end like those of secrets: `PWD` is the current folder in every shell.
const HARMLESS: [&str; 3] = ["pwd", "oldpwd", "bypass"];

/// Last words that make a name harmless despite a secret word before: `AUTH0_DOMAIN`, `AWS_KMS_KEY_ID`.
const HARMLESS_ENDINGS: [&str; 40] = [
    "alg",
    "algorithm",
    "audience",
    "backend",
    "count",
    "domain",
    "encoding",
    "expires",
    "expiry",
    "file",
    "format",
    "host",
    "hostname",
    "id",
    "issuer",
    "length",
    "lifetime",
    "limit",
    "method",
    "mode",
    "model",
    "name",
    "path",
    "port",
    "prefix",
    "provider",
    "region",
    "scheme",
    "scope",
    "scopes",
    "server",
    "size",
    "store",
    "template",
    "ttl",
    "type",
    "user",
    "username",
    "vault",
    "version",
];

/// Whether the value of a variable or parameter with this name must be redacted everywhere. Values that only describe a secret are
/// excluded, as ordinary texts may contain them.
pub fn holds_secret(name: &str) -> bool {
    let words = words_of_name(name);
    let is_open = match &*words {
        // Vault's secret ID is as secret as a password.
        [.., before, last] if before == "secret" && last == "id" => false,
        words => words.last().is_some_and(|last| HARMLESS_ENDINGS.contains(&&**last)),
    };
    is_secret(name) && !is_open
}

/// Whether the name of a variable or setting indicates a secret.
pub fn is_secret(name: &str) -> bool {
    !HARMLESS.contains(&&*name.to_lowercase()) && words_of_name(name).iter().any(|word| is_secret_word(word))
}

fn is_secret_word(word: &str) -> bool {
    // Such as `OPENAI_KEY2`.
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    SECRET_WORDS.contains(&word) || SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// The words of `API_KEY`, `api.key`, `apiKey` or `APIKey`, in lower case.
fn words_of_name(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let after = at.checked_sub(1).map(|before| letters[before]);
        let is_hump = letter.is_uppercase()
            && after.is_some_and(|after| {
                let ends_capitals = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
                after.is_lowercase() || after.is_numeric() || after.is_uppercase() && ends_capitals
            });
        if is_hump || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        let secret = "OPENAI_API_KEY GITHUB_TOKEN db.password APIKEY Client-Secret PGPASSWORD DB_PASS MYSQL_PWD \
                      apiToken AUTHTOKEN OPENAI_KEY2 APIKeyOfDesk clientSecretValue Authorization";
        for name in secret.split_whitespace() {
            assert!(is_secret(name), "{name}");
        }
        for name in "RUST_LOG KEYBOARD_LAYOUT AUTHOR MODEL PWD OLDPWD MAX_TOKENS passengers".split(' ') {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn names_that_describe_a_secret_hold_none() {
        let open = "AUTH0_DOMAIN AUTH_USER AUTH_METHOD AWS_KMS_KEY_ID keyName authType ENCRYPTION_KEY_ALGORITHM \
                    TOKEN_ISSUER AUTH_SERVER TOKEN_MODEL TOKEN_EXPIRES KEY_VAULT SECRET_VERSION";
        for name in open.split_whitespace() {
            assert!(is_secret(name) && !holds_secret(name), "{name}");
        }
        for name in "OPENAI_API_KEY AUTH0_CLIENT_SECRET VAULT_SECRET_ID AUTH_HEADER DB_PASSWORD".split(' ') {
            assert!(holds_secret(name), "{name}");
        }
    }
}
