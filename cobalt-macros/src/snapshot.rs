//! Snapshots for the macro tests: formatted expansions, and mistakes with their messages.

use proc_macro2::TokenStream;

/// Checks an expansion, formatted like rustfmt.
macro_rules! assert_expansion {
    ($expansion:expr) => {
        let settings = $crate::snapshot::settings();
        settings.bind(|| insta::assert_snapshot!($crate::snapshot::pretty($expansion)))
    };
}
pub(crate) use assert_expansion;

/// Checks the messages for mistakes, given as pairs of source and messages.
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
    // The source hash; other tests check that it depends only on the text.
    settings.add_filter(r"(source_hash : |NAME,\s+)\d+u64", "${1}[hash]u64");
    settings
}

pub fn pretty(expansion: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(expansion).expect("an expansion is made of items"))
}

/// Each mistake with its only message.
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

/// Tokens with approximately the usual spacing.
fn as_written(tokens: &TokenStream) -> String {
    let closer =
        [(" . ", "."), (" :: ", "::"), (" ,", ","), (" (", "("), (" [", "["), ("- ", "-"), (" : ", ": ")];
    closer
        .iter()
        .fold(tokens.to_string(), |text, (wide, close)| text.replace(wide, close))
        .replace("=[", "= [")
}
