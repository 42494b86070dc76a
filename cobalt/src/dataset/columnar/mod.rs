//! Columnar files: Parquet and Arrow, read as record batches whose rows become JSON.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod items;
#[cfg(feature = "parquet")]
mod message;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
mod refused;
#[cfg(test)]
mod tests;

#[cfg(feature = "parquet")]
pub(super) use arrow::read_arrow;
#[cfg(feature = "parquet")]
pub(super) use parquet::read_parquet;
#[cfg(not(feature = "parquet"))]
pub(super) use refused::{refuse as read_arrow, refuse as read_parquet};
