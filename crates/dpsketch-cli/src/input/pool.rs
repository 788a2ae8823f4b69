//! Worker threads that fill one sketch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use arrow_array::ArrayRef;
use dpsketch::{DistinctBuilder, Error, ErrorKind};

use super::block::Block;
use super::csv::CsvLayout;
use super::lines;
use super::ndjson::JsonLayout;
use super::parquet::ParquetLayout;
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
pub(crate) struct Feeder<'a> {
    shared: &'a Shared,
    way: Way<'a>,
    sent: u64,
    checks: Vec<Check>,
}

/// Something that can be told only when all tasks are done.
type Check = Box<dyn FnOnce() -> Result<(), Error>>;

enum Way<'a> {
    /// Done at once, by this thread.
    Here(&'a mut DistinctBuilder),
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

impl<'a> Feeder<'a> {
    fn new(shared: &'a Shared, way: Way<'a>) -> Self {
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
            Way::Here(builder) => self.shared.run(task, builder),
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

/// Counts everything that `produce` sends, on `threads` threads beside the calling one, or on the calling one alone.
///
/// Every thread fills a sketch of its own, made by `empty`; put together they do not depend on who did what.
pub(crate) fn count(
    threads: usize,
    progress: &Progress,
    empty: impl Fn() -> DistinctBuilder,
    produce: impl FnOnce(&mut Feeder<'_>) -> Result<(), Error>,
) -> Result<DistinctBuilder, Error> {
    let shared = Shared {
        progress: progress.clone(),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
        spare: Mutex::new(Vec::new()),
    };
    let mut builder = empty();
    let (produced, checks) = if threads <= 1 {
        let mut feeder = Feeder::new(&shared, Way::Here(&mut builder));
        (produce(&mut feeder), feeder.finish())
    } else {
        count_apart(threads, &shared, &mut builder, empty, produce)?
    };
    if let Some((_, error)) = shared.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    produced?;
    checks.into_iter().try_for_each(|check| check())?;
    Ok(builder)
}

type Produced = (Result<(), Error>, Vec<Check>);

fn count_apart(
    threads: usize,
    shared: &Shared,
    builder: &mut DistinctBuilder,
    empty: impl Fn() -> DistinctBuilder,
    produce: impl FnOnce(&mut Feeder<'_>) -> Result<(), Error>,
) -> Result<Produced, Error> {
    let (sender, receiver) = sync_channel(threads * 2);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        let worker = |mut part: DistinctBuilder| {
            let receiver = &receiver;
            scope.spawn(move || {
                shared.work(receiver, &mut part);
                part
            })
        };
        let workers: Vec<_> = (0..threads).map(|_| worker(empty())).collect();
        let mut feeder = Feeder::new(shared, Way::ToWorkers(sender));
        let produced = produce(&mut feeder);
        let checks = feeder.finish();
        for worker in workers {
            let part = worker.join().map_err(|_| Error::new(ErrorKind::Internal, "a worker thread failed"))?;
            builder.absorb(&part)?;
        }
        Ok((produced, checks))
    })
}

impl Shared {
    fn work(&self, tasks: &Mutex<Receiver<(u64, Task)>>, builder: &mut DistinctBuilder) {
        loop {
            // Bound to a name: in a `while let` the lock would be held for the whole turn.
            let next = lock(tasks).recv();
            let Ok((number, task)) = next else { return };
            if self.stop.load(Ordering::Relaxed) {
                continue;
            }
            if let Err(error) = self.run(task, builder) {
                self.stop.store(true, Ordering::Relaxed);
                let mut failure = lock(&self.failure);
                if failure.as_ref().is_none_or(|(first, _)| number < *first) {
                    *failure = Some((number, error));
                }
            }
        }
    }

    fn run(&self, task: Task, builder: &mut DistinctBuilder) -> Result<(), Error> {
        match task {
            Task::Lines(name, block) => self.block(block, |block| lines::ingest(&name, block, builder)),
            Task::Csv(layout, block) => self.block(block, |block| layout.ingest(block, builder)),
            Task::Json(layout, block) => self.block(block, |block| layout.ingest(block, builder)),
            Task::RowGroup(layout, row_group, bytes) => {
                layout.ingest(row_group, builder)?;
                self.progress.advance(bytes);
                Ok(())
            }
            Task::Arrays(arrays) => builder.push_arrays(&arrays).map_err(|error| error.argument_or("--column")),
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
