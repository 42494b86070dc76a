//! One text for one JSON value: compact, keys sorted, numbers as JavaScript writes them (`3`, not `3.0`).

use std::fmt::{self, Write};

use serde_json::Value;

use crate::template::number_text;

/// The text of a value.
pub(crate) fn json_text(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value).expect("text in memory takes whatever is written");
    text
}

fn write(text: &mut String, value: &Value) -> fmt::Result {
    match value {
        Value::Number(number) => text.write_str(&number_text(number)),
        Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(text, value)?;
            }
            text.write_char(']')
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in fields.into_iter().enumerate() {
                write!(text, "{}{}:", if index > 0 { "," } else { "" }, Value::String(name.clone()))?;
                write(text, value)?;
            }
            text.write_char('}')
        }
        Value::String(_) | Value::Bool(_) | Value::Null => write!(text, "{value}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_have_one_text() {
        assert_eq!(json_text(&json!({"b": [1, 2.0, "é\n"], "a": null})), r#"{"a":null,"b":[1,2,"é\n"]}"#);
    }
}
