//! The private sketch.

use dp_noise::Variance;
use sketch_hash::HashId;

use crate::granularity::Granularity;
use crate::leaf::{Leaf, NoiseLaw};
use crate::lineage::Lineage;
use crate::linear::Frame;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;

/// A private CountSketch: counters with noise, and where the noise comes from. Immutable.
///
/// Made by the `release` of a raw sketch, by adding others up, or from bytes. It knows how much noise is in each cell, so it can
/// be queried without any further knowledge.
///
/// # Privacy
/// Whatever is computed from it costs nothing more. Each [release](Leaf) in it states whom it protects at what cost;
/// [`rho_total`](Self::rho_total) is what somebody in all of them paid.
///
/// # Examples
/// See [`CountSketch::release`](crate::CountSketch::release) and [`merge`](Self::merge).
#[derive(Clone)]
pub struct PrivateCountSketch {
    shape: CountSketchShape,
    hash_id: HashId,
    rows: RowHashes,
    granularity: Granularity,
    /// In ±(2⁶³ − 1).
    cells: Vec<i64>,
    lineage: Lineage,
    /// Of one cell, in squared grid units.
    noise_variance: f64,
    insecure_noise: bool,
}

impl core::fmt::Debug for PrivateCountSketch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PrivateCountSketch")
            .field("shape", &self.shape)
            .field("hash", &self.hash_id)
            .field("granularity", &self.granularity)
            .field("releases", &self.leaves().len())
            .field("noise_variance", &self.noise_variance)
            .field("rho_total", &self.rho_total())
            .field("insecure_noise", &self.insecure_noise)
            .finish_non_exhaustive()
    }
}

impl PartialEq for PrivateCountSketch {
    fn eq(&self, other: &Self) -> bool {
        self.frame() == other.frame()
            && self.cells == other.cells
            && self.lineage == other.lineage
            && self.insecure_noise == other.insecure_noise
    }
}

impl PrivateCountSketch {
    pub(crate) fn from_parts(
        frame: Frame,
        rows: RowHashes,
        cells: Vec<i64>,
        lineage: Lineage,
        insecure_noise: bool,
    ) -> Self {
        let (hash_id, shape, granularity) = frame;
        let noise_variance = lineage.leaves().iter().map(Leaf::variance).sum();
        Self { shape, hash_id, rows, granularity, cells, lineage, noise_variance, insecure_noise }
    }

    /// The shape, which two sketches must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The unit of weights, and of cells.
    #[must_use]
    pub const fn granularity(&self) -> Granularity {
        self.granularity
    }

    pub(crate) const fn frame(&self) -> Frame {
        (self.hash_id, self.shape, self.granularity)
    }

    /// The variance of the noise in one cell, in squared grid units: that of the discrete laws, with the factors of the sum.
    ///
    /// Follows from the [releases](Self::leaves). After subtracting a sketch from another that contains its data twice, or after
    /// anything else that makes noises depend on each other outside of this type, it says nothing.
    #[must_use]
    pub const fn noise_variance(&self) -> f64 {
        self.noise_variance
    }

    /// The variance of the normal law behind the tails of a cell's noise, in squared grid units.
    pub(crate) fn tail_variance(&self) -> f64 {
        self.leaves().iter().map(Leaf::tail_variance).sum()
    }

    /// The parameter σ² of the noise in one cell, `Σ c² σ²`, if all of it is Gaussian; exact unless the fraction does not fit,
    /// then rounded up. `None` beyond its range, too.
    #[must_use]
    pub fn noise_parameter(&self) -> Option<Variance> {
        let mut total: Option<Variance> = None;
        for leaf in self.leaves() {
            let (one, count) = match leaf.law() {
                NoiseLaw::Gaussian { variance } => (variance, 1),
                NoiseLaw::GaussianShares { share, summed, .. } => (share, summed),
                _ => return None,
            };
            let numerator = one.numerator().checked_mul(u128::from(count))?;
            let all = Variance::new(numerator, one.denominator()).ok()?.times_square(leaf.factor()).ok()?;
            total = Some(total.map_or(Ok(all), |sum| sum.checked_add(all)).ok()?);
        }
        total
    }

    /// The releases that this sketch was made from, one unless it is a sum, and the noise that was added on top.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        self.lineage.leaves()
    }

    /// What one unit, in all releases that are not known to be of disjoint units, paid in zCDP; rounded up. Pure releases count
    /// as ε²/2. `None` where releases protect different units, records here and users there, or different relations.
    #[must_use]
    pub fn rho_total(&self) -> Option<f64> {
        self.lineage.total().rho()
    }

    /// As [`rho_total`](Self::rho_total) in pure ε; `None`, too, where a release is not pure.
    #[must_use]
    pub fn epsilon_total(&self) -> Option<f64> {
        self.lineage.total().epsilon()
    }

    /// Whether some noise came from the test generator, so that nobody is protected.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }

    pub(crate) const fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// All noisy cells, row after row, in grid units.
    #[must_use]
    pub fn all_cells(&self) -> &[i64] {
        &self.cells
    }

    /// The noisy cells of one row, in grid units.
    pub(crate) fn cells(&self, row: usize) -> &[i64] {
        &self.cells[self.shape.row_range(row)]
    }

    /// The bucket of an item, known by its 64-bit hash, in a row, and its sign there.
    pub(crate) fn bucket_and_sign(&self, row: usize, key: u64) -> (usize, i64) {
        self.rows.bucket_and_sign(row, key)
    }

    /// Where items lie.
    #[must_use]
    pub const fn rows(&self) -> &RowHashes {
        &self.rows
    }
}
