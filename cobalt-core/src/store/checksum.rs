//! The checksum at the end of each line of a journal.

use std::io::Write;

/// The text before the digits.
const FIELD: &[u8] = b",\"crc32\":\"";
const DIGITS: usize = 8;
/// The text after the digits: the ends of the string and of the object.
const END: &[u8] = b"\"}";
const LENGTH: usize = FIELD.len() + DIGITS + END.len();

/// The result of a checksum verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    Right,
    /// The line has none, as in journals of earlier versions.
    Missing,
    Wrong,
}

/// Appends a checksum to the object that starts at `start` and ends `text`.
pub fn append_checksum(text: &mut Vec<u8>, start: usize) {
    let checksum = crc32fast::hash(&text[start..]);
    debug_assert_eq!(text.last(), Some(&b'}'), "only objects have a checksum");
    text.pop();
    text.extend_from_slice(FIELD);
    write!(text, "{checksum:08x}").expect("a vector takes everything");
    text.extend_from_slice(END);
}

/// Verifies a line's checksum, which covers the object without the checksum field.
pub fn verify_checksum(line: &[u8]) -> Checksum {
    let line = line.trim_ascii_end();
    let Some((object, field)) = line.len().checked_sub(LENGTH).map(|end| line.split_at(end)) else {
        return Checksum::Missing;
    };
    let digits = field.strip_prefix(FIELD).and_then(|rest| rest.strip_suffix(END));
    let Some(digits) = digits else { return Checksum::Missing };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(object);
    hasher.update(b"}");
    if format!("{:08x}", hasher.finalize()).as_bytes() == digits { Checksum::Right } else { Checksum::Wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_its_checksum_and_every_flipped_bit_of_it_is_found() {
        let mut text = b"before {\"at\":1,\"item\":{}}".to_vec();
        append_checksum(&mut text, 7);
        let line = text[7..].to_vec();
        assert_eq!(line, b"{\"at\":1,\"item\":{},\"crc32\":\"9694941c\"}".as_slice());
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        assert_eq!(verify_checksum(&line), Checksum::Right);
        assert_eq!(verify_checksum(&[&line[..], b"\n"].concat()), Checksum::Right);
        for bit in 0..line.len() * 8 {
            let mut damaged = line.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(verify_checksum(&damaged), Checksum::Right, "bit {bit}");
        }
    }

    #[test]
    fn a_line_of_an_earlier_version_has_no_checksum() {
        for line in ["", "{}", "{\"at\":1,\"item\":{\"index\":0}}\n"] {
            assert_eq!(verify_checksum(line.as_bytes()), Checksum::Missing, "{line}");
        }
    }
}
