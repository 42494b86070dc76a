//! Building blocks of configuration tables: validated single values, and tables whose keys depend on a `type`.

mod field_names;
mod named_choices;
#[cfg(feature = "schema")]
mod schema;
mod table;
mod values;

pub(crate) use field_names::FieldNames;
#[cfg(test)]
pub(crate) use named_choices::assert_round_trip;
pub(crate) use named_choices::{NamedChoice, named_choices};
#[cfg(feature = "schema")]
pub(crate) use schema::inline_schemas;
pub(crate) use table::{NoSharedKeys, SplitTable, take_type};
pub(crate) use values::{
    Age, AgeOrOff, Argument, BaseUrl, DEFAULT_TIMEOUT, Dollars, DurationValue, EmbeddingProvider,
    EnvironmentName, JudgeProvider, MAX_RUNS, MAX_TIMEOUT, NonEmptyString, NonNegativeInt, NumberVisitor,
    PositiveInt, Retries, ScoreValue, SecretVariable, StringVisitor, TargetPattern, Temperature,
    ThresholdExpr, VariableName, VariableValue, Weight, deserialize_from_str, format_duration, host,
    is_http_url, non_empty_list, threshold_list,
};
