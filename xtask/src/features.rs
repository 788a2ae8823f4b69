//! The feature tree of what is shipped: insecure randomness must not be in it.

use crate::failure::Failure;
use crate::process;

/// Front ends whose feature trees are looked at.
const FRONT_ENDS: &[&str] = &["dpsketch-cli"];
/// The feature that no shipped package has.
const HAZMAT: &str = "hazmat";

/// Fails when `cargo tree -e features` of a front end names `hazmat`.
pub(crate) fn check() -> Result<(), Failure> {
    for package in FRONT_ENDS {
        let tree =
            process::output(&mut process::cargo(["tree", "--quiet", "--package", package, "--edges", "features"]))?;
        let lines = offending(&tree);
        if !lines.is_empty() {
            return Err(Failure::Failed(format!("{package} is built with `{HAZMAT}`:\n{}", lines.join("\n"))));
        }
    }
    Ok(())
}

fn offending(tree: &str) -> Vec<&str> {
    tree.lines().filter(|line| line.contains(HAZMAT)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_front_end_is_built_with_insecure_randomness() {
        check().expect("the feature tree is clean");
    }

    #[test]
    fn the_feature_is_seen_where_it_is_on() {
        let tree =
            process::output(&mut process::cargo(["tree", "--quiet", "--package", "sketch-sim", "--edges", "features"]))
                .expect("cargo tree runs");
        assert!(!offending(&tree).is_empty(), "the simulator turns it on, so the check would see it");
    }
}
