//! What is expected of a data set is asked of copies and of what is fetched.

use super::fake::Fake;
use crate::item;

fn expecting(items: Option<usize>, hash: Option<&str>, source: Fake) -> Fake {
    let mut source = source;
    source.terms.items = items;
    source.terms.hash = hash.map(str::to_owned);
    source
}

#[test]
fn a_data_set_that_is_as_expected_is_given() {
    let hash = Fake::with(&["a", "b"]).load().unwrap().hash();
    for hash in [&hash[..8], &hash, &hash.to_uppercase()] {
        let source = expecting(Some(2), Some(hash), Fake::with(&["a", "b"]));
        assert_eq!([source.loaded(), source.loaded()], [["a", "b"], ["a", "b"]]);
        assert_eq!(source.asked(), 1);
    }
}

#[test]
fn the_error_for_another_says_what_to_write() {
    let found = Fake::with(&["a"]).load().unwrap().hash();
    let source = expecting(Some(2), Some("00000000"), Fake::with(&["a"]));
    assert_eq!(
        source.fails(),
        format!(
            "fake:support desk has 1 item with the hash {found}, and not what is expected (2 items, the hash 00000000); \
             where that is right, write `.expect_items(1).expect_hash(\"{found}\")`, or `items = 1` and \
             `hash = \"{found}\"` in its table of `cobalt.toml`"
        )
    );
    let source = expecting(Some(2), None, Fake::with(&["a"]));
    assert!(source.fails().ends_with(
        "where that is right, write `.expect_items(1)`, or `items = 1` in its table of `cobalt.toml`"
    ));
}

#[test]
fn what_is_not_expected_is_not_kept_and_the_error_says_how_it_differs_from_the_copy() {
    let mut source = expecting(Some(2), None, Fake::with(&["a", "b"]));
    source.load().unwrap();
    source.items = vec![item! { "id": "b", "n": 1 }, item! { "id": "c" }, item! { "id": "d" }];
    assert_eq!(source.loaded(), ["a", "b"], "the copy is as expected");
    source.refresh();
    let error = source.fails();
    let difference = "(2 items): 2 items added, 1 item removed, 1 item changed since the copy of 20";
    assert!(error.contains(difference), "{error}");
    source.settings.refresh = None;
    assert_eq!(source.loaded(), ["a", "b"], "and it stays");
}

#[test]
fn a_copy_that_is_not_what_is_expected_by_now_is_fetched_again() {
    let mut source = expecting(Some(1), None, Fake::with(&["a"]));
    source.load().unwrap();
    source.items.push(item! { "id": "b" });
    source.terms.items = Some(2);
    assert_eq!(source.loaded(), ["a", "b"]);
    assert_eq!(source.asked(), 2);
}

#[test]
fn a_copy_that_is_not_what_is_expected_is_no_help_offline_or_where_the_source_is_down() {
    let source = Fake::with(&["a"]);
    source.load().unwrap();
    let mut source = expecting(Some(2), None, source);
    source.is_down = true;
    assert_eq!(source.fails(), "cannot fetch fake:support desk: connection refused");
    source.settings.offline = true;
    assert!(source.fails().starts_with("fake:support desk has 1 item with the hash "), "{}", source.fails());
    assert!(source.fails().contains("without `--offline`"), "{}", source.fails());
}

#[test]
fn a_hash_that_can_be_none_is_an_error_before_anything_is_fetched() {
    for hash in ["1234567", "x2345678", "", &"0".repeat(65), "12345678 "] {
        let source = expecting(None, Some(hash), Fake::with(&["a"]));
        assert_eq!(
            source.fails(),
            format!(
                "`{hash}` cannot be the expected hash of fake:support desk: expected 8 to 64 hexadecimal digits"
            )
        );
        assert_eq!(source.asked(), 0);
    }
}
