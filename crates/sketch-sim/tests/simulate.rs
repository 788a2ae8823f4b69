//! The simulator as a whole: determinism, and agreement with prediction.

use sketch_sim::f0;
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
    for merge in ["extremal", "xor", "none", "tally", "joint"] {
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
    assert_as_predicted(&run(&format!("{text} --trials {trials}")), text, trials, model);
}

fn assert_as_predicted(summary: &Summary, text: &str, trials: u32, model: f64) {
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

/// Eight disjoint sets, where the shared law is right: a tally errs less than the product statistic, whose error is
/// predicted, and than one release of the union where cells are few for the items.
#[test]
fn tallies_of_every_family_tell_their_law_and_keep_to_its_error() {
    for shape in ["--buckets 1024 --levels 16 --n 40000", "--sketch linear --cells 4096 --n 4000"] {
        let setting = format!("{shape} --epsilon 3 --parties 8");
        let summary = run(&format!("{setting} --merge tally --trials 300"));
        let product = run(&format!("{setting} --merge product --trials 1")).predicted_rse();
        // 4.89/√600 = 0.2 of chance.
        assert!(summary.rrmse() < 1.2 * product, "{setting}: product statistic {product}\n{summary}");
        // At 95 %, 300 trials cover less than 88 % once in a million times.
        assert!(summary.coverage() > 0.88, "{summary}");
        assert_eq!(summary.methods().iter().map(|(_, count)| count).sum::<u64>(), 300);
        assert!(summary.mean_weight().is_some_and(|weight| weight > 0.8), "{summary}");
        assert!(summary.predicted_rse().is_nan() && summary.median_half_width().is_some());
    }
    let one = "--buckets 1024 --levels 16 --n 40000 --epsilon 3 --merge none --trials 1";
    let tally = run("--buckets 1024 --levels 16 --n 40000 --epsilon 3 --parties 8 --merge tally --trials 300");
    assert!(tally.rrmse() < run(one).predicted_rse(), "{tally}");
}

/// The joint likelihood of two releases is at least as good as the product statistic, whose error is predicted.
#[test]
fn joint_likelihoods_cover_and_are_no_worse_than_the_product_statistic() {
    for overlap in ["disjoint", "half", "subset"] {
        let setting =
            format!("--buckets 1024 --levels 16 --epsilon 2 --n 40000 --parties 2 --shape {overlap} --trials 300");
        let (joint, product) = (run(&format!("{setting} --merge joint")), run(&format!("{setting} --merge product")));
        // 4.89/√600 = 0.2 of chance.
        assert!(joint.rrmse() < 1.2 * product.predicted_rse(), "{overlap}\n{joint}\n{product}");
        assert!(joint.coverage() > 0.88, "{overlap}\n{joint}");
        assert_eq!(joint.methods(), [("joint", 300)]);
    }
    let many = settings("--buckets 64 --levels 8 --epsilon 2 --n 100 --parties 5 --merge joint --trials 1");
    assert!(simulate(&many, None).is_err(), "five sets have too many regions");
}

/// What the estimator's own prediction may be off is that of [`every_way_to_a_union_has_its_predicted_error`].
#[test]
fn secret_samples_have_their_predicted_errors() {
    let pcsa = "--buckets 1024 --levels 16 --epsilon 1 --n 20000 --subsample-rate 0.08";
    for several in [
        "",
        "--merge extremal --parties 2",
        "--merge symmetric --parties 2 --shape half",
        "--merge none --parties 3 --shape half",
    ] {
        assert_predicted(&format!("{pcsa} {several}"), 300, 0.03);
    }
    for several in ["", "--merged 3", "--merged 2 --weights uniform"] {
        let text = format!("--levels 16 --cells 2048 --epsilon 1 --n 20000 --subsample-rate 0.08 {several}");
        assert_as_predicted(&parities(&format!("{text} --trials 300"), None), &text, 300, 0.03);
    }
    // Without sampling the same ε tells far less.
    let whole = run("--buckets 1024 --levels 16 --epsilon 1 --n 20000 --trials 1").predicted_rse();
    assert!(run(&format!("{pcsa} --trials 1")).predicted_rse() < 0.8 * whole);
}

#[test]
fn secret_samples_depend_on_the_seed_and_not_on_the_number_of_threads() {
    let pcsa = |seed| settings(&format!("{SMALL} --parties 2 --shape half --subsample-rate 0.2 --seed {seed}"));
    let one = simulate(&pcsa(1), Some(1)).unwrap();
    assert_eq!(one, simulate(&pcsa(1), Some(3)).unwrap());
    assert_ne!(one.rrmse().to_bits(), simulate(&pcsa(2), Some(3)).unwrap().rrmse().to_bits());
    let f0 = "--levels 16 --cells 256 --epsilon 2 --n 5000 --merged 2 --subsample-rate 0.2 --trials 20";
    assert_eq!(parities(f0, Some(1)), parities(f0, Some(3)));
}

/// Settings need not come from a command line.
#[test]
fn what_has_no_secret_sample_is_refused() {
    let tally = settings(&format!("{SMALL} --parties 2 --merge tally"));
    let pcsa = settings(&format!("{SMALL} --subsample-rate 0.2"));
    let refused = simulate(&Settings { sampling: pcsa.sampling, ..tally }, None).expect_err("no tally of samples");
    assert!(refused.to_string().contains("--merge"), "{refused}");
    let linear = settings("--sketch linear --cells 100 --epsilon 1 --n 10");
    assert!(simulate(&Settings { sampling: pcsa.sampling, ..linear }, None).is_err());
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
        "median_half_width",
        "methods",
        "mean_weight",
        "settings",
    ] {
        assert!(json.get(field).is_some(), "{field} is missing");
    }
    assert_eq!(json["trials"], 60);
    assert_eq!(json["statuses"]["ok"].as_u64().unwrap() + json["statuses"]["low_information"].as_u64().unwrap(), 60);
}

fn parities(text: &str, threads: Option<usize>) -> Summary {
    let (settings, _, _) =
        f0::Settings::parse(text.split_whitespace().map(str::to_owned)).expect("the options are right");
    f0::simulate(&settings, threads).expect("the product takes the setting")
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

/// Twenty keys in 15 rows of 64 cells at ρ = 1/2: decoded, they err hardly more than noise on every count, whose mean is
/// `√(2/π)`, since with all collisions known what is left is an average of 15 normals of variance 15; the median of those is
/// off by 1.25 times as much at best.
#[test]
fn estimators_of_frequencies_differ_as_they_should() {
    let text = "--rows 15 --width 64 --rho 0.5 --vector sparse --t 20 --value 5000 --d 20 --queries 20 --trials 200";
    let decoded = frequencies(&format!("{text} --estimator decode --threshold 0"), None);
    let (law, median) = (frequencies(&format!("{text} --estimator law"), None), frequencies(text, None));
    let least = (2.0 / std::f64::consts::PI).sqrt();
    assert!((0.93..1.2).contains(&(decoded.mean_abs_error() / least)), "{decoded}");
    assert!(decoded.mean_abs_error() < median.mean_abs_error(), "{decoded}\n{median}");
    assert!(law.mean_abs_error() < 1.05 * median.mean_abs_error(), "{law}\n{median}");
    assert!(decoded.coverage() > 0.88 && law.coverage() > 0.88, "{decoded}\n{law}");
    assert_eq!(decoded.to_json()["settings"]["threshold"], "0");
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
