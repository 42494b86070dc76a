//! Files and variables that the compiler and build scripts read, from what cargo and rustc write beside their output.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Artifact, BuildScript, PackageId};

/// What local packages were built from, besides what cargo's metadata has, by the folder of the package.
#[derive(Clone, Debug, Default)]
pub struct BuildInputs(BTreeMap<PathBuf, PackageInputs>);

/// What one package was built from.
#[derive(Clone, Debug, Default)]
pub struct PackageInputs {
    pub files: BTreeSet<PathBuf>,
    pub variables: BTreeSet<String>,
}

impl BuildInputs {
    /// Reads the files beside the output of local packages. Relative paths start at the workspace root.
    pub fn read<'a>(
        artifacts: &'a [Artifact],
        scripts: impl Iterator<Item = &'a BuildScript>,
        workspace: &Path,
    ) -> Self {
        let (mut found, mut folders) = (Self::default(), HashMap::new());
        for artifact in artifacts.iter().filter(|artifact| is_local(&artifact.package_id)) {
            let Some(folder) = artifact.manifest_path.as_std_path().parent() else { continue };
            folders.insert(&artifact.package_id, folder);
            let inputs = found.0.entry(folder.to_owned()).or_default();
            for file in artifact.filenames.iter().chain(&artifact.executable) {
                for file in dep_info(file.as_std_path()) {
                    inputs.add_dep_info(&fs::read_to_string(file).unwrap_or_default(), workspace);
                }
            }
        }
        for script in scripts.filter(|script| is_local(&script.package_id)) {
            let Some(folder) = folders.get(&script.package_id) else { continue };
            let output = script.out_dir.as_std_path().with_file_name("output");
            let inputs = found.0.entry((*folder).to_owned()).or_default();
            inputs.add_script_output(&fs::read_to_string(output).unwrap_or_default(), folder);
        }
        found
    }

    /// The inputs of the packages in these folders.
    pub fn of<'a>(&'a self, folders: &'a [PathBuf]) -> impl Iterator<Item = &'a PackageInputs> {
        folders.iter().filter_map(|folder| self.0.get(folder))
    }
}

impl PackageInputs {
    /// Adds the files and variables of a makefile by rustc or cargo: `output: file file`, and `# env-dep:NAME=value`.
    fn add_dep_info(&mut self, text: &str, workspace: &Path) {
        for line in text.lines() {
            if let Some(variable) = line.strip_prefix("# env-dep:") {
                self.variables.extend(variable.split('=').next().map(str::to_owned));
            } else if let Some((_, files)) = line.split_once(": ").filter(|_| !line.starts_with('#')) {
                let files = files.replace("\\ ", "\0");
                let files = files.split_whitespace().map(|file| workspace.join(file.replace('\0', " ")));
                self.files.extend(files);
            }
        }
    }

    /// Adds the files and variables after whose change a build script runs again.
    fn add_script_output(&mut self, text: &str, package: &Path) {
        for line in text.lines() {
            let instruction = line.strip_prefix("cargo::").or_else(|| line.strip_prefix("cargo:"));
            match instruction.and_then(|instruction| instruction.split_once('=')) {
                Some(("rerun-if-changed", path)) => drop(self.files.insert(package.join(path.trim()))),
                Some(("rerun-if-env-changed", name)) => drop(self.variables.insert(name.trim().to_owned())),
                _ => {}
            }
        }
    }
}

fn is_local(package: &PackageId) -> bool {
    package.repr.contains("path+file://")
}

/// The makefiles beside an output, which have the name of its crate.
fn dep_info(output: &Path) -> Vec<PathBuf> {
    let beside = output.with_extension("d");
    let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let of_library = name.strip_prefix("lib").map(|name| beside.with_file_name(name));
    of_library.into_iter().chain([beside]).filter(|file| file.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dep_info_names_files_and_variables() {
        let mut found = PackageInputs::default();
        let text = "/t/deps/evals-1: tests/evals.rs tests/../prompts/a\\ b.txt /abs/c.txt\n\ntests/evals.rs:\n\
                    # env-dep:MODEL=mini\n# env-dep:UNSET\n";
        found.add_dep_info(text, Path::new("/w"));
        let files = ["/abs/c.txt", "/w/tests/../prompts/a b.txt", "/w/tests/evals.rs"].map(PathBuf::from);
        assert_eq!(found.files, BTreeSet::from(files));
        assert_eq!(found.variables, ["MODEL", "UNSET"].map(str::to_owned).into());
    }

    #[test]
    fn build_scripts_name_files_and_variables() {
        let mut found = PackageInputs::default();
        let text = "cargo:rerun-if-changed=a.txt\ncargo::rerun-if-changed=../b\ncargo::rerun-if-env-changed=MODE\nhello\n";
        found.add_script_output(text, Path::new("/w/p"));
        assert_eq!(found.files, ["/w/p/a.txt", "/w/p/../b"].map(PathBuf::from).into());
        assert_eq!(found.variables, ["MODE".to_owned()].into());
    }
}
