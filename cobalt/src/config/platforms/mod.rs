//! The tables `[platforms.…]`: by which accounts the platforms are asked where teams keep their data sets.

mod merge;
mod tables;

pub(super) use tables::Platforms;
