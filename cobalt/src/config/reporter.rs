//! Reporters by name, each with the file that it writes, if any.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cobalt_core::store::Layout;
use cobalt_core::wording;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::settings::StringVisitor;

/// An output format of a run. Its text form is the name of the kind or, with a file, `junit=out/junit.xml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// The format.
    pub kind: ReporterKind,
    /// The file to write; `None` for kinds that write none. [`Config::reporters`](super::Config::reporters) returns absolute paths
    /// for all others.
    pub path: Option<PathBuf>,
}

/// The kind of a reporter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReporterKind {
    /// Progress and tables for the terminal.
    Cli,
    /// One JSON object per event and line on stdout, for programs.
    Json,
    /// A JUnit XML file, which most CI servers display.
    Junit,
    /// GitHub Actions: groups, annotations, and the step summary.
    GithubActions,
    /// A Markdown file for a pull request comment.
    PrComment,
    /// A Markdown file with the full results.
    Markdown,
    /// A self-contained HTML page with the full results.
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

    /// The name, as written in the file.
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

    /// The default file name; `None` for kinds that write no file.
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
    /// A reporter without a path: it writes the default file, if any.
    #[must_use]
    pub fn new(kind: ReporterKind) -> Self {
        Self { kind, path: None }
    }

    /// Resolves the path: relative ones start at `folder`, default files are in the layout's reports directory.
    pub(super) fn with_resolved_path(self, folder: &Path, layout: &Layout) -> Self {
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
            let names = wording::join_quoted(ReporterKind::ALL.into_iter().map(ReporterKind::name));
            format!("unknown reporter `{name}`; available: {names}")
        };
        let kind = ReporterKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)?;
        match path {
            Some(_) if kind.file_name().is_none() => {
                Err(format!("`{name}` writes no file; remove `=` and the path"))
            }
            Some("") => Err(format!("missing path after `{name}=`")),
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
        deserializer.deserialize_str(StringVisitor { expected, read: str::parse })
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
        assert_eq!(refused("cli=a.txt"), "`cli` writes no file; remove `=` and the path");
        assert_eq!(refused("junit="), "missing path after `junit=`");
    }
}
