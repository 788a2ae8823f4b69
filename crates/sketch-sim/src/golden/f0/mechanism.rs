//! Kinds `noise`, `xor_compose`, `level_from_hash` and `subsample`: what a release does to cells, and where items go.

use cardinality_estimators::ParamError;
use cardinality_estimators::parity::Subsampling;
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit};
use f0_sketch::{F0Shape, F0Sketch, Mode, NoiseRule, Presampled, PrivateF0Sketch, Set, Unit, WeightRule, diagnostics};
use sketch_hash::DefaultHash;

use crate::golden::input::missing;
use crate::golden::{CaseError, Got, Input};
use crate::number;

/// Flip probabilities are rounded up to multiples of `2^-64`, from levels rounded down to multiples of `2^-60`.
const DYADIC: f64 = 1.0 / 1_152_921_504_606_846_976.0;

/// 2⁶⁴.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Probabilities and levels of the releases that the product makes for a user with so many items.
pub(super) fn noise(input: Input<'_>) -> Result<Got, CaseError> {
    let epsilon = Epsilon::new(input.number("eps")?).map_err(CaseError::refused)?;
    let unit = match input.integer("cells_per_item")? {
        1 => Unit::Item,
        cells => Unit::user(cells).ok_or_else(|| missing("cells_per_item", "at least 1"))?,
    };
    let (tight, paper) = (release::<Set>(NoiseRule::Tight, epsilon, unit)?, release(NoiseRule::Paper, epsilon, unit)?);
    let presampled = release::<Presampled>(NoiseRule::Tight, epsilon, unit)?;
    let presampled_paper = release::<Presampled>(NoiseRule::Paper, epsilon, unit)?;
    Ok(Got::fields([
        ("p_tight", flips(&tight)),
        ("contrast_tight", Got::Number(tight.contrast())),
        ("p_paper", flips(&paper)),
        ("eps_spent_by_paper_p", spent::<Set>(&paper)),
        ("p_presampled", flips(&presampled)),
        ("eps_spent_by_paper_p_presampled", spent(&presampled_paper)),
    ]))
}

/// A release of an empty sketch; its noise depends on neither data nor shape.
fn release<M: Mode>(rule: NoiseRule, epsilon: Epsilon, unit: Unit) -> Result<PrivateF0Sketch<M>, CaseError> {
    let shape = F0Shape::new(1, 64).map_err(CaseError::refused)?;
    F0Sketch::<M>::new(shape, WeightRule::Unit, DefaultHash::default())
        .release_with(rule, unit, Permit::standalone(epsilon), &mut InsecureTestRng::from_u64(1))
        .map_err(CaseError::refused)
}

fn flips<M: Mode>(sketch: &PrivateF0Sketch<M>) -> Got {
    Got::Within(sketch.flip_probability(), DYADIC)
}

/// The level that the flips of the only release realise.
fn spent<M: Mode>(sketch: &PrivateF0Sketch<M>) -> Got {
    Got::Number(sketch.leaves().first().map_or(f64::NAN, f0_sketch::Leaf::realised_level))
}

pub(super) fn xor_compose(input: Input<'_>) -> Result<Got, CaseError> {
    let numerator = |p: f64| number::whole(p * TWO_64).ok_or_else(|| missing("p", "multiples of 2^-64"));
    let flips = input.numbers("p")?.into_iter().map(numerator).collect::<Result<Vec<u64>, _>>()?;
    let contrast = diagnostics::merged_contrast(&flips);
    Ok(Got::fields([("contrast", Got::Number(contrast)), ("p", Got::Number((1.0 - contrast) / 2.0))]))
}

/// The table of the item's cell.
pub(super) fn level_from_hash(input: Input<'_>) -> Result<Got, CaseError> {
    let hash = u64::from_str_radix(input.text("hash")?, 16).map_err(CaseError::refused)?;
    let shape = F0Shape::new(input.integer("levels")?, 64).map_err(CaseError::refused)?;
    let (level, _) = diagnostics::place(&shape, [hash, 0]);
    Ok(Got::fields([("level", Got::Integer(level as u64))]))
}

pub(super) fn subsample(input: Input<'_>) -> Result<Got, CaseError> {
    let (epsilon, gamma, merges) = (input.number("eps")?, input.number("gamma")?, input.integer("merged_sketches")?);
    let all = || -> Result<Got, ParamError> {
        let sampling = Subsampling::new(epsilon, gamma)?;
        Ok(Got::fields([
            ("eps0", Got::Number(sampling.inner_epsilon())),
            ("p_single", Got::Number(sampling.flip_probability())),
            ("contrast_merged", Got::Number(sampling.contrast(merges))),
            ("eps_user_in_all_shared_key", Got::Number(sampling.epsilon_under_one_key(merges))),
        ]))
    };
    all().map_err(CaseError::refused)
}
