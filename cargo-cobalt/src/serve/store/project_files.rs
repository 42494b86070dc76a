//! Files of the project that runs name: the source of an experiment, and media.

use std::fs::{File, OpenOptions};
use std::path::{Component, Path, PathBuf, Prefix};

use super::Store;

/// The manifest that makes a folder a package.
const MANIFEST: &str = "Cargo.toml";

impl Store {
    /// A file of the project, by a path that is absolute or relative to one of these folders: the workspace's, then that of the package
    /// that has the source file. Links are followed; `None` if the file is not in the project's folder, or on another machine.
    pub fn project_file(&self, path: &Path, source: Option<&str>) -> Option<PathBuf> {
        find_in(self.settings().workspace_root(), path, source)
    }
}

fn find_in(root: &Path, path: &Path, source: Option<&str>) -> Option<PathBuf> {
    if is_remote(path) {
        return None;
    }
    let root = root.canonicalize().ok()?;
    let package = source.and_then(|source| package_of(&root, Path::new(source)));
    let folders = [Some(root.clone()), package].into_iter().flatten();
    let found = folders.map(|folder| folder.join(path)).filter_map(|path| path.canonicalize().ok());
    let mut found = found.filter(|path| path.starts_with(&root) && path.is_file());
    found.next()
}

/// Whether a path starts with the name of another machine, such as `\\server\share`: Windows logs in to it as
/// soon as it looks for the file.
fn is_remote(path: &Path) -> bool {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return false };
    !matches!(prefix.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_))
}

/// The folder of the package that has a source file.
fn package_of(root: &Path, source: &Path) -> Option<PathBuf> {
    let file = root.join(source);
    let folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders.into_iter().find(|folder| folder.join(MANIFEST).is_file()).map(Path::to_owned)
}

/// Opens a regular file, and nothing that waits for a writer or leads elsewhere meanwhile.
pub fn open_regular(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use nix::fcntl::OFlag;

        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    let file = options.open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    #[test]
    fn files_are_found_in_the_workspace_or_the_package_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("desk");
        write(&root.join("Cargo.toml"));
        write(&root.join("evals/Cargo.toml"));
        write(&root.join("evals/data/a.png"));
        write(&folder.path().join("secret.png"));
        let find = |path: &str| find_in(&root, Path::new(path), Some("evals/tests/evals.rs"));
        let there = root.canonicalize().unwrap().join("evals/data/a.png");
        assert_eq!(find("evals/data/a.png"), Some(there.clone()));
        assert_eq!(find("data/a.png"), Some(there.clone()), "relative to the package");
        assert_eq!(find(&there.display().to_string()), Some(there));
        let secret = folder.path().join("secret.png").display().to_string();
        for path in ["../secret.png", "evals/../../secret.png", &secret, "data", "", "/", "data/b.png"] {
            assert_eq!(find(path), None, "{path}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn no_other_machine_is_asked_for_a_file() {
        for path in [r"\\192.0.2.1\share\a.png", "//192.0.2.1/share/a.png", r"\\?\UNC\192.0.2.1\share\a.png"]
        {
            assert!(is_remote(Path::new(path)), "{path}");
        }
        assert!(!is_remote(Path::new(r"C:\desk\a.png")) && !is_remote(Path::new(r"data\a.png")));
    }

    #[cfg(unix)]
    #[test]
    fn links_must_not_lead_out_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("desk");
        write(&root.join("a.png"));
        write(&folder.path().join("secret.png"));
        for (link, to) in [("out.png", "../secret.png"), ("in.png", "a.png"), ("up", "..")] {
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        let find = |path: &str| find_in(&root, Path::new(path), None);
        assert_eq!((find("out.png"), find("up/secret.png")), (None, None));
        let file = find("in.png").unwrap();
        assert!(file.ends_with("a.png") && open_regular(&file).is_some());
        assert!(
            open_regular(&root.join("in.png")).is_none(),
            "a link that replaces the file is not followed"
        );
        nix::unistd::mkfifo(&root.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(find("pipe").is_none() && open_regular(&root.join("pipe")).is_none());
    }
}
