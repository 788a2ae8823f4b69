//! The processor time of the running thread.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds that this thread has run so far.
#[expect(clippy::cast_precision_loss, reason = "a processor year in nanoseconds is below 2^55; a turn is far shorter")]
pub(crate) fn thread_nanoseconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds that `times` runs take.
pub(crate) fn time(times: u32, run: &mut dyn FnMut()) -> f64 {
    let begin = thread_nanoseconds();
    for _ in 0..times {
        run();
    }
    thread_nanoseconds() - begin
}
