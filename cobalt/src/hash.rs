//! SHA-256 over texts and files, and its digits.

use hmac_sha256::Hash;

/// The hash of `parts`, each with its length before it, in lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(parts: &[impl AsRef<[u8]>]) -> String {
    let mut hash = Hash::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// The first eight bytes of a text's hash, as a big-endian number.
pub(crate) fn sha256_beginning(text: &str) -> u64 {
    let hash = Hash::hash(text.as_bytes());
    hash[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Bytes in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
