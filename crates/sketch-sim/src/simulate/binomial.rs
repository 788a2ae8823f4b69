//! Binomial counts, of fair coins and of others.

use dp_noise::rand_core::Rng;

use crate::number;

/// Up to this many coins are tossed one by one, sixty-four in a word.
const TOSSED: u64 = 1 << 16;

/// How many of `n` fair coins show heads.
pub(crate) fn fair<R: Rng>(n: u64, random: &mut R) -> u64 {
    if n <= TOSSED {
        return toss(n, random);
    }
    // An odd number of coins is an even number and one more.
    let odd = n % 2;
    let half = n / 2;
    let heads = half.saturating_add_signed(deviation(half, random));
    heads + if odd == 1 { random.next_u64() & 1 } else { 0 }
}

/// How many of `n` coins show heads that do so with probability `p`, exactly that of the `f64`.
///
/// A coin shows heads when a uniform number lies below `p`. The binary digits of all `n` numbers are drawn together, from
/// the first: a coin is decided where its digit differs from that of `p`, and about half of the others go on.
pub(crate) fn binomial<R: Rng>(n: u64, p: f64, random: &mut R) -> u64 {
    if p >= 1.0 {
        return n;
    }
    let (mut undecided, mut heads, mut rest) = (n, 0, p);
    while undecided > 0 && rest > 0.0 {
        // Doubling is exact, and so is the difference.
        rest *= 2.0;
        let ones = fair(undecided, random);
        if rest >= 1.0 {
            heads += undecided - ones;
            undecided = ones;
            rest -= 1.0;
        } else {
            undecided -= ones;
        }
    }
    heads
}

fn toss<R: Rng>(n: u64, random: &mut R) -> u64 {
    let whole: u64 = (0..n / 64).map(|_| u64::from(random.next_u64().count_ones())).sum();
    let rest = n % 64;
    let last = if rest == 0 { 0 } else { random.next_u64() >> (64 - rest) };
    whole + u64::from(last.count_ones())
}

/// How far the heads among `2·half` coins lie from `half`, by rejection from blocks.
///
/// Blocks of `m > √(2·2·half)` values on either side of the centre are proposed with probabilities `2^-(k+2)`, `k = 0, 1,
/// …`, a value within its block uniformly; it is kept with probability `2^k·m/4` times its own probability, which is
/// below 1.
fn deviation<R: Rng>(half: u64, random: &mut R) -> i64 {
    let block = number::floor_clamped((4.0 * number::to_f64(half)).sqrt()) + 3;
    loop {
        let coins = random.next_u64();
        let blocks = u64::from((coins >> 1).trailing_zeros().min(62));
        let within = below(block, random);
        let distance = blocks * block + within;
        let Ok(distance) = i64::try_from(distance) else { continue };
        let offset = if coins & 1 == 0 { distance } else { -distance - 1 };
        if offset.unsigned_abs() >= half {
            continue;
        }
        let keep = log_probability(half, offset) + ((number::to_f64(block) / 4.0).ln() + bits(blocks));
        if unit(random).ln() < keep {
            return offset;
        }
    }
}

/// `ln 2^k`.
fn bits(k: u64) -> f64 {
    number::to_f64(k) * std::f64::consts::LN_2
}

/// `ln P[half + offset heads among 2·half coins]`, by Stirling's series about the centre.
fn log_probability(half: u64, offset: i64) -> f64 {
    let centre = number::to_f64(half);
    let magnitude = number::to_f64(offset.unsigned_abs());
    let x = magnitude / centre;
    let spread = -0.5 * (std::f64::consts::PI * centre * (1.0 - x) * (1.0 + x)).ln();
    let correction = stirling(2.0 * centre) - stirling(centre - magnitude) - stirling(centre + magnitude);
    spread + correction - centre * deviance(x)
}

/// What Stirling's formula for `ln k!` lacks.
fn stirling(k: f64) -> f64 {
    let square = k * k;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / k
}

/// `(1+x)·ln(1+x) + (1−x)·ln(1−x) = Σ x^2k/(k·(2k−1))`.
fn deviance(x: f64) -> f64 {
    if x > 0.1 {
        return (1.0 + x) * x.ln_1p() + (1.0 - x) * (-x).ln_1p();
    }
    let square = x * x;
    let coefficients = [1.0, 1.0 / 6.0, 1.0 / 15.0, 1.0 / 28.0, 1.0 / 45.0, 1.0 / 66.0, 1.0 / 91.0, 1.0 / 120.0];
    square * coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient)
}

/// A uniform integer below `limit > 0`.
pub(crate) fn below<R: Rng>(limit: u64, random: &mut R) -> u64 {
    // The words above the last whole multiple of `limit` are thrown away.
    let surplus = (u64::MAX % limit + 1) % limit;
    loop {
        let word = random.next_u64();
        if word <= u64::MAX - surplus {
            return word % limit;
        }
    }
}

/// A uniform number in `(0, 1]`, a multiple of 2^-53.
pub(crate) fn unit<R: Rng>(random: &mut R) -> f64 {
    (number::to_f64(random.next_u64() >> 11) + 1.0) / 9_007_199_254_740_992.0
}

#[cfg(test)]
mod tests {
    use dp_noise::hazmat::InsecureTestRng;
    use sketch_testkit::{assert_frequencies, assert_mean, assert_variance};

    use super::*;

    /// `ln k!` by summing logarithms.
    fn log_factorial(k: u64) -> f64 {
        (2..=k).map(|i| number::to_f64(i).ln()).sum()
    }

    #[test]
    fn log_probabilities_agree_with_factorials() {
        for (half, offset) in [(500_u64, 0_i64), (500, 1), (500, -40), (2048, 100), (2048, 700)] {
            let k = half.saturating_add_signed(offset);
            let ln2 = std::f64::consts::LN_2;
            let exact = log_factorial(2 * half)
                - log_factorial(k)
                - log_factorial(2 * half - k)
                - number::to_f64(2 * half) * ln2;
            let got = log_probability(half, offset);
            // The sums of logarithms lose about 1e-16 · 4096 · ln 4096.
            assert!((got - exact).abs() < 1e-9, "half {half}, offset {offset}: {got} against {exact}");
        }
    }

    #[test]
    fn proposals_cover_the_law() {
        // The factor by which a proposal is kept must never exceed 1.
        for half in [1_u64 << 15, 1 << 20, 1 << 40, 1 << 59] {
            let block = number::floor_clamped((4.0 * number::to_f64(half)).sqrt()) + 3;
            for k in 0..8 {
                let Ok(offset) = i64::try_from(k * block) else { continue };
                let keep = log_probability(half, offset) + (number::to_f64(block) / 4.0).ln() + bits(k);
                assert!(keep <= 0.0, "half {half}, block {k}: {keep}");
            }
        }
    }

    #[test]
    fn rejection_gives_the_binomial_law() {
        let half = 1_u64 << 10;
        let mut random = InsecureTestRng::from_u64(11);
        let (low, high) = (-60_i64, 60_i64);
        let cells = usize::try_from(high - low + 3).unwrap();
        let mut counts = vec![0_u64; cells];
        let draws = 400_000;
        for _ in 0..draws {
            let place = (deviation(half, &mut random).clamp(low - 1, high + 1) - (low - 1)).unsigned_abs();
            counts[usize::try_from(place).unwrap()] += 1;
        }
        let mut expected: Vec<f64> =
            ((low - 1)..=(high + 1)).map(|offset| log_probability(half, offset).exp()).collect();
        let inner: f64 = expected[1..cells - 1].iter().sum();
        expected[0] = (1.0 - inner) / 2.0;
        expected[cells - 1] = (1.0 - inner) / 2.0;
        assert_frequencies(&counts, &expected);
    }

    #[test]
    fn many_coins_have_the_right_mean_and_variance() {
        for n in [1_000_u64, 1_000_001, 1 << 40, 1 << 60] {
            let mut random = InsecureTestRng::from_u64(n);
            let scale = number::to_f64(n).sqrt() / 2.0;
            let draws: Vec<f64> =
                (0..20_000).map(|_| (number::to_f64(fair(n, &mut random)) - number::to_f64(n) / 2.0) / scale).collect();
            assert_mean(&draws, 0.0, 1.0);
            assert_variance(&draws, 1.0);
        }
    }

    #[test]
    fn other_coins_have_the_binomial_law() {
        let mut random = InsecureTestRng::from_u64(21);
        // (1 − p)^3, 3p(1 − p)^2, 3p^2(1 − p), p^3.
        for p in [0.1_f64, 0.5, 0.9, 0.75] {
            let mut counts = vec![0_u64; 4];
            for _ in 0..50_000 {
                counts[usize::try_from(binomial(3, p, &mut random)).unwrap()] += 1;
            }
            let q = 1.0 - p;
            assert_frequencies(&counts, &[q.powi(3), 3.0 * p * q * q, 3.0 * p * p * q, p.powi(3)]);
        }
        for (n, p) in [(4096_u64, 0.269), (1 << 20, 1e-4), (1 << 50, 0.3)] {
            let scale = (number::to_f64(n) * p * (1.0 - p)).sqrt();
            let draws: Vec<f64> = (0..20_000)
                .map(|_| (number::to_f64(binomial(n, p, &mut random)) - number::to_f64(n) * p) / scale)
                .collect();
            assert_mean(&draws, 0.0, 1.0);
            assert_variance(&draws, 1.0);
        }
        assert_eq!((binomial(7, 1.0, &mut random), binomial(7, 0.0, &mut random)), (7, 0));
    }

    #[test]
    fn no_coins_show_no_heads() {
        assert_eq!(fair(0, &mut InsecureTestRng::from_u64(1)), 0);
    }
}
