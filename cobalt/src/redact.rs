//! Keys and passwords, kept out of what is stored, shown or served.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// What stands for a secret.
pub const REDACTED: &str = "[redacted]";

/// How keys of known vendors, and tokens that are signed JSON, begin.
const BEGINNINGS: [&str; 14] = [
    "sk-",
    "sk_",
    "lsv2_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "xox",
    "AKIA",
    "AIza",
    "hf_",
    SIGNED,
];
/// How a token begins that is signed JSON: three parts, with full stops between them.
const SIGNED: &str = "eyJ";
/// The fewest characters of a key, its beginning among them.
const SHORTEST: usize = 16;
/// What stands before the secret in the header of a request.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// The fewest characters of a secret behind a scheme, if there is a digit among them; else it may be an English word.
const SHORTEST_WITH_DIGIT: usize = 8;
/// How a word of a name ends that says that it holds a secret. A number of tokens is no secret.
const ENDINGS: [&str; 12] = [
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
/// Whole words that say the same.
const WORDS: [&str; 3] = ["auth", "authorization", "secrets"];
/// Names that end like those of secrets: `PWD` is the current folder in every shell.
const HARMLESS: [&str; 3] = ["pwd", "oldpwd", "bypass"];

/// Whether a variable or a setting of this name holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    !HARMLESS.contains(&&*name.to_lowercase()) && words_of_name(name).iter().any(|word| says_secret(word))
}

fn says_secret(word: &str) -> bool {
    // As in `OPENAI_KEY2`.
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    WORDS.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending))
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

/// A text without what looks like a key, and without the secret part of an address.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut secrets: Vec<_> = keys(text).into_iter().chain(passwords(text)).chain(hooks(text)).collect();
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    secrets.sort_by_key(|secret| secret.start);
    let (mut shown, mut done) = (String::with_capacity(text.len()), 0);
    for Range { start, end } in secrets {
        // One of them may hold another, or its beginning.
        if start >= done {
            shown.push_str(&text[done..start]);
            shown.push_str(REDACTED);
        }
        done = done.max(end);
    }
    shown.push_str(&text[done..]);
    Cow::Owned(shown)
}

/// Takes what looks like a key out of a text.
pub(crate) fn redact(text: &mut String) {
    if let Cow::Owned(shown) = redacted(text) {
        *text = shown;
    }
}

/// Takes what looks like a key out of the texts of a value, which is not nested too deep.
pub(crate) fn redact_texts(value: &mut Value) {
    match value {
        Value::String(text) => redact(text),
        Value::Array(values) => values.iter_mut().for_each(redact_texts),
        Value::Object(fields) => fields.values_mut().for_each(redact_texts),
        _ => {}
    }
}

/// Where the keys are, and what stands behind `Bearer`.
fn keys(text: &str) -> Vec<Range<usize>> {
    let mut keys = Vec::new();
    let mut before = "";
    let mut from = 0;
    while let Some(start) = text[from..].find(is_of_word).map(|at| from + at) {
        let word = up_to(&text[start..], |letter| !is_of_word(letter));
        let long = up_to(&text[start..], |letter| !is_of_word(letter) && !"._~+/=".contains(letter));
        let long = long.trim_end_matches('.');
        let is_behind_scheme = SCHEMES.iter().any(|scheme| before.eq_ignore_ascii_case(scheme));
        let key = if is_behind_scheme && is_token(long) || word.starts_with(SIGNED) && is_key(word) {
            Some(long)
        } else {
            Some(word).filter(|word| is_key(word))
        };
        keys.extend(key.map(|key| start..start + key.len()));
        before = word;
        from = start + key.unwrap_or(word).len();
    }
    keys
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

fn up_to(text: &str, is_end: impl Fn(char) -> bool) -> &str {
    &text[..text.find(is_end).unwrap_or(text.len())]
}

fn is_key(word: &str) -> bool {
    word.len() >= SHORTEST && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

fn is_token(text: &str) -> bool {
    let has_digit = text.contains(|letter: char| letter.is_ascii_digit());
    text.len() >= SHORTEST || has_digit && text.len() >= SHORTEST_WITH_DIGIT
}

/// Where addresses go on behind their schemes.
fn addresses(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("://").map(|(at, mark)| at + mark.len())
}

/// Where the paths of addresses are by which anybody may write to a chat: `https://hooks.slack.com/services/…`.
fn hooks(text: &str) -> impl Iterator<Item = Range<usize>> {
    addresses(text).filter_map(|start| {
        let is_end = |letter: char| letter.is_whitespace() || "\"'`<>()[]".contains(letter);
        let (host, path) = up_to(&text[start..], is_end).split_once('/')?;
        let is_hook =
            host.starts_with("hooks.") || host.contains(".webhook.") || path.starts_with("api/webhooks/");
        let path = start + host.len() + 1..start + host.len() + 1 + path.len();
        Some(path).filter(|path| is_hook && !path.is_empty())
    })
}

/// Where the passwords in addresses are: `postgres://user:password@host`.
fn passwords(text: &str) -> impl Iterator<Item = Range<usize>> {
    addresses(text).filter_map(|start| {
        let rest = up_to(&text[start..], |letter| letter.is_whitespace() || matches!(letter, '"' | '`'));
        // Another address may follow at once.
        let rest = rest.split("://").next()?;
        let authority = up_to(rest, |letter| matches!(letter, '/' | '?' | '#'));
        let (user, behind) = authority.split_once(':')?;
        let is_port = behind.bytes().all(|byte| byte.is_ascii_digit()) || user.starts_with('[');
        if is_port && !authority.contains('@') {
            return None;
        }
        // A password that is not escaped may hold `@` and `/`: rather too much is hidden than too little.
        let password = user.len() + 1..rest.rfind('@')?;
        Some(start + password.start..start + password.end).filter(|password| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
    fn keys_are_taken_out_of_a_text() {
        let text = "401 for key sk-proj-abcdefghijklmnop, sent as `ghp_0123456789abcdefghij`";
        assert_eq!(redacted(text), "401 for key [redacted], sent as `[redacted]`");
    }

    #[test]
    fn an_address_by_which_anybody_may_write_to_a_chat_keeps_its_host() {
        let text =
            "string \"https://hooks.slack.com/services/T0/B0/x1\", or https://discord.com/api/webhooks/1/ab";
        let shown = "string \"https://hooks.slack.com/[redacted]\", or https://discord.com/[redacted]";
        assert_eq!(redacted(text), shown);
        let harmless = "https://hooks.slack.com/ and https://api.slack.com/messaging/webhooks";
        assert_eq!(redacted(harmless), harmless);
    }

    #[test]
    fn a_token_in_a_header_is_taken_out() {
        assert_eq!(redacted("Authorization: Bearer ab.12+cd/34="), "Authorization: Bearer [redacted]");
        assert_eq!(redacted("`basic dXNlcjpwYXNzd29yZA==`, as said"), "`basic [redacted]`, as said");
        assert_eq!(redacted("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl."), "[redacted].");
        assert_eq!(redacted("needs bearer authentication"), "needs bearer authentication");
    }

    #[test]
    fn the_password_of_an_address_is_taken_out() {
        assert_eq!(
            redacted("at postgres://cobalt:s3cret@db:5432/runs"),
            "at postgres://cobalt:[redacted]@db:5432/runs"
        );
        assert_eq!(redacted("postgres://u:p@ss/word@host/db"), "postgres://u:[redacted]@host/db");
        assert_eq!(redacted("postgres://u:pa/ss@host/db"), "postgres://u:[redacted]@host/db");
        assert_eq!(redacted("redis://:a@h,redis://:a@h a"), "redis://:[redacted]@h,redis://:[redacted]@h a");
        for text in
            ["at http://localhost:8080/a@b", "http://[::1]:80/a@b", "http://host/a:b@c", "http://u@host:1"]
        {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn keys_are_taken_out_of_the_texts_of_a_value() {
        let mut value = json!({ "a": ["sk-proj-abcdefghijklmnop", 1, { "b": "fine" }] });
        redact_texts(&mut value);
        assert_eq!(value, json!({ "a": ["[redacted]", 1, { "b": "fine" }] }));
    }

    #[test]
    fn a_text_without_secrets_stays_as_it_is() {
        for text in ["sk-short", "the task-oriented-approach", "0123456789abcdef0123456789abcdef", ""] {
            assert!(matches!(redacted(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
