//! zstd streams: written as independent frames, read with a limit of the unpacked size.

use std::cell::Cell;
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The unpacked size of a frame.
const FRAME: usize = 4 << 20;

/// Compresses what is written to it.
pub struct FrameWriter<W: Write> {
    inner: W,
    frame: Vec<u8>,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, frame: Vec::with_capacity(FRAME) }
    }

    /// Writes the last frame.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_frame()?;
        self.inner.flush()?;
        Ok(self.inner)
    }

    fn write_frame(&mut self) -> io::Result<()> {
        if !self.frame.is_empty() {
            self.inner.write_all(&compress_to_vec(&*self.frame, CompressionLevel::Fastest))?;
            self.frame.clear();
        }
        Ok(())
    }
}

impl<W: Write> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.frame.len());
        self.frame.extend_from_slice(&bytes[..taken]);
        if self.frame.len() == FRAME {
            self.write_frame()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// How many bytes a stream may still unpack to: in total, and until the limit of the current part is reset.
#[derive(Clone, Debug)]
pub struct Allowance {
    total: Rc<Cell<u64>>,
    part: Rc<Cell<u64>>,
}

impl Allowance {
    pub fn new(total: u64) -> Self {
        Self { total: Rc::new(Cell::new(total)), part: Rc::new(Cell::new(u64::MAX)) }
    }

    /// Limits what is read from now on.
    pub fn limit_part(&self, bytes: u64) {
        self.part.set(bytes);
    }

    fn left(&self) -> u64 {
        self.total.get().min(self.part.get())
    }

    fn spend(&self, bytes: u64) {
        for limit in [&self.total, &self.part] {
            limit.set(limit.get().saturating_sub(bytes));
        }
    }
}

/// The content of all frames of a stream. A frame with a wrong checksum is an error, and so is more than the allowance.
pub struct FrameReader<R: BufRead> {
    /// `None` only while a frame begins or ends.
    state: Option<State<R>>,
    allowance: Allowance,
}

enum State<R: BufRead> {
    Between(R),
    Within(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
}

impl<R: BufRead> FrameReader<R> {
    pub fn new(source: R, allowance: Allowance) -> Self {
        Self { state: Some(State::Between(source)), allowance }
    }
}

fn damaged(error: impl Into<cobalt_core::error_chain::BoxError>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<R: BufRead> Read for FrameReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state.take() {
                Some(State::Between(mut source)) => {
                    if source.fill_buf()?.is_empty() {
                        self.state = Some(State::Between(source));
                        return Ok(0);
                    }
                    self.state =
                        Some(State::Within(Box::new(StreamingDecoder::new(source).map_err(damaged)?)));
                }
                Some(State::Within(mut decoder)) => {
                    let allowed =
                        usize::try_from(self.allowance.left()).unwrap_or(usize::MAX).min(buffer.len());
                    if allowed == 0 && !buffer.is_empty() {
                        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "unpacks to too much"));
                    }
                    let read = decoder.read(&mut buffer[..allowed])?;
                    if read > 0 || buffer.is_empty() {
                        self.allowance.spend(read as u64);
                        self.state = Some(State::Within(decoder));
                        return Ok(read);
                    }
                    let (source, frame) = decoder.into_parts();
                    if frame
                        .get_checksum_from_data()
                        .is_some_and(|sum| frame.get_calculated_checksum() != Some(sum))
                    {
                        return Err(damaged("checksum mismatch"));
                    }
                    self.state = Some(State::Between(source));
                }
                None => return Err(damaged("read after an error")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut writer = FrameWriter::new(Vec::new());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8], allowed: u64) -> io::Result<Vec<u8>> {
        let mut read = Vec::new();
        FrameReader::new(bytes, Allowance::new(allowed)).read_to_end(&mut read).map(|_| read)
    }

    /// Bytes that do not compress to nothing, of several frames.
    fn long() -> Vec<u8> {
        let mut random = fastrand::Rng::with_seed(1);
        (0..FRAME * 2 + 17).map(|at| if at % 3 == 0 { random.u8(..) } else { b'x' }).collect()
    }

    #[test]
    fn what_was_written_is_read_across_frames() {
        let long = long();
        for bytes in [&b""[..], b"short", &long] {
            assert_eq!(read(&compressed(bytes), u64::MAX).unwrap(), bytes);
        }
    }

    #[test]
    fn a_stream_may_unpack_to_what_is_allowed_and_no_more() {
        let bytes = compressed(&vec![0; FRAME]);
        assert!(bytes.len() < FRAME / 100);
        assert_eq!(read(&bytes, FRAME as u64 + 1).unwrap().len(), FRAME);
        assert_eq!(read(&bytes, FRAME as u64 - 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_changed_byte_and_a_missing_end_are_errors() {
        let bytes = compressed(&long());
        assert!(read(&bytes[..bytes.len() - 5], u64::MAX).is_err());
        for at in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(read(&changed, u64::MAX).is_err(), "byte {at}");
        }
    }
}
