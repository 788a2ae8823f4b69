//! Frequencies: updates and point queries of 15 rows.

use std::error::Error;
use std::hint::black_box;

use countsketch_dp::sketch_hash::{DefaultHash, Item};
use countsketch_dp::{Combiner, ContributionBound, CountSketch, CountSketchShape};
use datasketches::countmin::CountMinSketch;
use dp_noise::{NoiseRng, Permit, Rho};

use crate::contest::Contest;
use crate::input;

const ROWS: u8 = 15;
/// Cells of a row: a sketch in the second cache, and one beyond it.
pub(crate) const WIDTHS: [u32; 2] = [1 << 12, 1 << 14];
/// Items of a run.
const ITEMS: usize = 1 << 14;

fn empty(width: u32) -> Result<CountSketch, Box<dyn Error>> {
    let shape = CountSketchShape::new(ROWS, width)?;
    Ok(CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY))
}

fn items() -> Vec<u64> {
    input::words(4, ITEMS).iter().map(|word| word >> 1).collect()
}

/// One more of each item.
pub(crate) fn updates(width: u32) -> Result<Contest<'static>, Box<dyn Error>> {
    let mut contest = Contest::per_item(format!("Frequencies, an update of {ROWS} x {width}, u64"), ITEMS);
    let (mut sketch, keys) = (empty(width)?, items());
    contest.add("countsketch-dp, keyed SipHash-1-3, batch", move || sketch.update_u64_batch(black_box(&keys)));
    let (mut sketch, keys) = (empty(width)?, items());
    contest.add("countsketch-dp, keyed SipHash-1-3, one by one", move || {
        black_box(&keys).iter().try_for_each(|&key| sketch.update_u64(key, 1))
    });
    let (mut sketch, hashes) = (empty(width)?, input::words(5, ITEMS));
    contest.add("countsketch-dp, hashes, batch", move || sketch.update_hashes(black_box(&hashes)));
    let (mut peer, keys) = (CountMinSketch::<i64>::new(ROWS, width)?, items());
    contest.add("datasketches Count-Min, Murmur3", move || black_box(&keys).iter().for_each(|key| peer.update(key)));
    bare_increments(&mut contest, width);
    Ok(contest)
}

/// As many increments as an update makes and nothing else: at cells read from a list, and at cells and with signs that a linear
/// congruential generator draws, a step for each.
fn bare_increments(contest: &mut Contest<'static>, width: u32) {
    let (table, columns) = (vec![0_i64; usize::from(ROWS) * width as usize], width as usize);
    let place = |word: &u64| u32::try_from(word % u64::from(width)).unwrap_or(0);
    let places: Vec<Vec<u32>> =
        (0..u64::from(ROWS)).map(|row| input::words(row + 5, ITEMS).iter().map(place).collect()).collect();
    let mut cells = table.clone();
    contest.add("bare increments at known random cells, row by row", move || {
        for (row, places) in cells.chunks_exact_mut(columns).zip(black_box(&places)) {
            for &place in places {
                row[place as usize] += 1;
            }
        }
    });
    let mut cells = table;
    contest.add("bare increments at random cells drawn by an LCG, row by row", move || {
        for (row, mut state) in cells.chunks_exact_mut(columns).zip(black_box(1_u64)..) {
            for _ in 0..ITEMS {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = ((state >> 32) * u64::from(width)) >> 32;
                row[usize::try_from(place).unwrap_or(usize::MAX)] += i64::from(state >> 31 & 1 == 0) * 2 - 1;
            }
        }
    });
}

/// The frequency of each item.
pub(crate) fn queries(width: u32, noise: &mut NoiseRng) -> Result<Contest<'static>, Box<dyn Error>> {
    let mut contest = Contest::per_item(format!("Frequencies, a query of {ROWS} x {width}, u64"), ITEMS);
    let (mut sketch, hash) = (empty(width)?, DefaultHash::default());
    sketch.update_u64_batch(&items())?;
    let private = sketch.release(Permit::standalone(Rho::new(0.1)?), noise)?;
    let (asked, mut values) = (items(), vec![0.0; ITEMS]);
    contest.add("countsketch-dp, private, median, batch", {
        let private = private.clone();
        let hash = hash.clone();
        move || {
            let reader = private.points(Combiner::Median);
            let keys: Vec<u64> = black_box(&asked).iter().map(|&item| Item::from(item).hash64(&hash)).collect();
            reader.values(&keys, black_box(&mut values));
        }
    });
    let asked = items();
    contest.add("countsketch-dp, private, median with interval", move || {
        let keys: Vec<u64> = black_box(&asked).iter().map(|&item| Item::from(item).hash64(&hash)).collect();
        private.frequencies(countsketch_dp::QueryOptions::default()).and_then(|answers| answers.estimate_all(&keys))
    });
    let (mut peer, asked) = (CountMinSketch::<i64>::new(ROWS, width)?, items());
    for item in &asked {
        peer.update(item);
    }
    contest.add("datasketches Count-Min, not private, minimum", move || {
        black_box(&asked).iter().map(|item| peer.estimate(item)).sum::<i64>()
    });
    Ok(contest)
}
