//! Which parts of two sequences stand for each other, where as few as can be are changed.

use super::columns::Columns;
use super::edit_distance::{Block, advance, start, without_common_ends};
use super::places::{Places, ROWS};

/// What is done with a part to make one sequence of the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Edit {
    /// Kept.
    Hit,
    /// Another one put in its place.
    Substitution,
    /// Left out.
    Deletion,
    /// Put in.
    Insertion,
}

/// Gives the edits that make `to` of `from`, in no particular order, as few as can be. All numbers are below `numbers`.
///
/// Where there are several ways, takes the one that is found from the end, once the common start and end are set apart: a
/// deletion before an insertion, and a substitution before an insertion that is no better. Takes time in proportion to the
/// product of both lengths, divided by 64.
pub(crate) fn align(from: &[usize], to: &[usize], numbers: usize, mut each: impl FnMut(Edit)) {
    let (rows, columns) = without_common_ends(from, to);
    (rows.len()..from.len()).for_each(|_| each(Edit::Hit));
    let (mut row, mut column) = (rows.len(), columns.len());
    if row > 0 && column > 0 {
        let places = Places::of_rows(rows, numbers);
        let mut table = Columns::new(start(&places), columns.len(), |index, column: &mut [Block]| {
            advance(column, places.of(columns[index]));
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

#[cfg(test)]
mod tests {
    use super::super::edit_distance;
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
}
