//! A reporter that writes a file when all is over.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Reporter, Results};
use crate::error::Error;
use crate::run::Screen;

/// Writes what a run came to into a file, as a function renders it.
pub(crate) struct FileReporter {
    pub(crate) path: PathBuf,
    pub(crate) render: fn(&Results) -> String,
}

impl Reporter for FileReporter {
    fn finish(&mut self, results: &Results, _screen: &Screen) -> Result<(), Error> {
        let text = (self.render)(results);
        write(&self.path, &text).map_err(|source| Error::ReportFile { path: self.path.clone(), source })
    }
}

/// Writes a file whole or not at all, and the folders above it.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    // Whoever may read a file that is made in the usual way may read this one: it is an artefact of a job.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
