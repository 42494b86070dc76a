//! The page of a run: written by the reporter `html`, and opened by `--ui`.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::project::{Project, Said};

/// A browser that keeps the address which it is asked for.
fn browser(project: &Project) -> String {
    project.write("browser", "#!/bin/sh\nprintf %s \"$1\" > \"$(dirname \"$0\")/part\"\nmv \"$(dirname \"$0\")/part\" \"$(dirname \"$0\")/address\"\n");
    let path = project.path("browser");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    path.display().to_string()
}

/// The address that the browser was asked for. It runs beside the command, and may be later.
fn asked_for(project: &Project) -> String {
    let begin = Instant::now();
    while !project.path("address").exists() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    project.read("address")
}

#[test]
fn a_page_of_the_run_is_written_where_it_is_asked_for() {
    let project = Project::steered();
    project.answers(&[("paris", "</script><b>Paris"), ("rome", "Rome")]);
    project
        .cobalt(&["run", "--reporter", "cli", "--reporter", "html=out/page.html"], 0)
        .says("strict: FAILED");
    let page = project.read("out/page.html");
    assert!(page.contains("<title>2 experiments failed</title>"), "{page}");
    assert!(page.contains("\\u003c/script>\\u003cb>Paris") && !page.contains("<b>Paris"));
    assert!(page.contains("right.pass_rate&gt;=0.5") && page.contains("tests/evals.rs:"));

    project.target("unbuildable");
    project.write("tests/unbuildable.rs", "fn main() { nothing_of_this_name() }\n");
    project.cobalt(&["run", "--reporter", "html=out/page.html"], 3);
    assert!(
        !project.path("out/page.html").exists(),
        "no page of an earlier run stands for one that was not made"
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

#[test]
#[cfg(unix)]
fn the_page_is_opened_in_the_browser_that_the_user_names() {
    let project = Project::steered();
    let mut command = project.command(&["run", "--ui", "--filter", "strict"]);
    Said::by(command.env("BROWSER", browser(&project)), 0).tells("opened ").tells("report.html");
    let address = asked_for(&project);
    let path = address.strip_prefix("file://").unwrap();
    assert_eq!(
        Path::new(path).canonicalize().unwrap(),
        project.path(".cobalt/reports/report.html").canonicalize().unwrap()
    );
    assert!(std::fs::read_to_string(path).unwrap().contains("<title>strict passed</title>"));
}

#[test]
#[cfg(unix)]
fn the_page_that_a_reporter_writes_is_the_one_that_is_opened() {
    let project = Project::steered();
    let mut command =
        project.command(&["run", "--ui", "--reporter", "html=a page.html", "--filter", "strict"]);
    Said::by(command.env("BROWSER", browser(&project)), 0);
    assert!(asked_for(&project).ends_with("/a%20page.html"));
    assert!(!project.path(".cobalt/reports/report.html").exists());
}

#[test]
fn no_browser_is_opened_in_ci_and_none_fails_the_run() {
    let project = Project::steered();
    let run = ["run", "--ui", "--filter", "strict"];
    for (arguments, variable) in [(&["--ci"][..], "no"), (&[], "CI")] {
        let mut command = project.command(&[&run, arguments].concat());
        let command = command.env("BROWSER", browser(&project)).env(variable, "true");
        Said::by(command, 0).tells("the page of the run is not opened in CI: ").tells("report.html");
    }
    assert!(!project.path("address").exists());
    let mut command = project.command(&run);
    Said::by(command.env("BROWSER", "/there/is/no/browser"), 0)
        .tells("warning: no browser could be opened: ")
        .tells("name a browser in BROWSER");
}
