//! Where something is in a text, as people count: lines and columns from 1.

/// The line and, in characters, the column of the byte `at`. A byte order mark takes no column.
#[must_use]
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start_of_line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let characters = before[start_of_line..].chars().filter(|character| *character != '\u{feff}');
    (1 + before.matches('\n').count(), 1 + characters.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_are_counted_from_one() {
        let text = "\u{feff}é = 1\r\n\nb = 2";
        let place = |part| line_and_column(text, text.find(part).unwrap());
        assert_eq!([place("é"), place("1"), place("b"), place("2")], [(1, 1), (1, 5), (3, 1), (3, 5)]);
        assert_eq!(line_and_column(text, usize::MAX), (3, 6), "the end");
    }
}
