//! The command reference as Markdown: what `docs/commands.md` holds.

use clap_markdown::{MarkdownOptions, help_markdown_command_custom};

use super::command;

pub(super) fn text() -> String {
    let options = MarkdownOptions::new().title("The commands".to_owned());
    let options = options.show_footer(false).show_table_of_contents(false);
    // Its sections are named after what is typed.
    let command = command().display_name("cargo cobalt");
    let text = help_markdown_command_custom(&command, &options);
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_in_the_repository_is_what_the_flags_give() {
        let page = include_str!("../../../docs/commands.md");
        assert!(
            page == super::text(),
            "docs/commands.md is out of date: `cargo cobalt man --markdown > docs/commands.md` writes it anew"
        );
    }
}
