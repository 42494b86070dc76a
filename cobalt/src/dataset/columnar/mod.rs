//! Columnar files: Parquet and Arrow, read as record batches whose rows become JSON.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(not(feature = "parquet"))]
mod disabled;
#[cfg(feature = "parquet")]
mod items;
#[cfg(feature = "parquet")]
mod message;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod tests;

#[cfg(feature = "parquet")]
pub(super) use arrow::read_arrow;
#[cfg(not(feature = "parquet"))]
pub(super) use disabled::{feature_off as read_arrow, feature_off as read_parquet};
#[cfg(feature = "parquet")]
pub(super) use parquet::read_parquet;
