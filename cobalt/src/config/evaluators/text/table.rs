//! The keys that the tables of all evaluators of text have.

/// Makes a table with these keys and some of its own.
macro_rules! text_table {
    ($(#[$attribute:meta])* $table:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        $(#[$attribute])*
        pub(in crate::config) struct $table {
            /// The name in reports; that of the type unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            name: Option<crate::settings::Word>,
            $($own)*
            /// The part of what the agent gave to look at, a path such as "output.answer" or "metadata.answer"; "output"
            /// unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            output: Option<crate::settings::Word>,
            /// From which score an output passes; 0.5 unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            pass_mark: Option<crate::settings::Score>,
        }
    };
}

/// The evaluator with what is written of these keys. The first argument is a table of which all else is taken out.
macro_rules! with_common {
    ($written:ident, $evaluator:expr) => {
        crate::settings::with_written!(
            $evaluator,
            output($written.output.map(|crate::settings::Word(path)| path)),
            pass_mark($written.pass_mark.map(|crate::settings::Score(mark)| mark)),
        )
    };
}

/// The name that a table gives, or that of its type.
macro_rules! name_of {
    ($written:ident) => {
        $written.name.map_or_else(|| Self::TYPE.to_owned(), |crate::settings::Word(name)| name)
    };
}

pub(super) use {name_of, text_table, with_common};
