//! A reporter that writes a file when all is over.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Reporter, Results};
use crate::error::Error;
use crate::run::Screen;
use crate::written::draft;

/// Writes what a run came to into a file, as a function renders it.
pub(crate) struct FileReporter {
    pub(crate) path: PathBuf,
    pub(crate) render: fn(&Results) -> String,
}

impl Reporter for FileReporter {
    fn finish(&mut self, results: &Results, screen: &Screen) -> Result<(), Error> {
        let text = (self.render)(results);
        write(&self.path, &text).map_err(|source| Error::ReportFile { path: self.path.clone(), source })?;
        screen.wrote(&self.path);
        Ok(())
    }
}

/// Writes a file whole or not at all, and the folders above it. What is no file, as a pipe, is written to.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, text);
    }
    // What a link leads to is replaced, and not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = draft().tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_can_be_read_as_any_other_and_a_link_to_it_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (file, usual, link) =
            (folder.path().join("out/a.xml"), folder.path().join("usual"), folder.path().join("link"));
        write(&file, "a").unwrap();
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&file), mode(&usual));
        symlink(&file, &link).unwrap();
        write(&link, "b").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "b");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(write(folder.path(), "c").is_err());
    }
}
