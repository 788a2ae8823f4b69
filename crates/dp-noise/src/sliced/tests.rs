use super::*;
use crate::scripted::random_words;

#[test]
fn transposing_moves_every_bit() {
    let mut matrix = [0; 64];
    for (row, word) in matrix.iter_mut().zip(random_words(64)) {
        *row = word;
    }
    let mut transposed = matrix;
    transpose(&mut transposed);
    for (r, row) in matrix.iter().enumerate() {
        for (c, column) in transposed.iter().enumerate() {
            assert_eq!((row >> c) & 1, (column >> r) & 1, "{r}, {c}");
        }
    }
}

#[test]
fn the_bits_of_a_geometric_variable_have_their_probabilities() {
    for (numerator, denominator) in [(1, 1), (310, 1), (1, 7), (1_u128 << 52, 1), (10, 3)] {
        let scale = Scale::new(numerator, denominator).unwrap();
        let t = scale.to_f64();
        let bits = bit_probabilities(scale);
        for (j, bit) in bits.iter().enumerate() {
            let power = (-(2.0_f64.powi(i32::try_from(j).unwrap())) / t).exp();
            let wanted = power / (1.0 + power);
            let got = bit.first.to_f64() + crate::dyadic::to_f64(bit.tail) * 2.0_f64.powi(-128);
            assert!((got - wanted).abs() <= 1e-13 * wanted + 2.0_f64.powi(-128), "t = {t}, bit {j}: {got}, {wanted}");
        }
        // The first bit that is left out: q^(2^J) < 2^-128 <= q^(2^(J − 1)).
        let exponent = |j: i32| 2.0_f64.powi(j) / t / core::f64::consts::LN_2;
        let count = i32::try_from(bits.len()).unwrap();
        assert!(exponent(count) > 128.0 && (count == 0 || exponent(count - 1) <= 128.0), "t = {t}: {count} bits");
        assert!(bits.len() <= MAX_BITS);
    }
}

#[test]
fn probabilities_are_to_the_nearest_of_128_digits() {
    // e^-1/(1 + e^-1) = 1 − 1/(1 + e^-1), computed to 384 digits the second way.
    let bits = bit_probabilities(Scale::new(1, 1).unwrap());
    let one = Fixed::<LIMBS>::from_integer(1);
    let power = exp_minus_enclosed(Enclosure::exactly(one));
    let exact = one.minus(&Enclosure::exactly(one).plus(&power).reciprocal().low);
    let got = Fixed::<LIMBS>::from_fraction(&[bits[0].first.numerator(), bits[0].tail]);
    let distance = if got > exact { got.minus(&exact) } else { exact.minus(&got) };
    assert!(distance <= Fixed::power(129));
}

/// All pairs of small geometric variables, weighed exactly: the difference has the discrete Laplace law.
#[test]
fn the_difference_of_independent_bits_is_laplace() {
    let t = 2.0_f64;
    let bits = bit_probabilities(Scale::new(2, 1).unwrap());
    let geometric = |value: usize| -> f64 {
        let factor = |(j, bit): (usize, &LongProbability)| {
            let p = bit.first.to_f64();
            if value >> j & 1 == 1 { p } else { 1.0 - p }
        };
        bits.iter().enumerate().map(factor).product()
    };
    let q = (-1.0 / t).exp();
    for x in 0..40 {
        let sum: f64 = (0..200).map(|value| geometric(value) * geometric(value + x)).sum();
        let wanted = (1.0 - q) / (1.0 + q) * q.powi(i32::try_from(x).unwrap());
        assert!((sum - wanted).abs() <= 1e-12 * wanted, "{x}: {sum}, {wanted}");
    }
}

#[test]
fn planes_subtract_the_second_variable_from_the_first() {
    let law = BitSlicedLaplace::fixed_time(Scale::new(3, 1).unwrap()).unwrap();
    let bits = law.bits.len();
    assert!(law.bits.iter().all(|bit| bit.tail != 0), "each bit takes 128 words");
    // Words of zeros make a bit 1 (zero is below any probability), words of ones make it 0.
    let choice: Vec<bool> = random_words(5).take(2 * bits).map(|word| word & 1 == 1).collect();
    let words = choice.iter().flat_map(|&one| [if one { 0 } else { u64::MAX }; 128]);
    let mut out = [0; 64];
    law.fill(&mut crate::scripted::Script::new(words), &mut out).unwrap();
    let value = |start: usize| (0..bits).map(|j| i64::from(choice[2 * j + start]) << j).sum::<i64>();
    assert_eq!(out, [value(0) - value(1); 64]);
}

#[test]
fn the_distance_is_stated() {
    for (t, count) in [(1, 7), (310, 15), (1 << 52, 59)] {
        let law = BitSlicedLaplace::new(Scale::new(t, 1).unwrap()).unwrap();
        assert_eq!(law.bits.len(), count);
        let units = law.statistical_distance() * 2.0_f64.powi(128);
        assert!((units - crate::dyadic::to_f64(count as u64) - 3.0).abs() < 1e-9);
    }
    assert!(BitSlicedLaplace::new(Scale::new((1 << 52) + 1, 1).unwrap()).is_err());
}
