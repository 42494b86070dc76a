//! The library: pages about bridges, and a search over their words.

use std::sync::LazyLock;

use serde::Serialize;

/// The largest number of search results.
const MAX_HITS: usize = 3;
/// The weight of a word in the title, relative to one in the text.
const TITLE_WEIGHT: usize = 3;
/// Shorter words are not searched for.
const SHORTEST_WORD: usize = 3;

static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let pages = include_str!("../data/library.md").split("# ").skip(1);
    pages.map(|page| Page::parse(page).expect("data/library.md holds pages")).collect()
});

/// A page.
#[derive(Clone, Debug, PartialEq)]
struct Page {
    id: &'static str,
    title: &'static str,
    text: &'static str,
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The page's ID, to read and to cite it.
    pub id: &'static str,
    /// The page's title.
    pub title: &'static str,
    /// Its first sentence.
    pub summary: &'static str,
}

impl Page {
    /// Parses a title, a line with the ID, and the text.
    fn parse(page: &'static str) -> Option<Self> {
        let (title, rest) = page.split_once('\n')?;
        let (id, text) = rest.strip_prefix("id: ")?.split_once('\n')?;
        Some(Self { id, title, text: text.trim_end() })
    }

    fn contains(&self, word: &String) -> bool {
        words(self.title).contains(word) || words(self.text).contains(word)
    }

    fn points(&self, query: &[String]) -> usize {
        let title = words(self.title);
        let weight = |word: &String| if title.contains(word) { TITLE_WEIGHT } else { 1 };
        query.iter().filter(|word| self.contains(word)).map(weight).sum()
    }
}

/// The pages with most words of the query, best first. Words that most pages have do not count.
#[must_use]
pub fn search(query: &str) -> Vec<Hit> {
    let is_rare = |word: &String| 2 * PAGES.iter().filter(|page| page.contains(word)).count() <= PAGES.len();
    let query: Vec<String> = words(query).into_iter().filter(is_rare).collect();
    let mut rated: Vec<_> = PAGES.iter().map(|page| (page.points(&query), page)).collect();
    rated.retain(|(points, _)| *points > 0);
    // Stable: equal pages stay in the order of the library.
    rated.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
    let hit = |page: &Page| {
        let summary = page.text.split_once(". ").map_or(page.text, |(first, _)| first);
        Hit { id: page.id, title: page.title, summary }
    };
    rated.into_iter().take(MAX_HITS).map(|(_, page)| hit(page)).collect()
}

/// The title and the text of a page.
///
/// # Errors
///
/// There is no page with this ID.
pub fn read(id: &str) -> Result<String, String> {
    let page = PAGES.iter().find(|page| page.id == id).ok_or_else(|| format!("there is no page `{id}`"))?;
    Ok(format!("{}\n{}", page.title, page.text))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= SHORTEST_WORD);
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_its_words_and_read() {
        let hits = search("Which bridge crosses the Tarn valley?");
        assert_eq!(hits[0].id, "millau");
        assert_eq!(hits[0].summary, "The Millau Viaduct crosses the valley of the Tarn in France");
        assert!(read("millau").unwrap().starts_with("Millau Viaduct\nThe Millau Viaduct crosses"));
        assert_eq!(read("rialto"), Err("there is no page `rialto`".to_owned()));
        assert_eq!(search("crosses river bridge Florence Bristol Prague London").len(), MAX_HITS);
        assert!(search("bridge").is_empty());
        assert!(search("quantum chromodynamics").is_empty());
    }
}
