//! How values become JSON where Arrow's own way loses something of them.

use arrow_array::cast::AsArray;
use arrow_array::{
    AnyDictionaryArray, Array, BinaryViewArray, FixedSizeBinaryArray, GenericBinaryArray, OffsetSizeTrait,
};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{Encoder, EncoderFactory, EncoderOptions, NullableEncoder, make_encoder};
use arrow_schema::{ArrowError, DataType, FieldRef};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Decimals as text, which keeps all their digits; times as text, or an error in place of a text that tells of one; bytes in
/// Base64; and nulls of dictionaries as null.
#[derive(Debug)]
pub(super) struct Encoders;

impl EncoderFactory for Encoders {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            data_type if data_type.is_decimal() || data_type.is_temporal() => Box::new(Texts::new(array)?),
            DataType::Binary => Box::new(Base64(array.as_binary::<i32>())),
            DataType::LargeBinary => Box::new(Base64(array.as_binary::<i64>())),
            DataType::BinaryView => Box::new(Base64(array.as_binary_view())),
            DataType::FixedSizeBinary(_) => Box::new(Base64(array.as_fixed_size_binary())),
            DataType::Dictionary(..) => Box::new(Dictionary::new(field, array.as_any_dictionary(), options)?),
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.logical_nulls())))
    }
}

/// Values as Arrow writes them, in quotes.
struct Texts(Vec<String>);

impl Texts {
    fn new(array: &dyn Array) -> Result<Texts, ArrowError> {
        let options = FormatOptions::new().with_display_error(false);
        let formatter = ArrayFormatter::try_new(array, &options)?;
        let text = |index| match array.is_null(index) {
            true => Ok(String::new()),
            false => formatter.value(index).try_to_string(),
        };
        (0..array.len()).map(text).collect::<Result<_, _>>().map(Texts)
    }
}

impl Encoder for Texts {
    fn encode(&mut self, index: usize, out: &mut Vec<u8>) {
        // Digits, letters and signs, none of which JSON escapes.
        out.push(b'"');
        out.extend_from_slice(self.0[index].as_bytes());
        out.push(b'"');
    }
}

/// Bytes, of whatever array.
struct Base64<A>(A);

impl<A: Bytes> Encoder for Base64<A> {
    fn encode(&mut self, index: usize, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(BASE64_STANDARD.encode(self.0.bytes(index)).as_bytes());
        out.push(b'"');
    }
}

/// An array of bytes.
trait Bytes {
    fn bytes(&self, index: usize) -> &[u8];
}

impl<O: OffsetSizeTrait> Bytes for &GenericBinaryArray<O> {
    fn bytes(&self, index: usize) -> &[u8] {
        self.value(index)
    }
}

impl Bytes for &BinaryViewArray {
    fn bytes(&self, index: usize) -> &[u8] {
        self.value(index)
    }
}

impl Bytes for &FixedSizeBinaryArray {
    fn bytes(&self, index: usize) -> &[u8] {
        self.value(index)
    }
}

/// Values of a dictionary, which may themselves be null.
struct Dictionary<'a> {
    keys: Vec<usize>,
    values: NullableEncoder<'a>,
}

impl<'a> Dictionary<'a> {
    fn new(
        field: &'a FieldRef,
        array: &'a dyn AnyDictionaryArray,
        options: &'a EncoderOptions,
    ) -> Result<Self, ArrowError> {
        // Without values, every key is null, and none is looked up.
        let keys = if array.values().is_empty() { Vec::new() } else { array.normalized_keys() };
        Ok(Dictionary { keys, values: make_encoder(field, array.values().as_ref(), options)? })
    }
}

impl Encoder for Dictionary<'_> {
    fn encode(&mut self, index: usize, out: &mut Vec<u8>) {
        self.values.encode(self.keys[index], out);
    }
}
