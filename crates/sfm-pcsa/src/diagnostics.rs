//! The numbers behind releases and merges, for tests, golden files and the curious.
//!
//! Nothing here is needed to use a sketch, and nothing here touches one: functions of probabilities and bytes only.

use dp_noise::{Epsilon, ParameterError, RandomizedResponse};

use crate::channel::{Channel, ChannelError};
use crate::double_double::{DoubleDouble, to_f64};
use crate::gate::{BooleanOp, OutputForm, gate};
use crate::leaf::share;
use crate::legions::LegionsShape;
use crate::or_merge::OrMerge;
use crate::unit::Unit;

pub use crate::murmur3::murmur3_x64_128;

/// The flip probabilities of one mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flips {
    /// P(1→1).
    pub p: f64,
    /// P(0→1).
    pub q: f64,
    /// `q` as an integer over 2⁶⁴, the number that decides; 0 without noise.
    pub q_numerator: u64,
}

/// Both mechanisms at one ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mechanisms {
    /// [`PcsaSketch::release`](crate::PcsaSketch::release).
    pub symmetric: Flips,
    /// [`PcsaSketch::release_xor_family`](crate::PcsaSketch::release_xor_family).
    pub xor_family: Flips,
}

/// The flip probabilities that a release at `epsilon` uses; `None` stands for no noise (ε = ∞).
///
/// The limit of the xor family without noise is `p = 1/2`, `q = 0`: ones are still lost.
///
/// # Examples
/// ```
/// use sfm_pcsa::{diagnostics::mechanisms, dp_noise::Epsilon};
/// let at_one = mechanisms(Some(Epsilon::new(1.0)?));
/// assert!((at_one.symmetric.q - 1.0 / (1.0 + 1f64.exp())).abs() < 1e-15);
/// # Ok::<(), sfm_pcsa::dp_noise::ParameterError>(())
/// ```
#[must_use]
pub fn mechanisms(epsilon: Option<Epsilon>) -> Mechanisms {
    let noiseless = |p| Flips { p, q: 0.0, q_numerator: 0 };
    let flips = |noise: RandomizedResponse| Flips {
        p: noise.p().to_f64(),
        q: noise.q().to_f64(),
        q_numerator: noise.q().numerator(),
    };
    match epsilon {
        None => Mechanisms { symmetric: noiseless(1.0), xor_family: noiseless(0.5) },
        Some(epsilon) => Mechanisms {
            symmetric: flips(RandomizedResponse::symmetric(epsilon)),
            xor_family: flips(RandomizedResponse::xor_family(epsilon)),
        },
    }
}

/// `max(ln p/q, ln (1−q)/(1−p))`: how private one bit is behind a channel.
///
/// # Errors
/// [`ChannelError::Order`] unless `0 ≤ q < p ≤ 1`.
///
/// # Examples
/// ```
/// let level = sfm_pcsa::diagnostics::dp_level(0.6, 0.3)?;
/// assert!((level - 2f64.ln()).abs() < 1e-15);
/// # Ok::<(), sfm_pcsa::ChannelError>(())
/// ```
pub fn dp_level(p: f64, q: f64) -> Result<f64, ChannelError> {
    Ok(Channel::from_probabilities(p, q)?.level())
}

/// The output of a randomised gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateTable {
    /// P(1→1) of the output.
    pub p: f64,
    /// P(0→1) of the output.
    pub q: f64,
    /// P(out = 1) for noisy inputs 00, 01, 10, 11.
    pub v: [f64; 4],
    /// The level of the output bit if seen alone.
    pub epsilon: f64,
}

/// The gate that computes `op` of two noisy bits, given as `(p, q)` each.
///
/// # Errors
/// [`ChannelError`] for inputs that are no channels, or if nothing is left of the signal.
///
/// # Examples
/// ```
/// use sfm_pcsa::{BooleanOp, OutputForm, diagnostics::gate_table};
/// let flip = 1.0 / (1.0 + 1f64.exp());
/// let or = gate_table(BooleanOp::Or, OutputForm::Symmetric, (1.0 - flip, flip), (1.0 - flip, flip))?;
/// assert!((or.epsilon - 0.510_120).abs() < 1e-6);
/// assert!((or.v[3] - 0.540_272).abs() < 1e-6);
/// # Ok::<(), sfm_pcsa::ChannelError>(())
/// ```
pub fn gate_table(
    op: BooleanOp,
    form: OutputForm,
    first: (f64, f64),
    second: (f64, f64),
) -> Result<GateTable, ChannelError> {
    let first = Channel::from_probabilities(first.0, first.1)?;
    let second = Channel::from_probabilities(second.0, second.1)?;
    let gate = gate(op, form, first, second)?;
    Ok(GateTable {
        p: gate.channel.p().to_f64(),
        q: gate.channel.q().to_f64(),
        v: gate.table.map(DoubleDouble::to_f64),
        epsilon: gate.channel.level(),
    })
}

/// The channel of a merge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergedChannel {
    /// P(1→1).
    pub p: f64,
    /// P(1→0), `1 − p`: it keeps its digits where `p` is close to 1.
    pub miss: f64,
    /// P(0→1).
    pub q: f64,
    /// `p − q`, from `a`: it keeps its digits where `p` and `q` agree in all of theirs.
    pub d: f64,
    /// `1 − q/p`.
    pub a: f64,
    /// The level of the output bit if seen alone.
    pub epsilon: f64,
}

/// The channel of the one-shot OR of any number of noisy bits, given as `(p, q)` each.
///
/// With inputs of `p = 1/2` the extremal form is the deterministic merge by exclusive or. A pair of `f64` cannot say `1 − p`
/// well where `p` is close to 1: from ε of about 9 on use [`nway_or_from_errors`].
///
/// # Errors
/// As [`gate_table`]; [`ChannelError::NoInput`] without an input.
///
/// # Examples
/// ```
/// use sfm_pcsa::{OutputForm, diagnostics::nway_or};
/// let half = [(0.5, 0.2), (0.5, 0.1), (0.5, 0.05)];
/// let xor = nway_or(OutputForm::Extremal, &half)?;
/// assert_eq!(xor.p, 0.5);
/// assert!((xor.a - 0.6 * 0.8 * 0.9).abs() < 1e-15); // 1 − 2q* = Π (1 − 2q_i)
/// # Ok::<(), sfm_pcsa::ChannelError>(())
/// ```
pub fn nway_or(form: OutputForm, inputs: &[(f64, f64)]) -> Result<MergedChannel, ChannelError> {
    merged(form, inputs.iter().map(|&(p, q)| Channel::from_probabilities(p, q)).collect())
}

/// As [`nway_or`], each input given by the probabilities of its two errors, `(1 − p, q)`: P(1→0) and P(0→1).
///
/// # Errors
/// As [`nway_or`].
///
/// # Examples
/// ```
/// use sfm_pcsa::{OutputForm, diagnostics::nway_or_from_errors};
/// // Two releases at ε = 40: ε* = −ln(2e^−40 − e^−80).
/// let flip = (-40f64).exp() / (1.0 + (-40f64).exp());
/// let or = nway_or_from_errors(OutputForm::Symmetric, &[(flip, flip); 2])?;
/// assert!((or.epsilon - (40.0 - 2f64.ln())).abs() < 1e-12);
/// assert!((or.miss / (2.0 * flip) - 1.0).abs() < 1e-12);
/// # Ok::<(), sfm_pcsa::ChannelError>(())
/// ```
pub fn nway_or_from_errors(form: OutputForm, inputs: &[(f64, f64)]) -> Result<MergedChannel, ChannelError> {
    merged(form, inputs.iter().map(|&(miss, q)| Channel::from_errors(miss, q)).collect())
}

fn merged(form: OutputForm, inputs: Result<Vec<Channel>, ChannelError>) -> Result<MergedChannel, ChannelError> {
    let merged = OrMerge::new(form, &inputs?)?.channel();
    Ok(MergedChannel {
        p: merged.p().to_f64(),
        miss: merged.not_p().to_f64(),
        q: merged.q().to_f64(),
        d: merged.d().to_f64(),
        a: merged.a().to_f64(),
        epsilon: merged.level(),
    })
}

/// `Σ_w c_w (p/d)^(m−w) (−(1−p)/d)^w` over numbers of cells with `w` ones among `m` noisy bits of one channel: an
/// unbiased estimate of the number of cells that are empty in the union.
///
/// # Errors
/// [`ChannelError::Order`] unless `0 ≤ q < p ≤ 1`; [`ChannelError::NoInput`] without a count.
pub fn empty_cells_of_union(p: f64, q: f64, cells_with_ones: &[u64]) -> Result<f64, ChannelError> {
    let channel = Channel::from_probabilities(p, q)?;
    let sketches = u32::try_from(cells_with_ones.len()).unwrap_or(u32::MAX).checked_sub(1);
    let sketches = sketches.ok_or(ChannelError::NoInput)?;
    let (zero, one) = (channel.p() / channel.d(), -(channel.not_p() / channel.d()));
    let terms = (0..=sketches)
        .zip(cells_with_ones)
        .map(|(ones, &cells)| (zero.powi(sketches - ones) * one.powi(ones)).to_f64() * to_f64(cells));
    Ok(terms.sum())
}

/// Bucket and level of a hash in a sketch of `2^index_bits` buckets.
///
/// # Panics
/// If `index_bits` is above 32.
///
/// # Examples
/// ```
/// assert_eq!(sfm_pcsa::diagnostics::placement(0x8000_0000_0040_0000, 12, 24), (2048, 22));
/// ```
#[must_use]
pub fn placement(hash: u64, index_bits: u8, levels: u8) -> (u32, u8) {
    let index_bits = u32::from(index_bits);
    (sketch_hash::bucket_top_bits(hash, index_bits), sketch_hash::geometric_level(hash, index_bits, levels))
}

/// The level of one cell when a release protects `unit` at `epsilon` and an item sets `cells_per_item` cells: `ε` divided
/// by the items of a unit, rounded down, and then by the cells of an item, rounded down.
///
/// # Errors
/// When the quotient is below the least ε.
///
/// # Examples
/// ```
/// use sfm_pcsa::{Unit, diagnostics::level_of_a_cell, dp_noise::Epsilon};
/// let bloom = level_of_a_cell(Epsilon::new(2.0)?, Unit::Item, 4)?;
/// assert_eq!(bloom.get(), 0.5);
/// # Ok::<(), sfm_pcsa::dp_noise::ParameterError>(())
/// ```
pub fn level_of_a_cell(epsilon: Epsilon, unit: Unit, cells_per_item: u32) -> Result<Epsilon, ParameterError> {
    share(epsilon, unit, cells_per_item)
}

/// The first 64-bit hash of every cell of Liquid Legions; an item lies in the last cell whose number is not above its
/// hash.
///
/// # Examples
/// ```
/// use sfm_pcsa::{LegionsShape, diagnostics::legions_boundaries};
/// let firsts = legions_boundaries(LegionsShape::new(1000, 12.0)?);
/// assert_eq!(firsts.partition_point(|&first| first <= 1 << 63) - 1, 57);
/// # Ok::<(), sfm_pcsa::ParamError>(())
/// ```
#[must_use]
pub fn legions_boundaries(shape: LegionsShape) -> Vec<u64> {
    shape.boundaries().into_firsts()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} against {expected}");
    }

    #[test]
    fn merges_at_any_epsilon_keep_their_complements() {
        for epsilon in [0.5_f64, 1.0, 9.0, 12.0, 20.0, 30.0, 40.0] {
            let odds = (-epsilon).exp();
            let flip = odds / (1.0 + odds);
            for inputs in [2, 3, 8] {
                // 1 − a* = 1 − (1 − e^−ε)^m.
                let lost = -(f64::from(inputs) * (-odds).ln_1p()).exp_m1();
                let all = vec![(flip, flip); usize::try_from(inputs).unwrap()];
                let or = nway_or_from_errors(OutputForm::Symmetric, &all).unwrap();
                // p* = 1/(2 − a*), so 1 − p* = q* = lost/(1 + lost) and ε* = −ln lost.
                close(or.miss, lost / (1.0 + lost));
                close(or.q, lost / (1.0 + lost));
                close(or.epsilon, -lost.ln());
                let or = nway_or_from_errors(OutputForm::Extremal, &all).unwrap();
                close(or.miss, flip);
                close(or.q, (1.0 - flip) * lost);
                // For two, ε* = ln(e^ε + e^−ε − 1).
                if inputs == 2 {
                    close(or.epsilon, epsilon + (odds * odds - odds).ln_1p());
                }
            }
        }
    }

    #[test]
    fn both_ways_to_give_a_channel_agree_where_both_have_digits() {
        let pairs = [(0.9, 0.2), (0.75, 0.125), (1.0, 0.0)];
        let errors = pairs.map(|(p, q)| (1.0 - p, q));
        for form in [OutputForm::Extremal, OutputForm::Symmetric] {
            let (by_pairs, by_errors) = (nway_or(form, &pairs).unwrap(), nway_or_from_errors(form, &errors).unwrap());
            close(by_errors.p, by_pairs.p);
            close(by_errors.a, by_pairs.a);
            close(by_errors.miss, by_pairs.miss);
        }
        for bad in [(-0.1, 0.1), (0.1, -0.1), (0.5, 0.5), (f64::NAN, 0.1), (0.1, f64::NAN), (2.0, 0.0)] {
            let refused = nway_or_from_errors(OutputForm::Extremal, &[bad]);
            assert!(matches!(refused, Err(ChannelError::Order { .. })), "{bad:?}");
        }
    }
}
