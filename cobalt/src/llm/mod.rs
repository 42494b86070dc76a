//! Language models: what they cost.

pub mod prices;
