//! The items of a comparison, read one after the other from the files of the runs.

use std::sync::Arc;

use super::matched::{Matched, change};
use crate::serve::api::{Compared, ComparedItem, ComparedOutput};
use crate::serve::store::loaded::{FileProblem, ItemReader, LoadedItem, LoadedRun};

/// A comparison whose items are known, but not read.
#[derive(Debug)]
pub(in crate::serve) struct Comparing {
    /// All but the items.
    pub(in crate::serve) head: Compared,
    pub(super) runs: Vec<Arc<LoadedRun>>,
    /// Those that are asked for, in their order.
    pub(super) items: Vec<Matched>,
    pub(super) evaluator: Option<String>,
}

impl Comparing {
    /// How many items there are to be shown.
    pub(in crate::serve) fn len(&self) -> usize {
        self.items.len()
    }

    /// Reads the items, and hands on each.
    pub(in crate::serve) fn each(
        &self,
        mut hand_on: impl FnMut(ComparedItem) -> Result<(), FileProblem>,
    ) -> Result<(), FileProblem> {
        let mut readers = self.runs.iter().map(|run| run.file.reader()).collect::<Result<Vec<_>, _>>()?;
        self.items.iter().try_for_each(|item| hand_on(self.item(item, &mut readers)?))
    }

    fn item(&self, matched: &Matched, readers: &mut [ItemReader<'_>]) -> Result<ComparedItem, FileProblem> {
        let light: Vec<_> = matched
            .places
            .iter()
            .zip(&self.runs)
            .map(|(place, run)| place.map(|place| (&**run, &run.items[place])))
            .collect();
        let (mut newest, mut outputs) = (None, Vec::with_capacity(light.len()));
        for (item, reader) in light.iter().zip(readers) {
            let whole = item.map(|(run, item)| Ok::<_, FileProblem>((run, item, reader.item(&item.place)?)));
            let whole = whole.transpose()?;
            outputs.push(whole.as_ref().map(|(run, item, whole)| output(run, item, whole)));
            newest = whole.map(|(_, item, whole)| (item, whole)).or(newest);
        }
        // An item that is matched is in one of the runs.
        let (item, whole) = newest.ok_or(FileProblem::Changed)?;
        let changes = || {
            (1..self.runs.len())
                .map(|other| change(&self.runs, &matched.places, other, self.evaluator.as_deref()))
        };
        let contents: Vec<_> = light.iter().flatten().map(|(_, item)| &item.content).collect();
        Ok(ComparedItem {
            index: item.index,
            key: item.key.to_string(),
            input: (*whole.input).clone(),
            outputs,
            changes: changes().map(|change| change.map(|(change, _)| change)).collect(),
            score_changes: changes()
                .map(|change| change.map_or_else(Vec::new, |(_, scores)| scores))
                .collect(),
            content_changed: contents.windows(2).any(|two| two[0] != two[1]),
        })
    }
}

fn output(run: &LoadedRun, light: &LoadedItem, whole: &cobalt::report::ItemResult) -> ComparedOutput {
    let first = whole.first();
    let evaluators = run.head.config.evaluators.iter().enumerate();
    ComparedOutput {
        output: first.output.clone(),
        latency_ms: light.latency_ms,
        evaluations: first.evaluations.clone(),
        error: whole.error().map(str::to_owned),
        status: light.status,
        passed: light.passed,
        runs: light.runs,
        failed_runs: light.failed.len(),
        scores: evaluators.filter_map(|(at, name)| Some((name.clone(), light.scores.mean(at)?))).collect(),
    }
}
