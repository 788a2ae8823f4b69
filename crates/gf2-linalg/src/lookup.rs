//! The method of the Four Russians \[ADKF70\] on lines: a row is joined with any of 64 rows by 16 table look-ups.
//!
//! Each of 16 tables holds the sums of all subsets of 4 rows, so four bits of a selector word name an entry. Many
//! small tables serve better than a few large ones: all 16 take 16 KiB, so every look-up is served by the first-level
//! cache, which delivers about twice what the second does, and filling them costs 240 additions instead of 2048 for
//! tables of 8 rows. Memory traffic is what such methods are bound by \[ABH10\].

use multiversion::multiversion;

use crate::panel::Line;

/// Rows that one set of tables stands for.
pub(crate) const ROWS: usize = 64;

type Table = [Line; 16];

/// The sums of all subsets of every 4 of 64 rows.
#[derive(Clone, Debug)]
pub(crate) struct Tables([Table; 16]);

impl Tables {
    pub(crate) const EMPTY: Self = Self([[Line::ZERO; 16]; 16]);
}

/// Four bits of a selector.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a function of its own would be compiled without the caller's instructions")]
fn nibble(selector: u64, index: usize) -> usize {
    (selector >> (4 * index) & 15) as usize
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "a function of its own would be compiled without the caller's instructions")]
fn fill(table: &mut Table, rows: &[Line; 4]) {
    table[0] = Line::ZERO;
    for (bit, row) in rows.iter().enumerate() {
        let (done, next) = table.split_at_mut(1 << bit);
        for (sum, next) in done.iter().zip(next) {
            *next = *sum;
            next.add(row);
        }
    }
}

/// The tables of at most 64 rows; row `j` answers to bit `j` of a selector.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(crate) fn tabulate(rows: &[Line], tables: &mut Tables) {
    for (index, table) in tables.0.iter_mut().enumerate() {
        let four = core::array::from_fn(|bit| rows.get(4 * index + bit).copied().unwrap_or(Line::ZERO));
        fill(table, &four);
    }
}

/// `rows[i] += Σ_j selectors[i]_j · r_j`, where the `r_j` are the rows of the tables.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(crate) fn add_selected(tables: &Tables, selectors: &[u64], rows: &mut [Line]) {
    for (row, &selector) in rows.iter_mut().zip(selectors) {
        let mut sum = *row;
        for (index, table) in tables.0.iter().enumerate() {
            sum.add(&table[nibble(selector, index)]);
        }
        *row = sum;
    }
}

/// Solves with a unit lower triangular matrix from the left, and tabulates the solved rows.
///
/// Row `j` belongs to the `j`-th lowest bit of `pivots`; its selector has, at the pivots of earlier rows, how often
/// they are added to it. Only columns in `keep` are changed and tabulated.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(crate) fn solve_lower(pivots: u64, selectors: &[u64], rows: &mut [Line], keep: &Line, tables: &mut Tables) {
    let mut next = 0;
    for (index, table) in tables.0.iter_mut().enumerate() {
        let mut four = [Line::ZERO; 4];
        for bit in (0..4).filter(|bit| pivots >> (4 * index + bit) & 1 == 1) {
            for earlier in (0..bit).filter(|earlier| selectors[next] >> (4 * index + earlier) & 1 == 1) {
                rows[next].add(&four[earlier]);
            }
            four[bit] = rows[next].masked(keep);
            next += 1;
        }
        fill(table, &four);
        for (row, &selector) in rows[next..].iter_mut().zip(&selectors[next..]) {
            row.add(&table[nibble(selector, index)]);
        }
    }
}

/// Solves with a unit upper triangular matrix from the left, and tabulates the solved rows: as [`solve_lower`], with
/// later rows added to earlier ones.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(crate) fn solve_upper(pivots: u64, selectors: &[u64], rows: &mut [Line], tables: &mut Tables) {
    let mut end = rows.len();
    for (index, table) in tables.0.iter_mut().enumerate().rev() {
        let mut four = [Line::ZERO; 4];
        for bit in (0..4).rev().filter(|bit| pivots >> (4 * index + bit) & 1 == 1) {
            end -= 1;
            for later in (bit + 1..4).filter(|later| selectors[end] >> (4 * index + later) & 1 == 1) {
                rows[end].add(&four[later]);
            }
            four[bit] = rows[end];
        }
        fill(table, &four);
        for (row, &selector) in rows[..end].iter_mut().zip(selectors) {
            row.add(&table[nibble(selector, index)]);
        }
    }
}
