//! Fault plans: which calls of tools fail, and how.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::injection::Injection;
use super::rule::{CallId, FaultError, FaultRule, validate};

/// What stands for a plan without faults, as a value of an axis.
const NONE: &str = "none";

/// A fault plan: rules, of which the first that applies to a call decides, and a seed for rates.
///
/// ```
/// use cobalt::tools::{FaultRule, Faults, Injection};
///
/// let plan = Faults::parse("search: timeout at 30%; *: slow 2s")?.seed(7);
/// let built = Faults::new().seed(7).rule("search: timeout at 30%").rule("*: slow 2s");
/// assert_eq!(plan, built);
/// # Ok::<(), cobalt::tools::FaultError>(())
/// ```
///
/// As text, rules are separated by `;`, and `seed 7` sets the seed. `none` is a plan without faults.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Faults {
    seed: u64,
    rules: Vec<FaultRule>,
    /// What is wrong with them; reported before anything runs.
    problem: Option<FaultError>,
}

impl Faults {
    /// A plan without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads rules, separated by `;`, with or without `seed 7`.
    ///
    /// # Errors
    ///
    /// A rule is not valid.
    pub fn parse(text: &str) -> Result<Self, FaultError> {
        let mut plan = Self::new();
        plan.extend(text);
        plan.problem.take().map_or(Ok(plan), Err)
    }

    /// The seed on which rates depend, 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Adds a rule: a [`FaultRule`], or one as text. One that is not valid is an error when the experiment is run.
    pub fn rule(mut self, rule: impl IntoFaultRule) -> Self {
        let rule = rule.into_rule().and_then(|rule| validate(&rule).map(|()| rule));
        match rule {
            Ok(rule) => self.rules.push(rule),
            Err(error) => {
                self.problem.get_or_insert(error);
            }
        }
        self
    }

    /// The rules, in order.
    pub fn rules(&self) -> &[FaultRule] {
        &self.rules
    }

    /// Adds rules as text.
    fn extend(&mut self, text: &str) {
        for rule in split_rules(text) {
            if rule == NONE {
                continue;
            }
            if let Some(seed) = rule.strip_prefix("seed ").and_then(|seed| seed.trim().parse().ok()) {
                self.seed = seed;
                continue;
            }
            *self = std::mem::take(self).rule(rule);
        }
    }

    /// The plan in a setting: text, a list of texts, or `null`.
    pub(crate) fn of_setting(value: &Value) -> Result<Self, String> {
        let mut plan = Self::new();
        let texts = match value {
            Value::Null => &[],
            Value::Array(list) => &list[..],
            one => std::slice::from_ref(one),
        };
        for text in texts {
            let text = text.as_str().ok_or_else(|| {
                format!("`faults` is a fault rule such as \"search: timeout\", a list of rules or \"{NONE}\", not {value}")
            })?;
            plan.extend(text);
        }
        plan.problem.take().map_or(Ok(plan), |problem| Err(problem.to_string()))
    }

    /// Checks the rules.
    ///
    /// # Errors
    ///
    /// The first rule that is not valid.
    pub fn validate(&self) -> Result<(), FaultError> {
        self.problem.clone().map_or(Ok(()), Err)
    }

    /// Whether it injects nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.problem.is_none()
    }

    /// The fault of a call: that of the first rule that applies.
    pub(super) fn injection(
        &self,
        item: &str,
        trial: usize,
        tool: &str,
        number: usize,
    ) -> Option<&Injection> {
        let call = CallId { seed: self.seed, item, trial, tool, number };
        let found = self.rules.iter().enumerate().find(|(place, rule)| call.is_hit_by(rule, *place));
        found.map(|(_, rule)| rule.injection())
    }
}

/// The rules of a text: what is between `;`, except in quotation marks.
fn split_rules(text: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_end = move |letter: char| {
        match letter {
            '"' if !is_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        is_escaped = letter == '\\' && !is_escaped;
        !is_quoted && matches!(letter, ';' | '\n')
    };
    text.split(is_end).map(str::trim).filter(|rule| !rule.is_empty())
}

/// As it is read: `seed 7; search: timeout`.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = (self.seed != 0).then(|| format!("seed {}", self.seed));
        let parts: Vec<_> = seed.into_iter().chain(self.rules.iter().map(ToString::to_string)).collect();
        if parts.is_empty() { f.write_str(NONE) } else { f.write_str(&parts.join("; ")) }
    }
}

impl FromStr for Faults {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        Self::parse(text)
    }
}

impl From<&str> for Faults {
    fn from(text: &str) -> Self {
        let mut plan = Self::new();
        plan.extend(text);
        plan
    }
}

impl From<String> for Faults {
    fn from(text: String) -> Self {
        Self::from(&*text)
    }
}

impl<T: AsRef<str>, const N: usize> From<[T; N]> for Faults {
    fn from(rules: [T; N]) -> Self {
        rules.into_iter().collect()
    }
}

impl<T: AsRef<str>> From<Vec<T>> for Faults {
    fn from(rules: Vec<T>) -> Self {
        rules.into_iter().collect()
    }
}

impl<T: AsRef<str>> FromIterator<T> for Faults {
    fn from_iter<I: IntoIterator<Item = T>>(rules: I) -> Self {
        let mut plan = Self::new();
        rules.into_iter().for_each(|rule| plan.extend(rule.as_ref()));
        plan
    }
}

/// A rule of a fault plan: a [`FaultRule`], or one as text.
pub trait IntoFaultRule {
    /// The rule.
    ///
    /// # Errors
    ///
    /// The text is not a rule.
    fn into_rule(self) -> Result<FaultRule, FaultError>;
}

impl IntoFaultRule for FaultRule {
    fn into_rule(self) -> Result<FaultRule, FaultError> {
        Ok(self)
    }
}

impl IntoFaultRule for &str {
    fn into_rule(self) -> Result<FaultRule, FaultError> {
        self.parse()
    }
}

impl IntoFaultRule for String {
    fn into_rule(self) -> Result<FaultRule, FaultError> {
        self.parse()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_reads_as_it_is_written() {
        let text = r#"seed 7; search: error "no; \"x\""; *: slow 2s at 30%"#;
        let plan = Faults::parse(text).unwrap();
        assert_eq!((plan.to_string().as_str(), plan.rules().len()), (text, 2));
        assert_eq!(Faults::from(["seed 7", r#"search: error "no; \"x\"""#, "*: slow 2s at 30%"]), plan);
        assert_eq!(Faults::parse(" none ").unwrap(), Faults::new());
        assert_eq!(Faults::new().to_string(), "none");
    }

    #[test]
    fn the_first_rule_that_applies_wins() {
        let plan = Faults::from("search#1: timeout; search: empty at 30%; s*: stale");
        let of = |tool, number| plan.injection("one", 0, tool, number);
        assert_eq!(
            (of("search", 1), of("sum", 4), of("add", 1)),
            (Some(&Injection::Timeout), Some(&Injection::Stale), None)
        );
        let later: Vec<_> = (2..200).filter_map(|number| of("search", number)).collect();
        assert_eq!(later.len(), 198);
        assert!(later.contains(&&Injection::Empty) && later.contains(&&Injection::Stale));
    }

    #[test]
    fn settings_are_text_lists_or_nothing() {
        let read = |value| Faults::of_setting(&value);
        assert_eq!(read(json!("search: timeout")), Ok(Faults::from("search: timeout")));
        assert_eq!(read(json!(["a: empty", "b: stale"])), Ok(Faults::from("a: empty; b: stale")));
        assert_eq!((read(json!("none")), read(json!(null))), (Ok(Faults::new()), Ok(Faults::new())));
        assert_eq!(
            read(json!(3)).unwrap_err(),
            "`faults` is a fault rule such as \"search: timeout\", a list of rules or \"none\", not 3"
        );
        assert!(read(json!("search")).unwrap_err().starts_with("the fault rule `search` is not valid: "));
    }

    #[test]
    fn an_invalid_rule_is_kept_as_the_problem_of_the_plan() {
        let plan = Faults::new().rule("search").rule("find: empty");
        assert!(plan.validate().is_err() && plan.rules().len() == 1);
        let typed = Faults::new().rule(FaultRule::new("search", Injection::Stale).rate(0.0));
        assert!(typed.validate().unwrap_err().to_string().contains("above 0%"));
    }
}
