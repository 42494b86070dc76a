//! Jobs: runs that are started over the API.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::events::Events;
use super::server::Server;
use crate::project::Project;

/// The longest time that a job may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// A project with three items; the agent blocks on one of them.
fn waiting() -> (Project, Server) {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "wait"), ("oslo", "error")]);
    let server = Server::by(project.command(&["serve", "--no-open", "--port", "0"]));
    (project, server)
}

/// Waits until a job matches, and returns it with its output.
#[track_caller]
fn until(server: &Server, job: &Value, matches: impl Fn(&Value) -> bool) -> (Value, String) {
    let begin = Instant::now();
    loop {
        let answer = server.json(&format!("/api/jobs/{}", job["id"].as_str().unwrap()));
        let output: Vec<_> = answer["output"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        if matches(&answer["job"]) {
            return (answer["job"].clone(), output.join("\n"));
        }
        assert!(begin.elapsed() < PATIENCE, "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn has_ended(job: &Value) -> bool {
    !["running", "stopping"].contains(&job["state"].as_str().unwrap())
}

#[track_caller]
fn start(server: &Server, request: &Value) -> Value {
    server.send("POST", "/api/jobs", request).json()
}

#[test]
fn a_run_is_started_stopped_and_resumed_and_its_failed_items_run_again() {
    let (project, mut server) = waiting();
    let mut events = Events::of(&server);
    let job = start(&server, &json!({ "kind": "run", "experiment": "strict", "maxCost": 2 }));
    assert_eq!(job["command"], "cargo cobalt run --experiment=strict --max-cost=2");
    let busy = server.send("POST", "/api/jobs", &json!({ "kind": "run" }));
    assert!(busy.status == 409 && busy.error().contains("is running; stop it"), "{busy:?}");
    let (running, _) = until(&server, &job, |job| job["runs"][0]["finishedItems"] == 2);
    let run = running["runs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!((&running["isBuilt"], &running["runs"][0]["totalItems"]), (&json!(true), &json!(3)));
    events.until(|event| event["type"] == "job" && event["job"]["runs"][0]["id"] == *run);

    let delete = server.send("POST", "/api/runs/delete", &json!({ "ids": [run] }));
    assert!(delete.status == 409 && delete.error().contains("in progress"), "{delete:?}");
    let baseline = server.send("POST", &format!("/api/runs/{run}/baseline"), &json!({}));
    assert!(baseline.status == 409 && baseline.error().contains("not finished"), "{baseline:?}");
    let stopping =
        server.send("POST", &format!("/api/jobs/{}/stop", job["id"].as_str().unwrap()), &json!({})).json();
    assert_eq!(stopping["state"], "stopping");
    let (stopped, output) = until(&server, &job, has_ended);
    assert_eq!(stopped["state"], "stopped", "{output}");
    assert!(output.contains(&format!("cargo cobalt run --resume {run}")), "{output}");
    assert!(output.contains("Finished `") || output.contains("Compiling"), "the build is shown: {output}");

    project.write("go-on", "");
    let finished_already = server.send("POST", "/api/jobs", &json!({ "kind": "rerunFailed", "run": run }));
    assert_eq!(finished_already.status, 409, "{finished_already:?}");
    let resumed = start(&server, &json!({ "kind": "resume", "run": run }));
    let (resumed, output) = until(&server, &resumed, has_ended);
    assert_eq!(
        (&resumed["state"], &resumed["runs"][0]["isFinished"]),
        (&json!("finished"), &json!(true)),
        "{output}"
    );
    assert_eq!(server.send("POST", "/api/jobs", &json!({ "kind": "resume", "run": run })).status, 409);

    project.answers(&[("paris", "Paris"), ("rome", "Rome"), ("oslo", "Oslo")]);
    let rerun = start(&server, &json!({ "kind": "rerunFailed", "run": run }));
    let delete = server.send("POST", "/api/runs/delete", &json!({ "ids": [run] }));
    assert!(delete.status == 409 && delete.error().contains("a job is using it"), "{delete:?}");
    let (rerun, output) = until(&server, &rerun, has_ended);
    assert_eq!(
        (&rerun["state"], &rerun["runs"][0]["totalItems"]),
        (&json!("finished"), &json!(1)),
        "{output}"
    );
    let jobs = server.json("/api/jobs");
    let kinds: Vec<_> = jobs["jobs"].as_array().unwrap().iter().map(|job| &job["kind"]).collect();
    assert_eq!(kinds, ["rerunFailed", "resume", "run"]);
    assert_eq!(server.interrupt().code(), Some(130));
}

#[test]
fn a_job_ends_with_the_server_and_saves_its_items() {
    let (project, mut server) = waiting();
    let job = start(&server, &json!({ "kind": "run", "experiment": "strict" }));
    let (running, _) = until(&server, &job, |job| job["runs"][0]["finishedItems"] == 2);
    assert_eq!(server.interrupt().code(), Some(130));
    project.write("go-on", "");
    let run = running["runs"][0]["id"].as_str().unwrap();
    project.cobalt(&["run", "--resume", run], 0).stdout_has("strict");
}

#[test]
fn a_strange_name_is_an_experiment_that_does_not_exist() {
    let (project, server) = waiting();
    for name in ["--help", "; touch owned", "$(touch owned)", "no-such-experiment"] {
        let job = start(&server, &json!({ "kind": "run", "experiment": name }));
        let (job, output) = until(&server, &job, has_ended);
        assert_eq!((&job["state"], &job["runs"]), (&json!("failed"), &json!([])), "{name}: {output}");
        assert_eq!(job["exitCode"], 4, "nothing matched: {output}");
        assert!(output.contains("error: "), "{output}");
    }
    assert!(!project.path("owned").exists());
    for request in [
        json!({ "kind": "run", "experiment": "a\nb" }),
        json!({ "kind": "run", "experiment": "" }),
        json!({ "kind": "run", "run": "aaaaaaaaaaaa" }),
        json!({ "kind": "resume" }),
        json!({ "kind": "resume", "experiment": "strict" }),
        json!({ "kind": "shell" }),
        json!({ "kind": "run", "maxCost": -1 }),
        json!({ "kind": "run", "arguments": ["--release"] }),
    ] {
        assert_eq!(server.send("POST", "/api/jobs", &request).status, 400, "{request}");
    }
    for run in ["0123456789ab", "--help", "a,b", "../x"] {
        for kind in ["resume", "rerunFailed"] {
            let answer = server.send("POST", "/api/jobs", &json!({ "kind": kind, "run": run }));
            assert_eq!(answer.status, 404, "{kind} {run}: {answer:?}");
        }
    }
    assert_eq!(server.send("POST", "/api/jobs/00000000/stop", &json!({})).status, 404);
}

#[test]
fn secrets_are_not_in_the_output_of_a_job() {
    let project = Project::steered();
    project.answers(&[("paris", "$LEAKED_API_KEY"), ("rome", "!LEAKED_API_KEY"), ("oslo", "!LATER_API_KEY")]);
    let mut command = project.command(&["serve", "--no-open", "--port", "0"]);
    command.env("LEAKED_API_KEY", "s3cr3t-of-the-environment");
    let server = Server::by(command);
    // The server has not seen this file yet.
    project.write(".env", "LATER_API_KEY=s3cr3t-of-a-later-file\n");
    let job = start(&server, &json!({ "kind": "run", "experiment": "strict" }));
    let (_, output) = until(&server, &job, has_ended);
    for name in ["LEAKED_API_KEY", "LATER_API_KEY"] {
        assert!(output.contains(&format!("the agent uses [redacted:{name}]")), "{output}");
    }
    assert!(!output.contains("s3cr3t"), "{output}");
}
