//! Two sketches into one.

use std::error::Error;
use std::hint::black_box;

use datasketches::cpc::CpcUnion;
use datasketches::hll::HllUnion;
use datasketches::theta::ThetaUnionBuilder;
use dp_noise::NoiseRng;
use sfm_pcsa::{MergeForm, SfmSketch};

use crate::contest::Contest;
use crate::sketches::{LG, Sketches};

/// Without privacy. Libraries with a union object start one and give it both sketches; the others merge in place.
pub(crate) fn plain<'a>(left: &'a Sketches, right: &'a Sketches) -> Contest<'a> {
    let mut contest = Contest::new("Merge of two sketches, without privacy");
    let mut raw = left.raw.clone();
    contest.add("sfm-pcsa, in place", move || black_box(&mut raw).merge(black_box(&right.raw)));
    contest.add("sfm-pcsa, into a copy", move || {
        let mut copy = black_box(&left.raw).clone();
        let result = copy.merge(black_box(&right.raw));
        (copy, result)
    });
    let mut simple = left.simple.clone();
    contest.add("simple_hll, in place", move || black_box(&mut simple).merge(black_box(&right.simple)));
    let mut estimator = left.estimator.clone();
    contest
        .add("cardinality-estimator, in place", move || black_box(&mut estimator).merge(black_box(&right.estimator)));
    let mut plus = left.plus.clone();
    contest.add("hyperloglogplus, in place", move || black_box(&mut plus).merge(black_box(&right.plus)));
    contest.add("datasketches HLL8, union of both", move || {
        let mut union = HllUnion::new(LG).expect("12 is a valid size");
        union.update(black_box(&left.hll));
        union.update(black_box(&right.hll));
        union
    });
    contest.add("datasketches CPC, union of both", move || {
        let mut union = CpcUnion::new(LG).expect("12 is a valid size");
        let results = [black_box(&left.cpc), black_box(&right.cpc)].map(|sketch| union.update(sketch));
        (union, results)
    });
    contest.add("datasketches Theta, union of both", move || {
        let mut union = ThetaUnionBuilder::default().lg_k(LG).build().expect("12 is a valid size");
        let results = [black_box(&left.theta), black_box(&right.theta)].map(|sketch| union.update(sketch));
        (union, results)
    });
    contest
}

/// With privacy: fresh coins for every cell. No peer offers it; the first row is the plain merge to compare with.
pub(crate) fn private<'a>(left: &'a Sketches, right: &'a Sketches) -> Result<Contest<'a>, Box<dyn Error>> {
    let mut contest = Contest::new("Merge of two sketches");
    let mut raw = left.raw.clone();
    contest.add("sfm-pcsa, raw, in place", move || black_box(&mut raw).merge(black_box(&right.raw)));
    for (name, form) in [("extremal", MergeForm::Extremal), ("symmetric", MergeForm::Symmetric)] {
        let mut noise = NoiseRng::from_os()?;
        contest.add(format!("sfm-pcsa, private, {name}"), move || {
            SfmSketch::merge(black_box(&left.private), black_box(&right.private), form, &mut noise)
        });
    }
    Ok(contest)
}
