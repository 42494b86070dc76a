//! The text of `.cobalt/SKILLS.md`: a template, filled with tables from the documentation and the command-line definition.

use std::fmt::Write;

use clap::{Arg, Command};
use cobalt::command::pages::{CATALOGUE, CONFIGURATION, EVALUATOR, EXPERIMENT, FILES};
use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

use crate::reference;

/// The template; a line such as `@commands` is a placeholder. Its code blocks are compiled as doc tests of `cobalt-e2e`.
const PAGE: &str = include_str!("skills.md");

/// The part added to instruction files such as `CLAUDE.md`.
pub const REFERENCE: &str = "\
## Experiments

This project evaluates its agents with Cobalt experiments: `cargo cobalt run`. Before you write, run or change an experiment, or
change an agent's behaviour, read [.cobalt/SKILLS.md](/.cobalt/SKILLS.md).
";

pub fn text() -> String {
    let mut text = String::with_capacity(2 * PAGE.len());
    for line in PAGE.lines() {
        match line.strip_prefix('@') {
            Some(name) => text.push_str(&placeholder_text(name)),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// The sections of the page on writing experiments.
pub fn experiment_guide() -> String {
    let text = text();
    let wanted = ["An experiment", "Evaluators", "Thresholds"];
    let sections =
        text.split("\n## ").filter(|section| section.lines().next().is_some_and(|it| wanted.contains(&it)));
    sections.map(|section| format!("## {section}\n")).collect()
}

/// The text for a placeholder; empty for an unknown name, which a test checks for.
fn placeholder_text(name: &str) -> String {
    let text = match name {
        "commands" => commands(),
        "run" => flags("run"),
        "parameters" => tables(EXPERIMENT, "The function", 2),
        "settings" => tables(EXPERIMENT, "Settings", 3),
        "thresholds" => tables(EXPERIMENT, "Thresholds", 4),
        "against-a-baseline" => tables(EXPERIMENT, "Against a baseline", 3),
        "evaluator-parameters" => tables(EVALUATOR, "Parameters", 2),
        "rules" => tables(CATALOGUE, "Custom evaluators", 4),
        "texts" => tables(CATALOGUE, "Text", 4),
        "calls" => tables(CATALOGUE, "Tool calls", 3),
        "judges" => tables(CATALOGUE, "Judges", 4),
        "configuration" => tables(CONFIGURATION, "Keys", 4),
        "summary" => tables(FILES, "`summary.scores.<evaluator>`", 3),
        _ => String::new(),
    };
    text.trim_end().to_owned()
}

/// Commands for setting up a shell.
const FOR_SHELLS: [&str; 2] = ["completions", "man"];

/// A table of all commands except [`FOR_SHELLS`].
fn commands() -> String {
    let mut text = String::from("| command | what it does |\n|---|---|\n");
    let mut add = |name: &str, command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `{name}` | {about} |");
    };
    let root = reference::command();
    for command in root.get_subcommands().filter(|command| !FOR_SHELLS.contains(&command.get_name())) {
        let name = format!("cargo cobalt {}", command.get_name());
        match command.has_subcommands() {
            true => {
                for below in command.get_subcommands() {
                    add(&format!("{name} {}", below.get_name()), below);
                }
            }
            false => add(&name, command),
        }
    }
    text
}

/// A command's arguments, without cargo's own.
fn flags(name: &str) -> String {
    let root = reference::command();
    let arguments = root.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
    arguments.filter(|argument| argument.get_help_heading().is_none()).map(flag).collect()
}

fn flag(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let value = value.filter(|_| argument.get_action().takes_values());
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let written = match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) if argument.is_last_set() => format!("-- {}", value.unwrap_or_default()),
        (None, value) => value.unwrap_or_default(),
    };
    format!("- `{written}`: {help}\n")
}

/// The tables in a section of a page, cut to the first columns.
pub fn tables(page: &str, heading: &str, columns: usize) -> String {
    let mut section = SectionTables { heading, columns, ..SectionTables::default() };
    // Links such as [`Item`] are resolved by rustdoc, not by the page.
    let define = |_: BrokenLink<'_>| Some((CowStr::from(""), CowStr::from("")));
    for event in Parser::new_with_broken_link_callback(page, Options::ENABLE_TABLES, Some(define)) {
        section.on_event(event);
    }
    section.text
}

/// Collects the tables of one section.
#[derive(Default)]
struct SectionTables<'a> {
    heading: &'a str,
    columns: usize,
    is_here: bool,
    /// The text of the current heading or cell.
    words: String,
    cells: Vec<String>,
    /// Where the target of a "see …" hint starts; the target is not part of this page.
    hint: Option<usize>,
    text: String,
}

impl SectionTables<'_> {
    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::TableCell) => self.words.clear(),
            Event::End(TagEnd::Heading(_)) => self.is_here = self.words == self.heading,
            Event::Start(Tag::Link { .. }) if self.words.ends_with("see ") => {
                self.hint = Some(self.words.len());
            }
            Event::End(TagEnd::Link) => self.drop_hint(),
            Event::Text(text) => self.words.push_str(&text),
            Event::Code(code) => self.words.push_str(&format!("`{}`", code.replace('|', "\\|"))),
            Event::End(TagEnd::TableCell) => self.cells.push(std::mem::take(&mut self.words)),
            Event::End(TagEnd::TableHead) => {
                let columns = self.columns.min(self.cells.len());
                self.end_row();
                self.add(&format!("|{}\n", "---|".repeat(columns)));
            }
            Event::End(TagEnd::TableRow) => self.end_row(),
            Event::End(TagEnd::Table) => self.add("\n"),
            _ => {}
        }
    }

    fn drop_hint(&mut self) {
        if let Some(start) = self.hint.take() {
            let before = self.words[..start].trim_end_matches("see ");
            let length = before.trim_end_matches(", ").len();
            self.words.truncate(length);
        }
    }

    fn end_row(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        cells.truncate(self.columns);
        self.add(&format!("|{}|\n", cells.join("|")));
    }

    fn add(&mut self, text: &str) {
        if self.is_here {
            self.text.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_of_the_page_is_filled() {
        for name in PAGE.lines().filter_map(|line| line.strip_prefix('@')) {
            assert!(placeholder_text(name).lines().count() > 2, "{name}: {}", placeholder_text(name));
        }
    }

    #[test]
    fn how_experiments_are_written_is_a_part_of_the_page() {
        let text = experiment_guide();
        for part in [
            "## An experiment\n",
            "#[cobalt::experiment(",
            "## Evaluators\n",
            "LlmJudge",
            "## Thresholds\n",
            "pass_rate",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("## Commands"));
    }

    #[test]
    fn the_text_is_short_enough_to_be_read_as_a_whole() {
        let text = text();
        assert!(text.len() < 30_000, "{} bytes", text.len());
        for left_over in ["](crate::", "](macro@", "\n@", "see [below]", "see `"] {
            assert!(!text.contains(left_over), "{left_over}");
        }
    }

    #[test]
    fn commands_and_flags_come_from_the_command_line_definition() {
        let text = text();
        for part in ["| `cargo cobalt baseline set` |", "| `cargo cobalt update` |", "- `--rerun-failed`: "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("--no-default-features"), "cargo's own flags are left out");
    }

    fn cell(cell: &str) -> String {
        let text = tables(&format!("# A\n\n| x |\n|---|\n| {cell} |\n"), "A", 1);
        text.lines().nth(2).unwrap().trim_matches('|').to_owned()
    }

    #[test]
    fn links_leave_their_words() {
        for (written, expected) in [
            ("[`A`](crate::A), [`b`](crate::A::b)", "`A`, `b`"),
            ("the item, as [`Item`] or any type", "the item, as `Item` or any type"),
            ("[`#[cobalt::evaluator]`](macro@crate::evaluator)", "`#[cobalt::evaluator]`"),
            ("`*`, `?` and `[…]` match, as [here](x) `c[0]`", "`*`, `?` and `[…]` match, as here `c[0]`"),
        ] {
            assert_eq!(cell(written), expected);
        }
    }

    #[test]
    fn hints_at_other_places_are_left_out() {
        assert_eq!(cell("a list, see [below](#reporters)"), "a list");
        assert_eq!(cell("a table, see [below](#a), or none"), "a table, or none");
        assert_eq!(cell("see [below](#models)"), "");
        assert_eq!(cell("a folder, see [`store`](crate::store)"), "a folder");
    }

    #[test]
    fn tables_of_a_section_are_cut_to_their_first_columns() {
        let page = "# A\n\n| no |\n|---|\n\n## `B`\n\nwords\n\n| x | y | z |\n|---|---|---|\n| 1 | | 3 |\n\n| v | w |\n|---|---|\n\n# C\n\n| no |\n|---|\n";
        assert_eq!(tables(page, "`B`", 2), "|x|y|\n|---|---|\n|1||\n\n|v|w|\n|---|---|\n\n");
        assert_eq!(tables(page, "None", 2), "");
    }
}
