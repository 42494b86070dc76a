//! The view of a comparison that all formats share: title, runs, metrics with verdicts, and changed items.
//!
//! It is built from a [`Comparison`]; the terminal, Markdown and the MCP tool only lay it out and quote foreign text.

use cobalt_core::report::comparison::{
    Comparison, Difference, ItemChange, ItemMatching, ItemSide, Quantity, RunIdentity, ScoreChange, Verdict,
};
use cobalt_core::report::{GitState, Status};
use cobalt_core::reporters::{FormattedDifference, explain_difference};
use schemars::JsonSchema;
use serde::Serialize;

use crate::runs::short_hash;
use crate::terminal::one_line;

/// The column titles of a table of differences, except the first.
pub const TITLES: [&str; 7] = ["run A", "run B", "change", "95% CI", "p", "min detectable", "verdict"];
/// The same if run A is a baseline.
pub const BASELINE_TITLES: [&str; 7] =
    ["baseline", "candidate", "change", "95% CI", "p", "min detectable", "verdict"];
/// Maximum number of item keys to list.
const KEYS: usize = 3;
/// Length from which a common prefix of two outputs is elided.
const LONG_BEGINNING: usize = 60;
/// Number of its characters to keep.
const KEPT: usize = 20;

/// A comparison of two runs.
#[derive(Debug)]
pub struct ComparisonView<'a> {
    /// The compared experiments.
    pub title: String,
    /// The two runs.
    pub runs: [RunLine<'a>; 2],
    /// Which items the runs have in common.
    pub matching: &'a ItemMatching,
    pub notes: &'a [String],
    pub scores: Vec<Row<'a>>,
    pub metrics: Vec<Row<'a>>,
    pub headline: Headline<'a>,
    /// How p-values were corrected, if they were.
    pub correction: Option<&'static str>,
    pub outcome: ComparisonOutcome,
    /// The column titles of a table of differences, except the first.
    pub titles: [&'static str; TITLES.len()],
}

/// A run of a comparison.
#[derive(Debug)]
pub struct RunLine<'a> {
    /// `run A` or `run B`, or `baseline` or `candidate`.
    pub label: &'static str,
    pub id: &'a str,
    pub start: String,
    pub commit: Option<String>,
    pub size: String,
}

/// A score or another metric of both runs.
#[derive(Debug)]
pub struct Row<'a> {
    pub difference: &'a Difference,
    /// In the columns of [`TITLES`].
    pub cells: [String; TITLES.len()],
}

/// The headline of a comparison.
#[derive(Debug)]
pub enum Headline<'a> {
    /// No notable verdict, and why.
    Nothing(&'static str),
    /// The verdicts, each with the names of its scores and metrics.
    Verdicts(Vec<(Verdict, Vec<&'a str>)>),
}

/// The overall result for the scores and errors of the second run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ComparisonOutcome {
    /// Significantly better, and nothing is worse.
    Better,
    /// Significantly worse, and nothing is better.
    Worse,
    /// Some scores are better, and others worse.
    Mixed,
    /// There may be a relevant difference; more items are needed to tell.
    Inconclusive,
    /// No significant difference.
    NoDifference,
    /// No evaluator has scores in both runs.
    NothingToCompare,
}

impl<'a> ComparisonView<'a> {
    /// A comparison of run A with run B.
    pub fn of(comparison: &'a Comparison) -> Self {
        Self::labelled(comparison, TITLES)
    }

    /// A comparison of a baseline with a candidate.
    pub fn with_baseline(comparison: &'a Comparison) -> Self {
        Self::labelled(comparison, BASELINE_TITLES)
    }

    fn labelled(comparison: &'a Comparison, titles: [&'static str; TITLES.len()]) -> Self {
        let [base, other, ..] = titles;
        let rows = |differences: &'a [Difference]| differences.iter().map(Row::of).collect();
        Self {
            title: experiments(comparison),
            runs: [RunLine::of(base, &comparison.base), RunLine::of(other, &comparison.other)],
            matching: &comparison.items,
            notes: &comparison.notes,
            scores: rows(&comparison.evaluators),
            metrics: rows(&comparison.amounts),
            headline: match empty_headline(comparison) {
                Some(nothing) => Headline::Nothing(nothing),
                None => Headline::Verdicts(verdicts(comparison)),
            },
            correction: correction(comparison),
            outcome: ComparisonOutcome::of(comparison),
            titles,
        }
    }

    /// The tables of scores and of other metrics, each with the title of its first column; empty tables are omitted.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &[Row<'a>])> {
        [("mean score", &*self.scores), ("mean per item", &*self.metrics)]
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
    }

    /// All scores and metrics.
    pub fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.scores.iter().chain(&self.metrics)
    }

    /// The same, most important first.
    pub fn by_weight(&self) -> Vec<&Row<'a>> {
        let mut rows: Vec<_> = self.rows().collect();
        rows.sort_by_key(|row| verdict_rank(row.difference.verdict));
        rows
    }

    /// The headline in one line; `quote` formats names.
    pub fn headline(&self, quote: impl Fn(&str) -> String) -> String {
        match &self.headline {
            Headline::Nothing(nothing) => (*nothing).to_owned(),
            Headline::Verdicts(verdicts) => {
                let said = verdicts.iter().map(|(verdict, names)| {
                    let names = names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
                    format!("{verdict} in {names}")
                });
                said.collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// Which items the runs have in common; `quote` formats keys.
    pub fn matching(&self, quote: impl Fn(&str) -> String) -> String {
        describe_matching(self.matching, quote)
    }
}

impl<'a> RunLine<'a> {
    fn of(label: &'static str, run: &'a RunIdentity) -> Self {
        Self { label, id: &run.id, start: start_time(run), commit: commit(run), size: size(run) }
    }
}

impl<'a> Row<'a> {
    pub fn of(difference: &'a Difference) -> Self {
        Self { difference, cells: cells(difference) }
    }

    pub fn name(&self) -> &'a str {
        self.difference.label()
    }

    /// Explains the verdict.
    pub fn explained(&self) -> String {
        explain_difference(self.difference)
    }
}

impl ComparisonOutcome {
    fn of(comparison: &Comparison) -> Self {
        let has = |verdict| comparison.evaluators.iter().any(|it| it.verdict == verdict);
        let is_worse = regressions(comparison).next().is_some();
        let mut errors = comparison.amounts.iter().filter(|it| it.quantity == Quantity::Errors);
        let is_better = has(Verdict::Better) || errors.any(|it| it.verdict == Verdict::Better);
        match (is_worse, is_better) {
            (true, true) => Self::Mixed,
            (true, false) => Self::Worse,
            (false, _) if comparison.evaluators.is_empty() => Self::NothingToCompare,
            (false, true) => Self::Better,
            (false, false) if has(Verdict::Inconclusive) => Self::Inconclusive,
            (false, false) => Self::NoDifference,
        }
    }
}

/// An item that changed from one run to the other.
#[derive(Clone, Copy, Debug)]
pub struct ItemView<'a> {
    change: &'a ItemChange,
    /// The scores to show.
    scores: &'a [ScoreChange],
    /// Trials per item in each run.
    trials: [usize; 2],
}

/// An item in one of the runs.
#[derive(Debug)]
pub struct SideView<'a> {
    /// `run A` or `run B`.
    pub label: &'static str,
    /// The number of this trial, from 1, and the number of trials, if there are several.
    pub trial: Option<(usize, usize)>,
    /// The output, or the error.
    pub output: String,
    side: &'a ItemSide,
    scores: &'a [ScoreChange],
}

impl<'a> ItemView<'a> {
    pub fn of(comparison: &Comparison, change: &'a ItemChange) -> Self {
        Self { change, scores: &change.scores, trials: [comparison.base.runs, comparison.other.runs] }
    }

    /// Limits the number of scores.
    pub fn with_scores(self, most: usize) -> Self {
        Self { scores: &self.scores[..self.scores.len().min(most)], ..self }
    }

    pub fn key(&self) -> &'a str {
        &self.change.key
    }

    pub fn is_worse(&self) -> bool {
        self.change.change < 0.0
    }

    /// How its scores changed: `right 1.000 → 0.000`.
    pub fn scores(&self, quote: impl Fn(&str) -> String) -> String {
        let changed =
            |it: &ScoreChange| format!("{} {} → {}", quote(&it.evaluator), score(it.base), score(it.other));
        match self.scores {
            [] => "failed in one of the runs".to_owned(),
            scores => scores.iter().map(changed).collect::<Vec<_>>().join(", "),
        }
    }

    /// A suffix for items whose content changed.
    pub fn content_suffix(&self) -> &'static str {
        if self.change.content_changed { ", input changed" } else { "" }
    }

    /// The field `input`, or the whole item if there is none.
    pub fn input(&self) -> String {
        match self.change.input.get("input") {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => serde_json::Value::Object(self.change.input.clone()).to_string(),
        }
    }

    /// The item in both runs. The common prefix of outputs longer than `most` characters is elided to show the difference.
    pub fn sides(&self, most: usize) -> [SideView<'a>; 2] {
        let [base, other] = outputs(self.change, most);
        let side = |label, side: &'a ItemSide, output, trials| SideView {
            label,
            trial: (trials > 1).then_some((side.run + 1, trials)),
            output,
            side,
            scores: self.scores,
        };
        let ItemChange { base: before, other: after, .. } = self.change;
        [side(TITLES[0], before, base, self.trials[0]), side(TITLES[1], after, other, self.trials[1])]
    }

    /// The reason in the second run: its error, or the first reason of an evaluator whose score changed.
    pub fn reason(&self) -> Option<String> {
        let other = &self.change.other;
        other.error.clone().or_else(|| reasons(self.scores, other, str::to_owned).into_iter().next())
    }
}

impl SideView<'_> {
    /// The reasons of evaluators whose scores changed.
    pub fn reasons(&self, quote: impl Fn(&str) -> String) -> Vec<String> {
        reasons(self.scores, self.side, quote)
    }
}

fn reasons(scores: &[ScoreChange], side: &ItemSide, quote: impl Fn(&str) -> String) -> Vec<String> {
    let said = |change: &ScoreChange| {
        let evaluation = side.evaluations.get(&change.evaluator)?;
        let reason = evaluation.reason.as_ref().or(evaluation.error.as_ref())?;
        let score = if evaluation.not_applicable { "n/a".to_owned() } else { score(evaluation.score) };
        Some(format!("{} {score}: {reason}", quote(&change.evaluator)))
    };
    scores.iter().filter_map(said).collect()
}

fn score(score: Option<f64>) -> String {
    score.map_or("no score".to_owned(), |score| format!("{score:.3}"))
}

fn outputs(change: &ItemChange, most: usize) -> [String; 2] {
    let texts = [&change.base, &change.other].map(output);
    let alike = texts[0].chars().zip(texts[1].chars()).take_while(|(one, two)| one == two).count();
    let is_long = texts.iter().any(|text| text.chars().count() > most);
    if !is_long || alike < LONG_BEGINNING || texts[0] == texts[1] {
        return texts;
    }
    texts.map(|text| format!("…{}", text.chars().skip(alike - KEPT).collect::<String>()))
}

fn output(side: &ItemSide) -> String {
    match (&side.output, &side.error) {
        (Some(output), _) => output.text().into_owned(),
        (None, error) => {
            let what = if side.status == Status::Timeout { "timeout" } else { "error" };
            format!("({what}: {})", error.as_deref().unwrap_or("no reason given"))
        }
    }
}

/// A comparison with the items with the largest changes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRuns {
    #[serde(flatten)]
    pub comparison: Comparison,
    pub most_changed: Vec<ItemChange>,
    /// Whether a run has only metrics, as from a baseline file.
    #[serde(skip)]
    pub is_without_outputs: bool,
    /// Whether the first run is a saved baseline.
    #[serde(skip)]
    pub is_with_baseline: bool,
}

impl ComparedRuns {
    /// The view of the comparison, which names a saved baseline as such.
    pub fn view(&self) -> ComparisonView<'_> {
        match self.is_with_baseline {
            true => ComparisonView::with_baseline(&self.comparison),
            false => ComparisonView::of(&self.comparison),
        }
    }

    /// The items with the largest changes.
    pub fn items(&self) -> impl Iterator<Item = ItemView<'_>> {
        self.most_changed.iter().map(|change| ItemView::of(&self.comparison, change))
    }
}

/// Sort order of verdicts, most important first.
pub fn verdict_rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Changed => 2,
        Verdict::Inconclusive => 3,
        Verdict::WithinNoise => 4,
    }
}

/// Evaluators and the error rate, if they are worse in the second run.
pub fn regressions(comparison: &Comparison) -> impl Iterator<Item = &Difference> {
    let errors = comparison.amounts.iter().filter(|amount| amount.quantity == Quantity::Errors);
    comparison.evaluators.iter().chain(errors).filter(|it| it.verdict == Verdict::Worse)
}

/// A difference in the columns of [`TITLES`].
pub fn cells(difference: &Difference) -> [String; TITLES.len()] {
    let figures = FormattedDifference::from(difference);
    [
        figures.base,
        figures.other,
        figures.difference,
        figures.ci95.unwrap_or_default(),
        figures.p.unwrap_or_default(),
        figures.smallest_detectable.unwrap_or_default(),
        difference.verdict.to_string(),
    ]
}

fn differences(comparison: &Comparison) -> impl Iterator<Item = &Difference> {
    comparison.evaluators.iter().chain(&comparison.amounts)
}

/// The notable verdicts with their scores and metrics; none if no difference was found.
fn verdicts(comparison: &Comparison) -> Vec<(Verdict, Vec<&str>)> {
    let verdicts = [Verdict::Worse, Verdict::Better, Verdict::Changed, Verdict::Inconclusive];
    let names = |verdict: Verdict| {
        let those = differences(comparison).filter(|it| it.verdict == verdict);
        (verdict, those.map(Difference::label).collect::<Vec<_>>())
    };
    verdicts.map(names).into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

/// The title: the compared experiments.
fn experiments(comparison: &Comparison) -> String {
    let (base, other) = (one_line(&comparison.base.name), one_line(&comparison.other.name));
    if base == other { other } else { format!("{other} vs. {base}") }
}

/// The headline without notable verdicts.
pub fn empty_headline(comparison: &Comparison) -> Option<&'static str> {
    if differences(comparison).next().is_none() {
        Some("nothing to compare: no score or metric is in both runs")
    } else if verdicts(comparison).is_empty() {
        Some("no significant difference (within noise)")
    } else {
        None
    }
}

/// When a run started, in UTC and to the minute.
pub fn start_time(run: &RunIdentity) -> String {
    run.timestamp.to_minute()
}

/// The commit of a run.
pub fn commit(run: &RunIdentity) -> Option<String> {
    commit_of(run.git.as_ref())
}

/// A commit, and whether there were uncommitted changes.
pub fn commit_of(git: Option<&GitState>) -> Option<String> {
    let git = git?;
    let hash = one_line(short_hash(&git.commit));
    Some(if git.dirty { format!("{hash} with uncommitted changes") } else { hash })
}

/// The size of a run.
pub fn size(run: &RunIdentity) -> String {
    let items = format!("{} item{}", run.items, if run.items == 1 { "" } else { "s" });
    if run.runs > 1 { format!("{items}, {} trials each", run.runs) } else { items }
}

/// Which items the runs have in common; `quote` formats keys.
pub fn describe_matching(items: &ItemMatching, quote: impl Fn(&str) -> String) -> String {
    let keys = |keys: &[String], count: usize| {
        let mut named: Vec<_> = keys.iter().take(KEYS).map(|key| quote(key)).collect();
        if count > named.len() {
            named.push(format!("{} more", count - named.len()));
        }
        named.join(", ")
    };
    let mut parts = vec![format!("{} in both runs", items.matched)];
    for (those, count, what) in [
        (&items.changed, items.changed_count(), "with changed input"),
        (&items.added, items.added_count(), "added"),
        (&items.removed, items.removed_count(), "removed"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what} ({})", keys(those, count)));
        }
    }
    parts.join(", ")
}

/// How p-values were corrected, if they were.
pub fn correction(comparison: &Comparison) -> Option<&'static str> {
    let corrected = comparison.evaluators.iter().any(|it| it.p_adjusted != it.p_value);
    let amounts = comparison.amounts.iter().any(|it| it.p_adjusted != it.p_value);
    (corrected || amounts).then_some("p-values are Holm-corrected, separately for scores and metrics")
}

/// The error for runs without common items.
pub fn no_common_items_message(comparison: &Comparison) -> String {
    let (base, other) = (&comparison.base, &comparison.other);
    let key = |keys: &[String]| keys.first().map_or("none".to_owned(), |key| format!("`{}`", one_line(key)));
    format!(
        "runs {} (`{}`) and {} (`{}`) have no items in common: items are matched by `id`, or by a hash of their input; \
         the first ones are {} and {}",
        one_line(&base.id),
        one_line(&base.name),
        one_line(&other.id),
        one_line(&other.name),
        key(&comparison.items.removed),
        key(&comparison.items.added)
    )
}
