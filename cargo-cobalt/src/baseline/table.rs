//! The table of baselines, and what has changed since each was set.

use cobalt::reporters::Paint;

use super::state::Shown;
use crate::terminal::{Align, one_line, table};

const TITLES: [(&str, Align); 7] = [
    ("experiment", Align::Left),
    ("run", Align::Left),
    ("start (UTC)", Align::Left),
    ("commit", Align::Left),
    ("items", Align::Right),
    ("state", Align::Left),
    ("scores", Align::Left),
];
/// How many digits of a commit are shown.
const COMMIT: usize = 7;

pub(super) fn lines(baselines: &[&Shown], paint: Paint) -> String {
    let mut text = table(TITLES, baselines.iter().map(|baseline| cells(baseline)), paint);
    for baseline in baselines {
        for note in &baseline.notes {
            text += &format!("{}: {}\n", paint.odd(one_line(&baseline.name)), one_line(note));
        }
    }
    text
}

fn cells(baseline: &Shown) -> [String; 7] {
    let commit = baseline.git.as_ref().map(|git| {
        let commit = git.commit.get(..COMMIT).unwrap_or(&git.commit);
        format!("{commit}{}", if git.dirty { "+" } else { "" })
    });
    let scores = baseline.evaluators.iter().map(|evaluator| match evaluator.mean {
        Some(mean) => format!("{} {mean:.3}", evaluator.name),
        None => format!("{} no score", evaluator.name),
    });
    [
        baseline.name.clone(),
        baseline.id.clone(),
        baseline.timestamp.to_string()[..16].replace('T', " "),
        commit.unwrap_or_default(),
        baseline.items.to_string(),
        baseline.state.words().to_owned(),
        scores.collect::<Vec<_>>().join(", "),
    ]
}
