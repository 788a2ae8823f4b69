//! What is written is read back, and what no writer wrote is refused.

#![cfg(feature = "serde")]

mod support;

use gf2_linalg::{BitMatrix, BitVector, MAX_BITS, MAX_DIMENSION};
use serde_json::{Value, from_str, from_value, json, to_string, to_value};
use support::scrambled;

#[test]
fn matrices_and_vectors_are_read_back() {
    for (rows, columns) in [(0, 0), (0, 70), (70, 0), (1, 1), (3, 64), (64, 65), (7, 321)] {
        let matrix = scrambled(rows, columns, 8, 5);
        let text = to_string(&matrix).expect("written");
        assert_eq!(from_str::<BitMatrix>(&text).expect("read"), matrix);
    }
    for length in [0, 1, 63, 64, 65, 200] {
        let vector = BitVector::from_bits(scrambled(1, length, 8, 5).row(0).expect("one")).expect("short");
        let text = to_string(&vector).expect("written");
        assert_eq!(from_str::<BitVector>(&text).expect("read"), vector);
    }
}

#[test]
fn the_form_is_sizes_and_words_without_padding() {
    let vector: BitVector = "1011".parse().expect("bits");
    assert_eq!(to_value(&vector).expect("written"), json!({"bits": 4, "words": [0b1101]}));
    let matrix: BitMatrix = "01\n11".parse().expect("bits");
    assert_eq!(to_value(&matrix).expect("written"), json!({"rows": 2, "columns": 2, "words": [0b10, 0b11]}));
}

fn refused_vector(value: &Value, why: &str) {
    let error = from_value::<BitVector>(value.clone()).expect_err("refused").to_string();
    assert!(error.contains(why), "{value}: {error}");
}

fn refused_matrix(value: &Value, why: &str) {
    let error = from_value::<BitMatrix>(value.clone()).expect_err("refused").to_string();
    assert!(error.contains(why), "{value}: {error}");
}

#[test]
fn vectors_that_cannot_be_are_refused() {
    refused_vector(&json!({"bits": 64, "words": []}), "expected 1 words, found 0");
    refused_vector(&json!({"bits": 64, "words": [1, 2]}), "expected 1 words, found 2");
    refused_vector(&json!({"bits": 3, "words": [8]}), "word 0 has ones after the last bit");
    refused_vector(&json!({"bits": u64::MAX, "words": []}), "longer than");
    refused_vector(&json!({"bits": MAX_BITS + 1, "words": []}), "longer than");
    refused_vector(&json!({"bits": MAX_BITS, "words": []}), "words, found 0");
    refused_vector(&json!({"bits": -1, "words": []}), "invalid value");
    refused_vector(&json!({"bits": 0, "words": [], "more": 1}), "unknown field");
    refused_vector(&json!({"bits": 0}), "missing field");
}

#[test]
fn matrices_that_cannot_be_are_refused() {
    refused_matrix(&json!({"rows": 2, "columns": 65, "words": [0, 0, 0]}), "expected 4 words, found 3");
    refused_matrix(&json!({"rows": 2, "columns": 65, "words": [0, 1, 0, 2]}), "word 3 has ones after the last bit");
    refused_matrix(&json!({"rows": 0, "columns": 65, "words": [0]}), "expected 0 words, found 1");
    refused_matrix(&json!({"rows": 5, "columns": 0, "words": [0]}), "expected 0 words, found 1");
    let most = MAX_DIMENSION as u64;
    for (rows, columns) in [(u64::MAX, u64::MAX), (most + 1, 0), (0, most + 1), (most, most), (u64::MAX, 1)] {
        refused_matrix(&json!({"rows": rows, "columns": columns, "words": []}), "exceeds");
    }
    // Allowed sizes without their words are refused before anything is allocated for them.
    refused_matrix(&json!({"rows": most, "columns": 4096, "words": []}), "words, found 0");
}

#[test]
fn operations_on_extreme_empty_shapes_end() {
    let most = MAX_DIMENSION as u64;
    let tall: BitMatrix = from_value(json!({"rows": most, "columns": 0, "words": []})).expect("no bit at all");
    let wide: BitMatrix = from_value(json!({"rows": 0, "columns": most, "words": []})).expect("no bit at all");
    assert_eq!((tall.rank(), wide.rank()), (0, 0));
    assert_eq!(tall.transpose().expect("no bit"), wide);
    assert!(tall.mul(&wide).is_err());
    assert!(wide.mul(&tall).expect("no bit").is_zero());
    assert!(wide.nullspace().is_err());
    assert_eq!(tall.nullspace().expect("no bit").rows(), 0);
    assert!(tall.inverse().is_err());
}
