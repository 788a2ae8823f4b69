//! Tests of costs of samples.

use dp_noise::{RandomizedResponse, SubsampleKey};
use sfm_pcsa::Unit;

use super::*;
use crate::ledger::{LedgerError, LedgerTerms, SpendRecord, format};

/// A release at ε = 1 of a sample at rate γ.
fn release(key: u8, gamma: f64, unit: Unit) -> SampleRelease {
    let rate = SampleRate::new(gamma).unwrap();
    let sampling = Sampling { rate, key: SubsampleKey::from_bytes([key; 32]).id() };
    let epsilon = Epsilon::new(1.0).unwrap();
    let noise = rate.noise_for(epsilon, unit.max_items()).unwrap();
    SampleRelease::new(epsilon, unit, sampling, noise.of_cell().get())
}

fn record(currency: Currency, total: &str) -> LedgerRecord {
    let terms = LedgerTerms::new(currency, Amount::parse_total(total).unwrap()).unwrap();
    LedgerRecord { terms, spends: Vec::new() }
}

/// `ln(1 + γ(e^(k ε₀) − 1))` from the definition.
fn together(gamma: f64, count: f64) -> f64 {
    let inner = (1.0 + 1_f64.exp_m1() / gamma).ln();
    (1.0 + gamma * ((count * inner).exp() - 1.0)).ln()
}

#[test]
fn releases_under_one_key_cost_the_formula_together_and_fresh_keys_their_sum() {
    let mut book = record(Currency::Epsilon, "20");
    for count in 1..=3 {
        book.spend_sample("shared", &release(1, 0.1, Unit::Item)).unwrap();
        assert!((book.spent().nearest_f64() - together(0.1, f64::from(count))).abs() < 1e-6, "{count}");
    }
    assert_eq!(book.spends[0].cost().to_string(), "1");
    let before = book.spent().nearest_f64();
    book.spend_sample("fresh", &release(2, 0.1, Unit::Item)).unwrap();
    assert!((book.spent().nearest_f64() - before - 1.0).abs() < 1e-12);
    let mut rho = record(Currency::Rho, "20");
    for _ in 0..2 {
        rho.spend_sample("shared", &release(1, 0.1, Unit::Item)).unwrap();
    }
    assert!((rho.spent().nearest_f64() - together(0.1, 2.0).powi(2) / 2.0).abs() < 1e-5);
}

#[test]
fn users_pay_for_the_most_items_of_one() {
    let mut book = record(Currency::Epsilon, "100");
    let user = Unit::user(2).unwrap();
    for _ in 0..2 {
        book.spend_sample("shared", &release(1, 0.1, user)).unwrap();
    }
    let inner = (1.0 + 0.5_f64.exp_m1() / 0.1).ln();
    let expected = 2.0 * (1.0 + 0.1 * ((2.0 * inner).exp() - 1.0)).ln();
    assert!((book.spent().nearest_f64() - expected).abs() < 1e-6, "{}", book.spent());
}

#[test]
fn a_budget_that_does_not_cover_the_shared_cost_refuses_and_books_nothing() {
    let mut book = record(Currency::Epsilon, "2.5");
    book.spend_sample("a", &release(1, 0.1, Unit::Item)).unwrap();
    let refused = book.spend_sample("b", &release(1, 0.1, Unit::Item));
    assert!(matches!(refused, Err(LedgerError::Exceeded { .. })));
    assert_eq!(book.spends().len(), 1);
    // 256 and more is more than any ledger covers.
    let mut many = record(Currency::Epsilon, "1000");
    let strong = SampleRelease::new(
        Epsilon::new(100.0).unwrap(),
        Unit::Item,
        release(1, 0.1, Unit::Item).sampling(),
        RandomizedResponse::symmetric(Epsilon::new(250.0).unwrap()).epsilon_upper().get(),
    );
    let spends: Vec<_> = (0..8).map(|_| many.spend_sample("c", &strong).is_ok()).collect();
    assert!(spends[0] && !spends[7], "{spends:?}");
}

#[test]
fn costs_of_several_rates_under_one_key_follow_the_formula() {
    let mut book = record(Currency::Epsilon, "100");
    let gammas = [0.05, 0.3, 0.1, 0.3];
    for (count, gamma) in (1..).zip(gammas) {
        book.spend_sample("shared", &release(1, gamma, Unit::Item)).unwrap();
        // The mean over the coin of the item, from the definition.
        let level = |gamma: f64| (1.0 + 1_f64.exp_m1() / gamma).ln();
        let mut edges: Vec<f64> = gammas[..count].to_vec();
        edges.push(0.0);
        edges.sort_by(f64::total_cmp);
        let mean: f64 = edges
            .windows(2)
            .map(|pair| {
                let kept = gammas[..count].iter().filter(|gamma| **gamma >= pair[1]).map(|gamma| level(*gamma));
                (pair[1] - pair[0]) * kept.sum::<f64>().exp()
            })
            .sum();
        let expected = (mean + 1.0 - edges[count]).ln();
        assert!((book.spent().nearest_f64() - expected).abs() < 1e-6, "{count}: {} {expected}", book.spent());
    }
    assert_eq!(format::read(&format::write(&book).unwrap()).unwrap(), book);
}

#[test]
fn many_rates_under_one_key_are_booked_at_no_less_than_the_formula() {
    let gamma = |number: u32| 0.2 + 0.01 * f64::from(number * 29 % 50);
    let weak = |number| {
        let rate = SampleRate::new(gamma(number)).unwrap();
        let epsilon = Epsilon::new(0.01).unwrap();
        let sampling = Sampling { rate, key: SubsampleKey::from_bytes([1; 32]).id() };
        let cell = rate.noise_for(epsilon, 1).unwrap().of_cell().get();
        (SampleRelease::new(epsilon, Unit::Item, sampling, cell), (rate, cell))
    };
    let mut book = record(Currency::Epsilon, "100");
    let mut levels = Vec::new();
    for number in 0..50 {
        let (release, level) = weak(number);
        book.spend_sample("shared", &release).unwrap();
        levels.push(level);
        let (spent, exact) = (book.spent().nearest_f64(), loss_under_one_key(&levels));
        assert!(spent >= exact * (1.0 - 1e-9) && spent < 1.5 * exact, "{number}: {spent} {exact}");
        if number < 32 {
            assert!((spent - exact).abs() < 1e-6 * exact, "{number}: {spent} {exact}");
        }
    }
    assert_eq!(format::read(&format::write(&book).unwrap()).unwrap(), book);
}

/// 30,000 spends were minutes when each looked at all before it.
#[test]
fn long_ledgers_of_one_key_are_read() {
    let mut book = record(Currency::Epsilon, "1000000000000");
    let sample = SampleSpend::new(&release(1, 0.5, Unit::Item)).unwrap();
    let tiny = SampleSpend { level: Amount::parse_cost("0.000001").unwrap(), ..sample };
    let epsilon = Epsilon::new(0.000_001).unwrap();
    let mut running = UnderKey::default();
    for number in 0..30_000 {
        let cost = running.cost_of(tiny, epsilon, Currency::Epsilon);
        running.add(tiny, cost);
        let (label, epsilon) = (number.to_string(), Some(Amount::from_epsilon(epsilon)));
        book.spends.push(SpendRecord { label, epsilon, cost, unit: None, sample: Some(tiny), release: None });
    }
    assert_eq!(book.cost_of_sample(tiny, epsilon), running.cost_of(tiny, epsilon, Currency::Epsilon));
    assert_eq!(format::read(&format::write(&book).unwrap()).unwrap(), book);
}

#[test]
fn a_sample_has_an_epsilon_in_either_currency() {
    for currency in [Currency::Epsilon, Currency::Rho] {
        let mut book = record(currency, "20");
        book.spend_sample("a", &release(1, 0.1, Unit::Item)).unwrap();
        let text = String::from_utf8(format::write(&book).unwrap()).unwrap();
        let forged = text.replace("\"epsilon\": \"1\"", "\"epsilon\": null");
        assert_ne!(forged, text);
        let refused = format::read(forged.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains("epsilon of spend 1"), "{refused}");
    }
}

#[test]
fn files_keep_samples_and_their_costs() {
    let mut book = record(Currency::Epsilon, "20");
    book.spend("whole", Epsilon::new(0.5).unwrap(), None).unwrap();
    for _ in 0..2 {
        book.spend_sample("shared", &release(1, 0.1, Unit::Item)).unwrap();
    }
    let text = format::write(&book).unwrap();
    assert_eq!(format::read(&text).unwrap(), book);
    let text = String::from_utf8(text).unwrap();
    let cost = book.spends[2].cost().to_string();
    assert_eq!(text.matches(&cost).count(), 1);
    for forged in [
        text.replace(&cost, "1"),
        text.replace("\"items\": 1", "\"items\": 0"),
        text.replace("\"key\": \"", "\"key\": \"x"),
    ] {
        assert!(format::read(forged.as_bytes()).is_err(), "{forged}");
    }
}

#[test]
fn a_spend_of_a_sample_is_told_with_rate_name_of_the_key_and_inner_level() {
    let mut book = record(Currency::Epsilon, "100");
    book.spend("whole", Epsilon::new(0.5).unwrap(), None).unwrap();
    for label in ["first", "second"] {
        book.spend_sample(label, &release(1, 0.1, Unit::Item)).unwrap();
    }
    let key = SubsampleKey::from_bytes([1; 32]).id().to_string();
    // ln(1 + (e − 1)/0.1) = 2.9005.
    let inner = (1.0 + 1_f64.exp_m1() / 0.1).ln();
    let json = book.to_json();
    assert!(json["spends"][0]["sample_key"].is_null() && json["spends"][0]["sampling_rate"].is_null(), "{json}");
    let second = &json["spends"][2];
    assert_eq!((&second["sample_key"], &second["epsilon"]), (&key.as_str().into(), &"1".into()));
    assert!((second["sampling_rate"].as_f64().unwrap() - 0.1).abs() < 1e-9, "{json}");
    assert!((second["epsilon_if_key_known"].as_f64().unwrap() - inner).abs() < 1e-6, "{json}");
    let text = book.to_text();
    assert!(text.contains(&key) && text.contains("at rate 0.1") && text.contains("2.90 towards"), "{text}");
    // The totals, the heading, three spends, two of which say more.
    assert_eq!(text.lines().count(), 7, "{text}");
    let heading = text.lines().nth(1).unwrap();
    let spend = text.lines().nth(2).unwrap();
    assert_eq!(heading.find("status"), spend.find("spent"), "{text}");
}
