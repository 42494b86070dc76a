//! All forms that the attributes accept; the annotated functions can still be called.

use crate::sandbox::{Program, clean, fixture};

#[test]
fn what_is_documented_compiles_and_runs() {
    for program in [fixture!("accepted_evaluators"), fixture!("accepted_experiments")] {
        Program::of(clean(program)).run().code(0);
    }
}
