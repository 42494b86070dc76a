//! The longest common subsequence and the alignment of two sequences, with bit-parallel operations on 64 table cells.
//!
//! A sequence is a list of [`ElementIds`]: equal elements have the same number, counted from 0.

use std::collections::HashMap;
use std::hash::Hash;

use super::word_errors::{Block, first_column, next_column, strip_common_ends};

/// An edit of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edit {
    /// Kept.
    Hit,
    /// Replaced by another.
    Substitution,
    /// Removed.
    Deletion,
    /// Added.
    Insertion,
}

/// Calls `each` with the minimal edits from `from` to `to`, in no particular order. All numbers are below `numbers`.
///
/// If there are several ways, uses the one found from the end, after removing the common prefix and suffix: a deletion before an insertion,
/// and a substitution before an insertion that is no better. Runs in time proportional to the product of both lengths, divided by 64.
pub fn align(from: &[usize], to: &[usize], numbers: usize, mut each: impl FnMut(Edit)) {
    let (rows, columns) = strip_common_ends(from, to);
    (rows.len()..from.len()).for_each(|_| each(Edit::Hit));
    let (mut row, mut column) = (rows.len(), columns.len());
    if row > 0 && column > 0 {
        let places = RowIndex::of_rows(rows, numbers);
        let mut table =
            CheckpointedColumns::new(first_column(&places), columns.len(), |index, column: &mut [Block]| {
                next_column(column, places.of(columns[index]));
            });
        while row > 0 && column > 0 {
            if table.get(column - 1)[(row - 1) / ROWS].rises_at(row - 1) {
                row -= 1;
                each(Edit::Deletion);
                continue;
            }
            column -= 1;
            if column > 0 && table.get(column - 1)[(row - 1) / ROWS].falls_at(row - 1) {
                each(Edit::Insertion);
            } else {
                row -= 1;
                each(if rows[row] == columns[column] { Edit::Hit } else { Edit::Substitution });
            }
        }
    }
    (0..row).for_each(|_| each(Edit::Deletion));
    (0..column).for_each(|_| each(Edit::Insertion));
}

/// The minimum number of cells to keep before columns are recomputed.
const MIN_CELLS: usize = 1 << 14;

/// Columns of cells of type `C`, each computed from the previous one by `advance`.
///
/// Keeps one block of columns, and the column before each block. With blocks as long as the square root of their number, a long table needs
/// little memory, and each column is computed at most twice.
pub struct CheckpointedColumns<C, F> {
    columns: usize,
    /// The number of cells per column.
    cells: usize,
    /// The number of columns per block.
    length: usize,
    /// The column before each block.
    starts: Vec<C>,
    /// The columns of the current block.
    held: Vec<C>,
    stretch: usize,
    advance: F,
}

impl<C: Clone, F: FnMut(usize, &mut [C])> CheckpointedColumns<C, F> {
    /// `columns` columns after `start`. `advance` computes the column with an index, counted from 0, from the previous one.
    pub fn new(start: Vec<C>, columns: usize, mut advance: F) -> Self {
        let cells = start.len();
        let length = columns.isqrt().max(MIN_CELLS / cells.max(1)).max(1);
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
        table.load_block(last);
        table
    }

    /// The column with this index, which must not be above the previously requested ones.
    pub fn get(&mut self, index: usize) -> &[C] {
        let stretch = index / self.length;
        if stretch != self.stretch {
            self.load_block(stretch);
        }
        &self.held[index % self.length * self.cells..][..self.cells]
    }

    fn load_block(&mut self, stretch: usize) {
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

/// Characters below this are their own number.
const ASCII: usize = 128;

/// Assigns numbers to elements of type `T`, in order of appearance.
pub struct ElementIds<T> {
    known: HashMap<T, usize>,
    first: usize,
}

impl<T: Eq + Hash> ElementIds<T> {
    /// Numbers from 0 on.
    pub fn new() -> Self {
        Self { known: HashMap::new(), first: 0 }
    }

    pub fn of(&mut self, part: T) -> usize {
        let next = self.first + self.known.len();
        *self.known.entry(part).or_insert(next)
    }

    /// The count of assigned numbers; each number is below it.
    pub fn count(&self) -> usize {
        self.first + self.known.len()
    }
}

impl ElementIds<char> {
    /// The characters of two texts as numbers, and the count of numbers. ASCII needs no look-up.
    pub fn of_letters(texts: [&str; 2]) -> ([Vec<usize>; 2], usize) {
        let mut numbers = Self { known: HashMap::new(), first: ASCII };
        let sequences = texts.map(|text| {
            let number = |letter: char| if letter.is_ascii() { letter as usize } else { numbers.of(letter) };
            text.chars().map(number).collect()
        });
        (sequences, numbers.count())
    }
}

/// The number of table rows per block.
pub const ROWS: usize = u64::BITS as usize;

/// Marks that no further entry follows.
const NO_ENTRY: usize = usize::MAX;

/// The rows in which each number occurs.
pub struct RowIndex {
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

impl RowIndex {
    /// For numbers below `numbers`, with no rows yet.
    pub fn new(numbers: usize) -> Self {
        Self { first: vec![NO_ENTRY; numbers], entries: Vec::new(), rows: Vec::new() }
    }

    /// The positions of the numbers in `rows`.
    pub fn of_rows(rows: &[usize], numbers: usize) -> Self {
        let mut places = Self::new(numbers);
        places.set_rows(rows);
        places
    }

    /// Replaces the rows.
    pub fn set_rows(&mut self, rows: &[usize]) {
        for number in self.rows.drain(..) {
            self.first[number] = NO_ENTRY;
        }
        self.entries.clear();
        // Backwards, because an entry is inserted before the others of its number.
        for (row, number) in rows.iter().enumerate().rev() {
            let block = row / ROWS;
            let first = self.first[*number];
            if first == NO_ENTRY || self.entries[first].block != block {
                self.first[*number] = self.entries.len();
                self.entries.push(Entry { block, rows: 0, next: first });
            }
            self.entries[self.first[*number]].rows |= 1 << (row % ROWS);
        }
        self.rows.extend_from_slice(rows);
    }

    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    pub fn blocks(&self) -> usize {
        self.rows.len().div_ceil(ROWS)
    }

    /// The rows of a number, block by block.
    pub fn of(&self, number: usize) -> impl Iterator<Item = u64> {
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

/// The length of the longest common subsequence. All numbers are below `numbers`. Runs in time proportional to the product of both lengths,
/// divided by 64.
pub fn common_subsequence_length(a: &[usize], b: &[usize], numbers: usize) -> usize {
    let (rows, columns) = strip_common_ends(a, b);
    let ends = a.len() - rows.len();
    if rows.is_empty() || columns.is_empty() {
        return ends;
    }
    let places = RowIndex::of_rows(rows, numbers);
    let mut column = start_bits(&places);
    for number in columns {
        advance_bits(&mut column, places.of(*number));
    }
    ends + column.iter().map(|block| block.count_zeros() as usize).sum::<usize>()
}

/// Finds the positions of a sequence that are in a longest common subsequence with others.
pub struct SubsequenceMarker {
    places: RowIndex,
}

impl SubsequenceMarker {
    /// For numbers below `numbers`.
    pub fn new(numbers: usize) -> Self {
        Self { places: RowIndex::new(numbers) }
    }

    /// Sets the sequence to compare with the others.
    pub fn set(&mut self, sequence: &[usize]) {
        self.places.set_rows(sequence);
    }

    /// Marks the positions of a longest common subsequence with `other`. If there are several, uses the one found from the end, skipping
    /// elements of `other` before those of the sequence.
    pub fn mark(&self, other: &[usize], marks: &mut [bool]) {
        let places = &self.places;
        let rows = places.rows();
        let mut columns = CheckpointedColumns::new(start_bits(places), other.len(), |index, column| {
            advance_bits(column, places.of(other[index]))
        });
        let (mut row, mut column) = (rows.len(), other.len());
        while row > 0 && column > 0 {
            if rows[row - 1] == other[column - 1] {
                (row, column) = (row - 1, column - 1);
                marks[row] = true;
            } else if grows(columns.get(column - 1), row - 1) {
                column -= 1;
            } else {
                row -= 1;
            }
        }
    }
}

/// The column before the first: the length grows in none of its rows. A row in which it grows by 1 has a 0.
fn start_bits(places: &RowIndex) -> Vec<u64> {
    vec![u64::MAX; places.blocks()]
}

/// Advances to the next column, in which `same` are the rows with its number.
#[inline]
fn advance_bits(column: &mut [u64], same: impl Iterator<Item = u64>) {
    let mut carry = false;
    for (block, same) in column.iter_mut().zip(same) {
        let same = *block & same;
        let (sum, over) = block.overflowing_add(same);
        let (sum, carried_over) = sum.overflowing_add(u64::from(carry));
        carry = over || carried_over;
        *block = sum | (*block & !same);
    }
}

/// Whether the length grows in a row of a column.
fn grows(column: &[u64], row: usize) -> bool {
    column[row / ROWS] & 1 << (row % ROWS) == 0
}

#[cfg(test)]
mod tests {
    use super::super::word_errors::edit_distance;
    use super::*;

    #[test]
    fn the_edits_are_as_few_as_the_distance_and_make_one_length_of_the_other() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..600 {
            let numbers = 2 + round % 7;
            let mut sequence = |most: usize| -> Vec<usize> {
                (0..random.usize(0..most)).map(|_| random.usize(0..numbers)).collect()
            };
            let (from, to) = (sequence(1 + round % 200), sequence(1 + round % 150));
            let mut edits = Vec::new();
            align(&from, &to, numbers, |edit| edits.push(edit));
            let count = |edit| edits.iter().filter(|other| **other == edit).count();
            let (hits, substitutions) = (count(Edit::Hit), count(Edit::Substitution));
            let (deletions, insertions) = (count(Edit::Deletion), count(Edit::Insertion));
            assert_eq!(substitutions + deletions + insertions, edit_distance(&from, &to, numbers));
            assert_eq!(hits + substitutions + deletions, from.len());
            assert_eq!(hits + substitutions + insertions, to.len());
        }
    }

    #[test]
    fn a_column_made_again_is_what_it_was() {
        let cells = 5_000;
        let made = std::cell::Cell::new(0);
        let mut columns = CheckpointedColumns::new(vec![1_u64; cells], 1_000, |index, column| {
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

    /// The textbook algorithm: lengths row by row, then positions by backtracking.
    fn plainly(a: &[usize], b: &[usize]) -> (usize, Vec<bool>) {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (row, number) in a.iter().enumerate() {
            for (column, other) in b.iter().enumerate() {
                table[row + 1][column + 1] = match number == other {
                    true => table[row][column] + 1,
                    false => table[row][column + 1].max(table[row + 1][column]),
                };
            }
        }
        let mut marks = vec![false; a.len()];
        let (mut row, mut column) = (a.len(), b.len());
        while row > 0 && column > 0 {
            if a[row - 1] == b[column - 1] {
                (row, column) = (row - 1, column - 1);
                marks[row] = true;
            } else if table[row][column - 1] > table[row - 1][column] {
                column -= 1;
            } else {
                row -= 1;
            }
        }
        (table[a.len()][b.len()], marks)
    }

    #[test]
    fn sequences_of_all_lengths_have_the_subsequence_of_the_textbook() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..600 {
            let numbers = 2 + round % 7;
            let mut sequence = |most: usize| -> Vec<usize> {
                (0..random.usize(0..most)).map(|_| random.usize(0..numbers)).collect()
            };
            let (a, b) = (sequence(1 + round % 200), sequence(1 + round % 150));
            let (length, places) = plainly(&a, &b);
            assert_eq!(common_subsequence_length(&a, &b, numbers), length, "{a:?} {b:?}");
            let mut subsequences = SubsequenceMarker::new(numbers);
            subsequences.set(&b);
            subsequences.set(&a);
            let mut marks = vec![false; a.len()];
            subsequences.mark(&b, &mut marks);
            assert_eq!(marks, places, "{a:?} {b:?}");
        }
    }
}
