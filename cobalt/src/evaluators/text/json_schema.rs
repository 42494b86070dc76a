//! `JsonSchema`: the output has the form that a JSON schema asks for.

use std::path::Path;
use std::{fmt, fs};

use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::wanted::Wanted;
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::schema::{Validator, conforms, validator};
use crate::evaluators::{CheckError, EvalError, Score, Setup};
use crate::paths::resolve;

/// Scores 1 where the output has the form that a JSON schema asks for, and 0 elsewhere.
///
/// An output that is text is parsed as JSON; text that is none scores 0. Schemas are of draft 2020-12, unless `$schema`
/// names another of drafts 4, 6, 7 and 2019-09. `format` is a remark in all of them, and not asked for. Nothing is
/// fetched: a `$ref` leads to a place within the schema.
///
/// It needs the feature `json-schema`, which is off by default; without it, every check before a run fails and says so.
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
/// // `schema` of each item is its own.
/// let own = JsonSchema::new("own", "schema");
/// ```
#[derive(Clone, Debug)]
pub struct JsonSchema {
    common: Common,
    schema: Wanted<Result<Schema, String>>,
}

/// A schema for all items, compiled.
#[derive(Clone)]
struct Schema {
    written: Value,
    validator: Validator,
}

/// As written: that is the same in every process.
impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.written)
    }
}

impl Schema {
    fn new(mut written: Value) -> Result<Self, String> {
        let validator = validator(&written)?;
        // The order of its keys makes no other evaluator of it.
        written.sort_all_objects();
        Ok(Self { written, validator })
    }

    fn read(path: &Path) -> Result<Self, String> {
        let told = |problem: String| format!("the schema in `{}`: {problem}", path.display());
        let text = fs::read_to_string(resolve(path)).map_err(|error| told(error.to_string()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let written = serde_json::from_str(text).map_err(|error| told(format!("no JSON: {error}")))?;
        Self::new(written).map_err(told)
    }
}

impl JsonSchema {
    /// Asks for the form that the schema in the item's `field` describes, an object, or text of one; the field may be a
    /// path such as `answer.schema`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self { common: Common::new(name), schema: Wanted::InItem(ItemField::new(field.as_ref())) }
    }

    /// Asks all outputs for the same form. A broken schema is told before the first item is run.
    pub fn schema(name: impl Into<String>, schema: Value) -> Self {
        Self { common: Common::new(name), schema: Wanted::Given(Schema::new(schema)) }
    }

    /// The same with the schema in a JSON file, whose path is relative to the package's folder. It is read at once; what is
    /// wrong with it is told before the first item is run.
    pub fn file(name: impl Into<String>, path: impl AsRef<Path>) -> Self {
        Self { common: Common::new(name), schema: Wanted::Given(Schema::read(path.as_ref())) }
    }

    fn schema_in(field: &ItemField, item: &Item) -> Result<Validator, EvalError> {
        let told = |problem| EvalError::new(format!("the item's `{}`: {problem}", field.name()));
        validator(field.find(item)?).map_err(told)
    }
}

impl TextEvaluator for JsonSchema {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        self.schema.field()
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        match &self.schema {
            Wanted::InItem(field) => conforms(output, &Self::schema_in(field, item)?),
            Wanted::Given(Ok(Schema { validator, .. })) => conforms(output, validator),
            Wanted::Given(Err(problem)) => Err(EvalError::new(problem.clone())),
        }
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        match &self.schema {
            Wanted::Given(Err(problem)) => Err(CheckError::new(problem.clone())),
            Wanted::Given(Ok(_)) | Wanted::InItem(_) => Ok(()),
        }
    }

    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.schema.check_items(setup, Self::schema_in)
    }
}

text_evaluator!(JsonSchema);
