//! Values that are lists: `tags = ["smoke"]`.

use syn::{Expr, Ident};

use crate::errors::Errors;

/// The elements of a list in brackets. Anything else is refused with the form to write.
pub(crate) fn elements<'a>(key: &Ident, value: &'a Expr, errors: &mut Errors) -> Option<Vec<&'a Expr>> {
    if let Expr::Array(list) = bare(value) {
        return Some(list.elems.iter().map(bare).collect());
    }
    errors.at(value, format!("`{key}` is a list: write `{key} = […]`"));
    None
}

/// An expression without the invisible brackets in which a `macro_rules!` macro hands it on.
pub(crate) fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => bare(&group.expr),
        expression => expression,
    }
}
