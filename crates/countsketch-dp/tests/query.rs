//! Point queries: the fast path against a naive one, units, statuses, streaming.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{hash, key, permit, private, shape, unit_sketch, zipf};
use countsketch_dp::cardinality_estimators::{Confidence, Status};
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::theory::TailNorms;
use countsketch_dp::{
    Combiner, ContributionBound, CountSketch, Granularity, IntervalMethod, PrivateCountSketch, QueryOptions,
};

const COMBINERS: [Combiner; 3] = [Combiner::Median, Combiner::Trimmed, Combiner::Mean];

/// Rows in grid units, by the public description of the hash functions.
fn naive_rows(sketch: &PrivateCountSketch, key: u64) -> Vec<i64> {
    let width = usize::try_from(sketch.shape().width()).unwrap();
    let cell = |row: usize| {
        let (bucket, sign) = sketch.rows().bucket_and_sign(row, key);
        sign * sketch.all_cells()[row * width + bucket]
    };
    (0..usize::from(sketch.shape().rows())).map(cell).collect()
}

fn check_batch(sketch: &PrivateCountSketch, keys: &[u64]) {
    for combiner in COMBINERS {
        let reader = sketch.points(combiner);
        let mut values = vec![f64::NAN; keys.len()];
        reader.values(keys, &mut values);
        for (&key, value) in keys.iter().zip(values) {
            let want = combiner.combine(&mut naive_rows(sketch, key)) * sketch.granularity().step();
            assert_eq!(value.to_bits(), want.to_bits(), "{} {combiner:?}", sketch.shape());
            assert_eq!(reader.value(key).to_bits(), want.to_bits());
        }
    }
}

#[test]
fn batches_agree_with_one_by_one_for_every_number_of_rows() {
    let keys: Vec<u64> = (0..300_u64).map(|item| key(&hash(1), item)).collect();
    for rows in [1, 3, 5, 7, 9, 11, 15, 31, 33, 63, 65, 101, 255] {
        for width in [2, 16, 1000] {
            check_batch(&private(shape(rows, width), 1, &zipf(200, 2000.0), 0.1), &keys);
        }
    }
}

/// Around the sizes at which lanes and blocks end.
#[test]
fn batches_of_every_size_are_answered() {
    let sketch = private(shape(5, 64), 2, &zipf(50, 500.0), 1.0);
    for size in [0_u64, 1, 7, 31, 32, 33, 600, 1023, 1024, 1025, 2100] {
        let keys: Vec<u64> = (0..size).map(|item| key(&hash(2), item)).collect();
        check_batch(&sketch, &keys);
    }
}

#[test]
fn cells_beyond_32_bits_are_read_in_full() {
    let hash = hash(3);
    let bound = ContributionBound::entry(1 << 61).unwrap();
    let mut raw = CountSketch::new(shape(7, 16), hash.clone(), bound);
    for item in 0..40 {
        raw.update_u64(item, (1 << 50) + i64::try_from(item).unwrap()).unwrap();
    }
    let sketch = raw.release(permit(65_536.0), &mut InsecureTestRng::from_u64(3));
    // Noise for so large records does not fit into 64 bits at this level, which is refused; a multiple does it.
    assert!(sketch.is_err());
    let small = private(shape(7, 16), 3, &zipf(40, 400.0), 1.0).scale(1 << 40).unwrap();
    let keys: Vec<u64> = (0..100_u64).map(|item| key(&hash, item)).collect();
    check_batch(&small, &keys);
}

#[test]
fn weights_are_reported_in_their_unit() {
    let hash = hash(4);
    let grid = Granularity::new(3).unwrap();
    let mut raw = CountSketch::with_granularity(shape(5, 256), hash.clone(), ContributionBound::UNIT_ENTRY, grid);
    raw.update_u64_batch(&[9; 800]).unwrap();
    let sketch = raw.release(permit(0.5), &mut InsecureTestRng::from_u64(4)).unwrap();
    let frequencies = sketch.frequencies(QueryOptions::default()).unwrap();
    let answer = frequencies.estimate(key(&hash, 9)).unwrap();
    // 800 eighths, noise of variance 5/64.
    assert!((answer.value().unwrap() - 100.0).abs() < 2.0);
    let ratio = frequencies.std_error() * 8.0 / (5.0_f64 * 0.286_8).sqrt();
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let norms = TailNorms::of_squared(0.0).unwrap();
    let bound = sketch.frequencies(QueryOptions::default().interval(IntervalMethod::Norm(norms))).unwrap();
    // Without other items the proved width is that of the noise, 2.350 grid units of 1/8: rounded up, as answers lie on the grid.
    assert!((bound.half_width().unwrap() * 8.0 - 3.0).abs() < 1e-12);
}

#[test]
fn a_stream_gives_what_a_batch_gives() {
    let sketch = private(shape(9, 512), 5, &zipf(100, 5000.0), 0.5);
    let keys: Vec<u64> = (0..700_u64).map(|item| key(&hash(5), item)).collect();
    for combiner in COMBINERS {
        let frequencies = sketch.frequencies(QueryOptions::default().combiner(combiner)).unwrap();
        let all = frequencies.estimate_all(&keys).unwrap();
        let streamed: Vec<_> = frequencies.stream(keys.iter().copied()).collect();
        assert_eq!(streamed.len(), keys.len());
        for ((&key, want), (found, estimate)) in keys.iter().zip(all).zip(streamed) {
            assert_eq!((found, estimate.unwrap()), (key, want));
            assert_eq!(frequencies.estimate(key).unwrap(), want);
        }
    }
}

#[test]
fn frequencies_are_not_clamped() {
    let sketch = private(shape(5, 256), 6, &[5000], 0.1);
    let frequencies = sketch.frequencies(QueryOptions::default()).unwrap();
    let known = frequencies.estimate(key(&hash(6), 0)).unwrap();
    assert_eq!(known.status(), Status::Ok);
    let absent: Vec<_> = (1..200).map(|item| frequencies.estimate(key(&hash(6), item)).unwrap()).collect();
    assert!(absent.iter().any(|answer| answer.value().unwrap() < 0.0));
    assert!(absent.iter().all(|answer| answer.status() != Status::BelowNoise));
    assert!(absent.iter().filter(|answer| answer.status() == Status::LowInformation).count() > 150);
}

#[test]
fn order_statistics_stand_on_sorted_rows() {
    let sketch = private(shape(15, 512), 7, &zipf(100, 3000.0), 0.5);
    let options = QueryOptions::default().interval(IntervalMethod::OrderStatistics);
    let frequencies = sketch.frequencies(options).unwrap();
    for item in 0..50 {
        let key = key(&hash(7), item);
        let mut rows = naive_rows(&sketch, key);
        rows.sort_unstable();
        let answer = frequencies.estimate(key).unwrap();
        // 2·P[Bin(15, ½) ≤ 3] = 0.0352 and one more is 0.118: the fourth from either end.
        let ends = [rows[3], rows[11]].map(|cell| f64::from(i32::try_from(cell).unwrap()));
        assert_eq!((answer.lower(), answer.upper()), (Some(ends[0]), Some(ends[1])));
    }
    // Five rows cannot give 95 %: the value stands without an interval.
    let few = private(shape(5, 512), 7, &zipf(100, 3000.0), 0.5);
    let options = QueryOptions::default().interval(IntervalMethod::OrderStatistics);
    let answer = few.frequencies(options).unwrap().estimate(key(&hash(7), 0)).unwrap();
    assert_eq!((answer.status(), answer.lower(), answer.upper()), (Status::LowInformation, None, None));
}

#[test]
fn more_confidence_and_more_answers_widen_intervals() {
    let sketch = private(shape(9, 1024), 8, &zipf(500, 20_000.0), 0.1);
    let width = |options: QueryOptions| sketch.frequencies(options).unwrap().half_width().unwrap();
    for interval in [IntervalMethod::Bucket, IntervalMethod::PlugIn] {
        for combiner in COMBINERS {
            let options = || QueryOptions::default().interval(interval.clone()).combiner(combiner);
            let plain = width(options());
            assert!(width(options().confidence(Confidence::new(0.999).unwrap())) > plain);
            assert!(width(options().simultaneous(1000)) > plain);
            // Far beyond what the cells can show, intervals fall back on the variance and stay finite.
            assert!(width(options().simultaneous(1_000_000_000)) > width(options().simultaneous(1000)));
        }
    }
}

#[test]
fn every_method_and_combiner_answers_tiny_sketches() {
    for (rows, width) in [(1, 2), (1, 3), (3, 2), (255, 2)] {
        let sketch = private(shape(rows, width), 9, &[3, 1], 1.0);
        for interval in [IntervalMethod::Bucket, IntervalMethod::OrderStatistics, IntervalMethod::PlugIn] {
            for combiner in COMBINERS {
                let options = QueryOptions::default().interval(interval.clone()).combiner(combiner);
                let frequencies = sketch.frequencies(options).unwrap();
                let answer = frequencies.estimate(key(&hash(9), 0)).unwrap();
                assert!(answer.value().is_some(), "{rows} {width} {interval:?} {combiner:?}");
            }
        }
    }
}

#[test]
fn options_without_probability_are_refused() {
    let sketch = private(shape(3, 16), 10, &[3, 1], 1.0);
    let certain = Confidence::new(Confidence::MAX).unwrap();
    assert!(sketch.frequencies(QueryOptions::default().confidence(certain).simultaneous(u64::MAX)).is_ok());
    let huge = TailNorms::of_squared(f64::MAX).unwrap();
    let fine = Granularity::new(52).unwrap();
    let raw = CountSketch::with_granularity(shape(3, 16), hash(1), ContributionBound::UNIT_ENTRY, fine);
    let sketch = raw.release(permit(1.0), &mut InsecureTestRng::from_u64(1)).unwrap();
    assert!(sketch.frequencies(QueryOptions::default().interval(IntervalMethod::Norm(huge))).is_err());
}

/// Linear arithmetic on answers: negating a sketch negates the answers exactly.
#[test]
fn answers_of_a_negated_sketch_are_negated() {
    let raw = unit_sketch(shape(7, 128), &hash(11), &zipf(300, 5000.0));
    let sketch = raw.release(permit(0.2), &mut InsecureTestRng::from_u64(11)).unwrap();
    let negated = sketch.negate();
    for combiner in COMBINERS {
        let (one, other) = (sketch.points(combiner), negated.points(combiner));
        for item in 0..300 {
            let key = key(&hash(11), item);
            assert!((one.value(key) + other.value(key)).abs() <= 0.0);
        }
    }
}
