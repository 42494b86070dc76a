//! How the types of columns become JSON.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder, UInt8Builder};
use arrow_array::types::Int8Type;
use arrow_array::*;
use serde_json::{Value, json};

use super::written::*;

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
