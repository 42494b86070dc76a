//! Keys and passwords, kept out of what is stored, shown or served.

use std::borrow::Cow;

/// What stands for a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// How keys of known vendors, and tokens that are signed JSON, begin.
const BEGINNINGS: [&str; 13] =
    ["sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "github_pat_", "xox", "AKIA", "AIza", "hf_", "eyJ"];
/// The fewest characters of a key, its beginning among them.
const SHORTEST: usize = 16;
/// Words by which a name says that it holds a secret; so does any word that ends with `key`.
const SECRETS: [&str; 8] =
    ["auth", "credential", "credentials", "passphrase", "passwd", "password", "secret", "token"];

/// Whether a variable or a setting of this name holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| word.ends_with("key") || SECRETS.contains(&word))
}

/// A text without what looks like a key, and without the password of an address.
pub(crate) fn redacted(text: &str) -> Cow<'_, str> {
    let mut secrets: Vec<_> = words(text).filter(|word| is_key(word)).chain(passwords(text)).collect();
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    // One of them may hold another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    Cow::Owned(secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED)))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_'))
}

fn is_key(word: &str) -> bool {
    word.len() >= SHORTEST && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

/// The passwords in addresses: `postgres://user:password@host`.
fn passwords(text: &str) -> impl Iterator<Item = &str> {
    text.split("://").skip(1).filter_map(|rest| {
        let authority =
            rest.split(|letter: char| letter.is_whitespace() || matches!(letter, '/' | '"' | '`')).next()?;
        let (_, password) = authority.rsplit_once('@')?.0.split_once(':')?;
        Some(password).filter(|password| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in ["OPENAI_API_KEY", "GITHUB_TOKEN", "db.password", "APIKEY", "Client-Secret"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["RUST_LOG", "KEYBOARD_LAYOUT", "AUTHOR", "MODEL"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn keys_are_taken_out_of_a_text() {
        let text = "401 for key sk-proj-abcdefghijklmnop, sent as `ghp_0123456789abcdefghij`";
        assert_eq!(redacted(text), "401 for key [redacted], sent as `[redacted]`");
    }

    #[test]
    fn the_password_of_an_address_is_taken_out() {
        assert_eq!(
            redacted("at postgres://cobalt:s3cret@db:5432/runs"),
            "at postgres://cobalt:[redacted]@db:5432/runs"
        );
        assert_eq!(redacted("at http://localhost:8080/a@b"), "at http://localhost:8080/a@b");
    }

    #[test]
    fn a_text_without_secrets_stays_as_it_is() {
        for text in ["sk-short", "the task-oriented-approach", "0123456789abcdef0123456789abcdef", ""] {
            assert!(matches!(redacted(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
