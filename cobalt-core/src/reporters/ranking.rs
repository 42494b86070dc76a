//! Several runs side by side, as text: a table of the runs, the differences beyond noise, and which run to choose.

use std::fmt::{self, Write as _};

use super::format::Style;
use super::format_difference::FormattedDifference;
use crate::duration::format_duration;
use crate::prices::CostFormat;
use crate::report::comparison::{Difference, Quantity, Verdict};
use crate::report::ranking::{Preference, RankInterval, RankedRun, RankedScore, Ranking};
use crate::report::stats::Interval;
use crate::wording::{count, escape_control, group_thousands, percent, truncate};

/// The widest line of a table. Columns that do not fit follow in a further table.
const WIDTH: usize = 100;
/// The space before each column but the first.
const GAP: usize = 2;
/// The length to which names of runs and evaluators are cut.
const LONGEST_NAME: usize = 32;
/// The number of differences to list.
const MOST_DIFFERENCES: usize = 20;
/// What to write if no two runs differ.
pub const NO_REAL_DIFFERENCE: &str = "no two runs differ beyond noise";
/// How the p-values of a ranking are corrected.
pub const RANKING_CORRECTION: &str =
    "p-values are Holm-corrected over all pairs of runs, separately for scores and metrics";

/// A column of the table of runs, with a cell for each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingColumn {
    /// The head: the evaluator's name, or what the column shows.
    pub title: String,
    /// Whether it shows an evaluator's scores.
    pub is_score: bool,
    /// The cells, empty if the value is unknown.
    pub cells: Vec<String>,
}

/// A difference beyond noise between two runs.
#[derive(Clone, Debug)]
pub struct RealDifference<'a> {
    /// The evaluator or the metric.
    pub name: &'a str,
    /// The label of the better run.
    pub better: &'a str,
    /// The label of the worse run.
    pub worse: &'a str,
    /// The difference, better minus worse, with its CI and p-value.
    pub figures: FormattedDifference,
}

impl RankingColumn {
    /// The columns of a ranking: each evaluator's mean with its 95% CI and ranks, then the share of items at their pass marks, and means
    /// per item. Columns without any value are left out.
    #[must_use]
    pub fn of(ranking: &Ranking) -> Vec<Self> {
        let runs = &ranking.runs;
        let column = |title: &str, cell: &dyn Fn(&RankedRun) -> Option<String>| Self {
            title: title.to_owned(),
            is_score: false,
            cells: runs.iter().map(|run| cell(run).unwrap_or_default()).collect(),
        };
        let mut columns = Vec::new();
        for evaluator in evaluators(ranking) {
            let score = |run: &RankedRun| run.scores.iter().find(|it| it.evaluator == evaluator).cloned();
            let means = column(evaluator, &|run| score(run).as_ref().map(format_mean));
            columns.push(Self { is_score: true, ..means });
            columns.push(column("rank", &|run| score(run).map(|score| format_rank(score.rank))));
        }
        columns.push(column("at pass marks", &|run| {
            (run.items > 0).then(|| percent(run.passed_items as f64 / run.items as f64))
        }));
        columns.push(column("latency", &|run| run.latency_ms.map(format_duration)));
        let costs = CostFormat::of(runs.iter().filter_map(|run| run.cost_per_1000));
        columns.push(column("agent cost/1,000", &|run| run.cost_per_1000.map(|cost| costs.format(cost))));
        columns.push(column("tokens", &|run| {
            run.tokens_per_item.map(|tokens| group_thousands(tokens.round() as u64))
        }));
        columns.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
        columns
    }
}

impl<'a> RealDifference<'a> {
    /// The pairs of runs of which one is better beyond noise, in the order of the metrics.
    #[must_use]
    pub fn all(ranking: &'a Ranking) -> Vec<Self> {
        let real = ranking.pairs.iter().filter_map(|pair| {
            let (name, verdict) = (pair.difference.label(), pair.difference.verdict);
            let (base, other) = (&*ranking.runs[pair.base].label, &*ranking.runs[pair.other].label);
            match verdict {
                Verdict::Better => Some(Self {
                    name,
                    better: other,
                    worse: base,
                    figures: FormattedDifference::from(&pair.difference),
                }),
                Verdict::Worse => Some(Self {
                    name,
                    better: base,
                    worse: other,
                    figures: FormattedDifference::from(&reversed(&pair.difference)),
                }),
                Verdict::Changed | Verdict::WithinNoise | Verdict::Inconclusive => None,
            }
        });
        let mut real: Vec<_> = real.collect();
        let place = |name: &str| metrics(ranking).iter().position(|metric| *metric == name);
        // The sort is stable: the pairs of a metric stay in the order of the runs.
        real.sort_by_key(|difference| place(difference.name));
        real
    }
}

/// The same difference, base minus other.
fn reversed(difference: &Difference) -> Difference {
    Difference {
        base: difference.other,
        other: difference.base,
        difference: -difference.difference,
        ci95: difference.ci95.map(|ci| Interval { low: -ci.high, high: -ci.low }),
        ..difference.clone()
    }
}

/// The evaluators of the runs, each once.
fn evaluators(ranking: &Ranking) -> Vec<&str> {
    each_once(ranking.runs.iter().flat_map(|run| run.scores.iter().map(|score| &*score.evaluator)))
}

/// The names of the compared metrics, scores and errors before amounts.
fn metrics(ranking: &Ranking) -> Vec<&str> {
    let names = |decides: bool| {
        let of_kind =
            move |it: &&Difference| matches!(it.quantity, Quantity::Score | Quantity::Errors) == decides;
        ranking.pairs.iter().map(|pair| &pair.difference).filter(of_kind).map(Difference::label)
    };
    each_once(names(true).chain(names(false)))
}

fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

fn format_mean(score: &RankedScore) -> String {
    let interval = score.ci95.map(|ci| format!(" ({:.2}–{:.2})", ci.low, ci.high)).unwrap_or_default();
    format!("{:.3}{interval}", score.mean)
}

fn format_rank(RankInterval { best, worst }: RankInterval) -> String {
    if best == worst { best.to_string() } else { format!("{best}–{worst}") }
}

/// What a judge that compares two outputs prefers, in one line; `quote` formats names.
#[must_use]
pub fn format_preference(
    ranking: &Ranking,
    preference: &Preference,
    quote: impl Fn(&str) -> String,
) -> String {
    let Preference {
        evaluator,
        strengths,
        ci95,
        other_answers,
        other_answers_ci95,
        first_position,
        comparisons,
    } = preference;
    let runs = ranking.runs.iter().map(|run| quote(&run.label));
    let mut order: Vec<_> = runs.zip(strengths).zip(ci95).collect();
    order.push((("the other answers".to_owned(), other_answers), other_answers_ci95));
    order.sort_by(|((_, one), _), ((_, two), _)| two.total_cmp(one));
    let strengths = order
        .into_iter()
        .map(|((label, strength), ci)| format!("{label} {strength:+.2} ({:.2} to {:.2})", ci.low, ci.high));
    let strengths = strengths.collect::<Vec<_>>().join(", ");
    let position = first_position.map(|term| format!("; first position {term:+.2}")).unwrap_or_default();
    let comparisons = count(*comparisons, "comparison");
    format!("{} (log strengths, 95% CI): {strengths}{position}; {comparisons}", quote(evaluator))
}

/// Several runs side by side: a table of the runs, the differences beyond noise, and which run to choose.
#[must_use]
pub fn render_ranking(ranking: &Ranking, paint: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, ranking, paint);
    text
}

fn write(text: &mut String, ranking: &Ranking, paint: Style) -> fmt::Result {
    let noun = if ranking.group.is_some() { "variant" } else { "run" };
    let name = paint.bold(escape_control(ranking.experiment.as_deref().unwrap_or("ranking")));
    writeln!(text, "{name}: {}", count(ranking.runs.len(), noun))?;
    write_runs(text, ranking, noun, paint)?;
    write_differences(text, ranking, paint)?;
    for preference in &ranking.preferences {
        let line = format_preference(ranking, preference, str::to_owned);
        writeln!(text, "  {}", escape_control(&line))?;
    }
    for note in &ranking.notes {
        writeln!(text, "  {}", paint.warning(format!("note: {}", escape_control(note))))?;
    }
    match &ranking.recommendation {
        Some(recommendation) => writeln!(text, "  {}", paint.bold(escape_control(&recommendation.text))),
        None => writeln!(text, "  no run is recommended: no evaluator has scores in all of them"),
    }
}

/// The table of runs, split into several if it is too wide.
fn write_runs(text: &mut String, ranking: &Ranking, noun: &str, paint: Style) -> fmt::Result {
    let has_front = ranking.runs.iter().any(|run| run.is_on_pareto_front);
    let labels: Vec<_> = ranking
        .runs
        .iter()
        .map(|run| {
            let mark = if run.is_on_pareto_front { "* " } else { "  " };
            format!("{mark}{}", shorten(&run.label))
        })
        .collect();
    let mut first = vec![format!("  {noun}")];
    first.extend(labels);
    let indent = width(&first);
    let columns: Vec<Vec<_>> = RankingColumn::of(ranking)
        .into_iter()
        .map(|column| [shorten(&column.title)].into_iter().chain(column.cells).collect())
        .collect();
    let mut rest = &columns[..];
    loop {
        let mut used = indent;
        let fits = |column: &&Vec<String>| {
            used += GAP + width(column);
            used <= WIDTH
        };
        let mut fitting = rest.iter().take_while(fits).count();
        // A rank stays with its score.
        if rest.get(fitting).is_some_and(|next| next[0] == "rank") {
            fitting = fitting.saturating_sub(1);
        }
        let (now, later) = rest.split_at(fitting.max(1).min(rest.len()));
        write_table(text, &first, now, paint)?;
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    if has_front {
        writeln!(text, "  {}", paint.faint("* on the Pareto front of mean score and agent cost"))?;
    }
    Ok(())
}

/// A table whose first column is left-aligned; the others are right-aligned.
fn write_table(text: &mut String, first: &[String], columns: &[Vec<String>], paint: Style) -> fmt::Result {
    let indent = width(first);
    for (row, label) in first.iter().enumerate() {
        let mut line = format!("{label:indent$}");
        for column in columns {
            write!(line, "{:GAP$}{:>2$}", "", column[row], width(column))?;
        }
        let line = line.trim_end();
        if row == 0 { writeln!(text, "{}", paint.faint(line))? } else { writeln!(text, "{line}")? }
    }
    Ok(())
}

fn write_differences(text: &mut String, ranking: &Ranking, paint: Style) -> fmt::Result {
    let real = RealDifference::all(ranking);
    if real.is_empty() {
        return writeln!(text, "  {NO_REAL_DIFFERENCE}");
    }
    let shown = &real[..real.len().min(MOST_DIFFERENCES)];
    let names: Vec<_> = shown.iter().map(|it| shorten(it.name)).collect();
    let pairs: Vec<_> =
        shown.iter().map(|it| format!("{} better than {}", shorten(it.better), shorten(it.worse))).collect();
    let changes: Vec<_> = shown.iter().map(|it| it.figures.difference.clone()).collect();
    writeln!(text, "  {}", paint.faint("differences beyond noise (means per item)"))?;
    for (row, difference) in shown.iter().enumerate() {
        write!(text, "  {:1$}", names[row], width(&names))?;
        write!(text, "{:GAP$}{:2$}", "", pairs[row], width(&pairs))?;
        write!(text, "{:GAP$}{:>2$}", "", changes[row], width(&changes))?;
        writeln!(text, "{}", evidence(&difference.figures))?;
    }
    if real.len() > shown.len() {
        writeln!(text, "  and {} more", real.len() - shown.len())?;
    }
    writeln!(text, "  {}", paint.faint(RANKING_CORRECTION))
}

/// The interval and the p-value of a difference, in parentheses.
fn evidence(figures: &FormattedDifference) -> String {
    let p =
        figures.p.as_ref().map(|p| if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") });
    let interval = figures.ci95.as_ref().map(|interval| format!("95% CI {interval}"));
    let parts: Vec<_> = interval.into_iter().chain(p).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn shorten(name: &str) -> String {
    truncate(&escape_control(name), LONGEST_NAME).replace(['\n', '\t'], " ")
}

fn width(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn run(label: &str, scores: &[(&str, f64)], amounts: Value) -> Value {
        let scores: Vec<_> = scores
            .iter()
            .map(|(evaluator, mean)| {
                json!({ "evaluator": evaluator, "mean": mean, "ci95": { "low": mean - 0.05, "high": mean + 0.05 },
                    "rank": { "best": 1, "worst": 2 } })
            })
            .collect();
        let mut run = json!({
            "label": label, "run": { "id": label, "name": format!("desk::{label}"), "timestamp": "2026-02-05T14:30:00.000Z",
                "items": 200, "runs": 1 },
            "verdict": "passed", "items": 200, "passedItems": 173, "failedItems": 0, "scores": scores, "isOnParetoFront": false,
        });
        let Value::Object(amounts) = amounts else { unreachable!() };
        run.as_object_mut().unwrap().extend(amounts);
        run
    }

    fn pair(base: usize, other: usize, name: &str, change: f64, verdict: &str) -> Value {
        let quantity = if name == "latency" { "latency" } else { "score" };
        json!({ "base": base, "other": other, "difference": {
            "name": name, "quantity": quantity, "base": 0.9, "other": 0.9 + change, "difference": change,
            "ci95": { "low": change - 0.04, "high": change + 0.04 }, "pValue": 0.0002, "pAdjusted": 0.003, "test": "mcnemar",
            "smallestDetectable": 0.06, "verdict": verdict, "settledBy": null, "items": 200, "clusters": 200, "better": 1,
            "worse": 20, "equal": 179, "unmeasured": 0,
        } })
    }

    fn four_variants() -> Ranking {
        let scores = |right, polite| [("right", right), ("polite", polite)];
        let amounts = |latency: f64, cost: f64, front: bool| json!({ "latencyMs": latency, "costPer1000": cost, "tokensPerItem": 1210.4, "isOnParetoFront": front });
        serde_json::from_value(json!({
            "experiment": "desk", "group": "0123456789ab",
            "runs": [
                run("mini", &scores(0.9, 0.95), amounts(812.0, 0.42, true)),
                run("large", &scores(0.91, 0.95), amounts(1900.0, 12.5, true)),
                run("large-terse", &scores(0.89, 0.7), amounts(1500.0, 9.0, false)),
                run("nano", &scores(0.7, 0.94), amounts(300.0, 0.5, false)),
            ],
            "pairs": [
                pair(0, 1, "right", 0.01, "within-noise"),
                pair(0, 1, "latency", 1088.0, "worse"),
                pair(0, 2, "polite", -0.25, "worse"),
                pair(1, 3, "right", -0.21, "worse"),
            ],
            "recommendation": { "best": 1, "cheapest": 0, "text": "`mini` is the cheapest that is not worse than `large`" },
            "notes": ["the runs have different datasets"],
        }))
        .unwrap()
    }

    #[test]
    fn four_variants_with_two_scores_fit_a_terminal() {
        let text = render_ranking(&four_variants(), Style::Plain);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let expected = [
            "desk: 4 variants",
            "  variant                  right  rank             polite  rank  at pass marks  latency",
            "* mini         0.900 (0.85–0.95)   1–2  0.950 (0.90–1.00)   1–2          86.5%   812 ms",
            "* large        0.910 (0.86–0.96)   1–2  0.950 (0.90–1.00)   1–2          86.5%    1.9 s",
            "  large-terse  0.890 (0.84–0.94)   1–2  0.700 (0.65–0.75)   1–2          86.5%    1.5 s",
            "  nano         0.700 (0.65–0.75)   1–2  0.940 (0.89–0.99)   1–2          86.5%   300 ms",
            "  variant      agent cost/1,000  tokens",
            "* mini                    $0.42   1,210",
            "* large                  $12.50   1,210",
            "  large-terse             $9.00   1,210",
            "  nano                    $0.50   1,210",
            "  * on the Pareto front of mean score and agent cost",
            "  differences beyond noise (means per item)",
            "  right    large better than nano         +0.210 (95% CI +0.170 to +0.250, p = 0.003)",
            "  polite   mini better than large-terse   +0.250 (95% CI +0.210 to +0.290, p = 0.003)",
            "  latency  mini better than large        -1.09 s (95% CI -1.09 to -1.09 s, p = 0.003)",
            "  p-values are Holm-corrected over all pairs of runs, separately for scores and metrics",
            "  note: the runs have different datasets",
            "  `mini` is the cheapest that is not worse than `large`",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below_and_unknown_ones_are_left_out() {
        let scores = [("relevant-to-the-question", 0.5), ("grounded-in-the-documents", 0.6), ("polite", 0.7)];
        let runs = [run("a", &scores, json!({})), run("b\u{1b}[31m", &scores[..1], json!({}))];
        let ranking: Ranking = serde_json::from_value(json!({ "runs": runs, "pairs": [] })).unwrap();
        let text = render_ranking(&ranking, Style::Plain);
        let expected = [
            "ranking: 2 runs",
            "  run          relevant-to-the-question  rank  grounded-in-the-documents  rank",
            "  a                   0.500 (0.45–0.55)   1–2          0.600 (0.55–0.65)   1–2",
            "  b\\u{1b}[31m         0.500 (0.45–0.55)   1–2",
            "  run                     polite  rank  at pass marks",
            "  a            0.700 (0.65–0.75)   1–2          86.5%",
            "  b\\u{1b}[31m                                   86.5%",
            "  no two runs differ beyond noise",
            "  no run is recommended: no evaluator has scores in all of them",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn preferences_are_listed_strongest_first() {
        let mut ranking = four_variants();
        ranking.preferences = vec![Preference {
            evaluator: "preferred".to_owned(),
            strengths: vec![-0.5, 1.0, -0.25, -0.25],
            ci95: [-0.5, 1.0, -0.25, -0.25].map(|at| Interval { low: at - 0.25, high: at + 0.25 }).to_vec(),
            other_answers: 0.0,
            other_answers_ci95: Interval { low: -0.25, high: 0.25 },
            first_position: Some(0.125),
            comparisons: 1200,
        }];
        let text = render_ranking(&ranking, Style::Plain);
        let line = "  preferred (log strengths, 95% CI): large +1.00 (0.75 to 1.25), the other answers +0.00 (-0.25 to 0.25), large-terse -0.25 (-0.50 to 0.00), nano -0.25 (-0.50 to 0.00), \
             mini -0.50 (-0.75 to -0.25); first position +0.12; 1,200 comparisons";
        assert!(text.lines().any(|it| it == line), "{text}");
    }
}
