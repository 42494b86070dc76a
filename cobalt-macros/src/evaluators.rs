//! `evaluators = [concise, ExactMatch::new(…)]`: functions by their names, and values.

use cobalt_thresholds::{self as rules, Category};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit};

use crate::errors::Errors;
use crate::function::{at, listed};
use crate::library::Library;
use crate::unmarked;

/// The list of an experiment's evaluators.
pub(crate) struct Evaluators {
    library: Library,
    entries: Vec<Entry>,
    /// Whether there is no list, so that the evaluators are those of `cobalt.toml`.
    unlisted: bool,
}

enum Entry {
    /// A function with `#[cobalt::evaluator]`: its path, its last name, and the name of our alias for it.
    Function {
        path: TokenStream,
        name: String,
        alias: Ident,
    },
    Value(Expr),
}

impl Evaluators {
    /// Reads the list.
    pub(crate) fn parse(list: &[&Expr], library: &Library, errors: &mut Errors) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for (index, expression) in list.iter().enumerate() {
            let entry = Entry::parse(expression, index, errors);
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

    /// Those that an experiment without a list has; nothing is known of them here.
    pub(crate) fn of_the_configuration(library: &Library) -> Self {
        Self { library: library.clone(), entries: Vec::new(), unlisted: true }
    }

    /// Refuses a bare name that is most likely a misspelt category.
    ///
    /// Functions are known by name; of values only the text is known, so a name that occurs in it is trusted.
    pub(crate) fn check_name(
        &self,
        category: &Category,
        bare: bool,
        tokens: &TokenStream,
    ) -> syn::Result<()> {
        let Category::Evaluator(name) = category else { return Ok(()) };
        if !bare || self.entries.iter().any(|entry| entry.mentions(name)) {
            return Ok(());
        }
        let Some(meant) = rules::closest(name, &Category::NAMES) else { return Ok(()) };
        let mut message = format!("no category or evaluator `{name}`: did you mean `{meant}`?");
        if self.has_unknown_names() {
            message.push_str(&format!(" (an evaluator of that name is written `evaluators[\"{name}\"]`)"));
        }
        Err(syn::Error::new_spanned(tokens, message))
    }

    /// Whether an evaluator may have a name that is not known before the program runs.
    fn has_unknown_names(&self) -> bool {
        self.unlisted || self.entries.iter().any(|entry| matches!(entry, Entry::Value(_)))
    }

    fn alias_of(&self, wanted: &str) -> Option<&Ident> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Function { name, alias, .. } if name == wanted => Some(alias),
            _ => None,
        })
    }

    /// The name of the evaluator meant by a threshold, as an expression of type `&str`.
    ///
    /// A function is found by its Rust name too, whatever name it goes by. Where all evaluators are functions, a name
    /// that none of them has does not compile.
    pub(crate) fn name_expression(&self, name: &str, bare: bool, span: Span) -> TokenStream {
        let span = at(span);
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
            Some(meant) => format!("no evaluator `{name}` in the list: did you mean `{meant}`?"),
            None => format!("no evaluator `{name}` in the list: it has {}", rules::listing(&names)),
        };
        quote_spanned! {span=> {
            const _: () = ::core::assert!(
                #library::private::threshold::is_one_of(#name, &[#(<#aliases as #library::private::ListedEvaluator>::NAME),*]),
                #message
            );
            #name
        }}
    }

    /// The path of the library, as the attribute has it.
    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    /// Statements that add the evaluators to the experiment of this name.
    pub(crate) fn expand(&self, experiment: &Ident) -> TokenStream {
        self.entries.iter().map(|entry| entry.expand(experiment, &self.library)).collect()
    }
}

impl Entry {
    fn parse(expression: &Expr, index: usize, errors: &mut Errors) -> Self {
        match expression {
            Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
                if let Some(name) = listed(&path.path) {
                    let alias = format_ident!("__CobaltEvaluator{index}", span = at(expression.span()));
                    let name = name.unraw().to_string();
                    if let Some(problem) =
                        path.path.get_ident().and_then(|_| unmarked::problem(&name, expression.span()))
                    {
                        errors.at(expression, problem);
                    }
                    return Self::Function { path: path.to_token_stream(), name, alias };
                }
            }
            Expr::Lit(ExprLit { lit, .. }) => errors.at(lit, not_an_evaluator(lit)),
            _ => {}
        }
        Self::Value(expression.clone())
    }

    /// Whether the name occurs in the text of the entry, as a word or as a whole string.
    fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Function { name: own, .. } => own == name,
            Self::Value(expression) => tokens_mention(expression.to_token_stream(), name),
        }
    }

    fn expand(&self, experiment: &Ident, library: &Library) -> TokenStream {
        match self {
            Self::Function { path, alias, .. } => {
                let span = at(path.span());
                let library = library.at(span);
                quote_spanned! {span=>
                    type #alias = #path;
                    let #experiment = #experiment.evaluator(#library::private::listed::<#alias>());
                }
            }
            Self::Value(expression) => {
                let span = at(expression.span());
                quote_spanned!(span=> let #experiment = #experiment.evaluator(#expression);)
            }
        }
    }
}

fn not_an_evaluator(literal: &Lit) -> String {
    let advice = "list a function with `#[cobalt::evaluator]`, or a value such as `ExactMatch::new(…)`";
    match literal {
        Lit::Str(text) if syn::parse_str::<Ident>(&text.value()).is_ok() => {
            format!("an evaluator is listed without quotes: write `{}`", text.value())
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
