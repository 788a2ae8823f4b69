//! Privacy from the released law, by enumeration of neighbouring data and of outputs; nothing is sampled.
//!
//! Noise is one independent draw in each cell, of the law that the release states (`noise.rs` checks that), so what
//! neighbouring data can tell follows from the differences of raw cells and the law's exact probabilities.
#![allow(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::unwrap_used,
    reason = "numbers are small, and a test that cannot go on fails"
)]

mod renyi;
mod support;

use countsketch_dp::{
    ContributionBound, CountSketch, CountSketchShape, NoiseLaw, PrivacyCost, PrivateCountSketch, UserContribution,
};
use dp_noise::{Neighbouring, Scale, Variance};
use renyi::renyi;
use sketch_hash::DefaultHash;
use support::{Raw, cells, entry, epsilon, noise, raw, rho, shape};

const RELATIONS: [Neighbouring; 2] = [Neighbouring::AddRemove, Neighbouring::Substitute];

/// A background that everybody shares, without a unit and with one of each kind.
struct World {
    without: Raw,
    with: Vec<Raw>,
}

impl World {
    /// Records of small weights on a few items.
    fn records(shape: CountSketchShape, max_weight: i64) -> Self {
        let bound = entry(max_weight.unsigned_abs());
        let background = [(100, max_weight), (101, -1), (102, 1)];
        let without = raw(shape, bound, background);
        let with = (0..16).flat_map(|item| {
            (-max_weight..=max_weight)
                .map(move |weight| raw(shape, bound, background.into_iter().chain([(item, weight)])))
        });
        Self { with: with.collect(), without }
    }

    /// Users with all kinds of records, more than the bound allows among them.
    fn users(shape: CountSketchShape, bound: ContributionBound) -> Self {
        let user = |records: &[(u64, i64)]| {
            let mut user = UserContribution::new(DefaultHash::default());
            for &(item, weight) in records {
                user.add_u64(item, weight);
            }
            user
        };
        let mut without = CountSketch::new(shape, DefaultHash::default(), bound);
        without.add_user(user(&[(100, 1), (101, -1)])).expect("no overflow");
        let mut with = Vec::new();
        for first in 0..8 {
            for second in 0..8 {
                for (a, b) in [(1, 1), (1, -1), (2, 2), (-3, 1), (9, 9), (-9, 0)] {
                    let mut sketch = without.clone();
                    let many = [(first, a), (second, b), (first + 50, 1), (second + 60, 1), (first, 1)];
                    sketch.add_user(user(&many)).expect("no overflow");
                    with.push(sketch);
                }
            }
        }
        Self { without, with }
    }

    /// The differences of cells of all neighbouring data sets.
    fn differences(&self, relation: Neighbouring) -> Vec<Vec<i64>> {
        let difference = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>();
        let with: Vec<Vec<i64>> = self.with.iter().map(cells).collect();
        match relation {
            Neighbouring::AddRemove => with.iter().map(|sketch| difference(sketch, &cells(&self.without))).collect(),
            Neighbouring::Substitute => with.iter().flat_map(|a| with.iter().map(move |b| difference(a, b))).collect(),
        }
    }
}

fn worlds() -> Vec<World> {
    let bounds = |shape| {
        [
            ContributionBound::user_total(3),
            ContributionBound::user_items(2, 2),
            ContributionBound::user_items(1, 5),
            ContributionBound::clipped(2, 2, 7),
            ContributionBound::clipped(3, 4, 20),
            ContributionBound::clipped_for(shape, 2, 2),
        ]
        .map(Result::unwrap)
    };
    let mut worlds = Vec::new();
    for shape in [shape(1, 2), shape(3, 2), shape(3, 5)] {
        worlds.extend([World::records(shape, 1), World::records(shape, 2)]);
        worlds.extend(bounds(shape).map(|bound| World::users(shape, bound)));
    }
    worlds
}

fn l1(v: &[i64]) -> u128 {
    v.iter().map(|x| u128::from(x.unsigned_abs())).sum()
}

fn squared_l2(v: &[i64]) -> u128 {
    v.iter().map(|x| u128::from(x.unsigned_abs()).pow(2)).sum()
}

#[test]
fn no_neighbours_differ_by_more_than_the_stated_sensitivities() {
    for world in worlds() {
        for relation in RELATIONS {
            let exposure = world.without.exposure(relation);
            let differences = world.differences(relation);
            assert!(differences.iter().all(|v| l1(v) <= exposure.l1().unwrap().get()));
            assert!(differences.iter().all(|v| squared_l2(v) <= exposure.squared_l2().unwrap().get()));
        }
    }
}

#[test]
fn sensitivities_are_reached() {
    // Records: any one reaches both norms.
    let world = World::records(shape(3, 5), 2);
    let worst = |relation, norm: fn(&[i64]) -> u128| world.differences(relation).iter().map(|v| norm(v)).max().unwrap();
    assert_eq!((worst(Neighbouring::AddRemove, l1), worst(Neighbouring::AddRemove, squared_l2)), (6, 12));
    assert_eq!((worst(Neighbouring::Substitute, l1), worst(Neighbouring::Substitute, squared_l2)), (12, 48));
    // Users: two items in one cell with equal signs have twice the norm, not the square root of two times.
    let world = World::users(shape(1, 2), ContributionBound::user_items(2, 2).unwrap());
    let reached = world.differences(Neighbouring::AddRemove).iter().map(|v| squared_l2(v)).max();
    assert_eq!(reached, Some(16));
}

fn gaussian(sketch: &PrivateCountSketch) -> Variance {
    match sketch.leaves()[0].law() {
        NoiseLaw::Gaussian { variance } => variance,
        other => panic!("{other:?}"),
    }
}

fn laplace(sketch: &PrivateCountSketch) -> Scale {
    match sketch.leaves()[0].law() {
        NoiseLaw::Laplace { scale } => scale,
        other => panic!("{other:?}"),
    }
}

#[test]
fn gaussian_releases_are_rho_zcdp_for_every_bound_and_relation() {
    const RHO: f64 = 0.5;
    for world in worlds() {
        for relation in RELATIONS {
            let release = world.without.clone().release_with(relation, rho(RHO), &mut noise(1)).unwrap();
            let PrivacyCost::Rho(stated) = release.leaves()[0].guarantee().unwrap().cost() else { panic!("not zCDP") };
            assert_eq!(stated.get(), RHO);
            let mut differences = world.differences(relation);
            // The divergence of cells depends on the absolute values only.
            for v in &mut differences {
                for x in v.iter_mut() {
                    *x = x.abs();
                }
                v.sort_unstable();
            }
            differences.sort();
            differences.dedup();
            for alpha in [1.0001, 1.5, 2.0, 8.0, 64.0] {
                let largest = differences.iter().flatten().max().copied().unwrap_or(0);
                let table: Vec<f64> = (0..=largest).map(|shift| renyi(gaussian(&release), shift, alpha)).collect();
                for v in &differences {
                    let divergence: f64 = v.iter().map(|&x| table[usize::try_from(x).unwrap()]).sum();
                    assert!(divergence <= RHO * alpha * (1.0 + 1e-6), "{divergence} at {alpha} for {v:?}");
                }
            }
        }
    }
}

#[test]
fn laplace_releases_never_exceed_epsilon_for_any_output() {
    const EPSILON: f64 = 1.25;
    for world in worlds() {
        for relation in RELATIONS {
            let release =
                world.without.clone().release_laplace_with(relation, epsilon(EPSILON), &mut noise(1)).unwrap();
            let scale = laplace(&release);
            for v in world.differences(relation) {
                // The largest ratio of a product of P[x] ∝ e^(−|x|/t) is e^(|v|₁/t), at outputs beyond both: in integers.
                let loss = l1(&v) as f64 * scale.denominator() as f64 / scale.numerator() as f64;
                assert!(loss <= EPSILON * (1.0 + 1e-15), "{loss} for {v:?}");
            }
        }
    }
}

/// Every output of a sketch of four cells around the data, not only the worst by formula.
#[test]
fn ratios_of_all_outputs_of_a_tiny_sketch_stay_below_e_to_the_epsilon() {
    const EPSILON: f64 = 0.75;
    let world = World::records(shape(1, 2), 1);
    let release = world.without.clone().release_laplace(epsilon(EPSILON), &mut noise(1)).unwrap();
    let t = laplace(&release).to_f64();
    let base = cells(&world.without);
    let log = |output: &[i64], data: &[i64]| -> f64 {
        output.iter().zip(data).map(|(out, cell)| -((out - cell).abs() as f64) / t).sum()
    };
    let mut worst: f64 = 0.0;
    for with in &world.with {
        let with = cells(with);
        for x in -12..=12 {
            for y in -12..=12 {
                let output = [base[0] + x, base[1] + y];
                worst = worst.max((log(&output, &base) - log(&output, &with)).abs());
            }
        }
    }
    assert!((worst - EPSILON).abs() < 1e-12, "{worst}: reached and not exceeded");
}

/// Exact δ of a Gaussian release of three cells that a record moves by one each, from all outputs.
#[test]
fn the_exact_delta_of_a_record_is_below_that_of_zcdp() {
    const RHO: f64 = 0.5;
    let release = raw(shape(3, 2), entry(1), []).release(rho(RHO), &mut noise(1)).unwrap();
    let s2 = gaussian(&release).to_f64();
    assert_eq!(s2, 3.0);
    let weight = |x: i64| (-((x * x) as f64) / (2.0 * s2)).exp();
    let mass: f64 = (-40..=40).map(weight).sum();
    for eps in [0.5, 1.0, 2.0, 3.0] {
        let mut delta = 0.0;
        for (x, y, z) in (-20..=20).flat_map(|x| (-20..=20).flat_map(move |y| (-20..=20).map(move |z| (x, y, z)))) {
            let p = weight(x) * weight(y) * weight(z);
            let q = weight(x - 1) * weight(y - 1) * weight(z - 1);
            delta += f64::max(0.0, p - f64::exp(eps) * q) / mass.powi(3);
        }
        // Proposition 1.3 of [BS16]: ρ-zCDP gives δ = e^(−(ε−ρ)²/4ρ) for ε ≥ ρ.
        let zcdp = (-(eps - RHO) * (eps - RHO) / (4.0 * RHO)).exp();
        assert!(delta > 0.0 && delta < zcdp, "{delta} {zcdp} at {eps}");
    }
}

#[test]
fn two_views_of_a_state_cost_the_fresh_noise_alone() {
    let mut noise = noise(3);
    // First noise σ² = 1, fresh noise of ρ = 5: 3 / 10 in each cell.
    let stream = raw(shape(3, 8), entry(1), []).release_unseen(rho(1.5), &mut noise).unwrap();
    let twice = stream.finish_with_fresh_noise(rho(5.0), &mut noise).unwrap();
    assert_eq!(twice.rho_total(), Some(6.5));
    let parameters: Vec<f64> = twice
        .leaves()
        .iter()
        .map(|leaf| match leaf.law() {
            NoiseLaw::Gaussian { variance } => variance.to_f64(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parameters, [1.0, 0.3]);
}

#[test]
fn noise_first_is_the_release_of_the_same_data() {
    let data: Vec<u64> = (0..500).collect();
    let empty = || raw(shape(5, 16), entry(1), []);
    let mut stream = empty().release_unseen(rho(0.1), &mut noise(9)).unwrap();
    stream.update_u64_batch(&data[..200]).unwrap();
    let mut more = empty();
    more.update_u64_batch(&data[200..]).unwrap();
    stream.absorb(more).unwrap();
    let mut all = empty();
    all.update_u64_batch(&data).unwrap();
    assert_eq!(stream.finish(), all.release(rho(0.1), &mut noise(9)).unwrap());
}

#[test]
fn calibrated_releases_cost_the_noise_that_they_use() {
    use dp_noise::{Delta, Epsilon, Permit, Rho, exact_rows_delta, zcdp_delta};
    let (eps, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let sketch = || raw(shape(5, 16), entry(1), []);
    let exposure = sketch().exposure(Neighbouring::AddRemove);
    let through_zcdp = exposure.gaussian_for(eps, delta).unwrap();
    let exact = exposure.gaussian_exact(eps, delta).unwrap();
    let sigma = |variance: Variance| (variance.to_f64() / 5.0).sqrt();
    // 4.531 through zCDP; the exact law is within a tenth of a percent of 4.225, that of the continuous one, at this size.
    assert!((sigma(through_zcdp.variance()) - 4.531).abs() < 1e-3);
    assert!((sigma(exact.variance()) - 4.225).abs() < 5e-3, "{}", sigma(exact.variance()));
    assert!(zcdp_delta(through_zcdp.rho(), 1.0) <= 1e-6 * (1.0 + 1e-9));
    assert!(exact_rows_delta(5, exact.variance(), 1, eps).unwrap() <= 1e-6);
    // The smaller noise costs more in a ledger of zCDP, and has to be paid.
    assert!(exact.rho() > through_zcdp.rho());
    let cheap = Permit::standalone(through_zcdp.rho());
    assert!(matches!(
        sketch().release_planned(exact, cheap, &mut noise(1)),
        Err(countsketch_dp::ReleaseError::Underpaid { .. })
    ));
    let release = sketch().release_planned(exact, Permit::standalone(exact.rho()), &mut noise(1)).unwrap();
    assert_eq!(release.rho_total(), Some(exact.rho().get()));
    let read = PrivateCountSketch::from_bytes_allowing_insecure_noise(&release.to_bytes()).unwrap();
    assert_eq!(read, release);
    // Users and replacements have no such formula; terms fit one kind of sketch.
    let other = sketch().exposure(Neighbouring::Substitute);
    assert!(other.gaussian_exact(eps, delta).is_err());
    let users = countsketch_dp::Exposure::new(
        shape(5, 16),
        ContributionBound::user_total(1).unwrap(),
        1,
        Neighbouring::AddRemove,
    );
    assert!(users.gaussian_exact(eps, delta).is_err());
    let terms = users.gaussian(Rho::new(1.0).unwrap()).unwrap();
    let refused = sketch().release_planned(terms, rho(2.0), &mut noise(1));
    assert!(matches!(refused, Err(countsketch_dp::ReleaseError::Terms)));
}
