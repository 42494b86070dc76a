//! Compares lists: with the Hungarian method, and in order.

/// The maximum sum of weights of a pairing of rows and columns, each used at most once. `weights[row][column]` are finite; all rows have
/// the same length.
pub fn max_weight_sum(weights: &[Vec<f64>]) -> f64 {
    max_weight_matching(weights).into_iter().map(|(row, column)| weights[row][column]).sum()
}

/// The pairs of rows and columns with the maximum sum of weights, ordered by row. As many as possible are paired, including pairs with
/// weight 0.
pub(crate) fn max_weight_matching(weights: &[Vec<f64>]) -> Vec<(usize, usize)> {
    let (rows, columns) = (weights.len(), weights.first().map_or(0, Vec::len));
    if rows > columns {
        let turned: Vec<Vec<f64>> =
            (0..columns).map(|column| weights.iter().map(|row| row[column]).collect()).collect();
        let mut pairs: Vec<_> =
            max_weight_matching(&turned).into_iter().map(|(row, column)| (column, row)).collect();
        pairs.sort_unstable();
        return pairs;
    }
    let mut matching = Matching::new(rows, columns);
    for row in 1..=rows {
        matching.add(row, weights);
    }
    let paired = matching.row_of.iter().enumerate().skip(1).filter(|(_, row)| **row > 0);
    let mut pairs: Vec<_> = paired.map(|(column, row)| (row - 1, column - 1)).collect();
    pairs.sort_unstable();
    pairs
}

/// The pairs of a longest common subsequence of two lists, of which `matches` compares elements by their positions.
pub(crate) fn longest_common_subsequence(
    rows: usize,
    columns: usize,
    matches: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    // The length of the subsequence from each pair of indices on.
    let mut length = vec![vec![0_usize; columns + 1]; rows + 1];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            length[row][column] = if matches(row, column) {
                length[row + 1][column + 1] + 1
            } else {
                length[row + 1][column].max(length[row][column + 1])
            };
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < rows && column < columns {
        if matches(row, column) {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if length[row + 1][column] >= length[row][column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// The rows paired so far. Rows and columns are numbered from 1; 0 means none.
struct Matching {
    row_potential: Vec<f64>,
    column_potential: Vec<f64>,
    /// For each column, the row paired with it.
    row_of: Vec<usize>,
}

impl Matching {
    fn new(rows: usize, columns: usize) -> Self {
        Self {
            row_potential: vec![0.0; rows + 1],
            column_potential: vec![0.0; columns + 1],
            row_of: vec![0; columns + 1],
        }
    }

    /// Pairs one more row, and changes other pairs if that increases the sum.
    fn add(&mut self, row: usize, weights: &[Vec<f64>]) {
        let columns = self.row_of.len();
        // The slack of each column to the rows that were visited, and the column from which it was reached.
        let mut slack = vec![f64::INFINITY; columns];
        let mut from = vec![0; columns];
        let mut visited = vec![false; columns];
        self.row_of[0] = row;
        let mut column = 0;
        while self.row_of[column] != 0 {
            visited[column] = true;
            let current = self.row_of[column];
            let (mut least, mut next) = (f64::INFINITY, 0);
            for other in (1..columns).filter(|other| !visited[*other]) {
                // The smallest cost is the largest weight.
                let cost = -weights[current - 1][other - 1];
                let reduced = cost - self.row_potential[current] - self.column_potential[other];
                if reduced < slack[other] {
                    slack[other] = reduced;
                    from[other] = column;
                }
                if slack[other] < least {
                    least = slack[other];
                    next = other;
                }
            }
            self.shift(least, &visited, &mut slack);
            column = next;
        }
        while column != 0 {
            self.row_of[column] = self.row_of[from[column]];
            column = from[column];
        }
    }

    fn shift(&mut self, by: f64, visited: &[bool], slack: &mut [f64]) {
        for column in 0..visited.len() {
            if visited[column] {
                self.row_potential[self.row_of[column]] += by;
                self.column_potential[column] -= by;
            } else {
                slack[column] -= by;
            }
        }
    }
}

/// How well a list matches an expected one. Elements of both are paired, each at most once, so that the sum of their similarities is
/// maximal. The sum is divided by the length of the longer list or, if extra elements are allowed, by the number of expected ones. Clamped
/// to 0..=1. Two empty lists score 1; if only one is empty, the score is 0.
///
/// ```
/// use cobalt::metrics::{levenshtein, list_contains};
/// let score = list_contains(&["fig", "plum", "pear"], &["plum", "fig"], false, |a, b| levenshtein(a, b));
/// assert_eq!(score, 2.0 / 3.0);
/// ```
pub fn list_contains<T>(
    output: &[T],
    expected: &[T],
    allow_extra: bool,
    likeness: impl Fn(&T, &T) -> f64,
) -> f64 {
    match (output.len(), expected.len()) {
        (0, 0) => 1.0,
        (0, _) | (_, 0) => 0.0,
        (given, wanted) => {
            let likenesses: Vec<Vec<f64>> =
                output.iter().map(|a| expected.iter().map(|b| likeness(a, b)).collect()).collect();
            let most = if allow_extra { wanted } else { given.max(wanted) };
            (max_weight_sum(&likenesses) / most as f64).clamp(0.0, 1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(weights: &[Vec<f64>], row: usize, free: &mut Vec<bool>) -> f64 {
        let Some(line) = weights.get(row) else { return 0.0 };
        let mut best = tried(weights, row + 1, free);
        for column in 0..line.len() {
            if free[column] {
                free[column] = false;
                best = best.max(line[column] + tried(weights, row + 1, free));
                free[column] = true;
            }
        }
        best
    }

    #[test]
    fn the_best_pairs_are_not_the_first_that_fit() {
        assert_eq!(max_weight_sum(&[vec![0.75, 0.5], vec![1.0, 0.5]]), 1.5);
        assert_eq!(max_weight_sum(&[]), 0.0);
        assert_eq!(max_weight_sum(&[vec![], vec![]]), 0.0);
    }

    #[test]
    fn no_pairing_is_better() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..300 {
            let (rows, columns) = (random.usize(1..6), random.usize(1..6));
            let weights: Vec<Vec<f64>> = (0..rows)
                .map(|_| (0..columns).map(|_| f64::from(random.u32(0..5)) / 4.0).collect())
                .collect();
            let best = tried(&weights, 0, &mut vec![true; columns]);
            assert!((max_weight_sum(&weights) - best).abs() < 1e-9, "{weights:?}");
        }
    }
}
