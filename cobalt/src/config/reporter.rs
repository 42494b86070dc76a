//! What shows a run: reporters by their names, each with the file that it writes where it does.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cobalt_core::store::Layout;
use cobalt_core::wording;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::settings::Text;

/// What shows a run, and how. Its text form is the name of the kind or, with a file, `junit=out/junit.xml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// How the run is shown.
    pub kind: ReporterKind,
    /// The file that is written; none for a kind that writes none. [`Config::reporters`](super::Config::reporters) gives an
    /// absolute path for all others.
    pub path: Option<PathBuf>,
}

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReporterKind {
    /// Progress and tables for a person.
    Cli,
    /// A JSON object a line for each event on stdout, for a program.
    Json,
    /// A file in the format of JUnit, which most CI servers show.
    Junit,
    /// What GitHub Actions understands: groups, annotations, and the summary of the step.
    GithubActions,
    /// A Markdown file for the comment on a pull request.
    PrComment,
    /// A Markdown file with all that a run came to.
    Markdown,
    /// A page of its own with all that a run came to, for a browser.
    Html,
}

impl ReporterKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Cli,
        Self::Json,
        Self::Junit,
        Self::GithubActions,
        Self::PrComment,
        Self::Markdown,
        Self::Html,
    ];

    /// The name, as it is written in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::GithubActions => "github-actions",
            Self::PrComment => "pr-comment",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }

    /// The name of the file that is written where no path is given; none for a kind that writes no file.
    #[must_use]
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Self::Cli | Self::Json | Self::GithubActions => None,
            Self::Junit => Some("junit.xml"),
            Self::PrComment => Some("pr-comment.md"),
            Self::Markdown => Some("report.md"),
            Self::Html => Some("report.html"),
        }
    }
}

impl Reporter {
    /// A reporter that writes no file, or the usual one.
    #[must_use]
    pub fn of(kind: ReporterKind) -> Self {
        Self { kind, path: None }
    }

    /// The same with the file that it writes. A relative path begins at `folder`, and the usual files are those of the layout.
    pub(super) fn placed(self, folder: &Path, layout: &Layout) -> Self {
        let usual = || self.kind.file_name().map(|name| layout.reports().join(name));
        Self { kind: self.kind, path: self.path.map(|path| folder.join(path)).or_else(usual) }
    }
}

impl fmt::Display for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}={}", self.kind.name(), path.display()),
            None => f.write_str(self.kind.name()),
        }
    }
}

impl FromStr for Reporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = text.split_once('=').map_or((text, None), |(name, path)| (name, Some(path)));
        let unknown = || {
            let names = wording::list(ReporterKind::ALL.into_iter().map(ReporterKind::name));
            format!("unknown reporter `{name}`; there are {names}")
        };
        let kind = ReporterKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)?;
        match path {
            Some(_) if kind.file_name().is_none() => Err(format!("`{name}` writes no file; leave `=` out")),
            Some("") => Err(format!("a path is missing behind `{name}=`")),
            path => Ok(Self { kind, path: path.map(PathBuf::from) }),
        }
    }
}

impl Serialize for Reporter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Reporter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a reporter in quotes, such as \"cli\" or \"junit=out/junit.xml\"";
        deserializer.deserialize_str(Text { expected, read: str::parse })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reporter_is_written_as_it_is_read() {
        for text in ["cli", "github-actions", "junit", "html=out/a=b.html"] {
            assert_eq!(text.parse::<Reporter>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_file_is_refused_where_none_is_written() {
        let refused = |text: &str| text.parse::<Reporter>().unwrap_err();
        assert_eq!(refused("cli=a.txt"), "`cli` writes no file; leave `=` out");
        assert_eq!(refused("junit="), "a path is missing behind `junit=`");
    }
}
