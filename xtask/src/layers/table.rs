//! The declared layers and owners: `[workspace.metadata.layers]`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::failure::Failure;
use crate::workspace::strings;

/// The name of the tier above all layers whose members are never shipped.
pub(crate) const DEV: &str = "dev";

/// `[workspace.metadata.layers]`, read.
#[derive(Debug)]
pub(crate) struct Table {
    /// Layers from the lowest up, `L0` first.
    pub(crate) layers: Vec<(String, Vec<String>)>,
    /// Members that are never shipped.
    pub(crate) dev: Vec<String>,
    /// Outside package → crates that may use it; `*` means every crate.
    pub(crate) owners: BTreeMap<String, Vec<String>>,
    /// Outside packages that shipped crates may have in `[dev-dependencies]` only.
    pub(crate) only_tests: Vec<String>,
    /// Outside packages that any crate's tests may use, beside their owners.
    pub(crate) also_tests: Vec<String>,
    /// Members that may use any outside package, to compare with.
    pub(crate) any_package: Vec<String>,
    /// Outside packages that stand behind a feature wherever they are a dependency.
    pub(crate) only_optional: Vec<String>,
}

impl Table {
    pub(crate) fn parse(json: &Value) -> Result<Self, Failure> {
        let table = json.as_object().ok_or_else(|| missing("workspace.metadata.layers"))?;
        let mut layers: Vec<(String, Vec<String>)> = table
            .iter()
            .filter(|(name, _)| name.strip_prefix('L').is_some_and(|digits| digits.parse::<u8>().is_ok()))
            .map(|(name, crates)| (name.clone(), strings(crates)))
            .collect();
        layers.sort();
        let owners = table
            .get("owners")
            .and_then(Value::as_object)
            .ok_or_else(|| missing("workspace.metadata.layers.owners"))?
            .iter()
            .map(|(name, crates)| (name.clone(), strings(crates)))
            .collect();
        let list = |key: &str| strings(table.get(key).unwrap_or(&Value::Null));
        Ok(Self {
            layers,
            dev: list(DEV),
            owners,
            only_tests: list("only-tests"),
            also_tests: list("also-tests"),
            any_package: list("any-package"),
            only_optional: list("only-optional"),
        })
    }

    /// Height of a member: its layer's number, above all of them for the dev tier, nothing for a member of no layer.
    pub(crate) fn height(&self, name: &str) -> Option<usize> {
        let holds = |members: &[String]| members.iter().any(|member| member == name);
        if holds(&self.dev) {
            return Some(self.layers.len());
        }
        self.layers.iter().position(|(_, members)| holds(members))
    }

    pub(crate) fn is_dev(&self, name: &str) -> bool {
        self.dev.iter().any(|member| member == name)
    }

    /// Layers from the lowest up, then the dev tier, with their members.
    pub(crate) fn tiers(&self) -> impl Iterator<Item = (&str, &[String])> {
        let layers = self.layers.iter().map(|(name, members)| (name.as_str(), members.as_slice()));
        layers.chain(std::iter::once((DEV, self.dev.as_slice())))
    }

    /// Whether `member` is an owner of the outside package.
    pub(crate) fn owns(&self, member: &str, package: &str) -> bool {
        self.owners.get(package).is_some_and(|owners| owners.iter().any(|owner| owner == member || owner == "*"))
    }
}

fn missing(key: &str) -> Failure {
    Failure::Failed(format!("Cargo.toml has no table [{key}]"))
}
