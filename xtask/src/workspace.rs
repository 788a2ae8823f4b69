//! The workspace as `cargo metadata` tells it: members, their dependencies and features, and the declared layers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::failure::Failure;
use crate::process;

/// Members of the workspace and what it declares about them.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) default_members: BTreeSet<String>,
    pub(crate) target_directory: PathBuf,
    /// `[workspace.metadata.layers]` as written.
    pub(crate) layers: Value,
}

/// One member.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) folder: PathBuf,
    pub(crate) published: bool,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One line of a member's dependency tables.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) optional: bool,
    pub(crate) features: Vec<String>,
    /// Whether it is a member of this workspace.
    pub(crate) inside: bool,
}

/// Which table a dependency stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

impl Workspace {
    /// Asks cargo about this workspace.
    pub(crate) fn load() -> Result<Self, Failure> {
        let text = process::output(&mut process::cargo(["metadata", "--format-version", "1", "--no-deps", "--quiet"]))?;
        Self::parse(&text)
    }

    /// Reads the JSON text of `cargo metadata`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let json: Value = serde_json::from_str(text)
            .map_err(|error| Failure::Failed(format!("cargo metadata is not JSON: {error}")))?;
        let listed = array(&json, "packages")?;
        let names: BTreeSet<&str> = listed.iter().filter_map(|package| package["name"].as_str()).collect();
        let packages: Vec<Package> =
            listed.iter().map(|package| Package::parse(package, &names)).collect::<Result<_, _>>()?;
        let default_ids: BTreeSet<&str> =
            array(&json, "workspace_default_members")?.iter().filter_map(Value::as_str).collect();
        let default_members = listed
            .iter()
            .filter(|package| package["id"].as_str().is_some_and(|id| default_ids.contains(id)))
            .filter_map(|package| package["name"].as_str().map(str::to_owned))
            .collect();
        let target_directory = PathBuf::from(string(&json, "target_directory")?);
        Ok(Self { packages, default_members, target_directory, layers: json["metadata"]["layers"].clone() })
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    fn parse(json: &Value, members: &BTreeSet<&str>) -> Result<Self, Failure> {
        let dependencies = array(json, "dependencies")?
            .iter()
            .map(|dependency| Dependency::parse(dependency, members))
            .collect::<Result<_, _>>()?;
        let features = json["features"]
            .as_object()
            .map(|table| table.iter().map(|(name, parts)| (name.clone(), strings(parts))).collect())
            .unwrap_or_default();
        let manifest = PathBuf::from(string(json, "manifest_path")?);
        Ok(Self {
            name: string(json, "name")?,
            version: string(json, "version")?,
            folder: manifest.parent().map(std::path::Path::to_path_buf).unwrap_or_default(),
            published: json["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
            features,
            dependencies,
        })
    }

    pub(crate) fn has_feature(&self, name: &str) -> bool {
        self.features.contains_key(name)
    }
}

impl Dependency {
    fn parse(json: &Value, members: &BTreeSet<&str>) -> Result<Self, Failure> {
        let name = string(json, "name")?;
        let kind = match json["kind"].as_str() {
            None => Kind::Normal,
            Some("build") => Kind::Build,
            Some("dev") => Kind::Dev,
            Some(other) => return Err(Failure::Failed(format!("unknown kind of dependency `{other}`"))),
        };
        let inside = json["path"].is_string() && members.contains(name.as_str());
        let optional = json["optional"].as_bool().unwrap_or(false);
        Ok(Self { name, kind, optional, features: strings(&json["features"]), inside })
    }
}

/// The strings of a JSON array; what is no array has none.
pub(crate) fn strings(json: &Value) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn array<'a>(json: &'a Value, key: &str) -> Result<&'a Vec<Value>, Failure> {
    json[key].as_array().ok_or_else(|| Failure::Failed(format!("cargo metadata has no list `{key}`")))
}

fn string(json: &Value, key: &str) -> Result<String, Failure> {
    json[key].as_str().map(str::to_owned).ok_or_else(|| Failure::Failed(format!("cargo metadata has no text `{key}`")))
}
