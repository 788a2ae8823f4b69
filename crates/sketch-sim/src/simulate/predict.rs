//! The error that is predicted for a setting, without any data.

use cardinality_estimators::{BitChannel, ParamError, predicted_rse as of_one};

use super::overlap::{Members, Overlap, Region};
use super::settings::{Merge, Sampling, Settings};
use super::shape::layout;
use crate::number;

/// The predicted relative standard error, `channel` being that of the merge or, without one, of each release; NaN where
/// nothing is predicted, of tallies and joint likelihoods of several releases.
///
/// Without a merge of several releases it is that of the product statistic: with `y` the product over the releases of
/// `(p − t)/d`, whose mean in a cell is 1 when the union leaves the cell empty and else 0,
///
/// ```text
/// 1/H − n/hashes,   H = Σ_levels cells · (rate · g)² / Var y,   g = exp(−rate · n)
/// E y² = E z^(sets that leave the cell empty) · u^(sets that hit it),   z = 1 + q(1−q)/d²,   u = p(1−p)/d²
/// ```
///
/// where the expectation is over the regions, which hit the cell independently.
///
/// Of a secret sample at the rate γ it is the error of that many fewer items, at the level of the inner noise, and that of the sample,
/// `√((1−γ)/(γn))`, by the root of the sum of squares; for the product statistic that is the formula with all rates times γ.
///
/// # Errors
/// [`ParamError`] for a shape that the estimators do not accept.
pub fn predicted_rse(settings: &Settings, channel: BitChannel) -> Result<f64, ParamError> {
    let layout = layout(settings.shape)?;
    let n = number::to_f64(settings.n);
    let share = if let Sampling::Subsampled(rate) = settings.sampling { rate.get() } else { 1.0 };
    let several = settings.parties > 1 && !channel.is_noiseless();
    match settings.merge {
        Merge::None if several => {}
        Merge::Tally | Merge::Joint if several => return Ok(f64::NAN),
        _ => return Ok(of_one(&layout, channel, share * n).hypot(((1.0 - share) / (share * n)).sqrt())),
    }
    let regions = settings.overlap.regions(settings.n, settings.parties);
    let information: f64 = layout
        .groups()
        .map(|(cells, rate)| {
            let rate = share * rate;
            let mean = (-rate * n).exp();
            let slope = rate * mean;
            let variance = || second_moment(settings, &regions, channel, rate) - mean * mean;
            // A level that every item fills says nothing, and its variance may be as small as its slope.
            if slope > 0.0 { number::to_f64(cells) * slope * slope / variance() } else { 0.0 }
        })
        .sum();
    Ok((information.recip() - n / f64::from(layout.hashes())).max(0.0).sqrt() / n)
}

/// `E y²` in one cell that an item hits at this rate.
fn second_moment(settings: &Settings, regions: &[Region], channel: BitChannel, rate: f64) -> f64 {
    let square = channel.d() * channel.d();
    let hit = channel.p() * channel.miss() / square;
    let empty = 1.0 + channel.q() * (1.0 - channel.q()) / square;
    let missed = |region: &Region| (-rate * number::to_f64(region.items)).exp();
    // A region's sets, each empty or each hit as it is.
    let row = |region: &Region| {
        let (none, sets) = (missed(region), region.members.count());
        none * empty.powf(sets) + (1.0 - none) * hit.powf(sets)
    };
    let sets = f64::from(settings.parties);
    let none_at_all: f64 = regions.iter().map(missed).product();
    match settings.overlap {
        // The first region that is hit leaves only the sets before it empty.
        Overlap::Nested => {
            let (mut before, mut sum) = (1.0, 0.0);
            for region in regions {
                let inside = region.members.count();
                sum += before * (1.0 - missed(region)) * empty.powf(sets - inside) * hit.powf(inside);
                before *= missed(region);
            }
            sum + before * empty.powf(sets)
        }
        // The first set is hit with any region, the others each with its own.
        Overlap::Subset => {
            let others = |region: &&Region| matches!(region.members, Members::FirstAnd(_));
            let each = |region: &Region| missed(region) * empty + (1.0 - missed(region)) * hit;
            let parts: f64 = regions.iter().filter(others).map(each).product();
            hit * (parts - none_at_all * empty.powf(sets - 1.0)) + none_at_all * empty.powf(sets)
        }
        _ => {
            let common = regions.first().map_or(1.0, missed);
            (1.0 - common) * hit.powf(sets) + common * regions.iter().skip(1).map(row).product::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rse(parties: u32, epsilon: f64, merge: Merge, channel: BitChannel) -> f64 {
        let words = format!("--buckets 4096 --levels 24 --epsilon {epsilon} --n 1000000 --parties {parties}");
        let (mut settings, _, _) = Settings::parse(words.split(' ').map(str::to_owned)).unwrap();
        settings.merge = merge;
        predicted_rse(&settings, channel).unwrap()
    }

    fn release_at(epsilon: f64) -> BitChannel {
        BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap()
    }

    #[test]
    fn one_release_is_predicted_as_by_the_likelihood() {
        // √(ln 2/(B·I)) at ε = 1: 1.756/√4096; the last levels of 24 hold a little less than that formula supposes.
        assert!((rse(1, 1.0, Merge::None, release_at(1.0)) - 1.756 / 64.0).abs() < 2e-4);
    }

    /// All patterns of regions that hit a cell, one by one.
    #[test]
    fn second_moments_are_those_of_all_patterns() {
        let channel = release_at(1.3);
        let square = channel.d() * channel.d();
        let hit = channel.p() * channel.miss() / square;
        let empty = 1.0 + channel.q() * (1.0 - channel.q()) / square;
        for overlap in Overlap::ALL {
            for (n, parties) in [(7000, 1), (7000, 2), (7001, 5), (3, 4)] {
                let words =
                    format!("--buckets 256 --levels 16 --epsilon 1 --n {n} --parties {parties} --overlap {overlap}");
                let (settings, _, _) = Settings::parse(words.split(' ').map(str::to_owned)).unwrap();
                let (regions, rate) = (overlap.regions(n, parties), 2e-4);
                let mut want = 0.0;
                for pattern in 0..1_u32 << regions.len() {
                    let here = |index: &usize| pattern >> index & 1 == 1;
                    let law: f64 = regions
                        .iter()
                        .enumerate()
                        .map(|(index, region)| {
                            let none = (-rate * number::to_f64(region.items)).exp();
                            if here(&index) { 1.0 - none } else { none }
                        })
                        .product();
                    let occupied =
                        |party| (0..regions.len()).filter(here).any(|index| regions[index].members.holds(party));
                    want += law * (0..parties).map(|party| if occupied(party) { hit } else { empty }).product::<f64>();
                }
                let got = second_moment(&settings, &regions, channel, rate);
                assert!((got / want - 1.0).abs() < 1e-12, "{overlap}, {parties} sets of {n}: {got}, not {want}");
            }
        }
    }

    #[test]
    fn nothing_is_predicted_of_tallies_and_joint_likelihoods() {
        for merge in [Merge::Tally, Merge::Joint] {
            assert!(rse(3, 2.0, merge, release_at(2.0)).is_nan());
            assert!(
                (rse(1, 2.0, merge, release_at(2.0)) / rse(1, 2.0, Merge::None, release_at(2.0)) - 1.0).abs() < 1e-12
            );
        }
    }

    #[test]
    fn the_product_statistic_has_the_known_errors_for_disjoint_sets() {
        // Large-n errors for B = 4096 by an independent computation: ε, sketches, error.
        for (epsilon, parties, expected) in
            [(1.0, 2, 0.0381), (1.0, 8, 0.267), (2.0, 8, 0.0287), (2.0, 32, 0.216), (4.0, 32, 0.0165)]
        {
            let got = rse(parties, epsilon, Merge::None, release_at(epsilon));
            assert!((got / expected - 1.0).abs() < 0.01, "ε {epsilon}, {parties} sketches: {got} against {expected}");
        }
    }
}
