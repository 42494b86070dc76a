use median::median;

#[test]
fn further_examples() {
    assert_eq!(median(vec![7.0]), 7.0);
    assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
    assert_eq!(median(vec![-1.0, -3.0]), -2.0);
}
