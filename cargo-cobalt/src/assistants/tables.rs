//! Tables of the documentation, as they can be read without its links.

/// The tables of a section of a page, with no more than the first columns.
pub(super) fn tables(page: &str, heading: &str, columns: usize) -> String {
    let is_heading = |line: &&str| line.starts_with('#');
    let is_it = |line: &&str| line.trim_start_matches('#').trim() == heading && is_heading(line);
    let section = page.lines().skip_while(|line| !is_it(line)).skip(1).take_while(|line| !is_heading(line));
    let mut text = String::new();
    for line in section {
        match line.starts_with('|') {
            true => text.push_str(&row(line, columns)),
            // An empty line sets two tables apart.
            false if text.ends_with("|\n") => text.push('\n'),
            false => {}
        }
    }
    text
}

fn row(line: &str, columns: usize) -> String {
    let separator = if line.contains(" | ") { " | " } else { "|" };
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    let cells: Vec<_> = inner.split(separator).take(columns).map(|cell| without_links(cell.trim())).collect();
    format!("|{}|\n", cells.join("|"))
}

/// The text of links in place of the links; a hint at another place of the page is left out.
fn without_links(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some((before, link)) = rest.split_once('[') {
        // In code there are no links.
        let is_code = before.matches('`').count() % 2 == 1 || text.matches('`').count() % 2 == 1;
        let parts = if is_code { None } else { link.split_once(']') };
        let Some((words, after)) = parts else {
            text.push_str(before);
            text.push('[');
            rest = link;
            continue;
        };
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
        match before.strip_suffix(", see ") {
            Some(before) => text.push_str(before),
            None => {
                text.push_str(before);
                text.push_str(words);
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_leave_their_words() {
        for (cell, expected) in [
            ("[`A`](crate::A), [`b`](crate::A::b)", "`A`, `b`"),
            ("the item, as [`Item`] or any type", "the item, as `Item` or any type"),
            ("a list, see [below](#reporters)", "a list"),
            ("a table, see [below](#a), or none", "a table, or none"),
            ("`*`, `?` and `[…]` match, as [here](x) `c[0]`", "`*`, `?` and `[…]` match, as here `c[0]`"),
        ] {
            assert_eq!(without_links(cell), expected);
        }
    }

    #[test]
    fn tables_of_a_section_are_cut_to_their_first_columns() {
        let page = "# A\n| no |\n\n## B\n\nwords\n\n| x | y | z |\n|---|---|---|\n| 1 | 2 | 3 |\n\n| v | w |\n|---|---|\n\n# C\n| no |\n";
        assert_eq!(tables(page, "B", 2), "|x|y|\n|---|---|\n|1|2|\n\n|v|w|\n|---|---|\n\n");
        assert_eq!(tables(page, "None", 2), "");
    }
}
