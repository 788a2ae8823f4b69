//! Memory that releases and updates take, counted by the allocator.

mod support;

use sketch_testkit::{CountingAllocator, measure_thread};
use support::{entry, noise, raw, rho, shape};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_release_takes_one_buffer_of_the_size_of_the_sketch() {
    let sketch = raw(shape(5, 1 << 14), entry(1), []);
    let size = 8 * (5 << 14);
    // The table of the noise is made once for each variance.
    let warm = sketch.clone().release(rho(0.5), &mut noise(1));
    assert!(warm.is_ok());
    let mut generator = noise(2);
    let (private, taken) = measure_thread(|| sketch.release(rho(0.5), &mut generator));
    assert!(private.is_ok());
    assert!(taken.peak < size + size / 8, "{} bytes beside the sketch's {size}", taken.peak);
}

/// The hashes of a batch take as much memory as four rows.
#[test]
fn batches_take_a_buffer_that_depends_on_the_width_only() {
    let items: Vec<u64> = (0..1_000_000).collect();
    for (rows, width) in [(5, 1 << 12), (1, 1 << 16)] {
        let mut sketch = raw(shape(rows, width), entry(1), []);
        let (done, taken) = measure_thread(|| sketch.update_u64_batch(&items));
        assert!(done.is_ok() && taken.peak <= 4 * 8 * u64::from(width), "{} bytes for {width} cells", taken.peak);
    }
}
