//! What a command says on stderr, as far as it tells what went wrong.

use cobalt_core::redact::redacted;
use cobalt_core::wording::cut;

use super::plain::plain;

/// How many errors are told, and how many of the last lines.
const MOST: usize = 20;
/// The longest error, and the longest line, in characters.
const LONGEST: usize = 600;

/// The errors, without what stands before the first; the lines below an error belong to it.
pub fn errors(stderr: &[String]) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    for line in stderr {
        match (line.strip_prefix("error: "), errors.last_mut()) {
            (Some(error), _) => errors.push(error.to_owned()),
            (None, Some(error)) => *error += &format!("\n{line}"),
            (None, None) => {}
        }
    }
    errors.iter().take(MOST).map(|error| told(&plain(error))).collect()
}

/// The last lines. A key may have several, and is known by all of them only.
pub fn last_lines(stderr: &[String]) -> Vec<String> {
    let text = redacted(&stderr.join("\n")).into_owned();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(MOST)..].iter().map(|line| cut(line, LONGEST).into_owned()).collect()
}

/// Any of it may hold a key.
pub fn told(text: &str) -> String {
    cut(&redacted(text), LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn errors_are_told_without_what_cargo_says_before() {
        let stderr = lines("   Compiling trial\nerror: no such thing\n  in the file\nerror: mend it");
        assert_eq!(errors(&stderr), ["no such thing\n  in the file", "mend it"]);
        assert!(errors(&lines("   Compiling trial\nwarning: unused")).is_empty());
    }

    #[test]
    fn no_line_of_a_private_key_is_told() {
        let line = "MIIEpAIBAAKCAQEA7bq3zX9vK2mT5wY8rJ4nP6sD1fG0hL3cV2xZ9kQ7uW5eR8tA";
        let key = format!("{line}\n").repeat(30);
        let stderr = lines(&format!(
            "panicked at\n-----BEGIN RSA PRIVATE KEY-----\n{key}-----END RSA PRIVATE KEY-----\nas said"
        ));
        let told = last_lines(&stderr);
        assert!(told.iter().all(|told| !told.contains(line)), "{told:?}");
        assert_eq!((told[0].as_str(), told[told.len() - 1].as_str()), ("panicked at", "as said"));
    }

    #[test]
    fn no_key_and_no_endless_text_is_told() {
        let stderr = vec![format!("error: sk-proj-aB3dE5gH7jK9mN1pQ2rS4 {}", "x".repeat(10_000)); 100];
        let errors = errors(&stderr);
        assert_eq!(errors.len(), MOST);
        assert!(
            errors[0].starts_with("[redacted:openai-key] xxx") && errors[0].chars().count() == LONGEST + 1
        );
        assert_eq!(last_lines(&stderr).len(), MOST);
    }
}
