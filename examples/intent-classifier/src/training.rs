//! The training file: a header, then an intent, a tab and a message on each line.

use std::path::Path;
use std::{fs, io};

const HEADER: &str = "intent\tmessage";

/// A message with its intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The name of the intent.
    pub intent: String,
    /// The message.
    pub message: String,
}

/// Why the training data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// The file cannot be read.
    #[error("cannot read {file}: {cause}")]
    Read {
        /// The path.
        file: String,
        /// The system's error.
        cause: io::Error,
    },
    /// A line is malformed.
    #[error("{file}:{line}: expected {expected}, found `{found}`")]
    Line {
        /// The path of the file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// The expected content.
        expected: &'static str,
        /// The actual content.
        found: String,
    },
    /// There are no examples.
    #[error("{file} has no messages: add lines of an intent, a tab and a message")]
    Empty {
        /// The path of the file.
        file: String,
    },
}

/// The examples of a file, in order.
pub(crate) fn read(path: &Path) -> Result<Vec<Example>, TrainingError> {
    let file = path.display().to_string();
    match fs::read_to_string(path) {
        Ok(text) => parse(&text, file),
        Err(cause) => Err(TrainingError::Read { file, cause }),
    }
}

fn parse(text: &str, file: String) -> Result<Vec<Example>, TrainingError> {
    let mut examples = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let refused = |expected| {
            let (file, found) = (file.clone(), line.to_owned());
            TrainingError::Line { file, line: number, expected, found }
        };
        match line.split_once('\t') {
            _ if number == 1 && line == HEADER => {}
            _ if number == 1 => return Err(refused("the header, `intent`, a tab and `message`")),
            Some((intent, message)) if !intent.is_empty() && !message.trim().is_empty() => {
                examples.push(Example { intent: intent.to_owned(), message: message.to_owned() });
            }
            _ => return Err(refused("an intent, a tab and a message")),
        }
    }
    if examples.is_empty() { Err(TrainingError::Empty { file }) } else { Ok(examples) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text, "t.tsv".to_owned()).unwrap_err().to_string()
    }

    #[test]
    fn a_line_is_an_intent_and_a_message() {
        let examples = parse("intent\tmessage\nprice\tHow much, please?\n", String::new()).unwrap();
        assert_eq!(
            examples,
            [Example { intent: "price".to_owned(), message: "How much, please?".to_owned() }]
        );
    }

    #[test]
    fn a_line_of_another_form_is_refused_with_its_number() {
        for line in ["How much?", "\tHow much?", "price\t "] {
            let expected = format!("t.tsv:2: expected an intent, a tab and a message, found `{line}`");
            assert_eq!(refusal(&format!("intent\tmessage\n{line}\n")), expected);
        }
        assert!(refusal("price\tHow much?\n").starts_with("t.tsv:1: expected the header"));
    }

    #[test]
    fn a_file_without_messages_teaches_nothing() {
        assert!(refusal("intent\tmessage\n").starts_with("t.tsv has no messages"));
        assert!(refusal("").starts_with("t.tsv has no messages"));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(Path::new("no/such.tsv")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read no/such.tsv: "), "{error}");
    }
}
