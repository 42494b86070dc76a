//! Rows of record batches as items, by way of their JSON.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use arrow_schema::{ArrowError, DataType, Fields, Schema};

use super::encoders::Encoders;
use crate::dataset::DatasetError;
use crate::dataset::error::too_large;
use crate::dataset::jsonl::parse_line;
use crate::item::Item;

/// The items read so far.
pub(super) struct Items<'s> {
    shown: &'s str,
    max_bytes: Option<u64>,
    /// How many bytes the items have as JSON.
    bytes: u64,
    items: Vec<Item>,
    /// The JSON of one batch, reused from batch to batch.
    text: Vec<u8>,
}

impl<'s> Items<'s> {
    pub(super) fn new(shown: &'s str, max_bytes: Option<u64>) -> Self {
        Items { shown, max_bytes, bytes: 0, items: Vec::new(), text: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Refuses a schema that JSON would lose something of.
    pub(super) fn begin(&self, schema: &Schema) -> Result<(), DatasetError> {
        match repeated(schema.fields()) {
            Some(name) => Err(self.at(
                "schema",
                format!("two columns are named `{name}`, and an item can have only one: rename one of them"),
            )),
            None => Ok(()),
        }
    }

    /// Refuses what will have so many bytes, before any is read.
    pub(super) fn expect_bytes(&self, bytes: u64) -> Result<(), DatasetError> {
        match self.max_bytes {
            Some(max_bytes) if bytes > max_bytes => Err(self.unread(too_large(max_bytes))),
            _ => Ok(()),
        }
    }

    /// Adds the rows of a batch.
    pub(super) fn add(&mut self, batch: &RecordBatch, place: &str) -> Result<(), DatasetError> {
        self.text.clear();
        if let Err(error) = write(batch, &mut self.text) {
            return Err(self.inexpressible(batch, place, &error));
        }
        self.bytes += self.text.len() as u64;
        self.expect_bytes(self.bytes)?;
        for line in self.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match parse_line(line) {
                Ok(item) => self.items.push(item),
                Err(reason) => {
                    return Err(self.at(place, format!("{reason} (items[{}])", self.items.len())));
                }
            }
        }
        Ok(())
    }

    /// All items; none is an error.
    pub(super) fn finish(self) -> Result<Vec<Item>, DatasetError> {
        match self.items.is_empty() {
            true => Err(DatasetError::empty(self.shown, "its table has no rows")),
            false => Ok(self.items),
        }
    }

    /// What is wrong at a place of the file.
    pub(super) fn at(&self, place: &str, reason: impl Into<String>) -> DatasetError {
        DatasetError::Columns { file: self.shown.to_owned(), place: place.to_owned(), reason: reason.into() }
    }

    /// As [`at`](Items::at), where the file is not as it was written.
    pub(super) fn damaged(&self, place: &str, reason: &(impl fmt::Display + ?Sized)) -> DatasetError {
        self.at(place, format!("the file is damaged or cut off, get or write it again: {reason}"))
    }

    pub(super) fn unread(&self, error: io::Error) -> DatasetError {
        DatasetError::read(self.shown, error)
    }

    /// The error with the column that it is about: the first that cannot be written by itself.
    fn inexpressible(&self, batch: &RecordBatch, place: &str, error: &ArrowError) -> DatasetError {
        let broken = (0..batch.num_columns()).find_map(|column| {
            let alone = batch.project(&[column]).ok()?;
            let error = write(&alone, &mut Vec::new()).err()?;
            Some((alone.schema().field(0).name().clone(), error))
        });
        match broken {
            Some((name, error)) => {
                let reason = format!("{error}: leave the column out, or write it as another type");
                self.at(&format!("{place}, column `{name}`"), reason)
            }
            None => self.at(place, error.to_string()),
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

/// A name that two fields of one object have, at any depth.
fn repeated(fields: &Fields) -> Option<&str> {
    let mut names = HashSet::new();
    fields.iter().find_map(|field| match names.insert(field.name()) {
        true => within(field.data_type()),
        false => Some(field.name().as_str()),
    })
}

fn within(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Struct(fields) => repeated(fields),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::RunEndEncoded(_, field)
        | DataType::Map(field, _) => within(field.data_type()),
        DataType::Dictionary(_, values) => within(values),
        _ => None,
    }
}
