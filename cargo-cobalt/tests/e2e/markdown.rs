//! Markdown reports: the file of the reporter `markdown`, and the pull request comment.

use crate::project::Project;
use crate::snapshot::assert_text;

#[test]
fn a_report_has_the_verdicts_the_scores_and_the_items_to_look_at() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "a | <b>@you</b> `x`"), ("oslo", "error")]);
    project.cobalt(&["run", "--test", "evals", "--reporter", "markdown=out/report.md"], 0);
    let report = project.read("out/report.md");
    assert_text!(report);
    let foreign = report.lines().find(|line| line.contains("@you")).unwrap();
    assert!(foreign.starts_with("  output: \""), "agent output must be in a code block: {foreign}");
}

#[test]
fn a_report_tells_of_what_was_not_run_to_its_end() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "exit")]);
    let arguments = ["run", "--test", "evals", "--filter", "strict", "--reporter", "markdown=report.md"];
    project.cobalt(&arguments, 3);
    let report = project.read("report.md");
    assert_text!(report);
    project.write("data/items.jsonl", "{");
    project.cobalt(&arguments, 3);
    let report = project.read("report.md");
    assert_text!(report);
}

#[test]
fn the_comment_names_what_became_worse_since_the_baseline() {
    let project = Project::steered();
    let items: Vec<_> = (0..30).map(|index| format!("item{index:02}")).collect();
    let answer = |wrong: usize| {
        let right = |name: &String| format!("I{}", &name[1..]);
        let says: Vec<_> = items
            .iter()
            .enumerate()
            .map(|(at, name)| if at < wrong { "@you".into() } else { right(name) })
            .collect();
        let pairs: Vec<_> = items.iter().map(String::as_str).zip(says.iter().map(String::as_str)).collect();
        project.answers(&pairs);
    };
    let run = [
        &["run", "--filter", "gated", "--test", "evals"][..],
        &["--reporter", "pr-comment=comment.md", "--reporter", "markdown=report.md"],
    ]
    .concat();
    answer(0);
    project.cobalt(&run, 0);
    assert_text!(project.read("comment.md"));
    project.cobalt(&["baseline", "set"], 0);
    answer(12);
    project.cobalt(&run, 0);
    let comment = project.read("comment.md");
    assert!(comment.contains("**worse in `right`"), "{comment}");
    assert_text!(comment);
    let report = project.read("report.md");
    assert_text!(report);
    assert!(!comment.contains("item12") && !comment.contains("@you"), "{comment}");
}
