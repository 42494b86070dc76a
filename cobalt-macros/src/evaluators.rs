//! `evaluators = [concise, ExactMatch::new(…)]`: functions by name, and values.

use std::fs;

use cobalt_thresholds as rules;
use cobalt_thresholds::Category;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, ExprPath, ItemFn, Lit, UseName, UseRename, UseTree};

use crate::errors::Errors;
use crate::function::{function_name_of, generated_span};
use crate::library::Library;

/// The list of an experiment's evaluators.
pub struct Evaluators {
    library: Library,
    entries: Vec<Entry>,
    /// Without a list, the evaluators come from `cobalt.toml`.
    unlisted: bool,
}

enum Entry {
    /// A function with `#[cobalt::evaluator]`: its path, the last segment, our alias for it, and the evaluator, which is made from
    /// the alias by the listed methods.
    Function {
        path: TokenStream,
        name: String,
        alias: Ident,
        evaluator: Expr,
    },
    Value(Expr),
}

impl Evaluators {
    /// Reads the list.
    pub fn parse(list: &[&Expr], library: &Library, errors: &mut Errors) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for (index, expression) in list.iter().enumerate() {
            let entry = Entry::parse(expression, index, library, errors);
            if let Entry::Function { path, .. } = &entry {
                let path = path.to_string();
                let twice = entries.iter().any(
                    |other| matches!(other, Entry::Function { path: other, .. } if other.to_string() == path),
                );
                if twice {
                    errors.at(expression, format!("`{path}` is listed twice"));
                }
            }
            entries.push(entry);
        }
        Self { library: library.clone(), entries, unlisted: false }
    }

    /// The evaluators of an experiment without a list, which are not known at compile time.
    pub fn from_config(library: &Library) -> Self {
        Self { library: library.clone(), entries: Vec::new(), unlisted: true }
    }

    /// Rejects a bare name that is probably a misspelt category.
    ///
    /// The names of functions are known. For values only the source text is known: a name that occurs in it is accepted.
    pub fn check_name(&self, category: &Category, bare: bool, tokens: &TokenStream) -> syn::Result<()> {
        let Category::Evaluator(name) = category else { return Ok(()) };
        if !bare || self.entries.iter().any(|entry| entry.mentions(name)) {
            return Ok(());
        }
        let Some(meant) = rules::closest(name, &Category::NAMES) else { return Ok(()) };
        let mut message = format!("unknown category or evaluator `{name}`: did you mean `{meant}`?");
        if self.has_unknown_names() {
            message.push_str(&format!(" (for an evaluator of that name, write `evaluators[\"{name}\"]`)"));
        }
        Err(syn::Error::new_spanned(tokens, message))
    }

    /// Whether some evaluator's name is known only at run time.
    fn has_unknown_names(&self) -> bool {
        self.unlisted || self.entries.iter().any(|entry| matches!(entry, Entry::Value(_)))
    }

    fn alias_of(&self, wanted: &str) -> Option<&Ident> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Function { name, alias, .. } if name == wanted => Some(alias),
            _ => None,
        })
    }

    /// The name of a threshold's evaluator, as an expression of type `&str`.
    ///
    /// A function is also found by its Rust name. If all evaluators are functions, an unknown name does not compile.
    pub fn name_expression(&self, name: &str, bare: bool, span: Span) -> TokenStream {
        let span = generated_span(span);
        let library = self.library.at(span);
        if let Some(alias) = self.alias_of(name).filter(|_| bare) {
            return quote_spanned!(span=> <#alias as #library::private::ListedEvaluator>::NAME);
        }
        if self.has_unknown_names() {
            return quote_spanned!(span=> #name);
        }
        let (aliases, names): (Vec<_>, Vec<_>) = self
            .entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Function { alias, name, .. } => Some((alias, name.as_str())),
                Entry::Value(_) => None,
            })
            .unzip();
        let message = match rules::closest(name, &names) {
            Some(meant) => format!("`{name}` is not in `evaluators`: did you mean `{meant}`?"),
            None => format!("`{name}` is not in `evaluators`, which lists {}", rules::join_quoted(&names)),
        };
        quote_spanned! {span=> {
            const _: () = ::core::assert!(
                #library::private::threshold::is_one_of(#name, &[#(<#aliases as #library::private::ListedEvaluator>::NAME),*]),
                #message
            );
            #name
        }}
    }

    /// The library's path from the attribute.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Statements that add the evaluators to the experiment of this name.
    pub fn expand(&self, experiment: &Ident) -> TokenStream {
        self.entries.iter().map(|entry| entry.expand(experiment)).collect()
    }
}

impl Entry {
    fn parse(expression: &Expr, index: usize, library: &Library, errors: &mut Errors) -> Self {
        if let Expr::Lit(ExprLit { lit, .. }) = expression {
            errors.at(lit, not_an_evaluator(lit));
        }
        let mut evaluator = expression.clone();
        if let Expr::Path(ExprPath { attrs, qself: None, path }) = receiver(&mut evaluator)
            && attrs.is_empty()
            && let Some(name) = function_name_of(path)
        {
            let name = name.unraw().to_string();
            if path.get_ident().is_some()
                && let Some(problem) = plain_function_error(&name, EVALUATOR, path.span())
            {
                errors.at(&*path, problem);
            }
            let span = generated_span(path.span());
            let path = path.to_token_stream();
            let alias = format_ident!("__CobaltEvaluator{index}", span = span);
            let library = library.at(span);
            let listed = quote_spanned!(span=> #library::private::listed::<#alias>());
            *receiver(&mut evaluator) = Expr::Verbatim(listed);
            return Self::Function { path, name, alias, evaluator };
        }
        Self::Value(expression.clone())
    }

    /// Whether the entry's source text contains the name, as an identifier or as a whole string.
    fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Function { name: own, .. } => own == name,
            Self::Value(expression) => tokens_mention(expression.to_token_stream(), name),
        }
    }

    fn expand(&self, experiment: &Ident) -> TokenStream {
        match self {
            Self::Function { path, alias, evaluator, .. } => {
                let span = generated_span(path.span());
                quote_spanned! {span=>
                    type #alias = #path;
                    let #experiment = #experiment.evaluator(#evaluator);
                }
            }
            Self::Value(expression) => {
                let span = generated_span(expression.span());
                quote_spanned!(span=> let #experiment = #experiment.evaluator(#expression);)
            }
        }
    }
}

/// What the first method of a chain is called on: `concise` in `concise.last_turn()`. Without methods, the expression itself.
fn receiver(expression: &mut Expr) -> &mut Expr {
    match expression {
        Expr::MethodCall(call) => receiver(&mut call.receiver),
        Expr::Group(group) => receiver(&mut group.expr),
        expression => expression,
    }
}

fn not_an_evaluator(literal: &Lit) -> String {
    let advice = "list a function with `#[cobalt::evaluator]`, or a value such as `ExactMatch::new(…)`";
    match literal {
        Lit::Str(text) if syn::parse_str::<Ident>(&text.value()).is_ok() => {
            format!("list evaluators without quotes: write `{}`", text.value())
        }
        _ => format!("not an evaluator: {advice}"),
    }
}

fn tokens_mention(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => tokens_mention(group.stream(), name),
        TokenTree::Ident(ident) => ident.unraw() == name,
        TokenTree::Literal(literal) => {
            matches!(Lit::new(literal), Lit::Str(text) if text.value() == name)
        }
        TokenTree::Punct(_) => false,
    })
}

/// What a listed function is called, and the attribute that makes it one.
pub type FunctionKind = (&'static str, &'static str);

const EVALUATOR: FunctionKind = ("an evaluator", "evaluator");

/// The error for a listed name, if the file of `span` has a plain function of that name at its top level and nothing else
/// that could be meant.
pub fn plain_function_error(name: &str, kind: FunctionKind, span: Span) -> Option<String> {
    // Only a real expansion has a file.
    if !proc_macro::is_available() {
        return None;
    }
    let text = fs::read_to_string(span.unwrap().local_file()?).ok()?;
    problem_in(name, kind, &text)
}

fn problem_in(name: &str, (what, attribute): FunctionKind, text: &str) -> Option<String> {
    if !text.contains(&format!("fn {name}")) {
        return None;
    }
    let file = syn::parse_file(text).ok()?;
    let mut named = NameCounts { name, plain: 0, others: 0 };
    named.visit_file(&file);
    let is_at_top = file.items.iter().any(|item| matches!(item, syn::Item::Fn(it) if it.sig.ident == name));
    (is_at_top && named.plain == 1 && named.others == 0)
        .then(|| format!("`{name}` is not {what}: add `#[cobalt::{attribute}]` above `fn {name}`"))
}

/// Counts what has a given name in a file.
struct NameCounts<'a> {
    name: &'a str,
    /// Functions whose attributes do not transform them.
    plain: usize,
    /// Other functions, types and imports.
    others: usize,
}

impl<'ast> Visit<'ast> for NameCounts<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if function.sig.ident == self.name {
            let is_plain = function.attrs.iter().all(is_harmless);
            *(if is_plain { &mut self.plain } else { &mut self.others }) += 1;
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.others += usize::from(item.ident == self.name);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.others += usize::from(item.ident == self.name);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.others += usize::from(item.ident == self.name);
    }

    fn visit_use_name(&mut self, name: &'ast UseName) {
        self.others += usize::from(name.ident == self.name);
    }

    fn visit_use_rename(&mut self, rename: &'ast UseRename) {
        self.others += usize::from(rename.rename == self.name);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.others += usize::from(imports_unknown(&item.tree, &mut Vec::new()));
        visit::visit_item_use(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // The expansion of a macro is unknown.
        self.others += usize::from(mentions(item.mac.tokens.clone(), self.name));
    }
}

/// Whether a glob imports a module of another file, which may contain an evaluator of that name.
fn imports_unknown(tree: &UseTree, path: &mut Vec<String>) -> bool {
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            let found = imports_unknown(&step.tree, path);
            path.pop();
            found
        }
        UseTree::Group(group) => group.items.iter().any(|tree| imports_unknown(tree, path)),
        UseTree::Glob(_) => {
            let is_of_file = path.iter().all(|step| step == "super" || step == "self");
            !is_of_file && !matches!(path.first().map(String::as_str), Some("cobalt" | "std"))
        }
        UseTree::Name(_) | UseTree::Rename(_) => false,
    }
}

/// Whether an attribute does not transform a function.
fn is_harmless(attribute: &Attribute) -> bool {
    const HARMLESS: [&str; 6] = ["doc", "allow", "expect", "must_use", "inline", "cfg"];
    HARMLESS.iter().any(|name| attribute.path().is_ident(name))
}

fn mentions(tokens: proc_macro2::TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Ident(ident) => ident == name,
        _ => false,
    })
}

/// The elements of a list in brackets. Anything else is an error that shows the right form.
pub fn elements<'a>(key: &Ident, value: &'a Expr, errors: &mut Errors) -> Option<Vec<&'a Expr>> {
    if let Expr::Array(list) = ungroup(value) {
        return Some(list.elems.iter().map(ungroup).collect());
    }
    errors.at(value, format!("`{key}` must be a list: write `{key} = […]`"));
    None
}

/// An expression without the invisible group that a `macro_rules!` macro adds.
pub fn ungroup(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungroup(&group.expr),
        expression => expression,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_function_at_the_top_is_told_what_it_lacks() {
        for text in [
            "fn plain(output: &str) -> bool { true }",
            "/// It is.\n#[must_use]\npub fn plain() -> bool { true }\nmod tests { use super::*; }",
            "use cobalt::{evaluators::*, Item};\nfn plain() {}",
        ] {
            let told = problem_in("plain", EVALUATOR, text).unwrap();
            assert_eq!(told, "`plain` is not an evaluator: add `#[cobalt::evaluator]` above `fn plain`");
        }
    }

    #[test]
    fn nothing_is_said_where_something_else_may_be_meant() {
        for text in [
            "#[cobalt::evaluator]\nfn plain() {}",
            "#[cfg_attr(test, cobalt::evaluator)]\nfn plain() {}",
            "mod inner { fn plain() {} }",
            "fn plain() {}\nmod inner { use super::super::plain; }",
            "fn plain() {}\nmod inner { use crate::other as plain; }",
            "fn plain() {}\nmod inner { #[cobalt::evaluator]\nfn plain() {} }",
            "fn plain() {}\nmacro_rules! rule { () => { struct plain; } }",
            "use graders::*;\nfn plain() {}",
            "fn plain() {}\nmod evals { use crate::{graders::*, other}; }",
            "fn plainer() {}",
            "fn plain( {",
        ] {
            assert_eq!(problem_in("plain", EVALUATOR, text), None, "{text}");
        }
    }
}
