//! Upper tails of the binomial law, by their sum of positive terms.

/// The tail `P[Bin(trials, q) ≥ least]` as a function of `q`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BinomialTail {
    trials: u32,
    least: u32,
    /// The logarithm of the number of ways to choose `least` of the trials.
    log_choices: f64,
}

impl BinomialTail {
    pub(crate) fn new(trials: u32, least: u32) -> Self {
        let small = least.min(trials.saturating_sub(least));
        let log_choices = (1..=small).map(|i| (f64::from(trials - small + i) / f64::from(i)).ln()).sum();
        Self { trials, least, log_choices }
    }

    /// The tail, to about 1e-13 relative where `least` is above the mean.
    pub(crate) fn at(&self, q: f64) -> f64 {
        let Self { trials, least, log_choices } = *self;
        if least == 0 || q >= 1.0 {
            return if least <= trials { 1.0 } else { 0.0 };
        }
        if least > trials || q <= 0.0 {
            return 0.0;
        }
        let odds = q / (1.0 - q);
        let mut term = (log_choices + f64::from(least) * q.ln() + f64::from(trials - least) * (-q).ln_1p()).exp();
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
}

/// `P[Bin(trials, q) ≥ least]`.
pub(crate) fn at_least(trials: u32, q: f64, least: u32) -> f64 {
    BinomialTail::new(trials, least).at(q)
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
