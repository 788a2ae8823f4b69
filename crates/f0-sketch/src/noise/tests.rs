#![expect(clippy::float_cmp, reason = "small integers and halves are exact")]

use super::*;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

#[test]
fn the_paper_s_noise_is_rounded_up() {
    // ⌈2^64 / (2 + ε)⌉ in integers, for ε of few digits.
    for (value, numerator, denominator) in
        [(1.0, 1_u128, 3_u128), (0.5, 2, 5), (2.0, 1, 4), (256.0, 1, 258), (0.125, 8, 17)]
    {
        let exact = (numerator << 64).div_ceil(denominator);
        assert_eq!(u128::from(paper(epsilon(value)).numerator()), exact, "{value}");
    }
    for value in [Epsilon::MIN, 0.1, 1.1, 200.3] {
        let p = paper(epsilon(value)).to_f64();
        assert!((p * (2.0 + value) - 1.0).abs() < 1e-15 && p < 0.5, "{value}");
        assert!(keeps(ModeKind::Set, paper(epsilon(value)), epsilon(value)));
        assert!(keeps(ModeKind::Presampled, paper(epsilon(value)), epsilon(value)));
    }
}

#[test]
fn noise_after_earlier_releases_lies_between_the_two_channels() {
    for value in [Epsilon::MIN, 0.01, 1.0, 5.0, 44.0, 256.0] {
        let level = epsilon(value);
        let fresh = flip_probability(ModeKind::Presampled, NoiseRule::Tight, level, 0.0);
        let bare = flip_probability(ModeKind::Set, NoiseRule::Tight, level, 0.0);
        let mut before = fresh;
        for exposure in [1e-9, 0.1, 1.0, 10.0, 100.0, 1e9, f64::MAX] {
            let p = flip_probability(ModeKind::Presampled, NoiseRule::Tight, level, exposure);
            assert!(fresh <= p && p <= bare, "{value} {exposure}");
            assert!(before <= p, "more exposure, more noise");
            before = p;
        }
        assert_eq!(before, bare, "nothing is left to amplify");
    }
}

#[test]
fn losses_of_one_release_are_its_epsilon() {
    for value in [0.001, 0.1, 1.0, 4.0, 20.0] {
        let p = flip_probability(ModeKind::Presampled, NoiseRule::Tight, epsilon(value), 0.0);
        let loss = presampled_loss(level_of(p));
        assert!((loss / value - 1.0).abs() < 1e-12, "{value} {loss}");
    }
    assert_eq!(presampled_loss(0.0), 0.0);
    let far = presampled_loss(1e6);
    assert!((far - (1e6 - std::f64::consts::LN_2)).abs() < 1e-8);
    // Both branches meet.
    assert!((presampled_loss(699.999_999) - presampled_loss(700.0)).abs() < 1e-5);
}

#[test]
fn sums_and_products_are_rounded_up() {
    assert!(add_up(0.1, 0.2) >= 0.3 && add_up(1.0, 1e-20) > 1.0);
    assert_eq!(add_up(1.0, 2.0), 3.0);
    assert_eq!(multiply_up(0.5, 3.0), 1.5);
    assert!(multiply_up(1.0 + f64::EPSILON, 1.0 + f64::EPSILON) > 1.0 + 2.0 * f64::EPSILON);
}
