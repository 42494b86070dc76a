//! One line of a vector file, and its comparison with an outcome.

use serde_json::Value;

/// The response of a scripted server after the end of its script; no case expects it.
pub(crate) const OUT_OF_SCRIPT: &str = "out of script";

/// One line of a vector file.
pub(crate) struct Case {
    fields: Value,
}

/// The outcome of a check: why the case fails.
pub(crate) type Checked = Result<(), String>;

impl Case {
    pub(crate) fn new(fields: Value) -> Self {
        Self { fields }
    }

    pub(crate) fn name(&self) -> &str {
        self.fields["case"].as_str().unwrap_or("?")
    }

    pub(crate) fn evaluator(&self) -> &str {
        self.fields["evaluator"].as_str().unwrap_or("?")
    }

    /// Whether the line may be asserted.
    pub(crate) fn is_asserted(&self) -> bool {
        self.fields["assert"] == Value::Bool(true)
    }

    /// Whether the line has a recommendation although it cannot be asserted. `recommended` may be `null`: no value.
    pub(crate) fn is_recommended(&self) -> bool {
        let some = |field: &str| !self.fields[field].is_null();
        self.fields.get("recommended").is_some() || some("recommended_score") || some("recommended_error")
    }

    pub(crate) fn input(&self) -> &Value {
        &self.fields["input"]
    }

    pub(crate) fn scripted(&self) -> &Value {
        &self.fields["scripted"]
    }

    pub(crate) fn metadata(&self) -> &Value {
        &self.fields["expected_metadata"]
    }

    /// The values expected in addition to a score, or instead of one.
    pub(crate) fn expected(&self) -> &Value {
        if self.is_asserted() { &self.fields["expected"] } else { &self.fields["recommended"] }
    }

    /// The scores that are combined into one.
    pub(crate) fn components(&self) -> &Value {
        &self.fields["expected"]["components"]
    }

    /// Whether the case expects an error instead of a value.
    pub(crate) fn expects_error(&self) -> bool {
        let error = if self.is_asserted() { "expected_error" } else { "recommended_error" };
        !self.fields[error].is_null()
    }

    /// The list of numbers in a field of the input.
    pub(crate) fn numbers(&self, field: &str) -> Vec<f64> {
        numbers(&self.input()[field])
    }

    /// Compares the score of an evaluator, or its absence: an error, or a skipped score.
    pub(crate) fn check_score(&self, ours: Result<f64, String>) -> Checked {
        let score = if self.is_asserted() { "expected_score" } else { "recommended_score" };
        let expected = &self.fields[score];
        if self.expects_error() || expected.is_null() {
            return match ours {
                Ok(score) => Err(format!("{score}, expected an error")),
                Err(error) => self.check_error(&error),
            };
        }
        self.close("score", ours.map_err(|error| format!("{error}; expected {expected}"))?, expected)
    }

    /// Compares the subject of an error. The wording is ours.
    fn check_error(&self, error: &str) -> Checked {
        if error.contains(OUT_OF_SCRIPT) {
            return Err(error.to_owned());
        }
        let about: &[&str] = match self.fields["error_kind"].as_str() {
            // The original sends missing inputs to the model, and only reports an error of its response.
            Some("invalid_judge_answer") if error.contains("is missing") => &[""],
            Some(
                "unknown_choice"
                | "invalid_judge_answer"
                | "malformed_json"
                | "no_structured_answer"
                | "empty_response"
                | "wrong_tool",
            ) => &["2 attempts", "empty"],
            Some("provider_http_error") => &["400", "401", "404", "429", "500", "503"],
            Some("invalid_weights") => &["`weights`"],
            Some("invalid_input") => &["not a list", "not a number"],
            Some("vector_length_mismatch") => &["differ in length", "dimensions"],
            Some("missing_api_key") => &["needs a key"],
            // If several are missing, one is reported.
            Some(kind) if kind.starts_with("missing_") && self.input().get("output").is_none() => {
                &["output is null", "is missing"]
            }
            Some("missing_expected") => &["`expected` is missing"],
            Some("missing_context") => &["`context` is missing"],
            Some("missing_input") => &["`input` is missing"],
            _ => &[""],
        };
        if about.iter().any(|word| error.contains(word)) {
            Ok(())
        } else {
            Err(format!("{error}; expected an error of the kind {}", self.fields["error_kind"]))
        }
    }

    /// Compares a number within the tolerance of the case: absolute, and relative for values above 1.
    pub(crate) fn close(&self, what: &str, actual: f64, expected: &Value) -> Checked {
        let expected =
            expected.as_f64().ok_or_else(|| format!("{what}: expected value is {expected}, not a number"))?;
        let tolerance = self.fields["tolerance"].as_f64().ok_or("the case has no tolerance")?;
        // False for NaN.
        if (actual - expected).abs() <= tolerance * expected.abs().max(1.0) {
            Ok(())
        } else {
            Err(format!("{what}: {actual}, expected {expected}"))
        }
    }

    /// Compares a value that may be undefined (`null` in the case).
    pub(crate) fn close_if_any(&self, what: &str, actual: Option<f64>, expected: &Value) -> Checked {
        match actual {
            Some(actual) => self.close(what, actual, expected),
            None if expected.is_null() => Ok(()),
            None => Err(format!("{what}: none, expected {expected}")),
        }
    }

    /// Compares a value of another type, such as text.
    pub(crate) fn same(&self, ours: &Value) -> Checked {
        if self.expected() == ours { Ok(()) } else { Err(format!("{ours}, expected {}", self.expected())) }
    }
}

/// The numbers of a JSON list.
pub(crate) fn numbers(list: &Value) -> Vec<f64> {
    let values = list.as_array().expect("a list of numbers");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}
