//! Texts with percent-encoding or the escapes of JSON undone, and the way back to the places in the text as it was.

use std::ops::Range;

/// A text with its escapes undone.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Behind each escape: the place in `bytes`, and the place in the text.
    places: Vec<(usize, usize)>,
}

impl Decoded {
    /// The place in the text of what is at `range` here.
    pub(super) fn place(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| match self.places.partition_point(|(here, _)| *here <= at).checked_sub(1) {
            Some(last) => self.places[last].1 + at - self.places[last].0,
            None => at,
        };
        place(range.start)..place(range.end)
    }
}

/// Whether an escape of JSON may stand for a byte of this alphabet. One that stands for a backslash is followed by another.
pub(super) fn hides_in_json(text: &[u8], alphabet: &[bool; 256]) -> bool {
    memchr::memchr_iter(b'\\', text).any(|at| match text.get(at + 1) {
        Some(b'u') => true,
        Some(byte @ (b'"' | b'/')) => alphabet[usize::from(*byte)],
        Some(b'n') => alphabet[usize::from(b'\n')],
        Some(b't') => alphabet[usize::from(b'\t')],
        Some(b'r') => alphabet[usize::from(b'\r')],
        Some(b'b') => alphabet[8],
        Some(b'f') => alphabet[12],
        Some(b'\\') => alphabet[usize::from(b'\\')],
        _ => false,
    })
}

/// Whether percent-encoding may stand for a byte of this alphabet, or for the sign itself.
pub(super) fn hides_in_percent(text: &[u8], alphabet: &[bool; 256]) -> bool {
    memchr::memchr_iter(b'%', text).any(|at| {
        let digit = |at: usize| text.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let byte = digit(at + 1).zip(digit(at + 2)).map(|(high, low)| (high * 16 + low) as u8);
        byte.is_some_and(|byte| byte == b'%' || alphabet[usize::from(byte)])
    })
}

/// A text without percent-encoding; `None` where it has none.
pub(super) fn percent(text: &[u8]) -> Option<Decoded> {
    undone(text, b'%', |escape, bytes| {
        let [high, low] = [escape.get(1)?, escape.get(2)?].map(|digit| char::from(*digit).to_digit(16));
        bytes.push((high? * 16 + low?) as u8);
        Some(3)
    })
}

/// A text without the escapes of JSON; `None` where it has none.
pub(super) fn json(text: &[u8]) -> Option<Decoded> {
    undone(text, b'\\', |escape, bytes| {
        let byte = match escape.get(1)? {
            b'u' => return unicode(escape, bytes),
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            byte @ (b'"' | b'\\' | b'/') => *byte,
            _ => return None,
        };
        bytes.push(byte);
        Some(2)
    })
}

/// `\u0041`, or two of them for what has no place in one.
fn unicode(escape: &[u8], bytes: &mut Vec<u8>) -> Option<usize> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    let (units, length) = match unit(6) {
        Some(second) if (0xD800..0xDC00).contains(&first) => (vec![first, second], 12),
        _ => (vec![first], 6),
    };
    let letter = char::decode_utf16(units).next()?.ok()?;
    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    Some(length)
}

/// A text in which each escape, which begins with `mark`, is undone by `undo`; that tells how long the escape is.
fn undone(text: &[u8], mark: u8, undo: impl Fn(&[u8], &mut Vec<u8>) -> Option<usize>) -> Option<Decoded> {
    let mut from = memchr::memchr(mark, text)?;
    let mut decoded = Decoded { bytes: text[..from].to_vec(), places: Vec::new() };
    while from < text.len() {
        match undo(&text[from..], &mut decoded.bytes) {
            Some(length) => {
                from += length;
                decoded.places.push((decoded.bytes.len(), from));
            }
            None => {
                decoded.bytes.push(mark);
                from += 1;
            }
        }
        let next = memchr::memchr(mark, &text[from..]).map_or(text.len(), |next| from + next);
        decoded.bytes.extend_from_slice(&text[from..next]);
        from = next;
    }
    (!decoded.places.is_empty()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_found_in_the_text_again() {
        let text = "a%20b\\\"c\\u00e4%C3%A4d\\ud83d\\ude00e %zz \\q";
        let percent = percent(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8_lossy(&percent.bytes), "a b\\\"c\\u00e4äd\\ud83d\\ude00e %zz \\q");
        let json = json(&percent.bytes).unwrap();
        assert_eq!(String::from_utf8_lossy(&json.bytes), "a b\"cääd😀e %zz \\q");
        let decoded = String::from_utf8_lossy(&json.bytes).into_owned();
        for (part, written) in [
            (" b", "%20b"),
            ("\"c", "\\\"c"),
            ("ää", "\\u00e4%C3%A4"),
            ("😀", "\\ud83d\\ude00"),
            ("e %zz \\q", "e %zz \\q"),
        ] {
            let start = decoded.find(part).unwrap();
            let place = percent.place(&json.place(&(start..start + part.len())));
            assert_eq!(&text[place], written);
        }
        assert!(super::percent(b"100 %").is_none() && super::json(b"plain").is_none());
    }
}
