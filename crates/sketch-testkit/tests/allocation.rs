//! The counting allocator. One test, since it measures the whole process too.

use sketch_testkit::{CountingAllocator, measure_process, measure_thread};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn counts_peaks_and_threads_are_kept_apart() {
    let ((), nothing) = measure_thread(|| ());
    assert_eq!((nothing.count, nothing.bytes, nothing.peak), (0, 0, 0));

    // Two blocks one after the other: the total is their sum, the peak the larger one.
    let ((), one_by_one) = measure_thread(|| {
        drop(vec![1_u8; 1000]);
        drop(vec![1_u8; 3000]);
    });
    assert_eq!((one_by_one.count, one_by_one.bytes, one_by_one.peak), (2, 4000, 3000));

    // A block that grows counts by its growth.
    let (block, grown) = measure_thread(|| {
        let mut block = Vec::<u8>::with_capacity(100);
        block.reserve_exact(500);
        block
    });
    assert_eq!((grown.count, grown.bytes, grown.peak), (2, 500, 500));

    // A block given back inside that was taken outside does not lower the peak of what is taken inside.
    let ((), after) = measure_thread(|| {
        drop(vec![1_u8; 200]);
        drop(block);
    });
    assert_eq!((after.bytes, after.peak), (200, 200));

    let work = || std::thread::scope(|scope| scope.spawn(|| vec![1_u8; 1 << 20].len()).join().expect("no panic"));
    let (length, everywhere) = measure_process(work);
    assert_eq!(length, 1 << 20);
    assert!(everywhere.peak >= 1 << 20);
    let (_, here) = measure_thread(work);
    assert!(here.peak < 1 << 20);
}
