//! The laws of the samplers with fixed seeds. False alarms: one in a million for each test.
//!
//! Expected probabilities are computed here from the definition of each law, in `f64` and by direct sums.
#![cfg(feature = "hazmat")]
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]
#![expect(clippy::cast_precision_loss, reason = "draws and counts stay far below 2^53")]

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{
    BitSlicedLaplace, DiscreteGaussian, DiscreteLaplace, FixedTimeGaussian, NoiseSampler, PolyaShare,
    ReferenceGaussian, ReferenceLaplace, Scale, Variance,
};
use sketch_testkit::{FALSE_ALARM, assert_binomial, chi_square_above};

const DRAWS: usize = 10_000_000;
const FEWER: usize = 200_000;

fn draws(law: &impl NoiseSampler, seed: u64, count: usize) -> Vec<i64> {
    let mut out = vec![0; count];
    law.fill(&mut InsecureTestRng::from_u64(seed), &mut out).unwrap();
    out
}

fn variance(numerator: u128, denominator: u64) -> Variance {
    Variance::new(numerator, denominator).unwrap()
}

fn scale(numerator: u128, denominator: u64) -> Scale {
    Scale::new(numerator, denominator).unwrap()
}

/// The probabilities of `−reach ..= reach` for weights given as a function of the magnitude.
fn probabilities(reach: i64, weight: impl Fn(f64) -> f64) -> Vec<f64> {
    let weights: Vec<f64> = (-reach..=reach).map(|x| weight(x.abs() as f64)).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

/// Counts of `−reach ..= reach`; anything beyond is a failure.
fn counts(draws: &[i64], reach: i64) -> Vec<u64> {
    let mut counts = vec![0; usize::try_from(2 * reach + 1).unwrap()];
    for draw in draws {
        counts[usize::try_from(draw + reach).unwrap()] += 1;
    }
    counts
}

/// Merges neighbouring cells until each expects at least 20, and gives observed and expected counts.
fn merged(observed: &[u64], probabilities: &[f64], total: f64) -> Vec<(f64, f64)> {
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&count, &probability) in observed.iter().zip(probabilities) {
        open = (open.0 + count as f64, open.1 + probability * total);
        if open.1 >= 20.0 {
            cells.push(open);
            open = (0.0, 0.0);
        }
    }
    let last = cells.last_mut().unwrap();
    *last = (last.0 + open.0, last.1 + open.1);
    cells
}

/// The G-test: `2 Σ observed ln(observed / expected)` is about chi-square.
fn assert_law(draws: &[i64], reach: i64, weight: impl Fn(f64) -> f64) {
    let cells = merged(&counts(draws, reach), &probabilities(reach, weight), draws.len() as f64);
    let g: f64 =
        cells.iter().map(|(seen, wanted)| if *seen > 0.0 { 2.0 * seen * (seen / wanted).ln() } else { 0.0 }).sum();
    let tail = chi_square_above(g, cells.len() as u64 - 1);
    assert!(tail >= FALSE_ALARM, "G = {g} over {} cells, tail {tail:e}", cells.len());
}

/// Two samples from one law: the chi-square statistic of the 2 × cells table.
fn assert_same_law(one: &[i64], two: &[i64], reach: i64) {
    let (a, b) = (counts(one, reach), counts(two, reach));
    let shares: Vec<f64> = a.iter().zip(&b).map(|(x, y)| (x + y) as f64 / (one.len() + two.len()) as f64).collect();
    let least = one.len().min(two.len()) as f64;
    let (a, b) = (merged(&a, &shares, least), merged(&b, &shares, least));
    let (n, m) = (one.len() as f64, two.len() as f64);
    let statistic: f64 =
        a.iter().zip(&b).map(|((x, _), (y, _))| (x * (m / n).sqrt() - y * (n / m).sqrt()).powi(2) / (x + y)).sum();
    let tail = chi_square_above(statistic, a.len() as u64 - 1);
    assert!(tail >= FALSE_ALARM, "chi-square {statistic} over {} cells, tail {tail:e}", a.len());
}

/// Mean, variance and third moment within five standard errors, from the moments of the law up to the sixth.
fn assert_moments(draws: &[i64], second: f64, fourth: f64, sixth: f64) {
    let n = draws.len() as f64;
    let moment = |power: i32| draws.iter().map(|&x| (x as f64).powi(power)).sum::<f64>() / n;
    let five = |spread: f64| 5.0 * (spread / n).sqrt();
    assert!(moment(1).abs() <= five(second), "mean {}", moment(1));
    assert!((moment(2) - second).abs() <= five(fourth - second * second), "second moment {}, not {second}", moment(2));
    assert!(moment(3).abs() <= five(sixth), "third moment {}", moment(3));
}

#[test]
fn gaussian_tables_have_their_law() {
    for (seed, (numerator, denominator, reach)) in
        [(1, 20, 8), (1, 3, 10), (1, 1, 15), (31, 2, 60), (15_500, 1, 2000)].into_iter().enumerate()
    {
        let parameter = variance(numerator, denominator);
        let sample = draws(&DiscreteGaussian::new(parameter).unwrap(), 100 + seed as u64, DRAWS);
        assert_law(&sample, reach, |x| (-x * x / (2.0 * parameter.to_f64())).exp());
    }
}

#[test]
fn laplace_tables_have_their_law() {
    for (seed, (numerator, denominator, reach)) in
        [(1, 5, 30), (1, 1, 100), (31, 3, 700), (310, 1, 16_000)].into_iter().enumerate()
    {
        let parameter = scale(numerator, denominator);
        let sample = draws(&DiscreteLaplace::new(parameter).unwrap(), 200 + seed as u64, DRAWS);
        assert_law(&sample, reach, |x| (-x / parameter.to_f64()).exp());
    }
}

#[test]
fn digits_have_the_law_of_the_whole() {
    let parameter = variance(300_000, 1); // σ = 548: one digit
    let sample = draws(&DiscreteGaussian::new(parameter).unwrap(), 300, DRAWS);
    assert_law(&sample, 8000, |x| (-x * x / 600_000.0).exp());
    for (seed, t) in [1025_u32, 1400, 2000].into_iter().enumerate() {
        let sample = draws(&DiscreteLaplace::new(scale(t.into(), 1)).unwrap(), 301 + seed as u64, DRAWS);
        assert_law(&sample, 60 * i64::from(t), |x| (-x / f64::from(t)).exp());
    }
}

#[test]
fn tables_and_reference_samplers_agree() {
    for (seed, (numerator, denominator, reach)) in
        [(1, 4, 10), (1, 1, 15), (31, 2, 60), (15_500, 1, 2000)].into_iter().enumerate()
    {
        let parameter = variance(numerator, denominator);
        let fast = draws(&DiscreteGaussian::new(parameter).unwrap(), 400 + seed as u64, FEWER);
        let slow = draws(&ReferenceGaussian::new(parameter), 410 + seed as u64, FEWER);
        assert_same_law(&fast, &slow, reach);
    }
    for (seed, (numerator, denominator, reach)) in [(1, 2, 30), (10, 3, 200), (310, 1, 12_000)].into_iter().enumerate()
    {
        let parameter = scale(numerator, denominator);
        let fast = draws(&DiscreteLaplace::new(parameter).unwrap(), 420 + seed as u64, FEWER);
        let slow = draws(&ReferenceLaplace::new(parameter), 430 + seed as u64, FEWER);
        assert_same_law(&fast, &slow, reach);
    }
}

#[test]
fn reference_samplers_have_their_laws() {
    for (seed, (numerator, denominator, reach)) in [(1, 8, 9), (1, 3, 10), (31, 2, 60)].into_iter().enumerate() {
        let parameter = variance(numerator, denominator);
        let sample = draws(&ReferenceGaussian::new(parameter), 500 + seed as u64, FEWER);
        assert_law(&sample, reach, |x| (-x * x / (2.0 * parameter.to_f64())).exp());
    }
    for (seed, (numerator, denominator, reach)) in [(1, 2, 30), (7, 3, 200), (31, 1, 2000)].into_iter().enumerate() {
        let parameter = scale(numerator, denominator);
        let sample = draws(&ReferenceLaplace::new(parameter), 510 + seed as u64, FEWER);
        assert_law(&sample, reach, |x| (-x / parameter.to_f64()).exp());
    }
}

#[test]
fn moments_are_those_of_the_laws() {
    for (seed, (s2, parameter)) in
        [(15.5, variance(31, 2)), (250_000.0, variance(250_000, 1)), (1e12, variance(10_u128.pow(12), 1))]
            .into_iter()
            .enumerate()
    {
        // From σ² = 2 on these moments are those of the normal law to 1e-12.
        let law = DiscreteGaussian::new(parameter).unwrap();
        assert_moments(&draws(&law, 600 + seed as u64, 1_000_000), s2, 3.0 * s2 * s2, 15.0 * s2 * s2 * s2);
        assert!((law.variance() - s2).abs() <= 1e-15 * s2);
    }
    for (seed, t) in [310.0_f64, 1e9].into_iter().enumerate() {
        // Moments of the continuous law, 2 t², 24 t⁴, 720 t⁶; the discrete ones differ by 1e-5 relative at t = 310.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive integer")]
        let law = DiscreteLaplace::new(scale(t as u128, 1)).unwrap();
        let sample = draws(&law, 610 + seed as u64, 1_000_000);
        assert_moments(&sample, law.variance(), 24.0 * t.powi(4), 720.0 * t.powi(6));
    }
}

/// Kolmogorov and Smirnov's distance between a sample and a continuous law that the discrete one is `1e-6` close to.
fn assert_continuous(mut sample: Vec<i64>, cumulative: impl Fn(f64) -> f64) {
    sample.sort_unstable();
    let n = sample.len() as f64;
    let distance = sample
        .iter()
        .enumerate()
        .map(|(rank, &x)| {
            let at = cumulative(x as f64);
            (at - rank as f64 / n).abs().max((at - (rank + 1) as f64 / n).abs())
        })
        .fold(0.0, f64::max);
    // P[D > d] <= 2 e^(−2 n d²) (Massart).
    let limit = ((2.0 / FALSE_ALARM).ln() / (2.0 * n)).sqrt() + 2e-6;
    assert!(distance <= limit, "distance {distance}, at most {limit}");
}

#[test]
fn wide_laws_are_close_to_continuous_ones() {
    let sample = draws(&DiscreteGaussian::new(variance(10_u128.pow(12), 1)).unwrap(), 700, 1_000_000);
    assert_continuous(sample, |x| {
        let tail = sketch_testkit::normal_tail(x.abs() / 1e6);
        if x < 0.0 { tail } else { 1.0 - tail }
    });
    for (seed, t) in [1e7, 2.0_f64.powi(50)].into_iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive integer")]
        let law = DiscreteLaplace::new(scale(t as u128, 1)).unwrap();
        assert_continuous(draws(&law, 701 + seed as u64, 1_000_000), |x| {
            let tail = (-x.abs() / t).exp() / 2.0;
            if x < 0.0 { tail } else { 1.0 - tail }
        });
    }
}

#[test]
fn the_last_digits_of_wide_laws_are_uniform_and_signs_even() {
    let sample = draws(&DiscreteGaussian::new(variance(1 << 80, 1)).unwrap(), 710, 1_000_000);
    for place in 0..20 {
        let ones = sample.iter().filter(|draw| draw.unsigned_abs() >> place & 1 == 1).count();
        let tail = sketch_testkit::binomial_two_sided(ones as u64, 1_000_000, 0.5);
        assert!(tail >= FALSE_ALARM / 20.0, "digit {place}: {ones}");
    }
    assert_binomial(sample.iter().filter(|&&draw| draw < 0).count() as u64, 1_000_000, 0.5);
}

/// A rounded continuous Laplace draw gives 0 the share 0.39347 instead of 0.46212.
#[test]
fn the_law_is_the_discrete_one_and_not_a_rounded_continuous_one() {
    let sample = draws(&DiscreteLaplace::new(scale(1, 1)).unwrap(), 720, 1_000_000);
    let count = |value: i64| sample.iter().filter(|&&draw| draw == value).count() as u64;
    assert!((count(0) as f64 / 1e6 - 0.462_117_157_260_009_8).abs() <= 0.0025);
    assert_binomial(count(0), 1_000_000, 0.462_117_157_260_009_8);
    // P(k + 1)/P(k) = 1/e: of the draws that are k or k + 1, the share 1/(1 + e) is k + 1. Nine tests, and so on.
    for k in 0..9 {
        let (here, next) = (count(k) + if k > 0 { count(-k) } else { 0 }, count(k + 1) + count(-k - 1));
        // Magnitude 0 has half the share that the others have.
        let odds = if k == 0 { 2.0 / core::f64::consts::E } else { 1.0 / core::f64::consts::E };
        let tail = sketch_testkit::binomial_two_sided(next, here + next, odds / (1.0 + odds));
        assert!(tail >= FALSE_ALARM / 9.0, "k = {k}: {next} of {}", here + next);
    }

    let sample = draws(&DiscreteGaussian::new(variance(4, 1)).unwrap(), 721, 1_000_000);
    let zeros = sample.iter().filter(|&&draw| draw == 0).count() as f64 / 1e6;
    assert!((zeros - 0.199_47).abs() <= 0.002, "{zeros}");
    let second = sample.iter().map(|&x| (x * x) as f64).sum::<f64>() / 1e6;
    assert!((second - 4.0).abs() <= 0.03, "{second}");
}

/// The variance of the discrete Gaussian is below σ² where σ² is small, and estimators are given the true one.
#[test]
fn stated_variances_are_those_of_the_draws() {
    for (seed, (numerator, denominator)) in [(1, 20), (1, 4), (1, 3), (1, 1), (9, 4)].into_iter().enumerate() {
        let law = DiscreteGaussian::new(variance(numerator, denominator)).unwrap();
        let sample = draws(&law, 730 + seed as u64, 4_000_000);
        let moment = |power: i32| sample.iter().map(|&x| (x as f64).powi(power)).sum::<f64>() / 4e6;
        // The fourth moment is read off the sample; five standard errors.
        let error = 5.0 * ((moment(4) - moment(2).powi(2)) / 4e6).sqrt();
        assert!((moment(2) - law.variance()).abs() <= error, "{} and {}", moment(2), law.variance());
    }
}

#[test]
fn bit_sliced_noise_has_the_law() {
    for (seed, (numerator, denominator, reach)) in [(1, 2, 30), (10, 3, 200), (310, 1, 12_000)].into_iter().enumerate()
    {
        let parameter = scale(numerator, denominator);
        for fixed in [false, true] {
            let law = if fixed { BitSlicedLaplace::fixed_time(parameter) } else { BitSlicedLaplace::new(parameter) };
            let count = if fixed { FEWER } else { 2_000_000 };
            let sample = draws(&law.unwrap(), 740 + seed as u64, count);
            assert_law(&sample, reach, |x| (-x / parameter.to_f64()).exp());
        }
    }
}

#[test]
fn fixed_time_gaussian_noise_has_the_law() {
    for (seed, (numerator, denominator, reach)) in [(1, 4, 10), (31, 2, 60), (256, 1, 250)].into_iter().enumerate() {
        let parameter = variance(numerator, denominator);
        let sample = draws(&FixedTimeGaussian::new(parameter).unwrap(), 750 + seed as u64, 1_000_000);
        assert_law(&sample, reach, |x| (-x * x / (2.0 * parameter.to_f64())).exp());
    }
}

#[test]
fn shares_add_up_to_laplace_noise() {
    for (seed, (numerator, shares, reach)) in
        [(5, 1, 300), (5, 2, 300), (20, 7, 1200), (3, 50, 200)].into_iter().enumerate()
    {
        let parameter = scale(numerator, 1);
        let share = PolyaShare::new(parameter, shares).unwrap();
        let count = 300_000;
        let parts = draws(&share, 760 + seed as u64, count * shares as usize);
        let sums: Vec<i64> = parts.chunks(shares as usize).map(|parts| parts.iter().sum()).collect();
        assert_law(&sums, reach, |x| (-x / parameter.to_f64()).exp());
        let second = parts.iter().map(|&x| (x * x) as f64).sum::<f64>() / parts.len() as f64;
        assert!((second / share.variance() - 1.0).abs() < 0.05, "{second}, {}", share.variance());
    }
}

/// Releases of a counter of 0 and of 1: integers from one set in both cases, so that no digit tells them apart.
#[test]
fn neighbours_are_released_as_integers_of_one_set() {
    fn check(law: &impl NoiseSampler, reach: i64) {
        let sets = [0_i64, 1].map(|value| -> std::collections::BTreeSet<i64> {
            draws(law, 770 + value.unsigned_abs(), 100_000).iter().map(|noise| value + noise).collect()
        });
        for set in &sets {
            assert!((-reach..=reach).all(|x| set.contains(&x)), "all integers near 0 occur");
        }
    }
    check(&DiscreteGaussian::new(variance(4, 1)).unwrap(), 5);
    check(&DiscreteLaplace::new(scale(2, 1)).unwrap(), 8);
    check(&BitSlicedLaplace::new(scale(2, 1)).unwrap(), 8);
    check(&FixedTimeGaussian::new(variance(4, 1)).unwrap(), 5);
    check(&PolyaShare::new(scale(2, 1), 3).unwrap(), 5);
    check(&ReferenceGaussian::new(variance(4, 1)), 5);
    check(&ReferenceLaplace::new(scale(2, 1)), 8);
}

/// What is drawn depends on the generator only: the same stream gives the same noise, whatever was drawn for others.
#[test]
fn equal_streams_give_equal_noise_and_cut_buffers_do_not_matter_to_the_law() {
    let law = DiscreteGaussian::new(variance(15_500, 1)).unwrap();
    assert_eq!(draws(&law, 780, 1000), draws(&law, 780, 1000));
    assert_ne!(draws(&law, 780, 1000), draws(&law, 781, 1000));
    let mut noise = InsecureTestRng::from_u64(782);
    let mut pieces = vec![0; 300_000];
    for piece in pieces.chunks_mut(7) {
        law.fill(&mut noise, piece).unwrap();
    }
    assert_law(&pieces, 2000, |x| (-x * x / 31_000.0).exp());
}
