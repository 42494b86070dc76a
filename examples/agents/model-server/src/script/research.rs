//! The research agent's model. It searches with the words of the question, reads the best pages, and answers with the sentence that fits
//! best.
//!
//! It has no understanding: if a question uses other words than the page, it picks the wrong sentence.

use serde::Deserialize;
use serde_json::json;

use crate::conversation::{Answer, Conversation, Done};
use crate::text::{lower_words, number, sentences, words};

const SEARCH: &str = "search";
const READ: &str = "read";
const NOTHING: &str = "I found nothing about that in the library.";

/// Words that say nothing about the subject.
const STOP_WORDS: [&str; 37] = [
    "a", "an", "and", "are", "at", "by", "did", "do", "does", "for", "from", "how", "in", "is", "it", "its",
    "many", "me", "much", "of", "on", "or", "please", "tell", "than", "that", "the", "to", "was", "were",
    "what", "when", "where", "which", "who", "why", "with",
];
/// Words that are in the name of every page.
const GENERIC: [&str; 3] = ["bridge", "viaduct", "suspension"];

/// Words with the same beginning of this length count as the same word.
const SHORTEST_STEM: usize = 5;

/// Words of a question, and the words to look for in a page.
const CLUES: [(&[&str], &[&str]); 9] = [
    (&["when", "year", "old", "older", "oldest", "newer", "opened", "first"], &["opened"]),
    (&["long", "longer", "longest", "span"], &["span", "spans"]),
    (&["who", "designed", "engineer", "built"], &["designed", "engineer", "engineers"]),
    (&["tall", "taller", "high", "height"], &["tall", "metres", "towers"]),
    (&["where", "crosses", "cross", "river", "city", "connect", "connects", "link"], &["crosses", "links"]),
    (&["kind", "type"], &["is", "a"]),
    (&["colour", "color", "painted"], &["painted", "colour"]),
    (&["made", "material", "iron", "steel"], &["iron", "steel", "made"]),
    (&["why", "famous", "special", "known"], &["known", "first"]),
];

#[derive(Deserialize)]
struct Hit {
    id: String,
    title: String,
}

pub(super) fn answer(conversation: &Conversation) -> Answer {
    let question = conversation.question();
    let done = conversation.done();
    let Some(search) = done.iter().find(|call| call.name == SEARCH) else {
        return Answer::Calls(vec![(SEARCH.to_owned(), json!({ "query": query(question) }))]);
    };
    let pages: Vec<&Done<'_>> = done.iter().filter(|call| call.name == READ).collect();
    if pages.is_empty() {
        let hits: Vec<Hit> = serde_json::from_str(search.result).unwrap_or_default();
        let read = to_read(&hits, question);
        if read.is_empty() {
            return Answer::Text(NOTHING.to_owned());
        }
        let call = |id: String| (READ.to_owned(), json!({ "id": id }));
        return Answer::Calls(read.into_iter().map(call).collect());
    }
    Answer::Text(match &pages[..] {
        [page] => format!("{} [{}]", best_sentence(page.result, question), id(page)),
        pages => compare(pages, question),
    })
}

fn id<'a>(page: &Done<'a>) -> &'a str {
    page.arguments["id"].as_str().unwrap_or_default()
}

/// The words of the question that say something.
fn query(question: &str) -> String {
    let says = |word: &&str| !STOP_WORDS.contains(&&*word.to_lowercase());
    words(question).filter(says).collect::<Vec<_>>().join(" ")
}

/// The pages that the question names; otherwise the first hit, unless the question names something else.
fn to_read(hits: &[Hit], question: &str) -> Vec<String> {
    let said = lower_words(question);
    let is_named = |hit: &&Hit| {
        let own = lower_words(&hit.title).into_iter().filter(|word| !GENERIC.contains(&&**word));
        own.into_iter().any(|word| said.contains(&word))
    };
    let named: Vec<String> = hits.iter().filter(is_named).map(|hit| hit.id.clone()).collect();
    if !named.is_empty() {
        return named;
    }
    // A capital within the sentence is a name.
    let names_something = words(question).skip(1).any(|word| word.starts_with(char::is_uppercase));
    let first = hits.first().filter(|_| !names_something);
    first.map(|hit| hit.id.clone()).into_iter().collect()
}

/// The sentence that shares most words with the question and its clues; the earlier one if several do. Words of the title say nothing.
fn best_sentence<'a>(page: &'a str, question: &str) -> &'a str {
    let title = lower_words(page.lines().next().unwrap_or_default());
    let asked = lower_words(question);
    let clues = clues(&asked);
    let is_telling = |word: &&String| !STOP_WORDS.contains(&&***word) && !title.contains(word);
    let asked: Vec<&String> = asked.iter().filter(is_telling).collect();
    let points = |sentence: &str| {
        let said = lower_words(sentence);
        let shared = asked.iter().filter(|word| said.iter().any(|other| is_similar(word, other))).count();
        2 * shared + clues.iter().filter(|clue| said.iter().any(|word| word == *clue)).count()
    };
    // The first line is the title.
    let rated = sentences(page).skip(1).map(|sentence| (points(sentence), sentence));
    let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or("", |(_, sentence)| sentence)
}

/// Whether two words are forms of the same word, by their first letters: `link` and `links`.
fn is_similar(one: &str, other: &str) -> bool {
    let stem = |word: &str| word.chars().take(SHORTEST_STEM).collect::<String>();
    one == other || one.chars().count() >= SHORTEST_STEM && stem(one) == stem(other)
}

fn clues(asked: &[String]) -> Vec<&'static str> {
    let applies = |words: &[&str]| asked.iter().any(|word| words.contains(&&**word));
    let clues = CLUES.iter().filter(|(words, _)| applies(words)).flat_map(|(_, clues)| clues.iter().copied());
    clues.collect()
}

/// Compares pages by the year in which the bridge opened, or by its span.
fn compare(pages: &[&Done<'_>], question: &str) -> String {
    let asked = lower_words(question);
    let asks = |list: &[&str]| asked.iter().any(|word| list.contains(&&**word));
    let by_year = asks(&["older", "oldest", "newer", "newest", "earlier", "later", "first", "opened"]);
    let least = asks(&["older", "oldest", "earlier", "first", "shorter", "shortest"]);
    let mut rated: Vec<(u64, &str, &str)> = pages
        .iter()
        .filter_map(|page| {
            let value = if by_year { year(page.result) } else { span(page.result) };
            Some((value?, page.result.lines().next()?, id(page)))
        })
        .collect();
    rated.sort_by_key(|(value, ..)| *value);
    if !least {
        rated.reverse();
    }
    let Some((value, title, source)) = rated.first() else { return NOTHING.to_owned() };
    let said: Vec<String> = rated[1..]
        .iter()
        .map(|(value, title, source)| match by_year {
            true => format!("the {title} in {value} [{source}]"),
            false => format!("the {title} has {value} metres [{source}]"),
        })
        .collect();
    let said = said.join(", ");
    match by_year {
        true => format!("The {title}: it opened in {value} [{source}], {said}."),
        false => format!("The {title}: its main span is {value} metres [{source}], {said}."),
    }
}

fn after<'a>(page: &'a str, clues: &[&str]) -> impl Iterator<Item = &'a str> {
    let sentence =
        sentences(page).find(|sentence| lower_words(sentence).iter().any(|word| clues.contains(&&**word)));
    words(sentence.unwrap_or_default())
}

fn year(page: &str) -> Option<u64> {
    after(page, &["opened"]).filter_map(number).find(|year| (1_000..2_100).contains(year))
}

fn span(page: &str) -> Option<u64> {
    let words: Vec<_> = after(page, &["span", "spans"]).collect();
    let at = words.iter().position(|word| *word == "metres")?;
    number(words.get(at.checked_sub(1)?)?)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::conversation::Turn;

    const RED: &str =
        "Red Bridge\nThe Red Bridge crosses the Wye. It opened in 1901. Its main span is 1,200 metres long.";
    const OLD: &str = "Old Bridge\nThe Old Bridge opened in 1802. It has a main span of 90 metres.";

    fn conversation(question: &str, done: &[(&str, Value, &str)]) -> Conversation {
        let mut turns = vec![Turn::User(question.to_owned())];
        for (index, (name, arguments, result)) in done.iter().enumerate() {
            let id = index.to_string();
            turns.push(Turn::Call { id: id.clone(), name: (*name).to_owned(), arguments: arguments.clone() });
            turns.push(Turn::Result { id, text: (*result).to_owned() });
        }
        Conversation { turns, ..Conversation::default() }
    }

    fn found(titles: &[&str]) -> String {
        json!(
            titles
                .iter()
                .map(|title| json!({ "id": title.to_lowercase(), "title": title }))
                .collect::<Vec<_>>()
        )
        .to_string()
    }

    #[test]
    fn a_question_is_searched_read_and_answered() {
        let question = "When was the Red Bridge opened?";
        let Answer::Calls(calls) = answer(&conversation(question, &[])) else { panic!() };
        assert_eq!(calls, [(SEARCH.to_owned(), json!({ "query": "Red Bridge opened" }))]);
        let found = found(&["Old Bridge", "Red Bridge"]);
        let search = (SEARCH, json!({}), &*found);
        let Answer::Calls(calls) = answer(&conversation(question, std::slice::from_ref(&search))) else {
            panic!()
        };
        assert_eq!(calls, [(READ.to_owned(), json!({ "id": "red bridge" }))]);
        let read = (READ, json!({ "id": "red" }), RED);
        let Answer::Text(text) = answer(&conversation(question, &[search, read])) else { panic!() };
        assert_eq!(text, "It opened in 1901. [red]");
    }

    #[test]
    fn two_bridges_are_compared() {
        let done = |question: &str| {
            let pages = [
                (SEARCH, json!({}), "[]"),
                (READ, json!({ "id": "red" }), RED),
                (READ, json!({ "id": "old" }), OLD),
            ];
            answer(&conversation(question, &pages))
        };
        let older = "The Old Bridge: it opened in 1802 [old], the Red Bridge in 1901 [red].";
        assert_eq!(done("Which is older, the Red Bridge or the Old Bridge?"), Answer::Text(older.to_owned()));
        let longer =
            "The Red Bridge: its main span is 1200 metres [red], the Old Bridge has 90 metres [old].";
        assert_eq!(
            done("Which has the longer span, the Golden Bridge or the Old one?"),
            Answer::Text(longer.to_owned())
        );
    }

    #[test]
    fn what_the_library_lacks_is_not_made_up() {
        let search = (SEARCH, json!({}), &*found(&["Old Bridge"]));
        let text = answer(&conversation("When did the Rialto open?", &[search]));
        assert_eq!(text, Answer::Text(NOTHING.to_owned()));
    }
}
