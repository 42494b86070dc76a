//! No code: the manifest says what this crate is for.
