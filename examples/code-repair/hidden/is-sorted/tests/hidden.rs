use is_sorted::is_sorted;

#[test]
fn further_examples() {
    assert_eq!(is_sorted(&[]), true);
    assert_eq!(is_sorted(&[5, 5, 5]), true);
    assert_eq!(is_sorted(&[1, 3, 2]), false);
}
