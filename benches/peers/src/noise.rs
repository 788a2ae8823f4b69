//! Exact integer noise, draw by draw and many at once.

use std::error::Error;
use std::hint::black_box;

use dp_noise::{DiscreteGaussian, DiscreteLaplace, NoiseRng, NoiseSampler, Scale, Variance};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

use crate::contest::Contest;

/// Draws of a run.
const DRAWS: usize = 1 << 12;
/// Standard deviations of Gaussian noise, and scales of Laplace noise.
pub(crate) const SIZES: [u32; 4] = [1, 10, 100, 1000];

/// Discrete Gaussian noise of standard deviation `sigma`.
pub(crate) fn gaussian(sigma: u32) -> Result<Contest<'static>, Box<dyn Error>> {
    let law = DiscreteGaussian::new(Variance::new(u128::from(sigma).pow(2), 1)?)?;
    let mut contest = Contest::per_item(format!("Discrete Gaussian, σ = {sigma}, a draw"), DRAWS);
    ours(&mut contest, "dp-noise, DiscreteGaussian, ChaCha20", law)?;
    contest.add("OpenDP sample_discrete_gaussian, one by one", move || {
        for _ in 0..DRAWS {
            let _ = black_box(sample_discrete_gaussian(black_box(sigma).into()));
        }
    });
    Ok(contest)
}

/// Discrete Laplace noise of this scale.
pub(crate) fn laplace(scale: u32) -> Result<Contest<'static>, Box<dyn Error>> {
    let law = DiscreteLaplace::new(Scale::new(scale.into(), 1)?)?;
    let mut contest = Contest::per_item(format!("Discrete Laplace, scale {scale}, a draw"), DRAWS);
    ours(&mut contest, "dp-noise, DiscreteLaplace, ChaCha20", law)?;
    contest.add("OpenDP sample_discrete_laplace, one by one", move || {
        for _ in 0..DRAWS {
            let _ = black_box(sample_discrete_laplace(black_box(scale).into()));
        }
    });
    Ok(contest)
}

fn ours<L: NoiseSampler + 'static>(contest: &mut Contest<'_>, name: &str, law: L) -> Result<(), Box<dyn Error>> {
    let (mut noise, mut draws) = (NoiseRng::from_os()?, vec![0; DRAWS]);
    contest.add(name, move || law.fill(&mut noise, black_box(&mut draws)));
    Ok(())
}
