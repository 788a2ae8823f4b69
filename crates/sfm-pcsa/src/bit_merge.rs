//! Merging arrays of noisy bits, cell by cell.
//!
//! Works on words of any bitmap; what the cells mean is not known here. Time may depend on the noisy bits, which whoever
//! merges has seen, never on true ones.

use dp_noise::NoiseSource;
use gf2_linalg::transpose64;

use crate::channel::{ChannelError, OrMerge};
use crate::coin::{Coins, Threshold};
use crate::double_double::DoubleDouble;
use crate::weight::{MAX_WORDS, lanes_by_weight};

/// Tables of thresholds are not longer, so they have at most 17 groups of inputs.
const MAX_TABLE: usize = 1 << 17;
const MAX_GROUPS: usize = 17;

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
    /// All inputs have one `p`: the threshold depends on the number of ones, the index.
    Weight(Vec<Threshold>),
    /// Two inputs: by the bits `t1 t2`.
    Pair([Threshold; 4]),
    /// The inputs fall in few groups of equal `p`: a one of input `i` moves the index by `strides[i]`.
    Table { strides: Vec<u32>, thresholds: Vec<Threshold> },
    /// Many different `p`: multiplied out for every cell.
    Product(&'a OrMerge),
}

impl<'a> Rule<'a> {
    fn new(merge: &'a OrMerge) -> Result<Self, ChannelError> {
        let factors = merge.factors();
        let groups = Groups::new(factors);
        if groups.sizes.len() == 1 && factors.len() <= MAX_WORDS {
            return Ok(Self::Weight(groups.thresholds(merge)?));
        }
        if let [first, second] = factors {
            let mut table = [Threshold::NEVER; 4];
            for (t, slot) in table.iter_mut().enumerate() {
                *slot = Threshold::from_probability(merge.probability(first[t >> 1] * second[t & 1])?)?;
            }
            return Ok(Self::Pair(table));
        }
        match groups.strides() {
            Some(strides) => Ok(Self::Table { strides, thresholds: groups.thresholds(merge)? }),
            None => Ok(Self::Product(merge)),
        }
    }

    /// The output of 64 cells; `column` holds the word of each input.
    fn draw<R: NoiseSource + ?Sized>(&self, column: &[u64], coins: &mut Coins<'_, R>) -> Result<u64, ChannelError> {
        match self {
            Self::Weight(thresholds) => Ok(draw_by_weight(thresholds, column, coins)),
            Self::Pair(table) => {
                let (x, y) = (column[0], column[1]);
                let masks = [!x & !y, !x & y, x & !y, x & y];
                let classes: [_; 4] = core::array::from_fn(|t| (masks[t], table[t]));
                Ok(coins.by_class(&classes))
            }
            Self::Table { strides, thresholds } => {
                let mut index = [0_u32; 64];
                for (word, stride) in column.iter().zip(strides) {
                    for (lane, slot) in index.iter_mut().enumerate() {
                        *slot += stride * u32::from(word >> lane & 1 == 1);
                    }
                }
                Ok(draw_lanes(&index.map(|class| thresholds[class as usize]), coins))
            }
            Self::Product(merge) => {
                let mut lanes = [Threshold::NEVER; 64];
                for (lane, slot) in lanes.iter_mut().enumerate() {
                    let x = column
                        .iter()
                        .zip(merge.factors())
                        .fold(DoubleDouble::ONE, |x, (word, factor)| x * factor[usize::from(word >> lane & 1 == 1)]);
                    *slot = Threshold::from_probability(merge.probability(x)?)?;
                }
                Ok(draw_lanes(&lanes, coins))
            }
        }
    }
}

/// Counts the ones of every lane and draws by the count.
fn draw_by_weight<R: NoiseSource + ?Sized>(thresholds: &[Threshold], column: &[u64], coins: &mut Coins<'_, R>) -> u64 {
    let lanes = lanes_by_weight(column);
    let mut classes = [(0, Threshold::NEVER); MAX_WORDS + 1];
    for ((class, mask), threshold) in classes.iter_mut().zip(lanes).zip(thresholds) {
        *class = (mask, *threshold);
    }
    coins.by_class(&classes[..thresholds.len()])
}

/// One bit a lane, every lane with its own threshold.
fn draw_lanes<R: NoiseSource + ?Sized>(lanes: &[Threshold; 64], coins: &mut Coins<'_, R>) -> u64 {
    let (mut certain, mut undecided) = (0, 0);
    let mut digits = [0; 64];
    for (lane, threshold) in lanes.iter().enumerate() {
        match threshold {
            Threshold::Always => certain |= 1 << lane,
            Threshold::Below(t) => {
                undecided |= u64::from(*t != 0) << lane;
                digits[lane] = *t;
            }
        }
    }
    transpose64(&mut digits);
    certain | coins.lanes(undecided, |k| digits[k as usize])
}

/// The inputs sorted into groups of equal factors.
struct Groups {
    /// Group of every input.
    of_input: Vec<usize>,
    /// The factors of each group, and how many inputs it has.
    sizes: Vec<([DoubleDouble; 2], usize)>,
}

impl Groups {
    fn new(factors: &[[DoubleDouble; 2]]) -> Self {
        let mut sizes: Vec<([DoubleDouble; 2], usize)> = Vec::new();
        let mut of_input = Vec::with_capacity(factors.len());
        for factor in factors {
            let found = sizes.iter().position(|(known, _)| known == factor);
            let group = found.unwrap_or(sizes.len());
            match sizes.get_mut(group) {
                Some((_, size)) => *size += 1,
                None => sizes.push((*factor, 1)),
            }
            of_input.push(group);
            if sizes.len() > MAX_GROUPS {
                break;
            }
        }
        Self { of_input, sizes }
    }

    /// Number of classes before each group, in mixed radix; `None` when a table would be too long.
    fn radix(&self) -> Option<Vec<u32>> {
        let mut stride = 1_usize;
        let mut strides = Vec::with_capacity(self.sizes.len());
        for (_, size) in &self.sizes {
            strides.push(u32::try_from(stride).ok()?);
            stride = stride.checked_mul(size + 1).filter(|&length| length <= MAX_TABLE)?;
        }
        Some(strides)
    }

    fn strides(&self) -> Option<Vec<u32>> {
        let radix = self.radix()?;
        Some(self.of_input.iter().map(|&group| radix[group]).collect())
    }

    /// The threshold of every class.
    fn thresholds(&self, merge: &OrMerge) -> Result<Vec<Threshold>, ChannelError> {
        let mut products = vec![DoubleDouble::ONE];
        for ([zero, set], size) in &self.sizes {
            // Weight of this group in the outer place: its stride is the number of classes so far.
            let powers = (0..=*size).map(|ones| power(*set, ones) * power(*zero, size - ones));
            products = powers.flat_map(|power| products.iter().map(move |x| *x * power).collect::<Vec<_>>()).collect();
        }
        products.into_iter().map(|x| Threshold::from_probability(merge.probability(x)?)).collect()
    }
}

/// A group has at most [`MAX_TABLE`] members.
fn power(base: DoubleDouble, exponent: usize) -> DoubleDouble {
    u32::try_from(exponent).map_or(DoubleDouble::ZERO, |exponent| base.powi(exponent))
}
