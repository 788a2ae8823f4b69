//! Two sketches seen together: how many cells read 00, 01, 10, 11, and how likely that is.

use crate::CellGroup;
use crate::ParamError;
use crate::number::to_f64;
use crate::parity::counts::{parity_channel, rate_form};
use crate::parity::{ItemWeights, ParityCounts, ParityLayout, ParityModel};

/// How the items of two sets split: only in the first, only in the second, in both.
pub(crate) type Regions = [f64; 3];

/// The cells of two sketches of one layout and hash, table by table and pair by pair.
///
/// # Examples
/// ```
/// use cardinality_estimators::parity::{ItemWeights, JointParityCounts, ParityLayout, ParityModel};
/// let layout = ParityLayout::regular(2, 64)?;
/// // Cells reading (0,0), (0,1), (1,0) and (1,1) in each table.
/// let pairs = [[30, 12, 14, 8], [29, 13, 13, 9]];
/// let joint = JointParityCounts::new(&layout, ParityModel::Set, ItemWeights::Unit, &pairs, [0.5, 0.7])?;
/// assert_eq!(joint.first()?.tables()[0].ones(), 22);
/// # Ok::<(), cardinality_estimators::ParamError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointParityCounts {
    layout: ParityLayout,
    pub(crate) tables: Vec<PairTable>,
    pub(crate) law: PairLaw,
    model: ParityModel,
    weights: ItemWeights,
}

/// One table: its rate, and its cells by what the two sketches read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairTable {
    pub(crate) rate: f64,
    pub(crate) cells: f64,
    /// By `2·first + second`.
    pub(crate) pairs: [u64; 4],
}

impl JointParityCounts {
    /// The counts of two sketches: `pairs[table][2·first + second]` cells, and the contrast of each sketch's noise.
    ///
    /// # Errors
    /// As [`ParityCounts::new`]; [`ParamError::Patterns`] unless the counts of a table add up to its cells.
    pub fn new(
        layout: &ParityLayout,
        model: ParityModel,
        weights: ItemWeights,
        pairs: &[[u64; 4]],
        contrasts: [f64; 2],
    ) -> Result<Self, ParamError> {
        if pairs.len() != layout.tables.len() {
            return Err(ParamError::Counts { expected: layout.tables.len(), found: pairs.len() });
        }
        let rate = rate_form(model, weights);
        let mut tables = Vec::with_capacity(pairs.len());
        for (table, &pairs) in layout.tables.iter().zip(pairs) {
            let found = pairs.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
            if found != Some(table.cells) {
                return Err(ParamError::Patterns { expected: table.cells, found: found.unwrap_or(u64::MAX) });
            }
            let rate = CellGroup::new(table.cells, 0, rate(table.rho()))?.rate();
            tables.push(PairTable { rate, cells: to_f64(table.cells), pairs });
        }
        let law = PairLaw { contrasts: [parity_channel(contrasts[0])?.a(), parity_channel(contrasts[1])?.a()], model };
        let joint = Self { layout: layout.clone(), tables, law, model, weights };
        joint.first().map(|_| joint)
    }

    /// What is known of the weights.
    #[must_use]
    pub const fn weights(&self) -> ItemWeights {
        self.weights
    }

    /// What a cell holds.
    #[must_use]
    pub const fn model(&self) -> ParityModel {
        self.model
    }

    /// The counts of the first sketch alone.
    ///
    /// # Errors
    /// None in practice: what [`Self::new`] accepted is accepted again.
    pub fn first(&self) -> Result<ParityCounts, ParamError> {
        self.one(|pairs| pairs[2] + pairs[3], self.law.contrasts[0])
    }

    /// The counts of the second sketch alone.
    ///
    /// # Errors
    /// None in practice: what [`Self::new`] accepted is accepted again.
    pub fn second(&self) -> Result<ParityCounts, ParamError> {
        self.one(|pairs| pairs[1] + pairs[3], self.law.contrasts[1])
    }

    /// The counts of the xor of the two: of the symmetric difference of sets, of the union of pre-sampled streams.
    ///
    /// # Errors
    /// None in practice: what [`Self::new`] accepted is accepted again.
    pub fn xor(&self) -> Result<ParityCounts, ParamError> {
        self.one(|pairs| pairs[1] + pairs[2], self.law.contrasts[0] * self.law.contrasts[1])
    }

    fn one(&self, ones: impl Fn(&[u64; 4]) -> u64, contrast: f64) -> Result<ParityCounts, ParamError> {
        let ones: Vec<u64> = self.tables.iter().map(|table| ones(&table.pairs)).collect();
        ParityCounts::new(&self.layout, self.model, self.weights, &ones, contrast)
    }
}

/// The law of a pair of cells.
///
/// With `a`, `b` items in one set only and `z` in both, the expected signs of the two cells and of their product are
///
/// ```text
/// E_A = c₁·e^{−k(a+z)},  E_B = c₂·e^{−k(b+z)},  E_X = c₁c₂·e^{−k(a+b)}       (sets)
///                                               E_X = c₁c₂·e^{−k(a+b+z)}     (pre-sampled: the coins of the two differ)
/// P(s, t) = (1 + (−1)^s·E_A + (−1)^t·E_B + (−1)^(s+t)·E_X)/4
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairLaw {
    pub(crate) contrasts: [f64; 2],
    pub(crate) model: ParityModel,
}

/// Probabilities below this are computed as this: such a cell refutes the sizes, whatever the exact figure.
const SMALLEST: f64 = 1e-300;

impl PairLaw {
    /// Which regions the sign of the first cell, of the second, and of their product depend on.
    pub(crate) const fn exponents(self) -> [Regions; 3] {
        let shared = match self.model {
            ParityModel::Set => 0.0,
            ParityModel::Presampled => 1.0,
        };
        [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, shared]]
    }

    /// `E_A`, `E_B`, `E_X` for a table of this rate.
    pub(crate) fn signs(self, rate: f64, regions: Regions) -> [f64; 3] {
        let [first, second] = self.contrasts;
        let scales = [first, second, first * second];
        let exponents = self.exponents();
        core::array::from_fn(|i| scales[i] * (-rate * dot(exponents[i], regions)).exp())
    }

    /// `P(0,0)`, `P(0,1)`, `P(1,0)`, `P(1,1)`: each a sum of terms that are not negative, so that none cancels.
    ///
    /// `4·P(1,1) = (1 − E_A)(1 − E_B) + (E_X − E_A·E_B)`, and the same with any two signs and the third, because no sign is
    /// below the product of the others.
    pub(crate) fn probabilities(self, rate: f64, regions: Regions) -> [f64; 4] {
        Self::probabilities_of(self.signs(rate, regions))
    }

    /// The same from `E_A`, `E_B`, `E_X`.
    pub(crate) fn probabilities_of([first, second, product]: [f64; 3]) -> [f64; 4] {
        let pair = |x: f64, y: f64, z: f64| (1.0 - x) * (1.0 - y) + (z - x * y).max(0.0);
        let four = [
            1.0 + first + second + product,
            pair(second, product, first),
            pair(first, product, second),
            pair(first, second, product),
        ];
        four.map(|p| (p / 4.0).max(SMALLEST))
    }
}

pub(crate) fn dot(x: Regions, y: Regions) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}
