//! An attribute's settings: `key = value, key = value`.

use cobalt_thresholds as rules;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, ExprLit, Ident, Lit, Token};

use crate::errors::Errors;
use crate::evaluators::ungroup;
use crate::variants::NamedList;

/// The settings whose value may be a list with names.
const NAMED_LISTS: [&str; 1] = ["variants"];

/// The settings of one attribute.
#[derive(Default)]
pub struct Settings {
    settings: Vec<(Ident, Expr)>,
    /// Values that are lists with names, not Rust expressions.
    named_lists: Vec<(Ident, NamedList)>,
    /// Keys that were written, or probably meant, even if their values are invalid.
    mentioned: Vec<String>,
    /// Whether something could not be parsed as a setting.
    has_syntax_errors: bool,
}

impl Settings {
    /// Parses an attribute with these known keys. On a syntax error, it continues at the next setting.
    pub fn parse(tokens: TokenStream, known: &[&str], errors: &mut Errors) -> Self {
        let parser = |input: ParseStream<'_>| {
            let mut settings = Self::default();
            while !input.is_empty() {
                settings.parse_one(input, known, errors);
            }
            Ok(settings)
        };
        // The parser above always reads to the end and returns no errors.
        parser.parse2(tokens).unwrap_or(Self { has_syntax_errors: true, ..Self::default() })
    }

    fn parse_one(&mut self, input: ParseStream<'_>, known: &[&str], errors: &mut Errors) {
        let Ok(key) = input.call(Ident::parse_any) else {
            errors.push(input.error(format!("expected `key = value` with the key {}", any_of(known))));
            return self.skip_to_next(input);
        };
        let is_known = self.record_key(&key, known, errors);
        if let Err(error) = parse_equals(&key, input) {
            if is_known {
                errors.push(error);
            }
            return self.skip_to_next(input);
        }
        if NAMED_LISTS.iter().any(|name| key == name) && NamedList::peek(input) {
            match NamedList::parse(input) {
                Ok(list) if is_known => self.named_lists.push((key, list)),
                Ok(_) => {}
                Err(error) => {
                    errors.push(error);
                    self.has_syntax_errors = true;
                }
            }
            return self.parse_comma(input, errors);
        }
        let ahead = input.fork();
        match ahead.parse::<Expr>() {
            Ok(value) => {
                input.advance_to(&ahead);
                if is_known {
                    self.settings.push((key, value));
                }
            }
            Err(error) => {
                errors.push(error);
                return self.skip_to_next(input);
            }
        }
        self.parse_comma(input, errors);
    }

    fn parse_comma(&mut self, input: ParseStream<'_>, errors: &mut Errors) {
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            errors.push(input.error("expected `,` between two settings"));
            if !at_setting(input) {
                self.skip_to_next(input);
            }
        }
    }

    /// Skips tokens up to the start of the next setting. Some of them may have been meant as a setting.
    fn skip_to_next(&mut self, input: ParseStream<'_>) {
        self.has_syntax_errors = true;
        while !input.is_empty() {
            let comma = input.peek(Token![,]);
            if input.parse::<TokenTree>().is_err() || (comma && at_setting(input)) {
                return;
            }
        }
    }

    /// Records a key. Reports an unknown or repeated key.
    fn record_key(&mut self, key: &Ident, known: &[&str], errors: &mut Errors) -> bool {
        let name = key.to_string();
        if !known.contains(&name.as_str()) {
            match rules::closest(&name, known) {
                Some(meant) => {
                    errors.at(key, format!("unknown setting `{name}`: did you mean `{meant}`?"));
                    self.mentioned.push(meant.to_owned());
                }
                None => {
                    errors.at(key, format!("unknown setting `{name}`: expected {}", any_of(known)));
                    self.has_syntax_errors = true;
                }
            }
            return false;
        }
        let repeated = self.mentioned.contains(&name);
        if repeated {
            errors.at(key, format!("`{name}` is set twice"));
        }
        self.mentioned.push(name);
        !repeated
    }

    /// A key's value, with the key for error spans.
    pub fn get(&self, name: &str) -> Option<(&Ident, &Expr)> {
        self.settings.iter().find(|(key, _)| key == name).map(|(key, value)| (key, ungroup(value)))
    }

    /// A key's value that is a list with names.
    pub fn named_list(&self, name: &str) -> Option<&NamedList> {
        self.named_lists.iter().find(|(key, _)| key == name).map(|(_, list)| list)
    }

    /// The `name`, if set: a string or an expression. `what` names its owner, such as "an experiment".
    pub fn name(&self, what: &str, errors: &mut Errors) -> Option<TokenStream> {
        let (_, value) = self.get("name")?;
        match value {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if name.value().trim().is_empty() => {
                errors.at(value, format!("{what}'s name cannot be empty"));
            }
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {}
            Expr::Lit(_) => errors.at(value, format!("{what}'s name must be a string")),
            _ => {}
        }
        Some(value.to_token_stream())
    }

    /// Whether a key was written, or probably meant.
    pub fn is_mentioned(&self, name: &str) -> bool {
        self.mentioned.iter().any(|key| key == name)
    }

    /// The required keys that are certainly missing.
    pub fn missing<'a>(&self, required: &[&'a str]) -> Vec<&'a str> {
        if self.has_syntax_errors {
            return Vec::new();
        }
        required.iter().copied().filter(|name| !self.mentioned.iter().any(|key| key == name)).collect()
    }
}

fn any_of(known: &[&str]) -> String {
    rules::join_quoted(known).replace(" and `", " or `")
}

fn parse_equals(key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![=]) && !input.peek(Token![==]) {
        return input.parse::<Token![=]>().map(drop);
    }
    let message = format!("expected `{key} = value`");
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(key.span(), message));
    }
    Err(input.error(message))
}

/// Whether a setting starts at this position.
fn at_setting(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==])
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn messages(tokens: TokenStream) -> Vec<String> {
        let mut errors = Errors::default();
        Settings::parse(tokens, &["dataset", "evaluators", "runs"], &mut errors);
        errors.messages()
    }

    fn missing(tokens: TokenStream) -> Vec<&'static str> {
        Settings::parse(tokens, &["dataset", "runs"], &mut Errors::default()).missing(&["dataset", "runs"])
    }

    #[test]
    fn values_are_whole_expressions() {
        let mut errors = Errors::default();
        let tokens = quote!(dataset = load::<A, B>(|x, y| x)?.slice(0..4), runs = { 1 },);
        let settings = Settings::parse(tokens, &["dataset", "runs"], &mut errors);
        assert!(errors.messages().is_empty());
        assert!(matches!(settings.get("dataset"), Some((_, Expr::MethodCall(_)))));
        assert!(matches!(settings.get("runs"), Some((_, Expr::Block(_)))));
    }

    #[test]
    fn a_misspelt_key_is_told_the_right_word() {
        assert_eq!(messages(quote!(datset = 1)), ["unknown setting `datset`: did you mean `dataset`?"]);
    }

    #[test]
    fn a_strange_key_is_told_all_of_them() {
        let expected = "unknown setting `colour`: expected `dataset`, `evaluators` or `runs`";
        assert_eq!(messages(quote!(colour = 1, runs = 2)), [expected]);
    }

    #[test]
    fn every_mistake_is_reported_once() {
        let found = messages(quote!(datset = , runs = 1, evaluators 3, runs = 2));
        let expected = [
            "unknown setting `datset`: did you mean `dataset`?",
            "expected an expression",
            "expected `evaluators = value`",
            "`runs` is set twice",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_missing_comma_does_not_hide_the_next_setting() {
        assert_eq!(messages(quote!(dataset = x evaluators = y rnus = 1)).len(), 3);
    }

    #[test]
    fn a_value_without_a_key_is_shown_the_form() {
        let expected = "expected `key = value` with the key `dataset`, `evaluators` or `runs`";
        assert_eq!(messages(quote!("questions.jsonl", runs = 1)), [expected]);
    }

    #[test]
    fn what_was_meant_is_not_missing() {
        assert_eq!(missing(quote!(datset = 1)), ["runs"]);
        assert!(missing(quote!("questions.jsonl")).is_empty());
    }
}
