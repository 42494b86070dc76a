//! Commands for messages, as a user can paste them into a shell.

/// An argument, quoted if the shell would not pass it on unchanged.
pub fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@:=,%".contains(letter);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// Arguments, separated by spaces.
pub fn command_line<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> String {
    let quoted: Vec<_> = arguments.into_iter().map(|argument| quoted(argument.as_ref())).collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_shell_would_change_is_quoted() {
        assert_eq!(
            command_line(["run", "--set=model=a", "it's here", "", "$HOME"]),
            "run --set=model=a 'it'\\''s here' '' '$HOME'"
        );
    }
}
