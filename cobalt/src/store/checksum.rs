//! The checksum of a line of JSON, which is the line's last field: it detects damage that leaves the line valid JSON.

use std::io::Write as _;

/// What stands before the digits.
const FIELD: &[u8] = b",\"crc32\":\"";
const DIGITS: usize = 8;
/// What stands behind the digits: the ends of the text and of the object.
const END: &[u8] = b"\"}";
const LENGTH: usize = FIELD.len() + DIGITS + END.len();

/// What a line says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    Right,
    /// The line has none, as in journals of earlier versions.
    Missing,
    Wrong,
}

/// Adds its checksum to the object that begins at `start` and ends with the text.
pub(super) fn add(text: &mut Vec<u8>, start: usize) {
    let checksum = crc32fast::hash(&text[start..]);
    debug_assert_eq!(text.last(), Some(&b'}'), "only objects have a checksum");
    text.pop();
    text.extend_from_slice(FIELD);
    write!(text, "{checksum:08x}").expect("a vector takes everything");
    text.extend_from_slice(END);
}

/// Compares a line with its checksum, which is that of the object without it.
pub(super) fn verify(line: &[u8]) -> Checksum {
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
        add(&mut text, 7);
        let line = text[7..].to_vec();
        assert_eq!(line, b"{\"at\":1,\"item\":{},\"crc32\":\"9694941c\"}".as_slice());
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        assert_eq!(verify(&line), Checksum::Right);
        assert_eq!(verify(&[&line[..], b"\n"].concat()), Checksum::Right);
        for bit in 0..line.len() * 8 {
            let mut damaged = line.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(verify(&damaged), Checksum::Right, "bit {bit}");
        }
    }

    #[test]
    fn a_line_of_an_earlier_version_has_no_checksum() {
        for line in ["", "{}", "{\"at\":1,\"item\":{\"index\":0}}\n"] {
            assert_eq!(verify(line.as_bytes()), Checksum::Missing, "{line}");
        }
    }
}
