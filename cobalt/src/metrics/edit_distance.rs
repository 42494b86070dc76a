//! The number of edits between two texts, 64 cells of the table at a time (Myers 1999, in blocks as Hyyrö 2003).

use std::collections::HashMap;

/// How many rows of the table one word holds.
const ROWS: usize = u64::BITS as usize;

/// The least number of letters to insert, delete or replace to make one text of the other. Takes time in proportion to the
/// product of both lengths, divided by 64.
pub(super) fn edit_distance(a: &[char], b: &[char]) -> usize {
    let (rows, columns) = without_common_ends(a, b);
    if rows.is_empty() || columns.is_empty() {
        return rows.len().max(columns.len());
    }
    let places = places(rows);
    let nowhere = vec![0; rows.len().div_ceil(ROWS)];
    let mut blocks = vec![Block { rises: u64::MAX, falls: 0 }; nowhere.len()];
    let last_row = 1 << ((rows.len() - 1) % ROWS);
    let mut distance = rows.len();
    for letter in columns {
        // In the row above the first one, the distance grows by 1 from column to column.
        let mut above = Step { rises: 1, falls: 0 };
        let mut last = above;
        for (block, same) in blocks.iter_mut().zip(places.get(letter).unwrap_or(&nowhere)) {
            (above, last) = block.advance(*same, above, last_row);
        }
        distance = distance + (last.rises as usize) - (last.falls as usize);
    }
    distance
}

/// What is left of two texts without the letters that both begin and end with: these need no edit.
fn without_common_ends<'a>(mut a: &'a [char], mut b: &'a [char]) -> (&'a [char], &'a [char]) {
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

/// The rows at which each letter stands, a bit for each.
fn places(rows: &[char]) -> HashMap<char, Vec<u64>> {
    let mut places: HashMap<char, Vec<u64>> = HashMap::new();
    for (row, letter) in rows.iter().enumerate() {
        let of = places.entry(*letter).or_insert_with(|| vec![0; rows.len().div_ceil(ROWS)]);
        of[row / ROWS] |= 1 << (row % ROWS);
    }
    places
}

/// Whether the distance is higher or lower by 1 than in the column before, in one row: each 1 or 0.
#[derive(Clone, Copy)]
struct Step {
    rises: u64,
    falls: u64,
}

/// By how much the distance differs from the row above, in 64 rows of one column.
#[derive(Clone)]
struct Block {
    rises: u64,
    falls: u64,
}

impl Block {
    /// Goes on to the next column, in which `same` are the rows with its letter. Gives the steps in the last of the 64 rows,
    /// and in the last one of the text, where that is in this block.
    #[inline]
    fn advance(&mut self, same: u64, above: Step, last_row: u64) -> (Step, Step) {
        let Self { rises, falls } = *self;
        let vertical = same | falls;
        let same = same | above.falls;
        let horizontal = ((same & rises).wrapping_add(rises) ^ rises) | same;
        let (up, down) = (falls | !(horizontal | rises), rises & horizontal);
        let below = Step { rises: up >> (ROWS - 1), falls: down >> (ROWS - 1) };
        let last = Step { rises: u64::from(up & last_row != 0), falls: u64::from(down & last_row != 0) };
        let (up, down) = (up << 1 | above.rises, down << 1 | above.falls);
        *self = Self { rises: down | !(vertical | up), falls: up & vertical };
        (below, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row by row, as in the textbook.
    fn plainly(a: &[char], b: &[char]) -> usize {
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
            let mut text = |most: usize| -> Vec<char> {
                (0..random.usize(0..most)).map(|_| ['a', 'b', 'é', '😀'][random.usize(0..4)]).collect()
            };
            let (a, b) = (text(1 + round % 200), text(1 + round % 150));
            assert_eq!(edit_distance(&a, &b), plainly(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_ends_of_a_block_are_no_special_case() {
        for length in [63, 64, 65, 127, 128, 129] {
            let a = vec!['a'; length];
            let b = vec!['b'; length];
            assert_eq!(edit_distance(&a, &b), length);
            assert_eq!(edit_distance(&a, &[&b[..], &['x'], &a[..]].concat()), length + 1);
        }
    }
}
