use super::*;
use crate::scripted::Script;

fn gaussian() -> DigitSplit {
    // σ² = 4^12 · 300², a little above the least that is split
    DigitSplit::gaussian(1, 90_000, 12).unwrap()
}

/// `e^-γ` as an `f64`, from the definition.
fn acceptance(split: &DigitSplit, y: u64, z: u64) -> f64 {
    let zeta = crate::dyadic::to_f64(z) / 2.0_f64.powi(split.shift.cast_signed());
    let y = crate::dyadic::to_f64(y);
    let gamma = match split.shape {
        Shape::Quadratic => zeta * (zeta + 2.0 * y) / (2.0 * 90_000.0),
        Shape::Linear => zeta / 100.0,
    };
    (-gamma).exp()
}

#[test]
fn the_coin_turns_at_the_acceptance_probability() {
    let laplace = DigitSplit::laplace(1, 100, 40).unwrap();
    for split in [gaussian(), laplace] {
        for (y, z) in [(0, 1), (0, 77), (3, 4000), (300, 4095), (5000, 4095), (1, 2048)] {
            let z = if split.shift == 12 { z } else { z << 28 };
            let turn = acceptance(&split, y, z) * 2.0_f64.powi(32);
            // The undecided coin of 32 digits is followed by a word that decides.
            for (coin, want) in [(turn - 2.0, true), (turn + 2.0, false), (turn - 1e6, true), (turn + 1e6, false)] {
                if !(0.0..4_294_967_295.0).contains(&coin) {
                    continue;
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
                let coin = coin as u32;
                let got = split.accepts(y, z, coin, &mut Script::new([1 << 40, 1 << 40, 1 << 40])).unwrap();
                assert_eq!(got, want, "{:?}: y = {y}, z = {z}, coin {coin} of {turn}", split.shape);
            }
        }
    }
}

#[test]
fn no_last_digits_are_always_accepted() {
    // γ = 0: even the largest 32 digits, and then any word but a thousand ones.
    for y in [0, 1, 500] {
        assert!(gaussian().accepts(y, 0, u32::MAX, &mut Script::new([u64::MAX - (1 << 40)])).unwrap());
    }
}

#[test]
fn coins_that_agree_with_the_probability_are_decided_by_later_digits() {
    let split = gaussian();
    let (y, z) = (300, 4095);
    let bounds = exp_minus_enclosed(split.gamma::<20>(y, z));
    let limbs = bounds.low.limbs();
    assert_eq!(limbs[1..], bounds.high.limbs()[1..], "the bounds agree to a thousand digits");
    let digits: Vec<u64> = limbs[..19].iter().rev().copied().collect();
    let coin = halves(digits[0])[0];
    for agreeing in 1..6 {
        for (next, want) in [(0, true), (u64::MAX, false)] {
            let mut words = vec![digits[0] << 32];
            words.extend(&digits[1..agreeing]);
            words.push(next);
            assert_eq!(split.accepts(y, z, coin, &mut Script::new(words)).unwrap(), want, "{agreeing}");
        }
    }
}

#[test]
fn negative_zero_is_refused_and_both_signs_of_others_are_kept() {
    let split = gaussian();
    // The smallest half draws y = 0. A coin of zeros accepts.
    let word = |negative: u64| (negative << 63) | (1 << 32);
    let mut noise = Script::new([]);
    assert_eq!(split.propose(word(0), 0, &mut noise).unwrap(), Some(0));
    assert_eq!(split.propose(word(1), 0, &mut noise).unwrap(), None);
    assert_eq!(split.propose(word(0), 9, &mut noise).unwrap(), Some(9));
    assert_eq!(split.propose(word(1), 9, &mut noise).unwrap(), Some(-9));
}

#[test]
fn a_generator_that_is_refused_for_ever_ends_in_an_error() {
    let split = gaussian();
    // Negative zero again and again: two words of sign, leading digits and coin, and one of last digits.
    let words = (0..40_000).map(|k| if k % 3 == 2 { 0 } else { (1 << 63) | (1 << 32) });
    let error = split.fill(&mut Script::new(words), &mut [0; 1]).unwrap_err();
    assert!(matches!(error, SampleError::Rounds { rounds } if rounds > MAX_REFUSED));
}

#[test]
fn last_digits_come_from_their_own_half_of_the_third_word() {
    let split = gaussian();
    let word = |negative: u64| (negative << 63) | (1 << 32);
    let mut out = [0; 3];
    let digits = (9 << 52) | (7 << 20);
    let words = [word(0), word(1), digits, word(1), word(1), (5 << 52) | (4 << 20)];
    split.fill(&mut Script::new(words), &mut out).unwrap();
    assert_eq!(out, [9, -7, -5], "the fourth proposal is dropped");

    let wide = DigitSplit::laplace(1, 100, 40).unwrap();
    let words = [word(1), 3 << 24, word(0), u64::MAX];
    wide.fill(&mut Script::new(words), &mut out[..2]).unwrap();
    assert_eq!(out[..2], [-3, (1 << 40) - 1]);
}
