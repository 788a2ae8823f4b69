//! `audit-privacy`: the guarantees from outside, by enumeration and by two samples.

use crate::args::Args;
use crate::failure::Failure;
use crate::process;
use crate::sim;
use crate::steps::Steps;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask audit-privacy

Checks what releases of neighbouring data tell, in two ways:

  by enumeration  tests of the crates: exact probabilities of all outputs of tiny sketches, for every mechanism and every
                  relation of neighbours
  by two samples  neighbouring data sets released 400,000 times each; the counts of the event that tells them apart best
                  bound the level from below, and must not contradict the claim, and from above, and must hold the exact
                  law. A right build fails once in a million audits.
";

/// The crates that release, and the one that draws, each with its tests that enumerate.
const ENUMERATIONS: [(&str, &[&str]); 4] = [
    ("dp-noise", &["--test", "privacy"]),
    ("sfm-pcsa", &["--test", "privacy"]),
    ("countsketch-dp", &["--test", "privacy"]),
    ("f0-sketch", &["--lib", "enumeration"]),
];

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.finish()?;
    let mut steps = Steps::new(false);
    for (name, tests) in ENUMERATIONS {
        steps.run(&format!("{name}, by enumeration"), || {
            process::run(process::cargo(["test", "--quiet", "--all-features", "--package", name]).args(tests))
        });
    }
    steps.run("by two samples", sim::audit_by_samples);
    steps.finish()
}
