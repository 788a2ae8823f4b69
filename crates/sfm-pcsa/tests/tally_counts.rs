//! Counts of cells by the numbers of ones in them, against counting cell by cell.

mod support;

use cardinality_estimators::tally::{TallyClass, TallyCounts};
use cardinality_estimators::venn::{GroupCounts, fit_groups};
use cardinality_estimators::{CellLayout, Confidence, ParamError};
use sfm_pcsa::{
    BitmapShape, LinearShape, MergeError, MergeForm, PcsaShape, PrivateBitmap, SfmSketch, SfmTally, TallyError,
    UnionError, group_counts, sketch_group_counts, tally_counts, tally_of,
};
use sketch_testkit::two_sided_z;
use support::{noise, raw, released, shape};

/// The cells of a sketch, from the end of its bytes.
fn cells<S: BitmapShape>(sketch: &PrivateBitmap<S>) -> Vec<usize> {
    let bytes = sketch.to_bytes();
    let count = sketch.shape().cells();
    let words = &bytes[bytes.len() - 8 * count.div_ceil(64)..];
    (0..count).map(|cell| usize::from(words[cell / 8] >> (cell % 8) & 1)).collect()
}

/// For every group of `layout` the cells with each combination of numbers of the classes, cell by cell.
fn slowly<S: BitmapShape>(layout: &CellLayout, classes: &[Vec<&PrivateBitmap<S>>]) -> Vec<Vec<u64>> {
    let states = classes.iter().map(|class| class.len() + 1).product();
    let bits: Vec<Vec<Vec<usize>>> =
        classes.iter().map(|class| class.iter().map(|sketch| cells(sketch)).collect()).collect();
    let mut start = 0;
    layout
        .groups()
        .map(|(cells, _)| {
            let mut counts = vec![0; states];
            let end = start + usize::try_from(cells).expect("few cells");
            for cell in start..end {
                let (mut index, mut stride) = (0, 1);
                for class in &bits {
                    index += stride * class.iter().map(|sketch| sketch[cell]).sum::<usize>();
                    stride *= class.len() + 1;
                }
                counts[index] += 1;
            }
            start = end;
            counts
        })
        .collect()
}

fn class<S: BitmapShape>(sketches: &[&PrivateBitmap<S>]) -> TallyClass {
    TallyClass { channel: sketches[0].channel(), sketches: sketches.len() }
}

fn parts<S: BitmapShape>(shape: S, epsilons: &[f64], seed: u64) -> Vec<PrivateBitmap<S>> {
    let mut coins = noise(seed);
    epsilons
        .iter()
        .zip(0..)
        .map(|(&epsilon, set)| released(raw(shape, set * 9..set * 9 + 90), epsilon, &mut coins))
        .collect()
}

#[test]
fn counts_of_one_and_of_two_classes_are_those_of_single_cells() {
    for shape in [shape(64, 5), shape(8, 7), shape(2, 9), shape(128, 3)] {
        let layout = CellLayout::pcsa(shape.buckets(), shape.levels()).expect("a valid shape");
        let parts = parts(shape, &[1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0], 31);
        let of = |epsilon: f64| -> Vec<&SfmSketch> {
            parts.iter().filter(|part| part.epsilon() <= epsilon && part.epsilon() >= epsilon).collect()
        };
        // The smaller epsilon has the smaller p.
        let (low, high) = (of(1.0), of(2.0));
        let one =
            TallyCounts::new(&layout, &[class(&low)], slowly(&layout, core::slice::from_ref(&low))).expect("one class");
        assert_eq!(tally_of(&low).expect("different").counts().expect("one class"), one);
        assert_eq!(tally_counts(&low).expect("different").0, one);
        let both = slowly(&layout, &[low.clone(), high.clone()]);
        let two = TallyCounts::new(&layout, &[class(&low), class(&high)], both).expect("two classes");
        let all: Vec<&SfmSketch> = parts.iter().collect();
        assert_eq!(tally_of(&all).expect("different").counts().expect("two classes"), two);
        assert_eq!(tally_counts(&all).expect("different").0, two);
        let reversed: Vec<&SfmSketch> = parts.iter().rev().collect();
        assert_eq!(tally_counts(&reversed).expect("different"), tally_counts(&all).expect("different"));
    }
}

#[test]
fn rows_of_cells_and_merges_are_counted_as_well() {
    let linear = LinearShape::new(1000).expect("a valid shape");
    let layout = CellLayout::linear(1000).expect("a valid shape");
    let parts = parts(linear, &[1.0, 1.0, 1.0, 1.0], 32);
    let mut coins = noise(33);
    let merge = parts[0].merge(&parts[1], MergeForm::Extremal, &mut coins).expect("different releases");
    // Same p, but less left of the signal.
    let (single, merged) = (vec![&parts[2], &parts[3]], vec![&merge]);
    assert!(merge.channel().a() < parts[2].channel().a());
    let expected = slowly(&layout, &[merged.clone(), single.clone()]);
    let expected = TallyCounts::new(&layout, &[class(&merged), class(&single)], expected).expect("two classes");
    assert_eq!(tally_counts(&[&parts[2], &merge, &parts[3]]).expect("different").0, expected);
}

#[test]
fn groups_are_counted_together_cell_by_cell() {
    for shape in [shape(64, 5), shape(8, 7)] {
        let layout = CellLayout::pcsa(shape.buckets(), shape.levels()).expect("a valid shape");
        let parts = parts(shape, &[1.0, 1.0, 2.0, 1.0, 2.0, 1.0, 3.0], 34);
        // 1 + 1 | 1 and 2 | 2, 3: classes by rising p within a group.
        let tallies = [&[0, 1][..], &[3, 2], &[4, 6]].map(|members| {
            let members: Vec<&SfmSketch> = members.iter().map(|&index| &parts[index]).collect();
            tally_of(&members).expect("different releases")
        });
        let part = |index: usize| vec![&parts[index]];
        let classes = [vec![&parts[0], &parts[1]], part(3), part(2), part(4), part(6)];
        let groups = [
            vec![class(&classes[0])],
            vec![class(&classes[1]), class(&classes[2])],
            vec![class(&classes[3]), class(&classes[4])],
        ];
        let expected = GroupCounts::new(&layout, &groups, slowly(&layout, &classes)).expect("three groups");
        let [a, b, c] = &tallies;
        assert_eq!(group_counts(&[a, b, c]).expect("different releases"), expected);
        let from_sketches =
            sketch_group_counts(&[&[&parts[0], &parts[1]], &[&parts[2], &parts[3]], &[&parts[6], &parts[4]]]);
        assert_eq!(from_sketches.expect("different releases"), expected);
    }
}

#[test]
fn too_many_classes_states_and_groups_are_refused_by_name() {
    let one = shape(2, 1);
    let parts = parts(one, &[1.0, 2.0, 3.0, 1.0, 1.0], 35);
    let all: Vec<&SfmSketch> = parts.iter().collect();
    let tally = tally_of(&all).expect("different releases");
    assert!(matches!(tally.counts(), Err(TallyError::Estimate(ParamError::Classes { found: 3 }))));
    assert!(matches!(tally_counts(&all), Err(UnionError::Estimate(ParamError::Classes { found: 3 }))));
    assert!(matches!(tally_counts::<PcsaShape>(&[]), Err(UnionError::Mismatch(MergeError::Empty))));
    assert!(matches!(tally_counts(&[all[0], all[0]]), Err(UnionError::Mismatch(MergeError::RepeatedRelease { .. }))));

    let mut coins = noise(36);
    let many: Vec<SfmSketch> = (0..500).map(|_| released(raw(one, []), 30.0, &mut coins)).collect();
    let group =
        |range: core::ops::Range<usize>| tally_of(&many[range].iter().collect::<Vec<_>>()).expect("different releases");
    let [a, b] = [group(0..250), group(250..500)];
    assert!(matches!(group_counts(&[&a, &b]), Err(TallyError::Estimate(ParamError::GroupStates { .. }))));
    assert!(matches!(group_counts(&[&a, &a]), Err(TallyError::Mismatch(MergeError::RepeatedRelease { .. }))));
    assert!(matches!(group_counts(&[]), Err(TallyError::Mismatch(MergeError::Empty))));
    let five: Vec<SfmTally> = parts.iter().map(|part| SfmTally::new(part).expect("a release")).collect();
    let found = group_counts(&five.iter().collect::<Vec<_>>());
    assert!(matches!(found, Err(TallyError::Estimate(ParamError::VennSets { found: 5 }))));
    let empty = sketch_group_counts(&[&[all[0]], &[]]);
    assert!(matches!(empty, Err(UnionError::Estimate(ParamError::EmptyGroup { group: 1 }))));
}

#[test]
fn formulas_over_groups_are_answered() {
    // Unions of 0..60,000 and of 40,000..120,000; missed by a right build once in a million.
    let mut coins = noise(37);
    let mut release = |start: u64, end: u64| released(raw(PcsaShape::DEFAULT, start..end), 3.0, &mut coins);
    let left = tally_of(&[&release(0, 40_000), &release(20_000, 60_000)]).expect("different releases");
    let right = tally_of(&[&release(40_000, 90_000), &release(70_000, 120_000)]).expect("different releases");
    let read =
        |tally: &SfmTally| SfmTally::from_bytes_allowing_insecure_noise(&tally.to_bytes()).expect("its own bytes");
    let fit =
        fit_groups(&group_counts(&[&read(&left), &read(&right)]).expect("different releases")).expect("two groups");
    for (mask, truth) in [(0b01, 40_000.0), (0b10, 60_000.0), (0b11, 20_000.0)] {
        let region = fit.region(mask, Confidence::P95).expect("a region");
        let (value, error) = (region.value().expect("a value"), region.std_error().expect("an error"));
        assert!((value - truth).abs() < two_sided_z(1e-6) * error, "{mask:#b}: {value} with {error} for {truth}");
        assert!(error < 5_000.0);
    }
}
