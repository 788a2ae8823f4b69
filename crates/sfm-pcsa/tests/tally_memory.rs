//! Bytes that tallies take, and that files which lie about their lengths make a reader allocate.

mod support;

use sfm_pcsa::{PcsaShape, SfmSketch, SfmTally, tally_of};
use sketch_testkit::{CountingAllocator, measure_thread, reseal};
use support::{noise, raw, released};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The tally of 32 empty releases of one channel.
fn tally() -> SfmTally {
    let mut coins = noise(41);
    let parts: Vec<SfmSketch> = (0..32).map(|_| released(raw(PcsaShape::DEFAULT, []), 2.0, &mut coins)).collect();
    tally_of(&parts.iter().collect::<Vec<_>>()).expect("different releases")
}

#[test]
fn six_planes_hold_the_cells_of_thirty_two_sketches() {
    let tally = tally();
    let planes = 6 * 4096 * 24 / 8;
    let releases = 32 * (46 + 4 * 24);
    let bytes = tally.to_bytes();
    assert_eq!(bytes.len(), 32 + 11 + (8 + 16) + 8 + 8 + releases + 8 + planes);
    let (copy, taken) = measure_thread(|| tally.clone());
    assert!(taken.peak <= (planes + 32 * 256) as u64, "{} bytes", taken.peak);
    assert_eq!(copy, tally);
    let (read, taken) = measure_thread(|| SfmTally::from_bytes_allowing_insecure_noise(&bytes));
    assert!(read.is_ok() && taken.peak <= 4 * bytes.len() as u64, "{} bytes", taken.peak);
}

#[test]
fn lengths_that_are_not_there_allocate_little() {
    let bytes = tally().to_bytes();
    let lists = [32 + 11, 32 + 11 + 24, 32 + 11 + 24 + 8 + 32 * 46, 32 + 11 + 24 + 8 + 32 * 46 + 8 + 32 * 96];
    for at in lists {
        for length in [1_u64 << 20, 1 << 30, 1 << 60, u64::MAX] {
            let mut forged = bytes.clone();
            forged[at..at + 8].copy_from_slice(&length.to_le_bytes());
            reseal(&mut forged);
            let (read, taken) = measure_thread(|| SfmTally::from_bytes_allowing_insecure_noise(&forged).is_err());
            // A list is given a mebibyte at most before its elements are read, and its elements twice their bytes.
            assert!(read && taken.peak <= (4 << 20), "{length} at {at}: {} bytes", taken.peak);
        }
    }
}
