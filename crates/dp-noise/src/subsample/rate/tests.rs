use super::*;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn rate(gamma: f64) -> SampleRate {
    SampleRate::new(gamma).unwrap()
}

const LEVELS: [f64; 6] = [0.01, 0.25, 0.5, 1.0, 4.0, 20.0];
const RATES: [f64; 6] = [1e-9, 0.003, 0.0082, 0.057, 0.5, 0.999];

#[test]
fn noise_of_the_inner_level_keeps_the_outer_one_and_hardly_more() {
    for level in LEVELS.map(epsilon) {
        for gamma in RATES.map(rate) {
            let inner = gamma.inner_level(level);
            let flips = RandomizedResponse::symmetric(inner).q();
            assert!(gamma.keeps(flips, level), "{level:?} {gamma:?}");
            let exact = (1.0 + level.get().exp_m1() / gamma.get()).ln();
            assert!(inner.get() <= exact * (1.0 + 1e-14) && inner.get() >= exact * (1.0 - 1e-12), "{inner:?} {exact}");
            // γ/(e^ε − 1 + 2γ), of which an eighth of a billionth less is too little.
            let needed = gamma.get() / (level.get().exp_m1() + 2.0 * gamma.get());
            if needed > 1e-9 {
                assert!((flips.to_f64() / needed - 1.0).abs() < 1e-9, "{level:?} {gamma:?}");
                let less = DyadicProbability::from_numerator(flips.numerator() - (flips.numerator() >> 33) - 1);
                assert!(!gamma.keeps(less, level), "{level:?} {gamma:?}");
            }
            let realised = gamma.level(flips);
            assert!(realised <= level.get() && realised > 0.0, "{realised}");
            if needed > 1e-9 {
                assert!(realised > level.get() * (1.0 - 1e-9), "{realised} {level:?}");
            }
        }
    }
}

#[test]
fn an_inner_level_made_for_a_smaller_rate_is_refused() {
    // A coin that keeps 0.011 under noise that was made for 0.010 spends 1.06 instead of 1.
    let flips = RandomizedResponse::symmetric(rate(0.010).inner_level(epsilon(1.0))).q();
    assert!(!rate(0.011).keeps(flips, epsilon(1.0)));
    assert!((rate(0.011).level(flips) - 1.06).abs() < 0.005);
    // Half is pre-sampling: p = e^-ε/2.
    let half = RandomizedResponse::xor_family(epsilon(1.0)).q();
    assert!(rate(0.5).keeps(half, epsilon(1.0)));
}

/// Flips next to a half: ln(1 + γ (1 − 2p)/p) = 4 γ 2⁻⁶⁴ d to all digits for p = (2⁶³ − d)/2⁶⁴.
#[test]
fn levels_next_to_a_half_are_found_at_once() {
    for distance in [1_u32, 3, 1000, 1025] {
        let flips = DyadicProbability::from_numerator((1 << 63) - u64::from(distance));
        let expected = 4.0 * 0.25 * f64::from(distance) * 2_f64.powi(-64);
        let found = rate(0.25).level(flips);
        assert!(found >= expected && found < expected * (1.0 + 1e-12), "{found} {expected}");
    }
}

#[test]
fn no_noise_and_nothing_but_noise_keep_nothing() {
    for numerator in [0, 1 << 63, u64::MAX] {
        let flips = DyadicProbability::from_numerator(numerator);
        assert!(!rate(0.1).keeps(flips, epsilon(256.0)));
        assert!(rate(0.1).level(flips) > f64::MAX);
    }
}

#[test]
fn rates_are_rounded_down_and_bounded() {
    assert_eq!(rate(0.5).numerator(), 1 << 63);
    assert_eq!(rate(SampleRate::MIN).numerator(), 1 << 32);
    assert_eq!(rate(SampleRate::MAX).numerator(), u64::MAX - 2047);
    for bad in [0.0, -0.1, 1.0, 1.5, f64::NAN, f64::INFINITY, 2e-10] {
        assert!(SampleRate::new(bad).is_err(), "{bad}");
    }
    assert_eq!(SampleRate::from_numerator((1 << 32) - 1), None);
    assert_eq!(SampleRate::from_numerator(u64::MAX).map(SampleRate::numerator), Some(u64::MAX));
}

/// The formulas of the definition, in plain arithmetic.
#[test]
fn losses_under_one_key_follow_the_formulas() {
    let gamma = rate(0.0082);
    for count in 1..=8_u8 {
        for level in [0.1, 1.0, 5.35] {
            let expected = (1.0 + 0.0082 * ((f64::from(count) * level).exp() - 1.0)).ln();
            let found = loss_under_one_key(&vec![(gamma, level); count.into()]);
            assert!(found >= expected * (1.0 - 1e-12) && found < expected * (1.0 + 1e-9), "{found} {expected}");
        }
    }
    // Two rates, the larger sample first or last.
    let (large, small) = ((rate(0.3), 1.5), (rate(0.1), 2.5));
    let expected = (1.0 + 0.1 * (4_f64.exp() - 1.0) + 0.2 * (1.5_f64.exp() - 1.0)).ln();
    for releases in [[large, small], [small, large]] {
        let found = loss_under_one_key(&releases);
        assert!(found >= expected * (1.0 - 1e-12) && found < expected * (1.0 + 1e-9), "{found} {expected}");
    }
    // In logarithms where e^x has no room: ln γ + Σ.
    let found = loss_under_one_key(&[(gamma, 256.0); 4]);
    assert!((found - (1024.0 + 0.0082_f64.ln())).abs() < 1e-6, "{found}");
    assert_eq!(loss_under_one_key(&[]).to_bits(), 0);
    assert!(loss_under_one_key(&[(gamma, f64::INFINITY)]) > f64::MAX);
}

#[test]
fn noise_for_units_keeps_the_level_of_each_of_their_cells() {
    for items in [1, 2, 3, 7, 50] {
        for level in [0.5, 1.0, 3.3].map(epsilon) {
            for gamma in [0.003, 0.2].map(rate) {
                let noise = gamma.noise_for(level, items).unwrap();
                // As a release by a permit for the unit flips its cells.
                let share = Permit::standalone(noise.of_unit()).cost().divide(items).unwrap();
                let flips = RandomizedResponse::symmetric(share).q();
                assert!(gamma.keeps(flips, level.divide(items).unwrap()), "{items} {level:?} {gamma:?}");
                assert!(noise.of_cell().get() <= share.get() && noise.of_cell().get() > share.get() * (1.0 - 1e-9));
            }
        }
    }
    assert!(rate(1e-9).noise_for(epsilon(1.0), 100).is_err(), "ε₀ above the largest");
    assert!(rate(0.1).noise_for(epsilon(1e-8), 1000).is_err(), "ε below the least");
}
