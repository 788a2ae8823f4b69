//! The rules. Each gives one sentence per violation, naming the crate, what it did and what is allowed.

use std::collections::BTreeSet;

use super::table::Table;
use crate::workspace::{Dependency, Kind, Package, Workspace};

/// The one dev crate that shipped crates may use, in their tests.
const FIXTURES: &str = "sketch-testkit";
/// The one crate besides tests that may turn on insecure randomness.
const SIMULATOR: &str = "sketch-sim";
/// Crates without any dependency inside the workspace: the driver compiles in seconds, the fixtures serve every layer.
const ISOLATED: &[&str] = &["xtask", FIXTURES];
/// The feature for insecure, reproducible generators, and the crate that defines it.
const HAZMAT: &str = "hazmat";
const HAZMAT_HOME: &str = "dp-noise";

/// Everything that breaks a rule, in the order of members.
pub(super) fn violations(workspace: &Workspace, table: &Table) -> Vec<String> {
    let mut found = placement(workspace, table);
    for package in &workspace.packages {
        for dependency in &package.dependencies {
            if dependency.inside {
                found.extend(edge(package, dependency, table));
            } else {
                found.extend(owner(package, dependency, table));
                found.extend(test_only(package, dependency, table));
                found.extend(optional_only(package, dependency, table));
            }
            found.extend(hazmat_dependency(package, dependency));
        }
        found.extend(hazmat_feature(package));
    }
    found
}

/// Every member stands in exactly one tier, and every name in the table is a member.
fn placement(workspace: &Workspace, table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (tier, members) in table.tiers() {
        for member in members {
            if workspace.package(member).is_none() {
                found.push(format!("layer {tier} names `{member}`, which is no member of the workspace"));
            }
            if !seen.insert(member.as_str()) {
                found.push(format!("`{member}` stands in two layers"));
            }
        }
    }
    for package in &workspace.packages {
        if !seen.contains(package.name.as_str()) {
            found.push(format!("`{}` stands in no layer of [workspace.metadata.layers]", package.name));
        }
    }
    found
}

/// A crate depends only on a strictly lower layer, its tests included.
fn edge(package: &Package, dependency: &Dependency, table: &Table) -> Option<String> {
    let (from, to) = (package.name.as_str(), dependency.name.as_str());
    let (high, low) = (table.height(from)?, table.height(to)?);
    if ISOLATED.contains(&from) {
        return Some(format!("`{from}` depends on `{to}`: it may use nothing inside the workspace"));
    }
    if to == FIXTURES {
        let allowed = dependency.kind == Kind::Dev;
        return (!allowed).then(|| format!("`{from}` has `{to}` outside its dev-dependencies"));
    }
    if low < high {
        return None;
    }
    let direction = if low == high { "sideways, inside one layer" } else { "upward" };
    Some(format!("`{from}` depends on `{to}`: an edge {direction}; only strictly lower layers are allowed"))
}

/// An outside package is used only by its owners; some also by any crate's tests.
fn owner(package: &Package, dependency: &Dependency, table: &Table) -> Option<String> {
    let name = dependency.name.as_str();
    let for_tests = dependency.kind == Kind::Dev || table.is_dev(&package.name);
    let any_test = table.only_tests.iter().chain(&table.also_tests).any(|listed| listed == name);
    if table.any_package.contains(&package.name) {
        return None;
    }
    if table.owns(&package.name, name) || (for_tests && any_test) {
        return None;
    }
    let allowed = match table.owners.get(name) {
        Some(owners) => format!("its owners are: {}", owners.join(", ")),
        None => "no owner is declared in [workspace.metadata.layers.owners]".to_owned(),
    };
    Some(format!("`{}` uses the outside package `{name}`; {allowed}", package.name))
}

/// Packages for tests stay out of what is shipped.
fn test_only(package: &Package, dependency: &Dependency, table: &Table) -> Option<String> {
    let listed = table.only_tests.contains(&dependency.name);
    let shipped = dependency.kind != Kind::Dev && !table.is_dev(&package.name);
    (listed && shipped).then(|| {
        format!("`{}` has `{}` in [dependencies]; it belongs in [dev-dependencies]", package.name, dependency.name)
    })
}

/// Some packages are dependencies only behind a feature.
fn optional_only(package: &Package, dependency: &Dependency, table: &Table) -> Option<String> {
    let listed = table.only_optional.contains(&dependency.name);
    (listed && dependency.kind != Kind::Dev && !dependency.optional)
        .then(|| format!("`{}` depends on `{}` always; it must be optional", package.name, dependency.name))
}

/// Only dev-dependencies and the simulator turn on `hazmat`.
fn hazmat_dependency(package: &Package, dependency: &Dependency) -> Option<String> {
    let on = dependency.inside && dependency.features.iter().any(|feature| feature == HAZMAT);
    (on && dependency.kind != Kind::Dev && package.name != SIMULATOR).then(|| {
        format!("`{}` turns on `{HAZMAT}` of `{}` outside its dev-dependencies", package.name, dependency.name)
    })
}

/// No feature of another crate leads to `hazmat`, and no default does.
fn hazmat_feature(package: &Package) -> Option<String> {
    if package.name == SIMULATOR {
        return None;
    }
    let leads = |part: &String| part.rsplit(['/', '?']).next() == Some(HAZMAT);
    let culprit = package.features.iter().find(|(name, parts)| {
        let own = package.name == HAZMAT_HOME && *name != "default";
        !own && parts.iter().any(leads)
    })?;
    Some(format!("feature `{}` of `{}` turns on `{HAZMAT}`", culprit.0, package.name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::process;

    fn metadata() -> Value {
        let arguments = ["metadata", "--format-version", "1", "--no-deps", "--quiet"];
        let text = process::output(&mut process::cargo(arguments)).expect("cargo metadata runs");
        serde_json::from_str(&text).expect("cargo metadata is JSON")
    }

    fn check(metadata: &Value) -> Vec<String> {
        let workspace = Workspace::parse(&metadata.to_string()).expect("metadata is whole");
        let table = Table::parse(&workspace.layers).expect("the table is whole");
        violations(&workspace, &table)
    }

    /// The violations that a change to this workspace's metadata adds.
    fn added(changed: &Value) -> Vec<String> {
        let before = check(&metadata());
        check(changed).into_iter().filter(|violation| !before.contains(violation)).collect()
    }

    /// The violations that one more dependency of a member adds.
    fn with_dependency(member: &str, dependency: &Value) -> Vec<String> {
        let mut metadata = metadata();
        package(&mut metadata, member)["dependencies"]
            .as_array_mut()
            .expect("dependencies are a list")
            .push(dependency.clone());
        added(&metadata)
    }

    fn package<'a>(metadata: &'a mut Value, member: &str) -> &'a mut Value {
        metadata["packages"]
            .as_array_mut()
            .expect("packages are a list")
            .iter_mut()
            .find(|package| package["name"] == member)
            .expect("the member exists")
    }

    fn inside(name: &str, kind: Option<&str>, features: &[&str]) -> Value {
        json!({ "name": name, "kind": kind, "optional": false, "features": features, "path": "/anywhere" })
    }

    fn outside(name: &str, kind: Option<&str>, optional: bool) -> Value {
        json!({ "name": name, "kind": kind, "optional": optional, "features": [] })
    }

    fn assert_one(violations: &[String], words: &[&str]) {
        assert_eq!(violations.len(), 1, "{violations:#?}");
        for word in words {
            assert!(violations[0].contains(word), "{} lacks {word}", violations[0]);
        }
    }

    #[test]
    fn this_workspace_keeps_every_rule() {
        let found = check(&metadata());
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn an_upward_edge_fails() {
        assert_one(
            &with_dependency("sketch-hash", &inside("sfm-pcsa", None, &[])),
            &["sketch-hash", "sfm-pcsa", "upward"],
        );
    }

    #[test]
    fn an_upward_edge_of_tests_fails_too() {
        assert_one(&with_dependency("sfm-pcsa", &inside("dpsketch", Some("dev"), &[])), &["upward"]);
    }

    #[test]
    fn a_shipped_crate_that_uses_the_simulator_fails() {
        assert_one(&with_dependency("dpsketch", &inside("sketch-sim", Some("dev"), &[])), &["upward"]);
    }

    #[test]
    fn a_sideways_edge_fails() {
        assert_one(&with_dependency("dp-noise", &inside("sketch-hash", None, &[])), &["sideways"]);
    }

    #[test]
    fn fixtures_are_for_tests_only() {
        assert!(with_dependency("dp-noise", &inside("sketch-testkit", Some("dev"), &[])).is_empty());
        assert_one(
            &with_dependency("dp-noise", &inside("sketch-testkit", None, &[])),
            &["outside its dev-dependencies"],
        );
    }

    #[test]
    fn the_driver_and_the_fixtures_use_no_member() {
        assert_one(&with_dependency("xtask", &inside("dp-noise", None, &[])), &["may use nothing"]);
        assert_one(&with_dependency("sketch-testkit", &inside("dp-noise", None, &[])), &["may use nothing"]);
    }

    #[test]
    fn a_package_of_another_owner_fails_also_in_tests() {
        assert_one(
            &with_dependency("cardinality-estimators", &outside("rand_core", None, false)),
            &["rand_core", "owners"],
        );
        assert_one(&with_dependency("cardinality-estimators", &outside("clap", Some("dev"), false)), &["clap"]);
    }

    #[test]
    fn a_package_without_an_owner_fails() {
        assert_one(&with_dependency("dpsketch", &outside("left-pad", None, false)), &["no owner is declared"]);
    }

    #[test]
    fn benchmarks_may_compare_with_any_package() {
        assert!(with_dependency("dpsketch-benches", &outside("left-pad", Some("dev"), false)).is_empty());
    }

    #[test]
    fn packages_for_tests_stay_out_of_dependencies() {
        for name in ["approx", "criterion"] {
            let found = with_dependency("dp-noise", &outside(name, None, false));
            assert!(found.iter().any(|violation| violation.contains("[dev-dependencies]")), "{found:#?}");
        }
    }

    #[test]
    fn the_insecure_generator_is_optional_and_has_one_home() {
        let always = with_dependency("dp-noise", &outside("rand_xoshiro", None, false));
        assert!(always.iter().any(|violation| violation.contains("must be optional")), "{always:#?}");
        assert_one(&with_dependency("sfm-pcsa", &outside("rand_xoshiro", None, true)), &["rand_xoshiro", "owners"]);
    }

    #[test]
    fn a_shipped_crate_that_turns_on_hazmat_fails() {
        assert_one(&with_dependency("sfm-pcsa", &inside("dp-noise", None, &["hazmat"])), &["hazmat"]);
        assert!(with_dependency("sfm-pcsa", &inside("dp-noise", Some("dev"), &["hazmat"])).is_empty());
    }

    #[test]
    fn a_feature_that_leads_to_hazmat_fails() {
        let mut forwarding = metadata();
        package(&mut forwarding, "sfm-pcsa")["features"]["tests"] = json!(["dp-noise/hazmat"]);
        assert_one(&added(&forwarding), &["`tests`", "hazmat"]);
        let mut default = metadata();
        package(&mut default, "dp-noise")["features"]["default"] = json!(["os-rng", "hazmat"]);
        assert_one(&added(&default), &["`default`", "hazmat"]);
    }

    #[test]
    fn a_member_of_no_layer_fails() {
        let mut metadata = metadata();
        metadata["metadata"]["layers"]["L0"].as_array_mut().expect("a list").retain(|name| name != "sketch-wire");
        assert_one(&added(&metadata), &["sketch-wire", "no layer"]);
    }
}
