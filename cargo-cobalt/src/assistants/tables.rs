//! Tables of the documentation, as they can be read without its links.

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

/// The tables of a section of a page, with no more than the first columns.
pub(super) fn tables(page: &str, heading: &str, columns: usize) -> String {
    let mut section = Section { heading, columns, ..Section::default() };
    // The page's links are to documentation, not to anything that it defines itself.
    let define = |_: BrokenLink<'_>| Some((CowStr::from(""), CowStr::from("")));
    for event in Parser::new_with_broken_link_callback(page, Options::ENABLE_TABLES, Some(define)) {
        section.hear(event);
    }
    section.text
}

/// The tables of one section, while the page is read.
#[derive(Default)]
struct Section<'a> {
    heading: &'a str,
    columns: usize,
    is_here: bool,
    /// The text of a heading or of a cell, while it is read.
    words: String,
    cells: Vec<String>,
    /// Where the name of another place to see begins, which there is none of here.
    hint: Option<usize>,
    text: String,
}

impl Section<'_> {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::TableCell) => self.words.clear(),
            Event::End(TagEnd::Heading(_)) => self.is_here = self.words == self.heading,
            Event::Start(Tag::Link { .. }) if self.words.ends_with("see ") => {
                self.hint = Some(self.words.len());
            }
            Event::End(TagEnd::Link) => self.leave_hint_out(),
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

    fn leave_hint_out(&mut self) {
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
