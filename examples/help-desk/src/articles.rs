//! The knowledge base: a folder of Markdown files, each with a title and passages.

use std::path::Path;
use std::{fs, io};

const KEYWORDS: &str = "Keywords: ";

/// An article of the knowledge base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Article {
    /// The file's name without its extension.
    pub name: String,
    /// The heading.
    pub title: String,
    /// Words that customers use but the article does not; only for the search.
    pub keywords: String,
    /// The paragraphs.
    pub passages: Vec<String>,
}

impl Article {
    /// Parses a heading, an optional line `Keywords: …`, and passages, separated by blank lines. `None` without a heading.
    pub fn parse(name: &str, text: &str) -> Option<Self> {
        let paragraphs = text.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut paragraphs = paragraphs.filter(|paragraph| !paragraph.is_empty()).peekable();
        let title = paragraphs.next()?.strip_prefix("# ")?.to_owned();
        let keywords = paragraphs.next_if(|paragraph| paragraph.starts_with(KEYWORDS));
        Some(Self {
            name: name.to_owned(),
            title,
            keywords: keywords.map(|line| line[KEYWORDS.len()..].to_owned()).unwrap_or_default(),
            passages: paragraphs.collect(),
        })
    }
}

/// The articles in a folder, sorted by name, as directory order differs between systems.
pub(crate) fn read(folder: &Path) -> io::Result<Vec<Article>> {
    let about =
        |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut articles = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| about(folder, error))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).map_err(|error| about(&path, error))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let article = Article::parse(&name, &text);
            articles.push(
                article.ok_or_else(|| about(&path, io::Error::other("expected `# ` and a title first")))?,
            );
        }
    }
    articles.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(articles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_part_the_passages() {
        let article = Article::parse("tea", "# Tea\n\nBoil\nwater.\n\n\nWait.\n").unwrap();
        assert_eq!(
            (&*article.title, &article.passages[..]),
            ("Tea", &["Boil water.".into(), "Wait.".into()][..])
        );
    }

    #[test]
    fn a_text_without_a_heading_is_no_article() {
        assert_eq!(Article::parse("tea", "Boil water."), None);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = read(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().starts_with("no/such/folder: "), "{error}");
    }
}
