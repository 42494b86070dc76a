//! The longest common subsequence of two sequences, 64 cells of the table at a time (Crochemore and others 2001; Hyyrö 2004).

use super::columns::Columns;
use super::edit_distance::without_common_ends;
use super::places::{Places, ROWS};

/// The length of the longest common subsequence. All numbers are below `numbers`. Takes time in proportion to the product of
/// both lengths, divided by 64.
pub(crate) fn common_length(a: &[usize], b: &[usize], numbers: usize) -> usize {
    let (rows, columns) = without_common_ends(a, b);
    let ends = a.len() - rows.len();
    if rows.is_empty() || columns.is_empty() {
        return ends;
    }
    let places = Places::of_rows(rows, numbers);
    let mut column = start(&places);
    for number in columns {
        advance(&mut column, places.of(*number));
    }
    ends + column.iter().map(|block| block.count_zeros() as usize).sum::<usize>()
}

/// Which places of a sequence are in a longest common subsequence with others.
pub(crate) struct Subsequences {
    places: Places,
}

impl Subsequences {
    /// For numbers below `numbers`.
    pub(crate) fn new(numbers: usize) -> Self {
        Self { places: Places::new(numbers) }
    }

    /// Sets the sequence to compare with the others.
    pub(crate) fn set(&mut self, sequence: &[usize]) {
        self.places.set_rows(sequence);
    }

    /// Marks the places of one longest common subsequence with `other`: of several, the one that is found from the end, where
    /// what `other` alone has is left out before what the sequence alone has.
    pub(crate) fn mark(&self, other: &[usize], marks: &mut [bool]) {
        let places = &self.places;
        let rows = places.rows();
        let mut columns = Columns::new(start(places), other.len(), |index, column| {
            advance(column, places.of(other[index]))
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
fn start(places: &Places) -> Vec<u64> {
    vec![u64::MAX; places.blocks()]
}

/// Goes on to the next column, in which `same` are the rows with its number.
#[inline]
fn advance(column: &mut [u64], same: impl Iterator<Item = u64>) {
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
    use super::*;

    /// Lengths row by row, as in the textbook, and the places found from the end.
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
            assert_eq!(common_length(&a, &b, numbers), length, "{a:?} {b:?}");
            let mut subsequences = Subsequences::new(numbers);
            subsequences.set(&b);
            subsequences.set(&a);
            let mut marks = vec![false; a.len()];
            subsequences.mark(&b, &mut marks);
            assert_eq!(marks, places, "{a:?} {b:?}");
        }
    }
}
