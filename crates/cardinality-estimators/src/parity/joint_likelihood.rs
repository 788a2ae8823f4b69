//! The log-likelihood of the region sizes of two sets, its gradient and its expected information.

use crate::number::to_f64;
use crate::parity::joint::{JointParityCounts, PairLaw, Regions, dot};

/// Gradient and information at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointSlope {
    pub(crate) gradient: Regions,
    pub(crate) information: [Regions; 3],
}

/// The signs with which `E_A`, `E_B`, `E_X` enter `4·P` of the pairs 00, 01, 10, 11.
const SIGNS: [Regions; 4] = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];

impl PairLaw {
    /// `P` of the four pairs and `∂P/∂region` of each.
    pub(crate) fn derivatives(self, rate: f64, regions: Regions) -> ([f64; 4], [Regions; 4]) {
        let (signs, exponents) = (self.signs(rate, regions), self.exponents());
        let derivative = |pair: usize, region: usize| {
            let terms: f64 = (0..3).map(|i| SIGNS[pair][i] * signs[i] * exponents[i][region]).sum();
            -rate * terms / 4.0
        };
        let derivatives = core::array::from_fn(|pair| core::array::from_fn(|region| derivative(pair, region)));
        (Self::probabilities_of(signs), derivatives)
    }
}

impl JointParityCounts {
    /// `Σ N_st·ln 4P(s, t)`: relative to cells that are coins, so that weak contrasts keep their digits.
    pub(crate) fn log_likelihood(&self, regions: Regions) -> f64 {
        let mut sum = 0.0;
        for table in &self.tables {
            let signs = self.law.signs(table.rate, regions);
            for ((pair, shape), &count) in SIGNS.iter().enumerate().zip(&table.pairs).filter(|(_, count)| **count > 0) {
                let bias = dot(*shape, signs);
                let log = if bias > -0.5 { bias.ln_1p() } else { (4.0 * PairLaw::probabilities_of(signs)[pair]).ln() };
                sum += to_f64(count) * log;
            }
        }
        sum
    }

    /// Gradient and information.
    pub(crate) fn slope(&self, regions: Regions) -> JointSlope {
        let mut gradient = [0.0; 3];
        let mut information = [[0.0; 3]; 3];
        for table in &self.tables {
            let (probabilities, derivatives) = self.law.derivatives(table.rate, regions);
            for ((&count, p), d) in table.pairs.iter().zip(probabilities).zip(derivatives) {
                for i in 0..3 {
                    gradient[i] += to_f64(count) * d[i] / p;
                    for j in 0..3 {
                        information[i][j] += table.cells * d[i] * d[j] / p;
                    }
                }
            }
        }
        JointSlope { gradient, information }
    }
}

/// `w·M·w`.
pub(crate) fn quadratic_form(matrix: &[Regions; 3], w: Regions) -> f64 {
    dot(w, core::array::from_fn(|i| dot(matrix[i], w)))
}
