//! What the attributes accept: programs with every form, in which the functions are still functions.

use crate::sandbox::{Program, clean, fixture};

#[test]
fn what_is_documented_compiles_and_runs() {
    for program in [fixture!("accepted_evaluators"), fixture!("accepted_experiments")] {
        Program::of(clean(program)).run().code(0);
    }
}
