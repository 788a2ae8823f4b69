//! Exact random flips, one for every cell of a 4096 × 24 sketch.

use std::error::Error;
use std::hint::black_box;

use dp_noise::{Epsilon, NoiseRng, RandomizedResponse, bernoulli, bernoulli_words, bernoulli_words_fixed_time};
use opendp::traits::samplers::sample_bernoulli_float;

use crate::contest::Contest;

const CELLS: usize = 98_304;

/// Bits that are 1 with probability 1/(1 + e).
pub(crate) fn flips() -> Result<Contest<'static>, Box<dyn Error>> {
    let q = RandomizedResponse::symmetric(Epsilon::new(1.0)?).q();
    let probability = q.to_f64();
    let mut contest = Contest::per_item("Exact Bernoulli bits, p = 0.2689, a bit of 98,304", CELLS);
    let (mut noise, mut words) = (NoiseRng::from_os()?, vec![0; CELLS / 64]);
    contest.add("dp-noise, bernoulli_words", move || bernoulli_words(q, &mut noise, black_box(&mut words)));
    let (mut noise, mut words) = (NoiseRng::from_os()?, vec![0; CELLS / 64]);
    contest.add("dp-noise, bernoulli_words_fixed_time", move || {
        bernoulli_words_fixed_time(q, &mut noise, black_box(&mut words));
    });
    let mut noise = NoiseRng::from_os()?;
    contest.add("dp-noise, bernoulli, one by one", move || {
        for _ in 0..CELLS {
            black_box(bernoulli(q, &mut noise));
        }
    });
    for (name, fixed_time) in [("", false), (", constant time", true)] {
        contest.add(format!("OpenDP sample_bernoulli_float{name}, one by one"), move || {
            for _ in 0..CELLS {
                let _ = black_box(sample_bernoulli_float(black_box(probability), fixed_time));
            }
        });
    }
    Ok(contest)
}
