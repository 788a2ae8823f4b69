//! Laws of tallies: any order of adding and merging gives the same bytes, and refusals change nothing.

mod support;

use std::num::NonZeroU32;

use proptest::prelude::*;
use sfm_pcsa::{Leaf, Mechanism, MergeError, MergeForm, PcsaShape, SfmSketch, SfmTally, TallyError, Unit, tally_of};
use sketch_testkit::{assert_associates, assert_commutes};
use support::{noise, other_key, permit, raw, released, shape};

/// A release that follows from a number, in one of five channels.
fn release(shape: PcsaShape, number: u64) -> SfmSketch {
    let mut coins = noise(1000 + number);
    let raw = raw(shape, 10 * number..10 * number + 200);
    let epsilon = match number % 5 {
        0 => 0.5,
        2 => 2.0,
        4 => 4.0,
        _ => 1.0,
    };
    let mechanism = if number.is_multiple_of(5) { Mechanism::XorFamily } else { Mechanism::Symmetric };
    raw.release_with(mechanism, Unit::Item, permit(epsilon), &mut coins).expect("a release")
}

fn tally(sketches: &[SfmSketch]) -> SfmTally {
    tally_of(&sketches.iter().collect::<Vec<_>>()).expect("different releases")
}

fn merged(a: &SfmTally, b: &SfmTally) -> SfmTally {
    let mut sum = a.clone();
    sum.merge(b).expect("different releases");
    sum
}

#[test]
fn merging_commutes_and_associates_down_to_the_bytes() {
    for shape in [shape(8, 5), shape(64, 4), shape(2, 40)] {
        let [a, b, c] =
            [0..3, 3..4, 4..11].map(|numbers| tally(&numbers.map(|n| release(shape, n)).collect::<Vec<_>>()));
        assert_commutes(&a, &b, merged);
        assert_associates(&a, &b, &c, merged);
        assert_eq!(merged(&a, &merged(&c, &b)).to_bytes(), merged(&merged(&b, &a), &c).to_bytes());
    }
}

#[test]
fn a_tally_states_its_releases() {
    let parts: Vec<SfmSketch> = (0..7).map(|number| release(shape(16, 6), number)).collect();
    let tally = tally(&parts);
    assert_eq!((tally.sketches(), tally.shape(), tally.hash_id()), (7, shape(16, 6), parts[0].hash_id()));
    let mut leaves: Vec<Leaf> = parts.iter().map(|part| part.leaves()[0]).collect();
    leaves.sort_by_key(Leaf::id);
    assert!(tally.releases().eq(&leaves));
    assert!(leaves.iter().all(|leaf| tally.contains(leaf.id())));
    assert_eq!((tally.epsilon(), tally.epsilon_total()), (4.0, Some(0.5 + 1.0 + 2.0 + 1.0 + 4.0 + 0.5 + 1.0)));
    assert_eq!(tally.units(), [Unit::Item]);
    assert!(tally.insecure_noise() && !tally.is_thinned());
    // xor at 0.5, twice; 1.0, thrice; 2.0; 4.0. By rising p.
    let classes: Vec<(f64, usize)> = tally.classes().iter().map(|class| (class.channel.p(), class.sketches)).collect();
    assert_eq!(classes.iter().map(|class| class.1).collect::<Vec<_>>(), [2, 3, 1, 1]);
    assert!(classes.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn units_that_do_not_add_up_have_no_total() {
    let unit = Unit::User { max_items: NonZeroU32::new(3).expect("positive") };
    let mut coins = noise(5);
    let users =
        raw(shape(16, 6), 0..9).release_with(Mechanism::Symmetric, unit, permit(2.0), &mut coins).expect("a release");
    let items = released(raw(shape(16, 6), 0..9), 2.0, &mut coins);
    let tally = tally(&[users, items]);
    assert_eq!((tally.epsilon(), tally.epsilon_total()), (2.0, None));
    assert_eq!(tally.units(), [Unit::Item, unit]);
}

#[test]
fn refused_sketches_leave_a_tally_as_it_was() {
    let mut coins = noise(6);
    let parts: Vec<SfmSketch> = (1..4).map(|number| release(shape(8, 5), number)).collect();
    let mut tally = tally(&parts);
    let before = tally.to_bytes();

    let repeated = tally.add(&parts[1]).expect_err("a release twice");
    let TallyError::Mismatch(MergeError::RepeatedRelease { id }) = repeated else { panic!("{repeated}") };
    assert_eq!(id, parts[1].leaves()[0].id());
    let itself = tally.clone();
    assert!(matches!(tally.merge(&itself), Err(TallyError::Mismatch(MergeError::RepeatedRelease { .. }))));

    let other_shape = tally.add(&release(shape(8, 6), 9));
    assert!(matches!(other_shape, Err(TallyError::Mismatch(MergeError::Shape { .. }))));
    let mut foreign = sfm_pcsa::PcsaSketch::new(shape(8, 5), other_key());
    foreign.update_u64(1);
    let foreign = released(foreign, 1.0, &mut coins);
    assert!(matches!(tally.add(&foreign), Err(TallyError::Mismatch(MergeError::Hash { .. }))));

    let pair = [release(shape(8, 5), 10), release(shape(8, 5), 11)];
    let joined = pair[0].merge(&pair[1], MergeForm::Extremal, &mut coins).expect("fresh releases");
    assert!(matches!(tally.add(&joined), Err(TallyError::Merged { releases: 2 })));
    let noisier = pair[0].symmetrised(&mut coins).expect("entropy");
    assert!(matches!(tally.add(&noisier), Err(TallyError::Merged { releases: 1 })));
    assert!(matches!(tally_of(&[]), Err(TallyError::Mismatch(MergeError::Empty))));
    assert_eq!(tally.to_bytes(), before);
}

#[test]
fn a_tally_is_full_with_its_most_releases_and_channels() {
    let mut coins = noise(7);
    let one = shape(2, 1);
    let mut part = |epsilon: f64| released(raw(one, []), epsilon, &mut coins);
    let mut classes = tally(&[part(1.0)]);
    for class in 1..16_u8 {
        classes.add(&part(1.0 + f64::from(class))).expect("room for a channel");
    }
    let before = classes.to_bytes();
    let error = classes.add(&part(0.5)).expect_err("a channel too many");
    assert!(matches!(error, TallyError::Classes { max: 16, found: 17 }), "{error}");
    assert_eq!(classes.to_bytes(), before);
    classes.add(&part(1.0)).expect("room for a release");

    let mut full = tally(&(0..SfmTally::MAX_RELEASES).map(|_| part(30.0)).collect::<Vec<_>>());
    let before = full.to_bytes();
    let error = full.add(&part(30.0)).expect_err("a release too many");
    let found = matches!(error, TallyError::Mismatch(MergeError::TooManyReleases { max: 256, found: 257 }));
    assert!(found, "{error}");
    assert_eq!(full.to_bytes(), before);
    let read = SfmTally::from_bytes_allowing_insecure_noise(&before).expect("its own bytes");
    assert_eq!(read, full);
}

#[test]
fn debug_shows_no_cells() {
    let text = format!("{:?}", tally(&[release(shape(8, 5), 1), release(shape(8, 5), 2)]));
    assert!(text.starts_with("SfmTally { shape: ") && text.contains("releases: 2") && text.ends_with(".. }"), "{text}");
    assert!(!text.contains("planes") && !text.contains("ones"), "{text}");
}

#[test]
fn one_class_is_not_thinned() {
    let parts = [release(shape(8, 5), 1), release(shape(8, 5), 3)];
    let tally = tally(&parts);
    assert_eq!(tally.thin(&mut noise(1)).expect("nothing to do"), tally);
}

#[test]
fn thinned_tallies_have_one_channel_and_keep_their_releases() {
    let tally = tally(&(0..9).map(|number| release(shape(32, 7), number)).collect::<Vec<_>>());
    let thinned = tally.thin(&mut noise(8)).expect("entropy");
    assert!(thinned.releases().eq(tally.releases()));
    assert_eq!((thinned.classes().len(), thinned.classes()[0].sketches), (1, 9));
    assert!(thinned.is_thinned());
    let read = SfmTally::from_bytes_allowing_insecure_noise(&thinned.to_bytes()).expect("its own bytes");
    assert_eq!(read, thinned);
    // Every class is at least as far from noise in both ratios.
    let ratios = |class: &sfm_pcsa::cardinality_estimators::tally::TallyClass| {
        [class.channel.p() / class.channel.q(), (1.0 - class.channel.q()) / class.channel.miss()]
    };
    let [p, not_q] = ratios(&thinned.classes()[0]);
    let least = |index: usize| tally.classes().iter().map(ratios).map(|pair| pair[index]).fold(f64::INFINITY, f64::min);
    // The best channel meets both bounds, but for the rounding of what is compared.
    assert!((p / least(0) - 1.0).abs() < 1e-13 && (not_q / least(1) - 1.0).abs() < 1e-13);
}

#[test]
fn thinned_tallies_merge_with_releases_of_their_channel() {
    let tally = tally(&[release(shape(8, 5), 1), release(shape(8, 5), 2)]);
    let thinned = tally.thin(&mut noise(9)).expect("entropy");
    // The channel of epsilon = 1 is also that of release 3.
    let sum = merged(&thinned, &SfmTally::new(&release(shape(8, 5), 3)).expect("a release"));
    assert_eq!((sum.classes().len(), sum.sketches(), sum.is_thinned()), (1, 3, true));
    assert_eq!(SfmTally::from_bytes_allowing_insecure_noise(&sum.to_bytes()).expect("its own bytes"), sum);
    // Another thinned copy of the same releases is no news.
    let again = tally.thin(&mut noise(10)).expect("entropy");
    assert!(merged_is_refused(&thinned, &again));
}

fn merged_is_refused(a: &SfmTally, b: &SfmTally) -> bool {
    matches!(a.clone().merge(b), Err(TallyError::Mismatch(MergeError::RepeatedRelease { .. })))
}

/// How the parts of a random tally come together: by adding and merging in a random order.
fn assembled(parts: &[SfmSketch], order: &[(prop::sample::Index, prop::sample::Index)]) -> SfmTally {
    let mut pieces: Vec<SfmTally> = parts.iter().map(|part| SfmTally::new(part).expect("a release")).collect();
    for (a, b) in order {
        if pieces.len() == 1 {
            break;
        }
        let piece = pieces.swap_remove(a.index(pieces.len()));
        let into = b.index(pieces.len());
        pieces[into].merge(&piece).expect("different releases");
    }
    let rest = pieces.split_off(1);
    rest.iter().fold(pieces.remove(0), |sum, piece| merged(&sum, piece))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_order_of_merging_gives_the_same_bytes(
        count in 1..12_u64,
        index_bits in 1..8_u8,
        levels in 1..7_u8,
        order in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..12),
    ) {
        let shape = shape(1 << index_bits, levels);
        let parts: Vec<SfmSketch> = (0..count).map(|number| release(shape, number)).collect();
        let one = assembled(&parts, &order);
        let two = tally(&parts);
        prop_assert_eq!(&one, &two);
        let bytes = one.to_bytes();
        prop_assert_eq!(&bytes, &two.to_bytes());
        let read = SfmTally::from_bytes_allowing_insecure_noise(&bytes).expect("its own bytes");
        prop_assert_eq!(read.to_bytes(), bytes);
        prop_assert_eq!(read, one);
    }
}
