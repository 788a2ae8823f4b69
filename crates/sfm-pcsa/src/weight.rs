//! Counting, lane by lane, how many of several words have a one.

/// Up to so many words are counted.
pub(crate) const MAX_WORDS: usize = 15;

/// For each weight the lanes in which that many of `words` have a one; weights above `words.len()` are empty.
///
/// The counts are kept as four bit planes; each word is added to them with carries.
pub(crate) fn lanes_by_weight(words: &[u64]) -> [u64; MAX_WORDS + 1] {
    let mut planes = [0_u64; 4];
    for &word in words {
        let mut carry = word;
        for plane in &mut planes {
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }
    let [a, b, c, d] = planes;
    let low = [!a & !b, a & !b, !a & b, a & b];
    let high = [!c & !d, c & !d, !c & d, c & d];
    core::array::from_fn(|weight| low[weight & 3] & high[weight >> 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_counted_once_and_rightly() {
        // Lane l of word i is bit i of l, so lane l has as many ones as l has bits.
        let words: Vec<u64> = (0..6).map(|i| (0..64).fold(0, |word, lane| word | (lane >> i & 1) << lane)).collect();
        let lanes = lanes_by_weight(&words);
        for lane in 0..64_u64 {
            let found: Vec<usize> = (0..16).filter(|&weight| lanes[weight] >> lane & 1 == 1).collect();
            assert_eq!(found, [lane.count_ones() as usize]);
        }
    }

    #[test]
    fn fifteen_words_of_ones_have_weight_fifteen() {
        let lanes = lanes_by_weight(&[u64::MAX; MAX_WORDS]);
        assert_eq!(lanes[15], u64::MAX);
        assert!(lanes[..15].iter().all(|&mask| mask == 0));
    }
}
