//! Groups of the listed items by the value of a column.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::column::LoadedColumn;
use super::listing::Entry;
use super::row::ItemGroup;
use crate::serve::store::{Cell, LoadedRun, SortKey};

/// The maximum number of values of a numeric column that are not joined to ranges.
const MAX_NUMBERS: usize = 12;
/// About how many ranges there are.
const RANGES: f64 = 8.0;

/// The maximum number of groups: the smaller ones are joined.
const MAX_GROUPS: usize = 1000;

/// Orders items by group, the largest first and those without a value last, and returns the groups. Within a group, the order stays.
pub fn group_items(run: &LoadedRun, entries: &mut Vec<Entry<'_>>, column: &LoadedColumn) -> Vec<ItemGroup> {
    let cell =
        |entry: &Entry<'_>| entry.place.map_or(Cow::Owned(Cell::Missing), |place| column.cell(run, place));
    let cells: Vec<_> = entries.iter().map(cell).collect();
    let ranges = Ranges::of(cells.iter().map(Cow::as_ref));
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = HashMap::new();
    for (entry, cell) in entries.drain(..).zip(&cells) {
        let (value, order) = match (&ranges, cell.as_f64()) {
            (Some(ranges), Some(number)) => ranges.range(number),
            _ => (cell.text(), SortKey::of(cell)),
        };
        let hash = entry.place.and_then(|place| column.cut_hash(place));
        let place = *places.entry((value.clone(), hash)).or_insert_with(|| {
            groups.push(Group { value, joined: 0, order, entries: Vec::new() });
            groups.len() - 1
        });
        groups[place].entries.push(entry);
    }
    groups.sort_by(|one, two| {
        let by_size = two.entries.len().cmp(&one.entries.len());
        let by_value = SortKey::cmp_known_first(&one.order, &two.order, false);
        one.value.is_none().cmp(&two.value.is_none()).then(by_size).then(by_value)
    });
    join_small_groups(&mut groups);
    number_equal_values(&mut groups);
    let mut start = 0;
    let mut summaries = Vec::with_capacity(groups.len());
    for group in groups {
        summaries.push(group.summary(run, start));
        start += group.entries.len();
        entries.extend(group.entries);
    }
    summaries
}

/// Joins the groups after the largest ones, except that of items without a value.
fn join_small_groups(groups: &mut Vec<Group<'_>>) {
    let with_value = groups.partition_point(|group| group.value.is_some());
    if with_value > MAX_GROUPS {
        let small: Vec<_> = groups.drain(MAX_GROUPS..with_value).collect();
        let joined = small.len();
        let entries = small.into_iter().flat_map(|group| group.entries).collect();
        groups.insert(MAX_GROUPS, Group { value: None, joined, order: None, entries });
    }
}

/// Numbers groups whose different texts have the same beginning.
fn number_equal_values(groups: &mut [Group<'_>]) {
    let mut equal = HashMap::new();
    for value in groups.iter_mut().filter_map(|group| group.value.as_mut()) {
        let number = equal.entry(value.clone()).and_modify(|number| *number += 1).or_insert(1);
        if *number > 1 {
            value.push_str(&format!(" ({number})"));
        }
    }
}

struct Group<'a> {
    value: Option<String>,
    /// The number of groups that were joined to this one.
    joined: usize,
    order: Option<SortKey>,
    entries: Vec<Entry<'a>>,
}

impl Group<'_> {
    fn summary(&self, run: &LoadedRun, start: usize) -> ItemGroup {
        let items = || self.entries.iter().filter_map(|entry| Some(&run.items[entry.place?]));
        let errors = items().filter(|item| !item.failed().is_empty()).count();
        let passed = items().filter(|item| item.passed).count();
        let below = items().filter(|item| item.failed().is_empty() && !item.passed).count();
        let mean = |(at, name): (usize, &String)| {
            let scores: Vec<_> = items().filter_map(|item| item.scores.mean(at)).collect();
            let total: f64 = scores.iter().sum();
            (!scores.is_empty()).then(|| (name.clone(), total / scores.len() as f64))
        };
        let scores: BTreeMap<_, _> = (0..).zip(&run.head.config.evaluators).filter_map(mean).collect();
        ItemGroup {
            value: self.value.clone(),
            joined: self.joined,
            start,
            items: self.entries.len(),
            passed,
            below_pass_mark: below,
            errors,
            scores,
        }
    }
}

/// Ranges of equal width, with round bounds.
struct Ranges {
    start: f64,
    width: f64,
    count: f64,
}

impl Ranges {
    /// `None` unless the values are numbers, and too many for a group each.
    fn of<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<Self> {
        let known = cells.filter(|cell| !cell.is_missing());
        let mut numbers = known.map(Cell::as_f64).collect::<Option<Vec<_>>>()?;
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        if numbers.len() <= MAX_NUMBERS {
            return None;
        }
        let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
        let width = round_up((high - low) / RANGES);
        let start = whole_steps(low / width) * width;
        Some(Self { start, width, count: ((high - start) / width - STEP_ERROR).ceil().max(1.0) })
    }

    /// The range of a number. The last one includes its upper bound.
    fn range(&self, number: f64) -> (Option<String>, Option<SortKey>) {
        let at = whole_steps((number - self.start) / self.width).clamp(0.0, self.count - 1.0);
        let bound = |at: f64| round_off(self.start + at * self.width);
        (Some(format!("{} to {}", bound(at), bound(at + 1.0))), Some(SortKey::Number(at)))
    }
}

/// The error that binary fractions add to a number of steps: 0.6 / 0.2 is a little less than 3.
const STEP_ERROR: f64 = 1e-9;

fn whole_steps(steps: f64) -> f64 {
    (steps + STEP_ERROR).floor()
}

/// The next of 1, 2, 5, 10, … times a power of ten.
fn round_up(width: f64) -> f64 {
    let power = 10_f64.powf(width.log10().floor());
    let steps = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= width * (1.0 - 1e-9));
    steps.unwrap_or(10.0) * power
}

/// Without the digits that binary fractions add.
fn round_off(number: f64) -> f64 {
    format!("{number:.12}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(numbers: impl Iterator<Item = f64>) -> Vec<String> {
        let cells: Vec<_> = numbers.map(Cell::number).collect();
        let ranges = Ranges::of(cells.iter()).unwrap();
        let mut found: Vec<_> = cells.iter().filter_map(|cell| ranges.range(cell.as_f64()?).0).collect();
        found.dedup();
        found
    }

    #[test]
    fn many_numbers_are_joined_to_ranges_with_round_bounds() {
        assert_eq!(
            ranges((0..=20).map(|n| f64::from(n) / 20.0)),
            ["0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1"]
        );
        assert_eq!(
            ranges((3..30).map(f64::from)),
            ["0 to 5", "5 to 10", "10 to 15", "15 to 20", "20 to 25", "25 to 30"]
        );
        assert_eq!(ranges((0..16).map(|n| f64::from(n) * 1000.0 - 5000.0))[0], "-6000 to -4000");
    }

    #[test]
    fn a_number_on_a_bound_is_in_the_range_that_starts_with_it() {
        let cells: Vec<_> = (0..=20).map(|n| Cell::number(f64::from(n) / 20.0)).collect();
        let ranges = Ranges::of(cells.iter()).unwrap();
        let range = |number: f64| ranges.range(number).0.unwrap();
        assert_eq!([0.2, 0.4, 0.6, 0.8].map(range), ["0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1"]);
        assert_eq!([0.599, 1.0].map(range), ["0.4 to 0.6", "0.8 to 1"]);
    }

    #[test]
    fn few_numbers_and_texts_are_not() {
        let cells: Vec<_> = (0..12).map(|n| Cell::number(f64::from(n))).collect();
        assert!(Ranges::of(cells.iter()).is_none());
        let mut mixed: Vec<_> = (0..30).map(|n| Cell::number(f64::from(n))).collect();
        mixed.push(Cell::Text("x".into()));
        assert!(Ranges::of(mixed.iter()).is_none());
    }
}
