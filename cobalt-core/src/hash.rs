//! SHA-256 hashes and hexadecimal digits.

use sha2::{Digest, Sha256};

/// The hash of length-prefixed `parts`, in lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(parts: &[impl AsRef<[u8]>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// The SHA-256 of data, as `sha256sum` prints it.
#[must_use]
pub fn sha256(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

/// The first eight bytes of a text's hash, as a big-endian number.
pub(crate) fn sha256_prefix(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Whether a text can be an unambiguous prefix of such a hash: 8 to 64 hexadecimal digits.
pub fn is_hash_prefix(text: &str) -> bool {
    (8..=64).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
