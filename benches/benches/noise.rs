//! Layer 0: keystream, exact flips, integer noise and calibration of dp-noise.
//!
//! The generator is keyed by the operating system, as in a release: nothing here turns on the insecure one. How much work
//! a draw takes depends on the random bits only through which lanes stay undecided, and that averages out.

use std::hint::black_box;

use criterion::{Throughput, criterion_group, criterion_main};
use dp_noise::rand_core::Rng;
use dp_noise::{
    BitSlicedLaplace, Delta, DiscreteGaussian, DiscreteLaplace, DyadicProbability, EntropyError, Epsilon,
    FixedTimeGaussian, NoiseRng, NoiseSampler, NoiseSource, PolyaShare, RandomizedResponse, ReferenceGaussian,
    ReferenceLaplace, Rho, Scale, Variance, analytic_gaussian_sigma, bernoulli, bernoulli_words,
    bernoulli_words_fixed_time, calibrate_exact_rows, dp_to_zcdp, exact_rows_delta, zcdp_to_dp,
};
use dpsketch_benches::{Criterion, quick, words};

/// Cells of the default sketch, 4096 × 24.
const CELLS: u64 = 98_304;
/// The words that hold them.
const WORDS: usize = 1536;

fn generator() -> NoiseRng {
    NoiseRng::from_os().expect("the operating system gives random bytes")
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("in range")
}

fn keystream(c: &mut Criterion) {
    let mut noise = generator();
    let mut out = vec![0; WORDS];
    let mut group = c.benchmark_group("noise/keystream");
    group.throughput(Throughput::Bytes(8));
    group.bench_function("next_u64", |bench| bench.iter(|| noise.next_u64()));
    group.throughput(Throughput::Bytes(8 * WORDS as u64));
    group.bench_function("fill_words", |bench| bench.iter(|| noise.fill_words(black_box(&mut out))));
    group.finish();
}

fn flips(c: &mut Criterion) {
    let mut noise = generator();
    let mut out = vec![0; WORDS];
    let long = RandomizedResponse::symmetric(epsilon(1.0)).q();
    let mut group = c.benchmark_group("noise/bernoulli");
    group.throughput(Throughput::Elements(1));
    group.bench_function("bernoulli, one bit", |bench| bench.iter(|| bernoulli(black_box(long), &mut noise)));
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("bernoulli_words, p = 1/(1 + e)", |bench| {
        bench.iter(|| bernoulli_words(black_box(long), &mut noise, black_box(&mut out)));
    });
    group.bench_function("bernoulli_words, p = 1/2", |bench| {
        bench.iter(|| bernoulli_words(black_box(DyadicProbability::half()), &mut noise, black_box(&mut out)));
    });
    group.bench_function("bernoulli_words_fixed_time, p = 1/(1 + e)", |bench| {
        bench.iter(|| bernoulli_words_fixed_time(black_box(long), &mut noise, black_box(&mut out)));
    });
    group.finish();
}

fn responses(c: &mut Criterion) {
    let mut noise = generator();
    let mut cells = words(1, WORDS);
    let (symmetric, xor) = (RandomizedResponse::symmetric(epsilon(1.0)), RandomizedResponse::xor_family(epsilon(1.0)));
    let mut group = c.benchmark_group("noise/randomized response");
    group.throughput(Throughput::Elements(1));
    group.bench_function("symmetric, made for ε", |bench| {
        bench.iter(|| RandomizedResponse::symmetric(black_box(epsilon(1.0))));
    });
    group.bench_function("xor family, made for ε", |bench| {
        bench.iter(|| RandomizedResponse::xor_family(black_box(epsilon(1.0))));
    });
    group.bench_function("epsilon_upper", |bench| bench.iter(|| black_box(symmetric).epsilon_upper()));
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("apply, symmetric", |bench| {
        bench.iter(|| symmetric.apply(&mut noise, black_box(&mut cells)));
    });
    group.bench_function("apply, xor family", |bench| bench.iter(|| xor.apply(&mut noise, black_box(&mut cells))));
    group.finish();
}

fn entropy(c: &mut Criterion) {
    let mut noise = generator();
    let mut group = c.benchmark_group("noise/entropy");
    group.throughput(Throughput::Elements(1));
    group.bench_function("from_os", |bench| bench.iter(NoiseRng::from_os));
    group.bench_function("begin_release", |bench| bench.iter(|| -> Result<(), EntropyError> { noise.begin_release() }));
    group.finish();
}

/// Cells of a sketch of 5 rows and 4096 columns.
const DRAWS: u64 = 20_480;

fn variance(numerator: u128, denominator: u64) -> Variance {
    Variance::new(numerator, denominator).expect("in range")
}

fn scale(numerator: u128) -> Scale {
    Scale::new(numerator, 1).expect("in range")
}

fn fill(c: &mut Criterion, group: &str, name: &str, law: &impl NoiseSampler, draws: u64) {
    let mut noise = generator();
    let mut out = vec![0; usize::try_from(draws).expect("few draws")];
    let mut group = c.benchmark_group(group);
    group.throughput(Throughput::Elements(draws));
    group.bench_function(name, |bench| bench.iter(|| law.fill(&mut noise, black_box(&mut out))));
    group.finish();
}

fn gaussians(c: &mut Criterion) {
    const GROUP: &str = "noise/discrete gaussian";
    // Tables up to σ = 512, digits beyond.
    for (name, numerator, denominator) in [
        ("σ² = 2.5", 5, 2),
        ("σ² = 15.5", 31, 2),
        ("σ² = 15,500", 15_500, 1),
        ("σ = 512", 1 << 18, 1),
        ("σ = 1000", 1_000_000, 1),
        ("σ = 10⁶", 1_000_000_000_000, 1),
    ] {
        let law = DiscreteGaussian::new(variance(numerator, denominator)).expect("any variance has a sampler");
        fill(c, GROUP, name, &law, DRAWS);
    }
    let fixed = FixedTimeGaussian::new(variance(31, 2)).expect("narrow enough");
    fill(c, GROUP, "fixed time, σ² = 15.5", &fixed, DRAWS);
    fill(c, GROUP, "reference, σ² = 15,500", &ReferenceGaussian::new(variance(15_500, 1)), 1000);
}

fn laplaces(c: &mut Criterion) {
    const GROUP: &str = "noise/discrete laplace";
    // Tables up to t = 512, digits beyond.
    for (name, t) in [("t = 10", 10), ("t = 310", 310), ("t = 1000", 1000), ("t = 10⁶", 1_000_000)] {
        fill(c, GROUP, name, &DiscreteLaplace::new(scale(t)).expect("small enough"), DRAWS);
    }
    fill(c, GROUP, "bit-sliced, t = 310", &BitSlicedLaplace::new(scale(310)).expect("small enough"), DRAWS);
    let fixed = BitSlicedLaplace::fixed_time(scale(310)).expect("small enough");
    fill(c, GROUP, "bit-sliced, fixed time, t = 310", &fixed, DRAWS);
    fill(c, GROUP, "one of ten shares, t = 310", &PolyaShare::new(scale(310), 10).expect("small enough"), DRAWS);
    fill(c, GROUP, "reference, t = 310", &ReferenceLaplace::new(scale(310)), 1000);
}

fn tables(c: &mut Criterion) {
    let mut group = c.benchmark_group("noise/tables");
    // A new parameter each time, or the cache would answer.
    let mut denominator = 1_000_000;
    for (name, sigma) in [("gaussian, made, σ = 125", 125_u128), ("gaussian, made, σ = 512", 512)] {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                denominator += 1;
                DiscreteGaussian::new(variance(sigma * sigma * 1_000_000, denominator))
            });
        });
    }
    group.bench_function("gaussian, found, σ = 125", |bench| {
        bench.iter(|| DiscreteGaussian::new(black_box(variance(15_625, 1))));
    });
    group.bench_function("laplace, made, t = 300", |bench| {
        bench.iter(|| {
            denominator += 1;
            DiscreteLaplace::new(Scale::new(300_000_000, denominator).expect("in range"))
        });
    });
    group.finish();
}

fn calibrations(c: &mut Criterion) {
    let (one, delta) = (epsilon(1.0), Delta::new(1e-6).expect("in range"));
    let rho = Rho::new(0.1).expect("in range");
    let mut group = c.benchmark_group("noise/calibration");
    group.bench_function("zcdp_to_dp", |bench| bench.iter(|| zcdp_to_dp(black_box(rho), delta)));
    group.bench_function("dp_to_zcdp", |bench| bench.iter(|| dp_to_zcdp(black_box(one), delta)));
    group.bench_function("analytic_gaussian_sigma", |bench| {
        bench.iter(|| analytic_gaussian_sigma(black_box(1.0), delta, 1.0));
    });
    group.bench_function("exact_rows_delta, 31 rows", |bench| {
        bench.iter(|| exact_rows_delta(black_box(31), variance(620, 1), 1, one));
    });
    group.bench_function("calibrate_exact_rows, 31 rows", |bench| {
        bench.iter(|| calibrate_exact_rows(black_box(31), 1, one, delta));
    });
    group.finish();
}

criterion_group!(
    name = benches;
    config = quick();
    targets = keystream, flips, responses, entropy, gaussians, laplaces, tables, calibrations
);
criterion_main!(benches);
