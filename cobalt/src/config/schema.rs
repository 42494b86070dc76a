//! The JSON schema of the file, from the types that it is read into.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::dashboard::Port;
use super::datasets::{Bytes, FileAddress, FormatName, HashStart, HeaderName, HeaderText, PageSize};
use super::evaluators::{KindName, TokenizerName};
use super::model::File;
use super::models::{
    Address, Age, AgeOrOff, EmbeddingVendor, JudgeVendor, KeyVariable, Retries, Temperature, Word,
};
use super::reporter::{Reporter, ReporterKind};
use super::values::{
    Argument, Bound, Count, Dollars, EnvironmentName, Length, Limit, Score, Target, VariableName,
    VariableValue, Weight,
};
use super::webhooks::{HookAddress, HookTimeout};
use crate::dataset::Format;
use crate::evaluators::{ALIASES, AutoevalKind};
use crate::llm::Provider;

/// The JSON schema of `cobalt.toml`.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::default().with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<File>().to_value()
}

/// Takes `null` out of what may be left out: TOML has none.
fn without_null(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else { return };
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            fields.remove("anyOf");
            fields.extend(only);
        }
    }
}

macro_rules! schema_of {
    ($($type:ident: $schema:tt),* $(,)?) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

schema_of! {
    Count: { "type": "integer", "minimum": 1 },
    Port: { "type": "integer", "minimum": 0, "maximum": 65535 },
    Limit: { "type": "integer", "minimum": 0 },
    Score: { "type": "number", "minimum": 0, "maximum": 1 },
    Dollars: { "type": "number", "minimum": 0 },
    KindName: { "type": "string", "enum": kinds() },
    TokenizerName: { "type": "string", "enum": TokenizerName::NAMES },
    Weight: { "type": "number", "minimum": 0 },
    Length: {
        "type": "string",
        "pattern": "^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h)\\s*$",
        "examples": ["30s", "500ms", "1.5s", "2m"],
    },
    Age: {
        "type": "string",
        "pattern": "^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h|d)\\s*$",
        "examples": ["7d", "12h"],
    },
    AgeOrOff: {
        "type": "string",
        "pattern": "^\\s*off\\s*$|^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h|d)\\s*$",
        "examples": ["12h", "off"],
    },
    Word: { "type": "string", "pattern": "\\S" },
    JudgeVendor: { "type": "string", "enum": Provider::names(Provider::judges) },
    EmbeddingVendor: { "type": "string", "enum": Provider::names(Provider::embeds) },
    KeyVariable: { "type": "string", "pattern": "^[A-Za-z0-9_]+$", "examples": ["GATEWAY_API_KEY"] },
    Address: { "type": "string", "pattern": "^https?://.+", "examples": ["http://localhost:11434/v1"] },
    HookAddress: { "type": "string", "pattern": "^https?://[^/?#\\s][^\\s]*$", "examples": ["https://example.com/hook"] },
    HookTimeout: {
        "type": "string",
        "pattern": "^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m)\\s*$",
        "examples": ["10s", "500ms"],
    },
    FileAddress: {
        "type": "string",
        "pattern": "^https?://[^/?#\\s][^\\s]*$",
        "examples": ["https://example.com/support.jsonl"],
    },
    FormatName: { "type": "string", "enum": Format::ALL.map(|format| format.to_string()) },
    HeaderName: { "type": "string", "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
    HeaderText: { "type": "string" },
    PageSize: { "type": "integer", "minimum": 1, "maximum": 100 },
    HashStart: { "type": "string", "pattern": "^[0-9A-Fa-f]{8,64}$" },
    Bytes: {
        "type": ["integer", "string"],
        "minimum": 1,
        "pattern": "^\\s*[0-9.][0-9._]*\\s*([kKmMgGtT]?[bB]|[kKmMgGtT][iI][bB])\\s*$",
        "examples": ["200 MB", 200_000_000],
    },
    Temperature: { "type": "number", "minimum": 0, "maximum": 2 },
    Retries: { "type": "integer", "minimum": 0, "maximum": 20 },
    Bound: {
        "type": "string",
        "pattern": "^.+\\.\\s*(avg|min|max|p50|p95|p99|total|drop|rise|ratio|pass_rate\\s*(\\(.+\\))?)\\s*[<>]=?\\s*[0-9.].*$",
        "examples": ["score.avg >= 0.8", "latency.p95 <= 5s", "right.pass_rate >= 0.95", "vs_baseline.score.drop <= 0.02"],
    },
    Reporter: {
        "type": "string",
        "pattern": reporters(),
        "examples": ["cli", "junit", "html=target/report.html"],
    },
    Target: { "type": "string", "examples": ["evals", "evals-*"] },
    Argument: { "type": "string" },
    EnvironmentName: { "type": "string", "pattern": "^[^=]+$" },
    VariableName: { "type": "string", "pattern": "^(?!COBALT_|CARGO_)[^=]+$" },
    VariableValue: { "type": "string" },
}

/// The names of the reporters, and a path behind those that write a file.
fn reporters() -> String {
    let names = |writes: bool| {
        let kinds = ReporterKind::ALL.into_iter().filter(|kind| kind.file_name().is_some() == writes);
        kinds.map(ReporterKind::name).collect::<Vec<_>>().join("|")
    };
    format!("^({}|({})(=.+)?)$", names(false), names(true))
}

/// The names of the kinds of `Autoeval`.
fn kinds() -> Vec<&'static str> {
    let aliases = ALIASES.into_iter().map(|(alias, _)| alias);
    AutoevalKind::ALL.into_iter().map(AutoevalKind::name).chain(aliases).collect()
}
