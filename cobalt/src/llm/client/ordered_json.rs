//! JSON with the properties of schemas in order. A model constrained to a schema writes the fields in the schema's order, and a
//! verdict written before the reasons is not based on them. Our JSON objects are unordered, so the order of `required` is used.

use std::collections::BTreeSet;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// A value to serialize in this way.
pub struct OrderedJson<'a>(pub(in crate::llm) &'a Value);

impl OrderedJson<'_> {
    /// The JSON text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("a JSON value can be serialized to memory")
    }
}

impl Serialize for OrderedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    match (name.as_str(), value, fields.get("required")) {
                        ("properties", Value::Object(properties), Some(Value::Array(required))) => {
                            map.serialize_entry(name, &Properties { properties, required })?;
                        }
                        _ => map.serialize_entry(name, &OrderedJson(value))?,
                    }
                }
                map.end()
            }
            Value::Array(values) => serializer.collect_seq(values.iter().map(OrderedJson)),
            other => other.serialize(serializer),
        }
    }
}

/// The properties of a schema: the required ones first, in their order.
struct Properties<'a> {
    properties: &'a Map<String, Value>,
    required: &'a [Value],
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let required = self.required.iter().filter_map(Value::as_str);
        let mut written = BTreeSet::new();
        let names = required.chain(self.properties.keys().map(String::as_str));
        let names = names.filter(|name| written.insert(*name));
        serializer.collect_map(names.filter_map(|name| Some((name, OrderedJson(self.properties.get(name)?)))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reasons_stand_before_the_choice_that_they_lead_to() {
        let schema = json!({
            "type": "object",
            "properties": {"choice": {"type": "string"}, "note": {}, "reasons": {"type": "string"}},
            "required": ["reasons", "choice"],
        });
        let text = OrderedJson(&json!([{ "schema": schema }])).text();
        let places = ["\"reasons\":{", "\"choice\":{", "\"note\":{"].map(|name| text.find(name).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!([{ "schema": schema }]));
    }

    #[test]
    fn what_is_no_schema_is_written_as_it_is() {
        let body =
            json!({"model": "m", "messages": [{"content": "é\n"}], "temperature": 0.5, "properties": null});
        assert_eq!(OrderedJson(&body).text(), body.to_string());
    }
}
