//! The fields of spans and events as JSON values.

use std::error::Error;
use std::fmt;

use cobalt_core::error_chain::format_with_causes;
use cobalt_core::item::Item;
use serde_json::Value;
use tracing::field::{Field, Visit};

/// Collects fields.
#[derive(Debug, Default)]
pub struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.push((field.name(), value.into()));
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(own, _)| *own == name)?;
        Some(self.0.remove(place).1)
    }

    /// Adds them to others, which they replace.
    pub fn add_to(self, item: &mut Item) {
        item.extend(self.0.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }

    /// Adds those that others lack.
    pub fn add_missing_to(self, item: &mut Item) {
        for (name, value) in self.0 {
            item.entry(name).or_insert(value);
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.add(field, format_with_causes(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }
}
