//! `cargo cobalt import`: takes result files from elsewhere into the results of this project.

mod file;
mod paths;
mod there;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::store::{Layout, keep_report};

use self::file::ResultFile;
use self::there::There;
use crate::cli::Import;
use crate::config::settings;
use crate::error::Error;
use crate::terminal::{one_line, print};

/// What became of a file.
enum Outcome {
    Imported(PathBuf),
    /// The run is there with the same content: in this file.
    There(PathBuf),
}

pub(crate) fn import(arguments: &Import, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let root = [settings.workspace_root().to_owned()];
    let paths = if arguments.paths.is_empty() { &root[..] } else { &arguments.paths };
    let (mut files, mut refused) = paths::files(paths);
    let is_named = !arguments.paths.is_empty();
    if !is_named {
        files.retain(|file| paths::is_result(file) && !file.starts_with(settings.layout().results()));
    }
    if files.is_empty() && refused.is_empty() {
        let what = if is_named {
            "no file `*.json`"
        } else {
            "no result file of another project or of the original"
        };
        let paths: Vec<_> = paths.iter().map(|path| format!("`{}`", shown(path))).collect();
        return Err(Error::NothingMatched(format!("there is {what} in {}", paths.join(", "))));
    }
    let mut there = There::read(settings.layout())?;
    let (mut imported, mut known) = (0, 0);
    for path in &files {
        match take(path, settings.layout(), &mut there) {
            Ok((run, Outcome::Imported(to))) => {
                imported += 1;
                print(&format!("imported {run} from `{}` as `{}`\n", shown(path), shown(&to)))
                    .map_err(Error::Print)?;
            }
            Ok((run, Outcome::There(at))) => {
                known += 1;
                print(&format!("kept     {run}, which is there already as `{}`\n", shown(&at)))
                    .map_err(Error::Print)?;
            }
            Err(reason) => refused.push(format!("`{}` is refused: {}", shown(path), one_line(&reason))),
        }
    }
    print(&format!("{imported} imported, {known} there already, {} refused\n", refused.len()))
        .map_err(Error::Print)?;
    if refused.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Broken(refused)) }
}

/// Takes a file in, unless its run is there. Answers with the run in words, or says why the file is refused.
fn take(path: &Path, layout: &Layout, there: &mut There) -> Result<(String, Outcome), String> {
    let file = ResultFile::read(path)?;
    let report = &file.report;
    let items = report.items.len();
    let noun = if items == 1 { "item" } else { "items" };
    let run = format!("run {} of `{}` ({items} {noun})", report.id, one_line(&report.name));
    if let Some(at) = there.find(&report.id) {
        return match file.is_same_as(at) {
            true => Ok((run, Outcome::There(at.to_owned()))),
            false => Err(format!(
                "{run} is there with another content, as `{}`; keep one of the two, and remove the other",
                shown(at)
            )),
        };
    }
    let to = keep_report(layout, report, &file.bytes).map_err(|error| error.to_string())?;
    there.add(&report.id, &to);
    Ok((run, Outcome::Imported(to)))
}

/// A path on one line, as seen from the current folder.
fn shown(path: &Path) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}
