//! Where something is in a text, as people count: lines and columns from 1.

/// The line and, in characters, the column of the byte `at`. A byte order mark takes no column.
#[must_use]
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    Cursor::new(text).go_to(at)
}

/// A place in a text that only moves on, so that many places are found in one pass.
#[derive(Debug)]
pub(crate) struct Cursor<'t> {
    /// What is behind the place.
    rest: &'t str,
    /// How many bytes are before it.
    at: usize,
    line: usize,
    column: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { rest: text, at: 0, line: 1, column: 1 }
    }

    /// The line and the column of the byte `at`, which must not be before those that were asked for.
    pub(crate) fn go_to(&mut self, at: usize) -> (usize, usize) {
        let (passed, rest) =
            self.rest.split_at_checked(at.saturating_sub(self.at)).unwrap_or((self.rest, ""));
        for character in passed.chars() {
            match character {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                '\u{feff}' => {}
                _ => self.column += 1,
            }
        }
        (self.rest, self.at) = (rest, self.at + passed.len());
        (self.line, self.column)
    }
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
        let mut cursor = Cursor::new(text);
        let place = |part| cursor.go_to(text.find(part).unwrap());
        assert_eq!(["é", "1", "b", "b", "2"].map(place), [(1, 1), (1, 5), (3, 1), (3, 1), (3, 5)]);
    }
}
