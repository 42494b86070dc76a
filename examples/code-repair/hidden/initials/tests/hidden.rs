use initials::initials;

#[test]
fn further_examples() {
    assert_eq!(initials("grace brewster hopper"), "GBH");
    assert_eq!(initials(""), "");
}
