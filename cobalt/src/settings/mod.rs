//! What tables of settings are made of: single values, each with what it may be, and tables that are told apart by their `type`.

mod address;
mod by_type;
#[cfg(feature = "schema")]
mod schema;
mod table;
mod values;
mod with_written;

pub(crate) use address::{host, is_address};
pub(crate) use by_type::{ReadTable, read_by_type, take_type};
#[cfg(feature = "schema")]
pub(crate) use schema::schema_of;
pub(crate) use table::{NoKeys, Table};
pub(crate) use values::{
    Address, Age, AgeOrOff, Argument, Bound, Count, Dollars, EmbeddingVendor, EnvironmentName, JudgeVendor,
    KeyVariable, Length, Limit, Number, Retries, Score, Target, Temperature, Text, VariableName,
    VariableValue, Weight, Word, at_least_one, bounds, written,
};
pub(crate) use with_written::with_written;
