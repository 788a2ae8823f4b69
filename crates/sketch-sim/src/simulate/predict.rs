//! The error that is predicted for a setting, without any data.

use cardinality_estimators::{BitChannel, ParamError, predicted_rse as of_one};

use super::settings::{Merge, Settings};
use super::shape::layout;
use crate::number;

/// The predicted relative standard error, `channel` being that of the merge or, without one, of each release.
///
/// Without a merge of several releases it is that of the product statistic: with `y` the product over the releases of
/// `(p − t)/d`, whose mean in a cell is 1 when the union leaves the cell empty and else 0,
///
/// ```text
/// 1/H − n/hashes,   H = Σ_levels cells · (rate · g)² / Var y,   g = exp(−rate · n)
/// E y² = (1 − c) · Π u + c · Π (e_i · z + (1 − e_i) · u),   z = 1 + q(1−q)/d²,   u = p(1−p)/d²
/// ```
///
/// where `c` is the probability that no common item and `e_i` that no item of party `i` alone has hit the cell.
///
/// # Errors
/// [`ParamError`] for a shape that the estimators do not accept.
pub fn predicted_rse(settings: &Settings, channel: BitChannel) -> Result<f64, ParamError> {
    let layout = layout(settings.shape)?;
    let n = number::to_f64(settings.n);
    let several = settings.parties > 1 && settings.merge == Merge::None && !channel.is_noiseless();
    if !several {
        return Ok(of_one(&layout, channel, n));
    }
    let information: f64 = layout
        .groups()
        .map(|(cells, rate)| {
            let empty = (-rate * n).exp();
            let slope = rate * empty;
            // A level that every item fills says nothing, and its variance may be as small as its slope.
            if slope > 0.0 { number::to_f64(cells) * slope * slope / variance(settings, channel, rate) } else { 0.0 }
        })
        .sum();
    Ok((information.recip() - n / f64::from(layout.hashes())).max(0.0).sqrt() / n)
}

/// The variance of `y` in one cell that an item hits at this rate.
fn variance(settings: &Settings, channel: BitChannel, rate: f64) -> f64 {
    let square = channel.d() * channel.d();
    let occupied = channel.p() * channel.miss() / square;
    let empty = 1.0 + channel.q() * (1.0 - channel.q()) / square;
    let missed = |items: u64| (-rate * number::to_f64(items)).exp();
    let common = missed(settings.split(0).0);
    let alone: f64 = (0..settings.parties)
        .map(|party| {
            let none = missed(settings.split(party).1);
            none * empty + (1.0 - none) * occupied
        })
        .product();
    let parties = f64::from(settings.parties);
    let second = (1.0 - common) * occupied.powf(parties) + common * alone;
    let mean = (-rate * number::to_f64(settings.n)).exp();
    second - mean * mean
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
