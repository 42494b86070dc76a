//! A message in Arrow's IPC format: metadata, then a body of buffers. Both are validated, as the decoder panics if a buffer
//! extends beyond its body, and allocates whatever size a compressed buffer claims.

use std::io::{Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, CompressionType, MessageHeader, root_as_message};
use arrow_schema::ArrowError;

/// The first bytes of a message, before the length of its metadata; missing in the oldest files.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// A message in its encoded form.
pub struct Message {
    bytes: Vec<u8>,
    /// The offset of the body.
    table: usize,
}

impl Message {
    /// The next message of a stream; `None` at the end-of-stream marker. Without the marker the stream may be truncated.
    pub fn next(reader: &mut impl Read) -> Result<Option<Message>, ArrowError> {
        let mut length = read_array::<4>(reader)?;
        let mut bytes = Vec::new();
        if length == CONTINUATION {
            bytes.extend(length);
            length = read_array::<4>(reader)?;
        }
        bytes.extend(length);
        let length = u32::from_le_bytes(length);
        if length == 0 {
            return Ok(None);
        }
        read_exact_into(&mut bytes, reader, length.into())?;
        let mut message = Message { table: bytes.len(), bytes };
        let body = message.metadata()?.bodyLength();
        read_exact_into(&mut message.bytes, reader, size(body)?)?;
        Ok(Some(message))
    }

    /// The message at a position in a file.
    pub fn at(reader: &mut (impl Read + Seek), block: &Block) -> Result<Message, ArrowError> {
        reader.seek(SeekFrom::Start(size(block.offset())?))?;
        let table = size(block.metaDataLength().into())?;
        let mut bytes = Vec::new();
        read_exact_into(&mut bytes, reader, table.saturating_add(size(block.bodyLength())?))?;
        // It fits: the length is an `i32`.
        Ok(Message { bytes, table: table as usize })
    }

    /// The metadata of the message.
    pub fn metadata(&self) -> Result<arrow_ipc::Message<'_>, ArrowError> {
        let start = if self.bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
        let table = self.bytes.get(start..self.table).unwrap_or_default();
        root_as_message(table).map_err(|error| ipc_error(&format!("a message has invalid metadata: {error}")))
    }

    /// The decompressed size of a batch's buffers, 0 if they are not compressed. A buffer beyond the body or with an impossible
    /// size is an error.
    pub fn decompressed_size(&self) -> Result<u64, ArrowError> {
        let table = self.metadata()?;
        let batch = match table.header_type() {
            MessageHeader::DictionaryBatch => {
                table.header_as_dictionary_batch().and_then(|batch| batch.data())
            }
            _ => table.header_as_record_batch(),
        };
        let kind = table.header_type();
        let batch =
            batch.ok_or_else(|| ipc_error(&format!("expected a batch, found a message of type {kind:?}")))?;
        let body = &self.bytes[self.table..];
        let codec = batch.compression().map(|compression| compression.codec());
        let mut all = 0_u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (start, length) = (size(buffer.offset())? as usize, size(buffer.length())? as usize);
            let buffer = start.checked_add(length).and_then(|end| body.get(start..end));
            let buffer = buffer.ok_or_else(|| ipc_error("a buffer extends beyond its message"))?;
            if let Some(codec) = codec {
                all = all.saturating_add(decompressed_buffer_size(buffer, codec)?);
            }
        }
        Ok(all)
    }

    /// The rows; `None` for a dictionary batch, which the decoder stores.
    pub fn decode(self, decoder: &mut FileDecoder) -> Result<Option<RecordBatch>, ArrowError> {
        let kind = self.metadata()?.header_type();
        // The decoder reads the rest from the message itself.
        let block = Block::new(0, self.table as i32, 0);
        match kind {
            MessageHeader::DictionaryBatch => {
                decoder.read_dictionary(&block, &self.bytes.into()).map(|()| None)
            }
            _ => decoder.read_record_batch(&block, &self.bytes.into()),
        }
    }
}

/// The decompressed size that a compressed buffer claims.
fn decompressed_buffer_size(buffer: &[u8], codec: CompressionType) -> Result<u64, ArrowError> {
    // An LZ4 sequence adds 255 bytes per byte, a zstd block 128 KiB per four bytes.
    let most = if codec == CompressionType::ZSTD { 32 * 1024 } else { 255 };
    let Some((size, packed)) = buffer.split_first_chunk::<8>() else { return Ok(0) };
    match i64::from_le_bytes(*size) {
        // Stored uncompressed.
        -1 => Ok(packed.len() as u64),
        size => match u64::try_from(size) {
            Ok(size) if size <= most * packed.len() as u64 => Ok(size),
            _ => Err(ipc_error(&format!(
                "a buffer of {} bytes cannot decompress to {size} bytes",
                packed.len()
            ))),
        },
    }
}

/// Reads exactly `length` bytes, without allocating memory for missing ones.
pub fn read_exact_into(bytes: &mut Vec<u8>, reader: &mut impl Read, length: u64) -> Result<(), ArrowError> {
    match reader.take(length).read_to_end(bytes)? as u64 == length {
        true => Ok(()),
        false => Err(ipc_error("unexpected end of file")),
    }
}

fn read_array<const LENGTH: usize>(reader: &mut impl Read) -> Result<[u8; LENGTH], ArrowError> {
    let mut bytes = [0; LENGTH];
    reader
        .read_exact(&mut bytes)
        .map_err(|_| ipc_error("unexpected end of file without an end-of-stream marker"))?;
    Ok(bytes)
}

/// Converts a size, which Arrow stores as a signed number.
fn size(size: i64) -> Result<u64, ArrowError> {
    u64::try_from(size).map_err(|_| ipc_error(&format!("invalid size {size}")))
}

fn ipc_error(reason: &str) -> ArrowError {
    ArrowError::IpcError(reason.to_owned())
}
