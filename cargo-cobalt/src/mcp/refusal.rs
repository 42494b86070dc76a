//! What an assistant is told of an error.

use cobalt::redact::redacted;
use cobalt::reporters::printable;
use cobalt::wording::cut;

use super::plain::plain;
use crate::error::Error;

/// The longest text, in characters: names that were asked for may be of any length.
const LONGEST: usize = 4_000;

/// Its text. What it quotes of a file may hold a key.
pub(super) fn text(error: &Error) -> String {
    printable(&cut(&redacted(&plain(&error.to_string())), LONGEST)).into_owned()
}
