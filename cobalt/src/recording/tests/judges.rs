//! Judges' answers: those of a trial are recorded and replayed with it.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt_core::prices::{JudgeUsage, Tokens};
use cobalt_core::recordings::{JudgeAnswer, Trial};
use cobalt_core::redact::Secret;
use cobalt_core::report::ScoredEvaluation;
use cobalt_core::store::Layout;
use serde_json::Map;

use super::*;
use crate::llm::{CacheSettings, CallMeter, ModelChoice, ModelSettings, Models, Question, Schema};

/// A judge that gives these scores in turn; the last one repeats.
fn judge(scores: &'static [u8]) -> TestServer {
    let next = AtomicUsize::new(0);
    TestServer::start(move |_| {
        let at = next.fetch_add(1, Ordering::SeqCst).min(scores.len() - 1);
        ScriptedResponse::chat(&json!({ "score": scores[at] }).to_string())
    })
}

fn models(server: &TestServer, cache: Option<&TempDir>) -> Models {
    let choice = |model: &str| ModelChoice {
        model: Some(model.to_owned()),
        base_url: Some(server.url("/v1")),
        api_key: Some(Secret("key-0123456789-of-the-test".to_owned())),
        ..ModelChoice::default()
    };
    let cache = cache.map(|folder| {
        let root = folder.path().join(".cobalt");
        let [results, history, cache] = ["results", "history.db", "cache"].map(|name| root.join(name));
        CacheSettings { layout: Layout::new(root, results, history, cache), ttl: DAY * 90 }
    });
    let settings = ModelSettings {
        judge: choice("gpt-4o-mini"),
        embedding: choice("text-embedding-3-small"),
        timeout: Duration::from_secs(5),
        retries: 0,
        concurrency: 8,
        cache,
    };
    Models::new(settings, PriceTable::default(), |_| None)
}

fn question(prompt: &str) -> Question {
    let schema = json!({ "type": "object", "properties": { "score": { "type": "number" } } });
    let schema = Schema { name: "score", schema };
    Question {
        system: "You judge.".to_owned(),
        prompt: prompt.to_owned(),
        schema,
        repetition: 0,
        is_shared: false,
    }
}

fn score(object: &Map<String, Value>) -> Result<u64, String> {
    object.get("score").and_then(Value::as_u64).ok_or_else(|| "no score".to_owned())
}

/// Asks as an evaluator of a trial does.
async fn ask(
    models: &Models,
    execution: &Arc<ExecutionTraffic>,
    prompt: &str,
) -> (Result<u64, String>, JudgeUsage) {
    let meter = CallMeter::new(Some(Arc::clone(execution)));
    let answer = models.ask(&ModelChoice::default(), &question(prompt), &meter, score).await;
    (answer.map_err(|error| error.to_string()), meter.usage().unwrap_or_default())
}

/// The same for a question that is the same for all items.
async fn ask_shared(models: &Models, execution: &Arc<ExecutionTraffic>, prompt: &str) -> Result<u64, String> {
    let meter = CallMeter::new(Some(Arc::clone(execution)));
    let question = Question { is_shared: true, ..question(prompt) };
    let answer = models.ask(&ModelChoice::default(), &question, &meter, score).await;
    answer.map_err(|error| error.to_string())
}

/// Runs a trial of the first item, whose judges are asked these questions.
async fn trial(process: &Process, models: &Models, run: usize, prompts: &[&str]) -> Vec<u64> {
    let execution = process.begin(0, run);
    let mut scores = Vec::new();
    for prompt in prompts {
        scores.push(ask(models, &execution, prompt).await.0.unwrap());
    }
    end(&execution).await;
    scores
}

fn prompts(trial: &Trial) -> Vec<String> {
    let prompt = |answer: &JudgeAnswer| {
        let question = answer.question.as_ref().unwrap().json().unwrap();
        question["prompt"].as_str().unwrap().to_owned()
    };
    let mut prompts: Vec<_> = trial.judges.iter().map(prompt).collect();
    prompts.sort();
    prompts
}

#[tokio::test]
async fn equal_questions_have_an_answer_each_in_each_trial() {
    let scene = Scene::numbered();
    let server = judge(&[1, 0, 0, 1, 1, 1]);
    let process = scene.process(RecordMode::Record);
    let mut live = Vec::new();
    for run in 0..3 {
        live.push(trial(&process, &models(&server, None), run, &["polite?", "polite?"]).await);
    }
    assert_eq!(live, [[1, 0], [0, 1], [1, 1]]);
    assert_eq!(scene.cassette("item-0").trials.len(), 3);
    assert!(scene.cassette("item-0").judges.is_empty());
    let process = scene.process(RecordMode::Replay);
    let models = models(&server, None);
    for (run, live) in live.iter().enumerate() {
        assert_eq!(trial(&process, &models, run, &["polite?", "polite?"]).await, *live);
    }
    // One more evaluator with the same question shares the last answer, which costs nothing more.
    let execution = process.begin(0, 0);
    let mut tokens = Vec::new();
    for expected in [1, 0, 0] {
        let (answer, usage) = ask(&models, &execution, "polite?").await;
        assert_eq!(answer, Ok(expected));
        tokens.push(usage.tokens.input);
    }
    assert_eq!(tokens, [40, 40, 0]);
    let refused = ask(&models, &execution, "short?").await.0.unwrap_err();
    assert!(refused.contains("the judge's answer is not recorded; to record it"), "{refused}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn answers_for_outputs_that_are_gone_are_not_kept() {
    let (scene, server) = (Scene::numbered(), judge(&[1]));
    let models = models(&server, None);
    trial(&scene.process(RecordMode::Record), &models, 0, &["old", "both"]).await;
    trial(&scene.process(RecordMode::Record), &models, 1, &["old"]).await;
    trial(&scene.process(RecordMode::Auto), &models, 0, &["new", "both"]).await;
    let cassette = scene.cassette("item-0");
    assert_eq!(
        [prompts(&cassette.trials[0]), prompts(&cassette.trials[1])],
        [vec!["both", "new"], vec!["old"]]
    );
    assert_eq!(server.requests().len(), 4);

    // An evaluator that fails may need its answers the next time.
    let process = scene.process(RecordMode::Auto);
    let execution = process.begin(0, 0);
    ask(&models, &execution, "other").await.0.unwrap();
    execution.end_agent(Duration::ZERO).await;
    let failed = ScoredEvaluation { error: Some("timed out".to_owned()), ..ScoredEvaluation::default() };
    let outcome = Execution {
        evaluations: [(Arc::from("judge"), failed)].into_iter().collect(),
        ..Execution::default()
    };
    execution.end(&outcome).unwrap();
    assert_eq!(prompts(&scene.cassette("item-0").trials[0]), ["both", "new", "other"]);
}

#[tokio::test]
async fn answers_of_an_earlier_version_are_those_of_every_trial() {
    let (scene, server) = (Scene::numbered(), judge(&[1, 0]));
    let models = models(&server, None);
    trial(&scene.process(RecordMode::Record), &models, 0, &["polite?"]).await;
    let mut old = scene.cassette("item-0");
    old.judges = std::mem::take(&mut old.trials[0].judges);
    old.trials.clear();
    scene.recordings().write("item-0", &old).unwrap();
    let process = scene.process(RecordMode::Replay);
    for run in 0..3 {
        assert_eq!(trial(&process, &models, run, &["polite?"]).await, [1]);
    }
    trial(&scene.process(RecordMode::Auto), &models, 1, &["short?"]).await;
    let cassette = scene.cassette("item-0");
    let prompts: Vec<_> = cassette.trials.iter().map(prompts).collect();
    assert_eq!(
        (prompts, cassette.judges.len()),
        (vec![vec!["polite?".to_owned()], vec!["short?".to_owned()], vec!["polite?".to_owned()]], 0)
    );
}

#[tokio::test]
async fn the_cache_is_not_read_when_everything_is_recorded_again() {
    let (scene, server, folder) = (Scene::numbered(), judge(&[1, 0]), tempfile::tempdir().unwrap());
    let models = models(&server, Some(&folder));
    let off = scene.process(RecordMode::Off);
    assert_eq!(trial(&off, &models, 0, &["polite?"]).await, [1]);
    assert_eq!(trial(&off, &models, 0, &["polite?"]).await, [1], "it is cached");
    assert_eq!(trial(&scene.process(RecordMode::Record), &models, 0, &["polite?"]).await, [0]);
    let recorded = &scene.cassette("item-0").trials[0].judges[0];
    assert_eq!(recorded.tokens, Tokens::new(40, 10));
    assert_eq!(trial(&off, &models, 0, &["polite?"]).await, [0], "the new answer is cached");
    assert_eq!(server.requests().len(), 2);
}

/// Changes the fields in the header of each cached answer.
fn change_headers(folder: &TempDir, change: impl Fn(&mut Vec<String>)) {
    let folders = fs::read_dir(folder.path().join(".cobalt/cache")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    for file in files.map(|file| file.unwrap().path()) {
        let text = fs::read_to_string(&file).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let mut fields: Vec<_> = header.split(' ').map(str::to_owned).collect();
        change(&mut fields);
        fs::write(&file, format!("{}\n{rest}", fields.join(" "))).unwrap();
    }
}

#[tokio::test]
async fn a_cached_answer_is_recorded_with_its_date_and_its_tokens() {
    let (scene, server, folder) = (Scene::numbered(), judge(&[1]), tempfile::tempdir().unwrap());
    let models = models(&server, Some(&folder));
    trial(&scene.process(RecordMode::Off), &models, 0, &["polite?"]).await;
    change_headers(&folder, |fields| {
        let written: u128 = fields[2].parse().unwrap();
        fields[2] = (written - DAY.as_millis()).to_string();
    });
    let before = cobalt_core::timestamp::Timestamp::now();
    trial(&scene.process(RecordMode::Auto), &models, 0, &["polite?"]).await;
    let recorded = &scene.cassette("item-0").trials[0].judges[0];
    assert_eq!(recorded.tokens, Tokens::new(40, 10));
    assert!(recorded.recorded_at.unwrap() < before, "{recorded:?}");
    assert_eq!(server.requests().len(), 1);

    // Of an answer that was cached by an earlier version, the tokens are not known.
    change_headers(&folder, |fields| fields.truncate(5));
    trial(&scene.process(RecordMode::Off), &models, 0, &["polite?"]).await;
    assert_eq!(server.requests().len(), 1, "it is still a cached answer");
    scene.recordings().remove("item-0").unwrap();
    trial(&scene.process(RecordMode::Auto), &models, 0, &["polite?"]).await;
    assert_eq!(server.requests().len(), 2);
    assert_eq!(scene.cassette("item-0").trials[0].judges[0].tokens, Tokens::new(40, 10));
}

#[tokio::test]
async fn every_item_has_the_answer_to_a_shared_question() {
    let (scene, server) = (Scene::numbered(), judge(&[1, 0]));
    let live = models(&server, None);
    let process = scene.process(RecordMode::Record);
    for index in 0..3 {
        let execution = process.begin(index, 0);
        assert_eq!(ask_shared(&live, &execution, "steps").await, Ok(1));
        end(&execution).await;
    }
    assert_eq!(server.requests().len(), 1);
    let tokens = |index: usize| scene.cassette(&format!("item-{index}")).trials[0].judges[0].tokens.input;
    assert_eq!([tokens(0), tokens(1), tokens(2)], [40, 0, 0], "it was paid once");

    // One item is recorded again, by another process, and gets other steps.
    let other = models(&server, None);
    let execution = scene.process(RecordMode::Record).begin(1, 0);
    assert_eq!(ask_shared(&other, &execution, "steps").await, Ok(0));
    end(&execution).await;
    let (process, models) = (scene.process(RecordMode::Auto), models(&server, None));
    for (index, expected) in [(2, 1), (1, 0), (0, 1)] {
        let execution = process.begin(index, 0);
        assert_eq!(ask_shared(&models, &execution, "steps").await, Ok(expected), "item {index}");
        end(&execution).await;
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn embeddings_are_recorded_with_their_tokens_and_renewed() {
    let server = TestServer::start(|request| {
        let texts = request.body["input"].as_array().unwrap().len();
        ScriptedResponse::embeddings(&vec![vec![0.5, 1.0]; texts])
    });
    let (scene, folder) = (Scene::numbered(), tempfile::tempdir().unwrap());
    let models = models(&server, Some(&folder));
    let embed = async |mode: RecordMode| {
        let execution = scene.process(mode).begin(0, 0);
        let meter = CallMeter::new(Some(Arc::clone(&execution)));
        let vectors = models.embed(&ModelChoice::default(), &["b", "a", "b"], &meter).await.unwrap();
        assert_eq!(vectors.len(), 3);
        end(&execution).await;
        meter.usage().unwrap()
    };
    let recorded = || {
        let judges = scene.cassette("item-0").trials[0].judges.clone();
        (judges.len(), judges.iter().map(|answer| answer.tokens.input).sum::<u64>())
    };
    embed(RecordMode::Off).await;
    embed(RecordMode::Auto).await;
    assert_eq!((recorded(), server.requests().len()), ((2, 8), 1), "the cached ones are recorded");
    embed(RecordMode::Record).await;
    assert_eq!((recorded(), server.requests().len()), ((2, 8), 2));
    let usage = embed(RecordMode::Replay).await;
    assert_eq!((usage.calls, usage.tokens.input, server.requests().len()), (0, 8, 2));
}

#[tokio::test]
async fn old_answers_of_an_item_without_requests_are_renewed() {
    let (scene, server) = (Scene::numbered(), judge(&[1, 0]));
    let models = models(&server, None);
    trial(&scene.process(RecordMode::Record), &models, 0, &["polite?"]).await;
    assert_eq!(trial(&scene.renewing(RecordMode::Replay, 3), &models, 0, &["polite?"]).await, [1]);
    scene.date_back(0, 0, 40);
    assert_eq!(trial(&scene.renewing(RecordMode::Replay, 3), &models, 0, &["polite?"]).await, [0]);
    assert_eq!(trial(&scene.renewing(RecordMode::Replay, 3), &models, 0, &["polite?"]).await, [0]);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_trial_that_is_recorded_again_leaves_the_judges_of_others() {
    let (scene, server) = (Scene::numbered(), judge(&[1]));
    let models = models(&server, None);
    let process = scene.process(RecordMode::Record);
    for run in 0..3 {
        trial(&process, &models, run, &["polite?"]).await;
    }
    scene.date_back(0, 0, 40);
    let renewing = scene.renewing(RecordMode::Replay, 3);
    for run in 0..3 {
        trial(&renewing, &models, run, &["polite?"]).await;
    }
    assert_eq!(server.requests().len(), 4);
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    end_as(&execution, Status::Error).await;
    assert_eq!(scene.cassette("item-0").judge_answers().count(), 3, "a failure deletes none");
}
