//! The part of a file that is ours, between two marks: it is replaced or added, and nothing else is touched.

use super::error::Fault;

/// The line before our part.
pub(super) const BEGIN: &str = "<!-- cobalt:begin -->";
/// The line after it.
pub(super) const END: &str = "<!-- cobalt:end -->";

/// The text with this content between the marks; a text without marks gets them at its end.
///
/// # Errors
///
/// If the marks are no pair: the line, from 1, and what is wrong with it.
pub(super) fn with_part(text: &str, content: &str) -> Result<String, (usize, Fault)> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let content = content.trim_end().lines().map(|line| format!("{line}{line_end}")).collect::<String>();
    if let Some((begin, end)) = part(text)? {
        return Ok(format!("{}{content}{}", &text[..begin], &text[end..]));
    }
    let gap = match text {
        _ if text.trim_start_matches('\u{feff}').is_empty() => String::new(),
        _ if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    Ok(format!("{text}{gap}{BEGIN}{line_end}{content}{END}{line_end}"))
}

/// Where our part begins and ends, without its marks, in bytes.
fn part(text: &str) -> Result<Option<(usize, usize)>, (usize, Fault)> {
    let mut begin: Option<(usize, usize)> = None;
    let mut found = None;
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let after = start + line.len();
        match line.trim_start_matches('\u{feff}').trim() {
            BEGIN if begin.is_some() || found.is_some() => return Err((number, Fault::Twice)),
            BEGIN => begin = Some((number, after)),
            END => found = Some((begin.take().ok_or((number, Fault::NoBegin))?.1, start)),
            _ => {}
        }
        start = after;
    }
    match begin {
        Some((number, _)) => Err((number, Fault::NoEnd)),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, content: &str) -> String {
        with_part(text, content).unwrap()
    }

    #[test]
    fn a_part_is_added_after_an_empty_line_and_then_replaced_where_it_stands() {
        let first = put("# Ours\n", "old\n");
        assert_eq!(first, format!("# Ours\n\n{BEGIN}\nold\n{END}\n"));
        let moved = format!("{first}\nMore of ours.");
        let second = put(&moved, "new\nlonger\n");
        assert_eq!(second, format!("# Ours\n\n{BEGIN}\nnew\nlonger\n{END}\n\nMore of ours."));
        assert_eq!(put(&second, "new\nlonger\n"), second, "and then it stays");
    }

    #[test]
    fn a_text_without_an_end_of_line_or_without_anything_gets_the_part_too() {
        assert_eq!(put("last", "x"), format!("last\n\n{BEGIN}\nx\n{END}\n"));
        assert_eq!(put("", "x"), format!("{BEGIN}\nx\n{END}\n"));
    }

    #[test]
    fn ends_of_lines_and_a_byte_order_mark_are_kept() {
        let text = put("\u{feff}# Ours\r\nsecond\nthird\r\n", "a\nb\n");
        assert_eq!(text, format!("\u{feff}# Ours\r\nsecond\nthird\r\n\r\n{BEGIN}\r\na\r\nb\r\n{END}\r\n"));
        assert_eq!(put(&text, "a\nb\n"), text);
        let only = format!("\u{feff}{BEGIN}\nold\n{END}");
        assert_eq!(put(&only, "new"), format!("\u{feff}{BEGIN}\nnew\n{END}"));
    }

    #[test]
    fn marks_that_are_no_pair_are_refused_with_their_line() {
        let fault = |text: String| with_part(&text, "x").unwrap_err();
        assert_eq!(fault(format!("a\n{BEGIN}\nb\n")), (2, Fault::NoEnd));
        assert_eq!(fault(format!("a\nb\n  {END}\r\n")), (3, Fault::NoBegin));
        assert_eq!(fault(format!("{BEGIN}\n{BEGIN}\n{END}\n")), (2, Fault::Twice));
        assert_eq!(fault(format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n")), (3, Fault::Twice));
        assert_eq!(fault(format!("{BEGIN}\n{END}\n{END}\n")), (3, Fault::NoBegin));
    }

    #[test]
    fn a_text_that_speaks_of_the_marks_has_none() {
        let text = format!("We use `{BEGIN}` here.\n");
        assert!(put(&text, "x").starts_with(&format!("{text}\n{BEGIN}\n")));
    }
}
