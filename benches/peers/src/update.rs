//! From an empty sketch to a full one: what an update costs over a whole data set.

use std::hint::black_box;

use cardinality_estimator::CardinalityEstimator;
use datasketches::cpc::CpcSketch;
use datasketches::hll::HllSketch;
use datasketches::theta::ThetaSketch;
use hyperloglogplus::HyperLogLog;
use sfm_pcsa::PcsaSketch;
use sfm_pcsa::sketch_hash::{DefaultHash, KeyedHash, PrestoHash};

use crate::contest::Contest;
use crate::input;
use crate::sketches::{SimpleHll, cpc, hll, pcsa, plus, theta};

/// Distinct integers, more than any sketch holds.
pub(crate) const ITEMS: usize = 1 << 20;
/// Distinct strings.
const STRINGS: usize = 1 << 18;

/// Strings of 12 to 20 bytes.
pub(crate) fn text() -> Vec<Vec<u8>> {
    input::strings(3, STRINGS, 12, 20)
}

/// Integers below 2^63; ours encodes larger ones apart, so it also gets as many from the whole range.
pub(crate) fn words<'a>(items: &'a [u64], whole_range: &'a [u64]) -> Contest<'a> {
    let mut contest = Contest::per_item(title("u64", items.len()), items.len());
    batch(
        &mut contest,
        "sfm-pcsa, keyed SipHash-1-3, batch",
        items,
        DefaultHash::default,
        PcsaSketch::update_u64_batch,
    );
    fill(&mut contest, "sfm-pcsa, keyed SipHash-1-3, one by one", items, ours, |s, item| s.update_u64(*item));
    let name = "sfm-pcsa, keyed SipHash-1-3, batch, half of the ids from 2^63 on";
    batch(&mut contest, name, whole_range, DefaultHash::default, PcsaSketch::update_u64_batch);
    batch(&mut contest, "sfm-pcsa, XXH64 (Presto), batch", items, || PrestoHash, PcsaSketch::update_u64_batch);
    fill(&mut contest, "datasketches HLL8, Murmur3", items, hll, HllSketch::update);
    fill(&mut contest, "datasketches CPC, Murmur3", items, cpc, CpcSketch::update);
    fill(&mut contest, "datasketches Theta, Murmur3", items, theta, ThetaSketch::update);
    fill(&mut contest, "hyperloglogplus, keyed SipHash-1-3", items, plus::<u64>, HyperLogLog::insert);
    fill(&mut contest, "cardinality-estimator, wyhash", items, CardinalityEstimator::<u64>::new, |s, item| {
        s.insert(item);
    });
    fill(&mut contest, "simple_hll, ahash with a fixed key", items, SimpleHll::new, SimpleHll::add_object);
    contest
}

/// Byte strings.
pub(crate) fn strings<'a>(items: &'a [&'a [u8]]) -> Contest<'a> {
    let mut contest = Contest::per_item(title("strings of 12 to 20 bytes", items.len()), items.len());
    batch(&mut contest, "sfm-pcsa, keyed SipHash-1-3, batch", items, DefaultHash::default, PcsaSketch::update_batch);
    fill(&mut contest, "sfm-pcsa, keyed SipHash-1-3, one by one", items, ours, |s, item| s.update(item));
    batch(&mut contest, "sfm-pcsa, XXH64 (Presto), batch", items, || PrestoHash, PcsaSketch::update_batch);
    fill(&mut contest, "datasketches HLL8, Murmur3", items, hll, HllSketch::update);
    fill(&mut contest, "datasketches CPC, Murmur3", items, cpc, CpcSketch::update);
    fill(&mut contest, "datasketches Theta, Murmur3", items, theta, ThetaSketch::update);
    fill(&mut contest, "hyperloglogplus, keyed SipHash-1-3", items, plus::<[u8]>, |s, item| s.insert(*item));
    fill(&mut contest, "cardinality-estimator, wyhash", items, CardinalityEstimator::<[u8]>::new, |s, item| {
        s.insert(item);
    });
    fill(&mut contest, "simple_hll, ahash with a fixed key", items, SimpleHll::new, |s, item| s.add_object(*item));
    contest
}

fn title(kind: &str, items: usize) -> String {
    format!("Update, {kind}: an item of {items} distinct ones into an empty sketch")
}

fn ours() -> PcsaSketch {
    pcsa(DefaultHash::default())
}

/// A contender that takes all items at once.
fn batch<'a, T, H: KeyedHash + 'a>(
    contest: &mut Contest<'a>,
    name: &str,
    items: &'a [T],
    hash: impl Fn() -> H + 'a,
    update: impl Fn(&mut PcsaSketch<H>, &'a [T]) + 'a,
) {
    contest.add(name, move || {
        let mut sketch = pcsa(hash());
        update(&mut sketch, black_box(items));
        sketch
    });
}

/// A contender that takes items one by one.
fn fill<'a, S, T>(
    contest: &mut Contest<'a>,
    name: &str,
    items: &'a [T],
    empty: impl Fn() -> S + 'a,
    update: impl Fn(&mut S, &'a T) + 'a,
) {
    contest.add(name, move || {
        let mut sketch = empty();
        for item in black_box(items) {
            update(&mut sketch, item);
        }
        sketch
    });
}
