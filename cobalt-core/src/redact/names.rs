//! Names of variables and settings that hold secrets.

use super::key_formats::{is_password as looks_like_password, is_random};

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
const HARMLESS: [&str; 2] = ["pwd", "oldpwd"];
/// Words that end like those of secrets.
pub const OTHER_WORDS: [&str; 16] = [
    "bypass",
    "compass",
    "donkey",
    "encompass",
    "hockey",
    "hotkey",
    "jockey",
    "mickey",
    "monkey",
    "overpass",
    "smokey",
    "surpass",
    "trespass",
    "turkey",
    "underpass",
    "whiskey",
];
/// Words before `key` with which its value describes data: `FOREIGN_KEY`.
const DATA_KEYS: [&str; 26] = [
    "cache",
    "column",
    "composite",
    "document",
    "foreign",
    "group",
    "hash",
    "idempotency",
    "index",
    "item",
    "lookup",
    "map",
    "message",
    "natural",
    "object",
    "partition",
    "primary",
    "public",
    "range",
    "routing",
    "row",
    "s3",
    "sort",
    "surrogate",
    "translation",
    "unique",
];
/// Last words after that of a secret that still name its value: `SECRET_KEY_BASE`, `API_KEY_PROD`.
const VALUE_WORDS: [&str; 26] = [
    "b64",
    "backup",
    "base",
    "base64",
    "bytes",
    "ci",
    "content",
    "current",
    "data",
    "default",
    "dev",
    "header",
    "hex",
    "json",
    "live",
    "main",
    "new",
    "old",
    "pem",
    "prod",
    "production",
    "raw",
    "staging",
    "test",
    "text",
    "value",
];
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

/// Last words after `key` of a value that identifies a key.
const DIGEST_WORDS: [&str; 6] = ["checksum", "commit", "digest", "fingerprint", "hash", "sha256"];

/// The minimum number of letters and digits of a random value of a variable whose name alone does not suffice.
const SHORTEST_RANDOM: usize = 16;

/// Whether the value of a variable or parameter must be redacted everywhere: by the last words of the name, or else by the value, as
/// ordinary texts may contain what only describes a secret.
pub fn holds_secret(name: &str, value: &str) -> bool {
    if !is_secret(name) {
        return false;
    }
    let words = words_of_name(name);
    let mut words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    // Vault's secret ID is as secret as a password.
    if words.ends_with(&["secret", "id"]) {
        words.pop();
    }
    while let [.., _, last] = *words
        && (VALUE_WORDS.contains(&last) || last.bytes().all(|byte| byte.is_ascii_digit()) || is_version(last))
    {
        words.pop();
    }
    let is_named = match *words {
        [.., before, "key" | "keys"] if DATA_KEYS.contains(&before) => false,
        [.., last] => is_secret_word(last),
        [] => false,
    };
    let is_password = words.last().is_some_and(|last| last.contains("pass") || last.ends_with("pwd"));
    if is_named {
        return is_password || !is_email(value);
    }
    // Such as `OPENAI_KEY_TEAM_A`, and not `KMS_KEY_ID`, whose value is random, too.
    let last = words.last().copied().unwrap_or_default();
    if HARMLESS_ENDINGS.contains(&last) || is_email(value) {
        return false;
    }
    let is_of_data = DIGEST_WORDS.contains(&last)
        || matches!(*words, [.., before, "key" | "keys"] if DATA_KEYS.contains(&before));
    let names_password =
        words.iter().any(|word| is_secret_word(word) && (word.contains("pass") || word.ends_with("pwd")));
    // Long enough to be in no ordinary text: hex, a UUID, or base64 with slashes.
    let is_long = || !value.contains([' ', ',', '.']) && is_random(value.as_bytes(), 32);
    is_key(value) || !is_of_data && (is_long() || names_password && looks_like_password(value.as_bytes()))
}

/// Whether a value is a random key. A number, a hash or a UUID may be an ID.
fn is_key(value: &str) -> bool {
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    !is_hex && !value.contains(['/', ' ', ',']) && is_random(value.as_bytes(), SHORTEST_RANDOM)
}

fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a value is an e-mail address, optionally with a name.
fn is_email(value: &str) -> bool {
    let address = value.rsplit_once('<').map_or(value, |(_, rest)| rest.trim_end_matches('>'));
    let Some((user, host)) = address.split_once('@') else { return false };
    let is_of_user = |letter: char| letter.is_alphanumeric() || "._+-".contains(letter);
    let is_of_host = |letter: char| letter.is_alphanumeric() || ".-".contains(letter);
    let ending = host.rsplit_once('.').map_or("", |(_, ending)| ending);
    !user.is_empty()
        && user.chars().all(is_of_user)
        && host.chars().all(is_of_host)
        && ending.len() >= 2
        && ending.chars().all(char::is_alphabetic)
}

/// Whether the name of a variable or setting indicates a secret.
pub fn is_secret(name: &str) -> bool {
    !HARMLESS.contains(&&*name.to_lowercase()) && words_of_name(name).iter().any(|word| is_secret_word(word))
}

fn is_secret_word(word: &str) -> bool {
    // Such as `OPENAI_KEY2`.
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if OTHER_WORDS.contains(&word) {
        return false;
    }
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
            assert!(is_secret(name) && !holds_secret(name, "q7Zk2mP0xV9nT4bLw8Yc"), "{name}");
        }
        let named = "OPENAI_API_KEY AUTH0_CLIENT_SECRET VAULT_SECRET_ID AUTH_HEADER DB_PASSWORD SECRET_KEY_BASE \
                     API_KEY_PROD API_KEY_2 TOKEN_V2";
        for name in named.split_whitespace() {
            assert!(holds_secret(name, "s3cret-of-it"), "{name}");
        }
    }

    #[test]
    fn values_decide_where_names_do_not() {
        for (name, value) in [
            ("FOREIGN_KEY", "order_id_2024x"),
            ("PRIMARY_KEY", "customer_region_eu1"),
            ("CACHE_KEY", "session_2024_prod"),
            ("OPENAI_KEY_OWNER", "jane.doe@example.com"),
            ("GITHUB_TOKEN_OWNER", "Jane Doe <jane.doe2@example.com>"),
            ("API_KEY_CONTACT", "team-42-platform"),
            ("DEPLOY_KEY_COMMENT", "rotated-2024-11-22"),
            ("MONKEY", "see-and-do-2024x"),
            ("SERVICE_KEY", "jane.doe@example.com"),
            ("S3_OBJECT_KEY", "reports/2024/q4-final.csv"),
            ("KEY_FINGERPRINT", "d41d8cd98f00b204e9800998ecf8427e"),
        ] {
            assert!(!holds_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("OPENAI_KEY_TEAM_A", "q7Zk2mP0xV9nT4bLw8Yc"),
            ("PARTITION_KEY", "q7Zk2mP0xV9nT4bLw8Yc"),
            ("SMTP_PASSWORD", "jane.doe2@example.com"),
        ] {
            assert!(holds_secret(name, value), "{name}");
        }
    }
}
