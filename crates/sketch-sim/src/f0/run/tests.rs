use std::collections::BTreeMap;

use cardinality_estimators::{CellGroup, Estimate};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::rand_core::Rng;
use f0_sketch::{F0Shape, F0Sketch, MaxWeight, Mode, ModeKind, Presampled, PrivateF0Sketch, Set, WeightRule};
use sketch_hash::DefaultHash;
use sketch_testkit::chi_square_above;

use super::*;
use crate::f0::model::released;
use crate::f0::settings::Weights;
use crate::number::to_f64;

/// What a test of two samples may do by chance.
const FALSE_ALARM: f64 = 1e-6;

fn settings(text: &str) -> Settings {
    Settings::parse(text.split_whitespace().map(str::to_owned)).expect("the options are right").0
}

/// What a mode's sketch does with an item.
trait Build: Mode {
    fn add(sketch: &mut F0Sketch<Self>, hash: [u64; 2], weight: f0_sketch::Weight, random: &mut InsecureTestRng);
}

impl Build for Set {
    fn add(sketch: &mut F0Sketch<Self>, hash: [u64; 2], weight: f0_sketch::Weight, _: &mut InsecureTestRng) {
        if sketch.weight_rule() == WeightRule::Unit {
            sketch.toggle_hash(hash);
        } else {
            sketch.toggle_hash_weighted(hash, weight).expect("the sketch has weights");
        }
    }
}

impl Build for Presampled {
    /// One to three occurrences.
    fn add(sketch: &mut F0Sketch<Self>, hash: [u64; 2], weight: f0_sketch::Weight, random: &mut InsecureTestRng) {
        for _ in 0..=random.next_u64() % 3 {
            if sketch.weight_rule() == WeightRule::Unit {
                sketch.observe_hash(hash, random);
            } else {
                sketch.observe_hash_weighted(hash, weight, random).expect("the sketch has weights");
            }
        }
    }
}

/// A merge of releases of real sketches, from random hashes.
fn real<M: Build>(settings: &Settings, model: &Model, random: &mut InsecureTestRng) -> PrivateF0Sketch<M> {
    let rule = match settings.weights {
        Weights::Unit => WeightRule::Unit,
        _ => WeightRule::Weighted(MaxWeight::new(1.0).expect("in range")),
    };
    let shape = F0Shape::new(settings.levels, settings.cells).expect("in range");
    let new = || F0Sketch::<M>::new(shape.clone(), rule, DefaultHash::default());
    let mut sketches: Vec<F0Sketch<M>> = (0..settings.merged).map(|_| new()).collect();
    let parties = sketches.len();
    for (item, weight) in model.population.weights().enumerate() {
        let hash = [random.next_u64(), random.next_u64()];
        M::add(&mut sketches[item % parties], hash, weight, random);
    }
    let epsilon = settings.epsilon.expect("with noise");
    let releases: Vec<_> =
        sketches.into_iter().map(|sketch| released(sketch, settings, epsilon, random).expect("released")).collect();
    PrivateF0Sketch::merge_all(&releases.iter().collect::<Vec<_>>()).expect("they merge")
}

/// Whether two samples of one law may look like these: chi-square of the table of both, with rare outcomes together.
fn assert_same_law(first: &BTreeMap<Vec<u64>, u64>, second: &BTreeMap<Vec<u64>, u64>, what: &str) {
    let get = |sample: &BTreeMap<Vec<u64>, u64>, key: &Vec<u64>| sample.get(key).copied().unwrap_or(0);
    let keys: std::collections::BTreeSet<&Vec<u64>> = first.keys().chain(second.keys()).collect();
    let (mut cells, mut rare) = (Vec::new(), [0_u64; 2]);
    for key in keys {
        let pair = [get(first, key), get(second, key)];
        if pair[0] + pair[1] >= 50 {
            cells.push(pair);
        } else {
            rare = [rare[0] + pair[0], rare[1] + pair[1]];
        }
    }
    if rare[0] + rare[1] >= 50 {
        cells.push(rare);
    }
    // Samples of equal size: Σ (a − b)²/(a + b).
    let statistic: f64 = cells.iter().map(|[a, b]| to_f64(a.abs_diff(*b)).powi(2) / to_f64(a + b)).sum();
    let freedom = cells.len() as u64 - 1;
    assert!(freedom >= 3, "{what}: nothing to compare");
    let chance = chi_square_above(statistic, freedom);
    assert!(chance > FALSE_ALARM, "{what}: chi-square {statistic:.1} with {freedom} degrees of freedom");
}

fn compare<M: Build>(text: &str) {
    const DRAWS: usize = 20_000;
    let settings = settings(text);
    assert_eq!(settings.mode, M::KIND);
    let model = Model::new(&settings).expect("accepted");
    let mut random = InsecureTestRng::from_u64(77);
    let (mut drawn, mut built) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..DRAWS {
        let counts = model.draw(&mut random).expect("drawn");
        *drawn.entry(counts.tables().iter().map(CellGroup::ones).collect()).or_default() += 1;
        let sketch = real::<M>(&settings, &model, &mut random);
        assert_eq!(sketch.contrast().to_bits(), model.contrast().to_bits(), "{text}");
        *built.entry(sketch.ones_per_table()).or_default() += 1;
    }
    assert_same_law(&drawn, &built, text);
}

#[test]
fn drawn_counts_have_the_law_of_real_sketches() {
    compare::<Set>("--levels 3 --cells 4 --n 7 --epsilon 2");
    compare::<Set>("--levels 2 --cells 3 --n 5 --epsilon 4 --merged 3");
    compare::<Set>("--levels 3 --cells 4 --n 9 --epsilon 3 --noise paper");
    compare::<Set>("--levels 2 --cells 4 --n 12 --epsilon 3 --weights uniform --merged 2");
    compare::<Set>("--levels 2 --cells 4 --n 150 --epsilon 3");
}

#[test]
fn drawn_counts_have_the_law_of_real_sketches_of_streams() {
    let mode = "--mode presampled";
    compare::<Presampled>(&format!("--levels 3 --cells 4 --n 7 --epsilon 2 {mode}"));
    compare::<Presampled>(&format!("--levels 2 --cells 3 --n 5 --epsilon 4 --merged 3 {mode}"));
    compare::<Presampled>(&format!("--levels 2 --cells 4 --n 12 --epsilon 3 --weights pareto --noise paper {mode}"));
}

/// The simulator answers as the sketch itself does.
fn answers<M: Build>(text: &str, answer: impl Fn(&PrivateF0Sketch<M>) -> Estimate) {
    let settings = settings(text);
    let model = Model::new(&settings).expect("accepted");
    let mut random = InsecureTestRng::from_u64(3);
    for _ in 0..3 {
        let sketch = real::<M>(&settings, &model, &mut random);
        let counts = model.counts(&sketch.ones_per_table()).expect("counts of this shape");
        let ours = settings.estimator.answer(&counts, CONFIDENCE).expect("answered");
        assert_eq!(ours, answer(&sketch), "{text}");
    }
}

#[test]
fn the_simulator_answers_as_the_sketch_itself() {
    answers::<Set>("--levels 12 --cells 256 --n 5000 --epsilon 2", |sketch| sketch.estimate(CONFIDENCE));
    answers::<Set>("--levels 12 --cells 256 --n 5000 --epsilon 2 --merged 2 --weights uniform", |sketch| {
        sketch.estimate(CONFIDENCE)
    });
    let presampled = "--levels 12 --cells 256 --n 5000 --epsilon 2 --mode presampled";
    answers::<Presampled>(presampled, |sketch| sketch.estimate(CONFIDENCE));
    answers::<Presampled>(&format!("{presampled} --weights pareto"), |sketch| sketch.estimate(CONFIDENCE));
}

#[test]
fn results_depend_on_the_seed_and_not_on_the_number_of_threads() {
    for weights in ["unit", "uniform"] {
        let text = format!("--levels 12 --cells 256 --n 5000 --epsilon 2 --trials 60 --weights {weights}");
        let one = simulate(&settings(&text), Some(1)).unwrap();
        assert_eq!(one, simulate(&settings(&text), Some(3)).unwrap());
        assert_ne!(one, simulate(&settings(&format!("{text} --seed 2")), None).unwrap());
    }
}

#[test]
fn modes_have_the_contrasts_of_their_noise() {
    let of = |text: &str| Model::new(&settings(&format!("--levels 2 --cells 64 --n 9 {text}"))).unwrap().contrast();
    for (text, contrast) in [
        ("--epsilon 1", 0.5_f64.tanh()),
        ("--epsilon 1 --merged 3", 0.5_f64.tanh().powi(3)),
        ("--epsilon 1 --noise paper", 1.0 / 3.0),
        ("--epsilon 1 --mode presampled --merged 2", (1.0 - (-1.0_f64).exp()).powi(2)),
        ("--epsilon inf", 1.0),
    ] {
        assert!((of(text) / contrast - 1.0).abs() < 1e-12, "{text}");
    }
    assert_eq!(settings("--levels 2 --cells 64 --n 9 --epsilon 1").mode, ModeKind::Set);
}
