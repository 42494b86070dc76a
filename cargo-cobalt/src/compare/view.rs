//! A comparison as all of its texts show it: its title, its runs, its figures with their verdicts, and the items that changed.
//!
//! It is made once of a [`Comparison`]; the terminal, Markdown and the tool of assistants only lay it out and quote what others wrote.

use cobalt_core::report::comparison::{
    Comparison, Difference, ItemChange, ItemSide, Matching, Quantity, RunIdentity, ScoreChange, Verdict,
};
use cobalt_core::report::{GitState, Status, Timestamp};
use cobalt_core::reporters::{DifferenceFigures, explained};
use schemars::JsonSchema;
use serde::Serialize;

use crate::runs::{self, short};
use crate::terminal::one_line;

/// The titles of a table of differences, but that of the first column.
pub const TITLES: [&str; 7] = ["base", "other", "change", "95 % interval", "p", "detectable", "verdict"];
/// The most keys of items that are named.
const KEYS: usize = 3;
/// So many equal characters at the beginning of two outputs are left out.
const LONG_BEGINNING: usize = 60;
/// So many of them are kept.
const KEPT: usize = 20;

/// A comparison of two runs.
#[derive(Debug)]
pub struct ComparisonView<'a> {
    /// The experiments that are compared.
    pub title: String,
    /// The base and the other run.
    pub runs: [RunLine<'a>; 2],
    /// Which items the runs have in common.
    pub matching: &'a Matching,
    pub notes: &'a [String],
    pub scores: Vec<Row<'a>>,
    pub amounts: Vec<Row<'a>>,
    pub headline: Headline<'a>,
    /// How p-values are to be read, where several were corrected together.
    pub correction: Option<&'static str>,
    pub finding: Finding,
}

/// A run of a comparison.
#[derive(Debug)]
pub struct RunLine<'a> {
    /// `base` or `other`.
    pub label: &'static str,
    pub id: &'a str,
    pub start: String,
    pub commit: Option<String>,
    pub size: String,
}

/// A score or an amount of both runs.
#[derive(Debug)]
pub struct Row<'a> {
    pub difference: &'a Difference,
    /// In the columns of [`TITLES`].
    pub cells: [String; TITLES.len()],
}

/// What is said first.
#[derive(Debug)]
pub enum Headline<'a> {
    /// There is no verdict that deserves it: why.
    Nothing(&'static str),
    /// The verdicts, each with the names of what it is on.
    Verdicts(Vec<(Verdict, Vec<&'a str>)>),
}

/// What can be said of the scores and errors of the second run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Finding {
    /// More than noise explains, and nothing is worse.
    Better,
    /// More than noise explains, and nothing is better.
    Worse,
    /// Some scores are better, and others worse.
    Mixed,
    /// There may be a difference that is worth having, and these items do not tell.
    Inconclusive,
    /// Nothing beyond what chance explains.
    NoDifference,
    /// No evaluator has scores in both runs: nothing is known of the scores.
    NothingToCompare,
}

impl<'a> ComparisonView<'a> {
    pub fn of(comparison: &'a Comparison) -> Self {
        let rows = |differences: &'a [Difference]| differences.iter().map(Row::of).collect();
        Self {
            title: experiments(comparison),
            runs: [RunLine::of("base", &comparison.base), RunLine::of("other", &comparison.other)],
            matching: &comparison.items,
            notes: &comparison.notes,
            scores: rows(&comparison.evaluators),
            amounts: rows(&comparison.amounts),
            headline: match without_headline(comparison) {
                Some(nothing) => Headline::Nothing(nothing),
                None => Headline::Verdicts(verdicts(comparison)),
            },
            correction: correction(comparison),
            finding: Finding::of(comparison),
        }
    }

    /// The tables of scores and of amounts, each with the title of its first column; none without a row.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &[Row<'a>])> {
        [("score", &*self.scores), ("amount", &*self.amounts)]
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
    }

    /// All that was compared.
    pub fn rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.scores.iter().chain(&self.amounts)
    }

    /// The same, what matters most first.
    pub fn by_weight(&self) -> Vec<&Row<'a>> {
        let mut rows: Vec<_> = self.rows().collect();
        rows.sort_by_key(|row| weight(row.difference.verdict));
        rows
    }

    /// What can be said in a line; names are set off as `quote` does it.
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

    /// Which items the runs have in common; keys are set off as `quote` does it.
    pub fn matching(&self, quote: impl Fn(&str) -> String) -> String {
        matching(self.matching, quote)
    }
}

impl<'a> RunLine<'a> {
    fn of(label: &'static str, run: &'a RunIdentity) -> Self {
        Self { label, id: &run.id, start: start(run), commit: commit(run), size: size(run) }
    }
}

impl<'a> Row<'a> {
    pub fn of(difference: &'a Difference) -> Self {
        Self { difference, cells: cells(difference) }
    }

    pub fn name(&self) -> &'a str {
        &self.difference.name
    }

    /// What the verdict rests on.
    pub fn explained(&self) -> String {
        explained(self.difference)
    }
}

impl Finding {
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
    /// The scores that are told of.
    scores: &'a [ScoreChange],
    /// How often each run ran an item.
    trials: [usize; 2],
}

/// What one of the runs made of an item.
#[derive(Debug)]
pub struct SideView<'a> {
    /// `base` or `other`.
    pub label: &'static str,
    /// Which of several trials this is, from 1, and how many there are.
    pub trial: Option<(usize, usize)>,
    /// The output, or the error in its place.
    pub output: String,
    side: &'a ItemSide,
    scores: &'a [ScoreChange],
}

impl<'a> ItemView<'a> {
    pub fn of(comparison: &Comparison, change: &'a ItemChange) -> Self {
        Self { change, scores: &change.scores, trials: [comparison.base.runs, comparison.other.runs] }
    }

    /// The same with so many of its scores at the most.
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

    /// What stands behind its key or its scores where the item itself is another.
    pub fn content(&self) -> &'static str {
        if self.change.content_changed { ", with other content" } else { "" }
    }

    /// Its input, or all of the item where it has no field of that name.
    pub fn input(&self) -> String {
        match self.change.input.get("input") {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => serde_json::Value::Object(self.change.input.clone()).to_string(),
        }
    }

    /// What both runs made of it. Of long outputs that begin alike, the beginning is left out, so that the difference is in sight;
    /// `most` characters have room.
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
        [side("base", before, base, self.trials[0]), side("other", after, other, self.trials[1])]
    }

    /// Why the other run came to what it did: its error, or the first reason of an evaluator whose score changed.
    pub fn why(&self) -> Option<String> {
        let other = &self.change.other;
        other.error.clone().or_else(|| reasons(self.scores, other, str::to_owned).into_iter().next())
    }
}

impl SideView<'_> {
    /// What the evaluators whose scores changed said of it, those that gave no reason left out.
    pub fn reasons(&self, quote: impl Fn(&str) -> String) -> Vec<String> {
        reasons(self.scores, self.side, quote)
    }
}

fn reasons(scores: &[ScoreChange], side: &ItemSide, quote: impl Fn(&str) -> String) -> Vec<String> {
    let said = |change: &ScoreChange| {
        let evaluation = side.evaluations.get(&change.evaluator)?;
        let reason = evaluation.reason.as_ref().or(evaluation.error.as_ref())?;
        Some(format!("{} {}: {reason}", quote(&change.evaluator), score(evaluation.score)))
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
            format!("({what}: {})", error.as_deref().unwrap_or("no reason is known"))
        }
    }
}

/// A comparison with the items that changed most.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    #[serde(flatten)]
    pub comparison: Comparison,
    pub most_changed: Vec<ItemChange>,
    /// Whether one of the runs is known by its numbers alone, as from a baseline file.
    #[serde(skip)]
    pub is_without_outputs: bool,
}

impl Compared {
    /// The items that changed most.
    pub fn items(&self) -> impl Iterator<Item = ItemView<'_>> {
        self.most_changed.iter().map(|change| ItemView::of(&self.comparison, change))
    }
}

/// What is worth telling first.
pub fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Inconclusive => 2,
        Verdict::WithinNoise => 3,
    }
}

/// The evaluators, and the errors, of which the other run has worse ones.
pub fn regressions(comparison: &Comparison) -> impl Iterator<Item = &Difference> {
    let errors = comparison.amounts.iter().filter(|amount| amount.quantity == Quantity::Errors);
    comparison.evaluators.iter().chain(errors).filter(|it| it.verdict == Verdict::Worse)
}

/// A difference in the columns of [`TITLES`].
pub fn cells(difference: &Difference) -> [String; TITLES.len()] {
    let figures = DifferenceFigures::from(difference);
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

/// The verdicts that deserve to be said first, each with what it is on. Without any, no difference was seen.
fn verdicts(comparison: &Comparison) -> Vec<(Verdict, Vec<&str>)> {
    let verdicts = [Verdict::Worse, Verdict::Better, Verdict::Inconclusive];
    let names = |verdict: Verdict| {
        let those = differences(comparison).filter(|it| it.verdict == verdict);
        (verdict, those.map(|it| &*it.name).collect::<Vec<_>>())
    };
    verdicts.map(names).into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

/// The title: the experiments that are compared.
fn experiments(comparison: &Comparison) -> String {
    let (base, other) = (one_line(&comparison.base.name), one_line(&comparison.other.name));
    if base == other { other } else { format!("{other} against {base}") }
}

/// What is said where there is no verdict to be said first.
pub fn without_headline(comparison: &Comparison) -> Option<&'static str> {
    if differences(comparison).next().is_none() {
        Some("nothing to compare: no figure is in both runs")
    } else if verdicts(comparison).is_empty() {
        Some("no difference seen (within noise)")
    } else {
        None
    }
}

/// When a run started, in UTC and to the minute.
pub fn start(run: &RunIdentity) -> String {
    minute(run.timestamp)
}

/// A moment in UTC and to the minute.
pub fn minute(moment: Timestamp) -> String {
    runs::minute(&moment.to_string())
}

/// The commit that a run was made on.
pub fn commit(run: &RunIdentity) -> Option<String> {
    commit_of(run.git.as_ref())
}

/// A commit, and whether files differed from it.
pub fn commit_of(git: Option<&GitState>) -> Option<String> {
    let git = git?;
    let hash = one_line(short(&git.commit));
    Some(if git.dirty { format!("{hash} with changes") } else { hash })
}

/// How large a run is.
pub fn size(run: &RunIdentity) -> String {
    let items = format!("{} item{}", run.items, if run.items == 1 { "" } else { "s" });
    if run.runs > 1 { format!("{items}, {} runs each", run.runs) } else { items }
}

/// Which items the runs have in common; names of items are set off as `quote` does it.
pub fn matching(items: &Matching, quote: impl Fn(&str) -> String) -> String {
    let keys = |keys: &[String]| {
        let mut named: Vec<_> = keys.iter().take(KEYS).map(|key| quote(key)).collect();
        if keys.len() > KEYS {
            named.push(format!("{} more", keys.len() - KEYS));
        }
        named.join(", ")
    };
    let mut parts = vec![format!("{} in both runs", items.matched)];
    for (those, what) in
        [(&items.changed, "with other content"), (&items.added, "added"), (&items.removed, "removed")]
    {
        if !those.is_empty() {
            parts.push(format!("{} {what} ({})", those.len(), keys(those)));
        }
    }
    parts.join(", ")
}

/// How p-values are to be read, where several were corrected together.
pub fn correction(comparison: &Comparison) -> Option<&'static str> {
    let corrected = comparison.evaluators.iter().any(|it| it.p_adjusted != it.p_value);
    let amounts = comparison.amounts.iter().any(|it| it.p_adjusted != it.p_value);
    (corrected || amounts)
        .then_some("p-values are corrected by Holm's method, for all scores and for all amounts")
}

/// Why two runs cannot be compared.
pub fn nothing_in_common(comparison: &Comparison) -> String {
    let (base, other) = (&comparison.base, &comparison.other);
    let key = |keys: &[String]| keys.first().map_or("none".to_owned(), |key| format!("`{}`", one_line(key)));
    format!(
        "the runs {} (`{}`) and {} (`{}`) have no item in common: items are matched by their `id`, or by a hash of their \
         input; the first are {} and {}",
        one_line(&base.id),
        one_line(&base.name),
        one_line(&other.id),
        one_line(&other.name),
        key(&comparison.items.removed),
        key(&comparison.items.added)
    )
}
