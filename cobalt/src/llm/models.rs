//! [`Models`]: the front end for all evaluators that call models.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cobalt_core::prices::{JudgeUsage, PriceTable, Tokens, is_local_server};
use cobalt_core::recordings::JudgeAnswer;
use cobalt_core::timestamp::Timestamp;
use serde_json::Value;

use super::answer::AcceptedAnswer;
use super::cache::{Cache, CachedResponse};
use super::client::{Client, Target};
use super::embedding::EmbeddingResult;
use super::embedding_batcher::{CallUsage, EmbeddingBatcher};
use super::single_flight::SingleFlight;
use super::vendors::Role;
use super::{AskError, CallMeter, CheckError, ModelChoice, ModelSettings, Provider, target};
use crate::budget::Charge;

/// The instances in use: users with the same settings share one.
static IN_USE: Mutex<Vec<Weak<Models>>> = Mutex::new(Vec::new());

/// The models that this process calls.
#[derive(Debug)]
pub(crate) struct Models {
    settings: ModelSettings,
    prices: PriceTable,
    /// Looks up an environment variable.
    variable: fn(&str) -> Option<String>,
    pub(super) client: Arc<Client>,
    cache: Option<Arc<Cache>>,
    /// Questions and moderations in flight.
    pub(super) answers: SingleFlight<Result<AcceptedAnswer, AskError>>,
    /// Embeddings in flight.
    pub(super) vectors: SingleFlight<EmbeddingResult>,
    /// The answers to questions that all items share, by the key of the request.
    pub(super) shared_answers: Mutex<HashMap<String, AcceptedAnswer>>,
    pub(super) batches: Arc<EmbeddingBatcher>,
}

/// Which cached answers a caller may use. One that is recorded must be what the recording says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheUse {
    Any,
    /// Those whose tokens are known: they are recorded.
    WithTokens,
    /// None: everything is recorded again.
    None,
}

impl CacheUse {
    pub(super) fn of(meter: &CallMeter) -> Self {
        match &meter.recording {
            Some(recording) if recording.renews() => Self::None,
            Some(recording) if recording.records() => Self::WithTokens,
            _ => Self::Any,
        }
    }

    /// The key of a request. Only callers who may use the same answers share it.
    pub(super) fn request_key(self, key: &str) -> String {
        match self {
            Self::Any => key.to_owned(),
            Self::WithTokens => format!("{key} to record"),
            Self::None => format!("{key} to record again"),
        }
    }
}

impl Models {
    /// The instance for these settings and prices. All users in a process with the same settings share it, and thus the
    /// concurrency limit and the requests in flight.
    pub(crate) fn shared(settings: &ModelSettings, prices: &PriceTable) -> Arc<Self> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|models| models.strong_count() > 0);
        let same = in_use
            .iter()
            .filter_map(Weak::upgrade)
            .find(|models| models.settings == *settings && models.prices == *prices);
        same.unwrap_or_else(|| {
            let variable = crate::recording::original_variable;
            let models = Arc::new(Self::new(settings.clone(), prices.clone(), variable));
            in_use.push(Arc::downgrade(&models));
            models
        })
    }

    /// An unshared instance. `variable` looks up an environment variable.
    pub(crate) fn new(
        settings: ModelSettings,
        prices: PriceTable,
        variable: fn(&str) -> Option<String>,
    ) -> Self {
        let client = Arc::new(Client::new(&settings, &prices));
        let cache = settings.cache.clone().map(|settings| Arc::new(Cache::new(settings)));
        let batches = Arc::new(EmbeddingBatcher::new(Arc::clone(&client), cache.clone()));
        let (answers, vectors, shared_answers) = Default::default();
        Self { settings, prices, variable, client, cache, answers, vectors, shared_answers, batches }
    }

    /// Checks that a judge can be called: the key is set, and the provider supports chat.
    pub(crate) fn check_judge(&self, choice: &ModelChoice) -> Result<(), CheckError> {
        self.resolve(Role::Judge, choice).map(drop)
    }

    /// The same for embeddings.
    pub(crate) fn check_embedding(&self, choice: &ModelChoice) -> Result<(), CheckError> {
        self.resolve(Role::Embedding, choice).map(drop)
    }

    /// The same for moderation.
    pub(crate) fn check_moderation(&self, choice: &ModelChoice) -> Result<(), CheckError> {
        self.resolve(Role::Moderation, choice).map(drop)
    }

    /// The name of the judge's model; empty if there is none.
    pub(crate) fn judge_model(&self, choice: &ModelChoice) -> String {
        self.resolve(Role::Judge, choice).map(|target| target.model).unwrap_or_default()
    }

    fn resolve(&self, role: Role, choice: &ModelChoice) -> Result<Target, CheckError> {
        target::resolve_target(role, choice, &self.settings, &self.variable)
    }

    /// Resolves a choice at call time.
    pub(super) fn resolve_for_call(&self, role: Role, choice: &ModelChoice) -> Result<Target, AskError> {
        self.resolve(role, choice).map_err(|error| AskError(error.to_string()))
    }

    /// Reads from the cache.
    pub(super) fn cached(&self, key: &str, usable: CacheUse) -> Option<CachedResponse> {
        match usable {
            CacheUse::Any => self.cache.as_ref()?.get(key),
            CacheUse::WithTokens => self.cache.as_ref()?.get(key).filter(|cached| cached.tokens.is_some()),
            CacheUse::None => None,
        }
    }

    /// Writes to the cache.
    pub(super) fn cache_response(&self, key: &str, content: &[u8], tokens: Tokens) {
        if let Some(cache) = &self.cache {
            cache.put(key, content, tokens);
        }
    }

    /// Adds calls, tokens and cost to the usage.
    pub(super) fn record_usage(
        &self,
        meter: &CallMeter,
        target: &Target,
        CallUsage { calls, tokens }: CallUsage,
    ) {
        if calls == 0 && tokens == Tokens::default() {
            return;
        }
        let (model, is_local) = (&target.model, is_local_server(&target.base_url));
        let mut known = 0.0;
        meter.add(|usage| {
            usage.calls += calls;
            known = self.add_response(usage, (model, is_local), tokens);
        });
        if let Some((payer, account)) = &meter.payer {
            // What is unknown counts for the budget when the response arrives.
            account.pay(*payer, Charge { charged: known, known });
        }
    }

    /// Adds the tokens of a response, and its cost if its price is known; a model on this machine costs nothing without a price. Returns
    /// this cost in USD, or 0.
    fn add_response(&self, usage: &mut JudgeUsage, (model, is_local): (&str, bool), tokens: Tokens) -> f64 {
        push_unique(&mut usage.models, model);
        let known = tokens.if_plausible();
        usage.tokens += known.unwrap_or_default();
        let cost = match self.prices.price(model) {
            Some(price) => known.map(|tokens| price.cost(tokens)),
            None => is_local.then_some(0.0),
        };
        if cost.is_none() && tokens.total() > 0 {
            push_unique(&mut usage.unpriced, model);
        }
        usage.cost += cost.unwrap_or(0.0);
        cost.unwrap_or(0.0)
    }

    /// The recorded answer to a question, of which `key` makes the key with the temperature.
    ///
    /// An error if it is not recorded, and questions must not be asked.
    pub(super) fn recorded_answer(
        &self,
        role: Role,
        choice: &ModelChoice,
        key: impl FnOnce(Option<f64>) -> String,
        meter: &CallMeter,
    ) -> Result<Option<JudgeAnswer>, AskError> {
        let answers = self.recorded_answers(role, choice, |temperature| vec![key(temperature)], meter)?;
        Ok(answers.and_then(|answers| answers.into_iter().next()))
    }

    /// The same for several questions that differ: the answers to all of them.
    pub(super) fn recorded_answers(
        &self,
        role: Role,
        choice: &ModelChoice,
        keys: impl FnOnce(Option<f64>) -> Vec<String>,
        meter: &CallMeter,
    ) -> Result<Option<Vec<JudgeAnswer>>, AskError> {
        let Some(recording) = &meter.recording else { return Ok(None) };
        let named = target::resolve_model(role, choice, &self.settings, &self.variable);
        let named = named.map_err(|error| AskError(error.to_string()))?;
        let keys = keys(named.temperature);
        let Some(answers) = recording.judge_answers(&keys, &named.model, named.is_chosen) else {
            return recording.refused_question().map_or(Ok(None), |problem| Err(AskError(problem)));
        };
        for answer in &answers {
            meter.add(|usage| {
                usage.replayed += 1;
                usage.replayed_cost +=
                    self.add_response(usage, (&answer.model, named.is_local), answer.tokens);
            });
        }
        Ok(Some(answers))
    }

    /// Records an answer, if answers are recorded.
    pub(super) fn record_answer(
        &self,
        target: &Target,
        key: impl FnOnce(Option<f64>) -> String,
        question: Value,
        (answer, tokens, at): (Value, Tokens, Timestamp),
        meter: &CallMeter,
    ) {
        if let Some(recording) = &meter.recording {
            let model = Provider::split_prefix(&target.model).map_or(&*target.model, |(_, bare)| bare);
            let provider = target.provider.name().to_owned();
            recording.keep_judge_answer(
                JudgeAnswer {
                    key: key(target.temperature),
                    provider,
                    model: model.to_owned(),
                    question: None,
                    answer,
                    tokens,
                    recorded_at: Some(at),
                },
                question,
            );
        }
    }

    /// Counts a cached or shared answer.
    pub(super) fn record_cache_hit(&self, meter: &CallMeter, target: &Target) {
        meter.add(|usage| {
            push_unique(&mut usage.models, &target.model);
            usage.cached += 1;
        });
    }
}

fn push_unique(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|noted| noted == name) {
        names.push(name.to_owned());
    }
}
