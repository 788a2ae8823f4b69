//! The simulator as a whole: determinism, and agreement with prediction.

use sketch_sim::frequency;
use sketch_sim::simulate::{Settings, Summary, simulate};

fn settings(text: &str) -> Settings {
    Settings::parse(text.split_whitespace().map(str::to_owned)).expect("the options are right").0
}

fn run(text: &str) -> Summary {
    simulate(&settings(text), None).expect("the product takes the setting")
}

const SMALL: &str = "--buckets 256 --levels 16 --epsilon 2 --n 5000 --trials 60";

#[test]
fn results_depend_on_the_seed_alone() {
    let first = run(&format!("{SMALL} --seed 5"));
    assert_eq!(first, run(&format!("{SMALL} --seed 5")));
    assert_ne!(first, run(&format!("{SMALL} --seed 6")));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for merge in ["extremal", "xor", "none"] {
        let setting = settings(&format!("{SMALL} --parties 3 --overlap half --merge {merge}"));
        let one = simulate(&setting, Some(1)).unwrap();
        for threads in [2, 3, 8] {
            assert_eq!(one, simulate(&setting, Some(threads)).unwrap(), "{merge}, {threads} threads");
        }
    }
}

/// The relative error of a root mean square of `trials` near-normal errors has standard deviation `1/√(2·trials)`; its
/// bound at a false-alarm rate of 1e-6 is 4.89 of them. `model` is how far the prediction itself may be off.
fn assert_predicted(text: &str, trials: u32, model: f64) {
    let summary = run(&format!("{text} --trials {trials}"));
    let ratio = summary.rrmse() / summary.predicted_rse() - 1.0;
    let bound = 4.89 / (2.0 * f64::from(trials)).sqrt() + model;
    assert!(ratio.abs() < bound, "{text}: error {ratio:+.3} off its prediction, bound {bound:.3}\n{summary}");
    let bias = summary.mean_bias().abs();
    // A maximum-likelihood estimate is biased by about its own variance.
    let noise = 4.89 * summary.predicted_rse() / f64::from(trials).sqrt() + 3.0 * summary.predicted_rse().powi(2);
    assert!(bias < noise, "{text}: bias {bias}, bound {noise}\n{summary}");
    assert!(summary.coverage() > 0.95 - 4.89 * (0.0475 / f64::from(trials)).sqrt() - 0.01, "{text}\n{summary}");
}

#[test]
fn every_way_to_a_union_has_its_predicted_error() {
    for overlap in ["disjoint", "half", "same"] {
        for merge in ["extremal", "symmetric", "xor", "none"] {
            let text = format!(
                "--buckets 1024 --levels 16 --epsilon 3 --n 40000 --parties 2 --overlap {overlap} --merge {merge}"
            );
            assert_predicted(&text, 600, 0.03);
        }
    }
}

#[test]
fn every_family_has_its_predicted_error_from_cells_and_from_counts() {
    let setting = "--epsilon 4 --n 8000 --parties 2 --overlap half --merge symmetric";
    for shape in
        ["--buckets 1024 --levels 16", "--sketch linear --cells 16384", "--sketch bloom --cells 16384 --hashes 2"]
    {
        assert_predicted(&format!("{shape} {setting}"), 600, 0.03);
        assert_predicted(&format!("{shape} {setting} --counts"), 600, 0.03);
    }
    let legions = format!("--sketch legions --cells 8192 --decay 8 {setting}");
    assert_predicted(&legions, 600, 0.03);
    let refused = simulate(&settings(&format!("{legions} --counts")), None).expect_err("all of its cells differ");
    assert!(refused.to_string().contains("legions"), "{refused}");
}

#[test]
fn sketches_without_noise_have_their_predicted_error() {
    assert_predicted("--buckets 512 --levels 16 --epsilon inf --n 100000 --parties 3 --overlap half", 600, 0.03);
}

#[test]
fn counts_beyond_any_stream_have_their_predicted_error() {
    // 2^50 items are split among levels, not hashed one by one.
    assert_predicted("--buckets 1024 --levels 48 --epsilon 4 --n 1125899906842624", 600, 0.03);
}

#[test]
fn a_full_sketch_gives_no_estimate_and_is_counted_apart() {
    let summary = run("--buckets 64 --levels 4 --epsilon inf --n 1000000 --trials 50");
    assert_eq!(summary.no_estimate(), 50);
    assert!((summary.mean_bias() + 1.0).abs() < 1e-15);
    assert!((summary.coverage() - 1.0).abs() < 1e-15, "only a lower bound, which holds");
}

#[test]
fn the_summary_has_every_field_of_its_json() {
    let json = run(SMALL).to_json();
    for field in [
        "rrmse",
        "rrmse_of_values",
        "mean_bias",
        "median_bias",
        "predicted_rse",
        "coverage",
        "trials",
        "statuses",
        "no_estimate",
        "settings",
    ] {
        assert!(json.get(field).is_some(), "{field} is missing");
    }
    assert_eq!(json["trials"], 60);
    assert_eq!(json["statuses"]["ok"].as_u64().unwrap() + json["statuses"]["low_information"].as_u64().unwrap(), 60);
}

fn frequencies(text: &str, threads: Option<usize>) -> frequency::Summary {
    let words = text.split_whitespace().map(str::to_owned);
    let (settings, _, _) = frequency::Settings::parse(words).expect("the options are right");
    frequency::simulate(&settings, threads).expect("the product takes the setting")
}

#[test]
fn frequencies_depend_on_the_seed_and_not_on_the_number_of_threads() {
    for baseline in ["none", "gaussian", "countmin", "countmean"] {
        let text =
            format!("--rows 5 --width 64 --rho 0.2 --d 500 --total 5000 --trials 6 --queries 50 --baseline {baseline}");
        let one = frequencies(&text, Some(1));
        for threads in [2, 5] {
            assert_eq!(one, frequencies(&text, Some(threads)), "{baseline}, {threads} threads");
        }
        assert_ne!(one.to_json()["rmse"], frequencies(&format!("{text} --seed 2"), None).to_json()["rmse"]);
    }
}

/// The Gaussian mechanism has standard deviation `1/√(2ρ)` whatever the data, and Count-Mean the error of its formula.
#[test]
fn baselines_have_the_errors_of_their_formulas() {
    let text = "--rows 5 --width 256 --rho 0.02 --vector sparse --t 400 --value 20 --d 2000 --queries 1000 --trials 40";
    let vector = frequencies(&format!("{text} --baseline gaussian"), None);
    // σ = 5, and 40,000 independent answers: 4.9/√80000 = 1.7 %.
    assert!((vector.rmse() / 5.0 - 1.0).abs() < 0.02, "{vector}");
    // Errors are integers: an interval of ±9.8 holds those up to 9, 94.3 %, and one of ±10 those up to 10, 96.4 %.
    assert!((0.935..0.972).contains(&vector.coverage()), "{vector}");
    // (b/(b−1))²·(F₂·(1/b)(1−1/b) + k/2ρ)/k with F₂ = 400·20² = 160,000; answers of a sketch share its cells.
    let b = 256.0_f64;
    let variance = (b / (b - 1.0)).powi(2) * (160_000.0 / b * (1.0 - b.recip()) + 125.0) / 5.0;
    let mean = frequencies(&format!("{text} --baseline countmean"), None);
    assert!((mean.rmse() / variance.sqrt() - 1.0).abs() < 0.05, "{mean} {}", variance.sqrt());
}
