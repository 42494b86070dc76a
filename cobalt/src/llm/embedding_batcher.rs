//! Batches texts to embed, from all evaluations, into few requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cobalt_core::prices::Tokens;
use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::AskError;
use super::cache::Cache;
use super::client::{Client, ClientError, Embeddings, Target};

/// The maximum number of texts per request: Cohere's limit; other vendors accept more.
const MAX_TEXTS_PER_REQUEST: usize = 96;
/// The maximum size of a request with several texts, in bytes: far below every vendor's token limit.
const MAX_BYTES_PER_REQUEST: usize = 100_000;
/// How long a text waits for a batch.
const BATCH_DELAY: Duration = Duration::from_millis(2);

/// Texts waiting for a request, by target. Each runtime has its own requests, so a runtime that is not running or has ended
/// does not block others.
#[derive(Debug)]
pub(super) struct EmbeddingBatcher {
    client: Arc<Client>,
    cache: Option<Arc<Cache>>,
    queues: Mutex<Vec<(Id, Target, Vec<QueuedText>)>>,
}

/// A waiting text.
#[derive(Debug)]
struct QueuedText {
    text: String,
    key: String,
    answer: oneshot::Sender<EmbeddedText>,
}

/// The result for a text.
#[derive(Debug)]
pub(super) struct EmbeddedText {
    pub(super) vector: Result<Arc<[f32]>, AskError>,
    /// Its share of the request's usage. The shares of all texts add up to the whole.
    pub(super) spent: CallUsage,
    /// The tokens of the text itself, without those of others.
    pub(super) tokens: Tokens,
}

/// Completed requests, and their token usage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallUsage {
    pub(super) calls: u64,
    pub(super) tokens: Tokens,
}

impl CallUsage {
    pub(super) fn one_call(tokens: Tokens) -> Self {
        Self { calls: 1, tokens }
    }
}

impl EmbeddingBatcher {
    pub(super) fn new(client: Arc<Client>, cache: Option<Arc<Cache>>) -> Self {
        Self { client, cache, queues: Mutex::default() }
    }

    /// The embedding of a text, which is cached under its key.
    pub(super) async fn embed(self: &Arc<Self>, target: &Target, key: &str, text: &str) -> EmbeddedText {
        let (answer, answered) = oneshot::channel();
        self.add(target, QueuedText { text: text.to_owned(), key: key.to_owned(), answer });
        answered.await.unwrap_or_else(|_| {
            let error = AskError("the embedding request ended early".to_owned());
            EmbeddedText { vector: Err(error), spent: CallUsage::default(), tokens: Tokens::default() }
        })
    }

    /// Queues a text, and sends the queue when it fills a request, else after a short wait.
    fn add(self: &Arc<Self>, target: &Target, waiting: QueuedText) {
        let (is_first, full) = self.enqueue(target, waiting);
        if is_first {
            tokio::spawn(Arc::clone(self).send_after(BATCH_DELAY, target.clone()));
        }
        self.dispatch(target, full);
    }

    /// Queues a text. Returns whether it is the first, and the queue if it fills a request.
    fn enqueue(&self, target: &Target, waiting: QueuedText) -> (bool, Vec<QueuedText>) {
        let runtime = Handle::current().id();
        let mut queues = self.lock();
        let is_ours =
            |(of, to, _): &(Id, Target, Vec<QueuedText>)| *of == runtime && is_same_target(to, target);
        let place = queues.iter().position(is_ours).unwrap_or_else(|| {
            queues.push((runtime, target.clone(), Vec::new()));
            queues.len() - 1
        });
        let queue = &mut queues[place].2;
        queue.push(waiting);
        let full = if queue.len() == MAX_TEXTS_PER_REQUEST { std::mem::take(queue) } else { Vec::new() };
        (queue.len() == 1, full)
    }

    /// Sends the queue of a target after a wait.
    async fn send_after(self: Arc<Self>, wait: Duration, target: Target) {
        sleep(wait).await;
        let runtime = Handle::current().id();
        let waiting = {
            let mut queues = self.lock();
            let place = queues.iter().position(|(of, to, _)| *of == runtime && is_same_target(to, &target));
            place.map(|place| queues.swap_remove(place).2)
        };
        self.dispatch(&target, waiting.unwrap_or_default());
    }

    /// Sends texts in as many requests as needed.
    fn dispatch(self: &Arc<Self>, target: &Target, waiting: Vec<QueuedText>) {
        for batch in split_into_requests(waiting) {
            tokio::spawn(Arc::clone(self).send(target.clone(), batch));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Id, Target, Vec<QueuedText>)>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one request, caches the embeddings, and returns each caller its share.
    async fn send(self: Arc<Self>, target: Target, mut batch: Vec<QueuedText>) {
        batch.retain(|waiting| !waiting.answer.is_closed());
        if batch.is_empty() {
            return;
        }
        let texts: Vec<_> = batch.iter().map(|waiting| &*waiting.text).collect();
        let mut wasted = CallUsage::default();
        let embedded = match self.client.embed(&target, &texts).await {
            // As with questions, an unusable response is retried once.
            Err(ClientError::Malformed { tokens, .. }) => {
                wasted = CallUsage::one_call(tokens);
                self.client.embed(&target, &texts).await
            }
            other => other,
        };
        match embedded {
            Ok(Embeddings { vectors, tokens }) => {
                let vectors: Vec<Arc<[f32]>> = vectors.into_iter().map(Arc::from).collect();
                for ((waiting, vector), tokens) in batch.iter().zip(&vectors).zip(shares(&batch, tokens)) {
                    self.keep(&waiting.key, vector, tokens);
                }
                distribute(batch, vectors.into_iter().map(Ok), tokens, wasted, 1);
            }
            // One text may be the cause, so split the batch to save the others.
            Err(ClientError::Refused(_)) if batch.len() > 1 => {
                let half = batch.split_off(batch.len() / 2);
                for part in [batch, half] {
                    Box::pin(Arc::clone(&self).send(target.clone(), part)).await;
                }
            }
            Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => {
                distribute(batch, std::iter::repeat(Err(AskError(problem))), Tokens::default(), wasted, 0);
            }
            Err(ClientError::Malformed { problem, tokens }) => {
                let error = AskError(format!("{problem} (2 attempts)"));
                distribute(batch, std::iter::repeat(Err(error)), tokens, wasted, 1);
            }
        }
    }

    fn keep(&self, key: &str, vector: &[f32], tokens: Tokens) {
        if let Some(cache) = &self.cache {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            cache.put(key, &bytes, tokens);
        }
    }
}

/// Whether two targets can share requests.
fn is_same_target(one: &Target, other: &Target) -> bool {
    let parts = |target: &Target| {
        (target.provider, target.model.clone(), target.base_url.clone(), target.api_key.clone())
    };
    parts(one) == parts(other)
}

/// Splits texts into requests, in order.
fn split_into_requests(waiting: Vec<QueuedText>) -> Vec<Vec<QueuedText>> {
    let mut portions: Vec<Vec<QueuedText>> = Vec::new();
    let mut bytes = 0;
    for one in waiting {
        bytes += one.text.len();
        match portions.last_mut() {
            Some(last) if last.len() < MAX_TEXTS_PER_REQUEST && bytes <= MAX_BYTES_PER_REQUEST => {
                last.push(one)
            }
            _ => {
                bytes = one.text.len();
                portions.push(vec![one]);
            }
        }
    }
    portions
}

/// Returns each caller the result for its text, with its share of the tokens by length. The share of a caller that no longer
/// waits goes to the next one.
fn distribute(
    batch: Vec<QueuedText>,
    vectors: impl Iterator<Item = Result<Arc<[f32]>, AskError>>,
    tokens: Tokens,
    wasted: CallUsage,
    calls: u64,
) {
    let mut spent = wasted;
    spent.calls += calls;
    let shares = shares(&batch, tokens);
    for ((waiting, vector), tokens) in batch.into_iter().zip(vectors).zip(shares) {
        spent.tokens += tokens;
        if waiting.answer.send(EmbeddedText { vector, spent, tokens }).is_ok() {
            spent = CallUsage::default();
        }
    }
}

/// The share of each text in the tokens of its request, by length. They add up to the whole.
fn shares(batch: &[QueuedText], tokens: Tokens) -> Vec<Tokens> {
    // An empty text has a share too, so the last text always completes the whole.
    let weight = |waiting: &QueuedText| waiting.text.len() as u64 + 1;
    let whole: u64 = batch.iter().map(weight).sum();
    let (mut read, mut shared) = (0, Tokens::default());
    let mut next = |waiting: &QueuedText| {
        read += weight(waiting);
        let up_to = |count: u64| share(count, read, whole);
        let due = Tokens {
            input: up_to(tokens.input),
            output: up_to(tokens.output),
            cached_input: up_to(tokens.cached_input),
        };
        let own = Tokens {
            input: due.input - shared.input,
            output: due.output - shared.output,
            cached_input: due.cached_input - shared.cached_input,
        };
        shared = due;
        own
    };
    batch.iter().map(&mut next).collect()
}

/// `count · part / whole`, rounded down; all of it where `part` is the whole, which is not 0.
fn share(count: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(count) * u128::from(part) / u128::from(whole);
    u64::try_from(share).unwrap_or(count)
}
