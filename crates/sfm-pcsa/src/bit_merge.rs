//! Merging arrays of noisy bits, cell by cell.
//!
//! Works on words of any bitmap; what the cells mean is not known here. Time may depend on the noisy bits, which whoever
//! merges has seen, never on true ones.

use dp_noise::NoiseSource;
use gf2_linalg::transpose64;

use crate::channel::ChannelError;
use crate::coin::{Coins, Threshold};
use crate::double_double::DoubleDouble;
use crate::or_merge::OrMerge;
use crate::pair::PairRule;
use crate::weight::{MAX_WORDS, lanes_by_weight};

/// So many inputs share one table of products, with an entry for each pattern of their bits.
const CHUNK: usize = 12;

/// Draws the merge of `inputs`, `bits` cells in words of equal number; unused bits of the last word are zero.
pub(crate) fn merge_or<R: NoiseSource + ?Sized>(
    merge: &OrMerge,
    inputs: &[&[u64]],
    bits: usize,
    noise: &mut R,
) -> Result<Vec<u64>, ChannelError> {
    let rule = Rule::new(merge)?;
    let mut coins = Coins::new(noise);
    let mut out = Vec::with_capacity(bits.div_ceil(64));
    let mut column = vec![0; inputs.len()];
    for word in 0..bits.div_ceil(64) {
        for (slot, input) in column.iter_mut().zip(inputs) {
            *slot = input[word];
        }
        out.push(rule.draw(&column, &mut coins)?);
    }
    if let (Some(last), used @ 1..) = (out.last_mut(), bits % 64) {
        *last &= (1 << used) - 1;
    }
    Ok(out)
}

/// How the threshold of a cell follows from its noisy bits.
enum Rule<'a> {
    /// All inputs have one `p`: by the number of ones.
    Weight(Vec<Threshold>),
    /// Two inputs: by the bits `t1 t2`.
    Pair(PairRule),
    /// Few inputs: by the pattern of their bits, input `i` being bit `i`.
    Pattern(Vec<Threshold>),
    /// Many inputs: the product of one entry of each table, by the patterns of its inputs.
    Products { merge: &'a OrMerge, tables: Vec<Vec<DoubleDouble>> },
}

impl<'a> Rule<'a> {
    fn new(merge: &'a OrMerge) -> Result<Self, ChannelError> {
        let threshold = |x| Threshold::from_probability(merge.probability(x)?);
        let factors = merge.factors();
        let alike = factors.iter().all(|factor| factor == &factors[0]);
        match factors {
            [first, second] => {
                let mut table = [DoubleDouble::ZERO; 4];
                for (t, v) in table.iter_mut().enumerate() {
                    *v = merge.probability(first[t >> 1] * second[t & 1])?;
                }
                Ok(Self::Pair(PairRule::new(table)?))
            }
            [[zero, set], ..] if alike => {
                let weights = 0..=u32::try_from(factors.len()).unwrap_or(u32::MAX);
                let inputs = weights.clone().rev();
                let products = weights.zip(inputs).map(|(ones, zeros)| set.powi(ones) * zero.powi(zeros));
                Ok(Self::Weight(products.map(threshold).collect::<Result<_, _>>()?))
            }
            _ if factors.len() <= CHUNK => {
                let products = pattern_products(factors);
                Ok(Self::Pattern(products.into_iter().map(threshold).collect::<Result<_, _>>()?))
            }
            _ => Ok(Self::Products { merge, tables: factors.chunks(CHUNK).map(pattern_products).collect() }),
        }
    }

    /// The output of 64 cells; `column` holds the word of each input.
    fn draw<R: NoiseSource + ?Sized>(&self, column: &[u64], coins: &mut Coins<'_, R>) -> Result<u64, ChannelError> {
        match self {
            Self::Weight(thresholds) if column.len() <= MAX_WORDS => {
                let lanes = lanes_by_weight(column);
                let mut classes = [(0, Threshold::NEVER); MAX_WORDS + 1];
                for ((class, mask), threshold) in classes.iter_mut().zip(lanes).zip(thresholds) {
                    *class = (mask, *threshold);
                }
                Ok(coins.by_class(&classes[..thresholds.len()]))
            }
            Self::Weight(thresholds) => {
                let mut weights = [0; 64];
                for inputs in column.chunks(64) {
                    for (weight, pattern) in weights.iter_mut().zip(patterns(inputs)) {
                        *weight += pattern.count_ones() as usize;
                    }
                }
                Ok(draw_lanes(&weights.map(|weight| thresholds[weight]), coins))
            }
            Self::Pair(rule) => Ok(rule.draw_word(column[0], column[1], coins)),
            Self::Pattern(thresholds) => {
                let lanes = patterns(column).map(|pattern| thresholds[index(pattern)]);
                Ok(draw_lanes(&lanes, coins))
            }
            Self::Products { merge, tables } => {
                let mut products = [DoubleDouble::ONE; 64];
                for (inputs, table) in column.chunks(CHUNK).zip(tables) {
                    for (product, pattern) in products.iter_mut().zip(patterns(inputs)) {
                        *product = *product * table[index(pattern)];
                    }
                }
                let mut lanes = [Threshold::NEVER; 64];
                for (threshold, product) in lanes.iter_mut().zip(products) {
                    *threshold = Threshold::from_probability(merge.probability(product)?)?;
                }
                Ok(draw_lanes(&lanes, coins))
            }
        }
    }
}

/// The product of the factors for every pattern of bits, input `i` being bit `i`.
fn pattern_products(factors: &[[DoubleDouble; 2]]) -> Vec<DoubleDouble> {
    factors.iter().fold(vec![DoubleDouble::ONE], |products, &[zero, set]| {
        let with = |factor: DoubleDouble| products.iter().map(move |&product| product * factor);
        with(zero).chain(with(set)).collect()
    })
}

/// For each of 64 cells the bits of up to 64 inputs, input `i` being bit `i`.
fn patterns(inputs: &[u64]) -> [u64; 64] {
    let mut block = [0; 64];
    block[..inputs.len()].copy_from_slice(inputs);
    transpose64(&mut block);
    block
}

/// A pattern of at most [`CHUNK`] bits.
#[expect(clippy::cast_possible_truncation, reason = "a pattern has 12 bits at most")]
const fn index(pattern: u64) -> usize {
    pattern as usize
}

/// One bit a lane, every lane with its own threshold.
fn draw_lanes<R: NoiseSource + ?Sized>(lanes: &[Threshold; 64], coins: &mut Coins<'_, R>) -> u64 {
    let (mut certain, mut undecided) = (0, 0);
    let mut thresholds = [0; 64];
    for (lane, threshold) in lanes.iter().enumerate() {
        match threshold {
            Threshold::Always => certain |= 1 << lane,
            Threshold::Below(t) => {
                undecided |= u64::from(*t != 0) << lane;
                thresholds[lane] = *t;
            }
        }
    }
    let mut digits = thresholds;
    transpose64(&mut digits);
    certain | coins.lanes(undecided, |k| digits[k as usize], |lane| thresholds[lane as usize])
}
