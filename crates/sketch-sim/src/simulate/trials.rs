//! Repeats that run in parallel and do not depend on how.

use dp_noise::hazmat::InsecureTestRng;
use rayon::prelude::*;

use super::run::SimulationError;

/// What `run` gives for each trial, in order. Trial `t` draws from the generator of the seed after `t + 1` jumps, so results
/// do not depend on the number of threads; `memory` makes what a worker uses again from trial to trial.
pub(crate) fn in_parallel<M, T: Send>(
    plan: (u32, u64, Option<usize>),
    memory: impl Fn() -> M + Send + Sync,
    run: impl Fn(&mut M, &mut InsecureTestRng) -> Result<T, SimulationError> + Send + Sync,
) -> Result<Vec<T>, SimulationError> {
    repeat(plan, memory, run)
}

/// [`in_parallel`] with an error of one's own.
pub(crate) fn repeat<M, T: Send, E: Send + From<rayon::ThreadPoolBuildError>>(
    (trials, seed, threads): (u32, u64, Option<usize>),
    memory: impl Fn() -> M + Send + Sync,
    run: impl Fn(&mut M, &mut InsecureTestRng) -> Result<T, E> + Send + Sync,
) -> Result<Vec<T>, E> {
    let mut next = InsecureTestRng::from_u64(seed);
    let generators: Vec<InsecureTestRng> = (0..trials)
        .map(|_| {
            next.jump();
            next.clone()
        })
        .collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build()?;
    pool.install(|| generators.into_par_iter().map_init(memory, |memory, mut noise| run(memory, &mut noise)).collect())
}
