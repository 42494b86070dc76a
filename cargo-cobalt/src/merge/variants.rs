//! Merged variants of an experiment: how they compare with each other.

use std::collections::BTreeMap;

use cobalt::command::config::Config;
use cobalt::command::shards::{MergedRun, OtherVariants};
use cobalt_core::report::RunVariant;
use cobalt_core::report::ranking::{RankInput, Ranking, rank};

use crate::results::FinishedExperiment;

/// The measurements of merged variants, by group and name.
pub struct MergedVariants(BTreeMap<String, OtherVariants>);

impl MergedVariants {
    pub fn of<'a>(runs: impl Iterator<Item = &'a MergedRun>, settings: &Config) -> Self {
        let mut groups = BTreeMap::<_, OtherVariants>::new();
        for run in runs {
            if let Some(variant) = run.variant() {
                let group = groups.entry(variant.group.clone()).or_default();
                group.insert(variant.name.clone(), run.measurements(settings));
            }
        }
        Self(groups)
    }

    /// The variants of a variant's group.
    pub fn of_group(&self, variant: Option<&RunVariant>) -> OtherVariants {
        variant.and_then(|variant| self.0.get(&variant.group)).cloned().unwrap_or_default()
    }

    /// How the variants of each group compare.
    pub fn rankings(&self, merged: &[FinishedExperiment]) -> Vec<Ranking> {
        let rank_group = |(group, measured): (&String, &OtherVariants)| {
            let mut runs: Vec<_> = merged
                .iter()
                .filter_map(|run| {
                    let variant = run.report.variant.as_ref().filter(|variant| variant.group == *group)?;
                    Some((
                        variant.position,
                        RankInput { report: &run.report, measurements: measured.get(&variant.name)? },
                    ))
                })
                .collect();
            runs.sort_by_key(|(position, _)| *position);
            let runs: Vec<_> = runs.into_iter().map(|(_, run)| run).collect();
            (runs.len() > 1).then(|| rank(&runs))
        };
        self.0.iter().filter_map(rank_group).collect()
    }
}
