//! The number of edits between two texts, 64 cells of the table at a time (Myers 1999, in blocks as Hyyrö 2003).

use super::places::{Places, ROWS};

/// The least number of parts to insert, delete or replace to make one sequence of the other. All numbers are below
/// `numbers`. Takes time in proportion to the product of both lengths, divided by 64.
pub(crate) fn edit_distance(a: &[usize], b: &[usize], numbers: usize) -> usize {
    let (rows, columns) = without_common_ends(a, b);
    if rows.is_empty() || columns.is_empty() {
        return rows.len().max(columns.len());
    }
    let places = Places::of_rows(rows, numbers);
    let mut blocks = start(&places);
    for number in columns {
        advance(&mut blocks, places.of(*number));
    }
    // From the top of the last column, where the distance is the number of columns, to its last row.
    let inside = |index: usize| match rows.len() - index * ROWS {
        rows if rows < ROWS => (1 << rows) - 1,
        _ => u64::MAX,
    };
    blocks.iter().enumerate().fold(columns.len(), |distance, (index, block)| {
        let [rises, falls] =
            [block.rises, block.falls].map(|rows| (rows & inside(index)).count_ones() as usize);
        distance + rises - falls
    })
}

/// What is left of two sequences without the parts that both begin and end with: these need no edit.
pub(super) fn without_common_ends<'a>(mut a: &'a [usize], mut b: &'a [usize]) -> (&'a [usize], &'a [usize]) {
    while let ([first, rest_a @ ..], [other, rest_b @ ..]) = (a, b)
        && first == other
    {
        (a, b) = (rest_a, rest_b);
    }
    while let ([rest_a @ .., last], [rest_b @ .., other]) = (a, b)
        && last == other
    {
        (a, b) = (rest_a, rest_b);
    }
    (a, b)
}

/// The column before the first: the distance grows by 1 from row to row.
pub(super) fn start(places: &Places) -> Vec<Block> {
    vec![Block { rises: u64::MAX, falls: 0 }; places.blocks()]
}

/// Goes on to the next column, in which `same` are the rows with its number.
#[inline]
pub(super) fn advance(column: &mut [Block], same: impl Iterator<Item = u64>) {
    // In the row above the first one, the distance grows by 1 from column to column.
    let mut above = Step { rises: 1, falls: 0 };
    for (block, same) in column.iter_mut().zip(same) {
        above = block.advance(same, above);
    }
}

/// Whether the distance is higher or lower by 1 than in the column before, in one row: each 1 or 0.
#[derive(Clone, Copy)]
struct Step {
    rises: u64,
    falls: u64,
}

/// By how much the distance differs from the row above, in 64 rows of one column.
#[derive(Clone)]
pub(super) struct Block {
    rises: u64,
    falls: u64,
}

impl Block {
    /// Whether the distance is higher by 1 than in the row above a row of this block.
    pub(super) fn rises_at(&self, row: usize) -> bool {
        self.rises & 1 << (row % ROWS) != 0
    }

    /// Whether the distance is lower by 1 than in the row above a row of this block.
    pub(super) fn falls_at(&self, row: usize) -> bool {
        self.falls & 1 << (row % ROWS) != 0
    }

    /// Goes on to the next column, in which `same` are the rows with its number. Gives the step in the last of the 64 rows.
    #[inline]
    fn advance(&mut self, same: u64, above: Step) -> Step {
        let Self { rises, falls } = *self;
        let vertical = same | falls;
        let same = same | above.falls;
        let horizontal = ((same & rises).wrapping_add(rises) ^ rises) | same;
        let (up, down) = (falls | !(horizontal | rises), rises & horizontal);
        let below = Step { rises: up >> (ROWS - 1), falls: down >> (ROWS - 1) };
        let (up, down) = (up << 1 | above.rises, down << 1 | above.falls);
        *self = Self { rises: down | !(vertical | up), falls: up & vertical };
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row by row, as in the textbook.
    fn plainly(a: &[usize], b: &[usize]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (index, letter) in a.iter().enumerate() {
            let mut before = std::mem::replace(&mut row[0], index + 1);
            for (column, other) in b.iter().enumerate() {
                let replaced = before + usize::from(letter != other);
                before = row[column + 1];
                row[column + 1] = replaced.min(before + 1).min(row[column] + 1);
            }
        }
        row[b.len()]
    }

    #[test]
    fn texts_of_all_lengths_have_the_distance_of_the_textbook() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..600 {
            let mut text = |most: usize| -> Vec<usize> {
                (0..random.usize(0..most)).map(|_| random.usize(0..4)).collect()
            };
            let (a, b) = (text(1 + round % 200), text(1 + round % 150));
            assert_eq!(edit_distance(&a, &b, 4), plainly(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_ends_of_a_block_are_no_special_case() {
        for length in [63, 64, 65, 127, 128, 129] {
            let a = vec![0; length];
            let b = vec![1; length];
            assert_eq!(edit_distance(&a, &b, 4), length);
            assert_eq!(edit_distance(&a, &[&b[..], &[3], &a[..]].concat(), 4), length + 1);
        }
    }
}
