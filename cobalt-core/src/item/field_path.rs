//! Paths to values in items and outputs.

use std::fmt;

use serde_json::{Map, Value};

/// The name of a field, or a path such as `context[0].text` or `meta.category`.
#[derive(Clone, PartialEq, Eq)]
pub struct FieldPath {
    name: String,
    /// The steps of the path; empty if the name is not a path.
    steps: Vec<String>,
}

/// Like the type that was once called `Variable`: the fingerprints of stored runs contain this form.
impl fmt::Debug for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("name", &self.name).field("steps", &self.steps).finish()
    }
}

impl FieldPath {
    /// The path with this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), steps: parse_path(name).unwrap_or_default() }
    }

    /// The name as written, without surrounding spaces.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first field of the path: `context` in `context[0].text`. The whole name if it is not a path.
    #[must_use]
    pub fn root(&self) -> &str {
        self.steps.first().unwrap_or(&self.name)
    }

    /// The value in `context`, where a field of the whole name takes precedence; `None` if it is missing or `null`.
    #[must_use]
    pub fn resolve<'v>(&self, context: &'v Map<String, Value>) -> Option<&'v Value> {
        let value = match context.get(&self.name) {
            Some(value) => value,
            None => self.follow(context)?,
        };
        (!value.is_null()).then_some(value)
    }

    fn follow<'v>(&self, context: &'v Map<String, Value>) -> Option<&'v Value> {
        let (root, rest) = self.steps.split_first()?;
        follow_path(context.get(root)?, rest)
    }

    /// Resolves the rest of the path, with `root` as the value of its first step; `None` if missing or `null`.
    #[must_use]
    pub fn resolve_in<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        let rest = self.steps.get(1..).unwrap_or_default();
        follow_path(root, rest).filter(|value| !value.is_null())
    }

    /// The same with an object as root; `None` if the path has no further step.
    #[must_use]
    pub fn resolve_below<'v>(&self, root: &'v Map<String, Value>) -> Option<&'v Value> {
        let (field, rest) = self.steps.get(1..)?.split_first()?;
        follow_path(root.get(field)?, rest).filter(|value| !value.is_null())
    }
}

/// Follows the steps of a path.
fn follow_path<'v>(from: &'v Value, steps: &[String]) -> Option<&'v Value> {
    steps.iter().try_fold(from, |value, step| match value {
        Value::Object(fields) => fields.get(step),
        Value::Array(values) => values.get(list_index(step)?),
        _ => None,
    })
}

/// The steps of a path such as `a.b[0].c`; `None` if the name is not a path.
fn parse_path(name: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    for part in name.split('.') {
        let (key, mut brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
        if key.is_empty() || key.contains(']') {
            return None;
        }
        steps.push(key.to_owned());
        while !brackets.is_empty() {
            let (digits, rest) = brackets.strip_prefix('[')?.split_once(']')?;
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            steps.push(digits.to_owned());
            brackets = rest;
        }
    }
    Some(steps)
}

/// The list index in a step: digits without a leading zero.
fn list_index(step: &str) -> Option<usize> {
    let canonical = step == "0" || step.starts_with(|first: char| ('1'..='9').contains(&first));
    if canonical { step.parse().ok() } else { None }
}
