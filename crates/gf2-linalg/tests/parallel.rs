//! Work on several threads gives what one thread gives.

#![cfg(feature = "rayon")]

mod support;

use rayon::ThreadPoolBuilder;
use support::{of_rank, scrambled};

#[test]
fn the_number_of_threads_changes_nothing() {
    let (a, b) = (scrambled(2500, 1300, 8, 1), scrambled(1300, 1700, 8, 2));
    let deficient = of_rank(1400, 2100, 900, 3);
    let square = scrambled(1100, 1100, 8, 4);
    let all = || {
        let products = a.mul(&b).expect("fits");
        (products, deficient.rref(), deficient.ple(), square.inverse(), deficient.rank())
    };
    let on = |threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(all);
    let one = on(1);
    assert_eq!(one.4, 900);
    assert!(one == on(2) && one == on(5));
}
