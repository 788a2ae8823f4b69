//! The answer, and sketches as bytes.

use std::hint::black_box;

use datasketches::cpc::CpcSketch;
use datasketches::hll::HllSketch;
use hyperloglogplus::HyperLogLog as _;
use sfm_pcsa::SfmSketch;
use sfm_pcsa::cardinality_estimators::Confidence;

use crate::contest::Contest;
use crate::sketches::Sketches;

/// Ours maximises a likelihood and gives an interval; the peers give a number.
pub(crate) fn answers(sketches: &Sketches) -> Contest<'_> {
    let mut contest = Contest::new("Estimate");
    let Sketches { raw, private, hll, cpc, theta, plus, simple, estimator } = sketches;
    let mut plus = plus.clone();
    contest.add("sfm-pcsa, private, with interval", move || black_box(private).estimate(Confidence::P95));
    contest.add("sfm-pcsa, raw, with interval", move || black_box(raw).estimate(Confidence::P95));
    contest.add("datasketches HLL8", move || black_box(hll).estimate());
    contest.add("datasketches CPC", move || black_box(cpc).estimate());
    contest.add("datasketches Theta", move || black_box(theta).estimate());
    contest.add("hyperloglogplus", move || black_box(&mut plus).count());
    contest.add("simple_hll", move || black_box(simple).count());
    contest.add("cardinality-estimator", move || black_box(estimator).estimate());
    contest
}

/// Writing. The number of bytes is part of the name.
pub(crate) fn to_bytes(sketches: &Sketches) -> Contest<'_> {
    let Sketches { private, hll, cpc, theta, .. } = sketches;
    let mut contest = Contest::new("Sketch to bytes");
    contest
        .add(format!("sfm-pcsa, private: {} bytes", private.to_bytes().len()), move || black_box(private).to_bytes());
    contest.add(format!("datasketches HLL8: {} bytes", hll.serialize().len()), move || black_box(hll).serialize());
    contest.add(format!("datasketches CPC: {} bytes", cpc.serialize().len()), move || black_box(cpc).serialize());
    let length = theta.compact(true).serialize().len();
    contest.add(format!("datasketches Theta, compact and ordered: {length} bytes"), move || {
        black_box(theta).compact(true).serialize()
    });
    contest
}

/// Reading. Ours verifies a checksum and recomputes its channel; the peers verify no checksum.
pub(crate) fn from_bytes(sketches: &Sketches) -> Contest<'static> {
    let mut contest = Contest::new("Sketch from bytes");
    let bytes = sketches.private.to_bytes();
    contest.add("sfm-pcsa, private, with checksum", move || SfmSketch::from_bytes(black_box(&bytes)));
    let bytes = sketches.hll.serialize();
    contest.add("datasketches HLL8", move || HllSketch::deserialize(black_box(&bytes)));
    let bytes = sketches.cpc.serialize();
    contest.add("datasketches CPC", move || CpcSketch::deserialize(black_box(&bytes)));
    contest
}
