//! Templates against the original's.

use cobalt::template::render;

use crate::case::{Case, Checked};

// All asserted lines pass, including nested paths. The other lines show quirks of the original (members of JavaScript's strings and
// objects, odd paths), and names with spaces and other scripts, which the original refuses and we accept.
pub(crate) fn check(case: &Case) -> Checked {
    let template = case.input()["template"].as_str().ok_or("no template")?;
    let context = case.input()["context"].as_object().ok_or("no context")?;
    case.same(&render(template, context).into())
}
