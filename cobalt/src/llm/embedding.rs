//! Embeddings: from the cache, by a request in flight or in a batch, or computed locally from character n-grams.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cobalt_core::prices::Tokens;
use cobalt_core::timestamp::Timestamp;
use serde_json::json;

use super::client::Target;
use super::embedding_batcher::EmbeddedText;
use super::models::{CacheUse, Models};
use super::single_flight::Shared;
use super::vendors::Role;
use super::{AskError, CallMeter, ModelChoice, Provider, cache};
use crate::thread_pool::join_all;

/// The result for a text.
#[derive(Clone, Debug)]
pub(super) struct EmbeddingResult {
    vector: Result<Arc<[f32]>, AskError>,
    /// Whether it came from the cache.
    from_cache: bool,
    /// The tokens that it used, also if it came from the cache.
    tokens: Tokens,
    /// When it was received.
    at: Timestamp,
}

impl Models {
    /// The embeddings of texts, in order.
    pub(crate) async fn embed(
        &self,
        choice: &ModelChoice,
        texts: &[&str],
        meter: &CallMeter,
    ) -> Result<Vec<Arc<[f32]>>, AskError> {
        let target = match self.resolve_for_call(Role::Embedding, choice) {
            // What is recorded needs no key.
            Err(error) => return self.recorded_vectors(choice, texts, meter)?.ok_or(error),
            Ok(target) => target,
        };
        if target.provider != Provider::Local
            && let Some(recorded) = self.recorded_vectors(choice, texts, meter)?
        {
            return Ok(recorded);
        }
        if target.provider == Provider::Local {
            return Ok(texts.iter().map(|text| embed(text).into()).collect());
        }
        let mut places = HashMap::new();
        let mut requests: Vec<Pin<Box<dyn Future<Output = _> + Send>>> = Vec::new();
        for text in texts {
            places.entry(*text).or_insert_with(|| {
                requests.push(Box::pin(self.vector(&target, text, meter)));
                requests.len() - 1
            });
        }
        let found = join_all(requests).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let vectors: Vec<Arc<[f32]>> = found.iter().map(|(vector, ..)| Arc::clone(vector)).collect();
        if vectors.iter().any(|vector| vector.len() != vectors[0].len()) {
            let model = &target.model;
            return Err(AskError(format!(
                "the embeddings of `{model}` differ in length, because the model changed since some were cached; delete \
                the cache folder"
            )));
        }
        for (text, place) in &places {
            let (vector, tokens, at) = &found[*place];
            let key = |_| cache::recorded_text_key("embedding", text);
            let answer = (encode_vector(vector).into(), *tokens, *at);
            self.record_answer(&target, key, json!({ "text": text }), answer, meter);
        }
        Ok(texts.iter().map(|text| Arc::clone(&vectors[places[text]])).collect())
    }

    /// The recorded embeddings of texts; `None` if one of them is not recorded and may be requested.
    fn recorded_vectors(
        &self,
        choice: &ModelChoice,
        texts: &[&str],
        meter: &CallMeter,
    ) -> Result<Option<Vec<Arc<[f32]>>>, AskError> {
        let mut distinct: Vec<_> = texts.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let keys = |_| distinct.iter().map(|text| cache::recorded_text_key("embedding", text)).collect();
        let Some(answers) = self.recorded_answers(Role::Embedding, choice, keys, meter)? else {
            return Ok(None);
        };
        let vector = |text: &&str| {
            // All of them are there.
            let answer = &answers[distinct.partition_point(|other| other < text)];
            let bytes = answer.answer.as_str().and_then(|text| STANDARD.decode(text).ok());
            let damaged = || {
                AskError(format!("the recorded embedding of `{}` is damaged; record it again", answer.model))
            };
            bytes.and_then(|bytes| decode_vector(&bytes)).ok_or_else(damaged)
        };
        texts.iter().map(vector).collect::<Result<_, _>>().map(Some)
    }

    /// The embedding of a text, with the tokens that it used for this caller and when it was received.
    async fn vector(
        &self,
        target: &Target,
        text: &str,
        meter: &CallMeter,
    ) -> Result<(Arc<[f32]>, Tokens, Timestamp), AskError> {
        let key = cache::text_key("embedding", target, text);
        let usable = CacheUse::of(meter);
        let ask = async {
            if let Some(cached) = self.cached(&key, usable)
                && let Some(vector) = decode_vector(&cached.content)
            {
                let tokens = cached.tokens.unwrap_or_default();
                return EmbeddingResult { vector: Ok(vector), from_cache: true, tokens, at: cached.at };
            }
            let EmbeddedText { vector, spent, tokens } = self.batches.embed(target, &key, text).await;
            self.record_usage(meter, target, spent);
            EmbeddingResult { vector, from_cache: false, tokens, at: Timestamp::now() }
        };
        let Shared { outcome, from_other_caller: shared } =
            self.vectors.run(&usable.request_key(&key), ask).await;
        let EmbeddingResult { vector, from_cache: known, tokens, at } = outcome;
        if vector.is_ok() && (shared || known) {
            self.record_cache_hit(meter, target);
        }
        vector.map(|vector| (vector, if shared { Tokens::default() } else { tokens }, at))
    }
}

/// Encodes a vector as it is decoded, in Base64.
fn encode_vector(vector: &[f32]) -> String {
    STANDARD.encode(vector.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
}

/// Decodes a cached vector: little-endian, four bytes per number.
fn decode_vector(bytes: &[u8]) -> Option<Arc<[f32]>> {
    let (numbers, rest) = bytes.as_chunks();
    let is_whole = rest.is_empty() && !numbers.is_empty();
    is_whole.then(|| numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
}

/// The dimensions of an embedding. Different n-grams rarely collide: sentences with nothing in common score below 0.1.
const DIMENSIONS: usize = 8192;
/// The lengths of the n-grams, in characters.
const NGRAM_LENGTHS: std::ops::RangeInclusive<usize> = 3..=5;

/// The embedding of a text: a unit vector without negative components, the same on every machine. A text without a visible
/// character gives the zero vector.
///
/// The text is lowercased, each stretch of white space becomes one blank, and each punctuation mark becomes a word, with
/// blanks around it. Then all 3-, 4- and 5-grams of characters are counted, including blanks, so the starts and ends of
/// words count too. The square root of each count is added at the index given by a hash of the n-gram.
pub fn embed(text: &str) -> Vec<f32> {
    let characters = normalize(text);
    let mut counts: HashMap<&[char], u32> = HashMap::new();
    for run in NGRAM_LENGTHS.flat_map(|length| characters.windows(length)) {
        *counts.entry(run).or_default() += 1;
    }
    // The order of a hash map differs between processes, and a floating-point sum depends on the order.
    let mut weights: Vec<(usize, u32)> =
        counts.iter().map(|(run, count)| (ngram_index(run), *count)).collect();
    weights.sort_unstable();
    let mut embedding = vec![0.0_f64; DIMENSIONS];
    for (place, count) in weights {
        embedding[place] += f64::from(count).sqrt();
    }
    let length = embedding.iter().map(|value| value * value).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    embedding.into_iter().map(|value| (value * scale) as f32).collect()
}

/// The normalized characters: lowercase words with one blank before, between and after them.
fn normalize(text: &str) -> Vec<char> {
    let mut characters = vec![' '];
    for character in text.chars().flat_map(char::to_lowercase) {
        let is_mark = !character.is_alphanumeric() && !character.is_whitespace();
        if (is_mark || character.is_whitespace()) && characters.last() != Some(&' ') {
            characters.push(' ');
        }
        if !character.is_whitespace() {
            characters.push(character);
        }
        if is_mark {
            characters.push(' ');
        }
    }
    if characters.last() != Some(&' ') {
        characters.push(' ');
    }
    characters
}

/// The index of an n-gram: FNV-1a over its characters, folded to the dimensions of an embedding.
///
/// Source: <http://www.isthe.com/chongo/tech/comp/fnv/>.
fn ngram_index(run: &[char]) -> usize {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = run.iter().flat_map(|character| u32::from(*character).to_le_bytes());
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    ((hash ^ (hash >> 32)) % DIMENSIONS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> f64 {
        let (a, b) = (embed(a), embed(b));
        a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn the_figures_of_the_documentation_hold() {
        let figures = [
            ("Refunds take five days.", "refunds take  five days.", 1.00),
            ("The dog bites the man.", "The man bites the dog.", 0.83),
            ("Refunds take five days.", "Refunds do not take five days.", 0.80),
            ("Refunds take five days.", "Refunds take fifteen days.", 0.74),
            ("Refunds take five days.", "A refund takes five working days.", 0.52),
            ("Refunds take five days.", "Our office opens at nine.", 0.04),
            ("cheap", "inexpensive", 0.00),
        ];
        for (a, b, figure) in figures {
            assert!((alike(a, b) - figure).abs() < 0.005, "{a} / {b}: {}", alike(a, b));
            let row = format!("| {a} | {b} | {figure:.2} |");
            assert!(include_str!("../../docs/judges.md").contains(&row), "not in the documentation: {row}");
        }
    }

    #[test]
    fn an_embedding_has_the_length_one_and_nothing_negative() {
        let embedding = embed("Where may I park, and where not? Wo darf ich parken? 東京");
        let length: f64 = embedding.iter().map(|value| f64::from(*value).powi(2)).sum();
        assert!((length - 1.0).abs() < 1e-6, "{length}");
        assert!(embedding.iter().all(|value| *value >= 0.0));
    }

    #[test]
    fn an_embedding_is_the_same_in_every_process() {
        // The only 3-gram, ` a `, is at the index given by its hash.
        let place = embed("A").iter().position(|value| *value == 1.0);
        assert_eq!(place, Some(7565));
        assert_eq!(embed("one two three one two"), embed("one two three one two"));
    }

    #[test]
    fn a_text_without_a_visible_character_is_zero() {
        for text in ["", " \n\t"] {
            assert!(embed(text).iter().all(|value| *value == 0.0), "{text:?}");
        }
    }

    #[test]
    fn punctuation_does_not_change_the_word_before_it() {
        assert!(alike("The capital is Paris", "The capital is Paris!") > 0.9);
    }
}
