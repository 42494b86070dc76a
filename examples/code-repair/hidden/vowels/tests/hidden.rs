use vowels::vowels;

#[test]
fn further_examples() {
    assert_eq!(vowels("AEIOU"), 5);
    assert_eq!(vowels("rhythm"), 0);
}
