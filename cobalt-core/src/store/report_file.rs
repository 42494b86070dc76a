//! Reads result files of both forms: with their items, and with the items in parts.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{StoreError, storage_error};
use super::parts::PartsReader;
use super::report_reader::ReportReader;
use super::results::strip_bom;
use super::runs::measurements_in_parts;
use crate::prices::PriceTable;
use crate::redact::redacted_document;
use crate::report::{ItemResult, Measurements, Report};

/// A result file: the report, and its items, which of a large run are read on demand.
///
/// ```no_run
/// use cobalt::files::{layout, runs};
///
/// // The longest input of the newest run, however many items it has.
/// let newest = runs(&layout()?)?.remove(0).open()?;
/// let mut longest = 0;
/// for item in newest.items() {
///     longest = longest.max(item?.input["input"].to_string().len());
/// }
/// println!("{}: {longest}", newest.head().name);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
    head: Report,
    items: StoredItems,
}

#[derive(Debug)]
enum StoredItems {
    InHead(Vec<ItemResult>),
    InParts(PartsReader),
}

impl ReportFile {
    /// Opens a result file, also of the original tool, with or without a byte order mark.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a result file; the message has the file, line and column.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let unfit = |error: serde_json::Error| {
            let reason = format!("not a result file: {error}");
            storage_error("read", path, io::Error::new(io::ErrorKind::InvalidData, reason))
        };
        let bytes = std::fs::read(path).map_err(|source| storage_error("read", path, source))?;
        let bytes = redacted_document(bytes);
        // Most files have their items: they are parsed at once.
        match serde_json::from_slice::<Report>(strip_bom(&bytes)) {
            Ok(mut report) => {
                let items = std::mem::take(&mut report.items);
                Ok(Self { path: path.to_owned(), head: report, items: StoredItems::InHead(items) })
            }
            Err(error) => {
                let Ok((head, Some(parts))) = ReportReader::of(&bytes).map(ReportReader::into_head) else {
                    return Err(unfit(error));
                };
                let items = StoredItems::InParts(PartsReader::open(path, parts)?);
                Ok(Self { path: path.to_owned(), head, items })
            }
        }
    }

    /// The result file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The report without its items.
    #[must_use]
    pub fn head(&self) -> &Report {
        &self.head
    }

    /// The parts, if the items are in parts.
    #[must_use]
    pub fn parts(&self) -> Option<&PartsReader> {
        match &self.items {
            StoredItems::InHead(_) => None,
            StoredItems::InParts(parts) => Some(parts),
        }
    }

    /// The number of items.
    #[must_use]
    pub fn item_count(&self) -> usize {
        match &self.items {
            StoredItems::InHead(items) => items.len(),
            StoredItems::InParts(parts) => parts.index().items,
        }
    }

    /// The items in dataset order. Those in parts are read one part after the other; after an error, the next part follows.
    pub fn items(&self) -> Box<dyn Iterator<Item = Result<Cow<'_, ItemResult>, StoreError>> + '_> {
        match &self.items {
            StoredItems::InHead(items) => Box::new(items.iter().map(|item| Ok(Cow::Borrowed(item)))),
            StoredItems::InParts(parts) => {
                Box::new(parts.items(&self.head.config).map(|item| item.map(Cow::Owned)))
            }
        }
    }

    /// The indexes of the run's items, if it is partial.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    #[doc(hidden)]
    pub fn selected_indexes(&self) -> Result<Option<Vec<usize>>, StoreError> {
        if !self.head.partial {
            return Ok(None);
        }
        self.items().map(|item| Ok(item?.index)).collect::<Result<_, _>>().map(Some)
    }

    /// The measurements for comparisons. Those of a run in parts have the costs that it had when it was written.
    ///
    /// # Errors
    ///
    /// The columns of a run in parts are damaged.
    pub fn measurements(&self, prices: &PriceTable) -> Result<Measurements, StoreError> {
        match &self.items {
            StoredItems::InHead(items) => {
                let report = Report { items: items.clone(), ..self.head.without_items() };
                Ok(Measurements::from_report(&report, prices))
            }
            StoredItems::InParts(parts) => measurements_in_parts(&self.head, parts, prices),
        }
    }

    /// The report with all its items: of a run of a million items, gigabytes.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    pub fn into_report(self) -> Result<Report, StoreError> {
        let Self { mut head, items, .. } = self;
        match items {
            StoredItems::InHead(items) => head.items = items,
            StoredItems::InParts(parts) => {
                head.items = parts.items(&head.config).collect::<Result<_, _>>()?;
            }
        }
        Ok(head)
    }
}
