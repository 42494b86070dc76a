//! The log: events at Cobalt's decisions, on stderr, if `COBALT_LOG` asks for them.
//!
//! The log has a dispatcher of its own. A subscriber of the user receives none of its events, no span of an agent gets one, and nothing
//! that other crates emit reaches it: their events may hold whole requests. Without the feature `tracing` the macros do nothing.

#[cfg(feature = "tracing")]
mod sink;

#[cfg(feature = "tracing")]
pub use sink::{emit, filter, init, is_enabled};
#[cfg(feature = "tracing")]
#[doc(hidden)]
pub use tracing;

pub use crate::{__log_debug as debug, __log_info as info, __log_trace as trace, __log_warn as warn};

/// The variable with the filter.
pub const VARIABLE: &str = "COBALT_LOG";
/// The crates that write to the log.
const CRATES: [&str; 3] = ["cobalt", "cobalt_runner", "cargo_cobalt"];
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// A filter that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "`{directive}` is neither a level nor a module with one; expected a level ({}), or modules such as \
     `cobalt=debug,cobalt::recording=trace,cobalt_runner=info`",
    LEVELS.join(", ")
)]
pub struct FilterError {
    directive: String,
}

/// Starts the log if the variable is set. An empty one counts as unset.
///
/// # Errors
///
/// The filter is invalid.
pub fn init_from_environment() -> Result<(), FilterError> {
    match std::env::var_os(VARIABLE).filter(|filter| !filter.is_empty()) {
        Some(filter) => init(&filter.to_string_lossy()),
        None => Ok(()),
    }
}

/// Checks a filter and says that it has no effect.
///
/// # Errors
///
/// The filter is invalid.
#[cfg(not(feature = "tracing"))]
pub fn init(filter: &str) -> Result<(), FilterError> {
    static SAID: std::sync::Once = std::sync::Once::new();
    check(filter)?;
    SAID.call_once(|| {
        eprintln!("note: {VARIABLE} has no effect without the feature `tracing` of the crate `cobalt`");
    });
    Ok(())
}

/// The filter of the log, if there is one.
#[cfg(not(feature = "tracing"))]
#[must_use]
pub fn filter() -> Option<&'static str> {
    None
}

/// Checks each directive: a misspelt level would be a module, and one of another crate matches nothing.
fn check(filter: &str) -> Result<(), FilterError> {
    let is_level = |text: &str| {
        LEVELS.iter().any(|level| level.eq_ignore_ascii_case(text))
            || text.parse::<u8>().is_ok_and(|level| level <= 5)
    };
    let is_module = |text: &str| {
        CRATES.contains(&text.split("::").next().unwrap_or_default())
            && text.split("::").all(|part| {
                !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            })
    };
    let is_valid = |directive: &&str| match directive.split_once('=') {
        Some((module, level)) => is_module(module) && is_level(level),
        None => is_level(directive) || is_module(directive),
    };
    match filter.split(',').map(str::trim).find(|directive| !is_valid(directive)) {
        Some(directive) => Err(FilterError { directive: directive.to_owned() }),
        None => Ok(()),
    }
}

/// Writes an event: `event!(DEBUG, field = value, "message")`. Values implement `Display`. Messages are short and constant, the rest is in fields;
/// neither holds prompts, headers or bodies.
#[cfg(feature = "tracing")]
#[doc(hidden)]
#[macro_export]
macro_rules! __log_event {
    ($level:ident, $($name:ident = $value:expr,)* $message:literal) => {
        if $crate::command::log::is_enabled() {
            $crate::command::log::emit(|| {
                $crate::command::log::tracing::event!(
                    $crate::command::log::tracing::Level::$level,
                    $($name = %$value,)*
                    $message
                );
            });
        }
    };
}

/// The same without `tracing`: only uses the values, so that no variable is unused.
#[cfg(not(feature = "tracing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __log_event {
    ($level:ident, $($name:ident = $value:expr,)* $message:literal) => {
        if false {
            $(let _ = &$value;)*
        }
    };
}

/// What is worth knowing of every run.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_info {
    ($($event:tt)*) => { $crate::__log_event!(INFO, $($event)*) };
}

/// What did not go as planned, and was dealt with.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_warn {
    ($($event:tt)*) => { $crate::__log_event!(WARN, $($event)*) };
}

/// Decisions.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_debug {
    ($($event:tt)*) => { $crate::__log_event!(DEBUG, $($event)*) };
}

/// Steps that are too many for a run of many items.
#[doc(hidden)]
#[macro_export]
macro_rules! __log_trace {
    ($($event:tt)*) => { $crate::__log_event!(TRACE, $($event)*) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_name_levels_and_our_modules() {
        for filter in
            ["info", "DEBUG", "off", "3", "cobalt=debug", "cobalt::recording=trace, warn", "cobalt_runner"]
        {
            assert_eq!(check(filter), Ok(()), "{filter}");
        }
        for (filter, directive) in [
            ("debgu", "debgu"),
            ("cobalt=loud", "cobalt=loud"),
            ("cobalt=debug,hyper=trace", "hyper=trace"),
            ("info,", ""),
            ("cobalt[{item}]=debug", "cobalt[{item}]=debug"),
            ("cobalt::=debug", "cobalt::=debug"),
            ("6", "6"),
        ] {
            assert_eq!(check(filter), Err(FilterError { directive: directive.to_owned() }), "{filter}");
        }
        let error = check("debgu").unwrap_err().to_string();
        assert!(
            error.starts_with("`debgu` is neither a level") && error.contains("off, error, warn"),
            "{error}"
        );
    }
}
