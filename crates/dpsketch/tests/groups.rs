//! Groups against sketches that were built one by one.
#![cfg(feature = "arrow")]

use std::collections::BTreeMap;

use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use cardinality_estimators::Confidence;
use dpsketch::{
    AnySketch, DistinctBuilder, ErrorKind, GroupContainer, GroupError, GroupedBuilder, MaxItems, PrivacyUnit,
    RawSketch, SpillSettings, TextRules, UserBound, group_value, parse_epsilon,
};
use proptest::prelude::*;
use sfm_pcsa::{PcsaShape, SfmSketch};
use sketch_hash::{AnyHash, HashKey, Item};

/// So large that no bit is flipped, but once in 10^10 runs.
const NOISELESS: &str = "256";

fn shape() -> PcsaShape {
    PcsaShape::new(64, 16).expect("a shape")
}

fn builder() -> GroupedBuilder {
    GroupedBuilder::new(shape(), AnyHash::default(), TextRules::default())
}

/// The released sketch of each group.
fn released(builder: GroupedBuilder, unit: PrivacyUnit) -> (GroupContainer, Vec<(String, SfmSketch)>) {
    let (sketches, _) = builder.finish().expect("sketches");
    let mut released = sketches.release("group", parse_epsilon(NOISELESS).expect("in range"), unit).expect("noise");
    let container = released.container().clone();
    let mut groups = Vec::new();
    for batch in released.by_ref() {
        let batch = batch.expect("a batch");
        for (row, sketch) in container.sketches(&batch).expect("whole sketches").into_iter().enumerate() {
            let Some(AnySketch::Sfm(sketch)) = sketch else { panic!("a private sketch") };
            let group = group_value(batch.column(0), row).expect("a value");
            groups.push((group.as_str().map_or_else(|| group.to_string(), str::to_owned), sketch));
        }
    }
    (container, groups)
}

fn direct(items: &[u32]) -> Vec<u64> {
    let mut builder = DistinctBuilder::new(shape(), AnyHash::default(), TextRules::default());
    for item in items {
        builder.push_row([Some(Item::from(*item))]);
    }
    let raw = RawSketch::try_from(builder).expect("a sketch");
    raw.release(parse_epsilon(NOISELESS).expect("in range")).expect("noise").ones_per_level()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_group_is_as_if_built_alone_whoever_built_it(
        rows in prop::collection::vec(("[a-d]?", 0_u32..200), 0..400),
        cut in 0_usize..400,
    ) {
        let mut exact: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut builders = [builder(), builder()];
        for (number, (group, item)) in rows.iter().enumerate() {
            exact.entry(group.clone()).or_default().push(*item);
            let builder = &mut builders[usize::from(number >= cut)];
            builder.push_row(Some(Item::from(group.as_str())), None, [Some(Item::from(*item))]).unwrap();
        }
        let [mut first, second] = builders;
        first.absorb(&second).unwrap();
        prop_assert_eq!(first.counts().rows, rows.len() as u64);
        let (_, groups) = released(first, PrivacyUnit::Item);
        prop_assert_eq!(groups.iter().map(|(group, _)| group).collect::<Vec<_>>(), exact.keys().collect::<Vec<_>>());
        for ((group, sketch), items) in groups.iter().zip(exact.values()) {
            prop_assert_eq!(sketch.ones_per_level(), direct(items), "{}", group);
        }
    }
}

#[test]
fn a_bound_on_users_keeps_as_many_pairs_in_any_order() {
    let bounded = |sorted: bool, rows: &[(u32, &str, u32)]| {
        let max_items = MaxItems::new(3).unwrap();
        let bound = if sorted {
            UserBound::sorted(max_items, HashKey::DEFAULT)
        } else {
            UserBound::spilling(max_items, HashKey::DEFAULT, SpillSettings::default()).unwrap()
        };
        let mut builder = builder().with_list(["a".to_owned(), "b".to_owned()]).for_users(bound).unwrap();
        for (user, group, item) in rows {
            builder.push_row(Some(Item::from(*group)), Some(Item::from(*user)), [Some(Item::from(*item))]).unwrap();
        }
        let (_, groups) = released(builder, PrivacyUnit::User { max_items });
        groups.iter().map(|(_, sketch)| sketch.ones_per_level()).collect::<Vec<_>>()
    };
    let mut rows: Vec<(u32, &str, u32)> = Vec::new();
    for user in 0..50 {
        rows.extend((0..10).flat_map(|item| [(user, "a", 100 * user + item), (user, "b", 100 * user + item)]));
    }
    let sorted = bounded(true, &rows);
    rows.reverse();
    assert_eq!(bounded(false, &rows), sorted);
    rows.extend_from_within(..);
    assert_eq!(bounded(false, &rows), sorted);
    // 50 users, 3 pairs each; cells of 64 x 16 are shared by a few.
    let ones: u64 = sorted.iter().flatten().sum();
    assert!((100..=150).contains(&ones), "{ones}");
}

#[test]
fn users_are_not_bounded_without_a_list() {
    let bound = UserBound::sorted(MaxItems::new(1).unwrap(), HashKey::DEFAULT);
    assert_eq!(builder().for_users(bound).unwrap_err(), GroupError::NoList);
}

#[test]
fn the_cost_is_for_all_groups_unless_users_are_bounded() {
    let mut builder = builder();
    for group in 0..3_i32 {
        builder.push_row(Some(Item::from(group)), None, [Some(Item::from(1_u32))]).unwrap();
    }
    let (sketches, _) = builder.finish().unwrap();
    let epsilon = parse_epsilon("0.1").unwrap();
    let user = PrivacyUnit::User { max_items: MaxItems::new(5).unwrap() };
    assert_eq!(sketches.cost(epsilon, PrivacyUnit::Item).unwrap(), parse_epsilon("0.3").unwrap());
    assert_eq!(sketches.cost(epsilon, user).unwrap(), epsilon);
    let error = sketches.cost(parse_epsilon("100").unwrap(), PrivacyUnit::Item).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn metadata_are_read_back_and_checked() {
    let mut builder = builder();
    builder.expect_group_type(&DataType::LargeUtf8).unwrap();
    builder.push_row(Some(Item::from("a")), None, [Some(Item::from(1_u32))]).unwrap();
    let (sketches, _) = builder.finish().unwrap();
    let mut released = sketches.release("publisher", parse_epsilon("1").unwrap(), PrivacyUnit::Item).unwrap();
    let (container, schema) = (released.container().clone(), released.schema());
    let batch = released.next().unwrap().unwrap();
    assert_eq!(batch.column(0).as_ref(), &StringArray::from(vec!["a"]) as &dyn Array);
    let entries = container.to_metadata();
    assert!(GroupContainer::is_claimed(entries.iter().map(|(name, _)| name.as_str())));
    let entry = |wanted: &str| entries.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    assert_eq!(GroupContainer::read(&schema, entry).unwrap(), container);
    assert_eq!((container.column(), container.is_listed()), ("publisher", false));
    for missing in entries.iter().map(|(name, _)| name) {
        let error = GroupContainer::read(&schema, |name| entry(name).filter(|_| name != missing)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
        let error = GroupContainer::read(&schema, |name| entry(name).map(|text| &text[..text.len() / 2])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
    }
    // A sketch of another study among them.
    let other = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
    let other = RawSketch::try_from(other).unwrap().release(parse_epsilon("1").unwrap()).unwrap().to_bytes();
    let bytes = arrow_array::BinaryArray::from(vec![other.as_slice()]);
    let foreign = RecordBatch::try_new(schema, vec![batch.column(0).clone(), std::sync::Arc::new(bytes)]).unwrap();
    let error = container.estimates(&foreign, Confidence::P95).unwrap_err();
    assert!(error.message().contains("row 1 of the batch: not made as the study says: shape"), "{error}");
}

#[test]
fn groups_that_cannot_be_named_are_refused_and_never_shown() {
    let mut grouped = builder();
    let one = || [Some(Item::from(1_u32))];
    grouped.push_row(Some(Item::from("secret")), None, one()).unwrap();
    for group in [Item::from(1_u32), Item::from(true), Item::from(1.5_f64)] {
        let error = grouped.push_row(Some(group), None, one()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Column);
        assert!(!error.to_text().contains("secret"));
    }
    assert!(builder().expect_group_type(&DataType::Float64).is_err());
    assert!(
        builder().expect_group_type(&DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))).is_ok()
    );
    let mut listed = builder().with_list(["a".to_owned(), "b".to_owned(), "a".to_owned()]);
    let error = listed.push_row(Some(Item::from("a")), None, one()).unwrap_err();
    assert!(error.message().contains("line 3"), "{error}");
}
