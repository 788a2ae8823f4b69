//! Laws that hold for any sketches, to the last bit.

mod support;

use f0_sketch::{
    F0Shape, F0Sketch, MaxWeight, MergeError, Presampled, PrivateF0Sketch, Table, Unit, Weight, WeightError, WeightRule,
};
use proptest::prelude::*;
use sketch_hash::{DefaultHash, Item, KeyedHash, PrestoHash};
use sketch_testkit::{assert_associates, assert_commutes, assert_neutral, assert_round_trips};
use support::{Raw, bytes, empty, general, noise, other_key, permit, raw, released, shape, stream};

fn shapes() -> impl Strategy<Value = F0Shape> {
    prop_oneof![
        (1..=64_u8, 3..200_u32).prop_map(|(levels, cells)| shape(levels, cells)),
        prop::collection::vec((1..1_u64 << 60, 2..100_u32), 1..5).prop_map(|mut tables| {
            let rest = F0Shape::WHOLE - tables.iter().map(|(share, _)| share).sum::<u64>();
            tables.push((rest, 150));
            let tables: Vec<Table> = tables.into_iter().map(|(share, cells)| Table { share, cells }).collect();
            F0Shape::with_tables(&tables).expect("a valid shape")
        }),
    ]
}

fn items() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![any::<u64>(), 0..50_u64], 0..200)
}

fn weights(count: usize) -> impl Strategy<Value = Vec<Weight>> {
    let weight = (0..=1_u64 << 32).prop_map(|threshold| Weight::from_threshold(threshold).expect("in range"));
    prop::collection::vec(weight, count)
}

fn join(a: &Raw, b: &Raw) -> Raw {
    let mut joined = a.clone();
    joined.merge(b).expect("one hash and shape");
    joined
}

/// The cells by definition: `H x` with a dense row for every cell.
fn dense(shape: &F0Shape, items: &[u64]) -> Vec<u64> {
    let mut tables = Vec::new();
    let mut end = 0_u128;
    for table in shape.tables() {
        end += u128::from(table.share);
        tables.push((end, table.cells));
    }
    let column = |item: u64| {
        let [h1, h2] = Item::from(item).hash128(&DefaultHash::default());
        let mut first = 0_u64;
        for &(end, cells) in &tables {
            if u128::from(!h1 >> 1) < end {
                return first + (((h2 >> 32) * u64::from(cells)) >> 32);
            }
            first += u64::from(cells);
        }
        unreachable!("shares add up")
    };
    let columns: Vec<u64> = items.iter().map(|&item| column(item)).collect();
    let row = |cell: u64| columns.iter().filter(|&&column| column == cell).count() % 2 == 1;
    let cells = u64::try_from(shape.cells()).expect("few");
    (0..cells.div_ceil(64))
        .map(|word| (0..64).fold(0, |bits, bit| bits | u64::from(row(64 * word + bit)) << bit))
        .collect()
}

fn words(sketch: &Raw) -> Vec<u64> {
    let bytes = bytes(sketch);
    let count = 8 * sketch.shape().cells().div_ceil(64);
    bytes[bytes.len() - count..].chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight"))).collect()
}

proptest! {
    #[test]
    fn the_sketch_is_the_matrix_times_the_data(shape in shapes(), items in items()) {
        prop_assert_eq!(words(&raw(shape.clone(), items.iter().copied())), dense(&shape, &items));
    }

    #[test]
    fn raw_merging_is_the_symmetric_difference(shape in shapes(), a in items(), b in items(), c in items()) {
        let [sa, sb, sc] = [&a, &b, &c].map(|items| raw(shape.clone(), items.iter().copied()));
        assert_commutes(&sa, &sb, join);
        assert_associates(&sa, &sb, &sc, join);
        assert_neutral(&empty(shape.clone()), &sa, join);
        prop_assert!(join(&sa, &sa).is_zero());
        // Items that occur in both cancel, whatever the order.
        prop_assert_eq!(join(&sa, &sb), raw(shape, b.into_iter().chain(a)));
    }

    #[test]
    fn an_update_and_its_inverse_leave_no_trace(shape in shapes(), before in items(), changes in items()) {
        let mut sketch = raw(shape, before);
        let untouched = bytes(&sketch);
        for &item in &changes {
            sketch.insert_u64(item);
        }
        for &item in changes.iter().rev() {
            sketch.delete_u64(item);
        }
        prop_assert_eq!(bytes(&sketch), untouched);
    }

    #[test]
    fn every_way_to_toggle_an_item_toggles_the_same_cell(shape in shapes(), texts in prop::collection::vec(".{0,20}", 0..50)) {
        let hash = DefaultHash::default();
        let mut singly: Raw = empty(shape);
        let (mut typed, mut batched, mut hashed, mut together) =
            (singly.clone(), singly.clone(), singly.clone(), singly.clone());
        for text in &texts {
            singly.toggle(text.as_bytes());
            typed.insert_item(&Item::from(text.as_str()));
            hashed.toggle_hash(Item::from(text.as_str()).hash128(&hash));
        }
        let slices: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        batched.toggle_batch(&slices);
        let hashes: Vec<[u64; 2]> = slices.iter().map(|text| Item::from(*text).hash128(&hash)).collect();
        together.toggle_hashes(&hashes);
        for other in [typed, batched, hashed, together] {
            prop_assert_eq!(&other, &singly);
        }
    }

    #[test]
    fn weighted_batches_are_weighted_items(
        shape in shapes(),
        (items, weights) in items().prop_flat_map(|items| { let count = items.len(); (Just(items), weights(count)) }),
    ) {
        let rule = WeightRule::Weighted(MaxWeight::new(3.0).expect("in range"));
        let mut singly: Raw = F0Sketch::new(shape, rule, DefaultHash::default());
        let (mut batched, mut hashed) = (singly.clone(), singly.clone());
        for (&item, &weight) in items.iter().zip(&weights) {
            singly.toggle_u64_weighted(item, weight).expect("weighted");
        }
        batched.toggle_u64_batch_weighted(&items, &weights).expect("weighted");
        let hashes: Vec<_> = items.iter().map(|&item| Item::from(item).hash128(&DefaultHash::default())).collect();
        hashed.toggle_hashes_weighted(&hashes, &weights).expect("weighted");
        prop_assert_eq!(&batched, &singly);
        prop_assert_eq!(&hashed, &singly);
        // The heaviest weight is a plain item, the lightest is none.
        let (ones, zeros) = (vec![Weight::ONE; items.len()], vec![Weight::ZERO; items.len()]);
        let mut plain: Raw = F0Sketch::new(singly.shape().clone(), rule, DefaultHash::default());
        let mut full = plain.clone();
        plain.toggle_u64_batch(&items);
        full.toggle_u64_batch_weighted(&items, &ones).expect("weighted");
        prop_assert_eq!(&full, &plain);
        full.toggle_u64_batch_weighted(&items, &zeros).expect("weighted");
        prop_assert_eq!(&full, &plain);
    }

    #[test]
    fn private_merging_commutes_and_associates(shape in shapes(), seed: u64, a in items(), b in items(), c in items()) {
        let mut random = noise(seed);
        let [sa, sb, sc] = [a, b, c].map(|items| released(raw(shape.clone(), items), 1.0, &mut random));
        let merge = |a: &PrivateF0Sketch, b: &PrivateF0Sketch| a.merge(b).expect("different releases");
        assert_commutes(&sa, &sb, merge);
        assert_associates(&sa, &sb, &sc, merge);
        let all = PrivateF0Sketch::merge_all(&[&sb, &sc, &sa]).expect("different releases");
        prop_assert_eq!(&merge(&merge(&sa, &sb), &sc), &all);
        assert_round_trips(&all, PrivateF0Sketch::to_bytes, PrivateF0Sketch::from_bytes_allowing_insecure_noise);
        prop_assert_eq!(PrivateF0Sketch::merge_all(&[&sa]).expect("one"), sa);
    }

    #[test]
    fn the_merge_of_releases_is_the_release_of_the_merge_under_both_noises(seed: u64, a in items(), b in items()) {
        let mut random = noise(seed);
        let [sa, sb] = [a, b].map(|items| raw(general(), items));
        let joined = join(&sa, &sb);
        let none = || raw(general(), []);
        let mut again = random.clone();
        let merged = released(sa, 1.0, &mut random).merge(&released(sb, 2.0, &mut random)).expect("different");
        let noises = released(none(), 1.0, &mut again).merge(&released(none(), 2.0, &mut again)).expect("different");
        let plain: Vec<u64> = words(&joined);
        let tail = |sketch: &PrivateF0Sketch| { let bytes = sketch.to_bytes(); bytes[bytes.len() - 16..].to_vec() };
        let expected: Vec<u8> = tail(&noises).iter().zip(plain.iter().flat_map(|word| word.to_le_bytes())).map(|(a, b)| a ^ b).collect();
        prop_assert_eq!(tail(&merged), expected);
    }

    #[test]
    fn raw_bytes_round_trip(shape in shapes(), items in items(), releases in 0..3, user in 0..3_u32) {
        let mut sketch = raw(shape, items).with_unit(Unit::user(user).unwrap_or(Unit::Item)).expect("a first bound");
        for _ in 0..releases {
            sketch.record_release();
        }
        let read = Raw::from_sensitive_bytes(&sketch.to_sensitive_bytes(), DefaultHash::default()).expect("its own bytes");
        prop_assert_eq!(read, sketch);
    }

    #[test]
    fn presampled_batches_take_one_coin_for_each_occurrence(items in items(), seed: u64) {
        // With every coin on one the stream is a set; the coins are those of the words, lowest bit first.
        let batched = stream(general(), &items, &mut noise(seed));
        let mut coins = noise(seed);
        // Their name comes first.
        let mut name = [0; 16];
        dp_noise::rand_core::Rng::fill_bytes(&mut coins, &mut name);
        prop_assert_eq!(batched.coins()[0].to_bytes(), name);
        let mut kept: Raw = empty(general());
        let mut tossed = vec![0; items.len().div_ceil(64)];
        dp_noise::NoiseSource::fill_words(&mut coins, &mut tossed);
        for (index, &item) in items.iter().enumerate() {
            if tossed[index / 64] >> (index % 64) & 1 == 1 {
                kept.toggle_u64(item);
            }
        }
        let cells = |bytes: &[u8]| bytes[bytes.len() - 16..].to_vec();
        prop_assert_eq!(cells(&batched.to_sensitive_bytes()), cells(&kept.to_sensitive_bytes()));
    }
}

#[test]
fn merges_need_one_hash_shape_rule_and_unit() {
    let mut base = raw(general(), [1, 2]);
    let untouched = bytes(&base);
    let other_hash: Raw = F0Sketch::new(general(), WeightRule::Unit, other_key());
    let error = base.merge(&other_hash).expect_err("another key");
    let message = error.to_string();
    let MergeError::Hash { expected, found } = error else { panic!("{message}") };
    assert!(message.starts_with("hash key mismatch"));
    assert!(message.contains(&expected.to_string()) && message.contains(&found.to_string()), "although it is empty");
    assert!(matches!(base.merge(&raw(shape(3, 32), [1])), Err(MergeError::Shape { .. })));
    let rule = WeightRule::Weighted(MaxWeight::new(1.0).expect("in range"));
    let weighted: Raw = F0Sketch::new(general(), rule, DefaultHash::default());
    assert!(matches!(base.merge(&weighted), Err(MergeError::Weights { .. })));
    let bounded = raw(general(), []).with_unit(Unit::user(1).expect("one")).expect("a first bound");
    assert!(matches!(base.merge(&bounded), Err(MergeError::Unit { .. })));
    assert_eq!(bytes(&base), untouched);

    let mut random = noise(1);
    let a = released(raw(general(), [1]), 1.0, &mut random);
    assert!(matches!(a.merge(&a), Err(MergeError::RepeatedRelease { id }) if id == a.leaves()[0].id()));
    let b = other_hash.release(permit(1.0), &mut random).expect("a release");
    assert!(matches!(a.merge(&b), Err(MergeError::Hash { .. })));
    let c = released(raw(shape(3, 32), []), 1.0, &mut random);
    assert!(matches!(a.merge(&c), Err(MergeError::Shape { .. })));
    let d = weighted.release(permit(1.0), &mut random).expect("a release");
    assert!(matches!(a.merge(&d), Err(MergeError::Weights { .. })));
    assert!(matches!(PrivateF0Sketch::<f0_sketch::Set>::merge_all(&[]), Err(MergeError::Empty)));
}

#[test]
fn merges_that_leave_nothing_are_refused() {
    let mut random = noise(2);
    let parts: Vec<PrivateF0Sketch> = (0..400).map(|_| released(raw(shape(1, 3), []), 1.0, &mut random)).collect();
    // tanh(1/2)^n falls below 2^-300 at n = 270.
    let all: Vec<&PrivateF0Sketch> = parts.iter().collect();
    let most = PrivateF0Sketch::merge_all(&all[..269]).expect("some signal");
    assert!(most.contrast() > 0.0);
    assert!(matches!(PrivateF0Sketch::merge_all(&all[..270]), Err(MergeError::NoSignal)));
    assert!(matches!(most.merge(all[399]), Err(MergeError::NoSignal)));
}

#[test]
fn weights_need_a_sketch_that_has_them() {
    let mut sketch = raw(general(), [1]);
    let untouched = bytes(&sketch);
    assert_eq!(sketch.toggle_weighted(b"x", Weight::ONE), Err(WeightError::Unit));
    assert_eq!(sketch.toggle_u64_batch_weighted(&[1], &[Weight::ONE]), Err(WeightError::Unit));
    assert_eq!(bytes(&sketch), untouched);
    let rule = WeightRule::Weighted(MaxWeight::new(1.0).expect("in range"));
    let mut weighted: Raw = F0Sketch::new(general(), rule, DefaultHash::default());
    let refused = weighted.toggle_u64_batch_weighted(&[1, 2], &[Weight::ONE]);
    assert_eq!(refused, Err(WeightError::Count { expected: 2, found: 1 }));
    assert!(weighted.is_zero());
}

#[test]
fn streams_move_when_they_merge() {
    let mut random = noise(3);
    let mut a = stream(general(), &[1, 2, 3], &mut random);
    let mut b = stream(general(), &[3, 4, 5], &mut random);
    let (before_a, before_b) = (bytes(&a), bytes(&b));
    let mut other: F0Sketch<Presampled> = empty(shape(3, 32));
    assert!(matches!(a.merge(&mut other), Err(MergeError::Shape { .. })));
    assert_eq!((bytes(&a), bytes(&b)), (before_a.clone(), before_b.clone()), "nothing moves when refused");
    a.merge(&mut b).expect("one kind");
    assert!(b.is_zero() && b.exposure().to_bits() == 0);
    let cells = |bytes: &[u8]| u128::from_le_bytes(bytes[bytes.len() - 16..].try_into().expect("16 bytes"));
    assert_eq!(cells(&bytes(&a)), cells(&before_a) ^ cells(&before_b));
    assert_eq!(bytes(&b), bytes(&empty::<Presampled>(general())));
    b.observe_u64_batch(&[6], &mut random).expect("test coins");
    a.merge(&mut b).expect("it goes on");
}

#[test]
fn any_hash_can_decide_the_cells() {
    let mut sketch: F0Sketch<f0_sketch::Set, PrestoHash> = F0Sketch::new(general(), WeightRule::Unit, PrestoHash);
    sketch.toggle_u64_batch(&[1, u64::MAX]);
    sketch.toggle_u64(1);
    sketch.toggle_u64(u64::MAX);
    assert!(sketch.is_zero());
    assert_eq!(sketch.hash_id(), PrestoHash.id());
}
