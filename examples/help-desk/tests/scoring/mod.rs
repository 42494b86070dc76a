//! The help desk's evaluators: functions, which unit tests can call too.

use std::path::Path;
use std::sync::LazyLock;

use cobalt::{Item, Score};
use help_desk::{HelpDesk, NO_ANSWER};
use serde::Deserialize;

/// The help desk under test, opened once.
pub(crate) static DESK: LazyLock<HelpDesk> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("articles");
    HelpDesk::open(&folder).unwrap_or_else(|error| panic!("the articles cannot be read: {error}"))
});

/// The fields of an item that only evaluators see.
#[derive(Deserialize)]
pub(crate) struct Expected {
    /// The articles that answer the question; empty if the knowledge base has no answer.
    pub(crate) articles: Vec<String>,
}

/// The share of the articles asked for that the answer cites; a wrong article is worth nothing.
#[cobalt::evaluator]
pub(crate) fn right_article(expected: &Expected, metadata: &Item) -> Score {
    let cited = metadata.get("article").and_then(|article| article.as_str());
    let score = match cited {
        None if expected.articles.is_empty() => 1.0,
        Some(cited) if expected.articles.iter().any(|article| article == cited) => {
            1.0 / expected.articles.len() as f64
        }
        _ => 0.0,
    };
    Score::new(score).reason(format!(
        "cites {}, expected {}",
        cited.unwrap_or("nothing"),
        if expected.articles.is_empty() { "nothing".to_owned() } else { expected.articles.join(" and ") }
    ))
}

/// The share of the answer's sentences that stand in the article that it cites. Who claims nothing is grounded.
#[cobalt::evaluator]
pub(crate) fn grounded(output: &str, metadata: &Item) -> Result<Score, String> {
    if output == NO_ANSWER {
        return Ok(Score::from(true).reason("claims nothing"));
    }
    let name =
        metadata.get("article").and_then(|article| article.as_str()).ok_or("the answer cites no article")?;
    let article = DESK.article(name).ok_or_else(|| format!("there is no article `{name}`"))?;
    let claims = output.lines().filter(|line| !line.starts_with("Source: "));
    let sentences: Vec<_> = claims.flat_map(|line| line.split_inclusive(". ")).map(str::trim).collect();
    let stands = |sentence: &&&str| article.passages.iter().any(|passage| passage.contains(**sentence));
    let found = sentences.iter().filter(stands).count();
    let share = found as f64 / sentences.len().max(1) as f64;
    Ok(Score::new(share).reason(format!("{found} of {} sentences stand in `{name}`", sentences.len())))
}

/// Whether the agent says that it does not know exactly where the knowledge base has no answer.
#[cobalt::evaluator]
pub(crate) fn admits_ignorance(expected: &Expected, output: &str) -> bool {
    (output == NO_ANSWER) == expected.articles.is_empty()
}
