//! Round trips: every format and compression, nested values, many rows.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder, UInt8Builder};
use arrow_array::types::Int8Type;
use arrow_array::{Int64Array, StringArray, *};
use arrow_ipc::CompressionType;
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::basic::Compression;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::damaged::*;
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

/// The values of a column in Parquet and in both formats of Arrow, which must be the same.
fn values(array: impl Array + 'static) -> Vec<Value> {
    let batch = table(vec![("a", Arc::new(array))]);
    let all = [
        parquet(&batch),
        arrow_file(std::slice::from_ref(&batch), None),
        arrow_stream(std::slice::from_ref(&batch), None),
    ];
    let [first, second, third] = all.map(|file| {
        let items = load("data", &file).unwrap();
        items.into_iter().map(|mut item| item.remove("a").unwrap()).collect::<Vec<_>>()
    });
    assert_eq!((&first, &first), (&second, &third));
    first
}

#[test]
fn large_integers_are_exact() {
    assert_eq!(
        values(Int64Array::from(vec![i64::MIN, 9_007_199_254_740_993])),
        [json!(i64::MIN), json!(9_007_199_254_740_993_i64)]
    );
    assert_eq!(values(UInt64Array::from(vec![u64::MAX])), [json!(u64::MAX)]);
}

#[test]
fn numbers_that_are_none_are_null() {
    let floats = Float64Array::from(vec![0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(values(floats), [json!(0.1), json!(null), json!(null), json!(null)]);
    assert_eq!(values(Float32Array::from(vec![0.1])), [json!(0.1)]);
}

#[test]
fn decimals_are_text_with_all_their_digits() {
    let decimals = Decimal128Array::from(vec![Some(1_250), None, Some(-12_345_678_901_234_567_890_123)])
        .with_precision_and_scale(38, 2)
        .unwrap();
    assert_eq!(values(decimals), [json!("12.50"), json!(null), json!("-123456789012345678901.23")]);
}

#[test]
fn times_are_text_as_rfc_3339_has_them() {
    let instant = vec![Some(1_714_566_896_500), None];
    assert_eq!(
        values(TimestampMillisecondArray::from(instant.clone()).with_timezone("UTC")),
        [json!("2024-05-01T12:34:56.500Z"), json!(null)]
    );
    assert_eq!(
        values(TimestampMillisecondArray::from(instant.clone()).with_timezone("Europe/Berlin"))[0],
        "2024-05-01T14:34:56.500+02:00"
    );
    assert_eq!(
        values(TimestampMillisecondArray::from(instant.clone()).with_timezone("-03:30"))[0],
        "2024-05-01T09:04:56.500-03:30"
    );
    assert_eq!(values(TimestampMillisecondArray::from(instant))[0], "2024-05-01T12:34:56.500");
    assert_eq!(values(Date32Array::from(vec![19_844])), [json!("2024-05-01")]);
    assert_eq!(values(Time32SecondArray::from(vec![45_296])), [json!("12:34:56")]);
    assert_eq!(values(DurationSecondArray::from(vec![90])), [json!("PT90S")]);
}

#[test]
fn bytes_are_base64() {
    assert_eq!(values(BinaryArray::from(vec![&b"\x89PNG"[..], b""])), [json!("iVBORw=="), json!("")]);
    assert_eq!(values(LargeBinaryArray::from(vec![&b"\xff"[..]])), [json!("/w==")]);
    assert_eq!(values(BinaryViewArray::from(vec![&b"\xff"[..]])), [json!("/w==")]);
    let fixed = FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].iter()).unwrap();
    assert_eq!(values(fixed), [json!("YWI="), json!("Y2Q=")]);
}

#[test]
fn words_of_dictionaries_are_the_words() {
    let words: DictionaryArray<Int8Type> = [Some("yes"), None, Some("no"), Some("yes")].into_iter().collect();
    assert_eq!(values(words), [json!("yes"), json!(null), json!("no"), json!("yes")]);
}

#[test]
fn a_null_within_a_dictionary_is_null() {
    let keys = Int8Array::from(vec![Some(0), Some(1), None]);
    let words = DictionaryArray::new(keys, Arc::new(StringArray::from(vec![Some("yes"), None])));
    let batch = table(vec![("a", Arc::new(words))]);
    let items = load("data", &arrow_stream(&[batch], None)).unwrap();
    assert_eq!(
        items.iter().map(|item| &item["a"]).collect::<Vec<_>>(),
        [&json!("yes"), &json!(null), &json!(null)]
    );
}

#[test]
fn maps_are_objects_and_columns_of_nothing_are_null() {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), UInt8Builder::new());
    builder.keys().append_value("a");
    builder.values().append_value(1);
    builder.append(true).unwrap();
    builder.append(false).unwrap();
    assert_eq!(values(builder.finish()), [json!({ "a": 1 }), json!(null)]);
    assert_eq!(values(NullArray::new(2)), [json!(null), json!(null)]);
}

#[test]
fn text_is_text_however_it_is_laid_out() {
    let expected = [json!("ünï\n\"code\"\u{0}"), json!(null)];
    let texts = vec![Some("ünï\n\"code\"\u{0}"), None];
    assert_eq!(values(StringArray::from(texts.clone())), expected);
    assert_eq!(values(LargeStringArray::from(texts.clone())), expected);
    assert_eq!(values(StringViewArray::from(texts)), expected);
}
