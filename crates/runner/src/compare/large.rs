//! Changed items of runs in parts: found by their measurements, so that only the items that are shown are read.

use std::collections::HashMap;

use cobalt_core::report::comparison::{ChangedItems, ItemChange, ScoreChange, changed_items, most_changed};
use cobalt_core::report::{MeasuredItemRef, Measurements, Report};
use cobalt_core::store::{ReportFile, StoreError};

/// A run and its measurements.
pub type MeasuredFile<'a> = (&'a ReportFile, &'a Measurements);

/// The items that changed most, as [`most_changed`] gives them.
pub fn most_changed_items(
    base: MeasuredFile<'_>,
    other: MeasuredFile<'_>,
    most: usize,
) -> Result<Vec<ItemChange>, StoreError> {
    match has_parts(base, other) {
        false => Ok(most_changed(base.0.report(), other.0.report(), most)),
        true => {
            let [base, other] = Changes::of(base, other).read(base.0, other.0, most)?;
            Ok(most_changed(&base, &other, most))
        }
    }
}

/// The items that regressed and improved, as [`changed_items`] gives them.
pub fn changed_items_of(
    base: MeasuredFile<'_>,
    other: MeasuredFile<'_>,
    most: usize,
) -> Result<ChangedItems, StoreError> {
    if !has_parts(base, other) {
        return Ok(changed_items(base.0.report(), other.0.report(), most));
    }
    let changes = Changes::of(base, other);
    let [base, other] = changes.read(base.0, other.0, most)?;
    Ok(ChangedItems {
        regressed_count: changes.regressed.len(),
        improved_count: changes.improved.len(),
        ..changed_items(&base, &other, most)
    })
}

fn has_parts(base: MeasuredFile<'_>, other: MeasuredFile<'_>) -> bool {
    base.0.parts().is_some() || other.0.parts().is_some()
}

/// The changed items, largest change first.
struct Changes {
    regressed: Vec<ChangedPlaces>,
    improved: Vec<ChangedPlaces>,
}

/// The positions of a changed item in both runs, and its change.
struct ChangedPlaces {
    change: f64,
    base: usize,
    other: usize,
}

impl Changes {
    fn of((base, before): MeasuredFile<'_>, (other, after): MeasuredFile<'_>) -> Self {
        debug_assert_eq!((&base.report().id, &other.report().id), (&before.id, &after.id));
        let in_base: HashMap<&str, MeasuredItemRef<'_>> =
            before.items.iter().map(|item| (item.key(), item)).collect();
        let change = |item: MeasuredItemRef<'_>| {
            let earlier = *in_base.get(item.key())?;
            let names = other.report().config.evaluators.iter();
            let scores =
                names.map(|name| ScoreChange::new(name, mean_score(earlier, name), mean_score(item, name)));
            let is_in_error = [earlier, item].map(|item| !item.failed().is_empty());
            let (change, _) = ScoreChange::ranked_changes(scores, is_in_error);
            (change != 0.0).then_some(ChangedPlaces {
                change,
                base: earlier.position(),
                other: item.position(),
            })
        };
        let mut changes: Vec<_> = after.items.iter().filter_map(change).collect();
        // Stable: keeps the dataset order of equal changes.
        changes.sort_by(|one, two| two.change.abs().total_cmp(&one.change.abs()));
        let (regressed, improved) = changes.into_iter().partition(|places| places.change < 0.0);
        Self { regressed, improved }
    }

    /// Both runs with the items of the largest changes only.
    fn read(&self, base: &ReportFile, other: &ReportFile, most: usize) -> Result<[Report; 2], StoreError> {
        let largest = || self.regressed.iter().take(most).chain(self.improved.iter().take(most));
        let sorted = |places: &mut dyn Iterator<Item = usize>| {
            let mut places: Vec<_> = places.collect();
            places.sort_unstable();
            places
        };
        let in_base = sorted(&mut largest().map(|places| places.base));
        let in_other = sorted(&mut largest().map(|places| places.other));
        Ok([base.with_items_at(&in_base)?, other.with_items_at(&in_other)?])
    }
}

fn mean_score(item: MeasuredItemRef<'_>, evaluator: &str) -> Option<f64> {
    let scores = item.scores(evaluator)?;
    Some(scores.iter().sum::<f64>() / scores.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use cobalt_core::prices::PriceTable;
    use cobalt_core::store::{Layout, PartsWriter, write_report};
    use serde_json::json;

    use super::*;

    fn layout(root: &Path) -> Layout {
        Layout::new(root.to_owned(), root.join("results"), root.join("history.db"), root.join("cache"))
    }

    /// A run in which every fifth item differs, in both forms.
    fn write(root: &Path, run: usize) -> [PathBuf; 2] {
        let score = |index: usize| match index % 5 {
            3 => json!((index + run) % 7 / 2),
            _ => json!(0.5),
        };
        let item = |index: usize| {
            let mut item = json!({ "index": index, "key": format!("k{index}"), "input": { "input": index }, "latencyMs": 1, "status": "ok",
                "output": { "output": run }, "evaluations": { "exact": { "score": score(index).as_f64().unwrap().min(1.0) } } });
            if index % 11 == run {
                item["evaluations"] = json!({ "exact": { "error": "no score" } });
            }
            item
        };
        let report = json!({
            "schema": 1, "id": format!("{run:012x}"), "name": "desk", "timestamp": format!("2026-02-05T10:00:0{run}.000Z"), "summary": {},
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"], "passMarks": [0.5] },
            "items": (0..100).map(item).collect::<Vec<_>>(),
        });
        let report: Report = serde_json::from_value(report).unwrap();
        let mut writer =
            PartsWriter::create(&layout(&root.join("parts")), &report, &PriceTable::default()).unwrap();
        report.items.iter().for_each(|item| writer.push(item).unwrap());
        [write_report(&layout(&root.join("whole")), &report).unwrap(), writer.finish(&report).unwrap()]
    }

    #[test]
    fn the_changes_of_runs_in_parts_are_those_of_whole_ones() {
        let folder = tempfile::tempdir().unwrap();
        let runs = [0, 1].map(|run| write(folder.path(), run));
        let found = [0, 1].map(|form| {
            let files = [0, 1].map(|run| ReportFile::open(&runs[run][form]).unwrap());
            let measured = files.each_ref().map(|file| file.measurements(&PriceTable::default()).unwrap());
            let [base, other] = [0, 1].map(|run| (&files[run], &measured[run]));
            assert_eq!(base.0.parts().is_some(), form == 1);
            (most_changed_items(base, other, 7).unwrap(), changed_items_of(base, other, 3).unwrap())
        });
        assert!(found[0].1.regressed_count > 3 && found[0].1.improved_count > 3, "{:?}", found[0].1);
        assert_eq!(found[0], found[1]);
    }
}
