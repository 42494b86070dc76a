//! Whether a binary calls `cobalt::main()`, without starting it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use cobalt_core::reporters::PROTOCOL;
use memchr::memmem;

/// Read size in bytes.
const CHUNK: usize = 1 << 20;

/// Whether a binary contains the greeting that `cobalt::main()` sends, in any version. The binary is not started, as its
/// behaviour is unknown.
pub fn is_cobalt_binary(binary: &Path) -> io::Result<bool> {
    contains(&mut File::open(binary)?, protocol_prefix().as_bytes())
}

/// The protocol name without the version.
fn protocol_prefix() -> &'static str {
    PROTOCOL.trim_end_matches(|character: char| character.is_ascii_digit())
}

fn contains(file: &mut impl Read, text: &[u8]) -> io::Result<bool> {
    let finder = memmem::Finder::new(text);
    let mut chunk = Vec::with_capacity(CHUNK + text.len());
    loop {
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk)?;
        if finder.find(&chunk).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        // The text can span two chunks.
        chunk.drain(..chunk.len().saturating_sub(text.len() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_across_the_border_of_two_chunks() {
        let mut bytes = vec![0; CHUNK - 3];
        bytes.extend(b"greeting");
        assert!(contains(&mut &bytes[..], b"greeting").unwrap());
        assert!(!contains(&mut &bytes[..], b"meeting").unwrap());
        assert!(!contains(&mut &b""[..], b"meeting").unwrap());
    }

    #[test]
    fn the_greeting_is_the_same_in_every_version() {
        assert!(PROTOCOL.starts_with(protocol_prefix()) && protocol_prefix().ends_with("protocol "));
    }
}
