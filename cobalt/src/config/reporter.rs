//! Reporters by name, each with the file that it writes or the URL that it sends to, if any.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cobalt_core::store::Layout;
use cobalt_core::wording;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::settings::{StringVisitor, is_http_url};

/// An output format of a run. Its text form is the name of the kind or, with a file or URL, `junit=out/junit.xml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reporter {
    /// The format.
    pub kind: ReporterKind,
    /// The file to write; `None` for kinds that write none. [`Config::reporters`](super::Config::reporters) returns absolute paths
    /// for all others.
    pub path: Option<PathBuf>,
    /// The URL to send to, without credentials; only for `otlp`, which otherwise takes it from the environment.
    pub url: Option<String>,
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
    /// OpenTelemetry spans, sent to a server.
    Otlp,
}

impl ReporterKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Cli,
        Self::Json,
        Self::Junit,
        Self::GithubActions,
        Self::PrComment,
        Self::Markdown,
        Self::Html,
        Self::Otlp,
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
            Self::Otlp => "otlp",
        }
    }

    /// The default file name; `None` for kinds that write no file.
    #[must_use]
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Self::Cli | Self::Json | Self::GithubActions | Self::Otlp => None,
            Self::Junit => Some("junit.xml"),
            Self::PrComment => Some("pr-comment.md"),
            Self::Markdown => Some("report.md"),
            Self::Html => Some("report.html"),
        }
    }
}

impl Reporter {
    /// A reporter without a path or URL: it writes the default file, if any.
    #[must_use]
    pub fn new(kind: ReporterKind) -> Self {
        Self { kind, path: None, url: None }
    }

    /// Resolves the path: relative ones start at `folder`, default files are in the layout's reports directory.
    pub(super) fn with_resolved_path(self, folder: &Path, layout: &Layout) -> Self {
        let usual = || self.kind.file_name().map(|name| layout.reports().join(name));
        Self { path: self.path.map(|path| folder.join(path)).or_else(usual), ..self }
    }
}

impl fmt::Display for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kind.name();
        match (&self.path, &self.url) {
            (Some(path), _) => write!(f, "{name}={}", path.display()),
            (None, Some(url)) => write!(f, "{name}={url}"),
            (None, None) => f.write_str(name),
        }
    }
}

impl FromStr for Reporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, target) = text.split_once('=').map_or((text, None), |(name, target)| (name, Some(target)));
        let unknown = || {
            let names = wording::join_quoted(ReporterKind::ALL.into_iter().map(ReporterKind::name));
            format!("unknown reporter `{name}`; available: {names}")
        };
        let kind = ReporterKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)?;
        let usual = Self::new(kind);
        match target {
            Some(url) if kind == ReporterKind::Otlp => Ok(Self { url: Some(checked_url(url)?), ..usual }),
            Some(_) if kind.file_name().is_none() => {
                Err(format!("`{name}` writes no file; remove `=` and the path"))
            }
            Some("") => Err(format!("missing path after `{name}=`")),
            path => Ok(Self { path: path.map(PathBuf::from), ..usual }),
        }
    }
}

/// A URL to send to. The errors do not repeat it, as it may contain a secret.
fn checked_url(url: &str) -> Result<String, String> {
    if !is_http_url(url) {
        return Err("expected a URL after `otlp=`, such as `otlp=http://localhost:4318`".to_owned());
    }
    let authority = url.split('/').nth(2).unwrap_or_default();
    if authority.contains('@') || url.contains(['?', '#']) {
        let instead = "put credentials into the variable `OTEL_EXPORTER_OTLP_HEADERS`";
        return Err(format!("the URL after `otlp=` has a user, a query or a fragment; {instead}"));
    }
    Ok(url.to_owned())
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
        for text in
            ["cli", "github-actions", "junit", "html=out/a=b.html", "otlp", "otlp=http://localhost:4318"]
        {
            assert_eq!(text.parse::<Reporter>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_file_is_refused_where_none_is_written() {
        let refused = |text: &str| text.parse::<Reporter>().unwrap_err();
        assert_eq!(refused("cli=a.txt"), "`cli` writes no file; remove `=` and the path");
        assert_eq!(refused("junit="), "missing path after `junit=`");
    }

    #[test]
    fn a_url_with_a_secret_is_refused_and_not_repeated() {
        for url in
            ["s3cret", "ftp://s3cret", "https://me:s3cret@example.com", "https://example.com/v1?key=s3cret"]
        {
            let refused = format!("otlp={url}").parse::<Reporter>().unwrap_err();
            assert!(refused.contains("`otlp=") && !refused.contains("s3cret"), "{refused}");
        }
    }
}
