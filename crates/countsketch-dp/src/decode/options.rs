//! What to ask of a decoding.

use cardinality_estimators::Confidence;

/// What becomes of small estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Threshold {
    /// Estimates that three standard errors, and chance among so many keys, explain become 0, with status `below_noise`: least
    /// error over all keys where most of them are rare. Such answers are biased towards 0; do not add them up.
    #[default]
    Auto,
    /// All estimates as they are, negative ones included: for sums, averages and rankings.
    None,
}

/// Threshold, confidence, and over how many answers the confidence holds at once.
///
/// # Examples
/// ```
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::{DecodeOptions, Threshold};
/// let options = DecodeOptions::from(Threshold::None).confidence(Confidence::P95).simultaneous(1000);
/// assert_eq!((options.threshold, options.simultaneous), (Threshold::None, 1000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// What becomes of small estimates; they are set to 0 by default.
    pub threshold: Threshold,
    /// With which probability all the intervals hold; 95 % by default.
    pub confidence: Confidence,
    /// How many intervals are to hold at once; 1 by default, which is for each answer alone.
    pub simultaneous: u64,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { threshold: Threshold::default(), confidence: Confidence::P95, simultaneous: 1 }
    }
}

impl From<Threshold> for DecodeOptions {
    fn from(threshold: Threshold) -> Self {
        Self { threshold, ..Self::default() }
    }
}

impl DecodeOptions {
    /// With another threshold.
    #[must_use]
    pub const fn threshold(self, threshold: Threshold) -> Self {
        Self { threshold, ..self }
    }

    /// With another confidence.
    #[must_use]
    pub const fn confidence(self, confidence: Confidence) -> Self {
        Self { confidence, ..self }
    }

    /// With intervals that all hold at once for so many answers (0 counts as 1).
    #[must_use]
    pub const fn simultaneous(self, answers: u64) -> Self {
        Self { simultaneous: if answers == 0 { 1 } else { answers }, ..self }
    }
}
