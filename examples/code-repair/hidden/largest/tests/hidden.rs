use largest::largest;

#[test]
fn further_examples() {
    assert_eq!(largest(&[-3, -8]), -3);
    assert_eq!(largest(&[2]), 2);
}
