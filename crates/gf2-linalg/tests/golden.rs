//! Golden cases, computed independently (generator: Python on lists of integers, elimination and products by their
//! definitions). Character `j` of a string of bits is column `j`.

use gf2_linalg::{BitMatrix, BitVector, Solution};
use serde_json::{Value, json};
use sketch_testkit::{GoldenCase, GoldenFile};

fn vector(value: &Value) -> BitVector {
    value.as_str().expect("a string of bits").parse().expect("bits")
}

fn matrix(value: &Value) -> BitMatrix {
    let rows: Vec<BitVector> = value.as_array().expect("a list of rows").iter().map(vector).collect();
    BitMatrix::from_rows(rows.first().map_or(0, BitVector::len), &rows).expect("rows of one length")
}

fn rows(matrix: &BitMatrix) -> Vec<String> {
    matrix.to_string().lines().map(str::to_owned).collect()
}

fn answer(case: &GoldenCase) -> Value {
    let input = |name: &str| &case.input[name];
    match case.kind.as_str() {
        "gf2_rref" => {
            let form = matrix(input("rows")).rref();
            json!({
                "rank": form.rank(), "nullity": form.nullity(), "pivots": form.pivots(), "rref": rows(form.matrix()),
            })
        }
        "gf2_mul" => json!({"product": rows(&matrix(input("a")).mul(&matrix(input("b"))).expect("the shapes fit"))}),
        "gf2_inverse" => json!({"inverse": rows(&matrix(input("a")).inverse().expect("invertible"))}),
        "gf2_solve" => match matrix(input("a")).solve(&vector(input("b"))).expect("the shapes fit") {
            Solution::Inconsistent => json!({"consistent": false}),
            Solution::Unique(x) => json!({"consistent": true, "unique": true, "x": x.to_string()}),
            Solution::Affine(set) => {
                json!({"consistent": true, "unique": false, "x": set.particular().to_string()})
            }
        },
        "gf2_vec" => {
            let (mut a, b) = (vector(input("a")), vector(input("b")));
            let (and, dot, ones) = (a.and_popcount(&b), a.dot(&b), a.count_ones());
            a.xor_assign(&b).expect("one length");
            json!({
                "xor": a.to_string(), "and_popcount": and.expect("one length"),
                "dot": u64::from(dot.expect("one length")), "popcount_a": ones,
            })
        }
        kind => panic!("unknown kind {kind}"),
    }
}

#[test]
fn every_golden_case_is_met() {
    let file = GoldenFile::read("tests/golden/gf2_golden.json").expect("the golden file");
    assert_eq!(file.cases.len(), 9);
    for case in &file.cases {
        case.assert(&answer(case));
    }
}

#[test]
fn factors_solve_the_golden_systems_alike() {
    let file = GoldenFile::read("tests/golden/gf2_golden.json").expect("the golden file");
    for case in file.of_kind("gf2_solve") {
        let x = matrix(&case.input["a"]).ple().solve(&vector(&case.input["b"])).expect("the shapes fit");
        assert_eq!(x.map(|x| x.to_string()).as_deref(), case.expect["x"].as_str(), "{}", case.id);
    }
}
