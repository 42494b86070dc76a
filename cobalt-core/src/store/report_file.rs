//! Reads result files of both forms: with their items, and with the items in parts.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::case_names::CaseNames;
use super::error::{StoreError, storage_error};
use super::parts::{ItemRow, PartsReader};
use super::report_reader::ReportReader;
use super::report_text::{strip_bom, write_json};
use crate::prices::PriceTable;
use crate::redact::redacted_document;
use crate::report::{ItemOutcome, ItemResult, Measurements, Report, item_keys};

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
/// println!("{}: {longest}", newest.report().name);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
    report: Report,
    parts: Option<PartsReader>,
}

impl ReportFile {
    /// Opens a result file, also of the original tool, with or without a byte order mark.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a result file; the message has the file, line and column.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let bytes = std::fs::read(path).map_err(|source| storage_error("read", path, source))?;
        Self::of_bytes(path, redacted_document(bytes), "not a result file")
    }

    /// Of the contents of a file. `unfit` says what a file is not that is not a result file.
    pub(super) fn of_bytes(path: &Path, bytes: Vec<u8>, unfit: &str) -> Result<Self, StoreError> {
        let unfit = |error: serde_json::Error| {
            let reason = format!("{unfit}: {error}");
            storage_error("read", path, io::Error::new(io::ErrorKind::InvalidData, reason))
        };
        // Most files have their items: they are parsed at once.
        let error = match serde_json::from_slice::<Report>(strip_bom(&bytes)) {
            Ok(report) => return Ok(Self { path: path.to_owned(), report, parts: None }),
            Err(error) => error,
        };
        match ReportReader::of(&bytes).map_err(unfit)?.into_head() {
            (report, Some(parts)) => {
                let parts = Some(PartsReader::open(path, parts)?);
                Ok(Self { path: path.to_owned(), report, parts })
            }
            // One of its items is damaged.
            (_, None) => Err(unfit(error)),
        }
    }

    /// Of a report that is in memory.
    #[must_use]
    pub fn of_report(path: &Path, report: Report) -> Self {
        Self { path: path.to_owned(), report, parts: None }
    }

    /// The result file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The report; without its items if they are in parts.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The report; without its items if they are in parts.
    #[must_use]
    pub fn into_head(self) -> Report {
        self.report
    }

    /// The parts, if the items are in parts.
    #[must_use]
    pub fn parts(&self) -> Option<&PartsReader> {
        self.parts.as_ref()
    }

    /// The number of items.
    #[must_use]
    pub fn item_count(&self) -> usize {
        self.parts.as_ref().map_or(self.report.items.len(), |parts| parts.index().items)
    }

    /// The items in dataset order. Those in parts are read one part after the other; after an error, the next part follows.
    pub fn items(&self) -> Box<dyn Iterator<Item = Result<Cow<'_, ItemResult>, StoreError>> + '_> {
        match &self.parts {
            None => Box::new(self.report.items.iter().map(|item| Ok(Cow::Borrowed(item)))),
            Some(parts) => Box::new(parts.items(&self.report.config).map(|item| item.map(Cow::Owned))),
        }
    }

    /// The item at this position in dataset order, from 0. `None` if there are fewer.
    ///
    /// # Errors
    ///
    /// Its part is damaged.
    pub fn item(&self, position: usize) -> Result<Option<Cow<'_, ItemResult>>, StoreError> {
        match &self.parts {
            None => Ok(self.report.items.get(position).map(Cow::Borrowed)),
            Some(parts) if position >= parts.index().items => Ok(None),
            Some(parts) => parts.item(position, &self.report.config).map(|item| Some(Cow::Owned(item))),
        }
    }

    /// The report with the items at these positions only.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    pub fn with_items_at(&self, positions: &[usize]) -> Result<Report, StoreError> {
        let items = match &self.parts {
            Some(parts) => parts.items_at(positions, &self.report.config)?,
            None => positions.iter().filter_map(|at| self.report.items.get(*at).cloned()).collect(),
        };
        Ok(Report { items, ..self.report.without_items() })
    }

    /// The results of all items in dataset order, without their texts.
    pub fn outcomes(&self) -> Box<dyn Iterator<Item = Result<ItemOutcome, StoreError>> + '_> {
        match &self.parts {
            None => {
                let items = self.report.items.iter().zip(item_keys(&self.report.items));
                Box::new(items.map(|(item, key)| Ok(ItemOutcome::of(item, key, &self.report.config))))
            }
            Some(parts) => Box::new(parts.rows().map(|row| row.map(ItemRow::into_outcome))),
        }
    }

    /// The position of the first item with each of these keys.
    ///
    /// # Errors
    ///
    /// The columns of a run in parts are damaged.
    pub fn positions_of(&self, keys: &[&str]) -> Result<Vec<Option<usize>>, StoreError> {
        let mut positions = vec![None; keys.len()];
        for (position, item) in self.outcomes().enumerate() {
            let key = item?.key;
            for (found, _) in positions.iter_mut().zip(keys).filter(|(_, wanted)| **wanted == key) {
                found.get_or_insert(position);
            }
        }
        Ok(positions)
    }

    /// The names of all items in test cases.
    ///
    /// # Errors
    ///
    /// The columns of a run in parts are damaged.
    pub fn case_names(&self) -> Result<CaseNames, StoreError> {
        match &self.parts {
            None => Ok(CaseNames::of_report(&self.report)),
            Some(parts) => CaseNames::of_parts(parts),
        }
    }

    /// The items at these positions in this order, each with its key. A part is read once for all items in it.
    ///
    /// # Errors
    ///
    /// There is no such item, or its part is damaged.
    pub fn keyed_items_at(
        &self,
        positions: &[usize],
    ) -> Result<Vec<(String, Cow<'_, ItemResult>)>, StoreError> {
        let Some(parts) = &self.parts else {
            let (items, keys) = (&self.report.items, item_keys(&self.report.items));
            let keyed = |at: &usize| Some((keys.get(*at)?.clone(), Cow::Borrowed(items.get(*at)?)));
            return Ok(positions.iter().filter_map(keyed).collect());
        };
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let items = parts.items_at(&sorted, &self.report.config)?;
        let keyed = |position: &usize| {
            let item = sorted.binary_search(position).ok().map(|place| items[place].clone());
            item.map(|item| (item.key.clone(), Cow::Owned(item)))
        };
        Ok(positions.iter().filter_map(keyed).collect())
    }

    /// The indexes of the run's items, if it is partial.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    #[doc(hidden)]
    pub fn selected_indexes(&self) -> Result<Option<Vec<usize>>, StoreError> {
        if !self.report.partial {
            return Ok(None);
        }
        self.items().map(|item| Ok(item?.index)).collect::<Result<_, _>>().map(Some)
    }

    /// The measurements for comparisons, with costs at these prices. Of a run in parts, they are in the columns; if it was written with
    /// other prices, all its items are read, one part after the other.
    ///
    /// # Errors
    ///
    /// A part of a run in parts, or its columns, are damaged.
    pub fn measurements(&self, prices: &PriceTable) -> Result<Measurements, StoreError> {
        let mut measurements = Measurements::from_report(&self.report, prices);
        let Some(parts) = &self.parts else { return Ok(measurements) };
        if parts.index().prices.as_deref() == Some(&*prices.hash()) {
            for row in parts.rows() {
                measurements.items.push(row?.measured(&self.report.config.evaluators));
            }
        } else {
            for item in parts.items(&self.report.config) {
                measurements.push(&item?, prices);
            }
        }
        Ok(measurements)
    }

    /// Writes the report with all its items, in the form of a result file that is not in parts.
    ///
    /// # Errors
    ///
    /// It cannot be written, or a part is damaged.
    pub fn write_whole(&self, to: &mut impl Write) -> io::Result<()> {
        let items = self.items().map(|item| item.map_err(io::Error::other));
        write_json(to, &self.report.without_items(), items)
    }

    /// The report with all its items: of a run of a million items, gigabytes.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    pub fn into_report(self) -> Result<Report, StoreError> {
        let Self { mut report, parts, .. } = self;
        if let Some(parts) = parts {
            report.items = parts.items(&report.config).collect::<Result<_, _>>()?;
        }
        Ok(report)
    }
}
