//! Building blocks of configuration tables: validated single values, and tables whose keys depend on a `type`.

mod names;
#[cfg(feature = "schema")]
mod schema;
mod table;
mod values;

#[cfg(test)]
pub(crate) use names::assert_written_as_read;
pub(crate) use names::{Name, names};
#[cfg(feature = "schema")]
pub(crate) use schema::schema_of;
pub(crate) use table::{NoKeys, Table, take_type};
pub(crate) use values::{
    Address, Age, AgeOrOff, Argument, Bound, Count, DEFAULT_TIMEOUT, Dollars, EmbeddingVendor,
    EnvironmentName, JudgeVendor, KeyVariable, LONGEST_TIMEOUT, Length, Limit, MOST_RUNS, Number, Retries,
    Score, Target, Temperature, Text, VariableName, VariableValue, Weight, Word, at_least_one, bounds,
    from_text, host, is_address, written,
};
