//! Metrics: plain functions that compare texts, values, lists and vectors, each with its formula.
//!
//! All give a score from 0 to 1. The evaluators are made of them; they are as good for evaluators of your own.

mod vectors;

pub use vectors::{DEFAULT_EXPECTED_MIN, VectorError, cosine, dot, scaled};
