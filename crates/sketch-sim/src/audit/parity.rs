//! Pairs of parity sketches: one item more or less, another weight, and two releases of the same coins.

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit};
use f0_sketch::{F0Shape, F0Sketch, MaxWeight, Mode, NoiseRule, Presampled, PrivateF0Sketch, Set, Unit, WeightRule};
use sketch_hash::DefaultHash;

use super::bound::{Share, bounds};
use super::{CHUNK, Finding, LAPLACE, Plan, alpha};
use crate::frequency::FrequencyError;
use crate::simulate::repeat;

/// The hash of the item that makes the difference: level 0, first cell, lower half 2³¹.
const ITEM: [u64; 2] = [u64::MAX, 1 << 31];

/// What a pair is, and the level that all of its releases together claim and have.
struct Pair {
    name: &'static str,
    claim: f64,
    exact: f64,
}

/// Every pair of parity sketches.
pub(super) fn findings(plan: &Plan) -> Result<Vec<Finding>, FrequencyError> {
    let plan = |index| Plan { seed: plan.seed + 2000 + index, ..*plan };
    let set = Pair { name: "parities of a set, one item more", claim: LAPLACE, exact: LAPLACE };
    let set = finding(&set, &plan(0), |item, noise| {
        let mut raw = sketch::<Set>(WeightRule::Unit)?;
        if item {
            raw.toggle_hash(ITEM);
        }
        Ok(both_ones(&raw.release(permit()?, noise).map_err(FrequencyError::refused)?))
    });
    let weight = Pair { name: "parities of a set, another weight", claim: LAPLACE, exact: LAPLACE };
    let weight = finding(&weight, &plan(1), |heavy, noise| {
        let max = MaxWeight::new(1.0).map_err(FrequencyError::refused)?;
        let mut raw = sketch::<Set>(WeightRule::Weighted(max))?;
        // The lower half of the hash lies between the two weights.
        let weight = max.weight(if heavy { 0.75 } else { 0.25 }).map_err(FrequencyError::refused)?;
        raw.toggle_hash_weighted(ITEM, weight).map_err(FrequencyError::refused)?;
        Ok(both_ones(&raw.release(permit()?, noise).map_err(FrequencyError::refused)?))
    });
    let streams = Pair { name: "parities of a stream, one item more", claim: LAPLACE, exact: LAPLACE };
    let streams = finding(&streams, &plan(2), |item, noise| {
        Ok(both_ones(&observed(item, noise)?.release(permit()?, noise).map_err(FrequencyError::refused)?))
    });
    let twice =
        Pair { name: "parities of a stream released twice, one item more", claim: 2.0 * LAPLACE, exact: 2.0 * LAPLACE };
    let twice = finding(&twice, &plan(3), |item, noise| {
        let mut raw = observed(item, noise)?;
        let mut release = || {
            let private = raw.release_keeping(NoiseRule::Tight, Unit::Item, permit()?, noise);
            Ok::<_, FrequencyError>(both_ones(&private.map_err(FrequencyError::refused)?))
        };
        let (first, second) = (release()?, release()?);
        Ok(first && second)
    });
    let paper = Pair { name: "parities of a set, noise of the paper", claim: LAPLACE, exact: LAPLACE.ln_1p() };
    let paper = finding(&paper, &plan(4), |item, noise| {
        let mut raw = sketch::<Set>(WeightRule::Unit)?;
        if item {
            raw.toggle_hash(ITEM);
        }
        let private = raw.release_with(NoiseRule::Paper, Unit::Item, permit()?, noise);
        Ok(both_ones(&private.map_err(FrequencyError::refused)?))
    });
    Ok(vec![set?, weight?, streams?, twice?, paper?])
}

/// Two levels of two cells.
fn sketch<M: Mode>(rule: WeightRule) -> Result<F0Sketch<M>, FrequencyError> {
    let shape = F0Shape::new(2, 2).map_err(FrequencyError::refused)?;
    Ok(F0Sketch::new(shape, rule, DefaultHash::default()))
}

/// A stream in which the item occurs twice, or not at all.
fn observed(item: bool, coins: &mut InsecureTestRng) -> Result<F0Sketch<Presampled>, FrequencyError> {
    let mut raw = sketch::<Presampled>(WeightRule::Unit)?;
    if item {
        raw.observe_hash(ITEM, coins);
        raw.observe_hash(ITEM, coins);
    }
    Ok(raw)
}

fn permit() -> Result<Permit<Epsilon>, FrequencyError> {
    Ok(Permit::standalone(Epsilon::new(LAPLACE).map_err(FrequencyError::refused)?))
}

/// Whether both cells of the item's level read one. The other cell reads one as often with the item as without, so the
/// odds of the event are those of the item's cell.
fn both_ones<M: Mode>(sketch: &PrivateF0Sketch<M>) -> bool {
    sketch.ones_per_table().first() == Some(&2)
}

/// ε of a pair: `ln(P[E]/P'[E])` for the event, which is as far from even as any.
fn finding(
    pair: &Pair,
    plan: &Plan,
    event: impl Fn(bool, &mut InsecureTestRng) -> Result<bool, FrequencyError> + Send + Sync,
) -> Result<Finding, FrequencyError> {
    let chunks = plan.trials.div_ceil(CHUNK);
    let count = |with: bool, seed: u64| -> Result<Share, FrequencyError> {
        let counts = repeat(
            (chunks, seed, plan.threads),
            || (),
            |(), noise| {
                let mut hits = 0_u64;
                for _ in 0..CHUNK {
                    hits += u64::from(event(with, noise)?);
                }
                Ok::<_, FrequencyError>(hits)
            },
        )?;
        Ok(Share { hits: counts.iter().sum(), of: u64::from(chunks) * u64::from(CHUNK) })
    };
    // Seeds far apart from those of the other data sets.
    let seed = plan.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (p, q) = (bounds(count(true, seed)?, alpha()), bounds(count(false, seed ^ (1 << 63))?, alpha()));
    Ok(Finding {
        title: format!("{}, ε", pair.name),
        claim: pair.claim,
        exact: Some(pair.exact),
        bounds: [(p.low / q.high).ln(), (p.high / q.low).ln()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_lie_on_both_sides_of_the_item() {
        let max = MaxWeight::new(1.0).unwrap();
        let kept = |weight: f0_sketch::Weight| ITEM[1] & 0xffff_ffff < weight.threshold();
        assert!(kept(max.weight(0.75).unwrap()) && !kept(max.weight(0.25).unwrap()));
    }

    #[test]
    fn too_little_noise_is_found_out() {
        let plan = Plan { trials: 100_000, seed: 3, threads: None };
        let strong = Epsilon::new(2.0).unwrap();
        let pair = Pair { name: "", claim: LAPLACE, exact: 2.0 };
        let weak = finding(&pair, &plan, |item, noise| {
            let mut raw = sketch::<Set>(WeightRule::Unit)?;
            if item {
                raw.toggle_hash(ITEM);
            }
            Ok(both_ones(&raw.release(Permit::standalone(strong), noise).map_err(FrequencyError::refused)?))
        });
        assert!(weak.unwrap().is_broken());
    }
}
