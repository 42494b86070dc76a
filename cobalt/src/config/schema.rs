//! The JSON schema of the file, generated from the types that it is parsed into.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::file::ConfigFile;
use super::reporter::{Reporter, ReporterKind};
use super::small_tables::Port;
use super::webhooks::{WebhookTimeout, WebhookUrl};
use crate::dataset::Format;
use crate::dataset::table_values::{
    Bytes, FileUrl, FormatName, HashPrefix, HeaderName, HeaderValue, PageSize,
};
use crate::settings::inline_schemas;

/// The JSON schema of `cobalt.toml`.
#[must_use]
pub fn schema() -> Value {
    let settings = SchemaSettings::default().with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<ConfigFile>().to_value()
}

/// Removes `null` from optional values: TOML has none.
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

inline_schemas! {
    Port: { "type": "integer", "minimum": 0, "maximum": 65535 },
    WebhookUrl: { "type": "string", "pattern": "^https?://[^/?#\\s][^\\s]*$", "examples": ["https://example.com/hook"] },
    WebhookTimeout: {
        "type": "string",
        "pattern": "^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m)\\s*$",
        "examples": ["10s", "500ms"],
    },
    FileUrl: {
        "type": "string",
        "pattern": "^https?://[^/?#\\s][^\\s]*$",
        "examples": ["https://example.com/support.jsonl"],
    },
    FormatName: { "type": "string", "enum": Format::ALL.map(|format| format.to_string()) },
    HeaderName: { "type": "string", "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
    HeaderValue: { "type": "string" },
    PageSize: { "type": "integer", "minimum": 1, "maximum": 100 },
    HashPrefix: { "type": "string", "pattern": "^[0-9A-Fa-f]{8,64}$" },
    Bytes: {
        "type": ["integer", "string"],
        "minimum": 1,
        "pattern": "^\\s*[0-9.][0-9._]*\\s*([kKmMgGtT]?[bB]|[kKmMgGtT][iI][bB])\\s*$",
        "examples": ["200 MB", 200_000_000],
    },
    Reporter: {
        "type": "string",
        "pattern": reporter_pattern(),
        "examples": ["cli", "junit", "html=target/report.html", "otlp=http://localhost:4318"],
    },
}

/// A pattern for the names of the reporters, with an optional path or URL for those that take one.
fn reporter_pattern() -> String {
    let otlp = ReporterKind::Otlp;
    let names = |writes: bool| {
        let kinds = ReporterKind::ALL.into_iter().filter(|kind| *kind != otlp);
        let kinds = kinds.filter(|kind| kind.file_name().is_some() == writes);
        kinds.map(ReporterKind::name).collect::<Vec<_>>().join("|")
    };
    let otlp = otlp.name();
    format!("^({}|({})(=.+)?|{otlp}(=https?://[^/?#@\\s]+(/[^?#\\s]*)?)?)$", names(false), names(true))
}
