//! Evaluators in the file: registered functions by name, and tables with a `type`.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::wording::{self, normalize_name};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::error::{ConfigError, Location};
use crate::evaluators::options::{Options, OptionsTable};
use crate::evaluators::{
    AutoevalKind, BleuOptions, CheckError, CheckErrorKind, ChrFOptions, CommandOptions, ContainsOptions,
    EvalContext, Evaluation, Evaluator, EvaluatorDefinition, ExactMatchOptions, FnEvaluator, PartOptions,
    Preset, RegexOptions, RougeOptions, Setup, SquadExactMatchOptions, TokenF1Options, ToolCallsOptions,
    TraceCheckOptions, TranscriptCheckOptions, WerOptions,
};
#[cfg(feature = "judge")]
use crate::evaluators::{
    AutoevalOptions, GEvalOptions, JsonSchemaOptions, LlmJudgeOptions, PairwiseOptions, SimilarityOptions,
};
#[cfg(feature = "workspace")]
use crate::evaluators::{CommandSucceedsOptions, FilesOptions, PatchSizeOptions, TouchedOnlyOptions};
use crate::settings::{NamedChoice as _, NoSharedKeys, ScoreValue, take_type};

const EXPECTED: &str =
    "expected an evaluator: the name of a function with `#[cobalt::evaluator]`, or a table with a `type`";

/// An evaluator, and what it sees.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
pub(super) struct EvaluatorEntry {
    kind: EvaluatorKind,
    #[cfg_attr(feature = "schema", schemars(skip))]
    parts: PartOptions,
}

impl Serialize for EvaluatorEntry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Table<'a> {
            #[serde(flatten)]
            kind: &'a EvaluatorKind,
            #[serde(flatten)]
            parts: &'a PartOptions,
        }
        let Self { kind, parts } = self;
        match kind {
            EvaluatorKind::FunctionName(name) => name.serialize(serializer),
            kind => Table { kind, parts }.serialize(serializer),
        }
    }
}

/// An evaluator: the name of a function with `#[cobalt::evaluator]`, or a table with a `type`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Evaluator"))]
// For serialization only: deserialization is manual, for better errors.
#[serde(untagged)]
enum EvaluatorKind {
    /// The name of a function with `#[cobalt::evaluator]`.
    FunctionName(String),
    /// The same with a pass mark.
    FunctionTable(NamedFunction),
    /// An evaluator with settings.
    Table(Box<Typed>),
}

impl EvaluatorEntry {
    /// Reads one element of the list.
    pub(super) fn read(element: Spanned<DeValue<'_>>) -> Result<Self, toml::de::Error> {
        let span = element.span();
        match element.into_inner() {
            DeValue::String(name) => Ok(Self {
                kind: EvaluatorKind::FunctionName(name.into_owned()),
                parts: PartOptions::default(),
            }),
            DeValue::Table(mut table) => {
                let mut parts = DeTable::new();
                for key in PartOptions::KEYS {
                    parts.extend(table.remove_entry(key));
                }
                let parts = ValueDeserializer::from(Spanned::new(span.clone(), DeValue::Table(parts)));
                let parts = PartOptions::deserialize(parts)?.checked().map_err(toml::de::Error::custom)?;
                Ok(Self { kind: EvaluatorKind::read_table(span, table)?, parts })
            }
            _ => Err(toml::de::Error::custom(EXPECTED)),
        }
    }

    /// Creates the evaluator. `place` is its location in the file.
    pub(super) fn make(&self, place: &Location) -> Result<Arc<dyn Evaluator>, ConfigError> {
        let made = match &self.kind {
            EvaluatorKind::FunctionName(name) => {
                find_registered(name).map(|function| Arc::new(function) as Arc<dyn Evaluator>)
            }
            EvaluatorKind::FunctionTable(named) => named.make(),
            EvaluatorKind::Table(typed) => typed.make().map(|evaluator| {
                Arc::new(LocatedEvaluator { evaluator, place: place.clone() }) as Arc<dyn Evaluator>
            }),
        };
        made.map(|evaluator| self.parts.apply(evaluator)).map_err(|problem| place.error(&problem))
    }
}

impl EvaluatorKind {
    /// Reads a table at `span`.
    fn read_table(span: Range<usize>, table: DeTable<'_>) -> Result<Self, toml::de::Error> {
        if !NamedFunction::matches(&table) {
            return Typed::read(span, table).map(Box::new).map(Self::Table);
        }
        let table = ValueDeserializer::from(Spanned::new(span, DeValue::Table(table)));
        NamedFunction::deserialize(table).map(Self::FunctionTable)
    }
}

/// Declares the types, one per line, with the feature that one needs after `if`.
macro_rules! evaluator_types {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($own:ty) $(if $feature:tt)?),+ $(,)?) => {
        /// An evaluator with settings.
        #[derive(Clone, Debug, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvaluatorTable", transform = PartOptions::add_to_schema))]
        #[serde(tag = "type")]
        pub(super) enum Typed {
            $($(#[$doc])* $(#[cfg(feature = $feature)])? #[serde(rename = $name)] $variant(OptionsTable<$own>),)+
            /// An evaluator whose type needs a feature that is off.
            #[cfg(not(all(feature = "judge", feature = "workspace")))]
            #[serde(rename = "")]
            WithoutFeature { feature: &'static str },
        }

        /// The values of `type`.
        const TYPES: &[&str] = &[$($name),+];

        impl Typed {
            /// Reads a table at `span`.
            fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, toml::de::Error> {
                match TYPES[take_type("evaluator", TYPES, &mut table)?] {
                    $($(#[cfg(feature = $feature)])? $name => OptionsTable::<$own>::read_checked(span, table).map(Self::$variant),)+
                    $($(#[cfg(not(feature = $feature))] $name => Ok(Self::WithoutFeature { feature: $feature }),)?)+
                    _ => unreachable!("each type has its line"),
                }
            }

            fn make(&self) -> Result<Arc<dyn Evaluator>, String> {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant(table) => table.make(),)+
                    #[cfg(not(all(feature = "judge", feature = "workspace")))]
                    Self::WithoutFeature { feature } => Err(format!(
                        "evaluators of this type need the feature `{feature}` of the package `cobalt-evals`, which this program was built \
                         without; enable it"
                    )),
                }
            }
        }
    };
}

evaluator_types! {
    /// Scores 1 if the output equals a field of the item, and 0 otherwise.
    "exact-match" => ExactMatch(ExactMatchOptions),
    /// Scores with a function that has `#[cobalt::evaluator]`.
    "function" => Function(FunctionOptions),
    /// Scores with a program in any language.
    "command" => Command(CommandOptions),
    /// Scores with an LLM judge, by a prompt or a preset.
    "llm-judge" => LlmJudge(LlmJudgeOptions) if "judge",
    /// Scores with an LLM judge, by a criterion in plain words.
    "g-eval" => GEval(GEvalOptions) if "judge",
    /// Lets an LLM judge decide whether the output or a field of the item is the better answer.
    "pairwise" => Pairwise(PairwiseOptions) if "judge",
    /// Compares the output with a field of the item by embedding similarity.
    "similarity" => Similarity(SimilarityOptions) if "judge",
    /// Scores with one of the evaluators of autoevals.
    "autoevals" => Autoevals(AutoevalOptions) if "judge",
    /// Scores the overlap of output and reference with ROUGE.
    "rouge" => Rouge(RougeOptions),
    /// Scores a translation with BLEU.
    "bleu" => Bleu(BleuOptions),
    /// Scores a translation with chrF or chrF++.
    "chrf" => Chrf(ChrFOptions),
    /// Scores a transcript by its word error rate: 1 minus the rate, at least 0.
    "wer" => Wer(WerOptions),
    /// Scores the words that output and reference share, with SQuAD's F1.
    "token-f1" => TokenF1(TokenF1Options),
    /// Scores 1 if the output equals the reference, ignoring case, punctuation and articles as in SQuAD, and 0 otherwise.
    "squad-exact-match" => SquadExactMatch(SquadExactMatchOptions),
    /// Scores 1 if the output contains texts, and 0 otherwise.
    "contains" => Contains(ContainsOptions),
    /// Scores 1 if the output matches a regular expression, and 0 otherwise.
    "regex" => Regex(RegexOptions),
    /// Scores 1 if the output conforms to a JSON schema, and 0 otherwise.
    "json-schema" => JsonSchema(JsonSchemaOptions) if "judge",
    /// Scores the agent's tool calls.
    "tool-calls" => ToolCalls(ToolCallsOptions),
    /// Scores the spans of the agent.
    "trace" => Trace(TraceCheckOptions),
    /// Scores the course of a conversation.
    "transcript" => Transcript(TranscriptCheckOptions),
    /// Scores 1 if a command succeeds in the workspace as the agent left it, and 0 otherwise.
    "command-succeeds" => CommandSucceeds(CommandSucceedsOptions) if "workspace",
    /// Scores the files of the workspace as the agent left them.
    "files" => Files(FilesOptions) if "workspace",
    /// Scores 1 if the agent changed only some files of its workspace, and 0 otherwise.
    "touched-only" => TouchedOnly(TouchedOnlyOptions) if "workspace",
    /// Scores whether the agent changed few lines in its workspace.
    "patch-size" => PatchSize(PatchSizeOptions) if "workspace",
}

/// The keys of `type = "function"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FunctionOptions {
    /// The name of the function, or the name set in its attribute.
    name: String,
    /// The score from which an output passes; default: the function's own pass mark.
    pass_mark: Option<ScoreValue>,
}

impl Options for FunctionOptions {
    type Shared = NoSharedKeys;

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        let function = find_registered(&self.name)?;
        Ok(Arc::new(match self.pass_mark {
            Some(ScoreValue(mark)) => function.pass_mark(mark),
            None => function,
        }))
    }
}

/// A function whose name is used as `type`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "NamedFunction", transform = PartOptions::add_to_schema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct NamedFunction {
    /// The name of a function with `#[cobalt::evaluator]`, or the name set in its attribute.
    #[cfg_attr(feature = "schema", schemars(extend("not" = other_types())))]
    r#type: String,
    /// The score from which an output passes; default: the function's own pass mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<ScoreValue>,
}

impl NamedFunction {
    /// Whether a table is of this kind: its `type` is no known type, in any spelling style, and it has only a function's keys. That
    /// the function exists is checked when the evaluator is created.
    fn matches(table: &DeTable<'_>) -> bool {
        let Some(DeValue::String(name)) = table.get("type").map(Spanned::get_ref) else { return false };
        let is_function = TYPES.iter().all(|kind| normalize_name(kind) != normalize_name(name));
        is_function && table.keys().all(|key| ["type", "pass-mark"].contains(&&**key.get_ref()))
    }

    fn make(&self) -> Result<Arc<dyn Evaluator>, String> {
        FunctionOptions { name: self.r#type.clone(), pass_mark: self.pass_mark }.make(NoSharedKeys {})
    }
}

#[cfg(feature = "schema")]
fn other_types() -> serde_json::Value {
    serde_json::json!({ "enum": TYPES })
}

/// The evaluator registered by a function with `#[cobalt::evaluator]` under this name.
fn find_registered(name: &str) -> Result<FnEvaluator, String> {
    let definitions: Vec<_> = inventory::iter::<EvaluatorDefinition>.into_iter().collect();
    let mut found = definitions.iter().filter(|definition| definition.name == name);
    let Some(definition) = found.next() else {
        let mut names: Vec<_> = definitions.iter().map(|definition| definition.name).collect();
        names.sort_unstable();
        names.dedup();
        return Err(unknown_evaluator_message(name, &names));
    };
    if let Some(other) = found.next() {
        return Err(format!(
            "two evaluators are named `{name}`: {} and {}; give one of them another `name`, or list the one you mean by its path in the \
             experiment",
            describe_location(definition),
            describe_location(other)
        ));
    }
    Ok((definition.make)())
}

fn describe_location(definition: &EvaluatorDefinition) -> String {
    let EvaluatorDefinition { module, file, line, .. } = definition;
    format!("one in `{module}` at {file}:{line}")
}

fn unknown_evaluator_message(name: &str, registered: &[&str]) -> String {
    let meant = wording::closest(name, registered.iter().copied()).map(str::to_owned);
    let meant = meant.or_else(|| suggest_builtin(name));
    let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    let there_are = if registered.is_empty() {
        "no function in this program has `#[cobalt::evaluator]`".to_owned()
    } else {
        let registered = wording::join_quoted(registered.iter().copied());
        format!("available functions with `#[cobalt::evaluator]`: {registered}")
    };
    format!(
        "unknown evaluator `{name}`; {meant}{there_are}. If it is in another crate, add `use that_crate as _;` to the \
         test target: a crate that nothing refers to is not linked"
    )
}

/// The table for the built-in evaluator with the closest name.
fn suggest_builtin(name: &str) -> Option<String> {
    let types = TYPES.iter().map(|kind| (*kind, format!("{{ type = \"{kind}\" }}")));
    let presets = Preset::ALL.iter().map(|preset| preset.name());
    let presets =
        presets.map(|preset| (preset, format!("{{ type = \"llm-judge\", preset = \"{preset}\" }}")));
    let kinds = AutoevalKind::ALL.map(AutoevalKind::name);
    let kinds = kinds.map(|kind| (kind, format!("{{ type = \"autoevals\", autoeval = \"{kind}\" }}")));
    let tables: Vec<_> = types.chain(presets).chain(kinds).collect();
    let meant = wording::closest(name, tables.iter().map(|(known, _)| *known))?;
    tables.into_iter().find(|(known, _)| *known == meant).map(|(_, table)| table)
}

/// An evaluator with its location in the file, for its error messages.
#[derive(Clone, Debug)]
struct LocatedEvaluator {
    evaluator: Arc<dyn Evaluator>,
    place: Location,
}

impl Evaluator for LocatedEvaluator {
    fn name(&self) -> &str {
        self.evaluator.name()
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        self.evaluator.evaluate(cx)
    }

    fn pass_mark(&self) -> f64 {
        self.evaluator.pass_mark()
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.evaluator.check(setup).map_err(|CheckError(unfit)| match unfit {
            CheckErrorKind::Problem(problem) => CheckError::new(self.place.error(&problem).to_string()),
            // Reported once for all evaluators that need the key.
            CheckErrorKind::MissingKey { .. } => CheckError(unfit),
        })
    }

    fn time_limit(&self, timeout: Duration) -> Option<Duration> {
        self.evaluator.time_limit(timeout)
    }

    fn finish(&self) {
        self.evaluator.finish();
    }

    fn needs_live_agent(&self) -> Option<&str> {
        self.evaluator.needs_live_agent()
    }

    /// Without the location: inserting a line above it changes no score.
    fn fingerprint(&self) -> String {
        self.evaluator.fingerprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_with_the_type_that_it_is_read_by() {
        let exact =
            "type = \"exact-match\"\nname = \"e\"\nfield = \"f\"\ncase-sensitive = true\ntrim = false\n";
        let table = DeTable::parse(exact).unwrap().into_inner();
        let typed = Typed::read(0..0, table).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap()["type"], "exact-match");
    }
}
