//! The same items in every library's sketch.

use std::collections::hash_map::RandomState;
use std::error::Error;

use cardinality_estimator::CardinalityEstimator;
use datasketches::cpc::CpcSketch;
use datasketches::hll::{HllSketch, HllType};
use datasketches::theta::{ThetaSketch, ThetaSketchBuilder};
use dp_noise::{Epsilon, NoiseRng, Permit};
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPlus};
use sfm_pcsa::cardinality_estimators::Confidence;
use sfm_pcsa::sketch_hash::{DefaultHash, KeyedHash};
use sfm_pcsa::{PcsaShape, PcsaSketch, SfmSketch};

/// log2 of the buckets (HLL, CPC) or samples (Theta) of every sketch.
pub(crate) const LG: u8 = 12;

/// Of HLL, 4096 registers.
pub(crate) type SimpleHll = simple_hll::HyperLogLog<12>;

/// One data set, sketched by everybody.
pub(crate) struct Sketches {
    pub(crate) raw: PcsaSketch,
    pub(crate) private: SfmSketch,
    pub(crate) hll: HllSketch,
    pub(crate) cpc: CpcSketch,
    pub(crate) theta: ThetaSketch,
    pub(crate) plus: HyperLogLogPlus<u64, RandomState>,
    pub(crate) simple: SimpleHll,
    pub(crate) estimator: CardinalityEstimator<u64>,
}

/// An empty sketch of ours.
pub(crate) fn pcsa<H: KeyedHash>(hash: H) -> PcsaSketch<H> {
    PcsaSketch::new(PcsaShape::DEFAULT, hash)
}

/// An empty HLL of eight bits a register.
pub(crate) fn hll() -> HllSketch {
    HllSketch::new(LG, HllType::Hll8).expect("12 is a valid size")
}

/// An empty CPC sketch.
pub(crate) fn cpc() -> CpcSketch {
    CpcSketch::new(LG).expect("12 is a valid size")
}

/// An empty Theta sketch.
pub(crate) fn theta() -> ThetaSketch {
    ThetaSketchBuilder::default().lg_k(LG).build().expect("12 is a valid size")
}

/// An empty HLL++, hashed by the standard library's SipHash-1-3.
pub(crate) fn plus<T: std::hash::Hash + ?Sized>() -> HyperLogLogPlus<T, RandomState> {
    HyperLogLogPlus::new(LG, RandomState::new()).expect("12 is a valid size")
}

/// The permit of every release here.
pub(crate) fn permit() -> Permit<Epsilon> {
    Permit::standalone(Epsilon::new(1.0).expect("in range"))
}

impl Sketches {
    /// Sketches of `items`; ours is released at ε = 1 as well.
    pub(crate) fn of(items: &[u64], noise: &mut NoiseRng) -> Result<Self, Box<dyn Error>> {
        let mut raw = pcsa(DefaultHash::default());
        raw.update_u64_batch(items);
        let private = raw.clone().release(permit(), noise)?;
        let (mut hll, mut cpc, mut theta, mut plus) = (hll(), cpc(), theta(), plus());
        let (mut simple, mut estimator) = (SimpleHll::new(), CardinalityEstimator::new());
        for item in items {
            hll.update(item);
            cpc.update(item);
            theta.update(item);
            plus.insert(item);
            simple.add_object(item);
            estimator.insert(item);
        }
        Ok(Self { raw, private, hll, cpc, theta, plus, simple, estimator })
    }

    /// Fails unless every sketch counts `items` within 15 %: a contest among broken uses would tell nothing.
    #[expect(clippy::cast_precision_loss, reason = "counts of items are small")]
    pub(crate) fn check(&self, items: usize) -> Result<(), String> {
        let ours = |estimate: sfm_pcsa::cardinality_estimators::Estimate| estimate.value().unwrap_or(0.0);
        let counts = [
            ("sfm-pcsa, raw", ours(self.raw.estimate(Confidence::P95))),
            ("sfm-pcsa, private", ours(self.private.estimate(Confidence::P95))),
            ("datasketches HLL", self.hll.estimate()),
            ("datasketches CPC", self.cpc.estimate()),
            ("datasketches Theta", self.theta.estimate()),
            ("hyperloglogplus", self.plus.clone().count()),
            ("simple_hll", self.simple.count() as f64),
            ("cardinality-estimator", self.estimator.estimate() as f64),
        ];
        let items = items as f64;
        match counts.iter().find(|(_, count)| (count / items - 1.0).abs() > 0.15) {
            Some((name, count)) => Err(format!("{name} counts {count} instead of {items}")),
            None => Ok(()),
        }
    }
}
