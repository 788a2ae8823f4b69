//! The cases of `golden/sfm_golden.json` (independent Python with numpy, scipy and mpmath at 60 digits), computed with
//! the public API. The kind of another test is left to that, by name: an unknown kind fails.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use cardinality_estimators::{
    BitChannel, CellLayout, Confidence, LevelCounts, Status, asymptotic_information, asymptotic_rse, bloom_count,
    bloom_rate, diagnostics as numbers, legions_probability, linear_counting_private,
};
use dp_noise::Epsilon;
use serde_json::{Value, json};
use sfm_pcsa::diagnostics::{
    GateTable, MergedChannel, dp_level, empty_cells_of_union, gate_table, legions_boundaries, level_of_a_cell,
    mechanisms, murmur3_x64_128, nway_or, placement,
};
use sfm_pcsa::{BooleanOp, LegionsShape, OutputForm, Unit};
use sketch_hash::{Item, PrestoHash};
use sketch_testkit::{GoldenCase, GoldenFile, Tolerance, compare, number};

/// In `golden_presto.rs`.
const ELSEWHERE: [&str; 1] = ["presto_bytes"];

#[test]
fn every_public_case_is_met() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/sfm_golden.json");
    let mut checked = 0;
    for case in GoldenFile::read(path).unwrap().cases {
        match case.kind.as_str() {
            "mechanism" => mechanism(&case),
            "dp_level" => {
                let [p, q] = ["p", "q"].map(|name| field(&case.input, name));
                case.assert(&json!({"eps": dp_level(p, q).unwrap()}));
            }
            "merge" => merge(&case),
            "nway_or" => nway(&case),
            "likelihood" => likelihood(&case),
            "edge" => edge(&case),
            "asymptotic" => asymptotic(&case),
            "hash" => hash(&case),
            "placement" => place(&case),
            "product_statistic" => product(&case),
            "linear_counting" => linear_counting(&case),
            "bloom" => bloom(&case),
            "liquid_legions" => legions(&case),
            other => {
                assert!(ELSEWHERE.contains(&other), "unknown kind {other}");
                continue;
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 61);
}

fn field(object: &Value, name: &str) -> f64 {
    number(&object[name]).unwrap_or_else(|| panic!("no number {name} in {object}"))
}

fn integer(object: &Value, name: &str) -> u32 {
    u32::try_from(object[name].as_u64().unwrap_or_else(|| panic!("no integer {name}"))).unwrap()
}

/// `None` for infinity.
fn epsilon(value: &Value) -> Option<Epsilon> {
    let epsilon = number(value).expect("a number or inf");
    epsilon.is_finite().then(|| Epsilon::new(epsilon).expect("an epsilon in range"))
}

fn mechanism(case: &GoldenCase) {
    let found = mechanisms(epsilon(&case.input["eps"]));
    for (name, flips) in [("symmetric", found.symmetric), ("xor_family", found.xor_family)] {
        let want = &case.expect[name];
        let failures =
            compare(&json!({"p": want["p"], "q": want["q"]}), &json!({"p": flips.p, "q": flips.q}), case.tolerance);
        assert!(failures.is_empty(), "{}: {failures:?}", case.id);
        let least: u64 = want["min_q_numerator_over_2pow64"].as_str().unwrap().parse().unwrap();
        let most = if least == 0 { 0 } else { least + (least >> 40) + 2 };
        assert!((least..=most).contains(&flips.q_numerator), "{}: {} {name}", case.id, flips.q_numerator);
    }
}

fn merge(case: &GoldenCase) {
    let op = match case.input["op"].as_str().unwrap() {
        "or" => BooleanOp::Or,
        "and" => BooleanOp::And,
        "xor" => BooleanOp::Xor,
        "diff" => BooleanOp::Difference,
        "implies" => BooleanOp::Implies,
        "nor" => BooleanOp::Nor,
        "nand" => BooleanOp::Nand,
        "xnor" => BooleanOp::Xnor,
        other => panic!("unknown operation {other}"),
    };
    let [first, second] = ["pq1", "pq2"].map(|name| {
        let pair = &case.input[name];
        (number(&pair[0]).unwrap(), number(&pair[1]).unwrap())
    });
    let table = |form| {
        let GateTable { p, q, v, epsilon } = gate_table(op, form, first, second).unwrap();
        json!({"p": p, "q": q, "v_00_01_10_11": v, "eps": finite(epsilon)})
    };
    case.assert(&json!({"extremal": table(OutputForm::Extremal), "symmetric": table(OutputForm::Symmetric)}));
}

fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { json!("inf") }
}

fn nway(case: &GoldenCase) {
    let levels: Vec<_> = case.input["eps"].as_array().unwrap().iter().map(|value| mechanisms(epsilon(value))).collect();
    let symmetric: Vec<_> = levels.iter().map(|both| (both.symmetric.p, both.symmetric.q)).collect();
    let xor_family: Vec<_> = levels.iter().map(|both| (both.xor_family.p, both.xor_family.q)).collect();
    let merged = |form, inputs: &[(f64, f64)]| {
        let MergedChannel { p, q, d, epsilon, .. } = nway_or(form, inputs).unwrap();
        json!({"p": p, "q": q, "d": d, "eps": finite(epsilon)})
    };
    case.assert(&json!({
        "symmetric": merged(OutputForm::Symmetric, &symmetric),
        "xor_family": merged(OutputForm::Extremal, &xor_family),
        "extremal": merged(OutputForm::Extremal, &symmetric),
    }));
}

fn counts(input: &Value) -> (CellLayout, LevelCounts) {
    let channel = BitChannel::new(field(input, "p"), field(input, "q")).unwrap();
    let ones: Vec<u64> = input["ones_per_level"].as_array().unwrap().iter().map(|k| k.as_u64().unwrap()).collect();
    let levels = u8::try_from(integer(input, "P")).unwrap();
    let layout = CellLayout::pcsa(integer(input, "B"), levels).unwrap();
    (layout, LevelCounts::pcsa(integer(input, "B"), &ones, channel).unwrap())
}

fn status_word(status: Status) -> &'static str {
    match status {
        Status::Ok => "interior",
        Status::BelowNoise => "boundary0",
        other => other.as_str(),
    }
}

fn likelihood(case: &GoldenCase) {
    let (layout, counts) = counts(&case.input);
    for evaluation in case.expect["evaluations"].as_array().unwrap() {
        let n = field(evaluation, "n");
        let at = numbers::log_likelihood(&counts, n);
        let got = json!({"n": n, "ll": at.value, "d2": at.d2});
        let want = json!({"n": n, "ll": evaluation["ll"], "d2": evaluation["d2"]});
        assert!(compare(&want, &got, case.tolerance).is_empty(), "{} at {n}", case.id);
        let absolute = if n > 0.0 { 1e-13 * at.value.abs() / n } else { 0.0 };
        let slope = Tolerance { absolute, ..case.tolerance };
        assert!(compare(&evaluation["d1"], &json!(at.d1), slope).is_empty(), "{} slope at {n}", case.id);
    }
    let best = numbers::mle(&counts);
    let (n, channel) = (best.n_hat, counts.channel());
    let mut want = case.expect.clone();
    want.as_object_mut().unwrap().remove("evaluations");
    let got = json!({
        "status": status_word(best.status),
        "mle": n,
        "info_H": numbers::information(&layout, channel, n),
        "rse_poisson": numbers::rse_poisson(&layout, channel, n),
        "rse_fixed_n": numbers::rse_fixed_n(&layout, channel, n),
        "rse_fixed_n_approx": numbers::rse_fixed_n_approx(&layout, channel, n),
    });
    let failures = compare(&want, &got, case.tolerance);
    assert!(failures.is_empty(), "{}: {failures:?}", case.id);
}

fn edge(case: &GoldenCase) {
    let (_, counts) = counts(&case.input);
    let best = numbers::mle(&counts);
    let slope = case.expect.get("score_at_0").map(|_| numbers::log_likelihood(&counts, 0.0).d1);
    case.assert(&json!({
        "status": status_word(best.status), "mle": best.n_hat, "n_cap": counts.n_cap(), "score_at_0": slope,
    }));
}

fn asymptotic(case: &GoldenCase) {
    let channel = BitChannel::new(field(&case.input, "p"), field(&case.input, "q")).unwrap();
    let buckets = integer(&case.input, "B");
    case.assert(&json!({"I": asymptotic_information(channel), "rse": asymptotic_rse(buckets, channel)}));
}

fn hash(case: &GoldenCase) {
    let shape = ["index_bits", "P"].map(|name| u8::try_from(integer(&case.input, name)).unwrap());
    let rows = case.input["values"].as_array().unwrap().iter().map(|entry| {
        let value = &entry["value"];
        let (xxh64, bytes) = match entry["type"].as_str().unwrap() {
            "bigint" => {
                let value: i64 = value.as_str().unwrap().parse().unwrap();
                (Item::from(value).hash64(&PrestoHash), value.to_le_bytes().to_vec())
            }
            "double" => {
                let value = number(value).unwrap();
                (Item::from(value).hash64(&PrestoHash), value.to_le_bytes().to_vec())
            }
            "varchar" => {
                let text = value.as_str().unwrap();
                (Item::from(text).hash64(&PrestoHash), text.as_bytes().to_vec())
            }
            other => panic!("unknown type {other}"),
        };
        let murmur = murmur3_x64_128(&bytes, 0);
        json!({
            "type": entry["type"], "value": value,
            "xxh64": format!("{xxh64:016x}"), "xxh64_bucket_level": placement(xxh64, shape[0], shape[1]),
            "murmur3_64": format!("{murmur:016x}"), "murmur3_bucket_level": placement(murmur, shape[0], shape[1]),
        })
    });
    case.assert(&json!({"rows": rows.collect::<Vec<_>>()}));
}

fn place(case: &GoldenCase) {
    let [index_bits, levels] = ["index_bits", "P"].map(|name| u8::try_from(integer(&case.input, name)).unwrap());
    let cells = case.input["hashes"].as_array().unwrap().iter().map(|hash| {
        let hash = u64::from_str_radix(hash.as_str().unwrap(), 16).unwrap();
        placement(hash, index_bits, levels)
    });
    case.assert(&json!({"bucket_level": cells.collect::<Vec<_>>()}));
}

fn product(case: &GoldenCase) {
    let counts: Vec<u64> =
        case.input["cells_with_w_ones"].as_array().unwrap().iter().map(|cells| cells.as_u64().unwrap()).collect();
    let sum = empty_cells_of_union(field(&case.input, "p"), field(&case.input, "q"), &counts).unwrap();
    let cells = f64::from(u32::try_from(counts.iter().sum::<u64>()).unwrap());
    case.assert(&json!({"sum_of_products": sum, "empty_fraction_estimate": sum / cells}));
}

fn linear_counting(case: &GoldenCase) {
    let cells = u64::from(integer(&case.input, "cells"));
    let channel = BitChannel::new(field(&case.input, "p"), field(&case.input, "q")).unwrap();
    let ones = case.input["ones"].as_u64().unwrap();
    let found = linear_counting_private(cells, ones, channel, Confidence::P95).unwrap();
    case.assert(&json!({"rho": bloom_rate(cells, 1).unwrap(), "mle": found.value()}));
}

fn bloom(case: &GoldenCase) {
    let (cells, hashes) = (u64::from(integer(&case.input, "cells")), integer(&case.input, "hashes"));
    let total = epsilon(&case.input["eps"]).expect("finite");
    let bit = level_of_a_cell(total, Unit::Item, hashes).unwrap();
    let flips = mechanisms(Some(bit)).symmetric;
    let channel = BitChannel::new(flips.p, flips.q).unwrap();
    let ones = case.input["ones"].as_u64().unwrap();
    let found = bloom_count(cells, hashes, ones, channel, Confidence::P95).unwrap();
    case.assert(&json!({
        "eps_bit": bit.get(), "p": flips.p, "q": flips.q,
        "rho": bloom_rate(cells, hashes).unwrap(), "mle": found.value(),
    }));
}

fn legions(case: &GoldenCase) {
    let (cells, decay) = (integer(&case.input, "cells"), field(&case.input, "decay"));
    let firsts = legions_boundaries(LegionsShape::new(cells, decay).unwrap());
    // u = h / 2^64, and every u of the case is far from a boundary but 0, which is one.
    let cell = |u: &Value| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0 .. 2^64")]
        let hash = (number(u).unwrap() * 2f64.powi(64)) as u64;
        firsts.partition_point(|&first| first <= hash) - 1
    };
    let rate = |index: &Value| legions_probability(u64::from(cells), decay, index.as_u64().unwrap()).unwrap();
    case.assert(&json!({
        "rho": case.input["indices"].as_array().unwrap().iter().map(rate).collect::<Vec<_>>(),
        "cell": case.input["u"].as_array().unwrap().iter().map(cell).collect::<Vec<_>>(),
    }));
}
