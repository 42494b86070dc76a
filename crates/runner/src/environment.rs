//! The environment variables of test binaries: those of this process take precedence over `.env` files.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cobalt_core::redact::register_variables;

use crate::error::CommandError;

/// The file name.
pub const DOTENV_FILE: &str = ".env";

/// An unreadable file. The line is not shown, as it can contain a secret.
#[derive(Debug, thiserror::Error)]
#[error("failed to read `{}`: {}", .path.display(), reason(*.line, .source))]
pub struct EnvFileError {
    path: PathBuf,
    line: usize,
    source: dotenvy::Error,
}

impl CommandError for EnvFileError {}

fn reason(line: usize, error: &dotenvy::Error) -> String {
    match error {
        dotenvy::Error::LineParse(..) => {
            format!("line {line} is not `NAME=value`, or has unclosed quotes")
        }
        other => other.to_string(),
    }
}

/// Variables from `.env` files that are not set in this process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    from_files: Vec<(String, String)>,
}

impl Environment {
    /// Reads the `.env` of each folder, if it exists; earlier folders win.
    pub fn read(folders: &[&Path]) -> Result<Self, EnvFileError> {
        let mut environment = Self::default();
        for folder in folders {
            let path = folder.join(DOTENV_FILE);
            if !path.is_file() {
                continue;
            }
            for (name, value) in variables(&path)? {
                register_variables([(&*name, &*value)]);
                if std::env::var_os(&name).is_none()
                    && environment.from_files.iter().all(|(set, _)| *set != name)
                {
                    environment.from_files.push((name, value));
                }
            }
        }
        Ok(environment)
    }

    /// The value of a variable as the binaries see it.
    pub fn get(&self, name: &str) -> Option<OsString> {
        let from_file = || self.from_files.iter().find(|(set, _)| set == name).map(|(_, value)| value.into());
        std::env::var_os(name).or_else(from_file)
    }

    /// The variables that the files add.
    pub fn file_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.from_files.iter().map(|(name, value)| (&**name, &**value))
    }
}

/// Parses a file; errors carry the line number.
fn variables(path: &Path) -> Result<Vec<(String, String)>, EnvFileError> {
    let failed = |line, source| EnvFileError { path: path.to_owned(), line, source };
    let bytes = fs::read(path).map_err(|error| failed(0, dotenvy::Error::Io(error)))?;
    let taken = Cell::new(0);
    let lines =
        LineReader { left: bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes), taken: &taken };
    let read = dotenvy::from_read_iter(lines).collect::<Result<_, _>>();
    read.map_err(|error| {
        // A quoted value can span lines; unclosed, it extends to the end of the file.
        let more = match &error {
            dotenvy::Error::LineParse(text, _) => {
                text.strip_suffix('\n').unwrap_or(text).matches('\n').count()
            }
            _ => 0,
        };
        failed(taken.get().saturating_sub(more), error)
    })
}

/// A reader that returns one line at a time and counts the lines read.
struct LineReader<'a> {
    left: &'a [u8],
    taken: &'a Cell<usize>,
}

impl Read for LineReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line = self.left.iter().position(|byte| *byte == b'\n').map_or(self.left.len(), |end| end + 1);
        let (given, left) = self.left.split_at(line.min(buffer.len()));
        buffer[..given.len()].copy_from_slice(given);
        self.left = left;
        self.taken.set(self.taken.get() + usize::from(!given.is_empty() && given.len() == line));
        Ok(given.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_comes_before_files_and_near_files_before_far_ones() {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(near.path().join(DOTENV_FILE), "PATH=/nowhere\nSHARED=near\nexport QUOTED=\"a b\" # why\n")
            .unwrap();
        fs::write(far.path().join(DOTENV_FILE), "SHARED=far\nONLY_FAR=1\n").unwrap();
        let environment = Environment::read(&[near.path(), far.path()]).unwrap();
        let read: Vec<_> = environment.file_variables().collect();
        assert_eq!(read, [("SHARED", "near"), ("QUOTED", "a b"), ("ONLY_FAR", "1")]);
        assert_eq!(environment.get("PATH"), std::env::var_os("PATH"));
        assert_eq!(environment.get("ONLY_FAR"), Some("1".into()));
    }

    #[test]
    fn a_line_that_is_no_assignment_is_an_error_that_names_the_file_and_the_line_and_not_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |text: &str| {
            fs::write(folder.path().join(DOTENV_FILE), text).unwrap();
            Environment::read(&[folder.path()]).unwrap_err().to_string()
        };
        let long = format!("# {}\nKEY=1\nKEY\n", "sk-secret ".repeat(2000));
        let texts = [
            ("KEY='sk-secret\n", 1),
            ("KEY=1\n\n# KEY\nKEY\nOTHER=2\n", 4),
            ("ONE='a\nb'\nKEY='sk-secret\nOTHER=2\n\n", 3),
            ("ONE='a\nb'\r\nKEY=sk-secret sk-secret\n", 3),
            ("KEY=1\nsk-secret", 2),
            (&long, 3),
        ];
        for (text, line) in texts {
            let error = refused(text);
            assert!(error.contains(&format!(".env`: line {line} is not")), "{text:?}: {error}");
            assert!(!error.contains("sk-secret"), "{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(DOTENV_FILE), "\u{feff}KEY=1\n").unwrap();
        let environment = Environment::read(&[folder.path()]).unwrap();
        assert_eq!(environment.file_variables().collect::<Vec<_>>(), [("KEY", "1")]);
    }
}
