//! Seeded inputs, the same in every run.

/// `length` words of a xorshift64 generator started at `seed`, which is not 0.
#[must_use]
pub fn words(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| next()).collect()
}

/// `count` strings of `shortest` to `longest` bytes, of all lengths in between alike.
#[must_use]
pub fn strings(seed: u64, count: usize, shortest: usize, longest: usize) -> Vec<Vec<u8>> {
    let spread = longest - shortest + 1;
    let bytes: Vec<u8> = words(seed, count + longest.div_ceil(8)).iter().flat_map(|word| word.to_le_bytes()).collect();
    (0..count).map(|i| bytes[i * 8..i * 8 + shortest + (i * 5) % spread].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_every_length_asked_for() {
        let strings = strings(1, 100, 12, 20);
        let lengths: std::collections::BTreeSet<usize> = strings.iter().map(Vec::len).collect();
        assert_eq!(lengths, (12..=20).collect());
    }

    #[test]
    fn items_differ_from_each_other() {
        assert_eq!(words(7, 1000).into_iter().collect::<std::collections::BTreeSet<_>>().len(), 1000);
        assert_eq!(strings(7, 1000, 12, 20).into_iter().collect::<std::collections::BTreeSet<_>>().len(), 1000);
    }
}
