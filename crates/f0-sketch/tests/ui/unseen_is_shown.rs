//! A look at a sketch that nobody may have seen.

use f0_sketch::{F0Sketch, UnseenF0Sketch};

fn shown(unseen: &UnseenF0Sketch) {
    let _ = unseen.to_bytes();
    let _ = unseen.ones_per_table();
    let _: UnseenF0Sketch = unseen.clone();
}

fn used_after_publication(mut unseen: UnseenF0Sketch, raw: F0Sketch) {
    let _ = unseen.publish();
    let _ = unseen.absorb(raw);
}

fn main() {}
