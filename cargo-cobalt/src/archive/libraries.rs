//! The shared libraries that binaries need and that the machine they run on will not have: those in the folders that cargo searches.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use goblin::Object;

use super::error::ArchiveError;

/// The libraries of these folders that a binary needs, directly or through another one, by their names.
pub fn needed(binary: &Path, folders: &[PathBuf]) -> Result<BTreeMap<String, PathBuf>, ArchiveError> {
    let mut found = BTreeMap::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![binary.to_owned()];
    while let Some(file) = waiting.pop() {
        for name in names(&file)? {
            let library = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file());
            if let Some(library) = library.filter(|_| seen.insert(name.clone())) {
                waiting.push(library.clone());
                found.insert(name, library);
            }
        }
    }
    Ok(found)
}

/// The names of the libraries that a binary or a library is linked with.
fn names(file: &Path) -> Result<Vec<String>, ArchiveError> {
    let failed = |source| ArchiveError::Libraries { path: file.to_owned(), source };
    let bytes = fs::read(file).map_err(|error| failed(error.into()))?;
    let names = match Object::parse(&bytes).map_err(failed)? {
        Object::Elf(elf) => elf.libraries,
        Object::PE(pe) => pe.libraries,
        Object::Mach(goblin::mach::Mach::Binary(binary)) => binary.libs,
        _ => Vec::new(),
    };
    let file_name = |name: &str| name.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(names.into_iter().filter_map(file_name).collect())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_the_system_is_not_needed_and_one_in_a_folder_is() {
        let this = std::env::current_exe().unwrap();
        let names = names(&this).unwrap();
        let some =
            names.iter().find(|name| name.starts_with("libc") || name.starts_with("libSystem")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        assert!(needed(&this, &folders).unwrap().is_empty());
        // A library that needs itself.
        fs::copy(&this, folder.path().join(some)).unwrap();
        let found = needed(&this, &folders).unwrap();
        assert_eq!(found, BTreeMap::from([(some.clone(), folder.path().join(some))]));
    }

    #[test]
    fn a_file_that_is_no_binary_needs_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "#!/bin/sh\nexit 0 # long enough for a header").unwrap();
        assert!(needed(file.path(), &[]).unwrap().is_empty());
    }
}
