//! Whether a text looks as if a generator of random characters had made it, and not a person.

/// The longest word with a number behind it, as in `release2024`, that people write in names.
const LONGEST_WORD: usize = 14;

/// How varied bytes are: Shannon's entropy of their counts, in bits a byte. The first 256 bytes count.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let bytes = &bytes[..bytes.len().min(256)];
    let mut counts = [0_u16; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    let share = |count: u16| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(share).sum()
}

/// What of a text tells random characters from names.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    letters_and_digits: usize,
    digits: usize,
    upper: usize,
    lower: usize,
    /// Pieces that names are put together of: `getUser2` has three, `get`, `User` and `2`.
    pieces: usize,
    /// Changes between letters and digits.
    turns: usize,
    /// Whether some part between separators is neither a word nor a number.
    has_odd_part: bool,
    is_hex: bool,
}

impl Counts {
    fn of(bytes: &[u8]) -> Self {
        let mut counts = Self { is_hex: true, ..Self::default() };
        let mut before = 0_u8;
        for &byte in bytes {
            counts.digits += usize::from(byte.is_ascii_digit());
            counts.upper += usize::from(byte.is_ascii_uppercase());
            counts.lower += usize::from(byte.is_ascii_lowercase());
            counts.is_hex &= byte.is_ascii_hexdigit();
            let turns = before.is_ascii_alphanumeric() && before.is_ascii_digit() != byte.is_ascii_digit();
            let is_hump = before.is_ascii_lowercase() && byte.is_ascii_uppercase();
            if byte.is_ascii_alphanumeric() {
                counts.turns += usize::from(turns);
                counts.pieces += usize::from(turns || is_hump || !before.is_ascii_alphanumeric());
            }
            before = byte;
        }
        counts.letters_and_digits = counts.digits + counts.upper + counts.lower;
        counts.has_odd_part = bytes.split(|byte| !byte.is_ascii_alphanumeric()).any(is_odd);
        counts
    }

    fn letters_a_piece(self) -> f64 {
        self.letters_and_digits as f64 / self.pieces.max(1) as f64
    }
}

/// Whether a part is neither a word, were it with a number behind it, nor a number.
fn is_odd(part: &[u8]) -> bool {
    let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (word, number) = part.split_at(letters);
    let rest = word.get(1..).unwrap_or_default();
    let is_word = rest.iter().all(u8::is_ascii_lowercase) || word.iter().all(u8::is_ascii_uppercase);
    part.len() > LONGEST_WORD || !is_word || !number.iter().all(u8::is_ascii_digit)
}

/// Whether a key may look so: letters and digits in no order that a name would have.
pub(super) fn is_random(bytes: &[u8], shortest: usize) -> bool {
    let counts = Counts::of(&bytes[..bytes.len().min(256)]);
    let Counts { letters_and_digits, digits, upper, lower, turns, has_odd_part, is_hex, .. } = counts;
    if letters_and_digits < shortest || !has_odd_part || entropy(bytes) < 2.75 {
        return false;
    }
    let letters = upper + lower;
    let a_piece = counts.letters_a_piece();
    match digits {
        // Letters alone: of both cases, and mixed as no name mixes them.
        0 => 2 * upper >= lower && 2 * lower >= upper && a_piece <= 5.0 && letters_and_digits >= 20,
        _ if is_hex => letters >= 1 && letters_and_digits >= 16,
        1 if letters_and_digits > 16 => upper > 0 && lower > 0 && a_piece <= 3.6,
        // Names of this kind have few numbers in them, and long words.
        _ => letters >= 1 && (a_piece <= 2.6 || turns >= 3 && a_piece <= 4.0),
    }
}

/// Whether a text is such as people take for passwords: letters with digits among them, or with digits and signs.
pub(super) fn is_password(bytes: &[u8]) -> bool {
    let Counts { letters_and_digits, digits, turns, .. } = Counts::of(&bytes[..bytes.len().min(256)]);
    let has_sign = bytes.iter().any(|byte| b"!@#$%^&*?".contains(byte));
    let has_both = digits > 0 && letters_and_digits > digits;
    bytes.len() >= 8 && (has_both && (turns >= 3 || has_sign) || is_random(bytes, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_generator_made_is_told_from_what_people_write() {
        let random = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY d41d8cd98f00b204e9800998ecf8427e \
                      550e8400-e29b-41d4-a716-446655440000 q7Zk2mP0xV9nT4bL hXmQpZtWbKvRnYcJfLgD";
        for text in random.split_whitespace() {
            assert!(is_random(text.as_bytes(), 16), "{text}");
        }
        let written = "correct-horse-battery-staple YOUR_API_KEY_GOES_HERE v2-beta3-release4-2024 authentication \
                       Base64EncodedString2019 get_user_by_id_from_database aaaaaaaaaaaaaaaaaaaaaaaa1 2019-2022 \
                       my-super-secret-token-2024 x86_64-unknown-linux-gnu the_key_of_the_test_suite_1";
        for text in written.split_whitespace() {
            assert!(!is_random(text.as_bytes(), 16), "{text}");
        }
    }

    #[test]
    fn passwords_are_told_from_words() {
        for text in ["S3cr3tPassw0rd", "hunter2hunter2", "Summer2024!", "Tr0ub4dor&3"] {
            assert!(is_password(text.as_bytes()), "{text}");
        }
        for text in ["required", "Utf8String", "string", "hunter2", "changeme", "correct-horse"] {
            assert!(!is_password(text.as_bytes()), "{text}");
        }
    }
}
