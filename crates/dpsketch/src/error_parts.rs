//! Where the error of an answer comes from.

use cardinality_estimators::{BitChannel, CellLayout, Estimate, predicted_rse};
use sfm_pcsa::{BitmapShape, Leaf, PrivateBitmap, SketchShape};

/// Where the standard error comes from: `hash² + noise² + merge² ≈ std_error²`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ErrorParts {
    /// What a sketch of this shape would err without any noise: from items that share cells.
    pub hash: f64,
    /// What the noise of one release adds, the noisiest one.
    pub noise: f64,
    /// What putting several noisy sketches together adds.
    pub merge: f64,
}

/// Compares the standard error with what the same shape is predicted to have without noise, and with one release's noise.
pub(crate) fn error_parts<'a, S: BitmapShape>(
    sketch: &PrivateBitmap<S>,
    leaves: impl Iterator<Item = &'a Leaf>,
    estimate: &Estimate,
) -> Option<ErrorParts> {
    let (value, std_error) = (estimate.value().filter(|value| *value > 0.0)?, estimate.std_error()?);
    let layout = match sketch.shape().into() {
        SketchShape::Pcsa(shape) => CellLayout::pcsa(shape.buckets(), shape.levels()).ok()?,
        _ => return None,
    };
    let predicted = |channel| value * predicted_rse(&layout, channel, value);
    let hash = predicted(BitChannel::NOISELESS).min(std_error);
    let noisiest = leaves.filter_map(channel).map(predicted).fold(hash, f64::max);
    Some(ErrorParts::split(std_error, hash, noisiest))
}

impl ErrorParts {
    /// Of an error: what is there without noise, and what there is with the noise of the noisiest release alone.
    pub(crate) fn split(std_error: f64, without_noise: f64, with_one_release: f64) -> Self {
        let hash = without_noise.min(std_error);
        let alone = with_one_release.max(hash).min(std_error);
        let rest = |whole: f64, part: f64| (whole * whole - part * part).max(0.0).sqrt();
        Self { hash, noise: rest(alone, hash), merge: rest(std_error, alone) }
    }
}

/// The channel of one release, for showing only.
fn channel(leaf: &Leaf) -> Option<BitChannel> {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    let share = |numerator: u64| {
        #[expect(clippy::cast_precision_loss, reason = "53 bits are plenty for an error that is only shown")]
        let numerator = numerator as f64;
        numerator / TWO_64
    };
    BitChannel::new(share(leaf.p_numerator()), share(leaf.q_numerator())).ok()
}
