//! A thousand parties, two servers that do not collude, and the noise of one release instead of a thousand.
//!
//! Each party holds raw events. It wants the number of distinct users over all parties to be known, at ε = 1 for every user of
//! every party, and trusts nobody with its own sketch. Merging a thousand released sketches would multiply a thousand
//! contrasts, and nothing would be left. Split between two servers, each party adds a thousandth of the noise.
//!
//! Run it with `cargo run --release -p f0-sketch --example two_servers`.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;

use f0_sketch::cardinality_estimators::Confidence;
use f0_sketch::diagnostics::{flip_numerator, merged_contrast};
use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
use f0_sketch::sketch_hash::DefaultHash;
use f0_sketch::{
    CellShare, F0Shape, F0Sketch, ModeKind, NoiseRule, Presampled, PrivateF0Sketch, SharedNoise, Unit, WeightRule,
};

const PARTIES: u32 = 1000;
const SHAPE: F0Shape = F0Shape::DEFAULT;
/// Users that a party sees, each three times; a third of them are also seen by the next party.
const USERS: u64 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let epsilon = Epsilon::new(1.0)?;
    let plan = SharedNoise::new::<Presampled>(PARTIES, PARTIES, Unit::Item, epsilon)?;
    let opened = count_together(&plan)?;
    let alone = flip_numerator(ModeKind::Presampled, NoiseRule::Tight, epsilon, Unit::Item)?;
    let merged = merged_contrast(&vec![alone; PARTIES as usize]);

    println!("{PARTIES} parties, sketches of {SHAPE} cells, epsilon = {} for every user", epsilon.get());
    println!("flip probability of one party: {:.6}", plan.flip_probability());
    println!("contrast of the opened sum:    {:.6}", opened.contrast());
    println!("contrast of a merge of {PARTIES} releases: {merged:.1e}");
    println!("if the servers collude:        a party is left with epsilon = {:.1}", plan.level_if_servers_collude());
    let truth = u64::from(PARTIES) * USERS * 2 / 3 + USERS / 3;
    let estimate = opened.estimate(Confidence::P95);
    let (value, error) = (estimate.value().ok_or("no value")?, estimate.std_error().ok_or("no error")?);
    println!("distinct users:                {value:.0} +- {error:.0}, in truth {truth}");
    Ok(())
}

/// Every party splits its sketch; each server adds up what it gets; the two sums are opened.
fn count_together(plan: &SharedNoise) -> Result<PrivateF0Sketch<Presampled>, Box<dyn Error>> {
    let mut servers: [Option<CellShare<Presampled>>; 2] = [None, None];
    for party in 0..u64::from(PARTIES) {
        // Each party has its own generator, ledger and permit.
        let mut random = NoiseRng::from_os()?;
        let mut raw: F0Sketch<Presampled> = F0Sketch::new(SHAPE, WeightRule::Unit, DefaultHash::default());
        let first = party * USERS * 2 / 3;
        for _ in 0..3 {
            raw.observe_u64_batch(&(first..first + USERS).collect::<Vec<_>>(), &mut random)?;
        }
        let shares = raw.into_shares(plan, Permit::standalone(plan.epsilon()), &mut random)?;
        for (server, share) in servers.iter_mut().zip(shares) {
            match server {
                Some(sum) => sum.merge(share)?,
                None => *server = Some(share),
            }
        }
    }
    let [Some(first), Some(second)] = servers else { return Err("no party took part".into()) };
    Ok(first.open(second)?)
}
