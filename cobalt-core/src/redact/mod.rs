//! Redacts keys and passwords from everything that is stored, shown or served: known secret values, and texts with the format of
//! a key.

mod assignments;
mod commands;
mod headers;
mod key_format_table;
mod key_formats;
mod marks;
mod masked;
mod names;
mod redactor;
mod registry;
mod scanner;
mod secret;
#[cfg(test)]
mod tests;
mod urls;

pub use marks::{REDACTED, has_mark};
pub(crate) use masked::is_same_but_for_secrets;
pub use names::is_secret;
pub(crate) use redactor::{find_secrets, redact_fields};
pub use redactor::{
    looks_like_key, redact, redact_texts, redacted, redacted_document, redacted_item, redacted_url,
    without_secrets,
};
pub use registry::{
    register_address, register_env_file, register_environment, register_secret, register_variables,
    register_webhook, set_forms,
};
pub use secret::Secret;
