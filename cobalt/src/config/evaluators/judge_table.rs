//! The keys of tables that say which model judges: the same for all whose evaluators ask one.

/// Makes a table with some keys of its own and these.
macro_rules! judge_table {
    ($(#[$attribute:meta])* $table:ident { $($own:tt)* }) => {
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        $(#[$attribute])*
        pub(in crate::config) struct $table {
            $($own)*
            /// The model that judges; that of `[judge]` unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            model: Option<crate::settings::Word>,
            /// Whose API is spoken; follows from the model, else from `[judge]`, unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            provider: Option<crate::settings::JudgeVendor>,
            /// Where the API is; that of `[judge]`, else the vendor's own, unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            base_url: Option<crate::settings::Address>,
            /// The environment variable that holds the key; the vendor's own unless it is set.
            #[serde(skip_serializing_if = "Option::is_none")]
            api_key_env: Option<crate::settings::KeyVariable>,
            /// How freely the model chooses its words; sent only where the model takes it.
            #[serde(skip_serializing_if = "Option::is_none")]
            temperature: Option<crate::settings::Temperature>,
        }
    };
}

/// The evaluator with what is written of these keys.
#[cfg(feature = "judge")]
macro_rules! with_judge {
    ($written:ident, $evaluator:expr) => {
        crate::settings::with_written!(
            $evaluator,
            model($written.model.map(|crate::settings::Word(model)| model)),
            provider($written.provider.map(|crate::settings::JudgeVendor(provider)| provider)),
            base_url($written.base_url.map(|crate::settings::Address(url)| url)),
            api_key_env($written.api_key_env.map(|crate::settings::KeyVariable(name)| name)),
            temperature($written.temperature.map(|crate::settings::Temperature(number)| number)),
        )
    };
}

pub(super) use judge_table;
#[cfg(feature = "judge")]
pub(super) use with_judge;
