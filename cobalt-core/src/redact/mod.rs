//! Redacts keys and passwords from everything that is stored, shown or served: known secret values, and texts with the format of
//! a key.

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

pub use assignments::is_secret;
pub use known::{
    register_address, register_env_file, register_environment, register_secret, register_variables,
    register_webhook, set_forms,
};
pub use marks::{REDACTED, has_mark};
pub use secret::Secret;
pub use texts::{looks_like_key, redact, redacted, redacted_document, redacted_item, shown_address};
pub(crate) use texts::{redact_fields, redact_texts};
