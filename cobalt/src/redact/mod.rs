//! Keys and passwords, kept out of what is stored, shown or served: values that are known to be secret, and texts that
//! have the form of a key.

mod addresses;
mod assignments;
mod forms;
mod known;
mod marks;
mod scan;
mod secret;
mod table;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use assignments::is_secret;
pub(crate) use known::{register_address, register_webhook};
pub use known::{register_env_file, register_environment, register_secret, register_variables, set_forms};
pub use marks::{REDACTED, has_mark};
pub(crate) use secret::Secret;
pub(crate) use texts::{looks_like_key, redact, redact_fields, redacted_item, shown_address};
pub use texts::{redact_texts, redacted, redacted_document};
