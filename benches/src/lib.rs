//! Criterion benchmarks of the workspace, one file per layer in `benches/`.
