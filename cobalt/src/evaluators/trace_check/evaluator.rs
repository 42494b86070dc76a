//! The evaluator and its settings.

use std::sync::Arc;
use std::time::Duration;

use cobalt_core::trace::SpanKind;
use serde::{Deserialize, Serialize};

use super::score;
use crate::evaluators::options::{Options, fingerprint};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::settings::{
    DurationValue, NamedChoice as _, NoSharedKeys, NonEmptyString, NonNegativeInt, ScoreValue, named_choices,
    non_empty_list,
};

/// Scores what an agent did, by the spans of its [trace](crate::trace).
///
/// No model is called. By default an output passes only with a full score; [`pass_mark`](Self::pass_mark) changes that. An execution
/// without any span is a scoring error, never a score.
///
/// ```
/// use std::time::Duration;
///
/// use cobalt::TraceCheck;
/// use cobalt::trace::SpanKind;
///
/// let searched = TraceCheck::has_span("searched", "search").kind(SpanKind::Tool);
/// let clean = TraceCheck::none_failed("clean");
/// let few_calls = TraceCheck::at_most("few-calls", SpanKind::Model, 4);
/// let order = TraceCheck::path("order", ["plan", "search", "answer"]);
/// let responsive = TraceCheck::time_to_first_token("responsive", Duration::from_millis(800));
/// ```
#[derive(Clone)]
pub struct TraceCheck(TraceCheckOptions);

fingerprint! {
    TraceCheck as "TraceCheck", it: name = it.name(), check = it.0.check.0, span = it.0.span(), kind = it.0.kind.map(|kind| kind.0),
    limit = it.0.limit.map(|limit| limit.0), path = it.0.names(), within = it.0.within.map(|within| within.0),
    pass_mark = Evaluator::pass_mark(it)
}

/// The keys of `type = "trace"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("allOf" = check_rules_schema())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TraceCheckOptions {
    /// The check to apply.
    check: TraceCheckName,
    /// Name in reports. Default: the check.
    name: Option<NonEmptyString>,
    /// For "has-span", the name of the span, or of its tool.
    span: Option<NonEmptyString>,
    /// For "at-most", the kind of the spans to count; for "has-span" and "none-failed", the only kind that counts.
    kind: Option<SpanKindName>,
    /// For "at-most", the maximum number of spans.
    limit: Option<NonNegativeInt>,
    /// For "path", the names of spans or of their tools, in order.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    path: Option<Vec<NonEmptyString>>,
    /// For "time-to-first-token", the maximum.
    within: Option<DurationValue>,
    /// Minimum score for an output to pass. Default: 1.
    pass_mark: Option<ScoreValue>,
}

named_choices! {
    /// A check of a trace.
    TraceCheckName(Check), "trace check", "checks": "has-span" => HasSpan, "none-failed" => NoneFailed, "at-most" => AtMost,
        "path" => Path, "time-to-first-token" => TimeToFirstToken;
    /// A kind of span.
    SpanKindName(SpanKind), "span kind", "kinds": "model" => Model, "tool" => Tool, "agent" => Agent, "retrieval" => Retrieval,
        "other" => Other;
}

/// A check of a trace, as named in `cobalt.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Whether there is a span with the name `span`.
    HasSpan,
    /// Whether no span failed.
    NoneFailed,
    /// Whether there are at most `limit` spans of the kind `kind`.
    AtMost,
    /// The share of `path` that was followed in order.
    Path,
    /// Whether the first token came `within` a duration.
    TimeToFirstToken,
}

/// The keys that checks require or reject, for the JSON schema.
#[cfg(feature = "schema")]
fn check_rules_schema() -> serde_json::Value {
    let needs = |check: Check, key: &str| {
        serde_json::json!({
            "if": { "properties": { "check": { "const": check } } },
            "then": { "required": [key] },
            "else": { "properties": { key: false } },
        })
    };
    serde_json::json!([
        needs(Check::HasSpan, "span"),
        needs(Check::AtMost, "limit"),
        needs(Check::Path, "path"),
        needs(Check::TimeToFirstToken, "within"),
        { "if": { "properties": { "check": { "const": Check::AtMost } } }, "then": { "required": ["kind"] } },
        {
            "if": { "properties": { "check": { "enum": [Check::Path, Check::TimeToFirstToken] } } },
            "then": { "properties": { "kind": false } },
        },
    ])
}

impl Options for TraceCheckOptions {
    type Shared = NoSharedKeys;

    fn checked(self, _: &NoSharedKeys) -> Result<Self, String> {
        self.problem().map_or(Ok(self), Err)
    }

    fn make(mut self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        self.name.get_or_insert_with(|| NonEmptyString(self.check.0.name().to_owned()));
        Ok(Arc::new(TraceCheck(self)))
    }
}

impl TraceCheckOptions {
    fn new(check: Check, name: Option<NonEmptyString>) -> Self {
        Self {
            check: TraceCheckName(check),
            name,
            span: None,
            kind: None,
            limit: None,
            path: None,
            within: None,
            pass_mark: None,
        }
    }

    fn span(&self) -> Option<&str> {
        self.span.as_ref().map(|NonEmptyString(span)| &**span)
    }

    /// The names of the path.
    fn names(&self) -> Vec<&str> {
        self.path.iter().flatten().map(|NonEmptyString(name)| &**name).collect()
    }

    /// A missing key, or one that the check does not support.
    fn problem(&self) -> Option<String> {
        let Self { check: TraceCheckName(check), span, kind, limit, path, within, .. } = self;
        let keys = [
            ("span", span.is_some(), Check::HasSpan, "the name of the span"),
            ("limit", limit.is_some(), Check::AtMost, "a maximum"),
            ("path", !self.names().is_empty(), Check::Path, "the names of the spans"),
            ("within", within.is_some(), Check::TimeToFirstToken, "a maximum"),
            ("kind", kind.is_some(), Check::AtMost, "the kind of the spans to count"),
        ];
        let check_name = check.name();
        for (key, is_set, owner, what) in keys {
            let is_optional = key == "kind" && matches!(check, Check::HasSpan | Check::NoneFailed);
            if *check == owner && !is_set {
                return Some(format!("the check `{check_name}` needs {what}; add `{key}`"));
            }
            if *check != owner && is_set && !is_optional {
                return Some(format!("the check `{check_name}` does not use `{key}`; remove it"));
            }
        }
        path.as_ref()
            .filter(|_| self.names().iter().any(|name| name.trim().is_empty()))
            .map(|_| format!("the check `{check_name}` has an empty name in `path`; remove it"))
    }
}

impl TraceCheck {
    /// Scores 1 if there is a span with this name, or of a tool with this name, else 0.
    pub fn has_span(name: impl Into<String>, span: impl Into<String>) -> Self {
        let mut check = Self::new(name, Check::HasSpan);
        check.0.span = Some(NonEmptyString(span.into()));
        check
    }

    /// Scores 1 if no span failed, else 0. The reason names those that failed.
    pub fn none_failed(name: impl Into<String>) -> Self {
        Self::new(name, Check::NoneFailed)
    }

    /// Scores 1 for up to `limit` spans of a kind; with more, `limit` divided by their number.
    ///
    /// A model call counts once: spans that contain other model calls do not count.
    pub fn at_most(name: impl Into<String>, kind: SpanKind, limit: usize) -> Self {
        let mut check = Self::new(name, Check::AtMost).kind(kind);
        check.0.limit = Some(NonNegativeInt(limit));
        check
    }

    /// The share of `names` whose spans started in this order, with any others in between: the length of the longest common
    /// subsequence, divided by the number of names. A tool's span also has the name of its tool.
    pub fn path<S: Into<String>>(name: impl Into<String>, names: impl IntoIterator<Item = S>) -> Self {
        let mut check = Self::new(name, Check::Path);
        check.0.path = Some(names.into_iter().map(|name| NonEmptyString(name.into())).collect());
        check
    }

    /// Scores 1 if the first streamed model call returned its first token `within` this duration; if it took longer, `within` divided by
    /// the time that it took. Calls that are replayed from a [recording](crate::recording) count as recorded.
    pub fn time_to_first_token(name: impl Into<String>, within: Duration) -> Self {
        let mut check = Self::new(name, Check::TimeToFirstToken);
        check.0.within = Some(DurationValue(within));
        check
    }

    fn new(name: impl Into<String>, check: Check) -> Self {
        Self(TraceCheckOptions::new(check, Some(NonEmptyString(name.into()))))
    }

    /// Considers only the spans of this kind.
    #[must_use]
    pub fn kind(mut self, kind: SpanKind) -> Self {
        self.0.kind = Some(SpanKindName(kind));
        self
    }

    /// Sets the minimum score for an output to pass. Default: 1.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(ScoreValue(mark));
        self
    }

    fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Self(options) = self;
        if let Some(problem) = options.problem() {
            return Err(EvalError::new(problem));
        }
        let trace = cx.whole_trace()?;
        if trace.is_empty() {
            return Err(EvalError::new(score::NO_SPANS));
        }
        let kind = options.kind.map(|SpanKindName(kind)| kind);
        match options.check.0 {
            Check::HasSpan => Ok(score::has_span(options.span().unwrap_or_default(), kind, trace)),
            Check::NoneFailed => Ok(score::none_failed(kind, trace)),
            Check::AtMost => {
                let limit = options.limit.map_or(0, |NonNegativeInt(limit)| limit);
                score::at_most(kind.unwrap_or_default(), limit, trace)
            }
            Check::Path => Ok(score::path(&options.names(), trace)),
            Check::TimeToFirstToken => {
                let within = options.within.map_or(Duration::ZERO, |DurationValue(within)| within);
                score::time_to_first_token(within, trace)
            }
        }
    }
}

impl Evaluator for TraceCheck {
    fn name(&self) -> &str {
        self.0.name.as_ref().map_or("", |NonEmptyString(name)| name)
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn pass_mark(&self) -> f64 {
        self.0.pass_mark.map_or(1.0, |ScoreValue(mark)| mark)
    }

    fn check(&self, _: &Setup) -> Result<(), CheckError> {
        self.0.problem().map_or(Ok(()), |problem| Err(CheckError::new(problem)))
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::item::{Item, Output};
    use cobalt_core::trace::{Span, Trace};

    use super::*;
    use crate::settings::assert_round_trip;

    fn context(trace: Trace) -> EvalContext {
        EvalContext::new(Item::new(), Output::new("Done.")).with_trace(trace)
    }

    fn checks() -> [TraceCheck; 5] {
        [
            TraceCheck::has_span("n", "plan"),
            TraceCheck::none_failed("n"),
            TraceCheck::at_most("n", SpanKind::Other, 1),
            TraceCheck::path("n", ["plan", "answer"]),
            TraceCheck::time_to_first_token("n", Duration::from_secs(1)),
        ]
    }

    #[test]
    fn an_execution_without_a_span_is_an_error_and_no_score() {
        for check in checks() {
            let error = check.score(&context(Trace::default())).unwrap_err().to_string();
            assert!(error.starts_with("the execution has no trace"), "{check:?}: {error}");
            assert!(check.score(&EvalContext::new(Item::new(), Output::new("Done."))).is_err(), "{check:?}");
        }
    }

    #[test]
    fn each_check_scores_its_spans() {
        let span = Span { id: "1".to_owned(), name: "plan".to_owned(), ..Span::default() };
        let cx = context(Trace::from_iter([span]));
        let scores = checks().map(|check| check.score(&cx).ok().map(|score| score.value()));
        assert_eq!(scores, [Some(1.0), Some(1.0), Some(1.0), Some(0.5), None]);
    }

    #[test]
    fn a_setting_that_a_check_lacks_or_cannot_use_is_told_before_the_run() {
        for (check, problem) in [
            (
                TraceCheck::path("n", ["a"]).kind(SpanKind::Tool),
                "the check `path` does not use `kind`; remove it",
            ),
            (TraceCheck::path("n", [""; 0]), "the check `path` needs the names of the spans; add `path`"),
            (TraceCheck::path("n", ["a", " "]), "the check `path` has an empty name in `path`; remove it"),
        ] {
            assert_eq!(check.0.problem().as_deref(), Some(problem));
            assert_eq!(check.score(&context(Trace::default())).unwrap_err().to_string(), problem);
        }
        assert_eq!(TraceCheck::none_failed("n").kind(SpanKind::Tool).0.problem(), None);
        assert_eq!(TraceCheck::has_span("n", "a").kind(SpanKind::Tool).0.problem(), None);
    }

    #[test]
    fn an_output_passes_with_a_full_score_unless_it_is_said_otherwise() {
        assert_eq!(Evaluator::pass_mark(&TraceCheck::none_failed("n")), 1.0);
        assert_eq!(Evaluator::pass_mark(&TraceCheck::none_failed("n").pass_mark(0.5)), 0.5);
    }

    #[test]
    fn checks_and_kinds_are_written_as_they_are_read() {
        assert_round_trip::<Check>();
        assert_round_trip::<SpanKind>();
    }
}
