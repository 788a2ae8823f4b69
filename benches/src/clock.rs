//! The processor time of the running thread, as criterion measures by it.

use std::time::Duration;

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};

/// Measures the time that this thread has run, not the time that passed: waiting for a core that others share does not
/// count. Benchmarks are single-threaded, so it is all of their work.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadTime;

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock starts at 0 with the thread and counts nanoseconds up to a second.
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, begin: Duration) -> Duration {
        now().saturating_sub(begin)
    }

    fn add(&self, left: &Duration, right: &Duration) -> Duration {
        *left + *right
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// Times are told like those of the wall clock.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(&self, typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_throughputs(typical, throughput, values)
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_takes_no_processor_time() {
        let begin = ThreadTime.start();
        std::thread::sleep(Duration::from_millis(50));
        assert!(ThreadTime.end(begin) < Duration::from_millis(40));
    }

    #[test]
    fn work_does() {
        let begin = ThreadTime.start();
        std::hint::black_box((0..1_000_000_u64).fold(0, |sum, x| std::hint::black_box(sum ^ x)));
        assert!(ThreadTime.end(begin) > Duration::ZERO);
    }
}
