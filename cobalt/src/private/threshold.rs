//! Support for the thresholds of an attribute.

pub use cobalt_core::report::{Category, Comparison, LatencyBound, Metric, NumberBound, Threshold};

/// Whether a list contains a name, at compile time, for evaluator names.
#[must_use]
pub const fn is_one_of(name: &str, names: &[&str]) -> bool {
    let mut index = 0;
    while index < names.len() {
        if bytes_equal(name.as_bytes(), names[index].as_bytes()) {
            return true;
        }
        index += 1;
    }
    false
}

/// `==`, which is not available for strings in a `const fn`.
const fn bytes_equal(a: &[u8], b: &[u8]) -> bool {
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

#[cfg(test)]
#[test]
fn a_name_is_found_only_as_a_whole() {
    let names = ["concise", "two words"];
    assert!(is_one_of("concise", &names) && is_one_of("two words", &names));
    for other in ["", "concis", "concise ", "two", "words"] {
        assert!(!is_one_of(other, &names), "{other}");
    }
}
