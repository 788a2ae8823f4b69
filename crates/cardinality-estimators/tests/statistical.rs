//! Accuracy and coverage on simulated sketches: items placed one by one, every cell's noise drawn on its own.
//!
//! Seeds are fixed. A threshold is 4.9 standard errors of the simulated figure, which a correct build exceeds with
//! probability 1e-6, plus what the claim itself leaves open.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "statistical/sets.rs"]
mod sets;
#[path = "statistical/shapes.rs"]
mod shapes;
mod support;

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, Estimate, ProductMoments, ProductStatistic, Status, estimate, noise_floor,
    predicted_rse, signed_one_step,
};
use support::{Random, place, read, response, sketch};

/// Standard errors that noise exceeds with probability 1e-6, two-sided.
const SIGMAS: f64 = 4.9;

/// What many answers to one question say together.
#[derive(Default)]
struct Tally {
    trials: f64,
    covered: f64,
    squares: f64,
    errors: f64,
}

impl Tally {
    fn add(&mut self, n: f64, answer: &Estimate) {
        let error = answer.value().unwrap_or(0.0) / n - 1.0;
        self.trials += 1.0;
        self.covered += f64::from(u8::from(answer.covers(n)));
        self.squares += error * error;
        self.errors += error;
    }

    fn coverage(&self) -> f64 {
        self.covered / self.trials
    }

    fn rrmse(&self) -> f64 {
        (self.squares / self.trials).sqrt()
    }

    /// Asserts that coverage lies in `low ..= high`, but for what chance explains.
    fn assert_coverage(&self, low: f64, high: f64) {
        let chance = SIGMAS * (0.95 * 0.05 / self.trials).sqrt();
        let found = self.coverage();
        assert!(
            low - chance <= found && found <= high + chance,
            "coverage {found}, allowed {low} to {high} ± {chance}"
        );
    }

    /// Asserts that the root mean square error is within `slack` of `predicted`, but for what chance explains.
    fn assert_error(&self, predicted: f64, slack: f64) {
        let chance = SIGMAS / (2.0 * self.trials).sqrt();
        let ratio = self.rrmse() / predicted;
        assert!(
            (ratio - 1.0).abs() <= slack + chance,
            "error {ratio} times the prediction, allowed ±{slack} ± {chance}"
        );
    }
}

fn simulate(seed: u64, trials: u32, bucket_bits: u32, levels: u8, n: u32, channel: BitChannel) -> (Tally, f64) {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..trials {
        let counts = sketch(&mut random, bucket_bits, levels, u64::from(n), channel);
        tally.add(f64::from(n), &estimate(&counts, Confidence::P95));
    }
    let layout = CellLayout::pcsa(1 << bucket_bits, levels).unwrap();
    (tally, predicted_rse(&layout, channel, f64::from(n)))
}

#[test]
fn errors_are_as_predicted_and_intervals_cover() {
    let settings = [(1.0, 3000), (2.0, 600), (2.0, 20_000), (4.0, 600), (4.0, 6000), (36.0, 600), (36.0, 6000)];
    for (seed, (epsilon, n)) in (10..).zip(settings) {
        let (tally, predicted) = simulate(seed, 5000, 8, 12, n, response(epsilon));
        tally.assert_error(predicted, 0.03);
        tally.assert_coverage(0.94, 0.96);
    }
}

#[test]
fn intervals_cover_near_the_noise_floor() {
    // 0.5, 1, 3, 4 and 6 times the standard error of an empty sketch. Near 0 intervals cover more than they say: half of
    // the misses would lie below 0.
    let channel = response(1.0);
    let floor = noise_floor(&CellLayout::pcsa(1024, 12).unwrap().counts(&[0; 12], channel).unwrap());
    for (seed, share) in (20..).zip([0.5, 1.0, 3.0, 4.0, 6.0]) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred items")]
        let n = (share * floor) as u32;
        let (tally, _) = simulate(seed, 5000, 10, 12, n, channel);
        tally.assert_coverage(0.94, 0.98);
    }
}

#[test]
fn intervals_cover_near_the_end_of_the_range() {
    // Every cell of the last level is empty with probability e^-1.2, e^-2.4 and e^-4.9.
    for (seed, n) in (30..).zip([10_000, 20_000, 40_000]) {
        let (tally, _) = simulate(seed, 2000, 8, 6, n, response(4.0));
        tally.assert_coverage(0.94, 0.985);
    }
}

#[test]
fn a_raw_sketch_of_a_few_items_covers() {
    for (seed, n) in (40..).zip([1, 2, 10, 100, 1000]) {
        let (tally, _) = simulate(seed, 3000, 10, 16, n, BitChannel::NOISELESS);
        tally.assert_coverage(0.94, 1.0);
    }
}

#[test]
fn the_signed_step_is_unbiased_on_an_empty_sketch() {
    let mut random = Random::new(50);
    let (trials, channel) = (20_000, response(2.0));
    let (mut sum, mut squares, mut floor) = (0.0, 0.0, 0.0);
    for _ in 0..trials {
        let counts = sketch(&mut random, 6, 8, 0, channel);
        let step = signed_one_step(&counts).unwrap();
        floor = noise_floor(&counts);
        sum += step;
        squares += step * step;
    }
    let trials = f64::from(trials);
    assert!((sum / trials).abs() <= SIGMAS * floor / trials.sqrt(), "mean {}", sum / trials);
    let sd = (squares / trials).sqrt() / floor;
    assert!((sd - 1.0).abs() <= SIGMAS / (2.0 * trials).sqrt(), "standard deviation {sd} times the floor");
}

/// The union of three sketches of `n` items, a third of them in all three, through channels of different strength.
fn union_of_three(random: &mut Random, n: u32) -> Estimate {
    const LEVELS: u8 = 14;
    let channels = [response(1.5), response(3.0), BitChannel::new(0.5, 0.1).unwrap()];
    let shared = place(random, 9, LEVELS, u64::from(n / 3));
    let noisy: Vec<Vec<u64>> = channels
        .iter()
        .map(|channel| {
            let own = place(random, 9, LEVELS, u64::from(n - n / 3) / 3);
            let cell = |word: u64, level: u8| if (word >> level) & 1 == 1 { channel.p() } else { channel.q() };
            let flip = |random: &mut Random, word: u64| {
                (0..LEVELS).fold(0, |noisy, level| noisy | (u64::from(random.chance(cell(word, level))) << level))
            };
            own.iter().zip(&shared).map(|(a, b)| flip(random, a | b)).collect()
        })
        .collect();
    let layout = CellLayout::pcsa(512, LEVELS).unwrap();
    let moments = (0..LEVELS).zip(layout.groups()).map(|(level, (_, rate))| {
        let product = |bucket: usize| {
            let factor = |(words, channel): (&Vec<u64>, &BitChannel)| {
                let bit = if (words[bucket] >> level) & 1 == 1 { 1.0 } else { 0.0 };
                (channel.p() - bit) / channel.d()
            };
            noisy.iter().zip(&channels).map(factor).product::<f64>()
        };
        ProductMoments::from_values(rate, (0..512).map(|bucket| (product(bucket), 1))).unwrap()
    });
    ProductStatistic::new(moments.collect(), &channels, layout.n_cap()).unwrap().estimate(Confidence::P95)
}

#[test]
fn unions_by_the_product_statistic_cover_and_are_unbiased() {
    for (seed, n) in (60..).zip([3, 300, 9000]) {
        let mut random = Random::new(seed);
        let (mut tally, mut stated) = (Tally::default(), 0.0);
        for _ in 0..2000 {
            let answer = union_of_three(&mut random, n);
            stated += answer.std_error().unwrap_or(0.0) / f64::from(n) / 2000.0;
            tally.add(f64::from(n), &answer);
        }
        tally.assert_coverage(0.94, 0.98);
        if n == 9000 {
            tally.assert_error(stated, 0.05);
            // Below a tenth of the error of one answer, which is nine percent here.
            let chance = SIGMAS * stated / tally.trials.sqrt();
            assert!(
                (tally.errors / tally.trials).abs() <= 0.15 * stated + chance,
                "bias {}",
                tally.errors / tally.trials
            );
        }
    }
}

#[test]
fn answers_without_enough_information_say_so() {
    let mut random = Random::new(70);
    let mut low = 0;
    for _ in 0..200 {
        let answer = estimate(&sketch(&mut random, 8, 8, 20, response(1.0)), Confidence::P95);
        // 20 items under a noise floor of 27 never look certain.
        let certain = answer.status() == Status::Ok;
        assert!(!certain || answer.value().unwrap() > 50.0, "{answer}");
        low += i32::from(answer.status() == Status::LowInformation);
    }
    assert!(low > 50, "{low} of 200");
}

/// The product's stated accuracy, setting by setting.
#[test]
#[ignore = "a minute: 10,000 trials of nine settings; `cargo xtask test --all` runs it"]
fn the_default_shape_keeps_its_stated_accuracy() {
    for (seed, n) in (80..).zip([10_000, 100_000, 1_000_000]) {
        let mut random = Random::new(seed);
        let epsilons = [1.0, 2.0, 4.0];
        let mut tallies = [(); 3].map(|()| Tally::default());
        let layout = CellLayout::pcsa(4096, 24).unwrap();
        for _ in 0..10_000 {
            let table = place(&mut random, 12, 24, n);
            for (tally, epsilon) in tallies.iter_mut().zip(epsilons) {
                let channel = response(epsilon);
                let counts = layout.counts(&read(&mut random, &table, 24, channel), channel).unwrap();
                tally.add(f64::from(u32::try_from(n).unwrap()), &estimate(&counts, Confidence::P95));
            }
        }
        for (tally, epsilon) in tallies.iter().zip(epsilons) {
            let predicted = predicted_rse(&layout, response(epsilon), f64::from(u32::try_from(n).unwrap()));
            println!("n {n} epsilon {epsilon}: {:.4} {:.4}", tally.rrmse() / predicted, tally.coverage());
            assert!((tally.rrmse() / predicted - 1.0).abs() <= 0.03);
            assert!((0.94..=0.96).contains(&tally.coverage()));
        }
    }
}
