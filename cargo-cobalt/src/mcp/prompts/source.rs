//! Parses a Rust source file: its functions, their locations and their calls, without type information.

use std::fs;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The largest file that is read, in bytes: larger files are not written by hand.
const LARGEST: u64 = 1 << 20;

/// A function, or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// The type of a method or associated function.
    pub owner: Option<String>,
    /// Its lines from the first attribute to the end, counted from 1.
    pub lines: RangeInclusive<usize>,
    /// The line of its name.
    pub line: usize,
    /// Everything before its body, without attributes and the visibility.
    pub signature: String,
    pub is_public: bool,
    /// Whether it has the attribute of an experiment.
    pub is_experiment: bool,
    /// What it calls or passes as a function, in source order, without duplicates.
    pub calls: Vec<Call>,
}

impl Function {
    /// Its name, with its type.
    pub fn path(&self) -> String {
        match &self.owner {
            Some(owner) => format!("{owner}::{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The text of a file; none if it cannot be read, is not text, or is too large.
pub fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(LARGEST + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LARGEST).then_some(text)
}

/// The functions of a source file in their order, without tests.
///
/// # Errors
///
/// The text is not Rust.
pub fn functions(text: &str) -> syn::Result<Vec<Function>> {
    let mut found = FunctionCollector::default();
    let parsed = syn::parse_file(text);
    if let Ok(file) = &parsed {
        found.visit_file(file);
    }
    drop(parsed?);
    // Otherwise the thread would keep every parsed text in its source map.
    proc_macro2::extra::invalidate_current_thread_spans();
    Ok(found.functions)
}

#[derive(Default)]
struct FunctionCollector {
    functions: Vec<Function>,
    owner: Option<String>,
}

impl FunctionCollector {
    fn add(
        &mut self,
        attributes: &[syn::Attribute],
        is_public: bool,
        signature: &syn::Signature,
        whole: impl Spanned,
        body: &syn::Block,
    ) {
        if attributes.iter().any(is_test_attribute) {
            return;
        }
        let whole = whole.span();
        self.functions.push(Function {
            name: signature.ident.to_string(),
            owner: self.owner.clone(),
            lines: whole.start().line..=whole.end().line,
            line: signature.ident.span().start().line,
            signature: signature.span().source_text().unwrap_or_else(|| signature.ident.to_string()),
            is_public,
            is_experiment: attributes.iter().any(is_experiment),
            calls: calls(signature, body),
        });
    }
}

impl<'a> Visit<'a> for FunctionCollector {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !module.attrs.iter().any(is_test_attribute) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        let is_public = matches!(function.vis, syn::Visibility::Public(_));
        self.add(&function.attrs, is_public, &function.sig, function, &function.block);
    }

    fn visit_item_impl(&mut self, implementation: &'a syn::ItemImpl) {
        if let syn::Type::Path(path) = &*implementation.self_ty {
            self.owner = path.path.segments.last().map(|segment| segment.ident.to_string());
        }
        visit::visit_item_impl(self, implementation);
        self.owner = None;
    }

    fn visit_impl_item_fn(&mut self, method: &'a syn::ImplItemFn) {
        let is_public = matches!(method.vis, syn::Visibility::Public(_));
        self.add(&method.attrs, is_public, &method.sig, method, &method.block);
    }
}

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]`.
fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    let is_cfg = || {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|it| it == "test")
    };
    attribute.path().segments.last().is_some_and(|last| last.ident == "test") || is_cfg()
}

fn is_experiment(attribute: &syn::Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "experiment")
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A free function.
    Free(String),
    /// A function of a type.
    Associated(String, String),
    /// A method of a value of unknown type.
    Method(String),
}

impl Call {
    pub fn name(&self) -> &str {
        match self {
            Self::Free(name) | Self::Associated(_, name) | Self::Method(name) => name,
        }
    }

    /// Whether it may be a call of that function.
    pub fn may_refer_to(&self, function: &Function) -> bool {
        self.name() == function.name
            && match self {
                Self::Free(_) => function.owner.is_none(),
                Self::Associated(owner, _) => function.owner.as_ref() == Some(owner),
                Self::Method(_) => function.owner.is_some(),
            }
    }
}

/// What a function calls or passes as a function, as in `.map(answer)`, in source order, without duplicates.
pub fn calls(signature: &syn::Signature, body: &syn::Block) -> Vec<Call> {
    let mut calls = CallCollector::default();
    calls.visit_signature(signature);
    calls.visit_block(body);
    calls.found
}

#[derive(Default)]
struct CallCollector {
    found: Vec<Call>,
    /// The names of parameters and variables, which are not functions.
    variables: Vec<String>,
}

impl CallCollector {
    fn add(&mut self, call: Call) {
        if !self.found.contains(&call) {
            self.found.push(call);
        }
    }

    /// Adds a name with the path segment before it.
    fn add_path_call(&mut self, owner: Option<String>, name: String) {
        let owner = owner.filter(|owner| owner.starts_with(char::is_uppercase));
        self.add(
            owner.map_or_else(|| Call::Free(name.clone()), |owner| Call::Associated(owner, name.clone())),
        );
    }

    fn add_path(&mut self, path: &syn::Path) {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        if let Some(name) = names.next() {
            self.add_path_call(names.next(), name);
        }
    }

    /// Adds functions among the arguments of a call.
    fn add_arguments<'a>(&mut self, arguments: impl IntoIterator<Item = &'a syn::Expr>) {
        for argument in arguments {
            if let syn::Expr::Path(path) = argument
                && !path.path.get_ident().is_some_and(|name| self.variables.iter().any(|it| name == it))
            {
                self.add_path(&path.path);
            }
        }
    }

    /// Adds calls inside a macro, whose syntax is unknown: any name before parentheses.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let is = |token: Option<&TokenTree>, wanted: char| matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == wanted);
        for (index, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else { continue };
            self.add_tokens(group.stream());
            let before: Vec<_> = tokens[..index].iter().rev().take(4).collect();
            let [TokenTree::Ident(name), before @ ..] = &before[..] else { continue };
            if group.delimiter() != Delimiter::Parenthesis {
                continue;
            }
            match before {
                [TokenTree::Punct(dot), ..] if dot.as_char() == '.' => {
                    self.add(Call::Method(name.to_string()))
                }
                [one, other, TokenTree::Ident(owner)] if is(Some(one), ':') && is(Some(other), ':') => {
                    self.add_path_call(Some(owner.to_string()), name.to_string());
                }
                _ => self.add_path_call(None, name.to_string()),
            }
        }
    }
}

impl<'a> Visit<'a> for CallCollector {
    fn visit_local(&mut self, local: &'a syn::Local) {
        // In `let answer = question.map(answer)`, the variable is not yet in scope.
        if let Some(init) = &local.init {
            self.visit_local_init(init);
        }
        self.visit_pat(&local.pat);
    }

    fn visit_pat_ident(&mut self, variable: &'a syn::PatIdent) {
        self.variables.push(variable.ident.to_string());
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func {
            self.add_path(&path.path);
        }
        visit::visit_expr_call(self, call);
        self.add_arguments(&call.args);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        // The receiver comes first.
        visit::visit_expr_method_call(self, call);
        self.add(Call::Method(call.method.to_string()));
        self.add_arguments(&call.args);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        self.add_tokens(called.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_with_their_locations_and_calls() {
        let text = "use desk::answer;\n\n/// An experiment.\n#[cobalt::experiment(dataset = \"a.jsonl\")]\nasync fn support(item: Item) -> String {\n    \
                    let desk = Desk::new();\n    desk.ask(&item).await;\n    answer(&item).await\n}\n\n\
                    impl Desk {\n    pub fn new() -> Self { Self }\n}\n\n#[cfg(test)]\nmod tests {\n    fn helper() {}\n}\n";
        let functions = functions(text).unwrap();
        let paths: Vec<_> = functions.iter().map(Function::path).collect();
        assert_eq!(paths, ["support", "Desk::new"]);
        let [support, new] = &functions[..] else { panic!("{functions:?}") };
        assert_eq!((support.lines.clone(), support.line, support.is_experiment), (3..=9, 5, true));
        assert_eq!(support.signature, "async fn support(item: Item) -> String");
        assert_eq!(
            support.calls,
            [
                Call::Associated("Desk".into(), "new".into()),
                Call::Method("ask".into()),
                Call::Free("answer".into())
            ]
        );
        assert!(support.calls[0].may_refer_to(new) && new.is_public && !support.is_public);
        assert!(!support.calls[2].may_refer_to(new));
    }

    #[test]
    fn invalid_rust_is_refused() {
        assert!(functions("fn main( {").is_err());
    }

    fn called(function: &str) -> Vec<Call> {
        let syn::ItemFn { sig, block, .. } = syn::parse_str(function).unwrap();
        calls(&sig, &block)
    }

    #[test]
    fn a_function_passed_as_an_argument_is_a_call_and_a_variable_is_not() {
        let found = called(
            "fn mapped(item: Item) -> String {\n    let answer = question(item).map(answer);\n    let shown = answer.map(Desk::shown);\n    Some(shown)\n}",
        );
        for call in [Call::Free("answer".into()), Call::Associated("Desk".into(), "shown".into())] {
            assert!(found.contains(&call), "{found:?}");
        }
        for variable in ["item", "shown"] {
            assert!(!found.contains(&Call::Free(variable.into())), "{found:?}");
        }
    }

    #[test]
    fn calls_inside_macros_are_found() {
        let found = called(
            "fn within(item: Item) -> Value {\n    json!({ \"a\": [desk::answer(&item)], \"b\": Desk::new().ask(format!(\"{}\", inner(1))) })\n}",
        );
        let free = |name: &str| Call::Free(name.into());
        for call in [
            free("answer"),
            free("inner"),
            Call::Associated("Desk".into(), "new".into()),
            Call::Method("ask".into()),
        ] {
            assert!(found.contains(&call), "{found:?}");
        }
    }
}
