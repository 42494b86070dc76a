//! Some items of a run, for tables and reports that cannot show a million of them.

use std::borrow::Cow;

use cobalt_core::report::{ItemOutcome, ItemResult, Report, RunConfig, item_keys};
use cobalt_core::store::{ReportFile, StoreError};
use cobalt_core::wording::group_thousands;

use super::distribution::Distributions;

/// Items of a run in dataset order: all of them or, of a run in parts, a limited number of the worst.
///
/// It has no number of items: those of the run are in the summary of its report.
#[derive(Debug)]
pub struct Excerpt {
    shown: Vec<NamedItem>,
    left_out: usize,
    distributions: Distributions,
}

/// An item and its names.
#[derive(Debug)]
pub struct NamedItem {
    pub key: String,
    /// Its test-case name.
    pub case: String,
    pub item: ItemResult,
}

impl Excerpt {
    /// The head of a run, and its items or, of a run in parts, up to `most` of them: those in error, then those below a pass mark by
    /// their lowest score, then others in dataset order.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    pub fn of(file: ReportFile, most: usize) -> Result<(Report, Self), StoreError> {
        Self::read(file, most, |_| true)
    }

    /// The same of the items in error or below a pass mark.
    ///
    /// # Errors
    ///
    /// A part is damaged.
    pub fn of_low(file: ReportFile, most: usize) -> Result<(Report, Self), StoreError> {
        Self::read(file, most, |outcome| !outcome.passed)
    }

    /// The head of a report, and all its items.
    pub fn of_report(mut report: Report) -> (Report, Self) {
        let distributions = Distributions::of(&report);
        let (keys, cases) = (item_keys(&report.items), report.case_names());
        let names = keys.into_iter().zip(cases);
        let items = names.zip(std::mem::take(&mut report.items));
        let shown = items.map(|((key, case), item)| NamedItem { key, case, item }).collect();
        (report, Self { shown, left_out: 0, distributions })
    }

    fn read(
        file: ReportFile,
        most: usize,
        is_wanted: impl Fn(&ItemOutcome) -> bool,
    ) -> Result<(Report, Self), StoreError> {
        if file.parts().is_none() {
            let config = file.report().config.clone();
            let (head, mut all) = Self::of_report(file.into_report()?);
            all.shown.retain(|named| is_wanted(&ItemOutcome::of(&named.item, String::new(), &config)));
            return Ok((head, all));
        }
        let config = &file.report().config;
        let (mut distributions, mut ranked) = (Distributions::new(config), Vec::new());
        for (position, outcome) in file.outcomes().enumerate() {
            let outcome = outcome?;
            distributions.add(&outcome);
            if is_wanted(&outcome) {
                ranked.push((rank(&outcome, config), position));
            }
        }
        // Stable: keeps the dataset order of equal items.
        ranked.sort_by(|((one, low), _), ((two, lowest), _)| one.cmp(two).then(low.total_cmp(lowest)));
        let left_out = ranked.len().saturating_sub(most);
        ranked.truncate(most);
        let mut positions: Vec<_> = ranked.into_iter().map(|(_, position)| position).collect();
        positions.sort_unstable();
        let (names, items) = (file.case_names()?, file.keyed_items_at(&positions)?);
        let named = |(position, (key, item)): (&usize, (String, Cow<'_, ItemResult>))| {
            let case = names.name(*position, &key, item.index).into_owned();
            NamedItem { key, case, item: item.into_owned() }
        };
        let shown = positions.iter().zip(items).map(named).collect();
        Ok((file.into_head(), Self { shown, left_out, distributions: distributions.binned() }))
    }

    /// The items.
    pub fn shown(&self) -> &[NamedItem] {
        &self.shown
    }

    /// The number of items that are left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The scores and latencies of all items of the run.
    pub fn distributions(&self) -> &Distributions {
        &self.distributions
    }

    /// What a report says of the items that it leaves out.
    pub fn left_out_note(&self, run: &str) -> Option<String> {
        let (shown, left_out) = (self.shown.len(), self.left_out);
        (left_out > 0).then(|| {
            format!(
                "{} of {} items are shown, those in error or below a pass mark first; `cargo cobalt export {run} --format csv` and \
                 `cargo cobalt serve` have all of them",
                group_thousands(shown as u64),
                group_thousands((shown + left_out) as u64),
            )
        })
    }
}

/// The category of an item, and its order within the category.
fn rank(outcome: &ItemOutcome, config: &RunConfig) -> (u8, f64) {
    match outcome.lowest_below_pass_mark(config) {
        _ if outcome.is_in_error => (0, 0.0),
        Some(lowest) => (1, lowest),
        None => (2, 0.0),
    }
}
