use celsius::celsius;

#[test]
fn further_examples() {
    assert_eq!(celsius(-40.0), -40);
    assert_eq!(celsius(98.6), 37);
}
