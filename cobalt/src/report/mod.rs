//! What a run amounts to: its figures and whether they suffice.

pub mod stats;
