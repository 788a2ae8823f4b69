//! Small symmetric matrices: sums of squares, solutions and inverses by Cholesky's method.

/// A symmetric matrix, all its entries row by row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Symmetric {
    size: usize,
    entries: Vec<f64>,
}

impl Symmetric {
    pub(crate) fn zeros(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.size + j]
    }

    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub(crate) fn add_to_diagonal(&mut self, i: usize, x: f64) {
        self.entries[i * self.size + i] += x;
    }

    /// The matrix with the entries `entry(i, j)`, `i ≥ j`, and the same above the diagonal.
    pub(crate) fn from_lower(size: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(size);
        for i in 0..size {
            for j in 0..=i {
                let x = entry(i, j);
                matrix.entries[i * size + j] = x;
                matrix.entries[j * size + i] = x;
            }
        }
        matrix
    }

    /// The rows and columns of `chosen`, each times its scale.
    pub(crate) fn scaled_part(&self, chosen: &[usize], scales: &[f64]) -> Self {
        Self::from_lower(chosen.len(), |i, j| self.at(chosen[i], chosen[j]) * scales[i] * scales[j])
    }

    /// `w'Mw`.
    pub(crate) fn quadratic(&self, w: &[f64]) -> f64 {
        self.times(w).iter().zip(w).map(|(x, y)| x * y).sum()
    }

    /// `M·w`.
    pub(crate) fn times(&self, w: &[f64]) -> Vec<f64> {
        self.entries.chunks_exact(self.size.max(1)).map(|row| row.iter().zip(w).map(|(x, y)| x * y).sum()).collect()
    }

    /// The Cholesky factor; `None` unless the matrix is positive definite beyond rounding.
    ///
    /// Rows are first scaled to a diagonal of 1, so that units do not matter.
    pub(crate) fn factor(&self) -> Option<Factor> {
        let size = self.size;
        let scales: Vec<f64> = (0..size).map(|i| self.at(i, i).sqrt().recip()).collect();
        if !scales.iter().all(|scale| scale.is_finite() && *scale > 0.0) {
            return None;
        }
        let mut lower = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * size + k] * lower[j * size + k]).sum();
                let rest = self.at(i, j) * scales[i] * scales[j] - dot;
                lower[i * size + j] = if i > j {
                    rest / lower[j * size + j]
                } else if rest > PIVOT {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Factor { size, lower, scales })
    }
}

/// Smaller pivots of a matrix with diagonal 1 are rounding.
const PIVOT: f64 = 1e-14;

/// The Cholesky factor of a symmetric matrix.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    size: usize,
    lower: Vec<f64>,
    scales: Vec<f64>,
}

impl Factor {
    /// The `x` with `M·x = right`.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.size;
        let mut x: Vec<f64> = right.iter().zip(&self.scales).map(|(r, scale)| r * scale).collect();
        for i in 0..size {
            let dot: f64 = (0..i).map(|k| self.lower[i * size + k] * x[k]).sum();
            x[i] = (x[i] - dot) / self.lower[i * size + i];
        }
        for i in (0..size).rev() {
            let dot: f64 = (i + 1..size).map(|k| self.lower[k * size + i] * x[k]).sum();
            x[i] = (x[i] - dot) / self.lower[i * size + i];
        }
        x.iter().zip(&self.scales).map(|(x, scale)| x * scale).collect()
    }

    /// The inverse of the matrix.
    pub(crate) fn inverse(&self) -> Symmetric {
        let columns: Vec<Vec<f64>> = (0..self.size)
            .map(|j| {
                let unit: Vec<f64> = (0..self.size).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
                self.solve(&unit)
            })
            .collect();
        Symmetric::from_lower(self.size, |i, j| f64::midpoint(columns[j][i], columns[i][j]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares times an irrational number: spread, without linear relations, the same on every run.
    fn spread(index: usize) -> f64 {
        let x = f64::from(u32::try_from(index).unwrap());
        (x * x * 0.618_033_988_749_894_9).fract()
    }

    #[test]
    fn the_inverse_gives_the_identity_whatever_the_units() {
        for size in 1..16 {
            // Units from 1e-6 to 1e6.
            let unit = |i: usize| 10.0_f64.powi(i32::try_from(i % 13).unwrap() - 6);
            let entry = |k: usize, i: usize| unit(i) * (spread(100 * k + i + 1) - 0.5);
            let matrix = Symmetric::from_lower(size, |i, j| (0..3 * size).map(|k| entry(k, i) * entry(k, j)).sum());
            let inverse = matrix.factor().expect("positive definite").inverse();
            for i in 0..size {
                let unit: Vec<f64> = (0..size).map(|j| inverse.at(j, i)).collect();
                for (j, x) in matrix.times(&unit).into_iter().enumerate() {
                    // Relative to the units of the row and the column.
                    let scale = 10.0_f64.powi(i32::try_from(j % 13).unwrap() - i32::try_from(i % 13).unwrap());
                    assert!((x - f64::from(u8::from(i == j))).abs() < 1e-7 * scale.max(1.0), "{size}: {i}, {j}: {x}");
                }
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_factor() {
        let row = [1.0, 2.0, 3.0];
        let mut matrix = Symmetric::from_lower(3, |i, j| 2.0 * row[i] * row[j]);
        assert!(matrix.factor().is_none());
        assert!(Symmetric::zeros(1).factor().is_none());
        matrix.add_to_diagonal(0, f64::NAN);
        assert!(matrix.factor().is_none());
    }
}
