//! Arrow's file and stream formats, one record batch after another.

use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{MetadataVersion, root_as_footer};
use arrow_schema::ArrowError;
use cobalt_core::item::Item;

use super::items::{ItemBuilder, catch_panics};
use super::message::{Message, read_exact_into};
use crate::dataset::DatasetError;
use crate::dataset::text::{Content, Rest};

/// The magic bytes at the start and end of a file, but not of a stream.
const FILE_MAGIC: &[u8; 6] = b"ARROW1";
/// The magic bytes of Feather version 1.
const FEATHER_1_MAGIC: &[u8; 4] = b"FEA1";

/// The items of an Arrow file or stream. More than `max_bytes` of them as JSON is an error.
pub fn read_arrow(content: Content, shown: &str, max_bytes: Option<u64>) -> Result<Vec<Item>, DatasetError> {
    let items = ItemBuilder::new(shown, max_bytes);
    match content {
        Content { rest: Rest::File(file), .. } => catch_panics(shown, || read(BufReader::new(file), items)),
        Content { head: mut all, rest: Rest::Decompressed(mut rest) } => {
            rest.read_to_end(&mut all).map_err(|error| items.read_error(error))?;
            catch_panics(shown, || read(Cursor::new(all), items))
        }
    }
}

fn read(mut reader: impl Read + Seek, items: ItemBuilder<'_>) -> Result<Vec<Item>, DatasetError> {
    let mut start = Vec::new();
    reader
        .rewind()
        .and_then(|()| reader.by_ref().take(FILE_MAGIC.len() as u64).read_to_end(&mut start))
        .and_then(|_| reader.rewind())
        .map_err(|error| items.read_error(error))?;
    if start.starts_with(FILE_MAGIC) {
        read_file(reader, items)
    } else if start.starts_with(FEATHER_1_MAGIC) {
        let reason =
            "Feather version 1 is not supported; write the file as Feather version 2 (the Arrow IPC format)";
        Err(items.error_at("header", reason))
    } else {
        read_stream(reader, items)
    }
}

/// Reads a file, whose footer lists the batches.
fn read_file(mut reader: impl Read + Seek, items: ItemBuilder<'_>) -> Result<Vec<Item>, DatasetError> {
    let footer = footer(&mut reader).map_err(|error| items.corrupt("footer", &error))?;
    let footer = root_as_footer(&footer).map_err(|error| items.corrupt("footer", &error))?;
    let mut batches = Batches::new(footer.schema(), footer.version(), items)?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
        batches.add(Message::at(&mut reader, block))?;
    }
    batches.items.finish()
}

fn footer(reader: &mut (impl Read + Seek)) -> Result<Vec<u8>, ArrowError> {
    let mut end = [0; 10];
    reader.seek(SeekFrom::End(-(end.len() as i64)))?;
    reader.read_exact(&mut end)?;
    let length = read_footer_length(end)?;
    reader.seek(SeekFrom::End(-((end.len() + length) as i64)))?;
    let mut footer = Vec::new();
    read_exact_into(&mut footer, reader, length as u64)?;
    Ok(footer)
}

/// Reads a stream: the schema, then batches up to the end-of-stream marker.
fn read_stream(mut reader: impl Read, items: ItemBuilder<'_>) -> Result<Vec<Item>, DatasetError> {
    let first = Message::next(&mut reader).map_err(|error| items.corrupt("schema", &error))?;
    let Some(first) = first else { return Err(items.corrupt("schema", "the stream has no schema")) };
    let first = first.metadata().map_err(|error| items.corrupt("schema", &error))?;
    let mut batches = Batches::new(first.header_as_schema(), first.version(), items)?;
    while let Some(message) = Message::next(&mut reader).transpose() {
        batches.add(message)?;
    }
    batches.items.finish()
}

/// The items of the batches read so far.
struct Batches<'s> {
    decoder: FileDecoder,
    items: ItemBuilder<'s>,
    /// The number of batches.
    count: usize,
}

impl<'s> Batches<'s> {
    fn new(
        schema: Option<arrow_ipc::Schema<'_>>,
        version: MetadataVersion,
        items: ItemBuilder<'s>,
    ) -> Result<Self, DatasetError> {
        let schema = schema.ok_or_else(|| items.corrupt("schema", "the file has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            let reason =
                "the byte order differs from this machine's; write the file in this machine's byte order";
            return Err(items.error_at("schema", reason));
        }
        let schema = try_fb_to_schema(schema).map_err(|error| items.corrupt("schema", &error))?;
        items.check_schema(&schema)?;
        Ok(Batches { decoder: FileDecoder::new(Arc::new(schema), version), items, count: 0 })
    }

    fn add(&mut self, message: Result<Message, ArrowError>) -> Result<(), DatasetError> {
        let place = format!("record batch {}", self.count);
        let damaged = |error| self.items.corrupt(&place, &error);
        let message = message.map_err(damaged)?;
        self.items.check_size(message.decompressed_size().map_err(damaged)?)?;
        if let Some(batch) = message.decode(&mut self.decoder).map_err(damaged)? {
            self.items.add(&batch, &place)?;
            self.count += 1;
        }
        Ok(())
    }
}
