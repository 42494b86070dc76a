//! How large answers are, and how room is shared out.

use std::io::{self, Write};

use serde::Serialize;

/// How many bytes a value takes as JSON that stands in a text of JSON itself, as clients of older versions of the protocol get
/// it; clients of the newest get it in fewer.
pub fn size(value: &(impl Serialize + ?Sized)) -> usize {
    size_up_to(value, usize::MAX)
}

/// The same as long as it is at most so large; else a number above that. What is huge is not gone through in whole.
pub fn size_up_to(value: &(impl Serialize + ?Sized), most: usize) -> usize {
    let mut counter = Counter { counted: 0, most };
    // It fails where there is more to count, and what cannot be written is not answered with.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.counted
}

struct Counter {
    counted: usize,
    most: usize,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.counted += bytes.len();
        if self.counted <= self.most {
            self.counted += bytes.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        }
        if self.counted > self.most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shares room out to what would take these sizes: what is small gets all that it takes, and what is large the same each.
pub fn shares(sizes: &[usize], room: usize) -> Vec<usize> {
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
pub fn keep<T: Serialize>(elements: &mut Vec<T>, room: usize, what: &str, left_out: &mut Vec<String>) {
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
    fn a_size_is_counted_as_far_as_it_matters() {
        for value in [json!("a\"b"), json!(["a", { "b": "\"\"" }])] {
            let size = size(&value);
            assert_eq!((size_up_to(&value, size), size_up_to(&value, size + 1)), (size, size));
            assert!((1..size).all(|most| size_up_to(&value, most) > most));
        }
    }

    #[test]
    fn what_is_small_gets_all_and_what_is_large_the_same_each() {
        assert_eq!(shares(&[10, 500, 900], 210), [10, 100, 100]);
        assert_eq!(shares(&[10, 20], 100), [10, 20]);
        assert_eq!(shares(&[], 100), [0; 0]);
    }
}
