//! Boolean operations on released sketches. Channels are enumerated in `src/enumeration`; here it is the whole way.
#![expect(clippy::cast_precision_loss, reason = "counts are small")]

mod support;

use sfm_pcsa::cardinality_estimators::BitChannel;
use sfm_pcsa::diagnostics::{gate_table, placement};
use sfm_pcsa::{BooleanOp, MergeError, MergeForm, NoisyCells, OutputForm, PcsaShape, SfmSketch};
use sketch_hash::{DefaultHash, Item};
use sketch_testkit::{assert_mean, assert_variance};
use support::{noise, other_key, permit, raw, released, shape};

const FORMS: [OutputForm; 2] = [OutputForm::Extremal, OutputForm::Symmetric];

/// The true cells, from the definition: level by level, bucket by bucket.
fn cells(shape: PcsaShape, items: std::ops::Range<u64>) -> Vec<Vec<bool>> {
    let mut cells = vec![vec![false; shape.buckets() as usize]; usize::from(shape.levels())];
    for item in items {
        let hash = Item::from(item).hash64(&DefaultHash::default());
        let (bucket, level) = placement(hash, shape.index_bits(), shape.levels());
        cells[usize::from(level)][bucket as usize] = true;
    }
    cells
}

/// How many cells of each level the operation says yes to.
fn truth(op: BooleanOp, first: &[Vec<bool>], second: &[Vec<bool>]) -> Vec<u64> {
    let level = |(a, b): (&Vec<bool>, &Vec<bool>)| a.iter().zip(b).map(|(&a, &b)| u64::from(op.apply(a, b))).sum();
    first.iter().zip(second).map(level).collect()
}

#[test]
fn nearly_without_noise_every_operation_gives_the_true_cells() {
    // At epsilon = 40 a bit is wrong with probability 4e-18.
    for shape in [shape(64, 8), shape(4, 5), shape(2, 63), PcsaShape::DEFAULT] {
        let mut coins = noise(1);
        let (left, right) = (0..700, 400..900);
        let [a, b] = [left.clone(), right.clone()].map(|items| released(raw(shape, items), 40.0, &mut coins));
        let (first, second) = (cells(shape, left), cells(shape, right));
        for (op, form) in BooleanOp::ALL.into_iter().flat_map(|op| FORMS.map(|form| (op, form))) {
            let found = a.combine(op, &b, form, &mut coins).expect("two releases");
            let ones: Vec<u64> = found.shares_per_level().iter().map(sfm_pcsa::CellShare::ones).collect();
            let expected = truth(op, &first, &second);
            assert_eq!(ones, expected, "{op:?} {form:?} {shape}");
            let total: u64 = expected.iter().sum();
            assert!((found.share().share() - total as f64 / shape.cells() as f64).abs() < 1e-12);
            let opposite: Vec<u64> =
                found.negated().expect("a negation").shares_per_level().iter().map(sfm_pcsa::CellShare::ones).collect();
            let expected: Vec<u64> = expected.iter().map(|&yes| u64::from(shape.buckets()) - yes).collect();
            assert_eq!(opposite, expected, "not {op:?}");
        }
    }
}

#[test]
fn results_state_the_channel_of_their_gate() {
    let mut coins = noise(2);
    let small = shape(64, 8);
    let a = released(raw(small, 0..50), 1.0, &mut coins);
    let b = raw(small, 20..90).release_xor_family(permit(2.0), &mut coins).expect("a release");
    for (op, form) in BooleanOp::ALL.into_iter().flat_map(|op| FORMS.map(|form| (op, form))) {
        let found = a.combine(op, &b, form, &mut coins).expect("two releases");
        let pair = |sketch: &SfmSketch| (sketch.channel().p(), sketch.channel().q());
        let expected = gate_table(op, form, pair(&a), pair(&b)).expect("a gate");
        assert!((found.channel().p() - expected.p).abs() < 1e-14, "{op:?} {form:?}");
        assert!((found.channel().q() - expected.q).abs() < 1e-14, "{op:?} {form:?}");
        assert_eq!((found.epsilon(), found.epsilon_total()), (2.0, Some(3.0)));
        let not = found.negated().expect("a negation");
        assert!((not.channel().p() + found.channel().q() - 1.0).abs() < 1e-15);
        assert!((not.channel().q() + found.channel().p() - 1.0).abs() < 1e-15);
        assert_eq!(not.negated().expect("a negation"), found, "to the last bit of the channel");
    }
}

#[test]
fn operations_leave_their_inputs_alone_and_refuse_one_release_twice() {
    let mut coins = noise(3);
    let small = shape(64, 8);
    let [a, b, c] = [1.0, 2.0, 3.0].map(|epsilon| released(raw(small, 0..50), epsilon, &mut coins));
    let before = [a.to_bytes(), b.to_bytes()];
    let both = a.combine(BooleanOp::And, &b, OutputForm::Extremal, &mut coins).expect("two releases");
    assert_eq!([a.to_bytes(), b.to_bytes()], before);
    let cells = both.clone();
    let third = both.combine(BooleanOp::Difference, &(&c).into(), OutputForm::Symmetric, &mut coins).expect("a third");
    assert_eq!(both, cells);
    assert_eq!(third.leaves().len(), 3);
    for op in BooleanOp::ALL {
        let twice = [
            a.combine(op, &a, OutputForm::Extremal, &mut coins),
            both.combine(op, &both.negated().expect("a negation"), OutputForm::Extremal, &mut coins),
            third.combine(op, &(&a).into(), OutputForm::Extremal, &mut coins),
        ];
        for refused in twice {
            assert!(matches!(refused, Err(MergeError::RepeatedRelease { .. })), "{op:?}");
        }
    }
    let other_shape = released(raw(shape(64, 9), 0..50), 1.0, &mut coins);
    let foreign = sfm_pcsa::PcsaSketch::new(small, other_key()).release(permit(1.0), &mut coins).expect("a release");
    let form = OutputForm::Extremal;
    assert!(matches!(a.combine(BooleanOp::And, &other_shape, form, &mut coins), Err(MergeError::Shape { .. })));
    assert!(matches!(a.combine(BooleanOp::And, &foreign, form, &mut coins), Err(MergeError::Hash { .. })));
}

#[test]
fn an_or_gives_the_bits_of_a_merge() {
    let mut coins = noise(4);
    let [a, b] = [0..500, 300..900].map(|items| released(raw(shape(64, 8), items), 2.0, &mut coins));
    for (form, merge_form) in FORMS.into_iter().zip([MergeForm::Extremal, MergeForm::Symmetric]) {
        let or = a.combine(BooleanOp::Or, &b, form, &mut noise(5)).expect("two releases");
        let merged = a.merge(&b, merge_form, &mut noise(5)).expect("two releases");
        assert_eq!(or, NoisyCells::from(&merged));
    }
}

/// The error of a share at its true value; the stated one, at the estimate, strays with it.
fn true_error(theta: f64, cells: u64, channel: BitChannel) -> f64 {
    let (p, q) = (channel.p(), channel.q());
    let variance = theta * p * (1.0 - p) + (1.0 - theta) * q * (1.0 - q);
    (variance / cells as f64).sqrt() / channel.d()
}

#[test]
fn shares_are_unbiased_with_the_stated_error() {
    let shape = shape(256, 6);
    let (left, right) = (0..300, 100..500);
    let (first, second) = (cells(shape, left.clone()), cells(shape, right.clone()));
    let mut coins = noise(6);
    for op in BooleanOp::ALL {
        let expected = truth(op, &first, &second);
        let mut deviations = Vec::new();
        for trial in 0..250 {
            let [a, b] = [(left.clone(), 2.0), (right.clone(), 3.0)]
                .map(|(items, epsilon)| released(raw(shape, items), epsilon, &mut coins));
            let found = a.combine(op, &b, FORMS[trial % 2], &mut coins).expect("two releases");
            for (share, yes) in found.shares_per_level().iter().zip(&expected) {
                assert_eq!(share.cells(), 256);
                let theta = *yes as f64 / 256.0;
                let error = true_error(theta, 256, found.channel());
                assert!((share.std_error() / error - 1.0).abs() < 0.5, "{} {error}", share.std_error());
                deviations.push((share.share() - theta) / error);
            }
        }
        assert_mean(&deviations, 0.0, 1.0);
        assert_variance(&deviations, 1.0);
    }
}

#[test]
fn formulas_of_three_sketches_are_unbiased() {
    // (a or b) but not c, with an answer of each operation as an input of the next.
    let shape = shape(256, 6);
    let sets = [0..300, 100..500, 350..600];
    let [a, b, c] = sets.clone().map(|items| cells(shape, items));
    let yes: usize =
        (0..6).map(|level| (0..256).filter(|&i| (a[level][i] || b[level][i]) && !c[level][i]).count()).sum();
    let theta = yes as f64 / shape.cells() as f64;
    let mut coins = noise(7);
    let deviations: Vec<f64> = (0..400)
        .map(|_| {
            let [a, b, c] = sets.clone().map(|items| released(raw(shape, items), 2.5, &mut coins));
            let either = NoisyCells::from(&a.merge(&b, MergeForm::Extremal, &mut coins).expect("a merge"));
            let form = OutputForm::Extremal;
            let only = either.combine(BooleanOp::Difference, &(&c).into(), form, &mut coins).expect("a third");
            let answer = only.share();
            (answer.share() - theta) / true_error(theta, answer.cells(), only.channel())
        })
        .collect();
    assert_mean(&deviations, 0.0, 1.0);
    assert_variance(&deviations, 1.0);
}

#[cfg(feature = "os-rng")]
#[test]
fn insecure_coins_mark_a_result_but_the_coinless_xor_stays_clean() {
    use sfm_pcsa::dp_noise::NoiseRng;
    let mut secure = NoiseRng::from_os().expect("entropy");
    let [a, b] = [(); 2].map(|()| released(raw(shape(64, 8), 0..10), 1.0, &mut secure));
    let xor = a.combine(BooleanOp::Xor, &b, OutputForm::Extremal, &mut noise(8)).expect("two releases");
    assert!(!xor.insecure_noise());
    // tanh(eps*/2) = tanh(1/2)², rounded up by less than 1e-9.
    let expected = 2.0 * (0.5f64.tanh().powi(2)).atanh();
    let stated = xor.epsilon_if_seen_alone().expect("secure noise");
    assert!(stated >= expected - 1e-15 && stated < expected + 1e-9, "{stated} {expected}");
    let and = a.combine(BooleanOp::And, &b, OutputForm::Extremal, &mut noise(8)).expect("two releases");
    assert!(and.insecure_noise());
    assert_eq!(and.epsilon_if_seen_alone(), None);
    let clean = a.combine(BooleanOp::And, &b, OutputForm::Extremal, &mut secure).expect("two releases");
    assert!(clean.epsilon_if_seen_alone().is_some_and(|level| level < 1.0));
}

#[test]
fn debug_shows_no_cells() {
    let a = released(raw(shape(64, 8), 0..10), 1.0, &mut noise(9));
    let text = format!("{:?}", NoisyCells::from(&a));
    assert!(text.starts_with("NoisyCells") && text.len() < 300, "{text}");
}
