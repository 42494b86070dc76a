//! What a function calls, as far as its source tells without types.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::source::Function;

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// A function that belongs to no type.
    Free(String),
    /// A function of a type.
    Of(String, String),
    /// A method of a value, whose type is not known.
    Method(String),
}

impl Call {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Free(name) | Self::Of(_, name) | Self::Method(name) => name,
        }
    }

    /// Whether it may be a call of that function.
    pub(super) fn may_mean(&self, function: &Function) -> bool {
        self.name() == function.name
            && match self {
                Self::Free(_) => function.owner.is_none(),
                Self::Of(owner, _) => function.owner.as_ref() == Some(owner),
                Self::Method(_) => function.owner.is_some(),
            }
    }
}

/// What a function calls or hands on to be called, as in `.map(answer)`, in the order of the source, each once.
pub(super) fn calls(signature: &syn::Signature, body: &syn::Block) -> Vec<Call> {
    let mut calls = Calls::default();
    calls.visit_signature(signature);
    calls.visit_block(body);
    calls.found
}

#[derive(Default)]
struct Calls {
    found: Vec<Call>,
    /// The names of parameters and variables, which are no functions.
    variables: Vec<String>,
}

impl Calls {
    fn add(&mut self, call: Call) {
        if !self.found.contains(&call) {
            self.found.push(call);
        }
    }

    /// A name with what stands before it.
    fn add_named(&mut self, owner: Option<String>, name: String) {
        let owner = owner.filter(|owner| owner.starts_with(char::is_uppercase));
        self.add(owner.map_or_else(|| Call::Free(name.clone()), |owner| Call::Of(owner, name.clone())));
    }

    fn add_path(&mut self, path: &syn::Path) {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        if let Some(name) = names.next() {
            self.add_named(names.next(), name);
        }
    }

    /// Functions among the arguments of a call.
    fn add_arguments<'a>(&mut self, arguments: impl IntoIterator<Item = &'a syn::Expr>) {
        for argument in arguments {
            if let syn::Expr::Path(path) = argument
                && !path.path.get_ident().is_some_and(|name| self.variables.iter().any(|it| name == it))
            {
                self.add_path(&path.path);
            }
        }
    }

    /// Calls within a macro, whose syntax is its own: a name before parentheses.
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
                    self.add_named(Some(owner.to_string()), name.to_string());
                }
                _ => self.add_named(None, name.to_string()),
            }
        }
    }
}

impl<'a> Visit<'a> for Calls {
    fn visit_local(&mut self, local: &'a syn::Local) {
        // In `let answer = question.map(answer)`, the variable is not yet there.
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
        // What it is called on comes before it.
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

    fn called(function: &str) -> Vec<Call> {
        let syn::ItemFn { sig, block, .. } = syn::parse_str(function).unwrap();
        calls(&sig, &block)
    }

    #[test]
    fn a_function_that_is_handed_on_is_called_and_a_variable_is_not() {
        let found = called(
            "fn mapped(item: Item) -> String {\n    let answer = question(item).map(answer);\n    let shown = answer.map(Desk::shown);\n    Some(shown)\n}",
        );
        for call in [Call::Free("answer".into()), Call::Of("Desk".into(), "shown".into())] {
            assert!(found.contains(&call), "{found:?}");
        }
        for variable in ["item", "shown"] {
            assert!(!found.contains(&Call::Free(variable.into())), "{found:?}");
        }
    }

    #[test]
    fn calls_within_macros_are_found_whatever_their_syntax() {
        let found = called(
            "fn within(item: Item) -> Value {\n    json!({ \"a\": [desk::answer(&item)], \"b\": Desk::new().ask(format!(\"{}\", inner(1))) })\n}",
        );
        let free = |name: &str| Call::Free(name.into());
        for call in
            [free("answer"), free("inner"), Call::Of("Desk".into(), "new".into()), Call::Method("ask".into())]
        {
            assert!(found.contains(&call), "{found:?}");
        }
    }
}
