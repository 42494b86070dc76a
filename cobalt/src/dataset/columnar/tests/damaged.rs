//! Files that are rejected: corrupt, truncated, empty, too large, or with values that an item cannot represent.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray, *};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_json::ReaderBuilder;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use serde_json::Value;

use crate::Item;
use crate::dataset::{FormatHints, read};

fn numbers(count: i64) -> RecordBatch {
    table(vec![
        ("id", Arc::new(Int64Array::from_iter_values(0..count))),
        ("answer", Arc::new(StringArray::from_iter_values((0..count).map(|n| (n * 7919).to_string())))),
    ])
}

#[test]
fn a_table_without_rows_is_empty() {
    for file in [parquet(&numbers(0)), arrow_file(&[numbers(0)], None), arrow_stream(&[numbers(0)], None)] {
        assert_eq!(
            load("a.parquet", &file).unwrap_err(),
            "a.parquet: the dataset is empty (the table has no rows); add at least one item or correct the path"
        );
    }
}

#[test]
fn a_file_that_is_cut_off_is_refused_wherever_that_is() {
    let batches = [numbers(50), numbers(50)];
    for (name, file) in [
        ("a.parquet", parquet(&numbers(100))),
        ("a.arrow", arrow_file(&batches, None)),
        ("a.arrow", arrow_stream(&batches, None)),
    ] {
        for kept in 0..file.len() {
            let error = load(name, &file[..kept]).unwrap_err();
            assert!(error.starts_with(&format!("{name}: ")), "{kept} bytes of {}: {error}", file.len());
            assert!(
                error.contains("the file is corrupt or truncated"),
                "{kept} bytes of {}: {error}",
                file.len()
            );
        }
    }
}

#[test]
fn a_damaged_column_is_named_with_its_row_group() {
    let mut file = parquet_with(&numbers(300), Compression::SNAPPY, 100);
    let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).unwrap();
    let (start, length) = reader.metadata().row_group(2).column(1).byte_range();
    file[start as usize..(start + length) as usize].fill(0xee);
    let error = load("a.parquet", &file).unwrap_err();
    assert!(
        error.starts_with("a.parquet: row group 2, column `answer`: the file is corrupt or truncated"),
        "{error}"
    );
}

#[test]
fn a_time_that_no_calendar_has_is_refused_with_its_column() {
    let batch = table(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("made", Arc::new(TimestampSecondArray::from(vec![0, i64::MAX]))),
    ]);
    let error = load("a.arrow", &arrow_stream(&[batch], None)).unwrap_err();
    assert!(error.starts_with("a.arrow: record batch 0, column `made`: "), "{error}");
}

#[test]
fn two_columns_of_one_name_are_refused_at_any_depth() {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let within = StructArray::from(table(vec![("b", number.clone()), ("b", number.clone())]));
    for batch in [
        table(vec![("b", number.clone()), ("b", number.clone())]),
        table(vec![("a", number), ("nested", Arc::new(within))]),
    ] {
        let error = load("a.arrow", &arrow_stream(&[batch], None)).unwrap_err();
        assert!(error.starts_with("a.arrow: schema: two columns are named `b`"), "{error}");
    }
}

#[test]
fn more_than_may_be_read_is_refused() {
    let batch =
        table(vec![("a", Arc::new(StringArray::from_iter_values((0..1000).map(|_| "x".repeat(1000)))))]);
    for file in [
        parquet_with(&batch, Compression::ZSTD(Default::default()), 100),
        arrow_stream(std::slice::from_ref(&batch), None),
    ] {
        let error = load_at_most("a.parquet", &file, Some(100_000)).unwrap_err();
        assert!(error.contains("it exceeds 100,000 bytes after decompression"), "{error}");
        assert_eq!(load_at_most("a.parquet", &file, Some(2_000_000)).unwrap().len(), 1000);
    }
}

#[test]
fn a_size_that_no_compression_reaches_is_refused_before_memory_is_taken_for_it() {
    let batch = numbers(200);
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for write in [arrow_file, arrow_stream] {
            let mut file = write(std::slice::from_ref(&batch), Some(compression));
            let size = (200 * size_of::<i64>()).to_le_bytes();
            let place = file.windows(size.len()).position(|bytes| bytes == size).unwrap();
            file[place + 6] = 0x40;
            let error = load("a.arrow", &file).unwrap_err();
            assert!(
                error.starts_with("a.arrow: record batch 0: the file is corrupt or truncated"),
                "{error}"
            );
            assert!(error.contains("bytes cannot decompress to 18014398509483584 bytes"), "{error}");
        }
    }
}

#[test]
fn a_buffer_beyond_its_message_is_refused_without_a_panic() {
    let batch = numbers(200);
    for write in [arrow_file, arrow_stream] {
        let mut file = write(std::slice::from_ref(&batch), None);
        let length = (200 * size_of::<i64>()).to_le_bytes();
        let place = file.windows(length.len()).position(|bytes| bytes == length).unwrap();
        file[place + 3] = 1;
        let error = load("a.arrow", &file).unwrap_err();
        assert!(error.contains("a buffer extends beyond its message"), "{error}");
    }
}

#[test]
fn the_first_version_of_feather_is_named() {
    let error = load("a.feather", b"FEA1\0\0\0\0\0\0\0\0").unwrap_err();
    assert!(error.starts_with("a.feather: header: Feather version 1 is not supported"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_byte_is_no_panic(place: prop::sample::Index, change in 1..=255_u8, format in 0..5) {
        let batch = numbers(40);
        let mut file = match format {
            0 => parquet(&batch),
            1 => arrow_file(&[batch], None),
            2 => arrow_stream(&[batch], None),
            3 => arrow_file(&[batch], Some(CompressionType::ZSTD)),
            _ => arrow_stream(&[batch], Some(CompressionType::LZ4_FRAME)),
        };
        let place = place.index(file.len());
        file[place] ^= change;
        // Without checksums, some changes only give other values.
        let _ = load("a.arrow", &file);
    }
}

/// A table of nullable columns.
pub fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    // As a struct, which also accepts duplicate names.
    RecordBatch::from(StructArray::new(schema.fields().clone(), arrays, None))
}

/// A table of rows in JSON, by a schema.
pub fn rows(schema: &Arc<Schema>, rows: &[Value]) -> RecordBatch {
    let mut decoder =
        ReaderBuilder::new(schema.clone()).with_batch_size(rows.len().max(1)).build_decoder().unwrap();
    decoder.serialize(rows).unwrap();
    decoder.flush().unwrap().unwrap_or_else(|| RecordBatch::new_empty(schema.clone()))
}

pub fn parquet(batch: &RecordBatch) -> Vec<u8> {
    parquet_with(batch, Compression::SNAPPY, 1024 * 1024)
}

pub fn parquet_with(batch: &RecordBatch, compression: Compression, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub fn arrow_file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

/// Like `save_to_disk` of Hugging Face's `datasets`.
pub fn arrow_stream(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub fn load(name: &str, content: &[u8]) -> Result<Vec<Item>, String> {
    load_at_most(name, content, None)
}

pub fn load_at_most(name: &str, content: &[u8], max_bytes: Option<u64>) -> Result<Vec<Item>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let told = FormatHints { max_bytes, ..FormatHints::by_name(name) };
    read(&path, name, &told).map_err(|error| error.to_string())
}
