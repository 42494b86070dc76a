use fizz_buzz::fizz_buzz;

#[test]
fn further_examples() {
    assert_eq!(fizz_buzz(30), "FizzBuzz");
    assert_eq!(fizz_buzz(10), "Buzz");
}
