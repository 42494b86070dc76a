//! Webhooks over HTTP: which are called, with which body, and that their answers never affect the run.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::project::{ProgramOutput, Project};
use crate::receiver::{Received, Receiver, Reply};

const KEY: &str = "key-of-the-test";
const OK: Reply = Reply::Status(204, "");

/// A project with a webhook whose URL contains a secret.
fn told(receiver: &Receiver, settings: &str) -> Project {
    let project = Project::steered();
    let url = format!("http://{}/hooks/s3cret?token=s3cret", receiver.host());
    project.write("cobalt.toml", &format!("[[webhooks]]\nurl = \"{url}\"\n{settings}"));
    project
}

fn run(project: &Project) -> Command {
    project.command(&["run", "--filter", "strict"])
}

/// Whether a request is signed with the key.
fn is_genuine(received: &Received) -> bool {
    let signed = format!("{}.{}", received.headers["x-cobalt-timestamp"], received.body);
    let digits: String = Hmac::<Sha256>::new_from_slice(KEY.as_bytes())
        .unwrap()
        .chain_update(signed)
        .finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    received.headers["x-cobalt-signature-256"] == format!("sha256={digits}")
}

#[test]
fn a_run_is_told_with_its_verdicts_and_signed_and_without_inputs_and_outputs() {
    let receiver = Receiver::start(&[OK]);
    let project = told(&receiver, "secret-env = \"HOOK_KEY\"\n");
    project.write(".env", &format!("HOOK_KEY={KEY}\n"));
    project.answers(&[("paris", "Paris"), ("rome", "A wrong answer"), ("oslo", "error")]);
    let mut command = run(&project);
    command.env("GITLAB_CI", "true").env("CI_JOB_URL", "https://gitlab.example/-/jobs/7");
    let said = ProgramOutput::by(&mut command, 0);
    assert!(!said.stderr.contains("webhook") && !said.stderr.contains("s3cret"), "{said:?}");

    let [received] = &receiver.received()[..] else { panic!("{:?}", receiver.received()) };
    assert!(is_genuine(received), "{received:?}");
    assert_eq!(received.line, "POST /hooks/s3cret?token=s3cret HTTP/1.1");
    let header = |name: &str| &*received.headers[name];
    assert_eq!(header("content-type"), "application/json");
    assert!(header("user-agent").starts_with("cobalt/"));
    assert_eq!(header("x-cobalt-event"), "run.finished");

    let body = received.json();
    assert_eq!(
        (&body["schema"], &body["event"], &body["passed"]),
        (&json!(1), &json!("run.finished"), &json!(false))
    );
    assert_eq!(
        (&body["delivery"], &body["text"]),
        (&json!(header("x-cobalt-delivery")), &json!("FAILED: strict"))
    );
    assert_eq!(body["ci"]["url"], "https://gitlab.example/-/jobs/7");
    let experiment = &body["experiments"][0];
    let file = project.newest_result();
    assert_eq!(
        (&experiment["report"]["id"], &experiment["report"]["summary"]),
        (&file["id"], &file["summary"])
    );
    assert_eq!(experiment["report"]["items"], json!([]));
    assert_eq!(experiment["low"], json!([{ "item": "rome", "scores": { "right": 0.0 } }]));
    assert_eq!((&experiment["failed"], &experiment["itemsInError"]), (&json!(["oslo"]), &json!(1)));
    for secret in ["A wrong answer", "the agent broke", "Rome", "Paris"] {
        assert!(!received.body.contains(secret), "{}", received.body);
    }
}

#[test]
fn what_may_pass_is_sent_again_as_it_was() {
    let receiver = Receiver::start(&[Reply::Status(500, ""), Reply::Status(429, "retry-after: 0\r\n"), OK]);
    let project = told(&receiver, "secret-env = \"HOOK_KEY\"\n");
    let said = ProgramOutput::by(run(&project).env("HOOK_KEY", KEY), 0);
    assert!(!said.stderr.contains("webhook"), "{said:?}");
    let received = receiver.received();
    assert_eq!(received.len(), 3);
    let sent: Vec<_> = received.iter().map(|it| (&it.headers["x-cobalt-delivery"], &it.body)).collect();
    assert!(sent.iter().all(|it| *it == sent[0]) && received.iter().all(is_genuine), "{received:?}");
}

#[test]
fn what_does_not_pass_is_a_warning_without_the_address_and_changes_no_exit_code() {
    let answers = [
        (Reply::Status(400, ""), "status 400"),
        (Reply::Status(401, ""), "status 401"),
        (Reply::Status(302, "location: /elsewhere\r\n"), "redirects are not followed"),
        (Reply::Status(429, "retry-after: 3600\r\n"), "status 429"),
        (Reply::Status(503, "retry-after: 18446744073709551615\r\n"), "status 503"),
    ];
    for (answer, why) in answers {
        let receiver = Receiver::start(std::slice::from_ref(&answer));
        let project = told(&receiver, "");
        let said = ProgramOutput::by(run(&project).arg("--ci"), 0).stderr_has(why);
        let warning = format!("warning: failed to call the webhook at {}: ", receiver.host());
        let said = said.stderr_has(&warning);
        assert!(!said.stderr.contains("s3cret"), "{said:?}");
        assert_eq!(receiver.received().len(), 1, "{answer:?}");

        project.answers(&[("rome", "wrong")]);
        ProgramOutput::by(run(&project).arg("--ci"), 1).stderr_has(&warning);
    }
}

#[test]
fn nobody_waits_for_a_server_that_is_silent_or_gone_or_of_another_kind() {
    let silent = Receiver::start(&[Reply::Never]);
    let gone = Receiver::start(&[OK]).host();
    let project = told(&silent, "timeout = \"300ms\"\nretries = 0\n");
    let other = format!(
        "[[webhooks]]\nurl = \"https://{}/s3cret\"\n[[webhooks]]\nurl = \"http://{gone}/s3cret\"\nretries = 0\n",
        silent.host(),
    );
    project.write("cobalt.toml", &(project.read("cobalt.toml") + &other));
    let began = Instant::now();
    let said = ProgramOutput::by(&mut run(&project), 0)
        .stderr_has(": no response within 300ms")
        .stderr_has(&format!("failed to call the webhook at {gone}: "));
    assert_eq!(said.stderr.matches("failed to call").count(), 3, "{said:?}");
    assert!(!said.stderr.contains("s3cret") && !said.stderr.contains("tried"), "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn a_webhook_hears_of_the_runs_that_it_is_for() {
    let [always, failed, regressed] = [(); 3].map(|()| Receiver::start(&[OK]));
    let project = told(&always, "");
    let hook =
        |to: &Receiver, on: &str| format!("[[webhooks]]\nurl = \"http://{}\"\non = \"{on}\"\n", to.host());
    let settings = project.read("cobalt.toml") + &hook(&failed, "failed") + &hook(&regressed, "regressed");
    project.write("cobalt.toml", &settings);
    let told = || [&always, &failed, &regressed].map(|receiver| receiver.received().len());
    let cobalt = |arguments: &[&str], code| drop(project.cobalt(arguments, code));

    let strict = ["run", "--filter", "strict"];
    cobalt(&strict, 0);
    assert_eq!(told(), [1, 0, 0]);
    let items: Vec<_> = (0..30).map(|number| format!("item-{number}")).collect();
    let answers = |says: &str| {
        let line = |id: &String| format!("{}\n", json!({ "id": id, "answer": "right", "says": says }));
        project.write("data/items.jsonl", &items.iter().map(line).collect::<String>());
    };
    answers("right");
    cobalt(&strict, 0);
    cobalt(&["baseline", "set"], 0);
    answers("wrong");
    cobalt(&strict, 0);
    assert_eq!(told(), [3, 1, 1]);
    let body = regressed.received()[0].json();
    assert_eq!(body["experiments"][0]["regressed"], true);
    assert_eq!(body["experiments"][0]["regressions"][0]["name"], "right");
    assert_eq!(body["experiments"][0]["lowItems"], 30);
    assert_eq!(body["experiments"][0]["low"].as_array().map(Vec::len), Some(8));

    project.write("data/items.jsonl", "{\n");
    cobalt(&strict, 3);
    assert_eq!(told(), [4, 2, 1]);
    assert_eq!(failed.received()[1].json()["broken"], json!(["strict"]));

    cobalt(&["run", "--", "--list"], 0);
    cobalt(&["run", "--filter", "nothing-of-this-name"], 4);
    assert_eq!(told()[0], 4, "no webhook is called if nothing runs");
}

#[test]
#[cfg(target_os = "linux")]
fn a_reporter_that_fails_keeps_nobody_from_being_told() {
    let receiver = Receiver::start(&[OK]);
    let project = told(&receiver, "");
    ProgramOutput::by(run(&project).args(["--reporter", "junit=/dev/full"]), 3).stderr_has("/dev/full");
    assert_eq!(receiver.received().len(), 1);
}

#[test]
fn a_merged_run_is_told_as_one_of_all_items() {
    let receiver = Receiver::start(&[OK]);
    let project = told(&receiver, "");
    let items: Vec<_> =
        (0..12).map(|number| json!({ "id": format!("item-{number}"), "answer": "a", "says": "a" })).collect();
    project.write("data/items.jsonl", &items.iter().map(|item| format!("{item}\n")).collect::<String>());
    for shard in ["1/2", "2/2"] {
        project.cobalt(&["run", "--filter", "strict", "--shard", shard], 0);
    }
    project.cobalt(&["merge", ".cobalt"], 0);
    let bodies: Vec<_> = receiver.received().iter().map(Received::json).collect();
    let reports: Vec<_> = bodies.iter().map(|body| &body["experiments"][0]["report"]).collect();
    assert_eq!(reports.len(), 3);
    assert_eq!((&reports[0]["partial"], &reports[1]["partial"]), (&json!(true), &json!(true)));
    assert_eq!(reports[2]["summary"]["totalItems"], 12);
    assert_eq!(reports[2]["shards"], json!([reports[0]["id"], reports[1]["id"]]));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_the_waiting_and_leaves_the_verdict() {
    let silent = Receiver::start(&[Reply::Never]);
    let project = told(&silent, "timeout = \"60s\"\n");
    project.cobalt(&["list"], 0);
    let began = Instant::now();
    let child = run(&project).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while silent.received().is_empty() && began.elapsed() < Duration::from_secs(50) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupted = Instant::now();
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains(": interrupted"), "{stderr}");
    assert!(interrupted.elapsed() < Duration::from_secs(10), "{:?}", interrupted.elapsed());
}

#[test]
fn without_its_variables_a_webhook_is_left_out_and_a_wrong_table_is_refused_before_anything_runs() {
    let receiver = Receiver::start(&[OK]);
    let project = told(&receiver, "secret-env = \"HOOK_KEY\"\n");
    let unset = "warning: failed to call a webhook: the variable `HOOK_KEY` is not set";
    ProgramOutput::by(&mut run(&project), 0).stderr_has(unset);
    project.write("cobalt.toml", "[[webhooks]]\nurl-env = \"HOOK_URL\"\n");
    let said = ProgramOutput::by(run(&project).env("HOOK_URL", "no address: s3cret"), 0);
    assert!(!said.stderr_has("its URL is not an HTTP URL").stderr.contains("s3cret"));
    assert!(receiver.received().is_empty());

    let runs = project.results().len();
    project.write("cobalt.toml", "[[webhooks]]\nurl = \"s3cret\"\n");
    let said = ProgramOutput::by(&mut run(&project), 3).stderr_has("cobalt.toml:2:7: not a URL");
    assert!(!said.stderr.contains("s3cret") && project.results().len() == runs, "{said:?}");
}

#[test]
fn the_settings_show_hosts_and_names_of_variables_alone() {
    let receiver = Receiver::start(&[OK]);
    let project = told(&receiver, "secret-env = \"HOOK_KEY\"\n");
    let said = ProgramOutput::by(project.command(&["config", "--json"]).env("HOOK_KEY", KEY), 0);
    let settings: Value = serde_json::from_str(&said.stdout).unwrap();
    let webhooks = settings.as_array().unwrap().iter().find(|setting| setting["key"] == "webhooks").unwrap();
    assert_eq!(webhooks["value"][0]["url"], format!("http://{}/[redacted]", receiver.host()));
    assert_eq!(webhooks["value"][0]["secret-env"], "HOOK_KEY");
    assert!(!said.stdout.contains(KEY) && !said.stdout.contains("s3cret"), "{said:?}");
}
