//! Zstandard frames: compressed on other threads in order, and decompressed one by one.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// The maximum number of threads that compress for one writer.
const MAX_THREADS: usize = 4;

/// A text, and where its frame goes.
type Job = (Vec<u8>, SyncSender<Vec<u8>>);

/// Compresses texts on other threads. The frames come back in the order of the texts.
#[derive(Debug)]
pub struct Compressor<T> {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// The frames to come, each with what it is for.
    pending: VecDeque<(T, Receiver<Vec<u8>>)>,
}

impl<T> Compressor<T> {
    pub fn start() -> Self {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        let work = |queue: Arc<Mutex<Receiver<Job>>>| {
            move || {
                loop {
                    let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((text, done)) = job else { return };
                    // The writer may be gone.
                    let _ = done.send(compress(&text));
                }
            }
        };
        let threads = (0..threads).map(|_| thread::spawn(work(Arc::clone(&queue)))).collect();
        Self { jobs: Some(jobs), threads, pending: VecDeque::new() }
    }

    /// Adds a text. Returns the oldest frame if the threads have enough to do.
    pub fn add(&mut self, purpose: T, text: Vec<u8>) -> Option<(T, Vec<u8>)> {
        let (done, frame) = sync_channel(1);
        if let Some(jobs) = &self.jobs {
            // A panicked thread is noticed when its frame is missing.
            let _ = jobs.send((text, done));
        }
        self.pending.push_back((purpose, frame));
        if self.pending.len() > 2 * self.threads.len() { self.next() } else { None }
    }

    /// The next frame, in order. `None` if there are no more.
    pub fn next(&mut self) -> Option<(T, Vec<u8>)> {
        let (purpose, frame) = self.pending.pop_front()?;
        match frame.recv() {
            Ok(frame) => Some((purpose, frame)),
            Err(_) => self.propagate_panic(),
        }
    }

    fn propagate_panic(&mut self) -> ! {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
        unreachable!("a frame is missing only if a thread panicked")
    }
}

/// A frame of its own.
pub fn compress(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

/// The text of a frame, of which the length is known.
pub fn decompress(frame: &[u8], length: u64) -> io::Result<Vec<u8>> {
    let damaged = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let decoder = StreamingDecoder::new(frame).map_err(|error| damaged(error.to_string()))?;
    let mut text = Vec::with_capacity(usize::try_from(length).unwrap_or_default().min(frame.len() << 8));
    // A frame that claims to be short cannot fill the memory.
    decoder
        .take(length.saturating_add(1))
        .read_to_end(&mut text)
        .map_err(|error| damaged(error.to_string()))?;
    if text.len() as u64 != length {
        return Err(damaged(format!("its text is not {length} bytes long")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_in_order_and_give_the_texts() {
        let mut compressor = Compressor::start();
        let text = |number: usize| format!("{number} ").repeat(1 + 20_000 / (number + 1)).into_bytes();
        let mut frames = Vec::new();
        for number in 0..30 {
            frames.extend(compressor.add(number, text(number)));
        }
        frames.extend(std::iter::from_fn(|| compressor.next()));
        assert_eq!(frames.len(), 30);
        for (at, (number, frame)) in frames.into_iter().enumerate() {
            assert_eq!(number, at);
            assert_eq!(decompress(&frame, text(number).len() as u64).unwrap(), text(number));
        }
    }

    #[test]
    fn a_frame_whose_text_has_another_length_is_damaged() {
        let frame = compress(b"some text");
        for length in [0, 8, 10, u64::MAX] {
            let error = decompress(&frame, length).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        assert!(decompress(b"not a frame", 9).is_err());
    }
}
