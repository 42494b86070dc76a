//! The comment on a pull request: results and regressions, without agent outputs.

use std::fmt::Write as _;

use cobalt_core::report::comparison::{Comparison, ThresholdStatus};
use cobalt_core::wording::{count, truncate};

use super::markdown::{
    items_at_pass_marks, overview, problems, regressions, run_identity, summary_errors, usage, verdict,
};
use super::{NotableItems, Severity};
use crate::compare::markdown as comparison;
use crate::compare::ranking_section;
use crate::markdown::code;
use crate::results::{FinishedExperiment, Results};

/// An invisible line that identifies the comment when it has to be updated.
pub const MARKER: &str = "<!-- cobalt -->\n";
/// GitHub's limit for a comment, in characters. We count bytes, which are at least as many.
const MAX_BYTES: usize = 65_536;
/// The note at the end of a truncated comment.
const TRUNCATION_NOTE: &str = "\n> Truncated: the rest exceeds the size limit of a comment.\n";
/// The maximum number of failed items to list.
const MAX_ITEMS: usize = 10;
/// The maximum length of an item's name or error, in characters.
const MAX_TEXT_LEN: usize = 120;

/// The comment.
pub fn pr_comment(results: &Results) -> String {
    let experiments = results.failed_first().map(experiment);
    let rankings = results.rankings.iter().map(ranking_section);
    let sections: Vec<_> =
        [overview(results), problems(results)].into_iter().chain(rankings).chain(experiments).collect();
    let room = MAX_BYTES - MARKER.len();
    format!("{MARKER}{}", fit_sections(&sections, room, TRUNCATION_NOTE))
}

fn experiment(finished: &FinishedExperiment) -> String {
    let report = &finished.report;
    let mut text = format!("\n### {}: {}\n\n{}\n", code(&report.name), verdict(report), run_identity(report));
    for threshold in report.thresholds().iter().filter(|threshold| threshold.finding != ThresholdStatus::Met)
    {
        let sign = if threshold.passed { "⚠️" } else { "❌" };
        let _ = writeln!(text, "\n- {sign} {}", code(&threshold.message));
    }
    text += &summary_errors(&report.summary);
    text += &failed_items(finished);
    if let Some(reason) = &finished.without_items {
        let _ = writeln!(text, "\n> Item results are unavailable: {}", code(reason));
    }
    if let Some(note) = finished.left_out_note() {
        let _ = writeln!(text, "\n{note}.");
    }
    match &report.baseline {
        Some(against) => text += &baseline_changes(against),
        None => text += "\nNo baseline to compare with.\n",
    }
    format!("{text}\n{}{}", items_at_pass_marks(report), usage(report))
}

/// All metrics of baseline and candidate, and the regressions.
fn baseline_changes(against: &Comparison) -> String {
    let base = &against.base;
    let mut text = format!(
        "\nChange vs. baseline {} ({} UTC), {} in common: **{}**\n",
        code(&base.id),
        base.timestamp.to_minute(),
        count(against.items.matched, "item"),
        comparison::headline(against)
    );
    text += &comparison::table("mean per item", against.evaluators.iter().chain(&against.amounts));
    for note in &against.notes {
        let _ = writeln!(text, "\n> {}", code(note));
    }
    text + &regressions(against)
}

/// The items in error, the failed items and, if a threshold did not pass, the items below a pass mark.
fn failed_items(finished: &FinishedExperiment) -> String {
    let explains = finished.report.thresholds().iter().any(|threshold| !threshold.passed);
    let mut failed = NotableItems::of(finished);
    failed.retain(|severity| explains || severity != Severity::BelowPassMark);
    if failed.shown.is_empty() {
        return String::new();
    }
    let mut text = format!("\n<details open><summary>{}</summary>\n\n", failed.describe_counts());
    for item in failed.shown.iter().take(MAX_ITEMS) {
        let reason = item.reason(code, |error| code(&truncate(error, MAX_TEXT_LEN)));
        let _ = writeln!(text, "- {}: {reason}", code(&truncate(item.name, MAX_TEXT_LEN)));
    }
    let more = failed.more_than(MAX_ITEMS);
    if more > 0 {
        let _ = writeln!(text, "- and {}", count(more, "more item"));
    }
    text + "\n</details>\n"
}

/// As many sections as fit into `room` bytes, followed by `note` if any are left out. Empty if not even the note fits.
pub fn fit_sections(sections: &[String], room: usize, note: &str) -> String {
    let all: usize = sections.iter().map(String::len).sum();
    if all <= room {
        return sections.concat();
    }
    let Some(room) = room.checked_sub(note.len()) else { return String::new() };
    let mut taken = 0;
    let fits = |section: &&String| {
        taken += section.len();
        taken <= room
    };
    sections.iter().take_while(fits).map(String::as_str).chain([note]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::fixtures::{large_in_both_forms, ranking, report, results};

    /// The comment on a run with one item below its pass mark and one threshold that passed or not.
    fn comment(passed: bool) -> String {
        let threshold = json!({
            "name": "right.min>=0.4", "passed": passed, "message": "right.min is 0.3",
            "finding": if passed { "met" } else { "missed" },
        });
        let report = json!({
            "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": passed,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["right"], "passMarks": [0.5] },
            "summary": { "totalItems": 1 },
            "ciStatus": { "passed": passed, "violations": [], "thresholds": [threshold], "summary": "" },
            "items": [{
                "index": 0, "key": "refund", "input": { "id": "refund" }, "output": { "output": "" }, "latencyMs": 1,
                "passed": true, "evaluations": { "right": { "score": 0.3 } },
            }],
        });
        let report = serde_json::from_value(report).unwrap();
        pr_comment(&Results::of(vec![FinishedExperiment::of_report(report, None)]))
    }

    #[test]
    fn items_with_low_scores_are_named_where_a_threshold_was_missed() {
        let missed = comment(false);
        assert!(missed.contains("- `refund`: below pass mark in `right` 0.3\n"), "{missed}");
        assert!(!comment(true).contains("refund"));
    }

    #[test]
    fn a_comment_on_a_large_run_counts_all_its_items() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, parts] =
            large_in_both_forms(folder.path()).map(|finished| pr_comment(&Results::of(vec![finished])));
        let note = parts.lines().find(|line| line.starts_with("1,000 of 2,500 items are shown")).unwrap();
        assert_eq!(parts.replace(&format!("\n{note}\n"), ""), whole);
        assert!(whole.contains("<summary>250 items in error</summary>"), "{whole}");
        assert!(whole.contains("- and 240 more items\n"), "{whole}");
    }

    #[test]
    fn rankings_come_before_the_experiments() {
        let results = Results { rankings: vec![ranking(&["mini", "large"])], ..results(vec![report(&[])]) };
        let text = pr_comment(&results);
        let place = |heading| text.find(heading).unwrap_or_else(|| panic!("{heading}: {text}"));
        assert!(place("### `desk`: 2 variants compared") < place("### `desk`: ✅"), "{text}");
    }

    #[test]
    fn sections_that_have_no_room_are_left_out_whole_and_that_is_said() {
        let sections = ["# desk\n".to_owned(), "a".repeat(100), "b".repeat(100)];
        assert_eq!(fit_sections(&sections, 207, "…"), sections.concat());
        assert_eq!(fit_sections(&sections, 206, "more"), format!("# desk\n{}more", sections[1]));
        assert_eq!(fit_sections(&sections, 110, "more"), "# desk\nmore");
        assert_eq!(fit_sections(&sections, 3, "more"), "");
    }
}
