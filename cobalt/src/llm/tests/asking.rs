//! Questions to judges.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cobalt_core::prices::{JudgeUsage, Tokens};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{WEEK, ask, models, of, question, score, settings, with_cache};
use crate::llm::test_server::{ScriptedResponse, TestServer};
use crate::llm::{CallMeter, ModelChoice, ModelSettings};
use crate::thread_pool::join_all;

#[tokio::test]
async fn an_answer_is_read_counted_and_priced() {
    let server = TestServer::script([ScriptedResponse::chat("Here it is:\n```json\n{\"score\": 0.9}\n```")]);
    let (answer, usage) = ask(&models(&server), &question("a")).await;
    assert_eq!(answer, Ok(0.9));
    assert_eq!((usage.calls, usage.cached, usage.tokens), (1, 0, Tokens::new(40, 10)));
    assert_eq!(usage.models, ["gpt-4o-mini"]);
    let cost = 40.0 / 1e6 * 0.15 + 10.0 / 1e6 * 0.6;
    assert!((usage.cost - cost).abs() < 1e-12 && usage.unpriced.is_empty(), "{usage:?}");
}

#[tokio::test]
async fn local_models_without_a_price_are_free() {
    let server = TestServer::script([ScriptedResponse::chat("{\"score\": 1}")]);
    let mut settings = settings(&server);
    settings.judge.model = Some("our-model".to_owned());
    let (_, usage) = ask(&of(settings), &question("a")).await;
    assert_eq!((usage.cost, usage.unpriced), (0.0, vec![]));
}

#[tokio::test]
async fn what_is_no_answer_is_asked_once_more_with_what_was_wrong() {
    for garbled in [
        ScriptedResponse::chat("{\"score\": 1.7}"),
        ScriptedResponse::chat("no JSON here"),
        ScriptedResponse::json(
            200,
            &json!({"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 10}}),
        ),
    ] {
        let server = TestServer::script([garbled, ScriptedResponse::chat("{\"score\": 0.7}")]);
        let (answer, usage) = ask(&models(&server), &question("the question")).await;
        assert_eq!(answer, Ok(0.7));
        assert_eq!(
            (usage.calls, usage.tokens),
            (2, Tokens::new(80, 20)),
            "unusable responses are billed, too"
        );
        let prompts: Vec<_> =
            server.requests().iter().map(|asked| asked.body["messages"][1].to_string()).collect();
        assert!(
            prompts[1].contains("the question") && prompts[1].contains("could not be used"),
            "{prompts:?}"
        );
    }
}

#[tokio::test]
async fn a_score_out_of_range_twice_is_an_error_and_never_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::script([ScriptedResponse::chat("{\"score\": 1.7}")]);
    let (answer, usage) = ask(&with_cache(&server, &folder, WEEK), &question("a")).await;
    let error = answer.unwrap_err();
    assert!(
        error.contains("gpt-4o-mini") && error.contains("`score` is 1.7") && error.contains("2 attempts"),
        "{error}"
    );
    assert_eq!((usage.calls, server.requests().len()), (2, 2));
    assert!(!folder.path().join(".cobalt/cache").exists(), "nothing was cached");
}

#[tokio::test]
async fn a_refusal_is_an_error_at_once() {
    let server = TestServer::script([ScriptedResponse::error(401, "bad key")]);
    let (answer, usage) = ask(&models(&server), &question("a")).await;
    assert!(answer.unwrap_err().contains("401"));
    assert_eq!((usage.calls, server.requests().len()), (0, 1));
}

#[tokio::test]
async fn two_hundred_questions_are_answered_where_one_in_five_calls_fails() {
    let calls = AtomicUsize::new(0);
    let server = TestServer::start(move |_| match calls.fetch_add(1, Ordering::Relaxed) % 5 {
        0 => ScriptedResponse::error(500, "down").header("retry-after", "0"),
        _ => ScriptedResponse::chat("{\"score\": 0.5}"),
    });
    let models = of(ModelSettings { retries: 10, concurrency: 20, ..settings(&server) });
    let questions: Vec<_> = (0..200).map(|number| question(&number.to_string())).collect();
    let asked: Vec<Pin<Box<dyn Future<Output = _> + Send>>> =
        questions.iter().map(|question| Box::pin(ask(&models, question)) as _).collect();
    let answers = join_all(asked).await;
    assert!(answers.iter().all(|(answer, usage): &(_, JudgeUsage)| *answer == Ok(0.5) && usage.calls == 1));
    assert_eq!(server.requests().len(), 250);
    assert!(server.most_in_flight() <= 20, "{}", server.most_in_flight());
}

#[tokio::test]
async fn a_server_that_wants_a_key_where_none_is_said_is_told_of_the_setting() {
    let server = TestServer::script([ScriptedResponse::error(401, "who are you")]);
    let mut settings = settings(&server);
    settings.judge.api_key = None;
    let error = ask(&of(settings), &question("a")).await.0.unwrap_err();
    assert!(error.contains("401: no key was sent") && error.contains("`api-key-env`"), "{error}");
    assert!(!server.requests()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn the_same_question_on_its_way_is_sent_once_and_another_time_on_purpose() {
    let server =
        TestServer::start(|_| ScriptedResponse::chat("{\"score\": 0.5}").after(Duration::from_millis(30)));
    let models = models(&server);
    let again = crate::llm::Question { repetition: 1, ..question("a") };
    let (same, other) = (question("a"), question("b"));
    let answers =
        tokio::join!(ask(&models, &same), ask(&models, &same), ask(&models, &again), ask(&models, &other));
    assert_eq!(server.requests().len(), 3);
    let usages = [answers.0.1, answers.1.1, answers.2.1, answers.3.1];
    assert_eq!(usages.each_ref().map(|usage| usage.calls), [1, 0, 1, 1]);
    assert_eq!(usages.each_ref().map(|usage| usage.cached), [0, 1, 0, 0]);
}

#[tokio::test]
async fn one_who_waits_asks_where_the_one_who_asked_is_gone() {
    let server = TestServer::script([ScriptedResponse::never(), ScriptedResponse::chat("{\"score\": 0.5}")]);
    let models = Arc::new(models(&server));
    let leader = tokio::spawn({
        let models = Arc::clone(&models);
        async move { ask(&models, &question("a")).await }
    });
    timeout(Duration::from_secs(5), async {
        while server.requests().is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
    let waiter = tokio::spawn({
        let models = Arc::clone(&models);
        async move { ask(&models, &question("a")).await }
    });
    // The waiter joins before the leader is aborted.
    sleep(Duration::from_millis(5)).await;
    leader.abort();
    let (answer, usage) = timeout(Duration::from_secs(5), waiter).await.unwrap().unwrap();
    assert_eq!((answer, usage.calls, server.requests().len()), (Ok(0.5), 1, 2));
}

#[tokio::test]
async fn an_answer_is_kept_for_later_processes_until_it_is_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::script([ScriptedResponse::chat("{\"score\": 0.5}")]);
    ask(&with_cache(&server, &folder, WEEK), &question("a")).await.0.unwrap();
    let (answer, usage) = ask(&with_cache(&server, &folder, WEEK), &question("a")).await;
    assert_eq!((answer, usage.calls, usage.cached, usage.cost), (Ok(0.5), 0, 1, 0.0));
    assert_eq!(server.requests().len(), 1);
    ask(&with_cache(&server, &folder, WEEK), &question("b")).await.0.unwrap();
    assert_eq!(server.requests().len(), 2, "a different question is a new request");
    let mut warmer = settings(&server);
    warmer.judge.temperature = Some(0.7);
    warmer.cache = with_cache_settings(&folder);
    ask(&of(warmer), &question("a")).await.0.unwrap();
    assert_eq!(server.requests().len(), 3, "so is a different temperature");
    sleep(Duration::from_millis(5)).await;
    ask(&with_cache(&server, &folder, Duration::from_millis(1)), &question("b")).await.0.unwrap();
    assert_eq!(server.requests().len(), 4, "the response has expired");
}

fn with_cache_settings(folder: &tempfile::TempDir) -> Option<crate::llm::CacheSettings> {
    Some(crate::llm::CacheSettings { layout: super::layout(folder.path()), ttl: WEEK })
}

#[tokio::test]
async fn a_kept_answer_that_is_refused_now_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::script([
        ScriptedResponse::chat("{\"score\": 0.5}"),
        ScriptedResponse::chat("{\"score\": 0.8}"),
    ]);
    ask(&with_cache(&server, &folder, WEEK), &question("a")).await.0.unwrap();
    let (meter, models) = (CallMeter::default(), with_cache(&server, &folder, WEEK));
    let high = |object: &_| {
        score(object).and_then(|score| if score > 0.6 { Ok(score) } else { Err("low".to_owned()) })
    };
    let answer = models.ask(&ModelChoice::default(), &question("a"), &meter, high).await.unwrap();
    assert_eq!((answer, meter.usage().unwrap().calls), (0.8, 1));
}

#[tokio::test]
async fn neither_the_question_nor_a_key_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::script([ScriptedResponse::chat("{\"score\": 0.5}")]);
    ask(&with_cache(&server, &folder, WEEK), &question("the secret question")).await.0.unwrap();
    let mut found = 0;
    for folder in std::fs::read_dir(folder.path().join(".cobalt/cache")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("secret question") && !text.contains("key-0123456789"), "{text}");
            found += 1;
        }
    }
    assert_eq!(found, 1);
}

#[tokio::test]
async fn a_moderation_is_kept_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let result = json!({"flagged": true, "category_scores": {"violence": 0.75}});
    let server = TestServer::script([
        ScriptedResponse::text(200, "{"),
        ScriptedResponse::json(200, &json!({"results": [result]})),
    ]);
    for calls in [2, 0] {
        let (models, meter) = (with_cache(&server, &folder, WEEK), CallMeter::default());
        let found = models.moderate(&ModelChoice::default(), "text", &meter).await.unwrap();
        assert_eq!((found.flagged, found.category_scores["violence"]), (true, 0.75));
        let usage = meter.usage().unwrap();
        assert_eq!((usage.calls, usage.unpriced.len()), (calls, 0));
    }
    assert_eq!(server.requests()[0].body["model"], "omni-moderation-latest");
}
