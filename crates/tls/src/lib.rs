//! No code: the manifest selects the TLS provider of the library with its feature `aws-lc-rs`.
