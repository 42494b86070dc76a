//! One rule of a fault plan.

use std::fmt;
use std::str::FromStr;

use cobalt_core::hash::sha256_hex;

use super::injection::Injection;

/// The hexadecimal digits of a hash that decide about a rate: as many as a float holds exactly.
const DIGITS: usize = 13;

/// One rule of a fault plan: a glob of tools, the number of a call, a fault, and a rate.
///
/// ```
/// use cobalt::tools::{FaultRule, Injection};
///
/// let rule = FaultRule::new("search", Injection::Timeout).call(2).rate(30.0);
/// assert_eq!(rule, "search#2: timeout at 30%".parse()?);
/// # Ok::<(), cobalt::tools::FaultError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct FaultRule {
    tool: String,
    call: Option<usize>,
    injection: Injection,
    /// In percent.
    rate: Option<f64>,
}

/// A rule of a fault plan that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the fault rule `{rule}` is not valid: {problem}; a rule is `<tool>: <fault>`, as in `search: timeout`, `search#2: error` or \
         `*: slow 2s at 30%`"
)]
pub struct FaultError {
    rule: String,
    problem: String,
}

/// The call for which a decision is made.
#[derive(Clone, Copy, Debug)]
pub struct CallId<'a> {
    pub seed: u64,
    pub item: &'a str,
    pub trial: usize,
    pub tool: &'a str,
    /// Its number among those of the tool in the attempt, from 1.
    pub number: usize,
}

impl FaultRule {
    /// A fault for each call of the tools that a glob names, such as `search` or `*`.
    pub fn new(tool: impl Into<String>, injection: Injection) -> Self {
        Self { tool: tool.into(), call: None, injection, rate: None }
    }

    /// Only for this call of each tool in an execution, from 1.
    pub fn call(mut self, number: usize) -> Self {
        self.call = Some(number);
        self
    }

    /// Only for this share of the calls, in percent.
    pub fn rate(mut self, percent: f64) -> Self {
        self.rate = Some(percent);
        self
    }

    /// The fault.
    #[must_use]
    pub fn injection(&self) -> &Injection {
        &self.injection
    }
}

/// Returns what is invalid about a rule.
pub fn validate(rule: &FaultRule) -> Result<(), FaultError> {
    let refused = |problem: String| Err(FaultError { rule: rule.to_string(), problem });
    if rule.tool.trim().is_empty() {
        return refused("it names no tool; `*` stands for all".to_owned());
    }
    if let Err(error) = glob::Pattern::new(&rule.tool) {
        return refused(format!("`{}` is not a valid pattern: {}", rule.tool, error.msg));
    }
    if rule.call == Some(0) {
        return refused("calls are counted from 1".to_owned());
    }
    match rule.rate {
        Some(rate) if !(rate > 0.0 && rate <= 100.0) => {
            refused(format!("its rate is {rate}%, but must be above 0% and at most 100%"))
        }
        _ => Ok(()),
    }
}

impl CallId<'_> {
    /// Whether a rule applies to it. `place` is that of the rule among all.
    pub fn is_hit_by(self, rule: &FaultRule, place: usize) -> bool {
        rule.call.is_none_or(|number| number == self.number)
            && glob::Pattern::new(&rule.tool).is_ok_and(|pattern| pattern.matches(self.tool))
            && rule.rate.is_none_or(|rate| share(place, self) < rate / 100.0)
    }
}

/// A number from 0 to 1 that depends on nothing but the call and the rule.
fn share(place: usize, CallId { seed, item, trial, tool, number }: CallId<'_>) -> f64 {
    let parts = [
        seed.to_string(),
        item.to_owned(),
        trial.to_string(),
        tool.to_owned(),
        number.to_string(),
        place.to_string(),
    ];
    let hash = sha256_hex(&parts);
    let number = u64::from_str_radix(&hash[..DIGITS], 16).unwrap_or_default();
    number as f64 / (1_u64 << (4 * DIGITS)) as f64
}

impl fmt::Display for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        if let Some(call) = self.call {
            write!(f, "#{call}")?;
        }
        write!(f, ": {}", self.injection)?;
        self.rate.map_or(Ok(()), |rate| write!(f, " at {rate}%"))
    }
}

impl FromStr for FaultRule {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let text = text.trim();
        let refused = |problem: String| FaultError { rule: text.to_owned(), problem };
        // Names of tools may contain colons.
        let split = text.split_once(": ").or_else(|| text.split_once(':'));
        let (tool, fault) =
            split.ok_or_else(|| refused("it has no `:` between the tool and the fault".to_owned()))?;
        let (tool, call) = match tool.rsplit_once('#') {
            Some((tool, number)) => {
                let number = number.trim().parse();
                let number =
                    number.map_err(|_| refused("after `#` comes the number of a call, from 1".to_owned()))?;
                (tool, Some(number))
            }
            None => (tool, None),
        };
        let (fault, rate) = split_rate(fault).map_err(refused)?;
        let injection = fault.parse().map_err(refused)?;
        let rule = Self { tool: tool.trim().to_owned(), call, injection, rate };
        validate(&rule).map_err(|error| FaultError { rule: text.to_owned(), ..error })?;
        Ok(rule)
    }
}

/// Splits `timeout at 30%` into the fault and the rate.
fn split_rate(text: &str) -> Result<(&str, Option<f64>), String> {
    let text = text.trim();
    // The text of an error ends with a quotation mark.
    let Some((fault, rate)) = text.rsplit_once(" at ").filter(|_| !text.ends_with('"')) else {
        return Ok((text, None));
    };
    let percent = rate.trim().strip_suffix('%').and_then(|rate| rate.trim_end().parse().ok());
    let percent =
        percent.ok_or_else(|| format!("the rate `{}` is no percentage such as `30%`", rate.trim()))?;
    Ok((fault, Some(percent)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn call(tool: &str, number: usize) -> CallId<'_> {
        CallId { seed: 0, item: "one", trial: 0, tool, number }
    }

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for text in [
            "search: timeout",
            "search#2: error",
            "*: slow 2s at 30%",
            r#"mcp:search#1: error "no: not at 5%" at 0.5%"#,
            r#"search: error "at noon""#,
        ] {
            assert_eq!(text.parse::<FaultRule>().unwrap().to_string(), text);
        }
        assert_eq!(
            "se* # 3 :slow 20ms at 100 %".parse(),
            Ok(FaultRule::new("se*", Injection::Slow(Duration::from_millis(20))).call(3).rate(100.0))
        );
    }

    #[test]
    fn an_invalid_rule_says_what_is_wrong_and_what_is_valid() {
        let problem = |text: &str| text.parse::<FaultRule>().unwrap_err();
        for (text, expected) in [
            ("search", "it has no `:` between the tool and the fault"),
            (": timeout", "it names no tool; `*` stands for all"),
            ("search#x: timeout", "after `#` comes the number of a call, from 1"),
            ("search#0: timeout", "calls are counted from 1"),
            ("[: timeout", "`[` is not a valid pattern: invalid range pattern"),
            ("search: timeout at half", "the rate `half` is no percentage such as `30%`"),
            ("search: timeout at 0%", "its rate is 0%, but must be above 0% and at most 100%"),
            ("search: timeout at 200%", "its rate is 200%, but must be above 0% and at most 100%"),
        ] {
            assert_eq!(problem(text).problem, expected, "{text}");
        }
        assert_eq!(
            problem("search: slow").to_string(),
            "the fault rule `search: slow` is not valid: `slow` needs a duration: write, for example, `slow 2s`; a rule is `<tool>: \
             <fault>`, as in `search: timeout`, `search#2: error` or `*: slow 2s at 30%`"
        );
    }

    #[test]
    fn a_rule_is_for_its_tools_and_its_call() {
        let applies = |rule: &str, tool, number| call(tool, number).is_hit_by(&rule.parse().unwrap(), 0);
        assert!(applies("search: empty", "search", 1) && applies("s*: empty", "search", 9));
        assert!(!applies("search: empty", "research", 1));
        assert!(applies("search#2: empty", "search", 2) && !applies("search#2: empty", "search", 1));
    }

    #[test]
    fn a_rate_is_met_and_depends_on_each_part_of_a_call() {
        let rule: FaultRule = "search: empty at 30%".parse().unwrap();
        let hit = |number| call("search", number).is_hit_by(&rule, 0);
        let hits = (1..=1000).filter(|number| hit(*number)).count();
        assert_eq!(hits, 316, "it never changes");
        let one = call("search", 1);
        let other = [
            share(0, one),
            share(1, one),
            share(0, CallId { seed: 1, ..one }),
            share(0, CallId { item: "two", ..one }),
            share(0, CallId { trial: 1, ..one }),
            share(0, CallId { tool: "find", ..one }),
            share(0, CallId { number: 2, ..one }),
        ];
        for (at, value) in other.iter().enumerate() {
            assert!((0.0..1.0).contains(value) && !other[..at].contains(value));
        }
    }
}
