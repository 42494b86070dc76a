//! Writes a result in parts, item by item.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::columns::{ColumnBlock, ItemRow};
use super::compress::Compressor;
use super::index::{PARTS_FORMAT, PartEntry, PartsIndex, is_plausible, items_file};
use crate::atomic_write::{Draft, create_private};
use crate::prices::PriceTable;
use crate::report::{ItemResult, Report, RunConfig};
use crate::store::error::{StoreError, storage_error};
use crate::store::layout::Layout;
use crate::store::report_text::write_draft_of_head;
use crate::store::results::result_file_name;

/// The length of the text in a part, in bytes: a part ends with the item that reaches it.
const PART_TEXT: usize = 1 << 20;
/// The number of items in a block of columns.
const BLOCK_ITEMS: usize = 1 << 12;
/// The start of a skippable frame, which other readers of Zstandard skip.
const SKIPPABLE_FRAME: [u8; 4] = 0x184D_2A5C_u32.to_le_bytes();

/// Writes the result file and the items file of a run, whose items it takes in dataset order.
///
/// A few parts are in memory at any time, whatever the number of items. Nothing is visible under the files' names before
/// [`finish`](Self::finish); without it, the draft is removed.
#[derive(Debug)]
pub struct PartsWriter {
    head: PathBuf,
    head_draft: PathBuf,
    /// The items file before it has its name.
    draft: Draft,
    file: BufWriter<File>,
    config: RunConfig,
    is_partial: bool,
    prices: PriceTable,
    compressor: Compressor<Frame>,
    part: Vec<u8>,
    part_items: usize,
    block: ColumnBlock,
    index: PartsIndex,
}

/// What a frame contains.
#[derive(Clone, Copy, Debug)]
enum Frame {
    Items { text: u64, items: usize },
    Columns { text: u64, items: usize },
}

impl PartsWriter {
    /// Starts the files of a run. Of `run`, the identity and the settings are used; its items are not.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or the draft cannot be.
    pub fn create(layout: &Layout, run: &Report, prices: &PriceTable) -> Result<Self, StoreError> {
        // The folder may have been removed since the run started.
        layout.create()?;
        let folder = layout.results();
        let path = folder.join(format!(".{}.items.tmp", run.id));
        let file = create_private(&path).map_err(|source| storage_error("write", &path, source))?;
        Ok(Self {
            head: folder.join(result_file_name(run)),
            head_draft: folder.join(format!(".{}.tmp", run.id)),
            draft: Draft::of(path),
            file: BufWriter::with_capacity(1 << 16, file),
            config: run.config.clone(),
            is_partial: run.partial,
            prices: prices.clone(),
            compressor: Compressor::start(),
            part: Vec::new(),
            part_items: 0,
            block: ColumnBlock::default(),
            index: PartsIndex { format: PARTS_FORMAT, prices: Some(prices.hash()), ..PartsIndex::default() },
        })
    }

    /// Writes a report that is in memory.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or a file cannot be written.
    pub fn write_report(
        layout: &Layout,
        report: &Report,
        prices: &PriceTable,
    ) -> Result<PathBuf, StoreError> {
        let mut writer = Self::create(layout, report, prices)?;
        report.items.iter().try_for_each(|item| writer.push(item))?;
        writer.finish(report)
    }

    /// Adds the next item in dataset order.
    ///
    /// # Errors
    ///
    /// The items file cannot be written.
    pub fn push(&mut self, item: &ItemResult) -> Result<(), StoreError> {
        self.add(item).map_err(|source| self.error(source))
    }

    /// The number of items so far.
    #[must_use]
    pub fn items(&self) -> usize {
        self.index.items
    }

    /// Completes the files, and returns the path of the result file. Both files are written and synced before they replace those of an
    /// earlier result. The items file has its name first, so that no result file is without its items.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn finish(mut self, report: &Report) -> Result<PathBuf, StoreError> {
        self.write_rest().map_err(|source| self.error(source))?;
        let Self { head, head_draft, draft, mut index, .. } = self;
        let items = items_file(&head);
        index.file = items.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| storage_error("write", &path, source)
        };
        let written = write_draft_of_head(&head_draft, report, &index).map_err(failed(&head))?;
        draft.publish(&items).map_err(failed(&items))?;
        let published = written.publish(&head);
        if published.is_err() && !head.exists() {
            // Without a head, it is of no use.
            let _ = fs::remove_file(&items);
        }
        published.map_err(failed(&head))?;
        Ok(head)
    }

    fn error(&self, source: io::Error) -> StoreError {
        storage_error("write", self.draft.path(), source)
    }

    fn add(&mut self, item: &ItemResult) -> io::Result<()> {
        serde_json::to_writer(&mut self.part, item)?;
        self.part.push(b'\n');
        self.part_items += 1;
        self.index.items += 1;
        let row = ItemRow::of(item, &self.config, self.is_partial, &self.prices);
        self.block.add(row, self.config.evaluators.len());
        if self.part.len() >= PART_TEXT {
            self.end_part()?;
        }
        if self.block.items() == BLOCK_ITEMS {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_part(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.part);
        let items = std::mem::take(&mut self.part_items);
        self.part.reserve(text.len());
        self.compress(Frame::Items { text: text.len() as u64, items }, text)
    }

    fn end_block(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        let text = serde_json::to_vec(&block)?;
        self.compress(Frame::Columns { text: text.len() as u64, items: block.items() }, text)
    }

    fn compress(&mut self, frame: Frame, text: Vec<u8>) -> io::Result<()> {
        match self.compressor.add(frame, text) {
            Some((frame, bytes)) => self.write(frame, &bytes),
            None => Ok(()),
        }
    }

    fn write(&mut self, frame: Frame, bytes: &[u8]) -> io::Result<()> {
        if let Frame::Columns { .. } = frame {
            let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
            self.file.write_all(&SKIPPABLE_FRAME)?;
            self.file.write_all(&length.to_le_bytes())?;
            self.index.bytes += 8;
        }
        self.file.write_all(bytes)?;
        let (entries, text, items) = match frame {
            Frame::Items { text, items } => (&mut self.index.parts, text, items),
            Frame::Columns { text, items } => (&mut self.index.columns, text, items),
        };
        let entry = PartEntry {
            offset: self.index.bytes,
            bytes: bytes.len() as u64,
            text,
            items,
            first: entries.last().map_or(0, |entry| entry.first + entry.items),
            crc32: crc32fast::hash(bytes),
        };
        if !is_plausible(&entry) {
            let last = entry.first + items.saturating_sub(1);
            let reason = format!(
                "the items at {} to {last} are longer than 1 GiB, which could not be read",
                entry.first
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        entries.push(entry);
        self.index.bytes += bytes.len() as u64;
        Ok(())
    }

    fn write_rest(&mut self) -> io::Result<()> {
        if self.part_items > 0 {
            self.end_part()?;
        }
        if self.block.items() > 0 {
            self.end_block()?;
        }
        while let Some((frame, bytes)) = self.compressor.next() {
            self.write(frame, &bytes)?;
        }
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}
