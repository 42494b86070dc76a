//! No code; see the manifest.
