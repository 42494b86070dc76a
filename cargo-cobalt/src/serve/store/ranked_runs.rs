//! Rankings of runs, and the runs of a group of variants.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use cobalt_core::report::ranking::{RankInput, Ranking, rank};

use super::Store;
use super::loaded_run::LoadedRun;
use super::run_list::RunList;
use crate::runs::RunView;

impl Store {
    /// The ranking of runs, cached because it is slow.
    pub fn ranking(&self, runs: &[Arc<LoadedRun>]) -> Arc<Ranking> {
        let files: Vec<_> = runs.iter().map(|run| run.file.clone()).collect();
        let compute = || {
            let _pass = self.loaders.acquire();
            let measured: Vec<_> = runs.iter().map(|run| run.measurements()).collect();
            let inputs = runs.iter().zip(&measured);
            let inputs: Vec<_> =
                inputs.map(|(run, measurements)| RankInput { report: &run.head, measurements }).collect();
            Ok::<_, Infallible>(rank(&inputs))
        };
        match self.rankings.get(&files, size_of_ranking, compute) {
            Ok(ranking) => ranking,
            Err(never) => match never {},
        }
    }
}

impl RunList {
    /// The finished runs of a group: the newest of each variant, whole runs before partial ones.
    pub fn runs_of_group(&self, group: &str) -> Vec<&RunView> {
        let mut variants: HashMap<&str, &RunView> = HashMap::new();
        for run in self.runs.iter().chain(&self.partial) {
            if let Some(variant) = run.variant.as_ref().filter(|variant| variant.group == group) {
                variants.entry(&variant.name).or_insert(run);
            }
        }
        let mut runs: Vec<_> = variants.into_values().collect();
        runs.sort_by(|one, two| (&one.timestamp, &one.id).cmp(&(&two.timestamp, &two.id)));
        runs
    }
}

/// The approximate memory use of a ranking in bytes.
fn size_of_ranking(ranking: &Ranking) -> usize {
    /// The figures of a difference, and those of a run.
    const FIGURES: usize = 1 << 10;
    FIGURES * (ranking.pairs.len() + ranking.runs.len() + 1)
}
