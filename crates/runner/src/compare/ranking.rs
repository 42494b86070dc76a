//! Several runs side by side: the recommendation, a table of the runs, and the differences beyond noise.

use std::fmt::Write as _;

use cobalt_core::report::ranking::{RankedRun, Ranking, Recommendation};
use cobalt_core::reporters::{
    NO_REAL_DIFFERENCE, RANKING_CORRECTION, RankingColumn, RealDifference, format_preference,
};
use cobalt_core::wording::count;

use crate::markdown::{code, escape_cell, sentence};
use crate::terminal::one_line;

/// The maximum number of differences to list.
const MAX_DIFFERENCES: usize = 20;

/// The ranking as a section.
pub fn ranking_section(ranking: &Ranking) -> String {
    let noun = if ranking.group.is_some() { "variant" } else { "run" };
    let compared = format!("{} compared", count(ranking.runs.len(), noun));
    let mut text = match &ranking.experiment {
        Some(experiment) => format!("\n### {}: {compared}\n", code(experiment)),
        None => format!("\n### {compared}\n"),
    };
    if let Some(recommendation) = &ranking.recommendation {
        let _ = writeln!(text, "\n**{}.**", recommended(ranking, recommendation));
    }
    text += &runs(ranking, noun);
    text += &differences(ranking);
    for preference in &ranking.preferences {
        let _ = writeln!(text, "\n{}.", format_preference(ranking, preference, code));
    }
    for note in &ranking.notes {
        let _ = writeln!(text, "\n> {}", sentence(note));
    }
    text
}

/// The sentence, as code if a label with a backtick could leave its code span.
fn recommended(ranking: &Ranking, Recommendation { text, .. }: &Recommendation) -> String {
    let is_safe = ranking.runs.iter().all(|run| !run.label.contains('`'));
    if is_safe { one_line(text) } else { code(text) }
}

fn runs(ranking: &Ranking, noun: &str) -> String {
    let columns = RankingColumn::of(ranking);
    let titles: Vec<_> = columns.iter().map(|column| escape_cell(&title(column))).collect();
    let mut text = format!("\n| {noun} | {} |\n|---|{}\n", titles.join(" | "), "--:|".repeat(columns.len()));
    for (place, run) in ranking.runs.iter().enumerate() {
        let cells: Vec<_> = columns.iter().map(|column| &*column.cells[place]).collect();
        let _ = writeln!(text, "| {} | {} |", escape_cell(&label(run)), cells.join(" | "));
    }
    if ranking.runs.iter().any(|run| run.is_on_pareto_front) {
        text += "\n⭐ on the Pareto front of mean score and agent cost\n";
    }
    text
}

/// A column's title: the name of an evaluator is code.
fn title(column: &RankingColumn) -> String {
    if column.is_score { code(&column.title) } else { column.title.clone() }
}

fn label(run: &RankedRun) -> String {
    let mark = if run.is_on_pareto_front { " ⭐" } else { "" };
    format!("{}{mark}", code(&run.label))
}

fn differences(ranking: &Ranking) -> String {
    let real = RealDifference::all(ranking);
    if real.is_empty() {
        return format!("\nDifferences: {NO_REAL_DIFFERENCE}.\n");
    }
    let mut text =
        "\n| beyond noise (per item) | better | worse | change | 95% CI | p |\n|---|---|---|--:|--:|--:|\n"
            .to_owned();
    for RealDifference { name, better, worse, figures } in real.iter().take(MAX_DIFFERENCES) {
        let [name, better, worse] = [name, better, worse].map(|name| escape_cell(&code(name)));
        let [interval, p] = [&figures.ci95, &figures.p].map(|cell| cell.as_deref().unwrap_or_default());
        let _ = writeln!(text, "| {name} | {better} | {worse} | {} | {interval} | {p} |", figures.difference);
    }
    if real.len() > MAX_DIFFERENCES {
        let _ = writeln!(text, "\nand {} more.", real.len() - MAX_DIFFERENCES);
    }
    text + &format!("\n{RANKING_CORRECTION}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::fixtures::ranking;

    #[test]
    fn the_section_has_the_answer_the_runs_and_what_differs() {
        insta::assert_snapshot!(ranking_section(&ranking(&["mini", "large"])), @r"

        ### `desk`: 2 variants compared

        **`large` is best: every other is worse beyond noise; mean score 0.875, agent cost $12.50 per 1,000 items.**

        | variant | `right` | rank | at pass marks | latency | agent cost/1,000 | tokens |
        |---|--:|--:|--:|--:|--:|--:|
        | `mini` ⭐ | 0.750 (0.70–0.80) | 2 | 75% | 812 ms | $0.42 | 1,210 |
        | `large` ⭐ | 0.875 (0.82–0.93) | 1 | 75% | 812 ms | $12.50 | 1,210 |

        ⭐ on the Pareto front of mean score and agent cost

        | beyond noise (per item) | better | worse | change | 95% CI | p |
        |---|---|---|--:|--:|--:|
        | `right` | `large` | `mini` | +0.125 | +0.062 to +0.188 | 0.002 |

        p-values are Holm-corrected over all pairs of runs, separately for scores and metrics.
        ");
    }

    #[test]
    fn no_label_leaves_its_code_span() {
        let text = ranking_section(&ranking(&["b|c", "a`@you"]));
        let has = |line: &str| assert!(text.lines().any(|it| it == line), "{line}: {text}");
        has(
            "**`` `a`@you` is best: every other is worse beyond noise; mean score 0.875, agent cost $12.50 per 1,000 items ``.**",
        );
        has("| `b\\|c` ⭐ | 0.750 (0.70–0.80) | 2 | 75% | 812 ms | $0.42 | 1,210 |");
        has("| `right` | ``a`@you`` | `b\\|c` | +0.125 | +0.062 to +0.188 | 0.002 |");
    }

    #[test]
    fn runs_that_do_not_differ_are_said_to_be_within_noise() {
        let notes = vec!["the runs are of different experiments: `a` and `b`".to_owned()];
        let ranking =
            Ranking { experiment: None, group: None, notes, pairs: Vec::new(), ..ranking(&["a", "b"]) };
        let text = ranking_section(&ranking);
        assert!(text.starts_with("\n### 2 runs compared\n"), "{text}");
        let end = "\nDifferences: no two runs differ beyond noise.\n\n> the runs are of different experiments: `a` and `b`\n";
        assert!(text.ends_with(end), "{text}");
    }
}
