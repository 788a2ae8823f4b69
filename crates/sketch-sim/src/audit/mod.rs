//! Privacy from outside: what releases of neighbouring data say, by a test of two samples.
//!
//! Each pair of data sets is released many times by the product, and one event is counted, the one that tells the two
//! apart best by the law that the release states: a likelihood ratio above `e^ε`. From the two counts follow bounds on
//! what the level really is, each of which is wrong at most once in a million audits. A level above what is claimed
//! means broken noise, sensitivity or calibration; one below the exact law means that the noise is not the stated one.

mod bound;
mod pair;
mod parity;

use std::fmt;

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, RandomizedResponse, exact_rows_delta, zcdp_delta};

use crate::frequency::FrequencyError;
use crate::options::{OptionError, Options};
use crate::simulate::repeat;
use bound::{Share, bounds};
use pair::{PAIRS, Pair};

/// All bounds of an audit together are wrong as rarely as this.
const FALSE_ALARM: f64 = 1e-6;
/// Releases in one piece of work.
const CHUNK: u32 = 2000;
const RHO: f64 = 0.5;
const LAPLACE: f64 = 1.0;

/// How an audit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Releases of each data set.
    pub trials: u32,
    /// Seed of all randomness.
    pub seed: u64,
    /// Worker threads, `None` for all cores.
    pub threads: Option<usize>,
}

impl Plan {
    /// Reads the options of `audit-privacy`.
    ///
    /// # Errors
    /// [`OptionError`] naming the option.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, OptionError> {
        let options = Options::parse(arguments, &["--trials", "--seed", "--threads"], &[])?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let expected = "a whole number from 1000 to 100000000";
        let trials = options.number("--trials", expected)?.unwrap_or(400_000);
        if !(1000..=100_000_000).contains(&trials) {
            return Err(Options::refuse("--trials", &trials.to_string(), expected));
        }
        Ok(Self {
            trials,
            seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
            threads: crate::simulate::threads(&options)?,
        })
    }
}

/// What one event says of one mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Mechanism, relation and what is bounded.
    pub title: String,
    /// What the product claims.
    pub claim: f64,
    /// What holds exactly, where that is known.
    pub exact: Option<f64>,
    /// Between what it lies by the counts.
    pub bounds: [f64; 2],
}

impl Finding {
    /// Whether the counts contradict the claim or the exact law.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let [low, high] = self.bounds;
        !(low <= self.claim && self.exact.is_none_or(|exact| low <= exact && exact <= high))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.bounds;
        write!(f, "{}: claimed {:.5}", self.title, self.claim)?;
        if let Some(exact) = self.exact {
            write!(f, ", exact {exact:.5}")?;
        }
        write!(f, ", measured {low:.5} to {high:.5}")?;
        if self.is_broken() { write!(f, "  BROKEN") } else { Ok(()) }
    }
}

/// Audits every mechanism under every relation.
///
/// # Errors
/// [`FrequencyError`] when the product refuses a setting.
///
/// # Examples
/// ```
/// use sketch_sim::audit::{Plan, audit};
/// let findings = audit(&Plan { trials: 4000, seed: 1, threads: None })?;
/// assert!(findings.iter().all(|finding| !finding.is_broken()));
/// # Ok::<(), sketch_sim::frequency::FrequencyError>(())
/// ```
pub fn audit(plan: &Plan) -> Result<Vec<Finding>, FrequencyError> {
    let mut findings = Vec::new();
    for (seed, pair) in (plan.seed..).step_by(4).zip(PAIRS) {
        for (index, epsilon) in (0..).zip([0.25, 1.0]) {
            findings.push(gaussian(pair, epsilon, &Plan { seed: seed + index, ..*plan })?);
        }
        findings.push(laplace(pair, &Plan { seed: seed + 2, ..*plan })?);
    }
    for (name, make) in [
        ("symmetric flips", RandomizedResponse::symmetric as fn(Epsilon) -> RandomizedResponse),
        ("flips for xor merges", RandomizedResponse::xor_family),
    ] {
        findings.push(flips(name, make, plan)?);
    }
    findings.extend(parity::findings(plan)?);
    Ok(findings)
}

/// Events of an audit, each with an upper and a lower bound on two probabilities.
fn alpha() -> f64 {
    FALSE_ALARM / 4.0 / 32.0
}

/// δ at ε of a Gaussian release: `P[E] − e^ε·P'[E]` for the event `E` that the ratio is above `e^ε`.
fn gaussian(pair: &Pair, epsilon: f64, plan: &Plan) -> Result<Finding, FrequencyError> {
    let prepared = pair.prepare()?;
    let level = Epsilon::new(epsilon).map_err(FrequencyError::refused)?;
    let (law, rho) = prepared.gaussian(RHO)?;
    // Ties have no part in δ: 1 − e^ε·e^−ε.
    let event = |cells: &[i64]| law.log_ratio(cells) > epsilon + 1e-9;
    let [with, without] = prepared.count(plan, event, |raw, noise| prepared.release_gaussian(raw, RHO, noise))?;
    let (p, q) = (bounds(with, alpha()), bounds(without, alpha()));
    let exact = prepared
        .moves_each_row_by_one()
        .map(|rows| exact_rows_delta(rows, law.variance(), 1, level))
        .transpose()
        .map_err(FrequencyError::refused)?;
    Ok(Finding {
        title: format!("Gaussian, {}, δ at ε = {epsilon}", pair.name),
        claim: zcdp_delta(rho, epsilon),
        exact,
        bounds: [(p.low - epsilon.exp() * q.high).max(0.0), p.high - epsilon.exp() * q.low],
    })
}

/// ε of a Laplace release: `ln(P[E]/P'[E])` for the event that the ratio is as large as it can be.
fn laplace(pair: &Pair, plan: &Plan) -> Result<Finding, FrequencyError> {
    let prepared = pair.prepare()?;
    let law = prepared.laplace(LAPLACE)?;
    let most = law.largest_log_ratio();
    let event = |cells: &[i64]| law.log_ratio(cells) >= most - 1e-9;
    let [with, without] = prepared.count(plan, event, |raw, noise| prepared.release_laplace(raw, LAPLACE, noise))?;
    let (p, q) = (bounds(with, alpha()), bounds(without, alpha()));
    Ok(Finding {
        title: format!("Laplace, {}, ε", pair.name),
        claim: LAPLACE,
        exact: Some(most),
        bounds: [(p.low / q.high).ln(), (p.high / q.low).ln()],
    })
}

/// ε of flipped bits, from how often a 1 and a 0 come out as 1, and as 0.
fn flips(name: &str, make: fn(Epsilon) -> RandomizedResponse, plan: &Plan) -> Result<Finding, FrequencyError> {
    let level = Epsilon::new(LAPLACE).map_err(FrequencyError::refused)?;
    let channel = make(level);
    let chunks = plan.trials / CHUNK + 1;
    let ones = |bit: u64, seed: u64| -> Result<Share, FrequencyError> {
        let one = |noise: &mut InsecureTestRng| {
            let mut words = [bit; 64];
            channel.apply(noise, &mut words);
            words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
        };
        let counts = repeat((chunks, seed, plan.threads), || (), |(), noise| Ok::<_, FrequencyError>(one(noise)))?;
        Ok(Share { hits: counts.iter().sum(), of: u64::from(chunks) * 4096 })
    };
    let (with, without) = (ones(u64::MAX, plan.seed + 1000)?, ones(0, plan.seed + 1001)?);
    let (p, q) = (bounds(with, alpha()), bounds(without, alpha()));
    // The larger of the two ratios; whichever it is, both bounds of it hold.
    let low = (p.low / q.high).ln().max(((1.0 - q.high) / (1.0 - p.low)).ln());
    let high = (p.high / q.low).ln().max(((1.0 - q.low) / (1.0 - p.high)).ln());
    Ok(Finding { title: format!("{name}, a bit, ε"), claim: LAPLACE, exact: Some(LAPLACE), bounds: [low, high] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_below_what_was_measured_is_broken() {
        let finding = Finding { title: String::new(), claim: 1.0, exact: Some(0.9), bounds: [0.8, 0.95] };
        assert!(!finding.is_broken());
        assert!(Finding { claim: 0.7, exact: None, ..finding.clone() }.is_broken());
        assert!(Finding { exact: Some(0.96), ..finding.clone() }.is_broken(), "more noise than stated");
        assert!(Finding { bounds: [f64::NAN; 2], ..finding }.is_broken());
    }

    /// Half the noise that a level needs is found out.
    #[test]
    fn too_little_noise_is_found_out() {
        let plan = Plan { trials: 100_000, seed: 3, threads: None };
        let prepared = PAIRS[0].prepare().unwrap();
        let law = prepared.laplace(LAPLACE).unwrap();
        let event = |cells: &[i64]| law.log_ratio(cells) >= law.largest_log_ratio() - 1e-9;
        let weak = |raw, noise: &mut InsecureTestRng| prepared.release_laplace(raw, 2.0 * LAPLACE, noise);
        let [with, without] = prepared.count(&plan, event, weak).unwrap();
        let low = (bounds(with, alpha()).low / bounds(without, alpha()).high).ln();
        assert!(low > LAPLACE, "{low}");
    }
}
