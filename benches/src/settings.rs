//! How long a benchmark is measured, and by which clock.

use std::time::Duration;

use crate::ThreadTime;

/// Criterion by processor time.
pub type Criterion = criterion::Criterion<ThreadTime>;
/// A group of its benchmarks.
pub type Group<'a> = criterion::BenchmarkGroup<'a, ThreadTime>;
/// What runs one of them.
pub type Bencher<'a> = criterion::Bencher<'a, ThreadTime>;

/// About a second a benchmark, so that all of them together take a few minutes; options of the command line win.
#[must_use]
pub fn quick() -> Criterion {
    criterion::Criterion::default()
        .with_measurement(ThreadTime)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(800))
        .sample_size(30)
        .nresamples(10_000)
}
