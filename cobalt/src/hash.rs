//! SHA-256 over texts.

use hmac_sha256::Hash;

/// The hash of `parts`, each with its length before it, in lower-case hexadecimal digits.
pub(crate) fn sha256_hex(parts: &[String]) -> String {
    let mut hash = Hash::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
