//! Validates the arguments of tools and prompts against their schemas, with uniform error messages.

use cobalt_core::wording::{self, truncate};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema::{ResolvedSchema, allowed};
use crate::error::Error;
use crate::mcp::plain_errors::simplify;

/// The longest quote of a value, in characters.
const LONGEST: usize = 80;

/// Parses the arguments. The error names every invalid one, with its value and what was expected.
pub fn parse<Arguments: DeserializeOwned + JsonSchema>(given: JsonObject) -> Result<Arguments, Error> {
    let schema = schema_for!(Arguments);
    let mut problems = Vec::new();
    let given = validate(schema.as_value(), given, &mut problems);
    if !problems.is_empty() {
        return Err(Error::Arguments(problems.join("; ")));
    }
    // Only errors that the schema cannot express remain.
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.into_inner());
        Error::Arguments(format!("invalid `{path}`: {}", simplify(&reason.to_string())))
    })
}

/// The arguments with normalized integers. Adds what is wrong to `problems`.
fn validate(schema: &Value, given: JsonObject, problems: &mut Vec<String>) -> JsonObject {
    let properties = schema["properties"].as_object();
    let names = || properties.into_iter().flat_map(|known| known.keys().map(String::as_str));
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required.filter(|name| !given.contains_key(*name)) {
        let expected = expected(&ResolvedSchema::of(schema, &schema["properties"][name]));
        problems.push(format!("`{name}` is missing: expected {expected}"));
    }
    let mut read = JsonObject::new();
    for (name, mut value) in given {
        match properties.and_then(|known| known.get(&name)) {
            Some(property) => check(&name, schema, property, &mut value, problems),
            None => {
                let name = truncate(&name, LONGEST);
                problems.push(format!(
                    "unknown argument `{name}`; {}",
                    wording::suggest_or_list(&name, names().collect::<Vec<_>>())
                ));
            }
        }
        read.insert(name, value);
    }
    read
}

/// Checks a value against its schema.
fn check(place: &str, root: &Value, property: &Value, value: &mut Value, problems: &mut Vec<String>) {
    let resolved = ResolvedSchema::of(root, property);
    if value.is_null() && resolved.is_nullable {
        return;
    }
    if resolved.json_type() == "array"
        && let Value::Array(elements) = value
    {
        for (index, element) in elements.iter_mut().enumerate() {
            check(&format!("{place}[{index}]"), root, &resolved.schema["items"], element, problems);
        }
        return;
    }
    if resolved.json_type() == "integer" {
        normalize_integer(value);
    }
    if !is_valid(&resolved, value) {
        let given = truncate(&value.to_string(), LONGEST).into_owned();
        problems.push(format!("`{place}` is {given}: expected {}", expected(&resolved)));
    }
}

/// Turns a number such as `3.0` into `3`: JSON does not distinguish them.
fn normalize_integer(value: &mut Value) {
    // Above this, floats cannot represent every integer.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < LARGEST)
        && !value.is_u64()
        && !value.is_i64()
    {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within bounds")]
        let whole = number as i64;
        *value = whole.into();
    }
}

fn is_valid(resolved: &ResolvedSchema<'_>, value: &Value) -> bool {
    let (least, most) = resolved.range();
    let is_within =
        |number: f64| least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
    match resolved.json_type() {
        "string" => {
            let allowed = allowed(resolved.schema);
            value.as_str().is_some_and(|text| allowed.is_empty() || allowed.contains(&text))
        }
        "boolean" => value.is_boolean(),
        "integer" => (value.is_u64() || value.is_i64()) && value.as_f64().is_some_and(is_within),
        "number" => value.as_f64().is_some_and(is_within),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// The expected value, for messages.
fn expected(resolved: &ResolvedSchema<'_>) -> String {
    let range = |what: &str| match resolved.range() {
        (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
        (Some(least), None) => format!("{what}, {least} or more"),
        (None, Some(most)) => format!("{what}, {most} or less"),
        (None, None) => what.to_owned(),
    };
    match resolved.json_type() {
        "string" => {
            let mut words: Vec<_> = allowed(resolved.schema).iter().map(|word| format!("`{word}`")).collect();
            match words.pop() {
                None => "a string".to_owned(),
                Some(last) if words.is_empty() => last,
                Some(last) => format!("{} or {last}", words.join(", ")),
            }
        }
        "boolean" => "`true` or `false`".to_owned(),
        "integer" => range("an integer"),
        "number" => range("a number"),
        "array" => match ResolvedSchema::of(resolved.root, &resolved.schema["items"]).json_type() {
            "string" => "a list of strings".to_owned(),
            _ => "a list".to_owned(),
        },
        _ => "an object".to_owned(),
    }
}

/// The flags of `cargo cobalt` for fetching remote datasets.
pub fn fetch_flags(refresh: bool, offline: bool) -> Result<Vec<String>, Error> {
    if refresh && offline {
        return Err(Error::Arguments(
            "`refresh` cannot be combined with `offline`: one fetches datasets, the other prevents it; omit one of them"
                .to_owned(),
        ));
    }
    let flags = [(refresh, "--refresh"), (offline, "--offline")];
    Ok(flags.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, flag)| flag.to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::mcp::tools::all;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Given {
        agent_file: String,
        #[schemars(range(min = 1, max = 1000))]
        runs: Option<u32>,
        #[schemars(range(min = 0.0, max = 1.0))]
        max_score: Option<f64>,
        experiments: Option<Vec<String>>,
        #[serde(default)]
        offline: bool,
        status: Option<Kind>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        /// It passed.
        Passed,
        /// It failed.
        Failed,
    }

    fn read_json(given: Value) -> Result<Given, String> {
        let Value::Object(given) = given else { panic!("{given}") };
        parse(given).map_err(|error| error.to_string())
    }

    #[test]
    fn valid_arguments_are_parsed() {
        let given = json!({ "agentFile": "a.rs", "runs": 3.0, "maxScore": 1, "experiments": ["a"], "status": "failed" });
        let read = read_json(given).unwrap();
        assert_eq!((read.runs, read.max_score, read.status), (Some(3), Some(1.0), Some(Kind::Failed)));
        assert_eq!(read.experiments.as_deref(), Some(&["a".to_owned()][..]));
        let nothing =
            json!({ "agentFile": "", "runs": null, "maxScore": null, "experiments": null, "status": null });
        assert_eq!(read_json(nothing).unwrap().runs, None);
    }

    #[test]
    fn errors_name_the_argument_its_value_and_what_was_expected() {
        for (given, told) in [
            (json!({}), "`agentFile` is missing: expected a string"),
            (json!({ "agentFile": 7 }), "`agentFile` is 7: expected a string"),
            (json!({ "agentFile": null }), "`agentFile` is null: expected a string"),
            (
                json!({ "agentFile": "", "runs": "many" }),
                "`runs` is \"many\": expected an integer from 1 to 1000",
            ),
            (json!({ "agentFile": "", "runs": 0 }), "`runs` is 0: expected an integer from 1 to 1000"),
            (json!({ "agentFile": "", "runs": 1.5 }), "`runs` is 1.5: expected an integer from 1 to 1000"),
            (
                json!({ "agentFile": "", "runs": 1e300 }),
                "`runs` is 1e+300: expected an integer from 1 to 1000",
            ),
            (json!({ "agentFile": "", "maxScore": 2 }), "`maxScore` is 2: expected a number from 0 to 1"),
            (
                json!({ "agentFile": "", "experiments": "a" }),
                "`experiments` is \"a\": expected a list of strings",
            ),
            (json!({ "agentFile": "", "experiments": ["a", 7] }), "`experiments[1]` is 7: expected a string"),
            (
                json!({ "agentFile": "", "offline": "yes" }),
                "`offline` is \"yes\": expected `true` or `false`",
            ),
            (
                json!({ "agentFile": "", "status": "low" }),
                "`status` is \"low\": expected `passed` or `failed`",
            ),
        ] {
            assert_eq!(read_json(given).unwrap_err(), told);
        }
        let told = read_json(json!({ "agentfile": "", "runs": [] })).unwrap_err();
        let parts: Vec<_> = told.split("; ").collect();
        assert_eq!((parts.len(), parts[1]), (4, "unknown argument `agentfile`"), "{told}");
        assert!(parts[2].starts_with("did you mean `agentFile`? available: "), "{told}");
    }

    /// Values of every type, few of which are valid anywhere.
    fn values() -> Vec<Value> {
        let long = "x".repeat(100_000);
        vec![
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(1.5),
            json!(u64::MAX),
            json!(1e300),
            json!("no-such-value"),
            json!(long),
            json!([]),
            json!([7]),
            json!([[null]]),
            json!({}),
            json!({ "a": 1 }),
        ]
    }

    #[test]
    fn no_error_about_an_argument_uses_the_terms_of_a_deserializer() {
        let (mut refused, mut names) = (0, Vec::new());
        for tool in all() {
            let schema = Value::Object(JsonObject::clone(&tool.input_schema));
            let properties = schema["properties"].as_object().unwrap();
            assert!(properties.keys().all(|name| schema["properties"][name]["description"].is_string()));
            names.extend(properties.keys().map(|name| format!("{}.{name}", tool.name)));
            for name in properties.keys().map(String::as_str).chain(["no-such-argument"]) {
                for value in values() {
                    let mut problems = Vec::new();
                    let given = JsonObject::from_iter([(name.to_owned(), value.clone())]);
                    validate(&schema, given, &mut problems);
                    for problem in problems {
                        refused += 1;
                        for words in [
                            "variant", "invalid", "usize", "u32", "u64", "f64", "sequence", "map", "struct",
                            "bool",
                        ] {
                            assert!(!problem.contains(words), "{}: {problem}", tool.name);
                        }
                        let says_what =
                            problem.contains(": expected ") || problem.starts_with("unknown argument");
                        assert!(says_what && problem.len() < 1_000, "{}: {problem}", tool.name);
                    }
                }
            }
        }
        assert!(refused > 300 && names.len() > 25, "{refused} refused of {names:?}");
    }
}
