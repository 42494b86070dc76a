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

/// Bytes in lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
