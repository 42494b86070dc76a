//! A help desk for a bike rental: it finds the passage of its articles that best matches a question, and quotes it.
//!
//! It never invents anything. If no passage is close to the question, it says that it does not know.

mod articles;
mod search;
mod words;

use std::io;
use std::path::Path;

pub use articles::Article;
use search::{Hit, Index};

/// The minimum closeness of an answer to the question, from 0 to 1.
const MIN_CLOSENESS: f64 = 0.35;
/// The weight of passages after the first one of an article: the first one answers the most common question.
const LATER_PASSAGE_WEIGHT: f64 = 0.8;

/// The answer if no passage is close enough.
pub const NO_ANSWER: &str = "I do not know. Please write to help@larkspur.example.";

/// A help desk with searchable articles.
#[derive(Debug)]
pub struct HelpDesk {
    articles: Vec<Article>,
    /// The article and passage of each index entry.
    places: Vec<(usize, usize)>,
    index: Index,
}

/// An answer with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The passage and the title of its article, or [`NO_ANSWER`].
    pub text: String,
    /// The article; `None` if no passage is close enough.
    pub article: Option<String>,
    /// The closeness of the best passage to the question, from 0 to 1.
    pub closeness: f64,
}

impl HelpDesk {
    /// A help desk with the articles in a folder.
    ///
    /// # Errors
    ///
    /// The folder or a file cannot be read, or a file has no title; the message names it.
    pub fn open(folder: &Path) -> io::Result<Self> {
        articles::read(folder).map(Self::new)
    }

    /// A help desk with these articles.
    pub fn new(articles: Vec<Article>) -> Self {
        let passages = |(a, article): (usize, &Article)| (0..article.passages.len()).map(move |p| (a, p));
        let places: Vec<_> = articles.iter().enumerate().flat_map(passages).collect();
        let texts = places.iter().map(|&(a, p)| {
            let Article { title, keywords, passages, .. } = &articles[a];
            // The title describes the passage, so its words count twice.
            format!("{title} {title} {keywords} {}", passages[p])
        });
        let index = Index::new(texts);
        Self { articles, places, index }
    }

    /// Answers a question with the best matching passage.
    pub fn answer(&self, question: &str) -> Answer {
        let best = self.search(question).into_iter().next();
        let closeness = best.map_or(0.0, |best| best.closeness);
        match best.filter(|_| closeness >= MIN_CLOSENESS) {
            Some(best) => {
                let (article, passage) = self.places[best.entry];
                let Article { name, title, passages, .. } = &self.articles[article];
                let text = format!("{}\nSource: {title}", passages[passage]);
                Answer { text, article: Some(name.clone()), closeness }
            }
            None => Answer { text: NO_ANSWER.to_owned(), article: None, closeness },
        }
    }

    /// The names of the articles that share a word with a question, best first.
    pub fn rank(&self, question: &str) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for hit in self.search(question) {
            let name = &*self.articles[self.places[hit.entry].0].name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The passages that share a word with a question, best first.
    fn search(&self, question: &str) -> Vec<Hit> {
        let mut hits = self.index.search(question);
        for hit in hits.iter_mut().filter(|hit| self.places[hit.entry].1 > 0) {
            hit.score *= LATER_PASSAGE_WEIGHT;
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits
    }

    /// The article with this name.
    pub fn article(&self, name: &str) -> Option<&Article> {
        self.articles.iter().find(|article| article.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> HelpDesk {
        let article = |name: &str, text: &str| Article::parse(name, text).unwrap();
        HelpDesk::new(vec![
            article(
                "unlock",
                "# How to unlock a bike\n\nScan the code.\n\nIn the dark, switch on the torch.",
            ),
            article("prices", "# What a ride costs\n\nA ride costs a euro."),
        ])
    }

    #[test]
    fn the_best_passage_is_quoted_with_its_source() {
        let answer = desk().answer("Where is the torch?");
        assert_eq!(answer.text, "In the dark, switch on the torch.\nSource: How to unlock a bike");
        assert_eq!(answer.article.as_deref(), Some("unlock"));
    }

    #[test]
    fn the_first_passage_answers_what_the_title_says() {
        let answer = desk().answer("How do I unlock a bike?");
        assert_eq!(answer.text, "Scan the code.\nSource: How to unlock a bike");
    }

    #[test]
    fn a_question_about_nothing_in_the_articles_has_no_answer() {
        let answer = desk().answer("Will it rain tomorrow?");
        assert_eq!(answer.text, NO_ANSWER);
        assert_eq!((answer.article, answer.closeness), (None, 0.0));
    }

    #[test]
    fn a_single_word_in_common_is_not_enough() {
        let answer = desk().answer("Which ride at the fair turns upside down?");
        assert_eq!(answer.article, None);
        assert!(answer.closeness > 0.0);
    }

    #[test]
    fn each_article_is_ranked_once() {
        assert_eq!(desk().rank("What does it cost to ride a bike?"), ["prices", "unlock"]);
    }
}
