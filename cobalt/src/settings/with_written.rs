//! Builders, called with what is written of a table.

/// Calls those setters of an evaluator whose values are written in the file.
macro_rules! with_written {
    ($evaluator:expr, $($setter:ident($value:expr)),+ $(,)?) => {{
        let evaluator = $evaluator;
        $(let evaluator = match $value {
            Some(value) => evaluator.$setter(value),
            None => evaluator,
        };)+
        evaluator
    }};
}

pub(crate) use with_written;
