//! A ranking of runs, cut to a byte budget.

use cobalt_core::report::comparison::Verdict;
use cobalt_core::report::ranking::{PairDifference, Ranking};

use super::truncate::{self, keep_fitting};

/// The longest name and sentence, in bytes.
const NAME: usize = 200;
const SENTENCE: usize = 900;
/// The maximum size of a run's settings and scores, in bytes.
const SETTINGS: usize = 400;
const SCORES: usize = 1_000;
/// The maximum size of all differences, and of the caveats, in bytes.
const PAIRS: usize = 10_000;
const NOTES: usize = 1_500;

/// The ranking with only the differences beyond noise.
pub fn compact_ranking(mut ranking: Ranking, left_out: &mut Vec<String>) -> Ranking {
    let shorten = |text: &mut String, room| *text = truncate::text(text, room);
    ranking.pairs.retain(is_beyond_noise);
    for run in &mut ranking.runs {
        let commit = run.run.git.as_mut().map(|git| &mut git.commit);
        let names = [&mut run.label, &mut run.run.id, &mut run.run.name].into_iter().chain(commit);
        names.for_each(|name| shorten(name, NAME));
        run.settings = truncate::value(std::mem::take(&mut run.settings), SETTINGS);
        run.scores.iter_mut().for_each(|score| shorten(&mut score.evaluator, NAME));
        keep_fitting(&mut run.scores, SCORES, "ranking.runs[].scores", left_out);
    }
    ranking.experiment.iter_mut().chain(&mut ranking.group).for_each(|name| shorten(name, NAME));
    ranking.pairs.iter_mut().for_each(|pair| shorten(&mut pair.difference.name, NAME));
    keep_fitting(&mut ranking.pairs, PAIRS, "ranking.pairs", left_out);
    ranking.preferences.iter_mut().for_each(|preference| shorten(&mut preference.evaluator, NAME));
    keep_fitting(&mut ranking.preferences, NOTES, "ranking.preferences", left_out);
    ranking.recommendation.iter_mut().for_each(|it| shorten(&mut it.text, SENTENCE));
    ranking.notes.iter_mut().for_each(|note| shorten(note, SENTENCE));
    keep_fitting(&mut ranking.notes, NOTES, "ranking.notes", left_out);
    left_out.dedup();
    ranking
}

fn is_beyond_noise(pair: &PairDifference) -> bool {
    matches!(pair.difference.verdict, Verdict::Better | Verdict::Worse | Verdict::Changed)
}
