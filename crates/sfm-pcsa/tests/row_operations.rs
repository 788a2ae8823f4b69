//! Boolean operations, set formulas, unseen releases and thinning of the families beside PCSA: the code is the same, so
//! one law each, written once for any shape.

mod support;

use sfm_pcsa::cardinality_estimators::{Confidence, SetFormula, Status};
use sfm_pcsa::{
    BitmapShape, BloomShape, BooleanOp, LegionsShape, LinearShape, MergeForm, NoisyCells, OutputForm, PrivateBitmap,
    jaccard_estimate, set_estimate, union_estimate,
};
use support::{noise, permit, raw, released};

/// At this level a cell is wrong with probability 4e-18, with two cells an item, too.
const HARDLY_ANY_NOISE: f64 = 80.0;

fn linear() -> LinearShape {
    LinearShape::new(5000).expect("in range")
}

fn bloom() -> BloomShape {
    BloomShape::new(5000, 2).expect("in range")
}

fn legions() -> LegionsShape {
    LegionsShape::new(5000, 8.0).expect("in range")
}

fn ones<S: BitmapShape>(sketch: &PrivateBitmap<S>) -> u64 {
    NoisyCells::from(sketch).share().ones()
}

fn operations_count_cells<S: BitmapShape>(shape: S) {
    let mut coins = noise(1);
    let [a, b] = [0..900, 600..1500].map(|items| released(raw(shape, items), HARDLY_ANY_NOISE, &mut coins));
    let either = ones(&released(raw(shape, 0..1500), HARDLY_ANY_NOISE, &mut coins));
    let (first, second, all) = (ones(&a), ones(&b), shape.cells() as u64);
    let both = first + second - either;
    let expected = [
        (BooleanOp::Or, either),
        (BooleanOp::And, both),
        (BooleanOp::Xor, either - both),
        (BooleanOp::Difference, first - both),
        (BooleanOp::Implies, all - (first - both)),
        (BooleanOp::Nor, all - either),
        (BooleanOp::Nand, all - both),
        (BooleanOp::Xnor, all - (either - both)),
    ];
    for (op, yes) in expected {
        let found = a.combine(op, &b, OutputForm::Extremal, &mut coins).expect("two releases");
        assert_eq!(found.share().ones(), yes, "{op:?} {shape}");
        assert_eq!(found.negated().expect("a negation").share().ones(), all - yes, "not {op:?} {shape}");
    }
}

#[test]
fn operations_count_the_true_cells_of_every_family() {
    operations_count_cells(linear());
    operations_count_cells(bloom());
    operations_count_cells(legions());
}

fn parts_are_one_release<S: BitmapShape>(shape: S) {
    let mut coins = noise(2);
    let mut unseen = raw(shape, 0..900).release_unseen(permit(HARDLY_ANY_NOISE), &mut coins).expect("a release");
    unseen.absorb(raw(shape, 600..1500), &mut coins).expect("one shape");
    unseen.absorb(raw(shape, 0..0), &mut coins).expect("one shape");
    let published = unseen.publish();
    let whole = released(raw(shape, 0..1500), HARDLY_ANY_NOISE, &mut coins);
    assert_eq!(ones(&published), ones(&whole), "{shape}");
    assert_eq!(published.channel(), whole.channel(), "the level of a cell is that of any release");
    assert_eq!((published.leaves().len(), published.epsilon_total()), (1, Some(HARDLY_ANY_NOISE)));
}

#[test]
fn unseen_parts_of_every_family_become_one_release() {
    parts_are_one_release(linear());
    parts_are_one_release(bloom());
    parts_are_one_release(legions());
}

fn formulas_are_answered<S: BitmapShape>(shape: S) {
    let mut coins = noise(3);
    let [a, b] = [0..2000, 1000..3000].map(|items| released(raw(shape, items), 6.0, &mut coins));
    let both = SetFormula::from_membership(2, |sets| sets == 0b11).expect("a formula");
    let found = set_estimate(&[&a, &b], &both, Confidence::P95).expect("one shape");
    let (value, error) = (found.value().expect("a value"), found.std_error().expect("an error"));
    assert_eq!(found.status(), Status::Ok, "{shape}");
    assert!((value - 1000.0).abs() < 5.0 * error && error < 200.0, "{shape}: {value} {error}");
    let jaccard = jaccard_estimate(&a, &b, Confidence::P95).expect("one shape");
    let (value, error) = (jaccard.value().expect("a value"), jaccard.std_error().expect("an error"));
    assert!((value - 1.0 / 3.0).abs() < 5.0 * error, "{shape}: {value} {error}");
    let union = SetFormula::from_membership(2, |_| true).expect("a formula");
    let found = set_estimate(&[&a, &b], &union, Confidence::P95).expect("one shape");
    let expected = union_estimate(&[&a, &b], Confidence::P95).expect("one shape");
    let ratio = found.value().expect("a value") / expected.value().expect("a value");
    assert!((ratio - 1.0).abs() < 1e-9, "{shape}: {ratio}");
}

#[test]
fn set_formulas_are_answered_for_every_family() {
    formulas_are_answered(linear());
    formulas_are_answered(bloom());
    formulas_are_answered(legions());
}

fn thinned_sketches_are_symmetric<S: BitmapShape>(shape: S) {
    let mut coins = noise(4);
    let [a, b] = [0..2000, 1000..3000].map(|items| released(raw(shape, items), 4.0, &mut coins));
    let merged = a.merge(&b, MergeForm::Extremal, &mut coins).expect("two releases");
    let thinned = merged.symmetrised(&mut coins).expect("coins");
    let (p, q) = (thinned.channel().p(), thinned.channel().q());
    assert!((p + q - 1.0).abs() < 1e-15, "{shape}: {p} {q}");
    let read = PrivateBitmap::<S>::from_bytes_allowing_insecure_noise(&thinned.to_bytes()).expect("its own bytes");
    assert_eq!(read, thinned);
    let [before, after] = [&merged, &thinned].map(|sketch| sketch.estimate(Confidence::P95));
    let error = after.std_error().expect("an error");
    assert!(error > before.std_error().expect("an error"), "noise was added");
    assert!((after.value().expect("a value") - 3000.0).abs() < 5.0 * error, "{shape}");
}

#[test]
fn thinned_sketches_of_every_family_are_symmetric() {
    thinned_sketches_are_symmetric(linear());
    thinned_sketches_are_symmetric(bloom());
    thinned_sketches_are_symmetric(legions());
}
