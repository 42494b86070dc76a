//! Which variants to run, and which of their settings to change: `--variant`, `--set` and their variables.

use std::fmt;
use std::str::FromStr;

use cobalt_core::wording;
use serde_json::Value;

/// The variants to run, and changes of their settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantSelection {
    /// Names of variants; empty selects all.
    pub names: Vec<String>,
    /// Changes of the selected variants' settings.
    pub changes: Vec<SettingChange>,
}

impl VariantSelection {
    /// Whether every variant is run as declared.
    pub(crate) fn is_all(&self) -> bool {
        self.names.is_empty() && self.changes.is_empty()
    }
}

/// A change of a setting: `model=gpt-4o`, or `retrieval.top_k=5` for a nested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    key: String,
    value: String,
}

/// What separates the changes in the variable.
pub(super) const SEPARATOR: char = ';';

impl SettingChange {
    /// Changes the setting. Text stays text; every other setting takes a value in JSON, or else text.
    ///
    /// # Errors
    ///
    /// There is no such setting.
    pub(crate) fn apply(&self, settings: &mut Value) -> Result<(), String> {
        let mut target = settings;
        for part in self.key.split('.') {
            let Value::Object(fields) = target else {
                return Err(format!(
                    "it has no setting `{}`; its settings are not an object with this field",
                    self.key
                ));
            };
            if !fields.contains_key(part) {
                let known = wording::suggest_or_list(part, fields.keys().map(String::as_str));
                return Err(format!("it has no setting `{}`; {known}", self.key));
            }
            target = &mut fields[part];
        }
        let parsed = serde_json::from_str(&self.value).ok();
        *target = match parsed {
            Some(value) if !target.is_string() || matches!(value, Value::String(_)) => value,
            _ => Value::String(self.value.clone()),
        };
        Ok(())
    }
}

impl FromStr for SettingChange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("expected a setting and its value, such as `model=gpt-4o`, not `{text}`");
        let (key, value) = text.split_once('=').ok_or_else(refused)?;
        if key.trim().is_empty() || key.split('.').any(|part| part.trim().is_empty()) {
            return Err(refused());
        }
        if value.contains(SEPARATOR) {
            return Err(format!(
                "a value cannot contain `{SEPARATOR}`: change the variant's declaration instead"
            ));
        }
        Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned() })
    }
}

/// `model=gpt-4o`
impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(change: &str) -> Result<Value, String> {
        let mut settings =
            json!({ "model": "mini", "shots": 0, "stop": null, "version": "1", "rag": { "topK": 3 } });
        change.parse::<SettingChange>()?.apply(&mut settings)?;
        Ok(settings)
    }

    #[test]
    fn a_change_keeps_the_type_of_a_text() {
        assert_eq!(changed("model = large").unwrap()["model"], "large");
        assert_eq!(changed("version=2").unwrap()["version"], "2");
        assert_eq!(changed(r#"version="2""#).unwrap()["version"], "2");
        assert_eq!(changed("shots=5").unwrap()["shots"], 5);
        assert_eq!(changed("stop=END").unwrap()["stop"], "END");
        assert_eq!(changed("rag.topK=[1]").unwrap()["rag"], json!({ "topK": [1] }));
    }

    #[test]
    fn what_no_variant_has_is_refused() {
        assert_eq!(
            changed("modle=x").unwrap_err(),
            "it has no setting `modle`; did you mean `model`? available: `model`, `shots`, `stop`, `version`, `rag`"
        );
        assert!(changed("model.name=x").unwrap_err().contains("not an object"));
        assert!(changed("model").unwrap_err().contains("such as `model=gpt-4o`"));
        assert!(changed("model=a;b").unwrap_err().contains("cannot contain `;`"));
    }
}
