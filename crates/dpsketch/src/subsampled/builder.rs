//! Rows to a raw sketch of a sample of the distinct items.

use core::fmt;
use std::sync::Arc;

#[cfg(feature = "arrow")]
use arrow_array::ArrayRef;
use dp_noise::Subsampler;
use sfm_pcsa::{PcsaShape, RawSubsampledPcsa};
use sketch_hash::{AnyHash, Item};

use super::any::RawSubsampled;
use crate::builder::{DistinctBuilder, RowCounts};
use crate::error::{Error, ErrorKind};
use crate::text::TextRules;

/// Builds a raw sketch of kind `sfm` of the items that a secret key keeps; the counterpart of [`DistinctBuilder`], which it is apart from
/// the sampling. For F0 sketches see [`F0Builder::with_sample`](crate::F0Builder::with_sample).
///
/// # Privacy
/// See [`SubsampleKey`](dp_noise::SubsampleKey): who must not have the key, and what several sketches under it cost.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use dpsketch::dp_noise::{SampleRate, SubsampleKey};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{SampleBuilder, TextRules};
///
/// let coins = Arc::new(SubsampleKey::from_bytes([7; 32]).sampler(SampleRate::new(0.1)?)); // a secret key in earnest
/// let mut builder = SampleBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default(), coins);
/// builder.push_texts(["ann", "bob", "ann"]);
/// assert_eq!(builder.counts().rows, 3);
/// assert_eq!(builder.finish()?.sampling().rate.get(), 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SampleBuilder {
    rows: DistinctBuilder,
    coins: Arc<Subsampler>,
}

impl fmt::Debug for SampleBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SampleBuilder").field("rows", &self.rows).field("coins", &self.coins).finish()
    }
}

impl SampleBuilder {
    /// An empty sketch to be filled.
    #[must_use]
    pub fn new(shape: PcsaShape, hash: AnyHash, rules: TextRules, coins: Arc<Subsampler>) -> Self {
        Self { rows: DistinctBuilder::of_sample(shape, hash, rules, coins.clone()), coins }
    }

    /// Rows seen so far, kept or not.
    #[must_use]
    pub fn counts(&self) -> RowCounts {
        self.rows.counts()
    }

    /// As [`DistinctBuilder::push_texts`].
    pub fn push_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) {
        self.rows.push_texts(texts);
    }

    /// As [`DistinctBuilder::push_row`].
    pub fn push_row<'a>(&mut self, values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>) {
        self.rows.push_row(values);
    }

    /// As [`DistinctBuilder::push_arrays`].
    ///
    /// # Errors
    /// As [`DistinctBuilder::push_arrays`].
    #[cfg(feature = "arrow")]
    pub fn push_arrays(&mut self, arrays: &[ArrayRef]) -> Result<(), Error> {
        self.rows.push_arrays(arrays)
    }

    /// Takes over everything another builder has seen.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) when shapes, hashes or samplings differ.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Error> {
        self.coins.sampling().check(other.coins.sampling())?;
        self.rows.absorb(&other.rows)
    }

    /// The raw sketch.
    ///
    /// # Errors
    /// None in practice: it is made from the bytes of the sketch, so that the key of the hash is left behind.
    pub fn finish(self) -> Result<RawSubsampled, Error> {
        let raw = RawSubsampledPcsa::from_sample(self.rows.finish(), self.coins.sampling());
        RawSubsampled::of_sfm(&raw.ok_or_else(|| Error::new(ErrorKind::Internal, "a new sketch was never released"))?)
    }
}
