//! The model: a text belongs to the class with the most similar centroid, the mean of its examples.
//!
//! The formulas are those of Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008: tf-idf
//! weights in chapter 6, and classes by their centroids (Rocchio) in chapter 14.

use std::collections::BTreeMap;

use crate::features::{Feature, features};
use crate::training::Example;

/// The softmax scale of similarities: maximizes the leave-one-out likelihood of the training messages.
const SHARPNESS: f64 = 35.0;

type Vector = BTreeMap<Feature, f64>;

/// A trained model.
#[derive(Debug)]
pub(crate) struct Model {
    /// The inverse document frequency of each feature.
    weights: BTreeMap<Feature, f64>,
    /// A unit vector for each class, by name.
    centroids: BTreeMap<String, Vector>,
}

impl Model {
    pub(crate) fn train(examples: &[Example]) -> Self {
        let mut spread: BTreeMap<Feature, f64> = BTreeMap::new();
        for feature in examples.iter().flat_map(|example| features(&example.message).into_keys()) {
            *spread.entry(feature).or_default() += 1.0;
        }
        let all = examples.len() as f64;
        let weight = |with: f64| ((1.0 + all) / (1.0 + with)).ln();
        let weights = spread.into_iter().map(|(feature, with)| (feature, weight(with))).collect();

        let mut sums: BTreeMap<String, Vector> = BTreeMap::new();
        for example in examples {
            let sum = sums.entry(example.intent.clone()).or_default();
            for (feature, value) in vector(&weights, &example.message) {
                *sum.entry(feature).or_default() += value;
            }
        }
        // A sum has the same direction as the mean.
        let centroids = sums.into_iter().map(|(class, sum)| (class, normalize(sum))).collect();
        Self { weights, centroids }
    }

    /// The classes with their probabilities, the most probable first. The probabilities add up to 1.
    pub(crate) fn classify(&self, text: &str) -> Vec<(&str, f64)> {
        let vector = vector(&self.weights, text);
        let odds = |centroid| (SHARPNESS * cosine(&vector, centroid)).exp();
        let mut ranking: Vec<_> =
            self.centroids.iter().map(|(class, centroid)| (&**class, odds(centroid))).collect();
        let total: f64 = ranking.iter().map(|(_, odds)| odds).sum();
        ranking.iter_mut().for_each(|(_, odds)| *odds /= total);
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranking
    }
}

/// A text as a unit vector, or a zero vector if it has no informative features.
fn vector(weights: &BTreeMap<Feature, f64>, text: &str) -> Vector {
    let known = features(text).into_iter().filter_map(|(feature, count)| {
        let weight = weights.get(&feature)?;
        Some((feature, weight * (1.0 + count.ln())))
    });
    normalize(known.collect())
}

fn normalize(mut vector: Vector) -> Vector {
    let length = vector.values().map(|value| value * value).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.values_mut().for_each(|value| *value /= length);
    }
    vector
}

/// The cosine similarity of two unit vectors.
fn cosine(a: &Vector, b: &Vector) -> f64 {
    a.iter().map(|(feature, value)| value * b.get(feature).copied().unwrap_or(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(examples: &[(&str, &str)]) -> Model {
        let example = |&(intent, message): &(&str, &str)| Example {
            intent: intent.to_owned(),
            message: message.to_owned(),
        };
        Model::train(&examples.iter().map(example).collect::<Vec<_>>())
    }

    fn drinks() -> Model {
        model(&[
            ("tea", "a hot cup"),
            ("tea", "a black leaf"),
            ("ice", "a cold cup"),
            ("ice", "a frozen lake"),
        ])
    }

    #[test]
    fn a_text_belongs_where_its_words_do() {
        assert_eq!(drinks().classify("hot and black")[0].0, "tea");
        assert_eq!(drinks().classify("as cold as the lake")[0].0, "ice");
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let drinks = drinks();
        let ranking = drinks.classify("a hot lake");
        assert!((ranking.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12, "{ranking:?}");
        assert!(ranking[0].1 >= ranking[1].1);
    }

    #[test]
    fn what_no_example_has_decides_nothing() {
        for text in ["", "?", "xyz"] {
            assert_eq!(drinks().classify(text), [("ice", 0.5), ("tea", 0.5)], "{text}");
        }
    }

    #[test]
    fn what_all_examples_have_decides_nothing() {
        assert_eq!(drinks().classify("a"), [("ice", 0.5), ("tea", 0.5)]);
    }

    #[test]
    fn a_misspelt_word_is_known_by_its_trigrams() {
        assert_eq!(drinks().classify("frozn")[0].0, "ice");
        assert_eq!(drinks().classify("blakc")[0].0, "tea");
    }

    #[test]
    fn a_rare_word_says_more_than_a_common_one() {
        let examples = [("tea", "cup hot"), ("ice", "cup cold"), ("ice", "cup mint"), ("tea", "sugar")];
        assert_eq!(model(&examples).classify("sugar cup")[0].0, "tea");
    }
}
