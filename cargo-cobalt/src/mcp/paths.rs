//! Paths in arguments: they stay inside of the project, whatever links there are.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::projects::Project;
use crate::error::Error;

/// The file or folder that an argument names, without links. It must be there, and inside of the project.
pub fn inside(project: &Project, argument: &str, path: &str) -> Result<PathBuf, Error> {
    let named = named(project, argument, path)?;
    let found = named.canonicalize().map_err(|error| unreadable(project, argument, path, &error))?;
    if found.starts_with(&project.root) { Ok(found) } else { Err(outside(project, argument, path)) }
}

/// The file that an argument names to be written, without links. It may be there already; as much of its path as is there must
/// be inside of the project, and the rest may go down only.
pub fn inside_new(project: &Project, argument: &str, path: &str) -> Result<PathBuf, Error> {
    let named = named(project, argument, path)?;
    // A link is there even where what it leads to is not.
    let there = named.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    let there = there.ok_or_else(|| outside(project, argument, path))?;
    let found = there.canonicalize().map_err(|error| unreadable(project, argument, path, &error))?;
    if !found.starts_with(&project.root) {
        return Err(outside(project, argument, path));
    }
    let rest = named.strip_prefix(there).unwrap_or(Path::new(""));
    if !rest.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(outside(project, argument, path));
    }
    let is_whole = rest.as_os_str().is_empty();
    if is_whole == found.is_dir() {
        let problem = if is_whole { "is a folder" } else { "lies in what is no folder" };
        return Err(Error::Arguments(format!("`{argument}`: `{path}` {problem}; name a file")));
    }
    Ok(if is_whole { found } else { found.join(rest) })
}

/// Relative paths are those from the project's root.
fn named(project: &Project, argument: &str, path: &str) -> Result<PathBuf, Error> {
    if path.trim().is_empty() {
        return Err(Error::Arguments(format!(
            "`{argument}` is empty: name a file, relative to the project's root"
        )));
    }
    Ok(project.root.join(path))
}

fn unreadable(project: &Project, argument: &str, path: &str, error: &io::Error) -> Error {
    let root = project.root.display();
    Error::Arguments(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "`{argument}`: there is no file `{path}`, or it is a link to nowhere; paths are relative to the project's root \
             `{root}`, or absolute"
        ),
        _ => format!(
            "`{argument}`: `{path}` cannot be read: {error}; name a file inside of the project `{root}`"
        ),
    })
}

fn outside(project: &Project, argument: &str, path: &str) -> Error {
    Error::Arguments(format!(
        "`{argument}`: `{path}` is outside of the project; name a path inside of `{}`, with links followed and without `..` \
         that leave it",
        project.root.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A project with `src/lib.rs`, beside a file that is none of its own.
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

    /// What is said of each path, without where the project lies.
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
            assert_eq!(inside(&project, "file", path).unwrap(), file, "{path}");
            assert_eq!(inside_new(&project, "file", path).unwrap(), file, "{path}");
        }
    }

    #[test]
    fn a_path_out_of_the_project_is_refused_by_the_name_of_the_argument() {
        let there = project();
        let secret = there.0.path().canonicalize().unwrap().join("secret");
        let paths = ["../secret", "src/../../secret", secret.to_str().unwrap(), "/"];
        let refused = refusals(&there, paths, |project, path| inside(project, "agentFile", path));
        assert_eq!(refusals(&there, paths, |project, path| inside_new(project, "agentFile", path)), refused);
        insta::assert_snapshot!(refused, @r"
        `agentFile`: `../secret` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `agentFile`: `src/../../secret` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `agentFile`: `[folder]/secret` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `agentFile`: `/` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        ");
    }

    #[test]
    fn a_file_that_is_not_there_is_none_to_be_read() {
        let refused =
            refusals(&project(), ["src/main.rs", " "], |project, path| inside(project, "file", path));
        insta::assert_snapshot!(refused, @r"
        `file`: there is no file `src/main.rs`, or it is a link to nowhere; paths are relative to the project's root `[folder]/project`, or absolute
        `file` is empty: name a file, relative to the project's root
        ");
    }

    #[test]
    fn a_new_file_may_lie_in_new_folders_and_goes_down_only() {
        let there = project();
        let new = inside_new(&there.1, "outputFile", "tests/deep/evals.rs").unwrap();
        assert_eq!(new, there.1.root.join("tests/deep/evals.rs"));
        let paths = ["../new.rs", "new/../../secret", "new/../../../new.rs", "src/../../new.rs"];
        let refused = refusals(&there, paths, |project, path| inside_new(project, "outputFile", path));
        insta::assert_snapshot!(refused, @r"
        `outputFile`: `../new.rs` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `outputFile`: `new/../../secret` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `outputFile`: `new/../../../new.rs` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `outputFile`: `src/../../new.rs` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        ");
    }

    #[test]
    fn a_file_to_be_written_is_no_folder_and_lies_in_one() {
        let paths = ["src", ".", "src/", "src/lib.rs/new.rs"];
        let refused = refusals(&project(), paths, |project, path| inside_new(project, "outputFile", path));
        insta::assert_snapshot!(refused, @r"
        `outputFile`: `src` is a folder; name a file
        `outputFile`: `.` is a folder; name a file
        `outputFile`: `src/` is a folder; name a file
        `outputFile`: `src/lib.rs/new.rs` lies in what is no folder; name a file
        ");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_those_that_lead_out_or_nowhere_are_refused() {
        use std::os::unix::fs::symlink;

        let there = project();
        let (folder, project) = &there;
        symlink("src", project.root.join("code")).unwrap();
        symlink(folder.path(), project.root.join("out")).unwrap();
        symlink("../secret", project.root.join("file")).unwrap();
        symlink("../nothing", project.root.join("dangling")).unwrap();
        let file = project.root.join("src/lib.rs");
        assert_eq!(inside(project, "file", "code/lib.rs").unwrap(), file);
        assert_eq!(inside_new(project, "file", "code/new.rs").unwrap(), project.root.join("src/new.rs"));
        let paths = ["out/secret", "file", "dangling"];
        let refused = refusals(&there, paths, |project, path| inside(project, "file", path));
        insta::assert_snapshot!(refused, @r"
        `file`: `out/secret` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `file`: `file` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `file`: there is no file `dangling`, or it is a link to nowhere; paths are relative to the project's root `[folder]/project`, or absolute
        ");
        let paths = ["out/secret", "file", "out/new/file.rs", "dangling", "dangling/new.rs"];
        let refused = refusals(&there, paths, |project, path| inside_new(project, "file", path));
        insta::assert_snapshot!(refused, @r"
        `file`: `out/secret` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `file`: `file` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `file`: `out/new/file.rs` is outside of the project; name a path inside of `[folder]/project`, with links followed and without `..` that leave it
        `file`: there is no file `dangling`, or it is a link to nowhere; paths are relative to the project's root `[folder]/project`, or absolute
        `file`: there is no file `dangling/new.rs`, or it is a link to nowhere; paths are relative to the project's root `[folder]/project`, or absolute
        ");
    }
}
