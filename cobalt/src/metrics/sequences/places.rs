//! At which rows of a table each number stands, a bit for each, 64 rows to a block. Takes room in proportion to the rows.

/// How many rows of the table one block holds.
pub(super) const ROWS: usize = u64::BITS as usize;

/// Stands where no further entry follows.
const NONE: usize = usize::MAX;

/// The rows of each number.
pub(super) struct Places {
    /// The first entry of each number.
    first: Vec<usize>,
    entries: Vec<Entry>,
    rows: Vec<usize>,
}

/// The rows of a number in one block, and the entry for its next block.
struct Entry {
    block: usize,
    rows: u64,
    next: usize,
}

impl Places {
    /// For numbers below `numbers`, with no rows yet.
    pub(super) fn new(numbers: usize) -> Self {
        Self { first: vec![NONE; numbers], entries: Vec::new(), rows: Vec::new() }
    }

    /// The places of the numbers in `rows`.
    pub(super) fn of_rows(rows: &[usize], numbers: usize) -> Self {
        let mut places = Self::new(numbers);
        places.set_rows(rows);
        places
    }

    /// Puts these rows in place of those before.
    pub(super) fn set_rows(&mut self, rows: &[usize]) {
        for number in self.rows.drain(..) {
            self.first[number] = NONE;
        }
        self.entries.clear();
        // From the last row to the first, as an entry is put before the others of its number.
        for (row, number) in rows.iter().enumerate().rev() {
            let block = row / ROWS;
            let first = self.first[*number];
            if first == NONE || self.entries[first].block != block {
                self.first[*number] = self.entries.len();
                self.entries.push(Entry { block, rows: 0, next: first });
            }
            self.entries[self.first[*number]].rows |= 1 << (row % ROWS);
        }
        self.rows.extend_from_slice(rows);
    }

    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    pub(super) fn blocks(&self) -> usize {
        self.rows.len().div_ceil(ROWS)
    }

    /// The rows of a number, block by block.
    pub(super) fn of(&self, number: usize) -> impl Iterator<Item = u64> {
        let mut next = self.first[number];
        (0..).map(move |block| match self.entries.get(next) {
            Some(entry) if entry.block == block => {
                next = entry.next;
                entry.rows
            }
            _ => 0,
        })
    }
}
