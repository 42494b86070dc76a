//! Extracts error messages from a command's stderr.

use cobalt_core::redact::redacted;
use cobalt_core::wording::truncate;

use super::plain_errors::simplify;

/// The maximum number of errors, and of last lines.
const MOST: usize = 20;
/// The longest error, and the longest line, in characters.
const LONGEST: usize = 600;

/// The errors, without the text before the first. Lines below an error are part of it.
pub fn errors(stderr: &[String]) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    for line in stderr {
        match (line.strip_prefix("error: "), errors.last_mut()) {
            (Some(error), _) => errors.push(error.to_owned()),
            (None, Some(error)) => *error += &format!("\n{line}"),
            (None, None) => {}
        }
    }
    errors.iter().take(MOST).map(|error| excerpt(&simplify(error))).collect()
}

/// The last lines. Redacts the whole text first, as a key may span several lines.
pub fn last_lines(stderr: &[String]) -> Vec<String> {
    let text = redacted(&stderr.join("\n")).into_owned();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(MOST)..]
        .iter()
        .map(|line| truncate(line, LONGEST).into_owned())
        .collect()
}

/// The text, redacted and truncated.
pub fn excerpt(text: &str) -> String {
    truncate(&redacted(text), LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn errors_exclude_the_output_of_cargo_before_them() {
        let stderr = lines("   Compiling trial\nerror: no such thing\n  in the file\nerror: fix it");
        assert_eq!(errors(&stderr), ["no such thing\n  in the file", "fix it"]);
        assert!(errors(&lines("   Compiling trial\nwarning: unused")).is_empty());
    }

    #[test]
    fn no_line_of_a_private_key_is_returned() {
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
    fn errors_are_redacted_and_truncated() {
        let stderr = vec![format!("error: sk-proj-aB3dE5gH7jK9mN1pQ2rS4 {}", "x".repeat(10_000)); 100];
        let errors = errors(&stderr);
        assert_eq!(errors.len(), MOST);
        assert!(
            errors[0].starts_with("[redacted:openai-key] xxx") && errors[0].chars().count() == LONGEST + 1
        );
        assert_eq!(last_lines(&stderr).len(), MOST);
    }
}
