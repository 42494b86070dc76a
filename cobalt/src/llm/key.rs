//! What makes two requests the same: the keys of the cache and of the requests on their way.

use super::Question;
use super::client::Target;
use crate::hash::sha256_hex;

/// Raised whenever the same request would be answered otherwise: by other instructions of ours, in another form.
const VERSION: &str = "1";

/// The key of a question to a model.
pub(super) fn of_question(target: &Target, question: &Question) -> String {
    let Question { system, prompt, schema, which } = question;
    // Whatever order its keys were written in.
    let mut written = schema.schema.clone();
    written.sort_all_objects();
    let parts =
        [schema.name.to_owned(), written.to_string(), system.clone(), prompt.clone(), which.to_string()];
    of_parts("question", target, parts)
}

/// The key of a text, and what it is asked for: its embedding, its moderation.
pub(super) fn of_text(what: &str, target: &Target, text: &str) -> String {
    of_parts(what, target, [text.to_owned()])
}

/// The API key is no part of it: the answer is the same with another one.
fn of_parts<const N: usize>(what: &str, target: &Target, parts: [String; N]) -> String {
    let Target { provider, model, base_url, api_key: _, temperature } = target;
    let temperature = temperature.map(|temperature| temperature.to_string()).unwrap_or_default();
    let target = [what, VERSION, provider.name(), model, base_url, &temperature].map(str::to_owned);
    sha256_hex(&[&target[..], &parts].concat())
}
