use first_words::first_words;

#[test]
fn further_examples() {
    assert_eq!(first_words("a  b", 5), "a b");
    assert_eq!(first_words("a b", 0), "");
    assert_eq!(first_words("", 3), "");
}
