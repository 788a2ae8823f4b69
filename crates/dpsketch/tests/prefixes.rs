//! Frequent keys that nobody listed, through files.

use dpsketch::countsketch_dp::dp_noise::{DisjointParts, Epsilon, Neighbouring, Permit, Rho};
use dpsketch::countsketch_dp::{
    ContributionBound, CountSketchShape, Granularity, PrefixLayout, PrefixSearch, TotalWeight,
};
use dpsketch::sfm_pcsa::MergeForm;
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashKey, Item};
use dpsketch::{
    AnySketch, Description, Error, ErrorKind, Excess, FrequencyLevel, FrequencySketch, OutputFile, PrefixBuilder,
    PrefixKeys, RawPrefixStack, Readers, RecordedPrefixStack, SpillSettings, TextRules, merge, merge_disjoint,
    release_prefix_file_paid,
};

fn hash(key: u8) -> AnyHash {
    AnyHash::from(DefaultHash::new(HashKey::from_bytes([key; 16])))
}

fn names() -> PrefixKeys {
    PrefixKeys::text(5).expect("5 bytes are allowed")
}

fn layout() -> PrefixLayout {
    let shape = CountSketchShape::new(5, 1024).expect("a small shape");
    PrefixLayout::new(40, 8, shape).expect("a small layout")
}

fn records(bound: ContributionBound) -> PrefixBuilder {
    let rules = TextRules { trim: true, lowercase: true, null: None };
    PrefixBuilder::records(layout(), names(), bound, Granularity::ONE, hash(1), rules).expect("records are bounded")
}

/// 3000 times lucy, 2000 times max, and 2000 other names once each.
fn raw() -> RawPrefixStack {
    let mut builder = records(ContributionBound::UNIT_ENTRY);
    let many = std::iter::repeat_n(" Lucy".to_owned(), 3000).chain(std::iter::repeat_n("max".to_owned(), 2000));
    for name in many.chain((0..2000).map(|n| format!("{n:05}"))) {
        builder.push_row(None, Some(Item::from(name.as_str()))).expect("records of weight 1");
    }
    builder.finish().expect("nothing was refused").0
}

fn released() -> RecordedPrefixStack {
    let rho = Rho::new(2.0).expect("in range");
    raw().release_paid(Neighbouring::AddRemove, Permit::standalone(rho)).expect("there is entropy")
}

#[test]
fn frequent_keys_are_found_and_named_without_a_list() {
    let stack = released();
    let search = PrefixSearch::above(1000.0).total(TotalWeight::public(7000.0).unwrap());
    let found = stack.search(hash(1), names(), &search, 10).unwrap();
    let items: Vec<String> = found.items().map(|(name, _)| name).collect();
    assert_eq!(items, ["lucy", "max"]);
    let json = found.to_json();
    assert_eq!((json["items"][0]["rank"].as_u64(), json["items"][1]["item"].as_str()), (Some(1), Some("max")));
    // Four levels at most at ρ/4 each: σ² = 5/(2·0.5) = 5 in a sketched one, and collisions of 2000 single names.
    assert!((json["items"][0]["estimate"].as_f64().unwrap() - 3000.0).abs() < 100.0);
    let one = stack.search(hash(1), names(), &search, 1).unwrap();
    assert!(one.has_more() && one.items().count() == 1);
}

#[test]
fn a_search_for_the_largest_finds_its_threshold() {
    let stack = released();
    let search = PrefixSearch::above(f64::NAN).total(TotalWeight::public(7000.0).unwrap());
    // 7000/2 is above both keys, half of that below both.
    let found = stack.search_largest(hash(1), names(), &search, 2).unwrap();
    let items: Vec<String> = found.items().map(|(name, _)| name).collect();
    assert_eq!((items, found.above()), (vec!["lucy".to_owned(), "max".to_owned()], 1750.0));
    assert_eq!(found.to_json()["above"], 1750.0);
    assert!(found.hits().miss_probability.is_some());
    // 7000 is above 3000, 3500 too, 1750 is not.
    let one = stack.search_largest(hash(1), names(), &search, 1).unwrap();
    assert_eq!((one.above(), one.items().next().unwrap().0), (1750.0, "lucy".to_owned()));
    // There are no hundred keys to be told from the noise: the search ends all the same, before it loses any.
    let many = stack.search_largest(hash(1), names(), &search, 100).unwrap();
    assert!(many.above() < 70.0 || many.hits().miss_probability.is_some());
    assert_eq!(many.items().take(2).map(|(name, _)| name).collect::<Vec<_>>(), ["lucy", "max"]);
    // Without a given total the plain level tells it: 7000 with noise of sigma 8 at most.
    let told = stack.search_largest(hash(1), names(), &PrefixSearch::above(1.0), 2).unwrap();
    assert!((told.above() - 1750.0).abs() < 30.0);
}

#[test]
fn other_keys_are_refused() {
    let (stack, search) = (released(), PrefixSearch::above(1000.0));
    assert_eq!(stack.search(hash(2), names(), &search, 1).unwrap_err().kind(), ErrorKind::Incompatible);
    let longer = PrefixKeys::text(6).unwrap();
    assert_eq!(stack.search(hash(1), longer, &search, 1).unwrap_err().kind(), ErrorKind::Parameter);
    assert!(stack.search(hash(1), names(), &search, 0).is_err());
    let rules = TextRules::default();
    let builder =
        PrefixBuilder::records(layout(), longer, ContributionBound::UNIT_ENTRY, Granularity::ONE, hash(1), rules);
    assert_eq!(builder.unwrap_err().kind(), ErrorKind::Parameter);
}

#[test]
fn files_are_read_by_content_described_and_added_up() {
    let (private, raw) = (AnySketch::from(FrequencySketch::from(released())), FrequencySketch::from(raw()));
    let raw = AnySketch::from(raw);
    for sketch in [&private, &raw] {
        assert_eq!(&AnySketch::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
        assert_eq!(sketch.kind(), "prefix");
        assert_eq!(sketch.shape().to_string(), "keys of 40 bits in 5 levels of 5 x 1024");
    }
    let facts = Description::of(&private).to_json();
    assert_eq!(
        (facts["lengths"].as_array().map(Vec::len), facts["unit"].as_str()),
        (Some(5), Some("one record of weight at most 1"))
    );
    assert!((facts["rho_total"].as_f64().unwrap() - 2.0).abs() < 1e-9);
    assert_eq!(Description::of(&raw).to_json()["times_released"], 0);

    let named = |sketches: [AnySketch; 2]| -> Vec<(String, AnySketch)> {
        sketches.into_iter().zip(["a.dps", "b.dps"]).map(|(sketch, name)| (name.to_owned(), sketch)).collect()
    };
    let both = named([private.clone(), AnySketch::from(FrequencySketch::from(released()))]);
    let sum = |merged: AnySketch| match merged {
        AnySketch::Frequencies(FrequencySketch::Prefixes(stack)) => stack.rho_total().unwrap(),
        _ => panic!("a sum of released stacks is one"),
    };
    assert!((sum(merge(&both, MergeForm::default()).unwrap()) - 4.0).abs() < 1e-9);
    assert!((sum(merge_disjoint(&both, DisjointParts::EachUnitInOnePart).unwrap()) - 2.0).abs() < 1e-9);
    let mut day = records(ContributionBound::UNIT_ENTRY);
    day.push_row(None, Some(Item::from("lucy"))).unwrap();
    let day = AnySketch::from(FrequencySketch::from(day.finish().unwrap().0));
    assert!(merge(&named([raw.clone(), day]), MergeForm::default()).unwrap().is_raw());
    let copied = merge(&named([raw.clone(), raw.clone()]), MergeForm::default()).unwrap_err();
    assert_eq!((copied.kind(), copied.message()), (ErrorKind::Incompatible, "b.dps holds the same data as a.dps"));
    let twice = merge(&named([private.clone(), private.clone()]), MergeForm::default()).unwrap_err();
    assert!(twice.message().starts_with("b.dps does not fit a.dps"), "{twice}");
    assert_eq!(merge(&named([private, raw]), MergeForm::default()).unwrap_err().kind(), ErrorKind::Incompatible);
}

#[test]
fn a_raw_file_is_released_once_and_pure_noise_is_refused_before_anybody_pays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.raw.dps");
    OutputFile::create(&path, Readers::OwnerOnly).unwrap().commit(&raw().to_sensitive_bytes()).unwrap();
    let pure = FrequencyLevel::Pure(Epsilon::new(1.0).unwrap());
    let unpaid = |_, _| -> Result<Permit<Rho>, Error> { panic!("asked to pay") };
    let refused = release_prefix_file_paid(&path, pure, Neighbouring::AddRemove, false, unpaid);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Parameter);
    let tiny = FrequencyLevel::Rho(Rho::new(Rho::MIN).unwrap());
    let refused = release_prefix_file_paid(&path, tiny, Neighbouring::AddRemove, false, unpaid);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Parameter, "nothing is left for one level");
    let level = FrequencyLevel::Rho(Rho::new(0.5).unwrap());
    let release = || {
        release_prefix_file_paid(&path, level, Neighbouring::AddRemove, false, |rho, bound| {
            assert_eq!(bound, ContributionBound::UNIT_ENTRY);
            Ok(Permit::standalone(rho))
        })
    };
    assert!(release().unwrap().rho_total().unwrap() <= 0.5 + 1e-9);
    assert_eq!(release().unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(RawPrefixStack::from_sensitive_bytes(&std::fs::read(&path).unwrap()).unwrap().releases(), 1);
}

#[test]
fn users_are_bounded_in_any_order_and_heavy_records_by_choice() {
    let bound = ContributionBound::user_items(2, 3).unwrap();
    let build = |spill, rows: &[(&str, &str, i64)]| {
        let (rules, key) = (TextRules::default(), HashKey::DEFAULT);
        let builder = PrefixBuilder::users(layout(), names(), bound, Granularity::ONE, hash(1), rules, key, spill);
        let mut builder = builder.unwrap();
        for (user, item, weight) in rows {
            let (user, item) = (Some(Item::from(*user)), Some(Item::from(*item)));
            builder.push_weighted_row(user, item, Some(Item::from(*weight))).unwrap();
        }
        builder.finish().unwrap()
    };
    let rows = [("u", "a", 9), ("u", "b", 1), ("u", "c", 1), ("v", "a", -1), ("v", "a", 2)];
    let mut shuffled = rows;
    shuffled.reverse();
    let (in_order, users) = build(None, &rows);
    assert_eq!(users.map(|users| (users.users, users.kept)), Some((2, 3)));
    assert_eq!(build(Some(SpillSettings::default()), &shuffled).0, in_order);

    let mut refusing = records(ContributionBound::entry(2).unwrap());
    let heavy = Some(Item::from(3_i64));
    let error = refusing.push_weighted_row(None, Some(Item::from("a")), heavy).unwrap_err();
    assert_eq!((error.kind(), refusing.finish().is_err()), (ErrorKind::Refused, true));
    let mut clipping = records(ContributionBound::entry(2).unwrap()).with_excess(Excess::Clip);
    clipping.push_weighted_row(None, Some(Item::from("a")), heavy).unwrap();
    clipping.push_row(None, Some(Item::Integer(7))).unwrap();
    let counts = clipping.counts();
    assert_eq!((counts.rows, counts.nulls, counts.clipped), (2, 1, 1));
}
