//! The variants of an experiment: the same function and dataset with different settings.

use std::collections::HashSet;
use std::sync::Arc;

use cobalt_core::experiment_name;
use cobalt_core::redact::redacted;
use serde::Serialize;
use serde_json::{Map, Value};

/// The maximum number of variants of an experiment.
const MAX_VARIANTS: usize = 100;

/// The variants of an experiment: names, each with its settings, which are any value that serde can serialize.
///
/// ```
/// use cobalt::Variants;
/// use serde_json::json;
///
/// let models = Variants::new().variant("mini", json!({ "model": "gpt-4o-mini" })).variant("large", json!({ "model": "gpt-4o" }));
/// assert_eq!(models.names().collect::<Vec<_>>(), ["mini", "large"]);
///
/// // Every combination; the names consist of the values.
/// let all = Variants::axes().axis("model", ["mini", "large"]).axis("temperature", [0.0, 0.7]);
/// assert_eq!(all.names().collect::<Vec<_>>(), ["mini-0.0", "mini-0.7", "large-0.0", "large-0.7"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Variants {
    list: Vec<Variant>,
    /// What is wrong with them; reported when the experiment is loaded.
    problem: Option<String>,
}

/// One variant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variant {
    pub name: String,
    pub settings: Value,
}

/// A variant of an experiment.
#[derive(Clone, Debug)]
pub struct ResolvedVariant {
    /// The experiment's name, without the variant.
    pub experiment: String,
    pub name: String,
    /// Its name before its settings were changed for this run.
    pub declared_name: String,
    /// The ID that the runs of all variants share.
    pub group: String,
    /// Its place among the variants as declared, from 0.
    pub position: usize,
    pub is_default: bool,
    pub settings: Arc<Value>,
}

impl Variants {
    /// No variants yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A single variant without settings, to be multiplied by [`axis`](Self::axis).
    pub fn axes() -> Self {
        Self {
            list: vec![Variant { name: String::new(), settings: Value::Object(Map::new()) }],
            problem: None,
        }
    }

    /// Adds a variant. Its settings are passed to the agent, see [`Context::variant`](crate::Context::variant).
    pub fn variant(mut self, name: impl Into<String>, settings: impl Serialize) -> Self {
        let name = name.into();
        match serde_json::to_value(settings) {
            Ok(settings) => self.list.push(Variant { name, settings }),
            Err(error) => {
                self.problem
                    .get_or_insert(format!("the settings of variant `{name}` cannot be serialized: {error}"));
            }
        }
        self
    }

    /// Multiplies the variants by the values of a field: each variant is replaced by one for each value. Their names end with the value,
    /// as in `mini-0.7`.
    pub fn axis<V: Serialize>(mut self, field: &str, values: impl IntoIterator<Item = V>) -> Self {
        let values: Result<Vec<_>, _> = values.into_iter().map(serde_json::to_value).collect();
        let values = match values {
            Ok(values) => values,
            Err(error) => {
                self.problem
                    .get_or_insert(format!("a value of the axis `{field}` cannot be serialized: {error}"));
                return self;
            }
        };
        if values.is_empty() {
            self.problem.get_or_insert(format!("the axis `{field}` has no values; add some, or remove it"));
        }
        let with_value = |variant: &Variant, value: &Value| {
            let label = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let label = experiment_name::case_name(&redacted(&label));
            let name = if variant.name.is_empty() { label } else { format!("{}-{label}", variant.name) };
            let mut settings = variant.settings.clone();
            if let Some(fields) = settings.as_object_mut() {
                fields.insert(field.to_owned(), value.clone());
            }
            Variant { name, settings }
        };
        self.list = self
            .list
            .iter()
            .flat_map(|variant| values.iter().map(move |value| with_value(variant, value)))
            .collect();
        self
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().map(|variant| &*variant.name)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.problem.is_none()
    }

    pub(crate) fn list(&self) -> &[Variant] {
        &self.list
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.list.extend(more.list);
        self.problem = self.problem.take().or(more.problem);
    }

    /// Returns what is invalid, and what to change.
    pub(crate) fn validate(&self) -> Result<(), String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.list.len() > MAX_VARIANTS {
            return Err(format!("it has {} variants, but the maximum is {MAX_VARIANTS}", self.list.len()));
        }
        let mut names = HashSet::new();
        for Variant { name, .. } in &self.list {
            if name.trim().is_empty() {
                return Err("a variant has an empty name; give it one".to_owned());
            }
            // Test cases are named after variants.
            if RESERVED.contains(&&**name) {
                return Err(format!("a variant cannot be named `{name}`; rename it"));
            }
            if !names.insert(experiment_name::case_name(name)) {
                return Err(format!("two variants are named `{name}` in test cases; rename one"));
            }
        }
        Ok(())
    }
}

/// The names of cases of an experiment without variants.
const RESERVED: [&str; 5] = ["thresholds", "summaries", "dataset", "definition", "results"];

impl<N: Into<String>, S: Serialize> FromIterator<(N, S)> for Variants {
    fn from_iter<I: IntoIterator<Item = (N, S)>>(variants: I) -> Self {
        variants.into_iter().fold(Self::new(), |all, (name, settings)| all.variant(name, settings))
    }
}

impl<N: Into<String>, S: Serialize> From<Vec<(N, S)>> for Variants {
    fn from(variants: Vec<(N, S)>) -> Self {
        variants.into_iter().collect()
    }
}

impl<N: Into<String>, S: Serialize, const COUNT: usize> From<[(N, S); COUNT]> for Variants {
    fn from(variants: [(N, S); COUNT]) -> Self {
        variants.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn axes_are_multiplied_in_order() {
        let variants = Variants::axes().axis("model", ["a/b", "c"]).axis("shots", [0, 3]);
        let found: Vec<_> =
            variants.list().iter().map(|variant| (&*variant.name, &variant.settings)).collect();
        assert_eq!(found[0], ("a-b-0", &json!({ "model": "a/b", "shots": 0 })));
        assert_eq!(found[3], ("c-3", &json!({ "model": "c", "shots": 3 })));
        assert_eq!(found.len(), 4);
        assert_eq!(variants.validate(), Ok(()));
    }

    #[test]
    fn names_that_test_cases_cannot_have_are_refused() {
        let problem = |names: &[&str]| {
            let variants: Variants = names.iter().map(|name| (*name, 1)).collect();
            variants.validate().unwrap_err()
        };
        assert_eq!(problem(&["a b", "a-b"]), "two variants are named `a-b` in test cases; rename one");
        assert_eq!(problem(&[" "]), "a variant has an empty name; give it one");
        assert_eq!(problem(&["thresholds"]), "a variant cannot be named `thresholds`; rename it");
        let none: [&str; 0] = [];
        assert_eq!(
            Variants::axes().axis("model", none).validate().unwrap_err(),
            "the axis `model` has no values; add some, or remove it"
        );
    }
}
