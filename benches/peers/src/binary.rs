//! Matrices over GF(2), and the counts of two bit sketches beside plain reading.

use std::error::Error;
use std::hint::black_box;

use gf2::BitStore as _;
use gf2_linalg::{BitMatrix, BitVector};
use multiversion::multiversion;

use crate::contest::Contest;
use crate::m4ri::M4ri;

/// Rows and columns.
pub(crate) const SIZE: usize = 4096;
/// Words of a sketch of 48 KiB.
const WORDS: usize = 48 * 1024 / 8;

/// Random bits from `SplitMix64`; the words of xorshift generators depend on each other linearly over GF(2).
fn bits(seed: u64, words: usize) -> Vec<u64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    std::iter::repeat_with(next).take(words).collect()
}

fn matrix(seed: u64) -> Result<BitMatrix, Box<dyn Error>> {
    Ok(BitMatrix::from_words(SIZE, SIZE, &bits(seed, SIZE * SIZE / 64))?)
}

fn add_m4ri<'a>(contest: &mut Contest<'a>, m4ri: Option<&'a M4ri>, name: &str, task: &'static str) {
    match m4ri {
        Some(m4ri) => contest.add_timed(name, move |repeats| m4ri.time(task, repeats)),
        None => contest.skip(name),
    }
}

/// Rank of a random matrix.
pub(crate) fn rank(m4ri: Option<&M4ri>) -> Result<Contest<'_>, Box<dyn Error>> {
    let mut contest = Contest::new(format!("GF(2), rank of {SIZE} x {SIZE} random bits"));
    let a = matrix(1 << 32)?;
    contest.add("gf2-linalg", move || black_box(&a).rank());
    add_m4ri(&mut contest, m4ri, "M4RI (C), mzd_echelonize_m4ri", "rank-m4ri");
    add_m4ri(&mut contest, m4ri, "M4RI (C), mzd_echelonize_pluq", "rank-pluq");
    let a = peer_matrix(1);
    contest.add("gf2 crate, to_echelon_form", move || black_box(&a).clone().to_echelon_form().count_ones());
    Ok(contest)
}

/// Product of two random matrices.
pub(crate) fn product(m4ri: Option<&M4ri>) -> Result<Contest<'_>, Box<dyn Error>> {
    let mut contest = Contest::new(format!("GF(2), product of {SIZE} x {SIZE}"));
    let (a, b) = (matrix(1 << 32)?, matrix(2 << 32)?);
    contest.add("gf2-linalg", move || black_box(&a).mul(black_box(&b)));
    add_m4ri(&mut contest, m4ri, "M4RI (C), mzd_mul", "product");
    Ok(contest)
}

/// Inverse of a matrix; theirs is random among the invertible ones, ours has the same size and work.
pub(crate) fn inverse(m4ri: Option<&M4ri>) -> Result<Contest<'_>, Box<dyn Error>> {
    let mut contest = Contest::new(format!("GF(2), inverse of {SIZE} x {SIZE}"));
    let mut candidates = (1..100).map(|seed| matrix(seed << 32));
    let invertible = loop {
        let candidate = candidates.next().ok_or("a hundred singular matrices")??;
        if candidate.rank() == SIZE {
            break candidate;
        }
    };
    contest.add("gf2-linalg", move || black_box(&invertible).inverse());
    add_m4ri(&mut contest, m4ri, "M4RI (C), mzd_inv_m4ri", "inverse");
    Ok(contest)
}

/// Rows and columns exchanged.
pub(crate) fn transpose(m4ri: Option<&M4ri>) -> Result<Contest<'_>, Box<dyn Error>> {
    let mut contest = Contest::new(format!("GF(2), transpose of {SIZE} x {SIZE}"));
    let a = matrix(1 << 32)?;
    contest.add("gf2-linalg", move || black_box(&a).transpose());
    add_m4ri(&mut contest, m4ri, "M4RI (C), mzd_transpose", "transpose");
    let a = peer_matrix(1);
    contest.add("gf2 crate", move || black_box(&a).transposed());
    Ok(contest)
}

/// A matrix times a vector.
pub(crate) fn vector(m4ri: Option<&M4ri>) -> Result<Contest<'_>, Box<dyn Error>> {
    let mut contest = Contest::new(format!("GF(2), {SIZE} x {SIZE} times a vector"));
    let (a, x) = (matrix(1 << 32)?, BitVector::from_words(bits(2 << 32, SIZE / 64), SIZE)?);
    contest.add("gf2-linalg", move || black_box(&a).mul_vec(black_box(&x)));
    add_m4ri(&mut contest, m4ri, "M4RI (C), mzd_mul", "vector");
    let (a, x) = (peer_matrix(1), gf2::BitVector::<usize>::random_seeded(SIZE, 2));
    contest.add("gf2 crate", move || black_box(&a).dot(black_box(&x)));
    Ok(contest)
}

fn peer_matrix(seed: u64) -> gf2::BitMatrix {
    gf2::BitMatrix::random_seeded(SIZE, SIZE, seed)
}

/// How many bits of two sketches differ, beside reading as much memory, which lies in the second-level cache.
pub(crate) fn sketches() -> Contest<'static> {
    let mut contest = Contest::new("GF(2), xor and popcount of two sketches of 48 KiB");
    let (a, b) = (bits(1 << 32, WORDS), bits(2 << 32, WORDS));
    let both = [a.clone(), b.clone()].concat();
    contest.add("gf2-linalg", move || gf2_linalg::xor_popcount(black_box(&a), black_box(&b)));
    contest.add("reading 96 KiB: the sum of all words", move || sum(black_box(&both)));
    contest
}

/// The sum of words by the widest loads, in as many independent sums as keep any processor's loads busy.
#[multiversion(targets("x86_64+avx2"))]
fn sum(words: &[u64]) -> u64 {
    let mut sums = [0_u64; 32];
    for chunk in words.chunks_exact(32) {
        sums.iter_mut().zip(chunk).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    sums.iter().fold(0, |sum, part| sum.wrapping_add(*part))
}
