//! How an `Autoeval` asks models: the question with its data marked as such, and texts compared by their embeddings.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::evaluators::EvalError;
use crate::evaluators::asking::tagged;
use crate::llm::{Asking, ModelChoice, Moderation, Schema};
use crate::metrics::embedding_similarity;

/// The models that one evaluation asks.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) asking: Asking,
    pub(super) model: &'a ModelChoice,
    pub(super) embedding: ModelChoice,
}

impl Judge<'_> {
    /// Asks a question, for the `which`th time.
    pub(super) async fn ask<T>(
        &self,
        prompt: String,
        schema: Schema,
        which: u32,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, EvalError> {
        tagged::ask(&self.asking, self.model, prompt, schema, which, read).await
    }

    /// What a moderation model finds in a text.
    pub(super) async fn moderate(&self, text: &str) -> Result<Moderation, EvalError> {
        let Asking { models, meter } = &self.asking;
        Ok(models.moderate(self.model, text, meter).await?)
    }

    /// The embeddings of texts.
    pub(super) async fn embed<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Embeddings<'t>, EvalError> {
        let texts: Vec<&str> = texts.into_iter().collect();
        if texts.is_empty() {
            return Ok(Embeddings(BTreeMap::new()));
        }
        let Asking { models, meter } = &self.asking;
        let vectors = models.embed(&self.embedding, &texts, meter).await?;
        Ok(Embeddings(texts.into_iter().zip(vectors).collect()))
    }

    /// The likeness of two texts by their embeddings.
    pub(super) async fn similarity(&self, a: &str, b: &str, expected_min: f64) -> Result<f64, EvalError> {
        // Most models refuse an empty text, but two of them are alike all the same.
        if a == b {
            return Ok(1.0);
        }
        self.embed([a, b]).await?.similarity(a, b, expected_min)
    }
}

/// Texts with their embeddings.
#[derive(Debug)]
pub(super) struct Embeddings<'t>(BTreeMap<&'t str, Arc<[f32]>>);

impl Embeddings<'_> {
    /// The likeness of two of the texts.
    pub(super) fn similarity(&self, a: &str, b: &str, expected_min: f64) -> Result<f64, EvalError> {
        let vector = |text: &str| {
            self.0.get(text).ok_or_else(|| EvalError::new("fewer embeddings came back than texts were sent"))
        };
        embedding_similarity(vector(a)?, vector(b)?, expected_min)
            .map_err(|error| EvalError::new(error.to_string()))
    }
}
