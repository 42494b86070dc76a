//! Finds the function without `#[cobalt::evaluator]` that a list of evaluators names: the compiler would only say that it is no type.

use std::fs;

use proc_macro2::{Span, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemFn, UseName, UseRename, UseTree};

/// What is wrong with a name in the list, where the file of `span` has a plain function of that name at its top, and nothing
/// else that could be meant.
pub(crate) fn problem(name: &str, span: Span) -> Option<String> {
    // Only in a real expansion there is a file to look at.
    if !proc_macro::is_available() {
        return None;
    }
    let text = fs::read_to_string(span.unwrap().local_file()?).ok()?;
    problem_in(name, &text)
}

fn problem_in(name: &str, text: &str) -> Option<String> {
    if !text.contains(&format!("fn {name}")) {
        return None;
    }
    let file = syn::parse_file(text).ok()?;
    let mut named = Named { name, plain: 0, others: 0 };
    named.visit_file(&file);
    let is_at_top = file.items.iter().any(|item| matches!(item, syn::Item::Fn(it) if it.sig.ident == name));
    (is_at_top && named.plain == 1 && named.others == 0).then(|| {
        format!("`{name}` is a function without `#[cobalt::evaluator]`: write that above `fn {name}`")
    })
}

/// What of a file has a name.
struct Named<'a> {
    name: &'a str,
    /// Functions whose attributes make nothing of them.
    plain: usize,
    /// Other functions, types and imports.
    others: usize,
}

impl<'ast> Visit<'ast> for Named<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if function.sig.ident == self.name {
            let is_plain = function.attrs.iter().all(changes_nothing);
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
        // What a macro makes of its tokens is not known.
        self.others += usize::from(mentions(item.mac.tokens.clone(), self.name));
    }
}

/// Whether a `*` imports a module of another file, which may hold an evaluator of the name.
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

/// Whether an attribute leaves a function as it is.
fn changes_nothing(attribute: &Attribute) -> bool {
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
            let told = problem_in("plain", text).unwrap();
            assert_eq!(
                told,
                "`plain` is a function without `#[cobalt::evaluator]`: write that above `fn plain`"
            );
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
            assert_eq!(problem_in("plain", text), None, "{text}");
        }
    }
}
