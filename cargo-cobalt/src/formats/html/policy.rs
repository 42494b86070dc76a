//! What the page may do: show itself and run its own script. Whatever an agent wrote is never run, and nothing is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The style of the page.
pub(super) const STYLE: &str = concat!(include_str!("page.css"), include_str!("items.css"));
/// The script of the page.
pub(super) const SCRIPT: &str =
    concat!(include_str!("values.js"), include_str!("detail.js"), include_str!("table.js"));

/// The content security policy: this style, this script, and nothing else.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(SCRIPT)
    )
}

/// A text in the page as a policy names it: by its SHA-256.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}
