//! Golden cases, computed independently with 60-digit arithmetic (generator: Python with mpmath; see the file's head).
//!
//! `|got − want| ≤ atol + rtol·|want|` with the tolerances of each case; a first derivative has `1e-13·|l|/n` instead of
//! the case's `atol`, since it is a small difference of large sums near the maximum.
//!
//! A case may lack a field that others of its kind have. A field that is never compared fails, and so does one that is
//! asked for and that no case of the kind has.

#![expect(clippy::unwrap_used, reason = "a golden file of another shape must fail the test")]

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, LevelCounts, ProductMoments, Status, asymptotic_information, asymptotic_rse,
    bloom_count, bloom_rate, diagnostics, legions_probability, linear_counting_private,
};
use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

const GOLDEN: &str = include_str!("golden/sfm_estimators.json");

struct Case {
    id: String,
    input: Value,
    expect: Value,
    rtol: f64,
    atol: f64,
    /// The fields of `expect` that were asked for, there or not.
    asked: RefCell<BTreeSet<&'static str>>,
}

/// The names of the fields of an object.
fn fields(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

impl Case {
    fn read(case: &Value) -> Self {
        let number = |key: &str| case[key].as_f64().unwrap_or(0.0);
        let id = case["id"].as_str().unwrap().to_owned();
        Self {
            id,
            input: case["input"].clone(),
            expect: case["expect"].clone(),
            rtol: number("rtol"),
            atol: number("atol"),
            asked: RefCell::default(),
        }
    }

    /// A field of what is expected, if the case has it.
    fn expected(&self, field: &'static str) -> Option<&Value> {
        self.asked.borrow_mut().insert(field);
        self.expect.get(field)
    }

    fn number(&self, field: &str) -> f64 {
        self.input[field].as_f64().unwrap()
    }

    fn integer(&self, field: &str) -> u64 {
        self.input[field].as_u64().unwrap()
    }

    fn integers(&self, field: &str) -> Vec<u64> {
        self.input[field].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect()
    }

    fn channel(&self) -> BitChannel {
        BitChannel::new(self.number("p"), self.number("q")).unwrap()
    }

    /// Compares a field if the case has it.
    fn check(&self, field: &'static str, got: f64) {
        if let Some(want) = self.expected(field) {
            self.compare(field, got, want.as_f64().unwrap(), self.atol);
        }
    }

    fn compare(&self, field: &str, got: f64, want: f64, atol: f64) {
        let allowed = atol + self.rtol * want.abs();
        assert!((got - want).abs() <= allowed, "{} {field}: got {got}, want {want} ± {allowed:e}", self.id);
    }

    fn counts(&self) -> LevelCounts {
        let buckets = u32::try_from(self.integer("B")).unwrap();
        let ones = self.integers("ones_per_level");
        assert_eq!(self.integer("P"), ones.len() as u64);
        LevelCounts::pcsa(buckets, &ones, self.channel()).unwrap()
    }

    fn check_maximum(&self) {
        let counts = self.counts();
        let word = match self.expected("status").unwrap().as_str().unwrap() {
            "interior" => "ok",
            "boundary0" => "below_noise",
            other => other,
        };
        for maximum in [diagnostics::mle(&counts), diagnostics::mle_on_grid(&counts)] {
            assert_eq!(maximum.status.as_str(), word, "{}", self.id);
            self.check("mle", maximum.n_hat);
            if maximum.status == Status::Saturated {
                assert_eq!(maximum.n_hat.to_bits(), counts.n_cap().to_bits());
            }
        }
    }

    fn check_edge(&self) {
        self.check_maximum();
        let counts = self.counts();
        self.check("n_cap", counts.n_cap());
        self.check("score_at_0", diagnostics::log_likelihood(&counts, 0.0).d1);
    }

    fn check_likelihood(&self) {
        self.check_maximum();
        let counts = self.counts();
        for at in self.expected("evaluations").unwrap().as_array().unwrap() {
            assert_eq!(fields(at), BTreeSet::from(["n", "ll", "d1", "d2"]), "{}", self.id);
            let field = |name: &str| at[name].as_f64().unwrap();
            let n = field("n");
            let got = diagnostics::log_likelihood(&counts, n);
            let atol = if n > 0.0 { 1e-13 * field("ll").abs() / n } else { 0.0 };
            self.compare("ll", got.value, field("ll"), self.atol);
            self.compare("d1", got.d1, field("d1"), atol);
            self.compare("d2", got.d2, field("d2"), self.atol);
        }
        let (buckets, levels) = (self.integer("B"), self.integer("P"));
        let layout = CellLayout::pcsa(u32::try_from(buckets).unwrap(), u8::try_from(levels).unwrap()).unwrap();
        let (channel, n) = (self.channel(), self.expected("mle").unwrap().as_f64().unwrap());
        self.check("info_H", diagnostics::information(&layout, channel, n));
        self.check("rse_poisson", diagnostics::rse_poisson(&layout, channel, n));
        self.check("rse_fixed_n", diagnostics::rse_fixed_n(&layout, channel, n));
        self.check("rse_fixed_n_approx", diagnostics::rse_fixed_n_approx(&layout, channel, n));
    }

    fn check_asymptotic(&self) {
        self.check("I", asymptotic_information(self.channel()));
        self.check("rse", asymptotic_rse(u32::try_from(self.integer("B")).unwrap(), self.channel()));
    }

    fn check_linear_counting(&self) {
        let cells = self.integer("cells");
        let answer = linear_counting_private(cells, self.integer("ones"), self.channel(), Confidence::P95).unwrap();
        self.check("rho", bloom_rate(cells, 1).unwrap());
        self.check("mle", answer.value().unwrap());
    }

    fn check_bloom(&self) {
        let (cells, hashes) = (self.integer("cells"), u32::try_from(self.integer("hashes")).unwrap());
        let epsilon = self.number("eps") / f64::from(hashes);
        let channel = BitChannel::symmetric(1.0 / (1.0 + epsilon.exp())).unwrap();
        let answer = bloom_count(cells, hashes, self.integer("ones"), channel, Confidence::P95).unwrap();
        self.check("eps_bit", channel.dp_level());
        self.check("p", channel.p());
        self.check("q", channel.q());
        self.check("rho", bloom_rate(cells, hashes).unwrap());
        self.check("mle", answer.value().unwrap());
    }

    fn check_legions(&self) {
        let (cells, decay) = (self.integer("cells"), self.number("decay"));
        let expected = self.expected("rho").unwrap().as_array().unwrap();
        assert_eq!(expected.len(), self.integers("indices").len());
        for (index, want) in self.integers("indices").into_iter().zip(expected) {
            let got = legions_probability(cells, decay, index).unwrap();
            self.compare("rho", got, want.as_f64().unwrap(), self.atol);
        }
        let uniforms: Vec<f64> = self.input["u"].as_array().unwrap().iter().map(|u| u.as_f64().unwrap()).collect();
        let found: Vec<u64> = uniforms.into_iter().map(|u| cell_of(u, cells, decay)).collect();
        let expected = self.expected("cell").unwrap().as_array().unwrap();
        assert_eq!(found, expected.iter().map(|cell| cell.as_u64().unwrap()).collect::<Vec<_>>(), "{}", self.id);
    }

    fn check_product(&self) {
        let classes = self.integers("cells_with_w_ones");
        let moments = ProductMoments::from_classes(0.001, self.channel(), &classes).unwrap();
        let cells = f64::from(u32::try_from(classes.iter().sum::<u64>()).unwrap());
        self.check("empty_fraction_estimate", moments.mean());
        self.check("sum_of_products", moments.mean() * cells);
    }
}

/// The Liquid Legions cell that a uniform number falls in: the last one before which the probabilities sum to no more.
fn cell_of(u: f64, cells: u64, decay: f64) -> u64 {
    let mut before = 0.0;
    (0..cells)
        .take_while(|cell| {
            let reached = before <= u;
            before += legions_probability(cells, decay, *cell).unwrap();
            reached
        })
        .last()
        .unwrap()
}

/// Checks all cases of a kind, and that nothing they expect was passed over.
fn check_all(kind: &str, cases: &[Value], check: impl Fn(&Case)) {
    let chosen: Vec<_> = cases.iter().filter(|case| case["kind"] == kind).collect();
    assert!(!chosen.is_empty(), "no case of kind {kind}");
    let (mut asked, mut there) = (BTreeSet::new(), BTreeSet::new());
    for case in chosen {
        let read = Case::read(case);
        check(&read);
        let seen = read.asked.into_inner();
        let expected = fields(&case["expect"]);
        assert!(expected.is_subset(&seen), "{}: {expected:?} is expected, only {seen:?} is compared", read.id);
        asked.extend(seen);
        there.extend(expected);
    }
    assert_eq!(asked, there, "no case of kind {kind} has all that is compared");
}

fn run(kind: &str, check: impl Fn(&Case)) {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    check_all(kind, golden["cases"].as_array().unwrap(), check);
}

#[test]
fn every_case_is_of_a_kind_that_is_checked() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    let kinds: BTreeSet<_> = cases.iter().map(|case| case["kind"].as_str().unwrap()).collect();
    let checked = [
        "asymptotic",
        "bloom",
        "dp_level",
        "edge",
        "likelihood",
        "linear_counting",
        "liquid_legions",
        "product_statistic",
    ];
    assert_eq!(kinds, BTreeSet::from(checked));
    assert_eq!(golden["count"].as_u64(), Some(cases.len() as u64));
}

#[test]
#[should_panic(expected = "only")]
fn an_expected_field_that_nobody_compares_fails() {
    check_all(
        "k",
        &[serde_json::json!({"id": "1", "kind": "k", "input": {}, "expect": {"a": 1.0, "b": 2.0}})],
        |case| {
            case.check("a", 1.0);
        },
    );
}

#[test]
#[should_panic(expected = "no case of kind k has all")]
fn a_compared_field_that_no_case_has_fails() {
    check_all("k", &[serde_json::json!({"id": "1", "kind": "k", "input": {}, "expect": {"a": 1.0}})], |case| {
        case.check("a", 1.0);
        case.check("typo", 1.0);
    });
}

#[test]
fn likelihood_cases_hold() {
    run("likelihood", Case::check_likelihood);
}

#[test]
fn edge_cases_hold() {
    run("edge", Case::check_edge);
}

#[test]
fn asymptotic_cases_hold() {
    run("asymptotic", Case::check_asymptotic);
}

#[test]
fn linear_counting_cases_hold() {
    run("linear_counting", Case::check_linear_counting);
}

#[test]
fn bloom_cases_hold() {
    run("bloom", Case::check_bloom);
}

#[test]
fn liquid_legions_cases_hold() {
    run("liquid_legions", Case::check_legions);
}

#[test]
fn product_statistic_cases_hold() {
    run("product_statistic", Case::check_product);
}

#[test]
fn dp_level_cases_hold() {
    run("dp_level", |case| case.check("eps", case.channel().dp_level()));
}
