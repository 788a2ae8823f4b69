//! Heavy hitters among known candidates.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{float, hash, key, private, shape, zipf};
use countsketch_dp::{HeavyRule, QueryOptions};
use sketch_testkit::binomial_at_most;

#[test]
fn the_top_is_what_sorting_all_estimates_gives() {
    let sketch = private(shape(5, 256), 1, &zipf(500, 20_000.0), 0.1);
    let keys: Vec<u64> = (0..2000).map(|item| key(&hash(1), item)).collect();
    let options = QueryOptions::default().simultaneous(2000);
    let mut all: Vec<(u64, f64)> = sketch
        .frequencies(options)
        .unwrap()
        .estimate_all(&keys)
        .unwrap()
        .iter()
        .map(|answer| answer.value().unwrap())
        .zip(0..)
        .map(|(value, index)| (index, value))
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    for limit in [0, 1, 17, 2000, 5000] {
        let heavy = sketch.heavy_hitters(keys.iter().copied(), HeavyRule::Top, limit, QueryOptions::default()).unwrap();
        let want: Vec<u64> = all.iter().take(limit).map(|entry| entry.0).collect();
        assert_eq!(heavy.found.iter().map(|hit| hit.index).collect::<Vec<_>>(), want);
        assert_eq!(heavy.beyond_limit, 2000 - u64::try_from(want.len()).unwrap());
        assert_eq!(heavy.false_positive_probability, None);
    }
}

/// In each of 100 sketches, 500 candidates that do not exceed the frequency: at most 5 % of the sketches may report one.
#[test]
fn false_positives_keep_their_rate_and_clear_hits_are_found() {
    let mut truth = vec![400; 5];
    truth.extend(vec![100; 20]);
    let mut wrong = 0;
    for seed in 0..100 {
        let sketch = private(shape(9, 512), seed, &truth, 0.5);
        let candidates: Vec<u64> = (0..505).map(|item| key(&hash(seed), item)).collect();
        let rule = HeavyRule::Above { frequency: 100.0 };
        let heavy = sketch.heavy_hitters(candidates.iter().copied(), rule, 50, QueryOptions::default()).unwrap();
        assert!((heavy.false_positive_probability.unwrap() - 0.05).abs() < 1e-12);
        wrong += u64::from(heavy.found.iter().any(|hit| hit.index >= 5));
        // Four hundred is 20 standard errors above.
        assert_eq!(heavy.found.iter().filter(|hit| hit.index < 5).count(), 5, "seed {seed}");
        assert!(heavy.found.iter().all(|hit| hit.estimate.covers(400.0) || hit.index >= 5));
        assert_eq!(heavy.beyond_limit, 0);
    }
    let allowed = (0..100).find(|&n| binomial_at_most(n, 100, 0.05) > 1.0 - 1e-6).unwrap();
    assert!(wrong <= allowed, "{wrong} of 100");
}

#[test]
fn a_limit_keeps_the_largest_and_counts_the_rest() {
    let truth: Vec<u64> = (0..40).map(|item| 1000 + 100 * item).collect();
    let sketch = private(shape(9, 1024), 3, &truth, 1.0);
    let keys: Vec<u64> = (0..40).map(|item| key(&hash(3), item)).collect();
    let rule = HeavyRule::Above { frequency: 500.0 };
    let heavy = sketch.heavy_hitters(keys, rule, 10, QueryOptions::default()).unwrap();
    assert_eq!(heavy.found.iter().map(|hit| hit.index).collect::<Vec<_>>(), (30..40).rev().collect::<Vec<_>>());
    assert_eq!(heavy.beyond_limit, 30);
    let first = heavy.found[0].estimate.value().unwrap();
    assert!((first - float(truth[39])).abs() < 30.0);
}
