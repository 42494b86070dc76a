//! What the tests of the macros keep as snapshots: expansions as people write code, and mistakes with what is said of them.

use proc_macro2::TokenStream;

/// Checks an expansion, laid out as rustfmt would.
macro_rules! assert_expansion {
    ($expansion:expr) => {
        let settings = $crate::snapshot::settings();
        settings.bind(|| insta::assert_snapshot!($crate::snapshot::pretty($expansion)))
    };
}
pub(crate) use assert_expansion;

/// Checks what is said of each of these mistakes: pairs of what was written and the messages.
macro_rules! assert_messages {
    ($mistakes:expr) => {
        let settings = $crate::snapshot::settings();
        settings.bind(|| insta::assert_snapshot!($crate::snapshot::listing($mistakes)))
    };
}
pub(crate) use assert_messages;

pub fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots"));
    settings.set_omit_expression(true);
    // The hash of the source, of which other tests know that it follows from the text alone.
    settings.add_filter(r"(source_hash : |NAME,\s+)\d+u64", "${1}[hash]u64");
    settings
}

pub fn pretty(expansion: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(expansion).expect("an expansion is made of items"))
}

/// Each mistake with its one message.
pub fn listing(mistakes: impl IntoIterator<Item = (TokenStream, Vec<String>)>) -> String {
    let entry = |(written, messages): (TokenStream, Vec<String>)| {
        let [message] = &messages[..] else { panic!("expected one message for `{written}`: {messages:?}") };
        let is_code =
            |file: &syn::File| !file.items.iter().any(|item| matches!(item, syn::Item::Verbatim(_)));
        let written = syn::parse2(written.clone()).ok().filter(is_code).map_or_else(
            || as_written(&written),
            |file| prettyplease::unparse(&file).split_whitespace().collect::<Vec<_>>().join(" "),
        );
        format!("{written}\n    {message}\n")
    };
    mistakes.into_iter().map(entry).collect()
}

/// Tokens with about the blanks that people write.
fn as_written(tokens: &TokenStream) -> String {
    let closer =
        [(" . ", "."), (" :: ", "::"), (" ,", ","), (" (", "("), (" [", "["), ("- ", "-"), (" : ", ": ")];
    closer
        .iter()
        .fold(tokens.to_string(), |text, (wide, close)| text.replace(wide, close))
        .replace("=[", "= [")
}
