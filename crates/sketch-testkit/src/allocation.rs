//! An allocator that counts, for tests of how much memory something takes.
#![expect(
    unsafe_code,
    reason = "GlobalAlloc is an unsafe trait; every call is passed on to the system's allocator as it came"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    hint::black_box,
    sync::atomic::{AtomicIsize, AtomicU64, Ordering::Relaxed},
};

/// The system's allocator, counting. Install it in the test binary that measures:
///
/// ```
/// use sketch_testkit::{CountingAllocator, measure_thread};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let (list, taken) = measure_thread(|| vec![0_u8; 4096]);
/// assert_eq!((taken.count, taken.bytes, taken.peak), (1, 4096, 4096));
/// drop(list);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CountingAllocator;

/// What was allocated while something ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocations {
    /// Calls that gave memory: new blocks and resized ones.
    pub count: u64,
    /// Bytes given in all, freed ones too. A resized block counts by its growth.
    pub bytes: u64,
    /// The most bytes held at a time, beyond those held at the start.
    pub peak: u64,
}

/// Counters of a thread.
#[derive(Clone, Copy)]
struct Local {
    count: u64,
    bytes: u64,
    live: isize,
    peak: isize,
}

thread_local! {
    static LOCAL: Cell<Local> = const { Cell::new(Local { count: 0, bytes: 0, live: 0, peak: 0 }) };
}

static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// Books a change of `delta` bytes; `call` is 1 for calls that give memory.
fn book(delta: isize, call: u64) {
    let grown = u64::try_from(delta).unwrap_or(0);
    COUNT.fetch_add(call, Relaxed);
    BYTES.fetch_add(grown, Relaxed);
    let live = LIVE.fetch_add(delta, Relaxed) + delta;
    PEAK.fetch_max(live, Relaxed);
    // A thread that is ending has no counters left: the process still has.
    let _ = LOCAL.try_with(|cell| {
        let local = cell.get();
        let live = local.live + delta;
        cell.set(Local { count: local.count + call, bytes: local.bytes + grown, live, peak: local.peak.max(live) });
    });
}

/// Layouts are at most `isize::MAX` bytes long.
fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

// SAFETY: every method hands its arguments to `System` unchanged and returns what it gives; counting does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        book(signed(layout.size()), 1);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        book(signed(layout.size()), 1);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        book(-signed(layout.size()), 0);
        // SAFETY: `pointer` came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        book(signed(size) - signed(layout.size()), 1);
        // SAFETY: `pointer` came from `System` with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What the current thread allocates while `run` runs.
///
/// # Panics
/// When [`CountingAllocator`] is not the global allocator.
pub fn measure_thread<T>(run: impl FnOnce() -> T) -> (T, Allocations) {
    assert_installed();
    let start = LOCAL.get();
    LOCAL.set(Local { peak: start.live, ..start });
    let result = run();
    let end = LOCAL.get();
    LOCAL.set(Local { peak: start.peak.max(end.peak), ..end });
    (result, report(end.count - start.count, end.bytes - start.bytes, end.peak - start.live))
}

/// What all threads allocate while `run` runs. Tests that use it must not run beside others.
///
/// # Panics
/// When [`CountingAllocator`] is not the global allocator.
pub fn measure_process<T>(run: impl FnOnce() -> T) -> (T, Allocations) {
    assert_installed();
    let (count, bytes, live) = (COUNT.load(Relaxed), BYTES.load(Relaxed), LIVE.load(Relaxed));
    PEAK.store(live, Relaxed);
    let result = run();
    (result, report(COUNT.load(Relaxed) - count, BYTES.load(Relaxed) - bytes, PEAK.load(Relaxed) - live))
}

fn report(count: u64, bytes: u64, peak: isize) -> Allocations {
    Allocations { count, bytes, peak: u64::try_from(peak).unwrap_or(0) }
}

fn assert_installed() {
    let before = LOCAL.get().count;
    drop(black_box(Box::new(0_u8)));
    assert!(LOCAL.get().count > before, "CountingAllocator is not this binary's #[global_allocator]");
}
