//! Passwords in the options of programs: `curl -u user:password`.

use std::ops::Range;

use super::assignments::is_placeholder;
use super::headers;

/// How far after its program an option is looked for, in bytes.
const LONGEST_COMMAND: usize = 512;

/// What the value of an option is.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// A user and a password.
    Account,
    Cookies,
    Password,
    /// A password right behind the option.
    Attached,
}

/// Programs, and their options with secrets.
const OPTIONS: [(&str, &[(&str, Form)]); 6] = [
    (
        "curl",
        &[
            ("-u", Form::Account),
            ("--user", Form::Account),
            ("--proxy-user", Form::Account),
            ("-b", Form::Cookies),
            ("--cookie", Form::Cookies),
        ],
    ),
    ("mysql", &[("-p", Form::Attached)]),
    ("mysqldump", &[("-p", Form::Attached)]),
    ("sshpass", &[("-p", Form::Password)]),
    ("redis-cli", &[("-a", Form::Password)]),
    ("docker login", &[("-p", Form::Password), ("--password", Form::Password)]),
];

/// The names of the programs.
pub fn programs() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|(program, _)| *program)
}

/// The secrets in the options of a program whose name is at a place.
pub fn secrets(text: &[u8], program: Range<usize>) -> Vec<Range<usize>> {
    let is_of_name =
        |at: usize| text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    let Some((_, options)) = OPTIONS.iter().find(|(name, _)| name.as_bytes() == &text[program.clone()])
    else {
        return Vec::new();
    };
    if is_of_name(program.end) || program.start.checked_sub(1).is_some_and(is_of_name) {
        return Vec::new();
    }
    let command = &text[..text.len().min(program.end + LONGEST_COMMAND)];
    let mut found = Vec::new();
    let mut at = program.end;
    while let Some(space) =
        command[at..].iter().position(|byte| matches!(byte, b' ' | b'\n')).map(|next| at + next)
    {
        // A line continues after a backslash.
        if command[space] == b'\n' && command[space - 1] != b'\\' {
            break;
        }
        at = space + 1;
        for (option, form) in *options {
            let Some(rest) = command[at..].strip_prefix(option.as_bytes()) else { continue };
            let spaces = rest.iter().take(4).take_while(|byte| **byte == b' ' || **byte == b'=').count();
            let is_attached = matches!(form, Form::Attached);
            if (spaces > 0) == is_attached {
                continue;
            }
            if let Some(value) = value(text, at + option.len() + spaces) {
                found.extend(
                    secret_parts(&text[value.clone()], *form)
                        .into_iter()
                        .map(|part| value.start + part.start..value.start + part.end),
                );
            }
        }
    }
    found
}

/// The value of an option, without its quotes.
fn value(text: &[u8], start: usize) -> Option<Range<usize>> {
    let escapes = text.get(start..)?.iter().take(4).take_while(|byte| **byte == b'\\').count();
    let quote = text.get(start + escapes).copied().filter(|byte| b"\"'".contains(byte));
    let start = if quote.is_some() { start + escapes + 1 } else { start };
    let ends = |byte: u8| match quote {
        Some(quote) => byte == quote || byte == b'\n' || byte == b'\\',
        None => !byte.is_ascii_graphic() || b"\"'`;|&<>\\".contains(&byte),
    };
    let length = text[start..].iter().take(LONGEST_COMMAND).position(|byte| ends(*byte));
    Some(start..length.map_or(text.len().min(start + LONGEST_COMMAND), |length| start + length))
}

fn secret_parts(value: &[u8], form: Form) -> Vec<Range<usize>> {
    let is_secret = |value: &[u8]| {
        value.len() >= 4 && !is_placeholder(value) && value.iter().any(|byte| !byte.is_ascii_digit())
    };
    let whole = 0..value.len();
    match form {
        Form::Cookies => headers::cookies(value),
        Form::Password => Some(whole).filter(|_| is_secret(value)).into_iter().collect(),
        // `-port`, `-p3306` and others are not passwords.
        Form::Attached => {
            let has_both = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
            Some(whole).filter(|_| has_both && is_secret(value)).into_iter().collect()
        }
        Form::Account => {
            let password = memchr::memchr(b':', value).map(|at| at + 1..value.len());
            password.filter(|password| is_secret(&value[password.clone()])).into_iter().collect()
        }
    }
}
