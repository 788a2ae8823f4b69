//! What has been released takes no data: neither records nor raw sketches.

use countsketch_dp::{CountSketch, PrivateCountSketch};

fn update(mut private: PrivateCountSketch) {
    let _ = private.update(b"alice", 1);
}

fn merge(private: &PrivateCountSketch, raw: &CountSketch) {
    let _ = private.merge(raw);
}

fn main() {}
