//! A ranking of runs, cut to a byte budget, and as Markdown.

use std::fmt::Write as _;

use cobalt_core::prices::format_cost;
use cobalt_core::report::comparison::Verdict;
use cobalt_core::report::ranking::{PairDifference, RankedRun, Ranking};
use cobalt_core::reporters::{format_duration, format_score_at};

use super::text::fit_lines;
use super::truncate::{self, keep_fitting};
use crate::compare::view::Row;
use crate::markdown::{code, escape_cell, sentence};

/// The longest name and sentence, in bytes.
const NAME: usize = 200;
const SENTENCE: usize = 900;
/// The longest name in a text, in bytes.
const SHORT_NAME: usize = 60;
/// The maximum size of a run's settings and scores, in bytes.
const SETTINGS: usize = 400;
const SCORES: usize = 1_000;
/// The maximum size of all differences, and of the caveats, in bytes.
const PAIRS: usize = 10_000;
const NOTES: usize = 1_500;
/// The maximum number of evaluators in a row of text.
const MAX_EVALUATORS: usize = 4;

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

/// The recommendation, a table of the runs and the differences beyond noise, in about `room` bytes.
pub fn ranking_text(ranking: &Ranking, room: usize) -> String {
    let mut text = String::from("### Ranking\n\n");
    if let Some(recommendation) = &ranking.recommendation {
        let _ = writeln!(text, "{}.\n", sentence(&truncate::text(&recommendation.text, SENTENCE)));
    }
    let evaluators: Vec<_> = ranking.runs.iter().flat_map(|run| &run.scores).map(|it| &*it.evaluator).fold(
        Vec::new(),
        |mut names: Vec<&str>, name| {
            if !names.contains(&name) {
                names.push(name);
            }
            names
        },
    );
    let shown = &evaluators[..evaluators.len().min(MAX_EVALUATORS)];
    let titles: Vec<_> = shown.iter().map(|name| format!("{} (95% CI), rank", cell(name))).collect();
    let _ = writeln!(
        text,
        "| run | id | {} | passed | latency | cost per 1,000 items | tokens per item | Pareto front |\n|---|---|{}",
        titles.join(" | "),
        "---|".repeat(shown.len() + 5)
    );
    ranking.runs.iter().for_each(|run| text += &row(run, shown));
    let hidden = evaluators.len() - shown.len();
    if hidden > 0 {
        let _ = writeln!(text, "\n{hidden} more evaluators; see `ranking.runs`.");
    }
    for note in ranking.notes.iter().take(3) {
        let _ = writeln!(text, "\n> {}", sentence(&truncate::text(note, SENTENCE / 3)));
    }
    let lines: Vec<_> =
        ranking.pairs.iter().filter(|it| is_beyond_noise(it)).map(|it| pair(ranking, it)).collect();
    if lines.is_empty() {
        return text + "\nNo significant difference between any two runs.\n";
    }
    text += "\nDifferences beyond noise, p-values corrected for the number of pairs:\n\n";
    let left = room.saturating_sub(truncate::size(&text));
    text + &fit_lines(lines.into_iter(), left, "difference")
}

fn cell(name: &str) -> String {
    escape_cell(&code(&truncate::text(name, SHORT_NAME)))
}

/// A row of the table.
fn row(run: &RankedRun, evaluators: &[&str]) -> String {
    let score = |name: &&str| {
        let Some(score) = run.scores.iter().find(|it| it.evaluator == **name) else {
            return "no score".to_owned();
        };
        let shown = |value| format_score_at(value, 1.0);
        let interval =
            score.ci95.map_or(String::new(), |it| format!(" ({} to {})", shown(it.low), shown(it.high)));
        let (best, worst) = (score.rank.best, score.rank.worst);
        let rank = if best == worst { best.to_string() } else { format!("{best}–{worst}") };
        format!("{}{interval}, {rank}", shown(score.mean))
    };
    let known = |value: Option<String>| value.unwrap_or_default();
    let cells: Vec<_> = evaluators.iter().map(score).collect();
    format!(
        "| {}{} | {} | {} | {} of {} | {} | {} | {} | {} |\n",
        cell(&run.label),
        if run.is_default { " (default)" } else { "" },
        cell(&run.run.id),
        cells.join(" | "),
        run.passed_items,
        run.items,
        known(run.latency_ms.map(format_duration)),
        known(run.cost_per_1000.map(format_cost)),
        known(run.tokens_per_item.map(|tokens| format!("{tokens:.0}"))),
        if run.is_on_pareto_front { "yes" } else { "" },
    )
}

/// A difference in a line.
fn pair(ranking: &Ranking, pair: &PairDifference) -> String {
    let label = |place: usize| {
        ranking.runs.get(place).map_or(String::new(), |run| code(&truncate::text(&run.label, SHORT_NAME)))
    };
    let (base, other) = (label(pair.base), label(pair.other));
    let difference = Row::of(&pair.difference);
    let [before, after, change, interval, p, ..] = &difference.cells;
    let verdict = match pair.difference.verdict {
        Verdict::Better => format!("{other} better than {base}"),
        Verdict::Worse => format!("{base} better than {other}"),
        _ => format!("{other} differs from {base}"),
    };
    let interval = if interval.is_empty() { String::new() } else { format!(", 95% CI {interval}") };
    let p = if p.is_empty() { String::new() } else { format!(", p {p}") };
    let name = code(&truncate::text(difference.name(), SHORT_NAME));
    format!("- {name}: {verdict}; {base} {before} → {other} {after}, {change}{interval}{p}")
}
