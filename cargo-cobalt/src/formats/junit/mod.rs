//! Runs in the format of JUnit, which nearly every CI server shows.
//!
//! There is no standard of the format. The file is valid by `junit-10.xsd` of Jenkins' plug-in xUnit, which is the strictest of
//! the schemas that are in use, so it has nothing that only some readers know:
//!
//! | reader | what it does with the file |
//! |---|---|
//! | Jenkins | shows all of it; the class is split into package and class at its last full stop |
//! | GitLab | the class is the suite of its table, and of test cases with one class and name it shows the first alone; it shows the text of a failure, and the output where there is none |
//! | action-junit-report | finds the place of a failure by the suite's file and the line behind this file's name in the text |
//! | test-reporter | groups by class where it differs from the suite's name, and tells errors and failures alike |
//!
//! So the class of a test case is its experiment, and its name is the one of `cargo test`.

mod suites;
#[cfg(test)]
mod tests;
mod xml;

pub use self::xml::junit;
