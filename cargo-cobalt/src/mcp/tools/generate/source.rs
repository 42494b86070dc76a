//! Checks the source of a generated test target: what it declares, and constructs that are not allowed.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, LineColumn, TokenStream, TokenTree};
use syn::{File, Item, Lit};

/// Names that access other files or bypass the language's checks. `macro_rules` could assemble the others.
const FORBIDDEN: [&str; 8] =
    ["unsafe", "include", "include_str", "include_bytes", "option_env", "asm", "global_asm", "macro_rules"];
/// Evaluators whose second argument in `new` is a field name.
const FIELD_EVALUATORS: [&str; 7] =
    ["ExactMatch", "SquadExactMatch", "TokenF1", "Bleu", "ChrF", "Wer", "Similarity"];

/// A parsed source.
pub struct Source {
    file: File,
    tokens: TokenStream,
}

impl Source {
    /// Parses the text, or returns an error for the model.
    pub fn parse(text: &str) -> Result<Self, String> {
        let told = |error: syn::Error| format!("{}: {error}", location(error.span().start()));
        let file = syn::parse_file(text).map_err(told)?;
        Ok(Self {
            file,
            tokens: text.parse().map_err(|error| format!("the source cannot be read: {error}"))?,
        })
    }

    /// The names of its experiments.
    pub fn experiments(&self) -> Vec<String> {
        let functions = self.file.items.iter().filter_map(|item| match item {
            Item::Fn(function) => Some(function),
            _ => None,
        });
        let mut names = Vec::new();
        for function in functions {
            let is_it = |attribute: &&syn::Attribute| {
                attribute.path().segments.last().is_some_and(|last| last.ident == "experiment")
            };
            let Some(attribute) = function.attrs.iter().find(is_it) else { continue };
            let arguments = attribute.meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
            names.push(experiment_name(arguments).unwrap_or_else(|| function.sig.ident.to_string()));
        }
        names
    }

    /// Its problems, as errors for the model. `data` is the path of the dataset, and `fields` are the fields of its items.
    pub fn problems(&self, data: &str, fields: &BTreeSet<&str>) -> Vec<String> {
        let mut found = SourceScan::default();
        found.scan(self.tokens.clone());
        let mut problems = found.refused;
        if self.experiments().is_empty() {
            problems.push("no function has the attribute `#[cobalt::experiment(…)]`".to_owned());
        }
        if !found.texts.contains(data) {
            problems.push(format!("no experiment reads the dataset: `dataset = \"{data}\"` is missing"));
        }
        let is_main = |item: &Item| matches!(item, Item::Fn(function) if function.sig.ident == "main");
        if !self.file.items.iter().any(is_main) || !found.calls_main {
            problems.push(
                "the target has no test harness: end it with `fn main() { cobalt::main(); }`".to_owned(),
            );
        }
        for field in found.fields.iter().filter(|field| !fields.contains(field.as_str())) {
            problems.push(format!("the source reads the field `{field}`, which no item of the dataset has"));
        }
        problems
    }
}

fn location(at: LineColumn) -> String {
    format!("line {}, column {}", at.line, at.column + 1)
}

/// The value of `name` among the arguments of an attribute.
fn experiment_name(arguments: TokenStream) -> Option<String> {
    let tokens: Vec<_> = arguments.into_iter().collect();
    tokens.windows(3).find_map(|three| match three {
        [TokenTree::Ident(name), TokenTree::Punct(equals), value]
            if name == "name" && equals.as_char() == '=' =>
        {
            text(value)
        }
        _ => None,
    })
}

/// The value of a string literal.
fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    match Lit::new(literal.clone()) {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// The tokens of interest in a source, including macros.
#[derive(Debug, Default)]
struct SourceScan {
    /// Constructs that are not allowed, as errors for the model.
    refused: Vec<String>,
    texts: BTreeSet<String>,
    /// The item fields that the source reads.
    fields: BTreeSet<String>,
    calls_main: bool,
}

impl SourceScan {
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            self.inspect(&tokens[at..], token);
            if let TokenTree::Group(group) = token {
                self.scan(group.stream());
            }
            self.texts.extend(text(token));
        }
    }

    /// Inspects a token, the first of `rest`.
    fn inspect(&mut self, rest: &[TokenTree], token: &TokenTree) {
        let is = |at: usize, wanted: &str| rest.get(at).is_some_and(|token| token.to_string() == wanted);
        let bracketed = |at: usize| match rest.get(at) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
                Some(group.stream().into_iter().collect::<Vec<_>>())
            }
            _ => None,
        };
        let mut refuse = |what: &str| {
            self.refused.push(format!("{}: {what} may not be used", location(token.span().start())));
        };
        match token {
            TokenTree::Ident(name) => {
                // `r#include` is the same name as `include`.
                let name = name.to_string();
                match name.trim_start_matches("r#") {
                    name if FORBIDDEN.contains(&name) => refuse(&format!("`{name}`")),
                    // A `use` that renames the module renames the macro, too.
                    "env" if is(1, "!") || is(1, "as") => refuse("`env!`, or `env` by another name,"),
                    "mod" if is(2, ";") => refuse("a module in another file"),
                    _ => {}
                }
            }
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                let inner = if is(1, "!") { bracketed(2) } else { None };
                let first = inner.as_ref().and_then(|tokens| tokens.first());
                // Inner doc comments are attributes, too.
                if inner.is_some() && first.is_none_or(|first| first.to_string() != "doc") {
                    refuse("an attribute of the whole file, `#![…]`,");
                }
                if bracketed(1).and_then(|tokens| Some(tokens.first()?.to_string() == "path")) == Some(true) {
                    refuse("the attribute `path`");
                }
            }
            _ => {}
        }
        self.calls_main |= is(0, "cobalt") && is(1, ":") && is(2, ":") && is(3, "main");
        // `item["field"]`
        if is(0, "item")
            && let Some([field]) = bracketed(1).as_deref()
        {
            self.fields.extend(text(field));
        }
        self.fields.extend(reference_field(rest));
    }
}

/// The field in calls such as `ExactMatch::new("name", "field")`.
fn reference_field(tokens: &[TokenTree]) -> Option<String> {
    let [
        TokenTree::Ident(name),
        TokenTree::Punct(_),
        TokenTree::Punct(_),
        TokenTree::Ident(new),
        TokenTree::Group(group),
        ..,
    ] = tokens
    else {
        return None;
    };
    let has_field = new == "new" && FIELD_EVALUATORS.iter().any(|with_field| name == with_field);
    let arguments: Vec<_> = group.stream().into_iter().collect();
    arguments.get(2).filter(|_| has_field).and_then(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! Experiments of the desk.\n\
        use cobalt::{ExactMatch, Item};\n\
        #[cobalt::experiment(name = \"desk\", dataset = \"data/desk.jsonl\", evaluators = [ExactMatch::new(\"right\", \"team\")])]\n\
        fn route(item: Item) -> String { item[\"input\"].to_string() }\n\
        fn main() { cobalt::main(); }\n";

    fn problems(source: &str) -> Vec<String> {
        Source::parse(source).unwrap().problems("data/desk.jsonl", &BTreeSet::from(["id", "input", "team"]))
    }

    #[test]
    fn a_source_declares_an_experiment_over_the_dataset() {
        assert_eq!(problems(SOURCE), [""; 0]);
        assert_eq!(Source::parse(SOURCE).unwrap().experiments(), ["desk"]);
        let unnamed = SOURCE.replace("name = \"desk\", ", "");
        assert_eq!(Source::parse(&unnamed).unwrap().experiments(), ["route"]);
        let empty = problems("fn other() {}");
        assert_eq!(empty.len(), 3, "{empty:?}");
    }

    #[test]
    fn fields_that_no_item_has_are_named() {
        let source = SOURCE.replace("\"team\"", "\"squad\"").replace("\"input\"", "\"text\"");
        let named: Vec<_> = problems(&source).into_iter().filter(|it| it.contains("which no item")).collect();
        assert!(named.len() == 2 && named[0].contains("`squad`") && named[1].contains("`text`"), "{named:?}");
    }

    #[test]
    fn access_to_other_files_is_refused_with_its_line() {
        for line in [
            "const S: &str = include_str!(\"/etc/passwd\");",
            "const K: &str = env!(\"HOME\");",
            "fn f() { println!(\"{}\", option_env!(\"KEY\").is_some()); }",
            "fn f() { unsafe { } }",
            "mod other;",
            "#[path = \"/etc/other.rs\"] mod other { }",
            "fn f() { #![allow(unused)] }",
            "use std::include_bytes as bytes;",
            "const S: &str = r#include_str!(\"/etc/passwd\");",
            "const K: &str = r#env!(\"HOME\");",
            "use std::{env as surroundings};",
            "macro_rules! sly { ($a:tt $b:tt) => { $a $b; } }",
        ] {
            let found = problems(&format!("{SOURCE}{line}\n"));
            assert!(found.len() == 1 && found[0].starts_with("line 6, "), "{line}: {found:?}");
        }
        assert_eq!(problems(&format!("#![feature(test)]\n{SOURCE}")).len(), 1);
        assert_eq!(problems(&format!("{SOURCE}fn f() {{ let path = std::env::var(\"PATH\"); }}")), [""; 0]);
    }

    #[test]
    fn an_invalid_source_is_reported_with_line_and_column() {
        let error = Source::parse("fn main() {}\nfn broken( {}\n").err().unwrap();
        assert!(error.starts_with("line 2, column"), "{error}");
    }
}
