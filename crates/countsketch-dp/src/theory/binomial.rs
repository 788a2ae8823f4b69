//! Upper tails of the binomial law, by their sum of positive terms.

/// `P[Bin(trials, q) ≥ least]`, to about 1e-13 relative where `least` is above the mean.
pub(crate) fn at_least(trials: u32, q: f64, least: u32) -> f64 {
    if least == 0 || q >= 1.0 {
        return if least <= trials { 1.0 } else { 0.0 };
    }
    if least > trials || q <= 0.0 {
        return 0.0;
    }
    let odds = q / (1.0 - q);
    let mut term = log_term(trials, q, least).exp();
    let mut sum = 0.0;
    for successes in least..=trials {
        sum += term;
        let left = f64::from(trials - successes);
        term *= odds * left / (f64::from(successes) + 1.0);
        if left * odds < f64::from(successes) && term < sum * 1e-18 {
            break;
        }
    }
    sum.min(1.0)
}

/// `ln P[Bin(trials, q) = successes]`.
fn log_term(trials: u32, q: f64, successes: u32) -> f64 {
    let rest = trials - successes;
    let small = successes.min(rest);
    let choices: f64 = (1..=small).map(|i| (f64::from(trials - small + i) / f64::from(i)).ln()).sum();
    choices + f64::from(successes) * q.ln() + f64::from(rest) * (-q).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_an_independent_sum() {
        for trials in [1_u32, 5, 31, 255] {
            for q in [1e-9, 0.01, 0.3, 0.5, 0.9] {
                for least in [0, 1, trials.div_ceil(2), trials, trials + 1] {
                    let want = sketch_testkit::binomial_at_least(u64::from(least), u64::from(trials), q);
                    let got = at_least(trials, q, least);
                    assert!((got - want).abs() <= 1e-11 * want, "{trials} {q} {least}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn three_coins_are_counted_by_hand() {
        assert!((at_least(3, 0.25, 2) - (3.0 * 0.0625 * 0.75 + 0.015_625)).abs() < 1e-16);
    }
}
