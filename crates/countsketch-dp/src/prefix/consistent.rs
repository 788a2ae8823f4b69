//! Levels that agree: weighted least squares over the tree of prefixes.

use crate::prefix::PrefixLayout;

/// A prefix with its estimate and the variance of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) prefix: u64,
    pub(super) value: f64,
    pub(super) variance: f64,
}

/// The last level after adjustment, by rising prefix.
///
/// Minimises `Σ (h_v − y_v)²/s_v` over all prefixes `v` with estimates `y_v` of variance `s_v`, such that each prefix
/// that was expanded is the sum of its children \[HRMS10\]. Two passes: upwards every prefix joins its own estimate
/// with the sum of its children's by inverse variance; downwards the children share out what is missing to their parent, in
/// proportion to their variances.
///
/// `tree` holds the prefixes of every level by rising prefix; of an expanded one all children are there.
pub(super) fn adjust(tree: &[Vec<Node>], layout: &PrefixLayout) -> Vec<Node> {
    let mut joined: Vec<Vec<Node>> = tree.to_vec();
    for level in (1..joined.len()).rev() {
        let (above, below) = joined.split_at_mut(level);
        let Some(parents) = above.last_mut() else { break };
        for_families(parents, &mut below[0], layout.step(level), join);
    }
    for level in 1..joined.len() {
        let (above, below) = joined.split_at_mut(level);
        let Some(parents) = above.last_mut() else { break };
        for_families(parents, &mut below[0], layout.step(level), share);
    }
    joined.pop().unwrap_or_default()
}

/// Calls `f` with every parent that has children.
fn for_families(parents: &mut [Node], children: &mut [Node], step: u8, f: impl Fn(&mut Node, &mut [Node])) {
    let mut rest = children;
    for parent in parents {
        let size = rest.iter().take_while(|child| child.prefix >> step == parent.prefix).count();
        let (family, others) = rest.split_at_mut(size);
        rest = others;
        if !family.is_empty() {
            f(parent, family);
        }
    }
}

fn sums(children: &[Node]) -> (f64, f64) {
    children.iter().fold((0.0, 0.0), |(value, variance), child| (value + child.value, variance + child.variance))
}

fn join(parent: &mut Node, children: &mut [Node]) {
    let (value, variance) = sums(children);
    let (own, theirs) = (parent.variance.recip(), variance.recip());
    parent.value = (parent.value * own + value * theirs) / (own + theirs);
    parent.variance = (own + theirs).recip();
}

fn share(parent: &mut Node, children: &mut [Node]) {
    let (value, variance) = sums(children);
    let missing = (parent.value - value) / variance;
    for child in children {
        child.value += missing * child.variance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CountSketchShape;

    /// Two levels below the first, of 1 bit each; only prefix 1 was expanded the second time.
    fn example() -> (Vec<Vec<Node>>, PrefixLayout) {
        let node = |prefix, value, variance| Node { prefix, value, variance };
        let tree = vec![
            vec![node(0, 9.0, 2.0), node(1, 22.0, 1.0)],
            vec![node(0, 4.0, 3.0), node(1, 3.0, 3.0), node(2, 8.0, 2.0), node(3, 11.0, 4.0)],
            vec![node(4, 1.0, 5.0), node(5, 9.0, 6.0)],
        ];
        let shape = CountSketchShape::new(1, 2).unwrap();
        (tree, PrefixLayout::with_lengths(vec![1, 2, 3], shape).unwrap())
    }

    /// Leaves of the tree are free; every prefix is the sum of the leaves below it. At the minimum the derivative by
    /// each leaf is 0: `Σ (h_v − y_v)/s_v = 0` over the prefixes v of the leaf.
    #[test]
    fn the_normal_equations_hold() {
        let (tree, layout) = example();
        let last = adjust(&tree, &layout);
        let [four, five] = [last[0].value, last[1].value];
        let middle = adjust(&tree[..2], &layout);
        // Prefixes 0 and 1 of the second level know nothing of the third.
        let (zero, one) = (middle[0].value, middle[1].value);
        // Prefix 2 is four + five; the rest is prefix 3, from its own equation.
        let two = four + five;
        let residual = |h: f64, node: Node| (h - node.value) / node.variance;
        let rest = {
            // (rest − 11)/4 + (two + rest − 22)/1 = 0.
            (11.0 / 4.0 + 22.0 - two) / (1.0 / 4.0 + 1.0)
        };
        let top = two + rest;
        for (leaf, node) in [(four, tree[2][0]), (five, tree[2][1])] {
            let gradient = residual(leaf, node) + residual(two, tree[1][2]) + residual(top, tree[0][1]);
            assert!(gradient.abs() < 1e-12, "{gradient}");
        }
        for (leaf, node) in [(zero, tree[1][0]), (one, tree[1][1])] {
            let gradient = residual(leaf, node) + residual(zero + one, tree[0][0]);
            assert!(gradient.abs() < 1e-12, "{gradient}");
        }
    }

    #[test]
    fn levels_that_agree_stay_as_they_are() {
        let (mut tree, layout) = example();
        tree[0] = vec![Node { value: 7.0, ..tree[0][0] }, Node { value: 21.0, ..tree[0][1] }];
        tree[1][2].value = 10.0;
        let last = adjust(&tree, &layout);
        assert!((last[0].value - 1.0).abs() < 1e-12 && (last[1].value - 9.0).abs() < 1e-12);
    }
}
