//! Writes the files that the tests read.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_json::ReaderBuilder;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use crate::Item;
use crate::dataset::{Told, read};

/// A table of columns that may be null.
pub(super) fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    // As a struct, which also takes a name twice.
    RecordBatch::from(StructArray::new(schema.fields().clone(), arrays, None))
}

/// A table of rows in JSON, by a schema.
pub(super) fn rows(schema: &Arc<Schema>, rows: &[Value]) -> RecordBatch {
    let mut decoder =
        ReaderBuilder::new(schema.clone()).with_batch_size(rows.len().max(1)).build_decoder().unwrap();
    decoder.serialize(rows).unwrap();
    decoder.flush().unwrap().unwrap_or_else(|| RecordBatch::new_empty(schema.clone()))
}

pub(super) fn parquet(batch: &RecordBatch) -> Vec<u8> {
    parquet_with(batch, Compression::SNAPPY, 1024 * 1024)
}

pub(super) fn parquet_with(batch: &RecordBatch, compression: Compression, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(super) fn arrow_file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// As `save_to_disk` of Hugging Face's `datasets` writes it.
pub(super) fn arrow_stream(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub(super) fn load(name: &str, content: &[u8]) -> Result<Vec<Item>, String> {
    load_at_most(name, content, None)
}

pub(super) fn load_at_most(name: &str, content: &[u8], max_bytes: Option<u64>) -> Result<Vec<Item>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let told = Told { max_bytes, ..Told::by_name(name) };
    read(&path, name, &told).map_err(|error| error.to_string())
}
