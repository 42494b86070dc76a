use clamp::limit;

#[test]
fn further_examples() {
    assert_eq!(limit(-5, 1, 3), 1);
    assert_eq!(limit(1, 1, 3), 1);
    assert_eq!(limit(7, 7, 7), 7);
}
