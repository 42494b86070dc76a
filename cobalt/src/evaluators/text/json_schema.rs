//! `JsonSchema`: validates the output with a JSON schema.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{fmt, fs};

use cobalt_core::item::Item;
use cobalt_core::paths::resolve;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Requirement, TextEvaluator, TextOptions, text_evaluator};
use crate::evaluators::field_path::ItemField;
#[cfg(feature = "schema")]
use crate::evaluators::options::one_of_schema;
use crate::evaluators::schema::{Validator, compile, validate};
use crate::evaluators::{CheckError, EvalError, Score, Setup};

/// Scores 1 if the output is valid for a JSON schema, else 0.
///
/// Text output is parsed as JSON; text that is not JSON scores 0. The draft is 2020-12, unless `$schema` names draft 4, 6, 7 or
/// 2019-09. `format` is not checked in any draft. References are not fetched: a `$ref` must point within the schema.
///
/// It needs the feature `json-schema`, which is off by default. Without it, the check before the run fails with a message.
///
/// ```
/// use cobalt::JsonSchema;
/// use serde_json::json;
///
/// let priced = JsonSchema::schema("priced", json!({
///     "type": "object",
///     "required": ["price"],
///     "properties": { "price": { "type": "number", "minimum": 0 } },
/// }));
/// // The path is relative to the package.
/// let answer = JsonSchema::file("answer", "schemas/answer.json");
/// // Each item has its own `schema`.
/// let own = JsonSchema::new("own", "schema");
/// ```
#[derive(Clone)]
pub struct JsonSchema {
    common: TextOptions,
    options: JsonSchemaOptions,
}

/// The keys of `type = "json-schema"`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("oneOf" = one_of_schema(&["field", "schema", "file"]))))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct JsonSchemaOptions {
    /// The field of the item with the schema, or a path to it.
    field: Option<ItemField>,
    /// The schema for all outputs: a table, or JSON text.
    schema: Option<Value>,
    /// A JSON file with the schema for all outputs, relative to the package.
    file: Option<PathBuf>,
    /// The compiled schema, shared by all clones.
    #[serde(skip)]
    compiled: Arc<OnceLock<Result<CompiledSchema, String>>>,
}

impl JsonSchemaOptions {
    fn schema(&self) -> Requirement<'_, &Result<CompiledSchema, String>> {
        let compile = || match &self.file {
            Some(path) => CompiledSchema::load(path),
            None => CompiledSchema::new(self.schema.clone().unwrap_or_default()),
        };
        let given = || Requirement::Given(self.compiled.get_or_init(compile));
        self.field.as_ref().map_or_else(given, Requirement::InItem)
    }
}

/// A compiled schema for all items.
#[derive(Clone)]
struct CompiledSchema {
    source: Value,
    validator: Validator,
}

/// The source, which is the same in every process.
impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)
    }
}

impl CompiledSchema {
    fn new(mut written: Value) -> Result<Self, String> {
        let validator = compile(&written)?;
        // The order of keys must not change the fingerprint.
        written.sort_all_objects();
        Ok(Self { source: written, validator })
    }

    fn load(path: &Path) -> Result<Self, String> {
        let told = |problem: String| format!("the schema in `{}`: {problem}", path.display());
        let text = fs::read_to_string(resolve(path)).map_err(|error| told(error.to_string()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let written = serde_json::from_str(text).map_err(|error| told(format!("not JSON: {error}")))?;
        Self::new(written).map_err(told)
    }
}

impl JsonSchema {
    /// Validates with the schema in the item's `field`: an object, JSON text, or a path such as `answer.schema`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        let field = Some(ItemField::new(field.as_ref()));
        Self::from_options(name, JsonSchemaOptions { field, ..JsonSchemaOptions::default() })
    }

    /// Validates all outputs with the same schema. An invalid schema is an error before the run.
    pub fn schema(name: impl Into<String>, schema: Value) -> Self {
        Self::from_options(name, JsonSchemaOptions { schema: Some(schema), ..JsonSchemaOptions::default() })
    }

    /// The same with a schema in a JSON file, relative to the package's folder. It is read immediately; problems are reported
    /// before the run.
    pub fn file(name: impl Into<String>, path: impl AsRef<Path>) -> Self {
        Self::from_options(
            name,
            JsonSchemaOptions { file: Some(path.as_ref().to_owned()), ..JsonSchemaOptions::default() },
        )
    }

    fn from_options(name: impl Into<String>, options: JsonSchemaOptions) -> Self {
        let mut made = Self { common: TextOptions::new(name), options };
        made.load_files();
        made
    }

    fn item_validator(field: &ItemField, item: &Item) -> Result<Validator, EvalError> {
        let told = |problem| EvalError::new(format!("the item's `{}`: {problem}", field.name()));
        compile(field.resolve(item)?).map_err(told)
    }
}

impl TextEvaluator for JsonSchema {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        match self.options.schema() {
            Requirement::InItem(field) => validate(output, &Self::item_validator(field, item)?),
            Requirement::Given(Ok(CompiledSchema { validator, .. })) => validate(output, validator),
            Requirement::Given(Err(problem)) => Err(EvalError::new(problem.clone())),
        }
    }

    /// Reads the file now, as it may change later. Each evaluator built from a table reads it again.
    fn load_files(&mut self) {
        self.options.compiled = Arc::default();
        self.options.schema();
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        match self.options.schema() {
            Requirement::Given(Err(problem)) => Err(CheckError::new(problem.clone())),
            Requirement::Given(Ok(_)) | Requirement::InItem(_) => Ok(()),
        }
    }

    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.options.schema().check_items(setup, Self::item_validator)
    }
}

text_evaluator! {
    JsonSchema(JsonSchemaOptions), it: "json-schema", it.field.as_ref();
    schema = it.schema();
    "schema" by one of field, schema, file
}

#[cfg(all(test, feature = "json-schema"))]
mod tests {
    use serde_json::{Value, json};

    use super::{JsonSchemaOptions, TextOptions};
    use crate::evaluators::options::OptionsTable;
    use crate::evaluators::text::tests::{checked, scored, value};
    use crate::{Evaluator, JsonSchema};

    fn order() -> Value {
        json!({
            "type": "object",
            "required": ["price", "items"],
            "properties": {
                "price": { "type": "number" },
                "items": { "type": "array", "items": { "type": "string" } },
            },
        })
    }

    #[test]
    fn an_output_of_that_form_scores_1_as_json_and_as_text() {
        let order = JsonSchema::schema("order", order());
        let output = json!({"price": 3.5, "items": ["tea"]});
        assert_eq!(value(&order, json!({}), output.clone()), (1.0, None));
        assert_eq!(value(&order, json!({}), json!(output.to_string())), (1.0, None));
    }

    #[test]
    fn the_first_violations_are_told_with_their_places() {
        let order = JsonSchema::schema("order", order());
        let (score, why) = value(&order, json!({}), json!({"price": "3", "items": []}));
        assert_eq!((score, &*why.unwrap()), (0.0, "/price: \"3\" is not of type \"number\""));
        let (_, why) = value(&order, json!({}), json!({"price": 3}));
        assert_eq!(why.unwrap(), "root: \"items\" is a required property");
        let worse = scored(&order, json!({}), json!({"price": 3, "items": [1, 2, 3, 4, 5]})).unwrap();
        let why = worse.why().unwrap();
        assert!(why.starts_with("/items/0: 1 is not") && why.ends_with("; and 2 more"), "{why}");
        assert_eq!(worse.all_metadata()["violations"], 5);
    }

    #[test]
    fn text_that_is_no_json_scores_0() {
        let (score, why) =
            value(&JsonSchema::schema("any", json!(true)), json!({}), json!("Here you are: {}"));
        assert!(score == 0.0 && why.as_ref().unwrap().starts_with("not JSON: "), "{why:?}");
    }

    #[test]
    fn a_schema_may_be_the_items_own() {
        let own = JsonSchema::new("own", "schema");
        assert_eq!(value(&own, json!({"schema": {"type": "object"}}), json!("{}")).0, 1.0);
        assert_eq!(value(&own, json!({"schema": "{\"type\": \"array\"}"}), json!("{}")).0, 0.0);
        let error =
            checked(&own, json!([{"schema": {}}, {"id": "x", "schema": {"type": "order"}}])).unwrap_err();
        assert!(error.starts_with("item `x`: the item's `schema`: invalid JSON schema: "), "{error}");
    }

    #[test]
    fn a_broken_schema_is_told_before_anything_runs() {
        let error = checked(&JsonSchema::schema("s", json!({"type": 3})), json!([])).unwrap_err();
        assert!(error.starts_with("invalid JSON schema: "), "{error}");
    }

    #[test]
    fn what_a_reference_leads_to_outside_the_schema_is_not_fetched() {
        for elsewhere in ["https://example.com/s.json", "file:///etc/hosts", "other.json"] {
            for schema in [json!({"$ref": elsewhere}), json!({"items": {"$ref": elsewhere}})] {
                let error = checked(&JsonSchema::schema("s", schema), json!([])).unwrap_err();
                let expected =
                    format!("`{elsewhere}` is outside the schema, and references are not fetched; move");
                assert!(error.contains(&expected), "{error}");
            }
        }
    }

    #[test]
    fn a_format_is_not_asked_for_in_any_draft() {
        for draft in [
            "draft-04/schema#",
            "draft-06/schema#",
            "draft-07/schema#",
            "draft/2019-09/schema",
            "draft/2020-12/schema",
        ] {
            let host = if draft.starts_with("draft/") { "https" } else { "http" };
            let schema = json!({"$schema": format!("{host}://json-schema.org/{draft}"), "format": "ipv4"});
            assert_eq!(
                value(&JsonSchema::schema("s", schema), json!({}), json!("\"x\"")),
                (1.0, None),
                "{draft}"
            );
        }
    }

    #[test]
    fn a_schema_is_read_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("order.json");
        std::fs::write(&path, order().to_string()).unwrap();
        let from_file = JsonSchema::file("order", &path);
        assert_eq!(value(&from_file, json!({}), json!({"price": 1, "items": []})).0, 1.0);
        assert_eq!(from_file.fingerprint(), JsonSchema::schema("order", order()).fingerprint());
        std::fs::write(&path, "{").unwrap();
        for broken in [JsonSchema::file("order", &path), JsonSchema::file("order", "no/such/schema.json")] {
            let error = checked(&broken, json!([])).unwrap_err();
            assert!(error.starts_with("the schema in `") && error.contains(".json`: "), "{error}");
        }
    }

    #[test]
    fn a_file_is_read_when_the_evaluator_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schema.json");
        let own = JsonSchemaOptions { file: Some(path.clone()), ..JsonSchemaOptions::default() };
        let table = OptionsTable { own, shared: TextOptions::new("schema") };
        let mut made = Vec::new();
        for written in ["true", "false", "{"] {
            std::fs::write(&path, written).unwrap();
            made.extend([table.make().unwrap(), std::sync::Arc::new(JsonSchema::file("schema", &path))]);
        }
        let values = made[..4].iter().map(|made| value(&**made, json!({}), json!("3")).0);
        assert_eq!(values.collect::<Vec<_>>(), [1.0, 1.0, 0.0, 0.0]);
        assert!(made[4..].iter().all(|made| checked(&**made, json!([])).unwrap_err().contains("not JSON: ")));
    }
}
