//! The variables that binaries run with: those of this process, before those of `.env` files.

use std::ffi::OsString;
use std::path::Path;

use crate::error::Error;

/// The name of the files.
const FILE: &str = ".env";

/// Variables of `.env` files that this process has not set itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    from_files: Vec<(String, String)>,
}

impl Environment {
    /// Reads the `.env` of each folder that has one; what comes earlier wins.
    pub(crate) fn read(folders: &[&Path]) -> Result<Self, Error> {
        let mut environment = Self::default();
        for folder in folders {
            let path = folder.join(FILE);
            if !path.is_file() {
                continue;
            }
            let failed = |source| Error::EnvFile { path: path.clone(), source };
            for variable in dotenvy::from_path_iter(&path).map_err(failed)? {
                let (name, value) = variable.map_err(failed)?;
                if std::env::var_os(&name).is_none()
                    && environment.from_files.iter().all(|(set, _)| *set != name)
                {
                    environment.from_files.push((name, value));
                }
            }
        }
        Ok(environment)
    }

    /// A variable as the binaries will see it.
    pub(crate) fn get(&self, name: &str) -> Option<OsString> {
        let from_file = || self.from_files.iter().find(|(set, _)| set == name).map(|(_, value)| value.into());
        std::env::var_os(name).or_else(from_file)
    }

    /// What the files add to the variables of this process.
    pub(crate) fn of_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.from_files.iter().map(|(name, value)| (&**name, &**value))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_set_comes_before_files_and_near_files_before_far_ones() {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(near.path().join(FILE), "PATH=/nowhere\nSHARED=near\nexport QUOTED=\"a b\" # why\n")
            .unwrap();
        fs::write(far.path().join(FILE), "SHARED=far\nONLY_FAR=1\n").unwrap();
        let environment = Environment::read(&[near.path(), far.path()]).unwrap();
        let read: Vec<_> = environment.of_files().collect();
        assert_eq!(read, [("SHARED", "near"), ("QUOTED", "a b"), ("ONLY_FAR", "1")]);
        assert_eq!(environment.get("PATH"), std::env::var_os("PATH"));
        assert_eq!(environment.get("ONLY_FAR"), Some("1".into()));
    }

    #[test]
    fn a_line_that_is_no_assignment_is_an_error_that_names_the_file_and_not_its_content() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "KEY='sk-secret\n").unwrap();
        let error = Environment::read(&[folder.path()]).unwrap_err().to_string();
        assert!(error.contains(".env") && !error.contains("sk-secret"), "{error}");
    }
}
