//! The HTML report of the reporter `html`.

use crate::project::Project;

#[test]
fn a_page_of_the_run_is_written_where_it_is_asked_for() {
    let project = Project::steered();
    project.answers(&[("paris", "</script><b>Paris"), ("rome", "Rome")]);
    project
        .cobalt(&["run", "--reporter", "cli", "--reporter", "html=out/page.html"], 0)
        .stdout_has("strict: FAILED");
    let page = project.read("out/page.html");
    assert!(page.contains("<title>2 experiments failed</title>"), "{page}");
    assert!(page.contains("\\u003c/script>\\u003cb>Paris") && !page.contains("<b>Paris"));
    assert!(page.contains("right.pass_rate&gt;=0.5") && page.contains("tests/evals.rs:"));

    project.target("unbuildable");
    project.write("tests/unbuildable.rs", "fn main() { nothing_of_this_name() }\n");
    project.cobalt(&["run", "--reporter", "html=out/page.html"], 3);
    assert!(
        !project.path("out/page.html").exists(),
        "the page of an earlier run is removed if no new one is written"
    );
}

#[test]
fn an_experiment_that_cannot_be_run_is_on_the_page() {
    let project = Project::steered();
    project.write("data/items.jsonl", "{\n");
    project.cobalt(&["run", "--reporter", "html"], 3);
    let page = project.read(".cobalt/reports/report.html");
    assert!(page.contains("could not be run") && page.contains("items.jsonl"), "{page}");
}
