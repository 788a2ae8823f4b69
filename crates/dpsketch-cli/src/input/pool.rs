//! Worker threads that fill one sketch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use arrow_array::ArrayRef;
use dpsketch::{Error, ErrorKind};

use super::block::Block;
use super::csv::CsvLayout;
use super::lines;
use super::ndjson::JsonLayout;
use super::parquet::ParquetLayout;
use super::sink::RowSink;
use crate::progress::Progress;

/// A piece of the data that can be counted apart from the rest.
pub(crate) enum Task {
    Lines(Arc<str>, Block),
    Csv(Arc<CsvLayout>, Block),
    Json(Arc<JsonLayout>, Block),
    /// A row group, and how much of the file it stands for.
    RowGroup(Arc<ParquetLayout>, usize, u64),
    Arrays(Vec<ArrayRef>),
}

/// Takes tasks from the thread that reads the inputs.
pub(crate) struct Feeder<'a, S> {
    shared: &'a Shared,
    way: Way<'a, S>,
    sent: u64,
    checks: Vec<Check>,
}

/// Something that can be told only when all tasks are done.
type Check = Box<dyn FnOnce() -> Result<(), Error>>;

enum Way<'a, S> {
    /// Done at once, by this thread.
    Here(&'a mut S),
    ToWorkers(SyncSender<(u64, Task)>),
}

struct Shared {
    progress: Progress,
    stop: AtomicBool,
    /// The first failure, by the order of the tasks.
    failure: Mutex<Option<(u64, Error)>>,
    /// Memory of blocks that were done, to be used again.
    spare: Mutex<Vec<Vec<u8>>>,
}

impl<'a, S: RowSink> Feeder<'a, S> {
    fn new(shared: &'a Shared, way: Way<'a, S>) -> Self {
        Self { shared, way, sent: 0, checks: Vec::new() }
    }

    /// Has `check` made when all tasks are done.
    pub(crate) fn check_at_end(&mut self, check: impl FnOnce() -> Result<(), Error> + 'static) {
        self.checks.push(Box::new(check));
    }

    /// What is left to do once no more tasks come. Gives up the way to the workers, so that they end.
    fn finish(self) -> Vec<Check> {
        self.checks
    }

    /// Memory for a block.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        lock(&self.shared.spare).pop().unwrap_or_default()
    }

    /// Gives a task to whoever is free.
    pub(crate) fn send(&mut self, task: Task) -> Result<(), Error> {
        self.sent += 1;
        match &mut self.way {
            Way::Here(sink) => self.shared.run(task, *sink),
            Way::ToWorkers(sender) => {
                let delivered = sender.send((self.sent, task)).is_ok();
                if delivered && !self.shared.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                // The failure itself is found by `count`, which prefers it to this one.
                Err(Error::new(ErrorKind::Internal, "a worker stopped"))
            }
        }
    }
}

/// Counts everything that `produce` sends, on `threads` threads beside the calling one, on as many of them as the system
/// gives, or on the calling one alone.
///
/// Every thread fills a sketch of its own, made by `empty`; put together they do not depend on who did what.
pub(crate) fn count<S: RowSink>(
    threads: usize,
    progress: &Progress,
    mut empty: impl FnMut() -> Result<S, Error>,
    produce: impl FnOnce(&mut Feeder<'_, S>) -> Result<(), Error>,
) -> Result<S, Error> {
    let shared = Shared {
        progress: progress.clone(),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
        spare: Mutex::new(Vec::new()),
    };
    let mut sink = empty()?;
    let (produced, checks) = if threads <= 1 {
        let mut feeder = Feeder::new(&shared, Way::Here(&mut sink));
        (produce(&mut feeder), feeder.finish())
    } else {
        count_apart(threads, &shared, &mut sink, empty, produce)?
    };
    if let Some((_, error)) = shared.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    produced?;
    checks.into_iter().try_for_each(|check| check())?;
    Ok(sink)
}

type Produced = (Result<(), Error>, Vec<Check>);

fn count_apart<S: RowSink>(
    threads: usize,
    shared: &Shared,
    sink: &mut S,
    mut empty: impl FnMut() -> Result<S, Error>,
    produce: impl FnOnce(&mut Feeder<'_, S>) -> Result<(), Error>,
) -> Result<Produced, Error> {
    let parts: Vec<S> = (0..threads).map(|_| empty()).collect::<Result<_, _>>()?;
    let (sender, receiver) = sync_channel(threads * 2);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        let start = |mut part: S| {
            let receiver = &receiver;
            let work = move || {
                shared.work(receiver, &mut part);
                part
            };
            thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        // A system that has no room for more threads is served by those that it gave.
        let workers: Vec<_> = parts.into_iter().map_while(start).collect();
        let way = if workers.is_empty() { Way::Here(&mut *sink) } else { Way::ToWorkers(sender) };
        let mut feeder = Feeder::new(shared, way);
        let produced = produce(&mut feeder);
        let checks = feeder.finish();
        for worker in workers {
            let part = worker.join().map_err(|_| Error::new(ErrorKind::Internal, "a worker thread failed"))?;
            // What is left of a failed count is of no use, and `count` tells the failure.
            if !shared.stop.load(Ordering::Relaxed) {
                sink.absorb(part)?;
            }
        }
        Ok((produced, checks))
    })
}

impl Shared {
    fn work(&self, tasks: &Mutex<Receiver<(u64, Task)>>, sink: &mut impl RowSink) {
        loop {
            // Bound to a name: in a `while let` the lock would be held for the whole turn.
            let next = lock(tasks).recv();
            let Ok((number, task)) = next else { return };
            if self.stop.load(Ordering::Relaxed) {
                continue;
            }
            if let Err(error) = self.run(task, sink) {
                self.stop.store(true, Ordering::Relaxed);
                let mut failure = lock(&self.failure);
                if failure.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failure = Some((number, error));
                }
            }
        }
    }

    fn run(&self, task: Task, sink: &mut impl RowSink) -> Result<(), Error> {
        match task {
            Task::Lines(name, block) => self.block(block, |block| lines::ingest(&name, block, sink)),
            Task::Csv(layout, block) => self.block(block, |block| layout.ingest(block, sink)),
            Task::Json(layout, block) => self.block(block, |block| layout.ingest(block, sink)),
            Task::RowGroup(layout, row_group, bytes) => {
                layout.ingest(row_group, sink)?;
                self.progress.advance(bytes);
                Ok(())
            }
            Task::Arrays(arrays) => sink.push_arrays(&arrays),
        }
    }

    fn block(&self, block: Block, ingest: impl FnOnce(&Block) -> Result<(), Error>) -> Result<(), Error> {
        ingest(&block)?;
        lock(&self.spare).push(block.bytes);
        Ok(())
    }
}

/// A lock whose data stays usable when another thread died: that thread's failure is reported by itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
