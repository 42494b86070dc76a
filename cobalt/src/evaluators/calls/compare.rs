//! Matches expected calls with made calls one to one, and formats calls for reasons.

use cobalt_core::wording::truncate;
use serde_json::Value;

use super::call::ToolCall;
use crate::metrics::{json_subset, longest_common_subsequence, max_weight_matching};

/// Expected and made calls.
#[derive(Debug)]
pub struct Comparison {
    pub(super) expected: Vec<ToolCall>,
    pub(super) made: Vec<ToolCall>,
    /// Whether arguments matter, if an expected call has any.
    pub(super) match_arguments: bool,
}

/// Pairs of indices: of an expected and a made call.
pub type Pairs = Vec<(usize, usize)>;

/// The result of matching expected calls with made calls.
#[derive(Debug, Default)]
pub struct Pairing {
    /// The call matches.
    pub(super) matched: Pairs,
    /// The call matches, but out of order. Only if the order matters.
    pub(super) out_of_order: Pairs,
    /// The tool matches, the arguments do not.
    pub(super) wrong_arguments: Pairs,
    /// Expected, but not made.
    pub(super) missing: Vec<usize>,
    /// Made, but not expected.
    pub(super) unexpected: Vec<usize>,
}

impl Comparison {
    /// Matches as many calls as possible, in any order.
    pub fn match_in_any_order(&self) -> Pairing {
        let (expected, made) = (self.all_expected(), self.all_made());
        let (met, other_arguments) = self.match_calls(&expected, &made);
        self.with_unmatched(Pairing { matched: met, wrong_arguments: other_arguments, ..Pairing::default() })
    }

    /// Matches as many calls as possible in the expected order, and the rest in any order.
    pub fn match_in_order(&self) -> Pairing {
        let matches = |row: usize, column: usize| self.matches(&self.expected[row], &self.made[column]);
        let met = longest_common_subsequence(self.expected.len(), self.made.len(), matches);
        let without = |all: Vec<usize>, taken: Vec<usize>| -> Vec<usize> {
            all.into_iter().filter(|index| !taken.contains(index)).collect()
        };
        let expected = without(self.all_expected(), met.iter().map(|pair| pair.0).collect());
        let made = without(self.all_made(), met.iter().map(|pair| pair.1).collect());
        let (out_of_order, other_arguments) = self.match_calls(&expected, &made);
        self.with_unmatched(Pairing {
            matched: met,
            out_of_order,
            wrong_arguments: other_arguments,
            ..Pairing::default()
        })
    }

    /// Pairs calls of the same tool so that the sum of their shares of correct arguments is maximal.
    pub fn match_by_arguments(&self) -> Vec<(usize, usize, f64)> {
        let weigh = |expected: &ToolCall, made: &ToolCall| {
            // A pair of the same tool is better than none, even without a correct argument.
            if expected.name == made.name { 1.0 + share_of_arguments(expected, made) } else { 0.0 }
        };
        let (expected, made) = (self.all_expected(), self.all_made());
        let pairs = max_weight_matching(&self.weights(&expected, &made, weigh)).into_iter();
        let pairs = pairs.filter(|(one, other)| self.expected[*one].name == self.made[*other].name);
        pairs
            .map(|(one, other)| (one, other, share_of_arguments(&self.expected[one], &self.made[other])))
            .collect()
    }

    fn all_expected(&self) -> Vec<usize> {
        (0..self.expected.len()).collect()
    }

    fn all_made(&self) -> Vec<usize> {
        (0..self.made.len()).collect()
    }

    /// Whether a call matches. One with unreadable arguments never does.
    fn matches(&self, expected: &ToolCall, made: &ToolCall) -> bool {
        let is_readable_call = expected.name == made.name && made.arguments_error.is_none();
        is_readable_call && (!self.match_arguments || wrong_arguments(expected, made).is_none())
    }

    /// The matching pairs, and those of the same tool with other arguments.
    fn match_calls(&self, expected: &[usize], made: &[usize]) -> (Pairs, Pairs) {
        // All pairs with other arguments together weigh less than one match.
        let near = 0.5 / (expected.len() + 1) as f64;
        let weigh = |expected: &ToolCall, made: &ToolCall| match self.matches(expected, made) {
            true => 1.0,
            false if expected.name == made.name => near * (0.5 + share_of_arguments(expected, made) / 2.0),
            false => 0.0,
        };
        let pairs = max_weight_matching(&self.weights(expected, made, weigh)).into_iter();
        let pairs = pairs.map(|(one, other)| (expected[one], made[other]));
        let named = pairs.filter(|(one, other)| self.expected[*one].name == self.made[*other].name);
        named.partition(|(one, other)| self.matches(&self.expected[*one], &self.made[*other]))
    }

    fn weights(
        &self,
        expected: &[usize],
        made: &[usize],
        weigh: impl Fn(&ToolCall, &ToolCall) -> f64,
    ) -> Vec<Vec<f64>> {
        let row =
            |one: &usize| made.iter().map(|other| weigh(&self.expected[*one], &self.made[*other])).collect();
        expected.iter().map(row).collect()
    }

    /// Fills in the calls that are in no pair.
    pub fn with_unmatched(&self, mut pairing: Pairing) -> Pairing {
        let pairs = || pairing.matched.iter().chain(&pairing.out_of_order).chain(&pairing.wrong_arguments);
        let (mut expected, mut made) = (vec![false; self.expected.len()], vec![false; self.made.len()]);
        pairs().for_each(|(one, other)| (expected[*one], made[*other]) = (true, true));
        let free = |taken: Vec<bool>| (0..taken.len()).filter(|index| !taken[*index]).collect();
        (pairing.missing, pairing.unexpected) = (free(expected), free(made));
        pairing
    }
}

/// The names of the expected arguments that a call does not have; `None` as a name if the expected arguments are not an
/// object. Returns `None` if the call has all of them.
pub fn wrong_arguments<'e>(expected: &'e ToolCall, made: &ToolCall) -> Option<Vec<Option<&'e str>>> {
    let wanted = expected.arguments.as_ref()?;
    let none = Value::Object(serde_json::Map::new());
    let given = made.arguments.as_ref().unwrap_or(&none);
    if made.arguments_error.is_none() && json_subset(wanted, given) {
        return None;
    }
    Some(match (wanted, given) {
        (Value::Object(wanted), Value::Object(given)) => {
            let right = |name: &str, value| json_subset(value, given.get(name).unwrap_or(&Value::Null));
            wanted
                .iter()
                .filter(|(name, value)| !right(name, value))
                .map(|(name, _)| Some(name.as_str()))
                .collect()
        }
        _ => vec![None],
    })
}

/// The share of the expected arguments that a call has; 1 if none are expected, 0 if its arguments cannot be read.
fn share_of_arguments(expected: &ToolCall, made: &ToolCall) -> f64 {
    if made.arguments_error.is_some() {
        return 0.0;
    }
    let Some(wrong) = wrong_arguments(expected, made) else { return 1.0 };
    match &expected.arguments {
        Some(Value::Object(wanted)) if wrong.iter().all(Option::is_some) => {
            (wanted.len() - wrong.len()) as f64 / wanted.len() as f64
        }
        _ => 0.0,
    }
}

/// A value as JSON, truncated for a reason.
fn format_value(value: &Value) -> String {
    const LONGEST: usize = 40;
    truncate(&value.to_string(), LONGEST).into_owned()
}

/// A call with its arguments, truncated.
pub fn format_call(call: &ToolCall) -> String {
    const LONGEST: usize = 100;
    let text = match &call.arguments {
        None => call.name.clone(),
        Some(Value::Object(fields)) => {
            let arguments: Vec<_> =
                fields.iter().map(|(name, argument)| format!("{name}: {}", format_value(argument))).collect();
            format!("{}({})", call.name, arguments.join(", "))
        }
        Some(other) => format!("{}({})", call.name, format_value(other)),
    };
    truncate(&text, LONGEST).into_owned()
}

/// Describes wrong arguments: `weather: day is "Sunday", expected "Friday"`.
pub fn format_wrong_arguments(expected: &ToolCall, made: &ToolCall) -> String {
    let name = &made.name;
    if let Some(problem) = &made.arguments_error {
        return format!("{name}: {problem}");
    }
    let of = |call: &ToolCall, argument: Option<&str>| match (argument, &call.arguments) {
        (Some(argument), Some(arguments)) => arguments.get(argument).map(format_value),
        (None, arguments) => arguments.as_ref().map(format_value),
        (Some(_), None) => None,
    };
    let wrong = wrong_arguments(expected, made).unwrap_or_default();
    let wrong: Vec<_> = wrong
        .into_iter()
        .map(|argument| {
            let wanted = of(expected, argument).unwrap_or_default();
            let label = argument.unwrap_or("the input");
            match of(made, argument) {
                Some(given) => format!("{label} is {given}, expected {wanted}"),
                None => format!("{label} is missing, expected {wanted}"),
            }
        })
        .collect();
    format!("{name}: {}", wrong.join(" and "))
}

/// A failed call with its error.
pub fn format_failed(call: &ToolCall) -> String {
    const LONGEST: usize = 80;
    let why = call.error.as_ref().or(call.arguments_error.as_ref());
    match why {
        Some(why) => format!("{} ({})", call.name, truncate(why.trim(), LONGEST)),
        None => call.name.clone(),
    }
}
