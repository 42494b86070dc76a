//! Templates against the original's.

use cobalt::template::render;

use crate::case::{Case, Checked};

// All asserted lines hold, nested paths included. The lines that are not asserted show quirks of the original (members of
// JavaScript's strings and objects, odd paths) and its refusal of blanks and other scripts in names, which we take.
pub(crate) fn check(case: &Case) -> Checked {
    let template = case.input()["template"].as_str().ok_or("no template")?;
    let context = case.input()["context"].as_object().ok_or("no context")?;
    case.same(&render(template, context).into())
}
