//! The layer diagram, drawn from `cargo metadata` and put between two marker lines.

use std::collections::BTreeSet;

use super::table::{DEV, Table};
use crate::workspace::{Kind, Package, Workspace};

const BEGIN: &str = "<!-- layers:begin -->";
const END: &str = "<!-- layers:end -->";

/// What a layer is for.
const TITLES: &[(&str, &str)] =
    &[("L0", "leaves"), ("L1", "sketches"), ("L2", "kit"), ("L3", "front ends"), (DEV, "never shipped")];

/// A block of layers, highest first, and a table of what each crate uses.
pub(super) fn draw(workspace: &Workspace, table: &Table) -> String {
    let mut lines = vec!["```text".to_owned()];
    let tiers: Vec<(&str, &[String])> = table.tiers().collect();
    let shipped = tiers.iter().rev().filter(|(tier, _)| *tier != DEV);
    for (tier, members) in shipped.chain(tiers.iter().filter(|(tier, _)| *tier == DEV)) {
        let title = TITLES.iter().find(|(name, _)| name == tier).map_or("", |(_, title)| title);
        lines.push(format!("{tier:<4} {title:<14} {}", members.join("  ")));
    }
    lines.push("```\n\n| crate | uses, of this workspace | uses, from outside |\n|---|---|---|".to_owned());
    for (_, members) in tiers.iter().rev().filter(|(tier, _)| *tier != DEV) {
        lines.extend(members.iter().filter_map(|name| workspace.package(name)).map(row));
    }
    lines.join("\n") + "\n"
}

fn row(package: &Package) -> String {
    let used = |inside: bool| {
        let names: BTreeSet<String> = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != Kind::Dev && dependency.inside == inside)
            .map(|dependency| format!("{}{}", dependency.name, if dependency.optional { "?" } else { "" }))
            .collect();
        if names.is_empty() { "–".to_owned() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
    };
    format!("| {} | {} | {} |", package.name, used(true), used(false))
}

/// The text with the part between the markers replaced; nothing when it has no markers.
pub(super) fn replace(text: &str, drawn: &str) -> Option<String> {
    let (head, rest) = text.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{drawn}{END}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_between_the_markers_changes() {
        let text = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let new = replace(&text, "new\n").expect("it has markers");
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(replace(&new, "new\n").as_deref(), Some(new.as_str()));
    }

    #[test]
    fn a_text_without_markers_is_left_alone() {
        assert_eq!(replace("no markers", "new"), None);
    }

    #[test]
    fn the_diagram_names_every_shipped_crate() {
        let workspace = Workspace::load().expect("cargo metadata runs");
        let table = Table::parse(&workspace.layers).expect("the table is whole");
        let drawn = draw(&workspace, &table);
        for (_, members) in &table.layers {
            for member in members {
                assert!(drawn.contains(&format!("| {member} |")), "{member} is not drawn");
            }
        }
    }
}
