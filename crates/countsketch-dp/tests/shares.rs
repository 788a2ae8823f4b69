//! Noise made by several parties.
#![allow(clippy::float_cmp, clippy::unwrap_used, reason = "numbers are exact, and a test that cannot go on fails")]

mod support;

use countsketch_dp::{ContributionBound, CountSketch, NoiseLaw, PrivateCountSketch, ReleaseError, ShareTerms};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Neighbouring, NoiseSource, Permit, Variance};
use sketch_hash::DefaultHash;
use sketch_testkit::{assert_mean, assert_variance};
use support::{Raw, cells, entry, epsilon, noise, other_key, raw, rho, shape};

const WIDTH: u32 = 4096;

fn party(number: u64) -> Raw {
    raw(shape(3, WIDTH), entry(5), [(number, 5), (100, -1)])
}

fn gaussian(secret: u32, share: u128) -> ShareTerms {
    let party = party(0);
    let exposure = party.exposure(Neighbouring::AddRemove);
    ShareTerms::gaussian(&party, exposure, secret, Variance::new(share, 1).unwrap()).unwrap()
}

/// The secure sum of some parties, in the clear.
fn total<R: NoiseSource>(terms: &ShareTerms, parties: u64, noise: &mut R) -> Vec<u64> {
    let mut total = vec![0_u64; terms.words()];
    for number in 0..parties {
        let share = match terms.rho() {
            Some(cost) => party(number).share_gaussian(terms, Permit::standalone(cost), noise),
            None => party(number).share_laplace(terms, Permit::standalone(terms.epsilon().unwrap()), noise),
        };
        total.iter_mut().zip(share.unwrap().words()).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    total
}

fn noise_of(opened: &PrivateCountSketch, parties: u64) -> Vec<f64> {
    let mut sum = raw(shape(3, WIDTH), entry(5), []);
    (0..parties).for_each(|number| sum.merge(&party(number)).unwrap());
    opened
        .all_cells()
        .iter()
        .zip(cells(&sum))
        .map(|(noisy, cell)| f64::from(i32::try_from(noisy - cell).unwrap()))
        .collect()
}

#[test]
fn shares_add_up_to_the_data_with_the_stated_noise() {
    let terms = gaussian(6, 3);
    let opened = terms.open(&total(&terms, 8, &mut noise(1))).unwrap();
    let NoiseLaw::GaussianShares { share, secret, summed } = opened.leaves()[0].law() else { panic!("shares") };
    assert_eq!((share, secret, summed), (Variance::new(3, 1).unwrap(), 6, 8));
    assert_eq!((opened.noise_variance(), opened.noise_parameter()), (24.0, Some(Variance::new(24, 1).unwrap())));
    let drawn = noise_of(&opened, 8);
    assert_mean(&drawn, 0.0, 24f64.sqrt());
    assert_variance(&drawn, 24.0);
    assert!(opened.insecure_noise());
    // D₂² / (2 · 6 · 3) with k c² = 75, and a little more.
    let cost = opened.rho_total().unwrap();
    assert!(cost > 75.0 / 36.0 && cost < 75.0 / 36.0 * 1.000_001, "{cost}");
    let read = PrivateCountSketch::from_bytes_allowing_insecure_noise(&opened.to_bytes()).unwrap();
    assert_eq!(read, opened);
}

#[test]
fn laplace_shares_add_up_to_one_laplace_noise() {
    let party = party(0);
    let exposure = party.exposure(Neighbouring::AddRemove);
    let terms = ShareTerms::laplace(&party, exposure, 5, Epsilon::new(3.0).unwrap()).unwrap();
    let opened = terms.open(&total(&terms, 5, &mut noise(2))).unwrap();
    assert_eq!(opened.epsilon_total(), Some(3.0));
    // D₁ = 15, so t = 5.
    let q = (-0.2f64).exp();
    let variance = 2.0 * q / (1.0 - q).powi(2);
    assert!((opened.noise_variance() / variance - 1.0).abs() < 1e-12);
    let drawn = noise_of(&opened, 5);
    assert_mean(&drawn, 0.0, variance.sqrt());
    let squares: Vec<f64> = drawn.iter().map(|x| x * x).collect();
    assert_mean(&squares, variance, variance * 5f64.sqrt());
    // The law itself: P(0) = (1 − q)/(1 + q).
    let zeros = drawn.iter().filter(|x| **x == 0.0).count() as u64;
    sketch_testkit::assert_binomial(zeros, drawn.len() as u64, (1.0 - q) / (1.0 + q));
    let read = PrivateCountSketch::from_bytes_allowing_insecure_noise(&opened.to_bytes()).unwrap();
    assert_eq!(read, opened);
}

#[test]
fn laplace_shares_use_what_is_booked_and_no_more() {
    let party_zero = party(0);
    let exposure = party_zero.exposure(Neighbouring::AddRemove);
    let tenth = Epsilon::new(0.1).unwrap();
    let terms = ShareTerms::laplace(&party_zero, exposure, 5, tenth).unwrap();
    assert!(party(1).share_laplace(&terms, Permit::standalone(tenth), &mut noise(6)).is_ok());
    let less = Epsilon::new(0.0999).unwrap();
    let refused = party(1).share_laplace(&terms, Permit::standalone(less), &mut noise(6));
    assert!(matches!(refused, Err(ReleaseError::UnderpaidEpsilon { .. })));
}

#[test]
fn sums_with_too_few_shares_are_refused() {
    let terms = gaussian(6, 3);
    let five = total(&terms, 5, &mut noise(3));
    assert!(matches!(terms.open(&five), Err(ReleaseError::MissingShares { expected: 6, found: 5 })));
    assert!(matches!(terms.open(&five[1..]), Err(ReleaseError::Words { .. })));
    assert!(matches!(terms.open(&[]), Err(ReleaseError::Words { .. })));
    let mut many = five.clone();
    many[0] = u64::MAX;
    assert!(matches!(terms.open(&many), Err(ReleaseError::MissingShares { .. })));
}

#[test]
fn terms_of_other_sketches_are_refused() {
    let terms = gaussian(6, 3);
    let cost = || Permit::standalone(terms.rho().unwrap());
    let mut noise = noise(4);
    let mut refused = |raw: Raw| matches!(raw.share_gaussian(&terms, cost(), &mut noise), Err(ReleaseError::Terms));
    assert!(refused(raw(shape(3, 8), entry(5), [])));
    assert!(refused(raw(shape(3, WIDTH), entry(4), [])));
    assert!(refused(CountSketch::new(shape(3, WIDTH), other_key(), entry(5))));
    let mut noise = InsecureTestRng::from_u64(5);
    let under = party(1).share_gaussian(&terms, rho(1.0), &mut noise);
    assert!(matches!(under, Err(ReleaseError::Underpaid { .. })));
    assert!(matches!(party(1).share_laplace(&terms, epsilon(1.0), &mut noise), Err(ReleaseError::Terms)));

    let party = party(0);
    let exposure = party.exposure(Neighbouring::AddRemove);
    let small = ShareTerms::gaussian(&party, exposure, 6, Variance::new(3, 2).unwrap());
    assert!(matches!(small, Err(ReleaseError::SmallVariance { found }) if found == 1.5));
    for secret in [0, ShareTerms::MAX_SHARES + 1] {
        let refused = ShareTerms::gaussian(&party, exposure, secret, Variance::new(3, 1).unwrap());
        assert!(matches!(refused, Err(ReleaseError::Shares { .. })));
    }
    let other = raw(shape(3, 8), entry(5), []).exposure(Neighbouring::AddRemove);
    assert!(matches!(ShareTerms::gaussian(&party, other, 6, Variance::new(3, 1).unwrap()), Err(ReleaseError::Terms)));
}

#[test]
fn a_user_in_the_data_of_all_parties_costs_the_square_of_their_number() {
    let bound = ContributionBound::user_total(1).unwrap();
    let sketch = CountSketch::new(shape(3, 64), DefaultHash::default(), bound);
    let cost = |parts| {
        let exposure = countsketch_dp::Exposure::new(shape(3, 64), bound, parts, Neighbouring::AddRemove);
        ShareTerms::gaussian(&sketch, exposure, 10, Variance::new(20, 1).unwrap()).unwrap().rho().unwrap().get()
    };
    assert!((cost(10) / cost(1) - 100.0).abs() < 1e-6);
}
