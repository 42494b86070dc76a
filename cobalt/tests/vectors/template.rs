//! Templates against the original's.

use cobalt::template::render;

use crate::loader::for_each_asserted;

// All asserted lines hold, nested paths included. The lines that are not asserted show quirks of the original (members of
// JavaScript's strings and objects, odd paths) and its refusal of blanks and other scripts in names, which we take.
#[test]
fn templates_are_filled_as_by_the_original() {
    for_each_asserted("cobalt_template.jsonl", |case| {
        let template = case.input()["template"].as_str().ok_or("no template")?;
        let context = case.input()["context"].as_object().ok_or("no context")?;
        let ours = render(template, context);
        if case.expected() == &ours { Ok(()) } else { Err(format!("{ours:?}, expected {}", case.expected())) }
    });
}
