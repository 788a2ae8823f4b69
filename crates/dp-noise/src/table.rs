//! Exact sampling by inversion of a table, 31 random bits at a time and more where those do not decide.
//!
//! Let `F(j) = P[X <= j]` for a law on the non-negative integers, and `R` a uniform real number in `0 .. 1`, known by as
//! many of its binary digits as were drawn. The least `j` with `R < F(j)` has exactly the law. The tables hold true
//! prefixes of the `F(j)`, so a comparison that the prefixes decide is final; one that they leave open goes on with
//! further random digits and, in the end, with `F(j)` computed anew to as many digits as it takes.

mod cache;
mod deep;
mod law;

pub(crate) use cache::table_for;
pub(crate) use deep::RandomFraction;
pub(crate) use law::{Family, Law};

use zeroize::Zeroizing;

use crate::{NoiseSource, SampleError};

/// Random bits that the first look-up uses; with a sign they are half a word.
const HOT_BITS: u32 = 31;
/// The leading bits of them that the guide is indexed by.
const GUIDE_BITS: u32 = 10;
/// Words of noise drawn at a time, each good for two draws.
const BLOCK: usize = 128;
/// 64-bit limbs with which the table is computed: 192 binary digits, of which it keeps 64.
const BUILD_LIMBS: usize = 4;

/// The table of one law.
pub(crate) struct Table {
    law: Law,
    /// For each value of the leading bits, the first `j` that can be the answer.
    guide: Box<[u32]>,
    /// The first 31 digits of each `F(j)` up to the first that is all ones.
    hot: Box<[u32]>,
    /// The first 64 digits of each `F(j)`; the last entry is all ones.
    cold: Box<[u64]>,
}

impl Table {
    /// Computes the table: all `j` up to the first with `F(j)` within `2⁻⁶⁴` of 1.
    pub(crate) fn new(law: Law) -> Result<Self, SampleError> {
        let mut cold = Vec::new();
        for bounds in law.cumulative::<BUILD_LIMBS>() {
            let digits = match (bounds.low.first_word(), bounds.high.first_word()) {
                (low, high) if low == high => low,
                _ => deep::first_word(law, cold.len())?,
            };
            cold.push(digits);
            if digits == u64::MAX {
                break;
            }
        }
        Ok(Self::from_digits(law, cold))
    }

    fn from_digits(law: Law, cold: Vec<u64>) -> Self {
        let ends = cold.partition_point(|&digits| top_bits(digits, HOT_BITS) < u32::MAX >> 1) + 1;
        let hot: Box<[u32]> = cold.iter().take(ends).map(|&digits| top_bits(digits, HOT_BITS)).collect();
        let mut guide = Vec::with_capacity(1 << GUIDE_BITS);
        let mut first = 0;
        for leading in 0..1_u32 << GUIDE_BITS {
            let least = leading << (HOT_BITS - GUIDE_BITS);
            first += hot[first..].iter().take_while(|&&digits| digits < least).count();
            guide.push(u32::try_from(first).unwrap_or(u32::MAX));
        }
        Self { law, guide: guide.into(), hot, cold: cold.into() }
    }

    /// How many values the table holds.
    pub(crate) fn len(&self) -> usize {
        self.cold.len()
    }

    /// Bytes that the table takes.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        4 * (self.guide.len() + self.hot.len()) + 8 * self.cold.len()
    }

    /// The first 64 binary digits of each `F(j)`.
    pub(crate) fn digits(&self) -> &[u64] {
        &self.cold
    }

    /// The draw that `half`, of which the top bit is not looked at, and what follows it decide.
    #[inline]
    pub(crate) fn invert<R: NoiseSource + ?Sized>(&self, half: u32, noise: &mut R) -> Result<u64, SampleError> {
        let bits = half & (u32::MAX >> 1);
        // The last entry is all ones, so the search ends there at the latest.
        let mut j = self.guide[(bits >> (HOT_BITS - GUIDE_BITS)) as usize] as usize;
        while self.hot[j] < bits {
            j += 1;
        }
        if self.hot[j] == bits { self.undecided(j, bits, noise) } else { Ok(j as u64) }
    }

    /// The draw when the first bits equal those of an entry.
    #[cold]
    fn undecided<R: NoiseSource + ?Sized>(&self, from: usize, bits: u32, noise: &mut R) -> Result<u64, SampleError> {
        self.search(from, RandomFraction::starting_with(u64::from(bits), HOT_BITS, noise), noise)
    }

    /// The draw that `count` random digits, fewer than 64, and what follows them decide.
    #[cold]
    pub(crate) fn decide<R: NoiseSource + ?Sized>(
        &self,
        digits: u64,
        count: u32,
        noise: &mut R,
    ) -> Result<u64, SampleError> {
        self.search(0, RandomFraction::starting_with(digits, count, noise), noise)
    }

    /// The least `j`, not below `from`, of which `F(j)` exceeds the number.
    fn search<R: NoiseSource + ?Sized>(
        &self,
        from: usize,
        mut number: RandomFraction,
        noise: &mut R,
    ) -> Result<u64, SampleError> {
        let mut j = from;
        while self.cold[j] < number.first() {
            // Not the last entry, which is all ones.
            j += 1;
        }
        if self.cold[j] > number.first() { Ok(j as u64) } else { deep::invert(self.law, j, &mut number, noise) }
    }

    /// Fills `out` with draws of the law with a random sign; zero keeps its mass, whatever the sign.
    pub(crate) fn fill_signed<R: NoiseSource + ?Sized>(
        &self,
        noise: &mut R,
        out: &mut [i64],
    ) -> Result<(), SampleError> {
        let mut words = Zeroizing::new([0_u64; BLOCK]);
        for block in out.chunks_mut(2 * BLOCK) {
            let words = &mut words[..block.len().div_ceil(2)];
            noise.fill_words(words);
            for (pair, word) in block.chunks_mut(2).zip(words.iter()) {
                for (place, half) in pair.iter_mut().zip(halves(*word)) {
                    *place = with_sign(half >> 31 == 1, self.invert(half, noise)?);
                }
            }
        }
        Ok(())
    }
}

impl core::fmt::Debug for Table {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Table").field("law", &self.law).field("entries", &self.len()).finish_non_exhaustive()
    }
}

/// The magnitude, negated without a branch where `negative`.
#[inline]
pub(crate) fn with_sign(negative: bool, magnitude: u64) -> i64 {
    let mask = -i64::from(negative);
    (magnitude.cast_signed() ^ mask) - mask
}

/// The high and the low half of a word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "taking the two halves of a word is the point")]
pub(crate) fn halves(word: u64) -> [u32; 2] {
    [(word >> 32) as u32, word as u32]
}

/// The leading `bits` of a word, at most 32.
#[expect(clippy::cast_possible_truncation, reason = "at most 32 bits are left")]
fn top_bits(word: u64, bits: u32) -> u32 {
    (word >> (64 - bits)) as u32
}

#[cfg(test)]
mod tests;
