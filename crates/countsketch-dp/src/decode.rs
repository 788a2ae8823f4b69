//! All frequencies of a known, public set of keys at once.

mod answers;
mod options;
mod peeling;
mod residual;
mod step;

pub use answers::Decoded;
pub use options::{DecodeOptions, Threshold};

use crate::private::PrivateCountSketch;
use crate::theory::DomainError;

use peeling::Peeling;

impl PrivateCountSketch {
    /// The frequencies of all keys of a dictionary, decoded together: collisions between them are told apart instead of
    /// suffered. Ours.
    ///
    /// A point query takes every other item in a cell for noise. With the keys known, the frequent ones can be estimated,
    /// their sketch subtracted, and all keys estimated again from what is left, with less noise; and so on, as long as the
    /// residual shrinks. On Zipf data of 10⁵ keys and with 15 or more rows the error is 40 to 75 % below the median's, and near that of
    /// noise on every count where rare keys are [set to 0](Threshold::Auto) and cells are not too few.
    ///
    /// 1. Every key is estimated by what was subtracted for it plus the [location](crate::QueryLaw) of its residual rows.
    /// 2. Keys whose estimate is beyond three standard errors and beyond what chance brings to one key in a hundred cells, or
    ///    among the largest of that number, are kept; at most a quarter as many as there are cells.
    /// 3. The step there is damped to the eighth of it that makes the residual smallest. **Guard**: a round counts only if the
    ///    residual really shrinks, so bad rounds end the decoding. It is measured by `Σ min(r², c²)` with `c` six times the
    ///    residual's own scale and never growing, so that unknown items in a few cells do not drown everything else.
    /// 4. If the answers end with a larger standard error than they began with, nothing is subtracted at all.
    ///
    /// The residual of cells that estimates were fitted to is too small. As in approximate message passing \[DMM09\] it is
    /// divided by `1 − h`, where `h` is the number of kept keys, with those at the threshold counted for the jump they make, over
    /// the number of cells.
    ///
    /// The result depends on the set of keys only, not on their order or on repetitions, and not on the number of threads.
    /// At most 40 rounds, each `O(d·k)`; memory `O(d + cells)`.
    ///
    /// # Privacy
    /// Post-processing of a release: nothing is spent, however many keys are asked for. But the keys must be **public**, a word
    /// list or a catalogue. A list that was read off the data gives its items away before any noise.
    ///
    /// # Errors
    /// [`DomainError`] when the confidence cannot be had for so many answers at once.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};
    /// use countsketch_dp::sketch_hash::{DefaultHash, Item, KeyedHash};
    /// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, DecodeOptions, Threshold};
    /// let hash = DefaultHash::default();
    /// let mut raw = CountSketch::new(CountSketchShape::new(15, 64)?, hash.clone(), ContributionBound::entry(100)?);
    /// let items: Vec<u64> = (0..300).collect();
    /// // 300 items of weight 100 in 64 cells a row: the median is off by 250 or so.
    /// raw.update_u64_weighted(&items, &[100; 300])?;
    /// let private = raw.release(Permit::standalone(Rho::new(1e4)?), &mut NoiseRng::from_os()?)?;
    /// let keys: Vec<u64> = items.iter().map(|&item| Item::from(item).hash64(&hash)).collect();
    /// let decoded = private.decode(&keys, DecodeOptions::default().threshold(Threshold::None))?;
    /// assert_eq!(decoded.len(), 300);
    /// assert!(decoded.estimate(keys[7])?.is_some());
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn decode(&self, keys: &[u64], options: impl Into<DecodeOptions>) -> Result<Decoded<'_>, DomainError> {
        let mut peeling = Peeling::new(self, keys);
        let level = peeling.run();
        Decoded::new(self, peeling, &level, options.into())
    }
}
