use cardinality_estimators::Status;
use cardinality_estimators::parity::SetCombination;
use dp_noise::Epsilon;
use gf2_linalg::{BitSlice, Lsb0};
use sketch_hash::DefaultHash;

use super::*;
use crate::coins::CoinUses;
use crate::leaf::Leaf;
use crate::private::Noisy;
use crate::sets::SketchPair;
use crate::sketch::Kind;
use crate::unit::Unit;
use crate::{MaxWeight, Presampled, Set, Table};

/// A private sketch in which the first `ones(table, cells)` cells of every table are set, behind so many releases with flip
/// probability `p · 2^64`.
fn forged<M: Mode>(
    shape: &F0Shape,
    rule: WeightRule,
    ones: impl Fn(usize, usize) -> usize,
    releases: usize,
    flips: u64,
) -> PrivateF0Sketch<M> {
    let mut bits = vec![0_u64; shape.words()];
    let cells = BitSlice::<u64, Lsb0>::from_slice_mut(&mut bits);
    for (table, range) in shape.ranges().enumerate() {
        let ones = ones(table, range.len());
        cells[range.start..range.start + ones].fill(true);
    }
    let leaf = |index: usize| {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(u64::try_from(index).unwrap_or(0) + flips).to_be_bytes());
        let epsilon = Epsilon::new(256.0).expect("in range").get();
        Leaf::from_parts(id, flips, epsilon, Unit::Item, M::KIND).expect("noise enough for epsilon 256")
    };
    let leaves = (0..releases).map(leaf).collect();
    let kind = Kind { hash_id: DefaultHash::default().id(), shape, rule };
    PrivateF0Sketch::from_parts(kind, Noisy { bits, leaves, coins: CoinUses::default(), insecure_noise: false })
}

/// Flip probability as a numerator.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within range")]
fn numerator(p: f64) -> u64 {
    (p * 2_f64.powi(64)).floor() as u64
}

fn shapes() -> Vec<F0Shape> {
    let table = |share, cells| Table { share, cells };
    let general = [table(1 << 62, 16), table(3 << 59, 50), table(5 << 59, 30)];
    vec![
        F0Shape::DEFAULT,
        F0Shape::new(64, 2).expect("a valid shape"),
        F0Shape::new(1, 3).expect("a valid shape"),
        F0Shape::with_tables(&general).expect("a valid shape"),
    ]
}

fn check_answers<M: Mode>(sketch: &PrivateF0Sketch<M>) {
    let plain = sketch.estimate(Confidence::P95);
    let intervals = [Radius::FailureProbability(0.05), Radius::FailureProbability(1e-300), Radius::Cells(0.0)];
    let mut answers = vec![plain, sketch.estimate_knowing(1e9, Confidence::P95).expect("a valid sum")];
    for radius in intervals {
        answers.push(sketch.interval_estimate(radius).expect("a valid radius"));
        answers.push(sketch.interval_estimate_or_minimax(radius).expect("a valid radius"));
    }
    for answer in answers {
        for number in [answer.value(), answer.std_error(), answer.lower(), answer.upper()].into_iter().flatten() {
            assert!(number.is_finite() && number >= 0.0, "{answer:?}");
        }
        assert_eq!(answer.value().is_some(), answer.status().has_value());
    }
}

#[test]
fn hostile_cells_give_answers_without_nan_or_panic() {
    let euros = WeightRule::Weighted(MaxWeight::new(MaxWeight::MAX).expect("in range"));
    for shape in shapes() {
        for (releases, p) in [(1, 1e-19), (1, 0.27), (1, 0.499_999_999), (400, 0.4), (2000, 0.49)] {
            let flips = numerator(p);
            for ones in [
                |_, _| 0,
                |_, cells| cells,
                |_, cells: usize| cells / 2,
                |_, cells: usize| cells / 5,
                |table: usize, cells: usize| if table.is_multiple_of(2) { cells } else { 0 },
            ] {
                check_answers(&forged::<Set>(&shape, WeightRule::Unit, ones, releases, flips));
                check_answers(&forged::<Presampled>(&shape, euros, ones, releases, flips));
            }
        }
    }
}

#[test]
fn as_many_releases_as_there_may_be_say_nothing() {
    let shape = &shapes()[3];
    let noisy = forged::<Set>(shape, WeightRule::Unit, |_, cells| cells / 3, crate::MAX_RELEASES, numerator(0.4));
    assert!(noisy.contrast() < 1e-300);
    check_answers(&noisy);
    let answer = noisy.estimate(Confidence::P95);
    assert_eq!((answer.lower(), answer.upper()), (Some(0.0), None), "{answer}");
}

#[test]
fn full_sketches_have_no_value() {
    for epsilon in [0.5, 1.0, 2.0, 8.0_f64] {
        let p = numerator(1.0 / (1.0 + epsilon.exp()));
        let full = forged::<Set>(&F0Shape::DEFAULT, WeightRule::Unit, |_, cells| cells / 2, 1, p);
        let answer = full.estimate(Confidence::P95);
        assert_eq!((answer.status(), answer.value(), answer.upper()), (Status::Saturated, None, None));
        assert!(answer.lower().is_some_and(|lower| lower > 1e9), "{answer}");
        let certified = full.interval_estimate(Radius::of_paper(24)).expect("a valid radius");
        assert_eq!((certified.status(), certified.value()), (Status::Unbounded, None));
    }
}

#[test]
fn pairs_of_hostile_cells_give_answers_without_nan_or_panic() {
    let every: [fn(usize, usize) -> usize; 4] =
        [|_, _| 0, |_, cells| cells, |_, cells| cells / 2, |table, cells| cells / (table + 2)];
    for shape in &shapes()[1..] {
        for (first, second) in [(1e-19, 2e-19), (0.2, 0.3), (1e-19, 0.499_999), (0.499_999, 0.499_998)] {
            for ones in every {
                for others in every {
                    let a = forged::<Set>(shape, WeightRule::Unit, ones, 1, numerator(first));
                    let b = forged::<Set>(shape, WeightRule::Unit, others, 1, numerator(second));
                    let pair = SketchPair::new(&a, &b).expect("alike");
                    let sizes = SetCombination::ALL.map(|combination| pair.estimate(combination, Confidence::P95));
                    for answer in sizes.into_iter().chain([pair.jaccard(Confidence::P95)]) {
                        let numbers = [answer.value(), answer.std_error(), answer.lower(), answer.upper()];
                        assert!(numbers.into_iter().flatten().all(|x| x.is_finite() && x >= 0.0), "{answer:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn answers_are_in_units_of_the_largest_weight() {
    let max = WeightRule::Weighted(MaxWeight::new(40.0).expect("in range"));
    let ones = |table: usize, _| [1500, 1400, 1300, 1200, 1150].get(table).copied().unwrap_or(1102);
    let p = numerator(1.0 / (1.0 + 1_f64.exp()));
    let weighted = forged::<Set>(&F0Shape::DEFAULT, max, ones, 1, p);
    let plain = forged::<Set>(&F0Shape::DEFAULT, WeightRule::Unit, ones, 1, p);
    let (sum, count) = (weighted.estimate(Confidence::P95), plain.estimate(Confidence::P95));
    let (sum, count) = (sum.value().expect("a sum"), count.value().expect("a count"));
    // The rates 2ρ and −ln(1 − 2ρ) differ by a share ρ of at most 1/8192.
    assert!((sum / 40.0 / count - 1.0).abs() < 2e-4, "{sum} {count}");
    // Knowing that weights are all as large as can be, Σw² is the sum times the largest.
    let known = weighted.estimate_knowing(sum * 40.0, Confidence::P95).expect("a valid sum");
    assert_eq!(known.value(), Some(sum));
    let plain_error = plain.estimate(Confidence::P95).std_error().expect("an error");
    assert!((known.std_error().expect("an error") / 40.0 / plain_error - 1.0).abs() < 1e-3);
    assert!(weighted.estimate_knowing(f64::NAN, Confidence::P95).is_err());
}
