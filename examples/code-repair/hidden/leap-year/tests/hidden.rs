use leap_year::is_leap;

#[test]
fn further_examples() {
    assert_eq!(is_leap(1900), false);
    assert_eq!(is_leap(2100), false);
    assert_eq!(is_leap(2400), true);
}
