//! How large answers are, and how room is shared out.

use std::io::{self, Write};

use serde::Serialize;

/// How many bytes a value takes as JSON that stands in a text of JSON itself, as clients of older versions of the protocol get
/// it; clients of the newest get it in fewer.
pub(in crate::mcp) fn size(value: &(impl Serialize + ?Sized)) -> usize {
    let mut counter = Counter(0);
    // Counting cannot fail. What cannot be written is not counted, and not answered with either.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let escaped = bytes.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        self.0 += bytes.len() + escaped;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shares room out to what would take these sizes: what is small gets all that it takes, and what is large the same each.
pub(super) fn shares(sizes: &[usize], room: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..sizes.len()).collect();
    places.sort_by_key(|place| sizes[*place]);
    let (mut left, mut shares) = (room, vec![0; sizes.len()]);
    for (given, place) in places.into_iter().enumerate() {
        shares[place] = sizes[place].min(left / (sizes.len() - given));
        left -= shares[place];
    }
    shares
}

/// Keeps the first elements that have room, and notes how many have not.
pub(in crate::mcp) fn keep<T: Serialize>(
    elements: &mut Vec<T>,
    room: usize,
    what: &str,
    left_out: &mut Vec<String>,
) {
    let (mut taken, all) = (0, elements.len());
    let fits = |element: &T| {
        taken += size(element) + 1;
        taken <= room
    };
    elements.truncate(elements.iter().map(fits).take_while(|fits| *fits).count());
    if elements.len() < all {
        left_out.push(format!("{what}: {} of {all}", all - elements.len()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_size_is_that_of_json_within_a_text() {
        for value in [json!("a\"b\\c\n\u{1}é"), json!({ "a": [1, null] }), json!("\u{7f}\u{2028}")] {
            let within = serde_json::to_string(&value.to_string()).unwrap();
            assert_eq!(size(&value), within.len() - 2, "{value}");
        }
    }

    #[test]
    fn what_is_small_gets_all_and_what_is_large_the_same_each() {
        assert_eq!(shares(&[10, 500, 900], 210), [10, 100, 100]);
        assert_eq!(shares(&[10, 20], 100), [10, 20]);
        assert_eq!(shares(&[], 100), [0; 0]);
    }
}
