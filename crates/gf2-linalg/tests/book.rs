//! The example of the book's chapter.

use std::error::Error;

// ANCHOR: example
use gf2_linalg::{BitMatrix, BitVector, HashColumns, Solution};

#[test]
fn example() -> Result<(), Box<dyn Error>> {
    // The parity checks of the [7, 4] Hamming code: column j is j + 1 in binary.
    let checks: BitMatrix = "1010101\n0110011\n0001111".parse()?;
    let code = checks.nullspace()?;
    assert_eq!((checks.rank(), code.rows()), (3, 4));

    // A word with one flipped bit: its syndrome is the column of that bit.
    let mut word = BitVector::from_bits(code.row(0).ok_or("no row")?)?;
    word.toggle(4)?;
    assert_eq!(checks.mul_vec(&word)?.to_string(), "101");

    // Every error with that syndrome: one of them, plus any code word.
    let Solution::Affine(errors) = checks.solve(&"101".parse()?)? else {
        return Err("three checks of seven bits".into());
    };
    assert_eq!((errors.dimension(), errors.particular().to_string().as_str()), (4, "1001000"));

    // A sketch of 64 cells, two of them for each item, is linear: items that come twice go away.
    let columns = HashColumns::new(64, |item: &u64| [(item % 61) as usize, (item % 53) as usize]);
    assert_eq!(columns.mul_sparse(&[5, 1000, 5])?, columns.mul_sparse(&[1000])?);
    Ok(())
}
// ANCHOR_END: example
