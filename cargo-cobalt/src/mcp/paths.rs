//! Paths in arguments, which must stay inside the project after symlinks are resolved.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::projects::Project;
use crate::error::Error;

/// Resolves an argument to a file or folder, which must exist inside the project.
pub fn resolve_existing(project: &Project, argument: &str, path: &str) -> Result<PathBuf, Error> {
    let named = join_root(project, argument, path)?;
    let found = named.canonicalize().map_err(|error| unreadable_error(project, argument, path, &error))?;
    if found.starts_with(&project.root) { Ok(found) } else { Err(outside_error(project, argument, path)) }
}

/// Resolves an argument to a file to write, which may exist. The existing part of its path must be inside the project, and the
/// rest must not contain `..`.
pub fn resolve_new(project: &Project, argument: &str, path: &str) -> Result<PathBuf, Error> {
    let named = join_root(project, argument, path)?;
    // A symlink exists even if its target does not.
    let there = named.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    let there = there.ok_or_else(|| outside_error(project, argument, path))?;
    let found = there.canonicalize().map_err(|error| unreadable_error(project, argument, path, &error))?;
    if !found.starts_with(&project.root) {
        return Err(outside_error(project, argument, path));
    }
    let rest = named.strip_prefix(there).unwrap_or(Path::new(""));
    if !rest.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(outside_error(project, argument, path));
    }
    let is_whole = rest.as_os_str().is_empty();
    if is_whole == found.is_dir() {
        let problem = if is_whole { "is a folder" } else { "has a parent that is not a folder" };
        return Err(Error::Arguments(format!("`{argument}`: `{path}` {problem}; name a file")));
    }
    Ok(if is_whole { found } else { found.join(rest) })
}

/// Relative paths start at the project root.
fn join_root(project: &Project, argument: &str, path: &str) -> Result<PathBuf, Error> {
    if path.trim().is_empty() {
        return Err(Error::Arguments(format!(
            "`{argument}` is empty: name a file, relative to the project root"
        )));
    }
    Ok(project.root.join(path))
}

fn unreadable_error(project: &Project, argument: &str, path: &str, error: &io::Error) -> Error {
    let root = project.root.display();
    Error::Arguments(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "`{argument}`: `{path}` not found, or a broken symlink; paths are relative to the project root `{root}`, or \
             absolute"
        ),
        _ => {
            format!("`{argument}`: failed to read `{path}`: {error}; name a file inside the project `{root}`")
        }
    })
}

fn outside_error(project: &Project, argument: &str, path: &str) -> Error {
    Error::Arguments(format!(
        "`{argument}`: `{path}` is outside the project; name a path that stays inside `{}` after symlinks and `..` are \
         resolved",
        project.root.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A project with `src/lib.rs`, next to a file outside it.
    fn project() -> (TempDir, Project) {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/lib.rs"), "").unwrap();
        fs::write(folder.path().join("secret"), "").unwrap();
        (folder, Project { name: "project".to_owned(), root })
    }

    fn refused(result: Result<PathBuf, Error>) -> String {
        result.unwrap_err().to_string()
    }

    /// The error for each path, without the project's location.
    fn refusals<const N: usize>(
        (folder, project): &(TempDir, Project),
        paths: [&str; N],
        of: impl Fn(&Project, &str) -> Result<PathBuf, Error>,
    ) -> String {
        let folder = folder.path().canonicalize().unwrap();
        let refusals = paths.map(|path| refused(of(project, path)));
        refusals.join("\n").replace(folder.to_str().unwrap(), "[folder]")
    }

    #[test]
    fn a_file_of_the_project_is_found_by_its_relative_and_its_absolute_path() {
        let (_folder, project) = project();
        let file = project.root.join("src/lib.rs");
        for path in ["src/lib.rs", "./src/lib.rs", "src/../src/lib.rs", file.to_str().unwrap()] {
            assert_eq!(resolve_existing(&project, "file", path).unwrap(), file, "{path}");
            assert_eq!(resolve_new(&project, "file", path).unwrap(), file, "{path}");
        }
    }

    #[test]
    fn a_path_outside_the_project_is_refused_by_the_name_of_the_argument() {
        let there = project();
        let secret = there.0.path().canonicalize().unwrap().join("secret");
        let paths = ["../secret", "src/../../secret", secret.to_str().unwrap(), "/"];
        let refused = refusals(&there, paths, |project, path| resolve_existing(project, "agentFile", path));
        assert_eq!(refusals(&there, paths, |project, path| resolve_new(project, "agentFile", path)), refused);
        insta::assert_snapshot!(refused, @r"
        `agentFile`: `../secret` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `agentFile`: `src/../../secret` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `agentFile`: `[folder]/secret` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `agentFile`: `/` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        ");
    }

    #[test]
    fn a_missing_file_cannot_be_read() {
        let refused = refusals(&project(), ["src/main.rs", " "], |project, path| {
            resolve_existing(project, "file", path)
        });
        insta::assert_snapshot!(refused, @r"
        `file`: `src/main.rs` not found, or a broken symlink; paths are relative to the project root `[folder]/project`, or absolute
        `file` is empty: name a file, relative to the project root
        ");
    }

    #[test]
    fn a_new_file_may_be_in_new_folders_but_not_outside() {
        let there = project();
        let new = resolve_new(&there.1, "outputFile", "tests/deep/evals.rs").unwrap();
        assert_eq!(new, there.1.root.join("tests/deep/evals.rs"));
        let paths = ["../new.rs", "new/../../secret", "new/../../../new.rs", "src/../../new.rs"];
        let refused = refusals(&there, paths, |project, path| resolve_new(project, "outputFile", path));
        insta::assert_snapshot!(refused, @r"
        `outputFile`: `../new.rs` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `outputFile`: `new/../../secret` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `outputFile`: `new/../../../new.rs` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `outputFile`: `src/../../new.rs` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        ");
    }

    #[test]
    fn a_file_to_write_is_not_a_folder_and_its_parent_is() {
        let paths = ["src", ".", "src/", "src/lib.rs/new.rs"];
        let refused = refusals(&project(), paths, |project, path| resolve_new(project, "outputFile", path));
        insta::assert_snapshot!(refused, @r"
        `outputFile`: `src` is a folder; name a file
        `outputFile`: `.` is a folder; name a file
        `outputFile`: `src/` is a folder; name a file
        `outputFile`: `src/lib.rs/new.rs` has a parent that is not a folder; name a file
        ");
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_followed_unless_they_are_broken_or_lead_out() {
        use std::os::unix::fs::symlink;

        let there = project();
        let (folder, project) = &there;
        symlink("src", project.root.join("code")).unwrap();
        symlink(folder.path(), project.root.join("out")).unwrap();
        symlink("../secret", project.root.join("file")).unwrap();
        symlink("../nothing", project.root.join("dangling")).unwrap();
        let file = project.root.join("src/lib.rs");
        assert_eq!(resolve_existing(project, "file", "code/lib.rs").unwrap(), file);
        assert_eq!(resolve_new(project, "file", "code/new.rs").unwrap(), project.root.join("src/new.rs"));
        let paths = ["out/secret", "file", "dangling"];
        let refused = refusals(&there, paths, |project, path| resolve_existing(project, "file", path));
        insta::assert_snapshot!(refused, @r"
        `file`: `out/secret` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `file`: `file` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `file`: `dangling` not found, or a broken symlink; paths are relative to the project root `[folder]/project`, or absolute
        ");
        let paths = ["out/secret", "file", "out/new/file.rs", "dangling", "dangling/new.rs"];
        let refused = refusals(&there, paths, |project, path| resolve_new(project, "file", path));
        insta::assert_snapshot!(refused, @r"
        `file`: `out/secret` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `file`: `file` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `file`: `out/new/file.rs` is outside the project; name a path that stays inside `[folder]/project` after symlinks and `..` are resolved
        `file`: `dangling` not found, or a broken symlink; paths are relative to the project root `[folder]/project`, or absolute
        `file`: `dangling/new.rs` not found, or a broken symlink; paths are relative to the project root `[folder]/project`, or absolute
        ");
    }
}
