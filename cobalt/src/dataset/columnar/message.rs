//! A message of Arrow's formats: a table of what it has, then a body of buffers. Neither is trusted, as the decoder panics
//! where a buffer lies beyond its body, and takes all the memory that a compressed one asks for.

use std::io::{Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, CompressionType, MessageHeader, root_as_message};
use arrow_schema::ArrowError;

/// What a message begins with, before the length of its table; not in the oldest files.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// A message as it is in a file.
pub struct Message {
    bytes: Vec<u8>,
    /// How many of the bytes the body follows.
    table: usize,
}

impl Message {
    /// The next message of a stream, none where the stream has its mark of an end. Without the mark, nothing tells whether
    /// that is its end.
    pub fn next(reader: &mut impl Read) -> Result<Option<Message>, ArrowError> {
        let mut length = take::<4>(reader)?;
        let mut bytes = Vec::new();
        if length == CONTINUATION {
            bytes.extend(length);
            length = take::<4>(reader)?;
        }
        bytes.extend(length);
        let length = u32::from_le_bytes(length);
        if length == 0 {
            return Ok(None);
        }
        append(&mut bytes, reader, length.into())?;
        let mut message = Message { table: bytes.len(), bytes };
        let body = message.table()?.bodyLength();
        append(&mut message.bytes, reader, size(body)?)?;
        Ok(Some(message))
    }

    /// The message at a place of a file.
    pub fn at(reader: &mut (impl Read + Seek), block: &Block) -> Result<Message, ArrowError> {
        reader.seek(SeekFrom::Start(size(block.offset())?))?;
        let table = size(block.metaDataLength().into())?;
        let mut bytes = Vec::new();
        append(&mut bytes, reader, table.saturating_add(size(block.bodyLength())?))?;
        // As long as an `i32` can tell.
        Ok(Message { bytes, table: table as usize })
    }

    /// What the message says of itself.
    pub fn table(&self) -> Result<arrow_ipc::Message<'_>, ArrowError> {
        let start = if self.bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
        let table = self.bytes.get(start..self.table).unwrap_or_default();
        root_as_message(table).map_err(|error| broken(&format!("a message has no table: {error}")))
    }

    /// How many bytes the buffers of a batch have once they are decompressed, 0 where they are not compressed. None lies
    /// beyond the body, or says that it is larger than it can be.
    pub fn unpacked_bytes(&self) -> Result<u64, ArrowError> {
        let table = self.table()?;
        let batch = match table.header_type() {
            MessageHeader::DictionaryBatch => {
                table.header_as_dictionary_batch().and_then(|batch| batch.data())
            }
            _ => table.header_as_record_batch(),
        };
        let kind = table.header_type();
        let batch = batch
            .ok_or_else(|| broken(&format!("expected a batch, found a message of the kind {kind:?}")))?;
        let body = &self.bytes[self.table..];
        let codec = batch.compression().map(|compression| compression.codec());
        let mut all = 0_u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (start, length) = (size(buffer.offset())? as usize, size(buffer.length())? as usize);
            let buffer = start.checked_add(length).and_then(|end| body.get(start..end));
            let buffer = buffer.ok_or_else(|| broken("a buffer lies beyond its message"))?;
            if let Some(codec) = codec {
                all = all.saturating_add(unpacked(buffer, codec)?);
            }
        }
        Ok(all)
    }

    /// The rows, none where it has words of a dictionary, which the decoder remembers.
    pub fn decode(self, decoder: &mut FileDecoder) -> Result<Option<RecordBatch>, ArrowError> {
        let kind = self.table()?.header_type();
        // The decoder is told the rest by the message itself.
        let block = Block::new(0, self.table as i32, 0);
        match kind {
            MessageHeader::DictionaryBatch => {
                decoder.read_dictionary(&block, &self.bytes.into()).map(|()| None)
            }
            _ => decoder.read_record_batch(&block, &self.bytes.into()),
        }
    }
}

/// How large a compressed buffer says that it is.
fn unpacked(buffer: &[u8], codec: CompressionType) -> Result<u64, ArrowError> {
    // A sequence of LZ4 adds 255 bytes by one of its own, a block of zstd 128 KiB by four.
    let most = if codec == CompressionType::ZSTD { 32 * 1024 } else { 255 };
    let Some((size, packed)) = buffer.split_first_chunk::<8>() else { return Ok(0) };
    match i64::from_le_bytes(*size) {
        // It is as it was.
        -1 => Ok(packed.len() as u64),
        size => match u64::try_from(size) {
            Ok(size) if size <= most * packed.len() as u64 => Ok(size),
            _ => Err(broken(&format!("a buffer of {} bytes cannot become one of {size}", packed.len()))),
        },
    }
}

/// As many bytes as are expected; no memory is taken for those that are not there.
pub fn append(bytes: &mut Vec<u8>, reader: &mut impl Read, length: u64) -> Result<(), ArrowError> {
    match reader.take(length).read_to_end(bytes)? as u64 == length {
        true => Ok(()),
        false => Err(broken("it ends too early")),
    }
}

fn take<const LENGTH: usize>(reader: &mut impl Read) -> Result<[u8; LENGTH], ArrowError> {
    let mut bytes = [0; LENGTH];
    reader.read_exact(&mut bytes).map_err(|_| broken("it ends without a mark of its end"))?;
    Ok(bytes)
}

/// A size, which Arrow writes as a number that may be negative.
fn size(size: i64) -> Result<u64, ArrowError> {
    u64::try_from(size).map_err(|_| broken(&format!("{size} is no size")))
}

fn broken(reason: &str) -> ArrowError {
    ArrowError::IpcError(reason.to_owned())
}
