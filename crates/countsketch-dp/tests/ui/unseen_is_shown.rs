//! A sketch that still takes data behind its noise shows nothing and has no copy.

use countsketch_dp::NoisyCountSketch;

fn copied(unseen: &NoisyCountSketch) -> NoisyCountSketch {
    unseen.clone()
}

fn written(unseen: &NoisyCountSketch) {
    let _ = unseen.to_bytes();
    let _ = unseen.to_sensitive_bytes();
    let _ = unseen.all_cells();
}

fn main() {}
