//! The inside of an attribute: `key = value, key = value`.

use cobalt_thresholds as rules;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, ExprLit, Ident, Lit, Token};

use crate::errors::Errors;
use crate::evaluators::bare;

/// The settings of one attribute.
pub struct Settings {
    settings: Vec<(Ident, Expr)>,
    /// Keys that were written, or meant, whatever became of their values.
    mentioned: Vec<String>,
    /// Whether something was written that could not be taken for a setting.
    garbled: bool,
}

impl Settings {
    /// Reads the inside of an attribute that knows these keys. What cannot be read is skipped up to the next setting.
    pub fn parse(tokens: TokenStream, known: &[&str], errors: &mut Errors) -> Self {
        let parser = |input: ParseStream<'_>| {
            let mut settings = Self { settings: Vec::new(), mentioned: Vec::new(), garbled: false };
            while !input.is_empty() {
                settings.parse_one(input, known, errors);
            }
            Ok(settings)
        };
        // The parser above reads to the end and keeps its errors to itself.
        parser.parse2(tokens).unwrap_or(Self { settings: Vec::new(), mentioned: Vec::new(), garbled: true })
    }

    fn parse_one(&mut self, input: ParseStream<'_>, known: &[&str], errors: &mut Errors) {
        let Ok(key) = input.call(Ident::parse_any) else {
            errors.push(input.error(format!("expected `key = value`, where the key is {}", any_of(known))));
            return self.skip_to_next(input);
        };
        let is_known = self.enter(&key, known, errors);
        if let Err(error) = parse_equals(&key, input) {
            if is_known {
                errors.push(error);
            }
            return self.skip_to_next(input);
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
        if !input.is_empty() && input.parse::<Token![,]>().is_err() {
            errors.push(input.error("expected `,` between two settings"));
            if !at_setting(input) {
                self.skip_to_next(input);
            }
        }
    }

    /// Drops tokens up to the start of the next setting. Whether some of them were meant as a setting is not known.
    fn skip_to_next(&mut self, input: ParseStream<'_>) {
        self.garbled = true;
        while !input.is_empty() {
            let comma = input.peek(Token![,]);
            if input.parse::<TokenTree>().is_err() || (comma && at_setting(input)) {
                return;
            }
        }
    }

    /// Notes that the key was written. Complains where it is unknown or written twice.
    fn enter(&mut self, key: &Ident, known: &[&str], errors: &mut Errors) -> bool {
        let name = key.to_string();
        if !known.contains(&name.as_str()) {
            match rules::closest(&name, known) {
                Some(meant) => {
                    errors.at(key, format!("no setting `{name}`: did you mean `{meant}`?"));
                    self.mentioned.push(meant.to_owned());
                }
                None => {
                    errors.at(key, format!("no setting `{name}`: there is {}", any_of(known)));
                    self.garbled = true;
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

    /// The value of a key, with the key for complaints.
    pub fn get(&self, name: &str) -> Option<(&Ident, &Expr)> {
        self.settings.iter().find(|(key, _)| key == name).map(|(key, value)| (key, bare(value)))
    }

    /// The `name`, where one is set: a text or an expression. `what` has it, as in "an experiment".
    pub fn name(&self, what: &str, errors: &mut Errors) -> Option<TokenStream> {
        let (_, value) = self.get("name")?;
        match value {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if name.value().trim().is_empty() => {
                errors.at(value, format!("{what}'s name cannot be empty"));
            }
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {}
            Expr::Lit(_) => errors.at(value, format!("{what}'s name is text")),
            _ => {}
        }
        Some(value.to_token_stream())
    }

    /// Those of the keys that nobody can have meant to write.
    pub fn missing<'a>(&self, required: &[&'a str]) -> Vec<&'a str> {
        if self.garbled {
            return Vec::new();
        }
        required.iter().copied().filter(|name| !self.mentioned.iter().any(|key| key == name)).collect()
    }
}

fn any_of(known: &[&str]) -> String {
    rules::listing(known).replace(" and `", " or `")
}

fn parse_equals(key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![=]) && !input.peek(Token![==]) {
        return input.parse::<Token![=]>().map(drop);
    }
    let message = format!("`{key}` is set with `{key} = value`");
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(key.span(), message));
    }
    Err(input.error(message))
}

/// Whether a setting starts here.
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
        assert_eq!(messages(quote!(datset = 1)), ["no setting `datset`: did you mean `dataset`?"]);
    }

    #[test]
    fn a_strange_key_is_told_all_of_them() {
        let expected = "no setting `colour`: there is `dataset`, `evaluators` or `runs`";
        assert_eq!(messages(quote!(colour = 1, runs = 2)), [expected]);
    }

    #[test]
    fn every_mistake_is_reported_once() {
        let found = messages(quote!(datset = , runs = 1, evaluators 3, runs = 2));
        let expected = [
            "no setting `datset`: did you mean `dataset`?",
            "expected an expression",
            "`evaluators` is set with `evaluators = value`",
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
        let expected = "expected `key = value`, where the key is `dataset`, `evaluators` or `runs`";
        assert_eq!(messages(quote!("questions.jsonl", runs = 1)), [expected]);
    }

    #[test]
    fn what_was_meant_is_not_missing() {
        assert_eq!(missing(quote!(datset = 1)), ["runs"]);
        assert!(missing(quote!("questions.jsonl")).is_empty());
    }
}
