//! Only failures that an agent calls transient are retried, and nothing of the failed attempts is lost or mixed with the last one.

use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt_core::item::ModelCall;
use cobalt_core::prices::PriceTable;
use serde_json::json;

use super::*;
use crate::evaluators::{EvalError, Evaluation, FnEvaluator};
use crate::experiment::{Agent, AgentError};
use crate::llm::{ModelChoice, ModelSettings};
use crate::recording::RecordSettings;

/// An item's work, with waits of milliseconds before retries.
pub fn work<M>(definition: ResolvedDefinition, agent: impl Agent<M>) -> Work {
    let models = ModelSettings {
        judge: ModelChoice::default(),
        embedding: ModelChoice::default(),
        timeout: Duration::from_secs(1),
        retries: 0,
        concurrency: 1,
        cache: None,
    };
    let dataset = Dataset::from_items([crate::item! { "id": "one" }]);
    Work {
        rescoring: None,
        experiment: 0,
        names: definition.evaluators.iter().map(|evaluator| evaluator.name().into()).collect(),
        definition: Arc::new(definition),
        agent: agent.into_shared().call,
        keys: Arc::new(dataset.item_keys()),
        dataset,
        models: Models::shared(&models, &PriceTable::default()),
        items: vec![0],
        prices: PriceTable::default(),
        traffic: None,
        trace_limits: ContentLimits::default(),
        back_off: BackOff { first: Duration::from_millis(1), max: Duration::from_millis(2) },
        slots: Arc::new(Semaphore::new(1)),
        workspaces: None,
    }
}

pub fn definition(retries: usize) -> ResolvedDefinition {
    ResolvedDefinition {
        name: "desk".to_owned(),
        runs: 1,
        retries,
        concurrency: 1,
        timeout: Duration::from_secs(20),
        evaluator_timeout: Duration::from_secs(20),
        tags: Vec::new(),
        evaluators: vec![Arc::new(FnEvaluator::new("right", |cx| cx.output_text() == "Paris"))],
        thresholds: Vec::new(),
        summaries: Vec::new(),
        variant: None,
        group_by: Vec::new(),
        strict: true,
        models: None,
        recording: RecordSettings::default().resolve("desk", None),
        conversation: None,
        source_hash: None,
        declared_at: None,
        workspace: None,
        faults: Arc::default(),
    }
}

/// Runs the item with an agent that gets the number of its call, from 0. Returns the result and the number of calls.
async fn run<R: crate::IntoOutput + Send + 'static>(
    definition: ResolvedDefinition,
    agent: impl AsyncAgent<R>,
) -> (ItemResult, usize) {
    let calls = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&calls);
    let work =
        work(definition, move |context: Context| agent.call(context, counted.fetch_add(1, Ordering::SeqCst)));
    let item = run_item(&work, 0, |_| Account::default(), |_| {}).await.unwrap();
    (item, calls.load(Ordering::SeqCst))
}

/// An async function of the context and the number of the call.
trait AsyncAgent<R>: Send + Sync + 'static {
    fn call(&self, context: Context, number: usize) -> Pin<Box<dyn Future<Output = R> + Send>>;
}

impl<R, F, Fut> AsyncAgent<R> for F
where
    F: Fn(Context, usize) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    fn call(&self, context: Context, number: usize) -> Pin<Box<dyn Future<Output = R> + Send>> {
        Box::pin(self(context, number))
    }
}

#[test]
fn retries_are_part_of_the_fingerprint_only_if_there_are_any() {
    let evaluator = definition(0).evaluators[0].fingerprint();
    let parts =
        ["runs 1", "timeout 20s", "strict true", &format!("right from 0.5 {evaluator}")].map(str::to_owned);
    assert_eq!(definition(0).fingerprint(), cobalt_core::hash::sha256_hex(&parts), "as before");
    assert_ne!(definition(1).fingerprint(), definition(0).fingerprint());
    assert_ne!(definition(1).fingerprint(), definition(2).fingerprint());
}

#[test]
fn there_are_at_most_ten_retries() {
    assert_eq!((definition(0).validate(), definition(10).validate()), (Ok(()), Ok(())));
    let problem = definition(11).validate().unwrap_err();
    assert!(problem.starts_with("`retries` is 11, but the maximum is 10"), "{problem}");
}

fn busy() -> AgentError {
    AgentError::transient("the model is busy")
}

/// A judge that counts its calls.
#[derive(Debug, Default)]
struct Counting(Mutex<Vec<String>>);

impl Evaluator for Arc<Counting> {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        self.0.lock().unwrap().push(cx.output_text().to_owned());
        Box::pin(async { Err(EvalError::new("the judge is busy")) })
    }
}

#[tokio::test]
async fn a_transient_failure_is_retried_and_only_the_last_attempt_is_evaluated() {
    let judge = Arc::<Counting>::default();
    let definition = definition(3);
    let evaluators =
        [definition.evaluators.clone(), vec![Arc::new(Arc::clone(&judge)) as Arc<dyn Evaluator>]].concat();
    let definition = ResolvedDefinition { evaluators, ..definition };
    let (item, calls) = run(definition, async |context: Context, number| {
        context.record(ModelCall::new("gpt-4o").tokens(100, number as u64));
        context.record(crate::Record::note("attempt", number));
        if number < 2 { Err(busy()) } else { Ok("Paris") }
    })
    .await;
    assert_eq!(calls, 3);
    let trial = item.first_trial();
    assert_eq!((trial.status, trial.error.as_deref()), (Status::Ok, None));
    assert_eq!(trial.evaluations.get("right").unwrap().score, Some(1.0));
    assert_eq!(*judge.0.lock().unwrap(), ["Paris"], "an evaluator that fails is not called again");
    assert_eq!(trial.metadata()["tokens"], json!({ "input": 100, "output": 2 }), "of the last attempt");
    assert_eq!(trial.metadata()["attempt"], 2);
    let attempts: Vec<_> =
        trial.retried.iter().map(|attempt| (&*attempt.error, json!(attempt.metadata))).collect();
    let usage = |output: u64| {
        let tokens = json!({ "input": 100, "output": output });
        json!({ "usage": [{ "model": "gpt-4o", "calls": 1, "tokens": tokens }], "model": "gpt-4o", "tokens": tokens })
    };
    assert_eq!(attempts, [("the model is busy", usage(0)), ("the model is busy", usage(1))]);
    assert_eq!(trial.token_count().unwrap().total, 303);
}

#[tokio::test]
async fn after_the_last_retry_the_trial_has_failed_and_each_trial_has_its_own_retries() {
    let definition = ResolvedDefinition { runs: 2, ..definition(2) };
    // The first trial fails three times, the second once.
    let (item, calls) =
        run(definition, async |_, number| if number < 4 { Err(busy()) } else { Ok("Paris") }).await;
    assert_eq!(calls, 5);
    let trials: Vec<_> =
        item.runs.iter().map(|run| (run.status, run.retried.len(), run.error.as_deref())).collect();
    assert_eq!(trials, [(Status::Error, 2, Some("the model is busy")), (Status::Ok, 1, None)]);
    assert!(!item.passed);
}

#[tokio::test]
async fn nothing_is_retried_unless_it_is_asked_for() {
    let (item, calls) = run(definition(0), async |_, _| Err::<String, _>(busy())).await;
    assert_eq!((item.status(), calls, item.runs[0].retried.len()), (Status::Error, 1, 0));
}

#[tokio::test]
async fn other_failures_and_low_scores_are_not_retried() {
    let once = |(item, calls): (ItemResult, usize)| {
        assert_eq!((calls, item.runs[0].retried.len(), item.passed), (1, 0, false), "{item:?}");
        (item.status(), item.error().map(str::to_owned))
    };
    let error = run(definition(5), async |_, _| Err::<String, _>(AgentError::new("status 503"))).await;
    assert_eq!(once(error), (Status::Error, Some("status 503".to_owned())));
    let panic = run(definition(5), async |_, _| -> String { panic!("{}", busy()) }).await;
    assert_eq!(once(panic).0, Status::Error);
    let definition_of_a_moment = ResolvedDefinition { timeout: Duration::from_millis(5), ..definition(5) };
    let timeout = run(definition_of_a_moment, async |_, _| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        Err::<String, _>(busy())
    });
    assert_eq!(once(timeout.await).0, Status::Timeout);
    let low = run(definition(5), async |_, _| "Rome").await;
    assert_eq!(once(low), (Status::Ok, None));
    let refused = run(definition(5), async |_, _| Output::new("Paris").cost(f64::NAN)).await;
    assert_eq!(once(refused).0, Status::Error);
}

#[tokio::test]
async fn each_attempt_has_its_own_time_limit_and_latency() {
    let definition = ResolvedDefinition { timeout: Duration::from_millis(500), ..definition(3) };
    let (item, calls) = run(definition, async |_, number| {
        match number {
            0 => {}
            1 => tokio::time::sleep(Duration::from_millis(20)).await,
            _ => std::future::pending().await,
        }
        Err::<String, _>(busy())
    })
    .await;
    assert_eq!((item.status(), calls), (Status::Timeout, 3));
    let trial = item.first_trial();
    let latencies: Vec<_> = trial.retried.iter().map(|attempt| attempt.latency_ms).collect();
    assert!(latencies.len() == 2 && latencies[1] >= 20.0, "{latencies:?}");
    assert!(trial.latency_ms >= 500.0, "{}", trial.latency_ms);
}

#[tokio::test]
async fn what_an_attempt_leaves_behind_cannot_record_for_the_next() {
    let left_behind = Arc::<Mutex<Option<Context>>>::default();
    let left = Arc::clone(&left_behind);
    let (item, _) = run(definition(1), move |context: Context, number| {
        let earlier = left.lock().unwrap().replace(context);
        async move {
            if let Some(earlier) = earlier {
                earlier.record(ModelCall::new("gpt-4o").tokens(7, 7));
            }
            if number == 0 { Err(busy()) } else { Ok("Paris") }
        }
    })
    .await;
    assert_eq!((item.passed, item.first_trial().token_count()), (true, None));
    assert!(item.first_trial().retried[0].metadata.is_empty());
}

#[tokio::test]
async fn a_plain_agent_is_retried_too() {
    let calls = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&calls);
    let agent = move |_: Item| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => Err(crate::BoxError::from(busy())),
        _ => Ok("Paris"),
    };
    let item = run_item(&work(definition(1), agent), 0, |_| Account::default(), |_| {}).await.unwrap();
    assert_eq!((item.passed, item.runs[0].retried.len()), (true, 1));
}
