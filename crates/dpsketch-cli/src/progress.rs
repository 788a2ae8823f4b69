//! The progress bar.

use std::io::{self, IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much of the inputs was read. A bar appears on standard error, if that is a terminal, after [`PATIENCE`].
#[derive(Clone, Debug)]
pub(crate) struct Progress(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bar: ProgressBar,
    start: Instant,
    /// Whether the bar may appear and has not yet.
    waiting: AtomicBool,
}

impl Progress {
    /// A bar for inputs of `total` bytes; `None` where nobody knows, as for a pipe.
    pub(crate) fn new(total: Option<u64>, quiet: bool) -> Self {
        let bar = match total {
            Some(total) => ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        let template = match total {
            Some(_) => "{bar:30} {percent:>3} % {binary_bytes_per_sec} {eta} left",
            None => "{spinner} {binary_bytes} {binary_bytes_per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let waiting = AtomicBool::new(!quiet && io::stderr().is_terminal());
        Self(Arc::new(Inner { bar, start: Instant::now(), waiting }))
    }

    /// Notes that `bytes` more were read.
    pub(crate) fn advance(&self, bytes: u64) {
        let inner = &self.0;
        inner.bar.inc(bytes);
        if inner.waiting.load(Ordering::Relaxed) && inner.start.elapsed() > PATIENCE {
            inner.waiting.store(false, Ordering::Relaxed);
            inner.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// A reader that tells this bar what was read.
    pub(crate) fn metered(&self, reader: impl Read + 'static) -> impl Read + 'static {
        Metered { reader, progress: self.clone() }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.0.bar.finish_and_clear();
    }
}

struct Metered<R> {
    reader: R,
    progress: Progress,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
