//! The columns of a table, asked for from the last to the first.

/// How many cells are held at least, before any column is made twice.
const HELD: usize = 1 << 14;

/// Columns of cells of type `C`, each made of the one before by `advance`.
///
/// Holds a stretch of them, and the column before each stretch: with stretches as long as the square root of their number,
/// a long table takes little room, and each column is made at most twice.
pub(super) struct Columns<C, F> {
    columns: usize,
    /// The cells of a column.
    cells: usize,
    /// The columns of a stretch.
    length: usize,
    /// The column before each stretch.
    starts: Vec<C>,
    /// The columns of the stretch that is held.
    held: Vec<C>,
    stretch: usize,
    advance: F,
}

impl<C: Clone, F: FnMut(usize, &mut [C])> Columns<C, F> {
    /// `columns` columns that follow on `start`. `advance` makes the column of an index, counted from 0, of the one before.
    pub(super) fn new(start: Vec<C>, columns: usize, mut advance: F) -> Self {
        let cells = start.len();
        let length = columns.isqrt().max(HELD / cells.max(1)).max(1);
        let last = columns.saturating_sub(1) / length;
        let mut starts = Vec::with_capacity((last + 1) * cells);
        let mut column = start;
        for index in 0..last * length {
            if index % length == 0 {
                starts.extend_from_slice(&column);
            }
            advance(index, &mut column);
        }
        starts.extend(column);
        let mut table = Self { columns, cells, length, starts, held: Vec::new(), stretch: last, advance };
        table.hold(last);
        table
    }

    /// The column of an index, which is not above those asked for before.
    pub(super) fn get(&mut self, index: usize) -> &[C] {
        let stretch = index / self.length;
        if stretch != self.stretch {
            self.hold(stretch);
        }
        &self.held[index % self.length * self.cells..][..self.cells]
    }

    fn hold(&mut self, stretch: usize) {
        let first = stretch * self.length;
        self.stretch = stretch;
        self.held.clear();
        for index in first..self.columns.min(first + self.length) {
            let end = self.held.len();
            if index == first {
                self.held.extend_from_slice(&self.starts[stretch * self.cells..][..self.cells]);
            } else {
                self.held.extend_from_within(end - self.cells..);
            }
            (self.advance)(index, &mut self.held[end..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_made_again_is_what_it_was() {
        let cells = 5_000;
        let made = std::cell::Cell::new(0);
        let mut columns = Columns::new(vec![1_u64; cells], 1_000, |index, column| {
            made.set(made.get() + 1);
            column[7] = column[7].wrapping_mul(31) + index as u64;
        });
        let mut expected = vec![1_u64];
        (0..1_000).for_each(|index| expected.push(expected[index].wrapping_mul(31) + index as u64));
        for index in (0..1_000).rev() {
            assert_eq!(columns.get(index)[7], expected[index + 1], "{index}");
        }
        assert!(made.get() <= 2_000 && columns.held.len() + columns.starts.len() < 80 * cells);
    }
}
