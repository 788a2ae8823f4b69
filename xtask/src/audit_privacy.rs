//! `audit-privacy`: the guarantees from outside, by enumeration and by two samples.

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::sim;
use crate::steps::Steps;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask audit-privacy

Checks what releases of neighbouring data tell, in two ways:

  by enumeration  the tests `privacy` of the crates: exact probabilities of all outputs of tiny sketches, for every
                  mechanism and every relation of neighbours
  by two samples  neighbouring data sets released 400,000 times each; the counts of the event that tells them apart best
                  bound the level from below, and must not contradict the claim, and from above, and must hold the exact
                  law. A right build fails once in a million audits.
";

/// The crates that release, and the one that draws.
const CRATES: [&str; 4] = ["dp-noise", "sfm-pcsa", "countsketch-dp", "f0-sketch"];

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.finish()?;
    let mut steps = Steps::new(false);
    for name in CRATES {
        let tests = process::root().join("crates").join(name).join("tests/privacy.rs");
        if tests.exists() {
            steps.run(&format!("{name}, by enumeration"), || {
                process::run(
                    process::cargo(["test", "--quiet", "--all-features", "--test", "privacy", "--package"]).arg(name),
                )
            });
        }
    }
    steps.run("by two samples", sim::audit_by_samples);
    steps.finish()
}
