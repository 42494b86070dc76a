//! Embeddings: each text is looked up, then awaited with all others who ask for it, then sent with others.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use super::batches::Answered;
use super::client::Target;
use super::flights::Landed;
use super::models::Models;
use super::vendors::Role;
use super::{AskError, Meter, ModelChoice, Provider, key};
use crate::future::join_all;

/// What came of a text.
#[derive(Clone, Debug)]
pub(super) struct Found {
    vector: Result<Arc<[f32]>, AskError>,
    /// Whether it came from the cache.
    known: bool,
}

impl Models {
    /// The embeddings of texts, in their order.
    pub(crate) async fn embed(
        &self,
        choice: &ModelChoice,
        texts: &[&str],
        meter: &Meter,
    ) -> Result<Vec<Arc<[f32]>>, AskError> {
        let target = self.target(Role::Embedding, choice)?;
        if target.provider == Provider::Local {
            return Ok(texts.iter().map(|text| crate::llm::lexical::embed(text).into()).collect());
        }
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Err(AskError("a text to embed is empty, and no model takes that".to_owned()));
        }
        let mut places = HashMap::new();
        let mut requests: Vec<Pin<Box<dyn Future<Output = _> + Send>>> = Vec::new();
        for text in texts {
            places.entry(*text).or_insert_with(|| {
                requests.push(Box::pin(self.vector(&target, text, meter)));
                requests.len() - 1
            });
        }
        let vectors = join_all(requests).await.into_iter().collect::<Result<Vec<Arc<[f32]>>, _>>()?;
        if vectors.iter().any(|vector| vector.len() != vectors[0].len()) {
            let model = &target.model;
            return Err(AskError(format!(
                "the embeddings of `{model}` are not of one length; clear the cache"
            )));
        }
        Ok(texts.iter().map(|text| Arc::clone(&vectors[places[text]])).collect())
    }

    async fn vector(&self, target: &Target, text: &str, meter: &Meter) -> Result<Arc<[f32]>, AskError> {
        let key = key::of_text("embedding", target, text);
        let ask = async {
            if let Some(vector) = self.kept(&key).and_then(|bytes| vector(&bytes)) {
                return Found { vector: Ok(vector), known: true };
            }
            let Answered { vector, spent } = self.batches.embed(target, &key, text).await;
            self.charge(meter, target, spent);
            Found { vector, known: false }
        };
        let Landed { outcome: Found { vector, known }, shared } = self.vectors.join(&key, ask).await;
        if vector.is_ok() && (shared || known) {
            self.known(meter, target);
        }
        vector
    }
}

/// A vector as it is kept: its numbers, four bytes each, the lowest first.
fn vector(bytes: &[u8]) -> Option<Arc<[f32]>> {
    let (numbers, rest) = bytes.as_chunks();
    let is_whole = rest.is_empty() && !numbers.is_empty();
    is_whole.then(|| numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}
