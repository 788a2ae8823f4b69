//! Transposing bits.

/// Swaps rows and columns: bit `j` of word `i` becomes bit `i` of word `j`.
pub fn transpose64(block: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    while width > 0 {
        let mut row = 0;
        while row < 64 {
            let swap = ((block[row] >> width) ^ block[row + width]) & mask;
            block[row] ^= swap << width;
            block[row + width] ^= swap;
            row = (row + width + 1) & !width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// From a word a column to bits row after row: bit `row · columns.len() + c` of `out` is bit `row` of `columns[c]`.
///
/// Writes `rows · columns.len()` bits; the rest of the last word is zero.
pub fn columns_to_rows(columns: &[u64], rows: usize, out: &mut [u64]) {
    assert!(rows <= 64, "a column has 64 bits");
    assert_eq!(out.len(), (rows * columns.len()).div_ceil(64), "length of the output");
    out.fill(0);
    for (c, column) in columns.iter().enumerate() {
        for row in 0..rows {
            let at = row * columns.len() + c;
            out[at / 64] |= (column >> row & 1) << (at % 64);
        }
    }
}

/// The inverse of [`columns_to_rows`].
pub fn rows_to_columns(bits: &[u64], rows: usize, columns: &mut [u64]) {
    assert!(rows <= 64, "a column has 64 bits");
    assert_eq!(bits.len(), (rows * columns.len()).div_ceil(64), "length of the input");
    let width = columns.len();
    for (c, column) in columns.iter_mut().enumerate() {
        *column = 0;
        for row in 0..rows {
            let at = row * width + c;
            *column |= (bits[at / 64] >> (at % 64) & 1) << row;
        }
    }
}
