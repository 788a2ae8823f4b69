//! The noise that is really in the cells, from fixed seeds. False alarms: one in a million for each check.
#![allow(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::manual_range_contains,
    reason = "values are exact or small by construction"
)]

mod support;

use countsketch_dp::PrivateCountSketch;
use dp_noise::{NoiseSampler, ReferenceGaussian, Variance};
use sketch_testkit::{assert_binomial, assert_frequencies, assert_mean, assert_variance};
use support::{Raw, cells, entry, epsilon, noise, raw, rho, shape};

#[expect(clippy::cast_precision_loss, reason = "noise is small")]
fn noise_of(private: &PrivateCountSketch, raw: &Raw) -> Vec<f64> {
    private.all_cells().iter().zip(cells(raw)).map(|(noisy, cell)| (noisy - cell) as f64).collect()
}

#[test]
fn every_cell_has_noise_of_the_stated_variance_touched_or_not() {
    let mut raw = raw(shape(5, 8192), entry(1), []);
    raw.update_u64_batch(&vec![7; 1000]).unwrap();
    for private in
        [raw.clone().release(rho(0.05), &mut noise(1)), raw.clone().release_laplace(epsilon(1.0), &mut noise(2))]
    {
        let private = private.unwrap();
        let drawn = noise_of(&private, &raw);
        let variance = private.noise_variance();
        assert_mean(&drawn, 0.0, variance.sqrt());
        if private.epsilon_total().is_none() {
            assert_variance(&drawn, variance);
        } else {
            // Not normal: the fourth moment of a Laplace law is six times the square of the variance.
            let squares: Vec<f64> = drawn.iter().map(|x| x * x).collect();
            assert_mean(&squares, variance, variance * 5f64.sqrt());
        }
        // Neighbouring cells, and the same bucket of two rows, are uncorrelated.
        for apart in [1, 8192] {
            let products: Vec<f64> = drawn.iter().zip(&drawn[apart..]).map(|(x, y)| x * y).collect();
            assert_mean(&products, 0.0, variance);
        }
    }
}

#[test]
fn gaussian_noise_has_the_probabilities_of_its_law() {
    // σ² = 3 / (2 · 0.75) = 2.
    let raw = raw(shape(3, 1 << 15), entry(1), []);
    let private = raw.clone().release(rho(0.75), &mut noise(3)).unwrap();
    let mut counts = [0_u64; 11];
    for x in noise_of(&private, &raw) {
        counts[(x.clamp(-5.0, 5.0) + 5.0) as usize] += 1;
    }
    let weight = |x: i32| (-f64::from(x * x) / 4.0).exp();
    let mass: f64 = (-30..=30).map(weight).sum();
    let law: Vec<f64> = (-5..=5_i32)
        .map(|x| match x {
            -5 | 5 => (5..=30).map(weight).sum::<f64>() / mass,
            _ => weight(x) / mass,
        })
        .collect();
    assert_frequencies(&counts, &law);
}

#[test]
fn the_variance_stated_is_that_of_the_discrete_law() {
    // σ² = 1 / (2 · 1.5) = 1/3, where the law has 3.6% less (from the formula, in the other crate's tests).
    let private = raw(shape(1, 2), entry(1), []).release(rho(1.5), &mut noise(4)).unwrap();
    let law = ReferenceGaussian::new(Variance::new(1, 3).unwrap());
    assert_eq!(private.noise_variance(), law.variance());
    assert!((private.noise_variance() * 3.0 - 0.964).abs() < 1e-3);
}

/// Outputs of two neighbouring data sets, one cell: the share of outputs that tell them apart best is what the exact δ says.
#[test]
fn outputs_of_neighbours_are_as_hard_to_tell_apart_as_the_law_says() {
    const TRIES: u64 = 60_000;
    const EPSILON: f64 = 0.5;
    let empty = raw(shape(1, 2), entry(1), []);
    let one = raw(shape(1, 2), entry(1), [(7, 1)]);
    let bucket = cells(&one).iter().position(|&cell| cell != 0).unwrap();
    let step = cells(&one)[bucket];
    // σ² = 1: the loss at output x of `one` is (2x − 1)/2 in steps, above ε = 0.5 for x ≥ 2; at x = 1 it equals ε.
    let weight = |x: i32| (-f64::from(x * x) / 2.0).exp();
    let mass: f64 = (-30..=30).map(weight).sum();
    let [from_one, from_empty] = [1, 0].map(|moved| (2..=30).map(|x| weight(x - moved)).sum::<f64>() / mass);
    let delta: f64 = (2..=30).map(|x| weight(x - 1) - EPSILON.exp() * weight(x)).sum::<f64>() / mass;
    assert!((from_one - EPSILON.exp() * from_empty - delta).abs() < 1e-12);
    let mut noise = noise(5);
    let mut beyond = |sketch: &Raw| {
        let outputs = (0..TRIES).map(|_| sketch.clone().release(rho(0.5), &mut noise).unwrap().all_cells()[bucket]);
        outputs.filter(|output| output * step >= 2).count() as u64
    };
    assert_binomial(beyond(&one), TRIES, from_one);
    assert_binomial(beyond(&empty), TRIES, from_empty);
}

#[test]
fn topped_up_noise_is_the_sum() {
    let raw = raw(shape(5, 8192), entry(1), []);
    let private = raw.clone().release(rho(0.5), &mut noise(6)).unwrap();
    let topped_up = private.top_up(Variance::new(7, 2).unwrap(), &mut noise(7)).unwrap();
    assert_eq!(topped_up.noise_variance(), 8.5);
    assert_variance(&noise_of(&topped_up, &raw), 8.5);
    assert_eq!(topped_up.noise_parameter(), Some(Variance::new(17, 2).unwrap()));
    assert!(private.top_up(Variance::new(3, 2).unwrap(), &mut noise(8)).is_err(), "too small");
    assert_eq!(private.rho_if_seen_alone(), Some(0.5));
    let seen = topped_up.rho_if_seen_alone().unwrap();
    assert!(seen >= 5.0 / 17.0 && seen < 5.0 / 17.0 + 1e-6, "{seen}");
    // Noise that is too small to smear the lattice would not help.
    let laplace = raw.release_laplace(epsilon(1.0), &mut noise(9)).unwrap();
    assert!(laplace.top_up(Variance::new(7, 2).unwrap(), &mut noise(10)).is_err());
    assert_eq!(laplace.rho_if_seen_alone(), None);
}
