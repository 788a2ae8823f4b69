//! Stacks of prefixes: what is found, what is missed, how the budget is split, bytes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{hash, permit};
use countsketch_dp::cardinality_estimators::Confidence;
use countsketch_dp::dp_noise::Neighbouring;
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::theory::hierarchy_variances;
use countsketch_dp::{
    BudgetSplit, ContributionBound, CountSketchShape, DecodeError, Granularity, MergeError, NoiseLaw, ParamError,
    PrefixLayout, PrefixSearch, PrefixStack, PrivatePrefixStack, QueryError, QueryOptions, ReleaseError, TotalWeight,
    UpdateError, prefix_hash_id,
};
use sketch_testkit::binomial_at_most;

fn shape(rows: u8, width: u32) -> CountSketchShape {
    CountSketchShape::new(rows, width).unwrap()
}

fn stack(layout: PrefixLayout, bound: ContributionBound) -> PrefixStack {
    PrefixStack::new(layout, hash(1), bound).unwrap()
}

fn layout() -> PrefixLayout {
    PrefixLayout::new(24, 4, shape(5, 512)).unwrap()
}

fn noise(seed: u64) -> InsecureTestRng {
    InsecureTestRng::from_u64(seed)
}

#[test]
fn levels_are_plain_where_their_prefixes_fit() {
    // 2560 cells hold the prefixes of 11 bits.
    assert_eq!(layout().lengths(), [11, 15, 19, 23, 24]);
    assert_eq!((0..5).map(|level| layout().is_plain(level)).collect::<Vec<_>>(), [true, false, false, false, false]);
    let own = PrefixLayout::with_lengths(vec![3, 8, 12], shape(5, 512)).unwrap();
    assert_eq!((own.is_plain(0), own.is_plain(1), own.is_plain(2)), (true, true, false));
    assert_eq!(PrefixLayout::new(64, 16, shape(5, 512)).unwrap().lengths(), [11, 27, 43, 59, 64]);
    assert_eq!(PrefixLayout::new(1, 1, shape(1, 2)).unwrap().lengths(), [1]);
}

#[test]
fn layouts_that_make_no_sense_are_refused() {
    for (bits, step) in [(0, 4), (65, 4), (255, 16), (24, 0), (24, 17)] {
        assert!(
            matches!(PrefixLayout::new(bits, step, shape(5, 512)), Err(ParamError::Prefixes { .. })),
            "{bits} {step}"
        );
    }
    for lengths in [vec![], vec![0], vec![4, 4], vec![8, 4], vec![17], vec![10, 30], vec![16, 32, 48, 65]] {
        assert!(PrefixLayout::with_lengths(lengths, shape(5, 512)).is_err());
    }
    let wide = PrefixLayout::new(64, 1, shape(3, 1 << 20));
    assert!(matches!(wide, Err(ParamError::Cells { .. })));
    let clipped = ContributionBound::clipped_for(shape(5, 512), 3, 1).unwrap();
    assert!(matches!(PrefixStack::new(layout(), hash(1), clipped), Err(ParamError::Clipped { .. })));
}

/// The variances of a release: D₂² = k·W² in a sketched level, W² in a plain one, over twice the share of ρ.
#[test]
fn the_budget_is_split_and_never_exceeded() {
    let variances = |stack: PrefixStack, split: &BudgetSplit, relation| {
        let private = stack.release_with(relation, split, permit(0.1), &mut noise(1)).unwrap();
        assert!(private.rho_total().unwrap() <= 0.1 * (1.0 + 1e-12));
        let law = |level: usize| match private.leaves(level)[0].law() {
            NoiseLaw::Gaussian { variance } => variance.to_f64(),
            _ => f64::NAN,
        };
        (0..private.layout().levels()).map(law).collect::<Vec<_>>()
    };
    let close = |found: &[f64], want: &[f64]| {
        assert_eq!(found.len(), want.len());
        assert!(found.iter().zip(want).all(|(got, want)| (got / want - 1.0).abs() < 1e-9 && got >= want), "{found:?}");
    };
    let sketched = PrefixLayout::with_lengths(vec![12, 14, 16], shape(9, 16)).unwrap();
    let weights = BudgetSplit::Weights(vec![1, 2, 4]);
    let want = hierarchy_variances(9, 0.1, &[1.0, 2.0, 4.0]).unwrap();
    close(&variances(stack(sketched, ContributionBound::UNIT_ENTRY), &weights, Neighbouring::AddRemove), &want);
    let user = stack(layout(), ContributionBound::user_items(3, 2).unwrap());
    // 36/(2·0.02) in the plain level, five times that in the others; four times as much where units are replaced.
    let found = variances(user.clone(), &BudgetSplit::Uniform, Neighbouring::AddRemove);
    close(&found, &[900.0, 4500.0, 4500.0, 4500.0, 4500.0]);
    close(
        &variances(user, &BudgetSplit::Uniform, Neighbouring::Substitute),
        &found.iter().map(|v| 4.0 * v).collect::<Vec<_>>(),
    );
    let missing = BudgetSplit::Weights(vec![1, 2]);
    let refused = stack(layout(), ContributionBound::UNIT_ENTRY).release_with(
        Neighbouring::AddRemove,
        &missing,
        permit(1.0),
        &mut noise(1),
    );
    assert!(matches!(refused, Err(ReleaseError::Split { expected: 5, found: 2 })));
}

/// Four heavy keys among many light ones.
fn filled(seed: u64, rho: f64) -> PrivatePrefixStack {
    let mut raw = PrefixStack::new(layout(), hash(seed), ContributionBound::entry(1).unwrap()).unwrap();
    for (key, count) in [(0xab_cdef, 900), (0xab_cdee, 600), (0, 500), (0xff_ffff, 800)] {
        (0..count).for_each(|_| raw.update(key, 1).unwrap());
    }
    for light in 0..2000_u64 {
        raw.update(light.wrapping_mul(0x9e37_79b9) & 0xff_ffff, 1).unwrap();
    }
    raw.release(permit(rho), &mut noise(seed)).unwrap()
}

#[test]
fn heavy_keys_are_found_with_intervals() {
    let search = PrefixSearch::above(400.0);
    let hits = filled(1, 1.0).search(&search).unwrap();
    let keys: Vec<u64> = hits.found.iter().map(|hit| hit.key).collect();
    assert_eq!(keys, [0xab_cdef, 0xff_ffff, 0xab_cdee, 0]);
    for (hit, truth) in hits.found.iter().zip([900.0, 800.0, 600.0, 500.0]) {
        assert!((hit.estimate.value().unwrap() - truth).abs() < 40.0);
        assert_eq!(hit.consistent, None);
    }
    assert!((hits.miss_probability.unwrap() - 0.05).abs() < 1e-12);
    // 4 · 4800/400, and a little for the noise of the total.
    assert!((48..=60).contains(&hits.frontier), "{}", hits.frontier);
    assert!(hits.visited >= 2048);
}

/// Keys right at the threshold are missed in at most 5 % of the stacks.
#[test]
fn keys_at_the_threshold_are_rarely_missed() {
    let mut missed = 0;
    for seed in 0..60 {
        let hits = filled(seed, 0.05).search(&PrefixSearch::above(500.0)).unwrap();
        assert!(hits.miss_probability.is_some());
        missed += u64::from(!hits.found.iter().any(|hit| hit.key == 0));
    }
    let allowed = (0..60).find(|&n| binomial_at_most(n, 60, 0.05) > 1.0 - 1e-6).unwrap();
    assert!(missed <= allowed, "{missed} of 60");
}

#[test]
fn consistent_frequencies_are_closer_on_average() {
    let (mut own, mut adjusted) = (0.0, 0.0);
    for seed in 100..140 {
        let hits = filled(seed, 0.02).search(&PrefixSearch::above(400.0).consistent()).unwrap();
        for hit in &hits.found {
            let truth = [(0xab_cdef, 900.0), (0xab_cdee, 600.0), (0, 500.0), (0xff_ffff, 800.0)];
            if let Some((_, truth)) = truth.iter().find(|(key, _)| *key == hit.key) {
                own += (hit.estimate.value().unwrap() - truth).powi(2);
                adjusted += (hit.consistent.unwrap() - truth).powi(2);
            }
        }
    }
    assert!(adjusted < own, "{adjusted} {own}");
}

#[test]
fn a_search_that_could_be_large_is_refused_or_says_that_it_is_cut() {
    let stack = filled(2, 1.0);
    for threshold in [0.0, -1.0, f64::NAN] {
        assert!(matches!(stack.search(&PrefixSearch::above(threshold)), Err(QueryError::Domain(_))));
    }
    let huge = TotalWeight::public(1e12).unwrap();
    assert!(matches!(stack.search(&PrefixSearch::above(1.0).total(huge)), Err(QueryError::Frontier { .. })));
    // Below the noise every prefix is above its threshold: the frontier cuts, and no probability is stated.
    let cut = stack.search(&PrefixSearch::above(1.0).total(TotalWeight::public(100.0).unwrap())).unwrap();
    assert_eq!((cut.miss_probability, cut.frontier), (None, 400));
    let sketched = PrefixLayout::with_lengths(vec![12, 16], shape(3, 16)).unwrap();
    let raw = PrefixStack::new(sketched, hash(1), ContributionBound::UNIT_ENTRY).unwrap();
    let private = raw.release(permit(1.0), &mut noise(3)).unwrap();
    assert!(matches!(private.search(&PrefixSearch::above(100.0)), Err(QueryError::NoTotal)));
}

#[test]
fn prefixes_and_the_total_can_be_asked_for() {
    let stack = filled(3, 1.0);
    let total = stack.total().unwrap();
    assert!((total.value() - 4800.0).abs() < 6.0 * total.variance().sqrt());
    // Noise of 1/(2·0.2) in each of 2048 cells.
    assert!((total.variance() / (2048.0 * 2.5) - 1.0).abs() < 1e-3);
    let at = |level, prefix| stack.estimate(level, prefix, QueryOptions::default());
    assert!((at(4, 0xab_cdef).unwrap().value().unwrap() - 900.0).abs() < 40.0);
    assert!((at(0, 0xab_cdef >> 13).unwrap().value().unwrap() - 1500.0).abs() < 20.0);
    assert!(matches!(at(0, 1 << 11), Err(QueryError::Index { len: 2048, found: 2048 })));
    assert!(matches!(at(5, 0), Err(QueryError::Index { .. })));
}

#[test]
fn a_refused_update_changes_no_level() {
    let bound = ContributionBound::entry(ContributionBound::MAX_WEIGHT).unwrap();
    let mut raw = stack(layout(), bound);
    let max = i64::MAX;
    raw.update(5, max).unwrap();
    let before = raw.to_sensitive_bytes().to_vec();
    // The keys share their first 11 bits only: some levels would take the weight, the first cannot.
    assert!(matches!(raw.update(6, 1), Err(UpdateError::CounterOverflow)));
    assert!(matches!(raw.update(1 << 24, 1), Err(UpdateError::Key { end }) if end == 1 << 24));
    assert!(matches!(raw.update(5, i64::MIN), Err(UpdateError::Weight { .. })));
    assert!(matches!(raw.add_user(&[(5, 1)]), Err(UpdateError::Record { .. })));
    assert_eq!(raw.to_sensitive_bytes().to_vec(), before);
    let small = stack(layout(), ContributionBound::UNIT_ENTRY).update(5, 2);
    assert!(matches!(small, Err(UpdateError::Weight { max: 1 })));
}

#[test]
fn users_are_bounded_once_for_all_levels() {
    let bound = ContributionBound::user_items(2, 3).unwrap();
    let mut raw = stack(layout(), bound);
    assert!(matches!(raw.update(5, 1), Err(UpdateError::User { .. })));
    raw.add_user(&[(1, 10), (2, -10), (1 << 20, 10), (1, 1)]).unwrap();
    let mut one = stack(layout(), bound);
    assert!(matches!(one.add_user(&[(1 << 24, 1)]), Err(UpdateError::Key { .. })));
    // Two of three items remain, each within ±3: the same two at every level.
    let private = raw.release(permit(30_000.0), &mut noise(4)).unwrap();
    let level = |level: usize, prefix| {
        private.estimate(level, prefix, QueryOptions::default()).unwrap().value().unwrap().round()
    };
    let leaves = [1, 2, 1 << 20].map(|key| level(4, key));
    assert_eq!(leaves.iter().map(|value| value.abs()).sum::<f64>().to_bits(), 6.0_f64.to_bits(), "{leaves:?}");
    assert_eq!(level(0, 0).to_bits(), (leaves[0] + leaves[1]).to_bits());
    assert_eq!(level(0, 1 << 7).to_bits(), leaves[2].to_bits());
}

#[test]
fn stacks_of_two_data_sets_add_up() {
    let mut one = stack(layout(), ContributionBound::UNIT_ENTRY);
    let (mut other, mut both) = (one.clone(), one.clone());
    one.update(7, 1).unwrap();
    other.update(8, 1).unwrap();
    both.update(7, 1).unwrap();
    both.update(8, 1).unwrap();
    let copy = other.to_sensitive_bytes().to_vec();
    one.merge(&other).unwrap();
    assert_eq!(one.to_sensitive_bytes().to_vec(), both.to_sensitive_bytes().to_vec());
    assert_eq!(other.to_sensitive_bytes().to_vec(), copy);
    let narrow = stack(PrefixLayout::new(24, 5, shape(5, 512)).unwrap(), ContributionBound::UNIT_ENTRY);
    assert!(matches!(one.merge(&narrow), Err(MergeError::Layout)));
    let (left, right) = (filled(5, 0.5), {
        let raw = PrefixStack::new(layout(), hash(5), ContributionBound::UNIT_ENTRY).unwrap();
        raw.release(permit(0.5), &mut noise(99)).unwrap()
    });
    let sum = left.merge(&right).unwrap();
    assert!((sum.rho_total().unwrap() - 1.0).abs() < 1e-9);
    assert!(matches!(left.merge(&left), Err(MergeError::RepeatedRelease { .. })));
    let found = sum.search(&PrefixSearch::above(400.0)).unwrap().found;
    assert_eq!(found.first().map(|hit| hit.key), Some(0xab_cdef));
}

#[test]
fn bytes_come_back_as_the_same_stack() {
    let private = filled(6, 0.5);
    let bytes = private.to_bytes();
    assert!(matches!(PrivatePrefixStack::from_bytes(&bytes, hash(6)), Err(DecodeError::InsecureNoise)));
    let read = PrivatePrefixStack::from_bytes_allowing_insecure_noise(&bytes, hash(6)).unwrap();
    assert_eq!((&read, read.to_bytes()), (&private, bytes.clone()));
    let other = PrivatePrefixStack::from_bytes_allowing_insecure_noise(&bytes, hash(7));
    assert!(matches!(other, Err(DecodeError::HashMismatch { .. })));
    let mut raw = stack(layout(), ContributionBound::user_total(5).unwrap());
    raw.add_user(&[(77, 4), (0xff_ffff, 4)]).unwrap();
    let sensitive = raw.to_sensitive_bytes();
    let again = PrefixStack::from_sensitive_bytes(&sensitive, hash(1)).unwrap();
    assert_eq!(again.to_sensitive_bytes().to_vec(), sensitive.to_vec());
    assert!(PrefixStack::from_sensitive_bytes(&sensitive, hash(2)).is_err());
    // Raw bytes are never read as private ones, nor the other way round.
    assert!(PrivatePrefixStack::from_bytes_allowing_insecure_noise(&sensitive, hash(1)).is_err());
    assert!(PrefixStack::from_sensitive_bytes(&bytes, hash(6)).is_err());
}

#[test]
fn damaged_bytes_are_refused() {
    let layout = PrefixLayout::with_lengths(vec![2, 4, 7], shape(1, 4)).unwrap();
    let raw =
        PrefixStack::with_granularity(layout, hash(8), ContributionBound::UNIT_ENTRY, Granularity::new(4).unwrap());
    let mut raw = raw.unwrap();
    raw.update(100, 1).unwrap();
    let sensitive = raw.to_sensitive_bytes().to_vec();
    let private = raw.release(permit(1.0), &mut noise(8)).unwrap().to_bytes();
    let read = |bytes: &[u8]| PrivatePrefixStack::from_bytes_allowing_insecure_noise(bytes, hash(8)).is_ok();
    let read_raw = |bytes: &[u8]| PrefixStack::from_sensitive_bytes(bytes, hash(8)).is_ok();
    assert!(read(&private) && read_raw(&sensitive));
    for cut in 0..private.len() {
        assert!(!read(&private[..cut]));
    }
    for at in 0..private.len() {
        let mut damaged = private.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(!read(&damaged), "byte {at}");
    }
    for at in 0..sensitive.len() {
        let mut damaged = sensitive.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(!read_raw(&damaged), "byte {at}");
    }
}

#[test]
fn debug_shows_no_cells() {
    let mut raw = stack(layout(), ContributionBound::UNIT_ENTRY);
    let empty = format!("{raw:?}");
    raw.update(123, 1).unwrap();
    assert_eq!(format!("{raw:?}"), empty);
}

#[test]
fn a_search_can_be_made_surer() {
    let search = PrefixSearch::above(500.0).confidence(Confidence::new(0.999).unwrap()).frontier_factor(8.0);
    let hits = filled(9, 1.0).search(&search).unwrap();
    assert!((hits.miss_probability.unwrap() - 0.001).abs() < 1e-12);
    assert!(hits.frontier >= 2 * 38);
}

#[test]
fn raw_stacks_count_their_releases_and_tell_their_hash() {
    let mut raw = stack(layout(), ContributionBound::UNIT_ENTRY);
    assert_eq!((raw.releases(), raw.parts()), (0, 1));
    assert_eq!((raw.record_release(), raw.record_release()), (1, 2));
    let bytes = raw.to_sensitive_bytes();
    assert_eq!(prefix_hash_id(&bytes).unwrap(), raw.hash_id());
    assert_eq!(PrefixStack::from_sensitive_bytes(&bytes, hash(1)).unwrap().releases(), 2);
    let other = raw.clone();
    raw.merge(&other).unwrap();
    assert_eq!(raw.releases(), 4);
    let private = raw.release(permit(1.0), &mut InsecureTestRng::from_u64(1)).unwrap();
    assert_eq!(prefix_hash_id(&private.to_bytes()).unwrap(), private.hash_id());
    assert!(prefix_hash_id(&bytes[..40]).is_err() && prefix_hash_id(&[]).is_err());
}
