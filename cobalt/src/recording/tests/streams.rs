//! Streams: server-sent events, and lines of JSON.

use cobalt_core::recordings::{Body, StreamEvent};

use super::*;

const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

/// A stream of a chat in two lines, as Ollama sends it.
const LINES: [&str; 2] = [
    "{\"model\":\"llama3\",\"message\":{\"content\":\"Hi\"}}\n",
    "{\"model\":\"llama3\",\"done\":true,\"prompt_eval_count\":5,\"eval_count\":2}\n",
];

fn events(recorded: &Cassette) -> Vec<StreamEvent> {
    match recorded.interactions().next().unwrap().response.body.clone() {
        Some(Body::Events(events)) => events,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_line_of_a_stream_reaches_the_client_before_the_next_one_exists() {
    let scene = Scene::new(|_| {
        let response =
            ScriptedResponse::text(200, LINES.concat()).header("content-type", "application/x-ndjson");
        response.every(DAY, LINES[0].len())
    });
    for mode in [RecordMode::Off, RecordMode::Record] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let request = process.client.post(format!("{}/chat", process.base_url(Some(&execution))));
        let mut response = request.body(chat(&["hi"]).to_string()).send().await.unwrap();
        let first = tokio::time::timeout(Duration::from_secs(60), response.chunk()).await;
        assert_eq!(first.expect("the first line arrives").unwrap().unwrap(), LINES[0], "{mode}");
    }
}

#[tokio::test]
async fn the_lines_of_a_stream_are_recorded_and_its_usage_is_read() {
    let scene = Scene::new(|_| {
        ScriptedResponse::text(200, LINES.concat()).header("content-type", "application/x-ndjson").in_pieces()
    });
    for mode in [RecordMode::Off, RecordMode::Record] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let request = process.client.post(format!("{}/chat", process.base_url(Some(&execution))));
        let response = request.body(chat(&["hi"]).to_string()).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), LINES.concat());
        end(&execution).await;
    }
    let cassette = scene.cassette("item-0");
    let texts: Vec<_> = events(&cassette).into_iter().map(|event| event.text).collect();
    assert_eq!(texts, LINES);
    let interaction = cassette.interactions().next().unwrap();
    let tokens = interaction.tokens.unwrap();
    assert_eq!((interaction.model.as_deref(), tokens.input, tokens.output), (Some("llama3"), 5, 2));
}

#[tokio::test]
async fn the_usage_of_a_long_stream_is_read() {
    let filler = format!(
        "data: {}\n\n",
        json!({ "choices": [{ "index": 0, "delta": { "content": "x ".repeat(1000) } }] })
    );
    let usage = json!({ "model": "gpt-4o-mini", "choices": [], "usage": { "prompt_tokens": 1_000_000, "completion_tokens": 1 } });
    let text = format!("{}data: {usage}\n\ndata: [DONE]\n\n", filler.repeat(600));
    let sent = text.clone();
    let mut scene = Scene::new(move |_| {
        ScriptedResponse::text(200, sent.clone()).header("content-type", "text/event-stream").in_pieces()
    });
    for mode in [RecordMode::Off, RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        assert_eq!(process.ask(&execution, &["hi"]).await, (200, text.clone()), "{mode}");
        let (traffic, _) = end(&execution).await;
        assert_eq!(traffic.live_cost > 0.0, mode != RecordMode::Replay, "{mode}");
        if mode == RecordMode::Record {
            scene.stop();
        }
    }
    assert_eq!(scene.cassette("item-0").interactions().next().unwrap().tokens.unwrap().input, 1_000_000);
}

#[tokio::test]
async fn a_key_that_a_model_repeats_in_a_stream_is_in_no_file() {
    let delta = |text: &str| {
        format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))
    };
    let pieces = KEY.as_bytes().chunks(4).map(|piece| delta(std::str::from_utf8(piece).unwrap()));
    let text = [delta("It is "), pieces.collect(), delta("."), "data: [DONE]\n\n".to_owned()].concat();
    let mut scene = Scene::new(move |_| {
        ScriptedResponse::text(200, text.clone()).header("content-type", "text/event-stream").in_pieces()
    });
    let joined = |stream: &str| -> String {
        let data = stream.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
        let values = data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap());
        values
            .map(|value: Value| value["choices"][0]["delta"]["content"].as_str().unwrap().to_owned())
            .collect()
    };
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let (status, stream) = process.ask(&execution, &["your key?"]).await;
        let said = joined(&stream);
        match mode {
            RecordMode::Record => assert_eq!((status, said), (200, format!("It is {KEY}."))),
            _ => assert!(
                status == 200 && said.starts_with("It is [redacted:") && said.ends_with("]."),
                "{said}"
            ),
        }
        end(&execution).await;
        scene.stop();
    }
    let stored: String = events(&scene.cassette("item-0")).iter().map(|event| &*event.text).collect();
    assert!(!joined(&stored).contains("9fK2"), "{stored}");
}
