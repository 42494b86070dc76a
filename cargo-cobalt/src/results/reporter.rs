//! Reporters: they show a call while it runs and at its end.

use std::path::Path;

use cobalt::reporters::Event;

use super::{Results, RunState};
use crate::error::Error;

/// Something that shows a call.
pub(crate) trait Reporter {
    /// Shows something as it happens. The state includes it already.
    fn on_event(&mut self, _event: &Event, _state: &RunState, _output: &dyn Output) {}

    /// Shows the results.
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error>;
}

/// Where a reporter speaks to people, and to GitHub Actions.
pub(crate) trait Output {
    /// Prints a line on stderr.
    fn eprintln(&self, line: &str);

    /// Prints on stderr what went wrong and fails nothing.
    fn warn(&self, warning: &str);

    /// Gives a command to GitHub Actions; does nothing where that does not read along.
    fn command(&self, command: &str);

    /// Says on stderr where a reporter has written its file.
    fn wrote(&self, path: &Path);
}
