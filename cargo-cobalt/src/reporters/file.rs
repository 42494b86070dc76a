//! A reporter that writes a file when all is over.

use std::path::PathBuf;

use crate::error::Error;
use crate::results::{Output, Reporter, Results};
use crate::written::write;

/// Writes what a run came to into a file, as a function renders it.
pub(crate) struct FileReporter {
    pub(crate) path: PathBuf,
    pub(crate) render: fn(&Results) -> String,
}

impl Reporter for FileReporter {
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        let text = (self.render)(results);
        write(&self.path, &text).map_err(|source| Error::ReportFile { path: self.path.clone(), source })?;
        output.wrote(&self.path);
        Ok(())
    }
}
