//! The reporter `otlp`: what a server receives, and that its answers never affect the run.

use std::io::Read as _;
use std::process::Command;

use flate2::read::GzDecoder;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use prost::Message as _;

use crate::project::{ProgramOutput, Project};
use crate::receiver::{Received, Receiver, Reply};

const OK: Reply = Reply::Status(200, "");

/// A run of `strict` that sends to this server.
fn run(project: &Project, receiver: &Receiver) -> Command {
    let target = format!("otlp=http://{}/base", receiver.host());
    project.command(&["run", "--filter", "strict", "--reporter", "cli", "--reporter", &target])
}

fn decoded(received: &Received) -> ResourceSpans {
    let mut body = received.bytes.clone();
    if received.headers.contains_key("content-encoding") {
        body.clear();
        GzDecoder::new(&*received.bytes).read_to_end(&mut body).unwrap();
    }
    ExportTraceServiceRequest::decode(&*body).unwrap().resource_spans.remove(0)
}

fn spans(receiver: &Receiver) -> Vec<Span> {
    let received = receiver.received();
    received.iter().flat_map(|received| decoded(received).scope_spans.remove(0).spans).collect()
}

#[test]
fn a_run_is_sent_with_its_items_and_the_headers_of_the_environment() {
    let receiver = Receiver::start(&[OK]);
    let project = Project::steered();
    project.write(".env", "OTEL_EXPORTER_OTLP_HEADERS=\"authorization=Basic%20czNjcmV0OnMzY3JldA==\"\n");
    project.answers(&[("paris", "Paris"), ("rome", "A wrong answer"), ("oslo", "error")]);
    let mut command = run(&project, &receiver);
    command.env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip").env("OTEL_SERVICE_NAME", "geography");
    let said = ProgramOutput::by(&mut command, 0);
    let said = said.stderr_has(&format!("sent 4 spans to {}", receiver.host()));
    assert!(!said.stderr.contains("czNjcmV0"), "{said:?}");

    let [received] = &receiver.received()[..] else { panic!("{:?}", receiver.received()) };
    assert_eq!(received.line, "POST /base/v1/traces HTTP/1.1");
    assert_eq!(received.headers["content-type"], "application/x-protobuf");
    assert_eq!(received.headers["authorization"], "Basic czNjcmV0OnMzY3JldA==");
    let resource = decoded(received).resource.unwrap();
    let service = resource.attributes[0].value.clone().unwrap().value;
    assert_eq!(service, Some(Value::StringValue("geography".to_owned())));
    let spans = spans(&receiver);
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["run strict", "strict::paris", "strict::rome", "strict::oslo"]);
    assert_eq!(spans[2].events[0].name, "gen_ai.evaluation.result");
    assert!(spans[3].status.as_ref().is_some_and(|status| status.message.contains("the agent broke")));
}

#[test]
fn a_failure_is_one_warning_and_changes_no_exit_code() {
    for (answer, why) in [
        (Reply::Status(401, ""), "status 401"),
        (Reply::Status(302, "location: /elsewhere\r\n"), "status 302: redirects are not followed"),
        (Reply::Status(503, "retry-after: 3600\r\n"), "status 503"),
    ] {
        let receiver = Receiver::start(&[answer]);
        let project = Project::steered();
        let said = ProgramOutput::by(run(&project, &receiver).arg("--ci"), 0);
        let said =
            said.stderr_has(&format!("warning: failed to send the results to {}: {why}", receiver.host()));
        assert_eq!(said.stderr.matches("failed to send").count(), 1, "{said:?}");
    }
}

#[test]
fn invalid_variables_are_a_warning_and_a_second_endpoint_is_refused() {
    let receiver = Receiver::start(&[OK]);
    let project = Project::steered();
    ProgramOutput::by(run(&project, &receiver).env("OTEL_EXPORTER_OTLP_HEADERS", "s3cret"), 0).stderr_has(
        "failed to send the results with OTLP: OTEL_EXPORTER_OTLP_HEADERS: expected `name=value`",
    );
    let other = ["--reporter", "otlp=http://localhost:1"];
    ProgramOutput::by(run(&project, &receiver).args(other), 2).stderr_has("`otlp` can only be one");
    assert!(receiver.received().is_empty());
}
