//! Converts rows of record batches to items, by way of JSON. Corrupt files cannot crash the process.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{fmt, io};

use arrow_array::cast::AsArray;
use arrow_array::{
    AnyDictionaryArray, Array, BinaryViewArray, FixedSizeBinaryArray, GenericBinaryArray, OffsetSizeTrait,
    RecordBatch,
};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::WriterBuilder;
use arrow_json::writer::{
    Encoder, EncoderFactory, EncoderOptions, LineDelimited, NullableEncoder, make_encoder,
};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cobalt_core::item::Item;

use crate::dataset::DatasetError;
use crate::dataset::error::too_large;
use crate::dataset::jsonl::parse_line;

/// The items read so far.
pub struct ItemBuilder<'s> {
    shown: &'s str,
    max_bytes: Option<u64>,
    /// The size of the items as JSON, in bytes.
    bytes: u64,
    items: Vec<Item>,
    /// The JSON of one batch; the buffer is reused.
    text: Vec<u8>,
}

impl<'s> ItemBuilder<'s> {
    pub fn new(shown: &'s str, max_bytes: Option<u64>) -> Self {
        ItemBuilder { shown, max_bytes, bytes: 0, items: Vec::new(), text: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Rejects a schema that JSON cannot represent without loss.
    pub fn check_schema(&self, schema: &Schema) -> Result<(), DatasetError> {
        match duplicate_field(schema.fields()) {
            Some(name) => {
                Err(self.error_at("schema", format!("two columns are named `{name}`; rename one of them")))
            }
            None => Ok(()),
        }
    }

    /// Rejects content of this size if it exceeds the limit, before it is read.
    pub fn check_size(&self, bytes: u64) -> Result<(), DatasetError> {
        match self.max_bytes {
            Some(max_bytes) if bytes > max_bytes => Err(self.read_error(too_large(max_bytes))),
            _ => Ok(()),
        }
    }

    /// Adds the rows of a batch.
    pub fn add(&mut self, batch: &RecordBatch, place: &str) -> Result<(), DatasetError> {
        self.text.clear();
        if let Err(error) = write(batch, &mut self.text) {
            return Err(self.unsupported_column(batch, place, &error));
        }
        self.bytes += self.text.len() as u64;
        self.check_size(self.bytes)?;
        for line in self.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match parse_line(line) {
                Ok(item) => self.items.push(item),
                Err(reason) => {
                    return Err(self.error_at(place, format!("{reason} (items[{}])", self.items.len())));
                }
            }
        }
        Ok(())
    }

    /// All items; an error if there are none.
    pub fn finish(self) -> Result<Vec<Item>, DatasetError> {
        match self.items.is_empty() {
            true => Err(DatasetError::empty(self.shown, "the table has no rows")),
            false => Ok(self.items),
        }
    }

    /// An error at a place in the file.
    pub fn error_at(&self, place: &str, reason: impl Into<String>) -> DatasetError {
        DatasetError::Columnar { file: self.shown.to_owned(), place: place.to_owned(), reason: reason.into() }
    }

    /// Like [`at`](Items::at), for a corrupt file.
    pub fn corrupt(&self, place: &str, reason: &(impl fmt::Display + ?Sized)) -> DatasetError {
        self.error_at(
            place,
            format!("the file is corrupt or truncated; download or write it again: {reason}"),
        )
    }

    pub fn read_error(&self, error: io::Error) -> DatasetError {
        DatasetError::read(self.shown, error)
    }

    /// The error with the column that causes it: the first that cannot be written alone.
    fn unsupported_column(&self, batch: &RecordBatch, place: &str, error: &ArrowError) -> DatasetError {
        let broken = (0..batch.num_columns()).find_map(|column| {
            let alone = batch.project(&[column]).ok()?;
            let error = write(&alone, &mut Vec::new()).err()?;
            Some((alone.schema().field(0).name().clone(), error))
        });
        match broken {
            Some((name, error)) => {
                let reason = format!("{error}; drop the column, or write it as another type");
                self.error_at(&format!("{place}, column `{name}`"), reason)
            }
            None => self.error_at(place, error.to_string()),
        }
    }
}

/// Writes a line per row.
fn write(batch: &RecordBatch, text: &mut Vec<u8>) -> Result<(), ArrowError> {
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_encoder_factory(Arc::new(Encoders))
        .build::<_, LineDelimited>(text);
    writer.write(batch)?;
    writer.finish()
}

/// A name shared by two fields of one object, at any depth.
fn duplicate_field(fields: &Fields) -> Option<&str> {
    let mut names = HashSet::new();
    fields.iter().find_map(|field| match names.insert(field.name()) {
        true => duplicate_nested_field(field.data_type()),
        false => Some(field.name().as_str()),
    })
}

fn duplicate_nested_field(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Struct(fields) => duplicate_field(fields),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::RunEndEncoded(_, field)
        | DataType::Map(field, _) => duplicate_nested_field(field.data_type()),
        DataType::Dictionary(_, values) => duplicate_nested_field(values),
        _ => None,
    }
}

/// Encodes decimals as strings, which keeps all digits; times as strings, failing instead of writing an error text as a
/// value; bytes as Base64; and nulls in dictionaries as null.
#[derive(Debug)]
pub struct Encoders;

impl EncoderFactory for Encoders {
    fn make_default_encoder<'a>(
        &self,
        field: &'a FieldRef,
        array: &'a dyn Array,
        options: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let encoder: Box<dyn Encoder + 'a> = match array.data_type() {
            data_type if data_type.is_decimal() || data_type.is_temporal() => {
                Box::new(StringEncoder::new(array)?)
            }
            DataType::Binary => Box::new(Base64Encoder(array.as_binary::<i32>())),
            DataType::LargeBinary => Box::new(Base64Encoder(array.as_binary::<i64>())),
            DataType::BinaryView => Box::new(Base64Encoder(array.as_binary_view())),
            DataType::FixedSizeBinary(_) => Box::new(Base64Encoder(array.as_fixed_size_binary())),
            DataType::Dictionary(..) => {
                Box::new(DictionaryEncoder::new(field, array.as_any_dictionary(), options)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(NullableEncoder::new(encoder, array.logical_nulls())))
    }
}

/// Values as Arrow formats them, as JSON strings.
struct StringEncoder(Vec<String>);

impl StringEncoder {
    fn new(array: &dyn Array) -> Result<StringEncoder, ArrowError> {
        let options = FormatOptions::new().with_display_error(false);
        let formatter = ArrayFormatter::try_new(array, &options)?;
        let text = |index| match array.is_null(index) {
            true => Ok(String::new()),
            false => formatter.value(index).try_to_string(),
        };
        (0..array.len()).map(text).collect::<Result<_, _>>().map(StringEncoder)
    }
}

impl Encoder for StringEncoder {
    fn encode(&mut self, index: usize, out: &mut Vec<u8>) {
        // Only digits, letters and punctuation that JSON does not escape.
        out.push(b'"');
        out.extend_from_slice(self.0[index].as_bytes());
        out.push(b'"');
    }
}

/// The bytes of any binary array.
struct Base64Encoder<A>(A);

impl<A: Bytes> Encoder for Base64Encoder<A> {
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

/// Values of a dictionary, which may be null.
struct DictionaryEncoder<'a> {
    keys: Vec<usize>,
    values: NullableEncoder<'a>,
}

impl<'a> DictionaryEncoder<'a> {
    fn new(
        field: &'a FieldRef,
        array: &'a dyn AnyDictionaryArray,
        options: &'a EncoderOptions,
    ) -> Result<Self, ArrowError> {
        // Without values, every key is null, so none is looked up.
        let keys = if array.values().is_empty() { Vec::new() } else { array.normalized_keys() };
        Ok(DictionaryEncoder { keys, values: make_encoder(field, array.values().as_ref(), options)? })
    }
}

impl Encoder for DictionaryEncoder<'_> {
    fn encode(&mut self, index: usize, out: &mut Vec<u8>) {
        self.values.encode(self.keys[index], out);
    }
}

/// Calls `read`, and turns a panic into an error: Arrow's decoder trusts the lengths of columns, so a changed byte can make it
/// read beyond the end of a buffer, even if every buffer is within its message.
pub fn catch_panics(
    shown: &str,
    read: impl FnOnce() -> Result<Vec<Item>, DatasetError>,
) -> Result<Vec<Item>, DatasetError> {
    // The state that `read` used is dropped with it.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(DatasetError::Columnar {
            file: shown.to_owned(),
            place: "content".to_owned(),
            reason: "the file is corrupt; download or write it again: it contains invalid offsets".to_owned(),
        })
    })
}
