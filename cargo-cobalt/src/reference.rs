//! The command-line definition in other forms than `--help`: shell completions, man pages and Markdown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};
use clap_markdown::{MarkdownOptions, help_markdown_command_custom};

use crate::cli::{self, Cargo, Completions};
use crate::error::{CommandError, Error};
use crate::terminal::print;

/// The command as users see it: `cargo cobalt` and its subcommands.
pub fn command() -> Command {
    let cargo = Cargo::command();
    let cobalt = cargo.get_subcommands().next().expect("`cargo` has the one command `cobalt`");
    cobalt.clone().name("cargo-cobalt").bin_name("cargo cobalt").display_name("cargo-cobalt")
}

/// The program name that shells use to find the completion script.
const NAME: &str = "cargo-cobalt";

/// Fish has its own completions for `cargo`; this script forwards `cargo cobalt` to those of `cargo-cobalt`.
const FISH: &str = include_str!("reference/completions.fish");

pub fn completions(arguments: &Completions) -> Result<ExitCode, Error> {
    print(&script(arguments.shell)).map_err(Error::Print)?;
    Ok(ExitCode::SUCCESS)
}

/// Bash and zsh complete `cargo` with cargo's own scripts, which call the script of `cargo-cobalt` for what follows
/// `cargo cobalt`. For shells without such scripts, the generated script completes `cargo` itself.
fn script(shell: Shell) -> String {
    match shell {
        Shell::Bash => bash(),
        Shell::Zsh => generated(shell, command(), NAME),
        Shell::Fish => generated(shell, command(), NAME) + FISH,
        _ => generated(shell, Cargo::command(), "cargo"),
    }
}

/// The bash generator (clap_complete 4.6) takes the hyphen in the program's name for the start of a subcommand, and the script
/// then completes no flags. So the script is generated for a name without a hyphen, then registered for the real name.
fn bash() -> String {
    let name = NAME.replace('-', "_");
    let script = generated(Shell::Bash, command(), &name);
    script.replace(&format!(" {name}\n"), &format!(" {NAME}\n"))
}

fn generated(shell: Shell, mut command: Command, name: &str) -> String {
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

pub fn man(arguments: &cli::Man) -> Result<ExitCode, Error> {
    match &arguments.dir {
        Some(folder) => write(folder)?,
        None if arguments.markdown => print(&markdown()).map_err(Error::Print)?,
        None => print(&page()?).map_err(Error::Print)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The man page of the top-level command.
fn page() -> Result<String, Error> {
    let mut page = Vec::new();
    Man::new(command().disable_help_subcommand(true)).render(&mut page).map_err(Error::Print)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[derive(Debug, thiserror::Error)]
#[error("failed to write man pages to `{}`: {source}; choose a writable folder", .path.display())]
struct ManPagesError {
    path: PathBuf,
    source: io::Error,
}

impl CommandError for ManPagesError {}

fn write(folder: &Path) -> Result<(), ManPagesError> {
    let failed = |source| ManPagesError { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    generate_to(command(), folder).map_err(failed)
}

fn markdown() -> String {
    let options = MarkdownOptions::new().title("Commands".to_owned());
    let options = options.show_footer(false).show_table_of_contents(false);
    // Name the sections after the command as users type it.
    let command = command().display_name("cargo cobalt");
    let markdown = help_markdown_command_custom(&command, &options);
    // clap-markdown also puts the parent's name before a usage that is overridden, and puts all of its lines in backticks together.
    let markdown = markdown.replace("`cargo cobalt cargo cobalt ", "`cargo cobalt ");
    let markdown = markdown.replace("\n       cargo cobalt ", "` or `cargo cobalt ");
    format!("{}\n", markdown.trim_end())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_page_in_the_repository_is_what_the_flags_give() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("commands.md");
        let page = fs::read_to_string(path).unwrap();
        assert!(
            page == super::markdown(),
            "docs/commands.md is out of date: regenerate it with `cargo cobalt man --markdown > docs/commands.md`"
        );
    }
}
