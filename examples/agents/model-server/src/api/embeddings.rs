//! OpenAI's embeddings: texts with the same words and parts of words have similar vectors.

use serde_json::{Value, json};

use super::{Failure, list, owned};
use crate::conversation::hash;
use crate::text::lower_words;
use crate::tokens;

const DIMENSIONS: u64 = 256;
/// The length of parts of words, in characters.
const PART: usize = 4;

pub(super) fn response(body: &Value) -> Result<Value, Failure> {
    if body["encoding_format"].as_str().is_some_and(|format| format != "float") {
        return Err(Failure::Unsupported("this encoding format".to_owned()));
    }
    let texts: Vec<String> = match &body["input"] {
        Value::String(text) => vec![text.clone()],
        input => list(input).iter().map(owned).collect(),
    };
    let dimensions = body["dimensions"].as_u64().unwrap_or(DIMENSIONS).max(1);
    let rows = texts.iter().enumerate().map(
        |(index, text)| json!({ "object": "embedding", "index": index, "embedding": vector(text, dimensions) }),
    );
    let tokens: u64 = texts.iter().map(|text| tokens::count(text)).sum();
    Ok(json!({
        "object": "list",
        "data": rows.collect::<Vec<_>>(),
        "model": body["model"],
        "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
    }))
}

/// A vector of length 1: the counts of words and parts of words, each at a place given by its hash.
fn vector(text: &str, dimensions: u64) -> Vec<f64> {
    let mut vector = vec![0.0; dimensions as usize];
    let mut add = |part: &str| vector[(hash(part) % dimensions) as usize] += 1.0;
    for word in lower_words(text) {
        add(&word);
        let letters: Vec<char> = word.chars().collect();
        letters.windows(PART).for_each(|part| add(&part.iter().collect::<String>()));
    }
    let length = vector.iter().map(|value: &f64| value * value).sum::<f64>().sqrt().max(1.0);
    // Six digits are enough, and keep recordings short.
    vector.iter().map(|value| (value / length * 1e6).round() / 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_texts_have_similar_vectors() {
        let cosine = |one: &str, other: &str| -> f64 {
            vector(one, DIMENSIONS).iter().zip(vector(other, DIMENSIONS)).map(|(a, b)| a * b).sum()
        };
        let same = cosine("It opened in 1937.", "it opened in 1937");
        assert!((same - 1.0).abs() < 1e-3, "{same}");
        assert!(cosine("It opened in 1937.", "It was opened in 1937.") > 0.7);
        assert!(cosine("It opened in 1937.", "A red bus stops here") < 0.3);
    }

    #[test]
    fn there_is_a_vector_for_each_text() {
        let body = json!({ "model": "text-embedding-3-small", "input": ["a", "b"], "dimensions": 8 });
        let response = response(&body).unwrap();
        assert_eq!(response["data"].as_array().unwrap().len(), 2);
        assert_eq!(response["data"][1]["embedding"].as_array().unwrap().len(), 8);
        assert!(super::response(&json!({ "input": "a", "encoding_format": "base64" })).is_err());
    }
}
