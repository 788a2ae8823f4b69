//! Exact laws of released sketches, by adding up every pattern of noise and coins. Tests only.
//!
//! The probabilities are the integers over 2⁶⁴ that the code draws with, the cells are those of the code, and
//! [`noise_is_added_as_enumerated`] ties a release to both. Ratios are compared as integers, and the bounds they reach are
//! compared with e^ε by the directed rounding of `dp-noise`.
#![expect(clippy::many_single_char_names, clippy::similar_names, reason = "in short sums, where each has one meaning")]

use std::cmp::Ordering;

use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{DyadicProbability, Epsilon, NoiseSource, Permit, RandomizedResponse, bernoulli_words};
use sketch_hash::{DefaultHash, Item};
use sketch_testkit::Big;

use crate::mode::{Mode, ModeKind, Presampled, Set};
use crate::noise::{NoiseRule, flip_probability};
use crate::{F0Shape, F0Sketch, Unit, WeightRule};

mod presampled;
mod set;
mod subsampled;

/// Levels to try.
const LEVELS: [f64; 4] = [0.1, 0.5, 1.0, 3.0];

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn small_shape() -> F0Shape {
    F0Shape::new(2, 4).unwrap()
}

/// The cells of the items `0 ..`, as the code places them.
fn cells(shape: &F0Shape, items: u64) -> Vec<usize> {
    let placement = shape.placement();
    (0..items).map(|item| placement.cell(Item::from(item).hash128(&DefaultHash::default()))).collect()
}

/// Items in different cells, so many.
fn apart(shape: &F0Shape, count: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for cell in cells(shape, 1000) {
        if !found.contains(&cell) {
            found.push(cell);
        }
    }
    found.truncate(count);
    assert_eq!(found.len(), count);
    found
}

/// Numerators of the probabilities of all outcomes, over one denominator for all laws that are compared.
type Law = Vec<Big>;

/// `Π p_i or (1 − p_i)`, for each of `cells` bits of `pattern`.
fn weight(pattern: usize, cells: usize, p: DyadicProbability) -> Big {
    (0..cells).fold(Big::one(), |product, cell| {
        let flipped = pattern >> cell & 1 == 1;
        product.times(if flipped { p.numerator() } else { p.numerator().wrapping_neg() })
    })
}

/// The law of one release of a state that is known.
fn law_of_state(state: usize, cells: usize, p: DyadicProbability) -> Law {
    (0..1 << cells).map(|outcome| weight(outcome ^ state, cells, p)).collect()
}

/// The law of the mixture of laws, each of equal probability.
fn mixture(laws: impl Iterator<Item = Law>) -> Law {
    laws.reduce(|mut sum, law| {
        sum.iter_mut().zip(&law).for_each(|(sum, term)| sum.add(term));
        sum
    })
    .unwrap()
}

/// The law of two independent outcomes together.
fn product(first: &Law, second: &Law) -> Law {
    first.iter().flat_map(|a| second.iter().map(move |b| a.times_big(b))).collect()
}

/// A bound on ratios, `numerator / denominator`.
#[derive(Clone)]
struct Ratio(Big, Big);

impl Ratio {
    fn of(numerator: u64, denominator: u64) -> Self {
        Self(Big::one().times(numerator), Big::one().times(denominator))
    }

    fn times(&self, other: &Self) -> Self {
        Self(self.0.times_big(&other.0), self.1.times_big(&other.1))
    }

    fn power(&self, count: usize) -> Self {
        (1..count).fold(self.clone(), |product, _| product.times(self))
    }

    fn ln(&self) -> f64 {
        self.0.ln_ratio(&self.1)
    }

    /// Compares `a / b` with this bound.
    fn compare(&self, a: &Big, b: &Big) -> Ordering {
        a.times_big(&self.1).compare(&b.times_big(&self.0))
    }
}

/// `(1 − p) / p`, the loss of one cell whose bit is known.
fn symmetric_ratio(p: DyadicProbability) -> Ratio {
    Ratio::of(p.numerator().wrapping_neg(), p.numerator())
}

/// `(1/2) / p`, the loss of one cell whose bit is fair; `(1 − p) / (1/2)` is never more.
fn fair_ratio(p: DyadicProbability) -> Ratio {
    Ratio::of(1 << 63, p.numerator())
}

/// Asserts that no outcome is more likely under one law than `bound` times as under the other, either way.
#[track_caller]
fn assert_within(first: &Law, second: &Law, bound: &Ratio) -> bool {
    let mut reached = false;
    for (a, b) in first.iter().zip(second) {
        for order in [bound.compare(a, b), bound.compare(b, a)] {
            assert_ne!(order, Ordering::Greater, "a ratio above {}", bound.ln().exp());
            reached |= order == Ordering::Equal;
        }
    }
    reached
}

/// The largest loss over all outcomes, either way.
fn largest_loss(first: &Law, second: &Law) -> f64 {
    first.iter().zip(second).map(|(a, b)| a.ln_ratio(b).abs()).fold(0.0, f64::max)
}

/// Asserts that a cell that is fair or known, according to the mode, keeps the level.
#[track_caller]
fn assert_keeps(mode: ModeKind, p: DyadicProbability, level: Epsilon) {
    let kept = if mode == ModeKind::Set { p.complement().unwrap() } else { DyadicProbability::half() };
    assert!(RandomizedResponse::from_parts(kept, p, level).is_ok(), "{mode} at {}", level.get());
}

/// A release is the true cells, inverted where words of the enumerated probability say so.
fn check_release<M: Mode>(unit: Unit, rule: NoiseRule, level: f64) {
    let shape = F0Shape::new(3, 5).unwrap();
    let mut raw: F0Sketch<M> = F0Sketch::new(shape.clone(), WeightRule::Unit, DefaultHash::default());
    for item in 0..9_u64 {
        raw.toggle_one(Item::from(item).hash128(&DefaultHash::default()), crate::Weight::ONE, item & 1);
    }
    let mut noise = InsecureTestRng::from_u64(7);
    let mut replayed = noise.clone();
    let truth = raw.cells.words().to_vec();
    let released = raw.release_with(rule, unit, Permit::standalone(epsilon(level)), &mut noise).unwrap();

    let share = Permit::standalone(epsilon(level)).cost().divide(unit.max_items()).unwrap();
    let p = flip_probability(M::KIND, rule, share, 0.0);
    let mut name = [0; 16];
    dp_noise::rand_core::Rng::fill_bytes(&mut replayed, &mut name);
    let mut flips = vec![0; 1];
    bernoulli_words(p, &mut replayed, &mut flips);
    assert_eq!(released.bits(), [truth[0] ^ (flips[0] & 0x7fff)]);
    assert_eq!(released.leaves()[0].id().to_bytes(), name);
    assert_eq!(released.leaves()[0].flip_numerator(), p.numerator());
    if M::KIND == ModeKind::Presampled {
        // The name of coins that no item has drawn yet.
        dp_noise::rand_core::Rng::fill_bytes(&mut replayed, &mut name);
        assert!(released.coins().eq([(crate::CoinId::from_bytes(name), released.leaves()[0].id())]));
    }
    let mut more = [0];
    replayed.fill_words(&mut more);
    assert_eq!(dp_noise::rand_core::Rng::next_u64(&mut noise), more[0], "nothing else is drawn");
}

#[test]
fn noise_is_added_as_enumerated() {
    for unit in [Unit::Item, Unit::user(3).unwrap()] {
        for rule in [NoiseRule::Tight, NoiseRule::Paper] {
            for level in LEVELS {
                check_release::<Set>(unit, rule, level);
                check_release::<Presampled>(unit, rule, level);
            }
        }
    }
}
