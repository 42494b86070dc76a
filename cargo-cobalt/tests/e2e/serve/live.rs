//! Live runs: running, interrupted, resumed, finished and partial.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::events::Events;
use super::server::Server;
use crate::project::Project;

/// A project with three items; the agent blocks on one of them.
fn waiting() -> Project {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "wait"), ("oslo", "error")]);
    project
}

fn start(project: &Project, arguments: &[&str]) -> Child {
    let mut command = project.command(&[&["run", "--filter", "strict"], arguments].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills the test binary started by a command and waits for the command.
fn kill(mut command: Child) {
    let kill = format!("kill -KILL $(ps -o pid= --ppid {})", command.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    command.wait().unwrap();
}

/// Whether the first unfinished run is in this state and has this many finished items.
fn is_live(happening: &Value, state: &str, finished: usize) -> bool {
    let run = &happening["runs"][0];
    happening["type"] == "live" && run["state"] == state && run["finishedItems"] == finished
}

fn items(happened: &[Value]) -> Vec<&Value> {
    happened.iter().filter(|it| it["type"] == "item").collect()
}

/// Waits until two of the three items are finished.
#[track_caller]
fn two_items(events: &mut Events) -> Vec<Value> {
    let mut happened = events.until(|it| it["type"] == "item");
    if items(&happened).len() < 2 {
        happened.extend(events.until(|it| it["type"] == "item"));
    }
    happened
}

#[test]
fn a_run_is_followed_from_its_start_over_a_kill_to_its_end() {
    let project = waiting();
    let mut server = Server::by(project.command(&["serve", "--no-open", "--port", "0"]));
    let mut events = Events::of(&server);
    assert_eq!(
        events.next(),
        Some(json!({ "type": "live", "runs": [] })),
        "the first event is the full state"
    );

    let run = start(&project, &[]);
    let happened = two_items(&mut events);
    assert_eq!(happened[0]["type"], "live", "{happened:?}");
    let told = items(&happened);
    let paris = told.iter().find(|item| item["key"] == "paris").unwrap();
    assert_eq!((&paris["passed"], &paris["scores"]), (&json!(true), &json!({ "right": 1.0 })));
    assert!(told.iter().any(|item| item["key"] == "oslo" && item["status"] == "error"), "{told:?}");

    let runs = server.json("/api/runs");
    let live = &runs["live"][0];
    assert_eq!(
        (&runs["runs"], &live["state"], &live["name"]),
        (&json!([]), &json!("running"), &json!("strict"))
    );
    let counts =
        ["totalItems", "finishedItems", "passedItems", "errorItems"].map(|field| live[field].as_u64());
    assert_eq!(counts, [Some(3), Some(2), Some(1), Some(1)]);
    assert_eq!((&live["avgScores"], &live["partial"]), (&json!({ "right": 1.0 }), &json!(false)));
    let id = live["id"].as_str().unwrap();
    unfinished(&server, id, "running");

    kill(run);
    events.until(|it| is_live(it, "cut-off", 2));
    assert_eq!(server.json("/api/runs")["live"][0]["state"], "cut-off");
    unfinished(&server, id, "cut-off");

    project.write("go-on", "");
    assert!(start(&project, &["--resume", id]).wait().unwrap().success());
    let happened = events.until(|it| it["type"] == "results");
    let is_over = |it: &Value| it["type"] == "live" && it["runs"] == json!([]);
    assert!(happened.iter().any(is_over), "{happened:?}");
    let runs = server.json("/api/runs");
    assert_eq!((&runs["live"], &runs["runs"][0]["verdict"]), (&json!([]), &json!("error")));
    let overview = server.json(&format!("/api/runs/{id}/overview"));
    assert_eq!((&overview["state"], &overview["finishedItems"]), (&json!("finished"), &json!(3)));
    server.interrupt();
    while events.next().is_some() {}
}

/// Checks the API responses about an unfinished run.
#[track_caller]
fn unfinished(server: &Server, id: &str, state: &str) {
    let overview = server.json(&format!("/api/runs/{id}/overview"));
    assert_eq!(overview["state"], state);
    assert_eq!((&overview["finishedItems"], &overview["plannedItems"]), (&json!(2), &json!(3)));
    let run = &overview["run"];
    assert_eq!(
        (&run["name"], &run["tags"], &run["items"]),
        (&json!("strict"), &json!(["capitals"]), &json!([]))
    );
    assert_eq!((&run["summary"]["failedItems"], &run["ciStatus"]), (&json!(1), &Value::Null));
    let items = server.json(&format!("/api/runs/{id}/items"));
    let keys: Vec<_> = items["items"].as_array().unwrap().iter().map(|item| item["key"].as_str()).collect();
    assert_eq!((keys, &items["total"]), (vec![Some("paris"), Some("oslo")], &json!(2)));
    let item = server.json(&format!("/api/runs/{id}/items/paris?state=passed"));
    assert_eq!((&item["item"]["output"]["output"], &item["position"]), (&json!("Paris"), &json!(0)));
    let whole = server.json(&format!("/api/runs/{id}"));
    assert_eq!(whole["run"]["items"][1]["error"], "the agent broke");
}

#[test]
fn a_run_of_some_items_is_listed_as_partial_and_can_be_opened() {
    let project = Project::steered();
    project.cobalt(&["run", "--filter", "strict"], 0);
    project.cobalt(&["run", "--filter", "strict", "--", "strict::paris"], 0);
    let server = Server::by(project.command(&["serve", "--no-open", "--port", "0"]));
    assert!(server.said().contains(", 2 runs); press Ctrl-C to stop"), "{}", server.said());
    let runs = server.json("/api/runs");
    let verdicts: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| &run["verdict"]).collect();
    assert_eq!(verdicts, ["partial", "passed"], "newest first");
    let partial = &runs["runs"][0];
    assert_eq!((&partial["status"], &partial["totalItems"]), (&json!("passed"), &json!(1)));
    let only = server.json("/api/runs?verdict=partial");
    assert_eq!(
        (&only["matching"], &only["known"], &only["runs"][0]["id"]),
        (&json!(1), &json!(2), &partial["id"])
    );
    let only = server.json("/api/runs?verdict=passed&recent=5");
    assert_eq!(
        (&only["matching"], &only["runs"][0]["recentScores"]),
        (&json!(1), &json!({ "right": [1.0] }))
    );
    let overview = server.json(&format!("/api/runs/{}/overview", partial["id"].as_str().unwrap()));
    assert_eq!((&overview["run"]["partial"], &overview["plannedItems"]), (&json!(true), &json!(1)));
    let trends = server.json("/api/trends?experiment=strict");
    assert_eq!(trends["trends"].as_array().unwrap().len(), 1, "partial runs are not in trends");
}

#[test]
fn a_partial_run_of_a_gated_experiment_is_listed_as_not_evaluated() {
    let project = Project::steered();
    project.answers(&[("paris", "Rome"), ("rome", "Rome")]);
    project.cobalt(&["run", "--filter", "gated", "--", "gated::paris"], 0);
    let server = Server::by(project.command(&["serve", "--no-open", "--port", "0"]));
    let run = server.json("/api/runs")["runs"][0].clone();
    assert_eq!((&run["verdict"], &run["status"]), (&json!("partial"), &json!("notEvaluated")));
    assert_eq!((&run["passedItems"], &run["lowItems"]), (&json!(0), &json!(1)));
    let overview = server.json(&format!("/api/runs/{}/overview", run["id"].as_str().unwrap()));
    assert_eq!(
        (&overview["run"]["verdict"], &overview["run"]["passed"]),
        (&json!("notEvaluated"), &json!(false))
    );
    assert_eq!((&overview["states"]["passed"], &overview["states"]["failing"]), (&json!(0), &json!(1)));
}

#[test]
fn a_server_with_listeners_ends_at_once() {
    let project = Project::empty();
    let mut server = Server::by(project.command(&["serve", "--no-open", "--port", "0"]));
    let (mut one, mut other) = (Events::of(&server), Events::of(&server));
    assert!(one.next().is_some() && other.next().is_some());
    let start = std::time::Instant::now();
    server.interrupt();
    assert!(start.elapsed().as_secs() < 5);
    assert_eq!((one.next(), other.next()), (None, None));
}
