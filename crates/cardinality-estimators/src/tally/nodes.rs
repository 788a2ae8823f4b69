//! Which numbers of holders a law of very many sketches has weights for.

/// The most weights of one law.
pub(crate) const MOST: usize = 64;

/// Numbers `1 ..= k`, all of them up to `most`; of more, a third from 1 on and the rest in even ratios up to `k`.
///
/// Noise blurs neighbours into each other, and a law moves its weights to those there are: with 16 nodes instead of all,
/// the maxima of both laws of 24 and 32 sketches moved by less than a fiftieth of their standard error. Without noise nothing
/// is blurred; very many noiseless sketches have not been measured.
pub(crate) fn nodes(k: usize, most: usize) -> Vec<usize> {
    if k <= most {
        return (1..=k).collect();
    }
    let dense = (most / 3).max(1);
    let rest = most.saturating_sub(dense).max(1);
    let (from, to) = (float(dense), float(k));
    let mut nodes: Vec<usize> = (1..=dense).collect();
    for step in 1..=rest {
        let node = whole(from * (to / from).powf(float(step) / float(rest))).clamp(1, k);
        if nodes.last().is_none_or(|&last| node > last) {
            nodes.push(node);
        }
    }
    if nodes.last().is_some_and(|&last| last < k) {
        nodes.push(k);
    }
    nodes
}

fn float(number: usize) -> f64 {
    crate::number::to_f64(number as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and the number of sketches")]
fn whole(number: f64) -> usize {
    number.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_rise_from_one_to_all() {
        for (k, most) in [(1, 64), (64, 64), (65, 64), (1023, 64), (32, 16), (31, 10), (500, 1), (2, 1)] {
            let nodes = nodes(k, most);
            assert!(nodes.len() <= most.max(2) + 1 && nodes.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!((nodes.first(), nodes.last()), (Some(&1), Some(&k)));
        }
    }
}
