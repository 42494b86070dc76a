use discount::discounted;

#[test]
fn further_examples() {
    assert_eq!(discounted(9_999), 9_999);
    assert_eq!(discounted(20_000), 18_000);
    assert_eq!(discounted(0), 0);
    assert_eq!(discounted(10_000), 9_000);
}
