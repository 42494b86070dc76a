//! Runs as JUnit XML, which nearly every CI server supports.
//!
//! The format has no standard. The file validates against `junit-10.xsd` of Jenkins' xUnit plug-in, the strictest schema in use, and
//! uses no extensions that only some readers understand:
//!
//! | reader | behaviour |
//! |---|---|
//! | Jenkins | shows everything; splits the class into package and class at the last full stop |
//! | GitLab | shows the class as the suite; of test cases with the same class and name only the first; the text of a failure, or the output if there is none |
//! | action-junit-report | locates a failure by the suite's file and the line after this file's name in the text |
//! | test-reporter | groups by class if it differs from the suite's name; treats errors and failures alike |
//!
//! Therefore the class of a test case is its experiment, and its name is the one under `cargo test`.

mod suites;
#[cfg(test)]
mod tests;
mod xml;

pub use self::xml::junit;
