//! What is written is read: every format and compression, nested values, many rows.

use std::sync::Arc;

use arrow_array::{Int64Array, StringArray};
use arrow_ipc::CompressionType;
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::basic::Compression;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::written::*;
use crate::item;

#[test]
fn every_compression_of_parquet_and_arrow_is_read() {
    let batch = table(vec![
        ("id", Arc::new(Int64Array::from_iter_values(0..100))),
        ("input", Arc::new(StringArray::from_iter_values((0..100).map(|n| "x".repeat(n))))),
    ]);
    let parquet = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let mut files: Vec<_> = parquet.map(|compression| parquet_with(&batch, compression, 30)).into();
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        files.push(arrow_file(&[batch.clone(), batch.slice(0, 0)], compression));
        files.push(arrow_stream(std::slice::from_ref(&batch), compression));
    }
    for file in files {
        let items = load("data", &file).unwrap();
        assert_eq!(items.len(), 100);
        assert_eq!(items[77], item! { "id": 77, "input": "x".repeat(77) });
    }
}

#[test]
fn fifty_thousand_rows_in_many_groups_keep_their_order() {
    let batch = table(vec![("id", Arc::new(Int64Array::from_iter_values(0..50_000)))]);
    let batches: Vec<_> = (0..50).map(|part| batch.slice(part * 1000, 1000)).collect();
    for file in [
        parquet_with(&batch, Compression::SNAPPY, 1777),
        arrow_file(&batches, None),
        arrow_stream(&batches, None),
    ] {
        let items = load("data", &file).unwrap();
        assert_eq!(items.len(), 50_000);
        assert!(items.iter().zip(0..).all(|(item, id)| item["id"] == id));
    }
}

#[cfg(feature = "remote")]
#[test]
fn a_file_may_be_compressed_as_a_whole_too() {
    use std::io::Write;

    let batch = table(vec![("id", Arc::new(Int64Array::from_iter_values(0..9)))]);
    for file in
        [parquet(&batch), arrow_file(std::slice::from_ref(&batch), None), arrow_stream(&[batch], None)]
    {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&file).unwrap();
        assert_eq!(load("data.gz", &encoder.finish().unwrap()).unwrap().len(), 9);
    }
}

fn schema() -> Arc<Schema> {
    let message = Fields::from(vec![
        Field::new("role", DataType::Utf8, true),
        Field::new("tokens", DataType::new_list(DataType::Int64, true), true),
    ]);
    Arc::new(Schema::new(vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("count", DataType::Int64, true),
        Field::new("size", DataType::UInt64, true),
        Field::new("score", DataType::Float64, true),
        Field::new("ok", DataType::Boolean, true),
        Field::new("messages", DataType::new_list(DataType::Struct(message), true), true),
    ]))
}

fn or_null<T: Into<Value> + std::fmt::Debug>(
    value: impl Strategy<Value = T>,
) -> impl Strategy<Value = Value> {
    prop::option::of(value).prop_map(|value| value.map_or(Value::Null, Into::into))
}

fn row() -> impl Strategy<Value = Value> {
    let tokens = or_null(prop::collection::vec(or_null(any::<i64>()), 0..3));
    let message =
        (or_null(".*"), tokens).prop_map(|(role, tokens)| json!({ "role": role, "tokens": tokens }));
    let messages = or_null(prop::collection::vec(message, 0..3));
    let numbers = (or_null(any::<i64>()), or_null(any::<u64>()), or_null(prop::num::f64::NORMAL));
    (or_null(".*"), numbers, or_null(any::<bool>()), messages).prop_map(
        |(text, (count, size, score), ok, messages)| {
            json!({ "text": text, "count": count, "size": size, "score": score, "ok": ok, "messages": messages })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn values_and_nulls_come_back_as_they_were(written in prop::collection::vec(row(), 1..20)) {
        let batch = rows(&schema(), &written);
        let expected: Vec<_> = written.iter().map(|row| row.as_object().unwrap().clone()).collect();
        prop_assert_eq!(&load("data", &parquet_with(&batch, Compression::SNAPPY, 7)).unwrap(), &expected);
        prop_assert_eq!(&load("data", &arrow_file(std::slice::from_ref(&batch), None)).unwrap(), &expected);
        prop_assert_eq!(&load("data", &arrow_stream(&[batch], None)).unwrap(), &expected);
    }
}
