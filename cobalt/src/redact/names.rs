//! Names of variables, settings and fields that say that they hold a secret.

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

/// Last words of names that have a secret's word before them and hold none: `AUTH0_DOMAIN`, `AWS_KMS_KEY_ID`.
const OPEN: [&str; 40] = [
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

/// Whether the value of a variable or a parameter of this name is to be kept out of all texts. What only describes a
/// secret is not, as other texts may have it, too.
pub(super) fn holds_secret(name: &str) -> bool {
    let words = words_of_name(name);
    let is_open = match &*words {
        // Vault's, which is as secret as a password.
        [.., before, last] if before == "secret" && last == "id" => false,
        words => words.last().is_some_and(|last| OPEN.contains(&&**last)),
    };
    is_secret(name) && !is_open
}

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
