//! Attributes of spans and events.

use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use serde_json::Value;

/// Attributes with unique names.
#[derive(Debug, Default)]
pub struct Attributes(Vec<KeyValue>);

impl Attributes {
    /// Sets an attribute, unless the value is unknown.
    pub fn set(&mut self, name: &str, value: impl IntoAttribute) {
        let Some(value) = value.into_attribute() else { return };
        let value = Some(AnyValue { value: Some(value) });
        match self.0.iter_mut().find(|known| known.key == name) {
            Some(known) => known.value = value,
            None => self.0.push(KeyValue { key: name.to_owned(), value, ..KeyValue::default() }),
        }
    }

    /// Sets a text or a JSON value, and its media type: OpenInference's pair of attributes.
    pub fn set_content(&mut self, name: &str, value: &Value) {
        let (text, media_type) = match value {
            Value::Null => return,
            Value::String(text) => (text.clone(), "text/plain"),
            value => (value.to_string(), "application/json"),
        };
        self.set(&format!("{name}.value"), text);
        self.set(&format!("{name}.mime_type"), media_type);
    }

    pub fn into_vec(self) -> Vec<KeyValue> {
        self.0
    }
}

/// A value that an attribute can have.
pub trait IntoAttribute {
    /// `None` if it is unknown.
    fn into_attribute(self) -> Option<AttributeValue>;
}

impl IntoAttribute for &str {
    fn into_attribute(self) -> Option<AttributeValue> {
        Some(AttributeValue::StringValue(self.to_owned()))
    }
}

impl IntoAttribute for String {
    fn into_attribute(self) -> Option<AttributeValue> {
        Some(AttributeValue::StringValue(self))
    }
}

impl IntoAttribute for bool {
    fn into_attribute(self) -> Option<AttributeValue> {
        Some(AttributeValue::BoolValue(self))
    }
}

impl IntoAttribute for f64 {
    fn into_attribute(self) -> Option<AttributeValue> {
        Some(AttributeValue::DoubleValue(self))
    }
}

impl IntoAttribute for u64 {
    fn into_attribute(self) -> Option<AttributeValue> {
        i64::try_from(self).ok().map(AttributeValue::IntValue)
    }
}

impl IntoAttribute for usize {
    fn into_attribute(self) -> Option<AttributeValue> {
        i64::try_from(self).ok().map(AttributeValue::IntValue)
    }
}

impl IntoAttribute for &[String] {
    fn into_attribute(self) -> Option<AttributeValue> {
        let value = |text: &String| AnyValue { value: text.as_str().into_attribute() };
        Some(AttributeValue::ArrayValue(ArrayValue { values: self.iter().map(value).collect() }))
    }
}

impl<T: IntoAttribute> IntoAttribute for Option<T> {
    fn into_attribute(self) -> Option<AttributeValue> {
        self.and_then(T::into_attribute)
    }
}

/// Lists of texts stay lists; other lists and objects are written as JSON, as most tools show them best.
impl IntoAttribute for &Value {
    fn into_attribute(self) -> Option<AttributeValue> {
        match self {
            Value::Null => None,
            Value::Bool(value) => value.into_attribute(),
            Value::Number(number) => match number.as_i64() {
                Some(number) => Some(AttributeValue::IntValue(number)),
                None => number.as_f64().and_then(f64::into_attribute),
            },
            Value::String(text) => text.as_str().into_attribute(),
            Value::Array(values) => {
                let texts: Option<Vec<_>> =
                    values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
                texts.map_or_else(
                    || self.to_string().into_attribute(),
                    |texts| texts.as_slice().into_attribute(),
                )
            }
            Value::Object(_) => self.to_string().into_attribute(),
        }
    }
}
