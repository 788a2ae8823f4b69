//! Dense symmetric positive systems, written so that compilers make vector code of them.

/// A symmetric matrix of which the upper triangle is kept, row by row; after [`Self::factor`] the factor `U` with `U'U`.
#[derive(Clone, Debug)]
pub(crate) struct Symmetric {
    size: usize,
    entries: Vec<f64>,
}

impl Symmetric {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    /// All entries 0 but the diagonal.
    pub(crate) fn set_diagonal(&mut self, diagonal: impl Iterator<Item = f64>) {
        self.entries.fill(0.0);
        for (i, entry) in diagonal.take(self.size).enumerate() {
            self.entries[i * self.size + i] = entry;
        }
    }

    /// Adds `value` at `(row, column)`, `row ≤ column`.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] += value;
    }

    /// Adds `Σ w w'` over the rows `w` of a matrix with as many columns.
    pub(crate) fn add_gram(&mut self, rows: &[f64]) {
        let size = self.size;
        if size == 0 {
            return;
        }
        for i in 0..size {
            let target = &mut self.entries[i * size + i..(i + 1) * size];
            let mut fours = rows.chunks_exact(4 * size);
            for four in &mut fours {
                let at = |row: usize| &four[row * size + i..(row + 1) * size];
                add_four(target, [at(0), at(1), at(2), at(3)], [at(0)[0], at(1)[0], at(2)[0], at(3)[0]]);
            }
            for row in fours.remainder().chunks_exact(size) {
                add_one(target, &row[i..], row[i]);
            }
        }
    }

    /// The Cholesky factor in place of the matrix.
    ///
    /// A column that is a combination of earlier ones to the precision of numbers is dropped: solutions are 0 there.
    pub(crate) fn factor(&mut self) {
        let size = self.size;
        for j in 0..size {
            let (above, rest) = self.entries.split_at_mut(j * size);
            let target = &mut rest[j..size];
            let before = target[0];
            let mut fours = above.chunks_exact(4 * size);
            for four in &mut fours {
                let at = |row: usize| &four[row * size + j..(row + 1) * size];
                add_four(target, [at(0), at(1), at(2), at(3)], [-at(0)[0], -at(1)[0], -at(2)[0], -at(3)[0]]);
            }
            for row in fours.remainder().chunks_exact(size) {
                add_one(target, &row[j..], -row[j]);
            }
            let pivot = target[0];
            if pivot > 1e-15 * before && pivot.is_finite() {
                let unit = pivot.sqrt().recip();
                for entry in target.iter_mut() {
                    *entry *= unit;
                }
            } else {
                target.fill(0.0);
                target[0] = f64::INFINITY;
            }
        }
    }

    /// Solves `U'U·x = right` in place.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        let size = self.size;
        for j in 0..size {
            let row = &self.entries[j * size + j..(j + 1) * size];
            let (head, tail) = right[j..size].split_at_mut(1);
            head[0] /= row[0];
            add_one(tail, &row[1..], -head[0]);
        }
        for j in (0..size).rev() {
            let row = &self.entries[j * size + j..(j + 1) * size];
            let (head, tail) = right[j..size].split_at_mut(1);
            head[0] = (head[0] - dot(&row[1..], tail)) / row[0];
        }
    }
}

fn add_four(target: &mut [f64], rows: [&[f64]; 4], factors: [f64; 4]) {
    let [a, b, c, d] = factors;
    let [first, second, third, fourth] = rows;
    let pairs = first.iter().zip(second).zip(third.iter().zip(fourth));
    for (entry, ((w, x), (y, z))) in target.iter_mut().zip(pairs) {
        *entry += (a * w + b * x) + (c * y + d * z);
    }
}

/// `target += factor·row`.
pub(crate) fn add_one(target: &mut [f64], row: &[f64], factor: f64) {
    for (entry, x) in target.iter_mut().zip(row) {
        *entry += factor * x;
    }
}

/// The inner product, in four partial sums.
pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (mut lefts, mut rights) = (left.chunks_exact(4), right.chunks_exact(4));
    let mut sums = [0.0; 4];
    for (x, y) in (&mut lefts).zip(&mut rights) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    let rest: f64 = lefts.remainder().iter().zip(rights.remainder()).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_solve() {
        for size in [1, 2, 3, 5, 8, 13] {
            let spread = |i: usize| (f64::from(u32::try_from(i).unwrap()) * 0.618_033_988_749_895).fract() - 0.4;
            let rows: Vec<f64> = (0..(size + 3) * size).map(spread).collect();
            let mut matrix = Symmetric::new(size);
            matrix.set_diagonal((0..size).map(|_| 0.01));
            matrix.add_gram(&rows);
            let full: Vec<f64> = (0..size * size)
                .map(|at| {
                    let (i, j) = (at / size, at % size);
                    let sum: f64 = rows.chunks_exact(size).map(|row| row[i] * row[j]).sum();
                    sum + if i == j { 0.01 } else { 0.0 }
                })
                .collect();
            matrix.factor();
            let right: Vec<f64> = (0..size).map(|i| spread(i + 100)).collect();
            let mut solution = right.clone();
            matrix.solve(&mut solution);
            for (row, want) in full.chunks_exact(size).zip(&right) {
                assert!((dot(row, &solution) - want).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn dependent_columns_are_dropped() {
        let mut matrix = Symmetric::new(2);
        matrix.add_gram(&[1.0, 1.0]);
        matrix.factor();
        let mut right = [3.0, 3.0];
        matrix.solve(&mut right);
        assert!((right[0] - 3.0).abs() < 1e-15 && right[1].abs() < 1e-15);
    }
}
