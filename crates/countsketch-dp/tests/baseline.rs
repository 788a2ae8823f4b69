//! The baselines: their biases, their variances, and their privacy by enumeration. Fixed seeds; false-alarm rate 1e-6.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

mod answers;

use answers::{float, hash, key, permit, shape, zipf};
use countsketch_dp::cardinality_estimators::Confidence;
use countsketch_dp::dp_noise::hazmat::InsecureTestRng;
use countsketch_dp::dp_noise::{Epsilon, NoiseSource, Permit};
use countsketch_dp::sketch_hash::KeyedHash;
use countsketch_dp::theory::count_mean_variance;
use countsketch_dp::{
    ContributionBound, CountSketchShape, DenseVector, LocalCountMean, LocalReport, LocalShape, MergeError, ParamError,
    PrivateUnsignedSketch, QueryError, ReleaseError, TotalWeight, UnsignedSketch, UpdateError,
};
use sketch_testkit::assert_mean;

const P95: Confidence = Confidence::P95;

fn noise(seed: u64) -> InsecureTestRng {
    InsecureTestRng::from_u64(seed)
}

fn unsigned(shape: CountSketchShape, seed: u64, frequencies: &[u64], rho: f64) -> PrivateUnsignedSketch {
    let mut raw = UnsignedSketch::new(shape, hash(seed), ContributionBound::UNIT_ENTRY).unwrap();
    for (item, &frequency) in (0..).zip(frequencies) {
        (0..frequency).for_each(|_| raw.update_u64(item, 1).unwrap());
    }
    raw.release(permit(rho), &mut noise(seed)).unwrap()
}

#[test]
fn a_dense_vector_has_the_noise_of_one_counter() {
    let mut raw = DenseVector::new(3000, ContributionBound::UNIT_ENTRY).unwrap();
    assert!(raw.is_empty());
    (0..500).for_each(|_| raw.update(7, 1).unwrap());
    assert!(matches!(raw.update(3000, 1), Err(UpdateError::Key { end: 3000 })));
    assert!(matches!(raw.update(0, 2), Err(UpdateError::Weight { max: 1 })));
    let private = raw.release(permit(0.005), &mut noise(1)).unwrap();
    assert!((private.noise_variance() - 100.0).abs() < 1e-9);
    let errors: Vec<f64> = private
        .cells()
        .iter()
        .enumerate()
        .map(|(at, &cell)| f64::from(i32::try_from(cell).unwrap()) - if at == 7 { 500.0 } else { 0.0 })
        .collect();
    assert_mean(&errors, 0.0, 10.0);
    sketch_testkit::assert_variance(&errors, 100.0);
    let covered = (0..3000).filter(|&at| private.estimate(at, P95).unwrap().covers(if at == 7 { 500.0 } else { 0.0 }));
    // ±19.6 rounded up to ±20, of which a whole number is within ±20: 1 − 2Q(20.5/10).
    sketch_testkit::assert_binomial(u64::try_from(covered.count()).unwrap(), 3000, 0.959_6);
    assert!(matches!(private.estimate(3000, P95), Err(QueryError::Index { len: 3000, found: 3000 })));
}

#[test]
fn users_of_a_vector_are_bounded_together() {
    let mut raw = DenseVector::new(10, ContributionBound::user_total(4).unwrap()).unwrap();
    raw.add_user(&[(1, 3), (2, 3), (1, -1)]).unwrap();
    assert!(matches!(raw.add_user(&[(10, 1)]), Err(UpdateError::Key { .. })));
    assert!(matches!(raw.update(1, 1), Err(UpdateError::User { .. })));
    let private = raw.release(permit(60_000.0), &mut noise(2)).unwrap();
    assert_eq!(private.cells().iter().map(|cell| cell.abs()).sum::<i64>(), 4);
    let clipped = ContributionBound::clipped_for(shape(1, 10), 3, 1).unwrap();
    assert!(matches!(DenseVector::new(10, clipped), Err(ParamError::Clipped { .. })));
}

/// Without collisions a Count-Min answer is low by the mean of the minimum of k noises; with them, noiseless rows are high
/// by N/b on average.
#[test]
fn count_min_has_the_two_biases_it_states() {
    let empty: Vec<PrivateUnsignedSketch> = (0..20).map(|seed| unsigned(shape(15, 1024), seed, &[], 0.075)).collect();
    let bias = empty[0].noise_bias();
    assert!((bias + 17.359).abs() < 1e-3, "{bias}"); // σ = 10
    let total = TotalWeight::public(0.0).unwrap();
    let mut errors = Vec::new();
    for (seed, sketch) in (0..).zip(&empty) {
        errors
            .extend((0..40).map(|item| sketch.count_min(key(&hash(seed), item), total, P95).unwrap().value().unwrap()));
    }
    // The spread of a minimum of 15 is 0.55 σ; two items share no cell of 1024 often.
    assert_mean(&errors, bias, 5.6);
    let truth = vec![10; 400];
    let total = TotalWeight::public(4000.0).unwrap();
    let rows: Vec<f64> = (0..200)
        .map(|seed| {
            let sketch = unsigned(shape(1, 64), seed, &truth, 1000.0);
            assert!((sketch.collision_bias(total) - 62.5).abs() < 1e-12);
            sketch.count_min(key(&hash(seed), 1 << 40), total, P95).unwrap().value().unwrap()
        })
        .collect();
    // One row, an absent item: 4000/64 on average, with variance 400·100·(1/64)(1 − 1/64).
    assert_mean(&rows, 62.5, (400.0 * 100.0 / 64.0 * (63.0 / 64.0) + 1.0_f64).sqrt());
}

#[test]
fn count_min_intervals_hold_both_errors() {
    let truth = zipf(300, 6000.0);
    let total = TotalWeight::public(float(truth.iter().sum())).unwrap();
    let mut missed = 0_u64;
    for seed in 0..40 {
        let sketch = unsigned(shape(7, 128), seed, &truth, 0.05);
        // One item a sketch.
        let item = seed % 50;
        let answer = sketch.count_min(key(&hash(seed), item), total, P95).unwrap();
        missed += u64::from(!answer.covers(float(truth[usize::try_from(item).unwrap()])));
        assert_eq!(answer.std_error(), None);
    }
    let allowed = (0..40).find(|&n| sketch_testkit::binomial_at_most(n, 40, 0.05) > 1.0 - 1e-6).unwrap();
    assert!(missed <= allowed, "{missed} of 40");
}

#[test]
fn count_mean_is_unbiased_with_the_stated_variance() {
    let truth = vec![20; 100];
    let total = TotalWeight::public(2000.0).unwrap();
    let mut values = Vec::new();
    let mut stated = Vec::new();
    for seed in 0..600 {
        let sketch = unsigned(shape(5, 64), seed, &truth, 0.25);
        let answer = sketch.count_mean(key(&hash(seed), 3), total, P95).unwrap();
        values.push(answer.value().unwrap());
        stated.push(answer.std_error().unwrap());
    }
    // σ² = 10, and 99 other items of 20.
    let variance = count_mean_variance(5, 64, 99.0 * 400.0, 10.0).unwrap();
    assert_mean(&values, 20.0, variance.sqrt());
    let mean = stated.iter().sum::<f64>() / 600.0;
    assert!((mean / variance.sqrt() - 1.0).abs() < 0.05, "{mean} {}", variance.sqrt());
    let noisy = TotalWeight::released(2000.0, 1e6).unwrap();
    let sketch = unsigned(shape(5, 64), 1, &truth, 0.25);
    let wide = sketch.count_mean(key(&hash(1), 3), noisy, P95).unwrap().std_error().unwrap();
    assert!(wide > (1e6_f64 / (63.0 * 63.0)).sqrt());
}

#[test]
fn merged_tables_are_tables_of_both() {
    let shape = shape(3, 16);
    let new = |seed| UnsignedSketch::new(shape, hash(seed), ContributionBound::UNIT_ENTRY).unwrap();
    let (mut one, mut other) = (new(1), new(1));
    one.update_u64(1, 1).unwrap();
    other.update_u64(2, 1).unwrap();
    one.merge(&other).unwrap();
    assert!(matches!(one.merge(&new(2)), Err(MergeError::Hash { .. })));
    let private = one.release(permit(60_000.0), &mut noise(1)).unwrap();
    assert_eq!(private.all_cells().iter().sum::<i64>(), 6);
}

fn local(rows: u8, columns: u32, epsilon: f64) -> LocalShape {
    LocalShape::new(shape(rows, columns), hash(1).id(), Epsilon::new(epsilon).unwrap()).unwrap()
}

/// Every report of every item in a tiny shape, with its probability: ratios are at most e^ε.
#[test]
fn reports_of_two_items_differ_by_at_most_their_level() {
    for epsilon in [0.5, 1.0, 4.0] {
        let shape = local(3, 3, epsilon);
        let flip = shape.flip_probability();
        let rows = countsketch_dp::RowHashes::new(shape.shape(), shape.hash_id());
        let probability = |item: u64, row: usize, report: u64| {
            let (bucket, _) = rows.bucket_and_sign(row, item);
            let flipped = f64::from((report ^ (1 << bucket)).count_ones());
            flip.powf(flipped) / 3.0 * (1.0 - flip).powf(3.0 - flipped)
        };
        let mut largest = 0.0_f64;
        for row in 0..3 {
            for report in 0..8 {
                for (one, other) in (0..20).flat_map(|one| (0..20).map(move |other| (one, other))) {
                    largest = largest.max(probability(one, row, report) / probability(other, row, report));
                }
            }
        }
        assert!(largest <= epsilon.exp() * (1.0 + 1e-12), "{largest}");
        assert!(largest > epsilon.exp() * (1.0 - 1e-9), "no level is wasted: {largest}");
    }
}

/// The reports drawn follow that law: each of the entries is flipped at its rate.
#[test]
fn reports_are_flipped_at_the_stated_rate() {
    let shape = local(3, 70, 2.0);
    let (mut flips, mut rows) = (0_u64, 0_u64);
    let layout = countsketch_dp::RowHashes::new(shape.shape(), shape.hash_id());
    let mut noise = noise(5);
    for item in 0..2000 {
        let report = shape.report(item, Permit::standalone(shape.epsilon()), &mut noise).unwrap();
        let (bucket, _) = layout.bucket_and_sign(usize::from(report.row()), item);
        let mut words = report.words().to_vec();
        words[bucket / 64] ^= 1 << (bucket % 64);
        flips += words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        rows += u64::from(report.row() == 1);
        assert!(report.insecure_noise() && report.words()[1] >> 6 == 0);
    }
    sketch_testkit::assert_binomial(flips, 2000 * 70, shape.flip_probability());
    sketch_testkit::assert_binomial(rows, 2000, 1.0 / 3.0);
}

#[test]
fn local_counts_are_unbiased_with_the_stated_error() {
    let shape = local(3, 32, 2.0);
    let mut noise = noise(6);
    let mut values = Vec::new();
    let mut stated = 0.0;
    for trial in 0..150_u64 {
        // Other keys in every trial, in place of other hash functions.
        let item = |index: u64| key(&hash(1), trial << 32 | index);
        let mut server = LocalCountMean::new(shape.clone());
        for client in 0..400 {
            let index = if client < 100 { 0 } else { client };
            server.add(&shape.report(item(index), Permit::standalone(shape.epsilon()), &mut noise).unwrap()).unwrap();
        }
        assert_eq!(server.reports(), 400);
        // The squares of the other counts: 300 of 1.
        let answer = server.estimate(item(0), 300.0, P95).unwrap();
        values.push(answer.value().unwrap());
        stated = answer.std_error().unwrap();
    }
    assert_mean(&values, 100.0, stated);
}

#[test]
fn servers_add_up_and_refuse_strangers() {
    let shape = local(3, 32, 2.0);
    let mut noise = noise(7);
    let report = |noise: &mut InsecureTestRng| shape.report(9, Permit::standalone(shape.epsilon()), noise).unwrap();
    let (mut one, mut other) = (LocalCountMean::new(shape.clone()), LocalCountMean::new(shape.clone()));
    let (first, second) = (report(&mut noise), report(&mut noise));
    one.add(&first).unwrap();
    other.add(&second).unwrap();
    one.merge(&other).unwrap();
    other.add(&first).unwrap();
    assert_eq!(one.estimate(9, 1.0, P95).unwrap(), other.estimate(9, 1.0, P95).unwrap());
    assert!(matches!(one.merge(&LocalCountMean::new(local(3, 32, 2.5))), Err(MergeError::Epsilon { .. })));
    assert!(matches!(one.merge(&LocalCountMean::new(local(3, 16, 2.0))), Err(MergeError::Shape { .. })));
    let small = Permit::standalone(Epsilon::new(1.999).unwrap());
    assert!(matches!(shape.report(9, small, &mut noise), Err(ReleaseError::UnderpaidEpsilon { .. })));
    let again = LocalReport::from_parts(shape.shape(), first.row(), first.words().to_vec(), true).unwrap();
    other.add(&again).unwrap();
    for (row, words) in [(3, vec![0]), (0, vec![]), (0, vec![0, 0]), (0, vec![1 << 32])] {
        assert!(matches!(LocalReport::from_parts(shape.shape(), row, words, false), Err(QueryError::Report { .. })));
    }
    let foreign = local(3, 64, 2.0).report(9, Permit::standalone(shape.epsilon()), &mut noise).unwrap();
    assert!(matches!(one.add(&foreign), Err(QueryError::Report { .. })));
    assert!(noise.is_insecure());
}

/// Whatever one record, or one user with two records, adds to a tiny table moves it by no more than the sensitivity that
/// the noise was made for: enumerated over all of them.
#[test]
fn no_unit_moves_a_table_further_than_its_noise_allows() {
    use countsketch_dp::dp_noise::Neighbouring;
    let (shape, relation) = (shape(3, 2), Neighbouring::AddRemove);
    let squared_move = |bound: ContributionBound, records: &[(u64, i64)]| -> u128 {
        let mut raw = UnsignedSketch::new(shape, hash(1), bound).unwrap();
        if bound.is_user() {
            let mut user = countsketch_dp::UserContribution::new(hash(1));
            for &(item, weight) in records {
                user.add_u64(item, weight);
            }
            raw.add_user(user).unwrap();
        } else {
            for &(item, weight) in records {
                raw.update_u64(item, weight).unwrap();
            }
        }
        // Next to no noise: all of it is 0.
        let private = raw.release(permit(65_536.0), &mut noise(1)).unwrap();
        private.all_cells().iter().map(|cell| u128::from(cell.unsigned_abs()).pow(2)).sum()
    };
    let mut largest = [0; 2];
    let user = ContributionBound::user_items(2, 1).unwrap();
    let limit = |bound: ContributionBound| bound.squared_l2(shape, 1, relation).unwrap().get();
    for item in 0..12 {
        for weight in [-1, 1] {
            largest[0] = largest[0].max(squared_move(ContributionBound::UNIT_ENTRY, &[(item, weight)]));
            for other in 0..12 {
                largest[1] = largest[1].max(squared_move(user, &[(item, weight), (other, 5), (item, weight)]));
            }
        }
    }
    // The bounds are met: two items of a user lie in equal cells of all rows for some pair of twelve.
    assert_eq!(largest, [limit(ContributionBound::UNIT_ENTRY), limit(user)]);
}
