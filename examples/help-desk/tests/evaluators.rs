//! Unit tests of the evaluators.

mod scoring;

use cobalt::item;
use help_desk::NO_ANSWER;
use scoring::{Expected, admits_ignorance, grounded, right_article};

fn expected(articles: &[&str]) -> Expected {
    Expected { articles: articles.iter().map(|&article| article.to_owned()).collect() }
}

#[test]
fn one_of_two_articles_is_half_an_answer() {
    let cites = item! { "article": "prices" };
    assert_eq!(right_article(&expected(&["prices"]), &cites).value(), 1.0);
    assert_eq!(right_article(&expected(&["prices", "passes"]), &cites).value(), 0.5);
    assert_eq!(right_article(&expected(&["parking"]), &cites).value(), 0.0);
    assert_eq!(right_article(&expected(&[]), &cites).value(), 0.0);
}

#[test]
fn no_article_is_right_where_there_is_none() {
    assert_eq!(right_article(&expected(&[]), &item! {}).value(), 1.0);
    assert_eq!(right_article(&expected(&["prices"]), &item! {}).value(), 0.0);
}

#[test]
fn an_invented_sentence_is_not_grounded() {
    let cites = item! { "article": "prices" };
    let score = grounded("A ride costs €1 to start and €0.15 a minute. Sundays are free.", &cites).unwrap();
    assert_eq!(score.value(), 0.5);
    assert_eq!(score.why(), Some("1 of 2 sentences stand in `prices`"));
}

#[test]
fn an_answer_without_a_source_cannot_be_checked() {
    assert!(grounded("Sundays are free.", &item! {}).is_err());
    assert!(grounded("Sundays are free.", &item! { "article": "sundays" }).is_err());
}

#[test]
fn ignorance_is_right_only_where_there_is_no_answer() {
    assert!(admits_ignorance(&expected(&[]), NO_ANSWER));
    assert!(!admits_ignorance(&expected(&["prices"]), NO_ANSWER));
    assert!(!admits_ignorance(&expected(&[]), "A ride costs €1."));
}
