//! Links between the repository's Markdown files: the file must exist, and a `#part` must be one of its headings.

use std::collections::BTreeSet;
use std::path::Path;

use super::{files, is_outside};
use crate::failure::Failure;
use crate::process;

/// One sentence for each link that leads nowhere, and for each page missing from the book's summary.
pub(super) fn broken_links(root: &Path) -> Result<Vec<String>, Failure> {
    let mut broken = Vec::new();
    for path in files(root, "md")? {
        let text = process::read(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        for link in links(&text) {
            if let Some(reason) = problem(&path, &text, &link)? {
                broken.push(format!("{name}: `{link}` {reason}"));
            }
        }
    }
    broken.extend(unlisted(&root.join("docs/src"))?);
    Ok(broken)
}

fn problem(path: &Path, text: &str, link: &str) -> Result<Option<&'static str>, Failure> {
    // Pages under `api/` are generated: their links are checked in the built site. In a crate's README, which is also its
    // documentation, `crate::path` is an item.
    if is_outside(link) || link.starts_with("api/") || link.contains("/api/") || link.contains("::") {
        return Ok(None);
    }
    let (file, part) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { path.to_path_buf() } else { path.with_file_name(file) };
    if !file.is_empty() && !target.exists() {
        return Ok(Some("leads to no file"));
    }
    if part.is_empty() || target.extension().is_none_or(|extension| extension != "md") {
        return Ok(None);
    }
    let known = if file.is_empty() { anchors(text) } else { anchors(&process::read(&target)?) };
    Ok((!known.contains(part)).then_some("leads to no heading"))
}

/// Pages of the book that its summary does not list.
fn unlisted(pages: &Path) -> Result<Vec<String>, Failure> {
    let summary = pages.join("SUMMARY.md");
    if !summary.exists() {
        return Ok(Vec::new());
    }
    let text = process::read(&summary)?;
    let listed: BTreeSet<_> = links(&text).into_iter().map(|link| pages.join(link)).collect();
    let missing = files(pages, "md")?.into_iter().filter(|page| *page != summary && !listed.contains(page));
    // A fragment that another page includes is no page of its own.
    let mut whole = String::new();
    for page in files(pages, "md")? {
        whole += &process::read(&page)?;
    }
    let included = |page: &Path| {
        page.file_name().is_some_and(|name| whole.contains(&format!("{{{{#include {}", name.to_string_lossy())))
    };
    Ok(missing
        .filter(|page| !included(page))
        .map(|page| format!("docs/src/SUMMARY.md lists no {}", page.strip_prefix(pages).unwrap_or(&page).display()))
        .collect())
}

/// Targets of `[text](target)` and `[key]: target`, outside code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let mut rest = line.as_str();
        while let Some((_, behind)) = rest.split_once("](") {
            let end = behind.find([')', ' ']).unwrap_or(behind.len());
            found.push(behind[..end].trim_matches(['<', '>']).to_owned());
            rest = &behind[end..];
        }
        if let Some((_, target)) = line.strip_prefix('[').and_then(|tail| tail.split_once("]: ")) {
            found.push(target.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']).to_owned());
        }
    }
    found
}

/// The lines outside fenced code, with inline code taken out.
fn prose(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join("`"));
        }
    }
    lines
}

/// The anchors that GitHub and mdBook give a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title.trim());
        let doubles = (1..).map(|count| format!("{slug}-{count}"));
        let free = std::iter::once(slug.clone()).chain(doubles).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

fn slug(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_in_prose_and_not_in_code() {
        let text = "See [a](a.md) and [b](<b.md> \"title\").\n```\n[c](c.md)\n```\nand `[d](d.md)`.\n[e]: e.md\n";
        assert_eq!(links(text), ["a.md", "b.md", "e.md"]);
    }

    #[test]
    fn headings_have_the_anchors_that_readers_see() {
        let found = anchors("# One `two`, three!\n## Same\n## Same\n```\n# not a heading\n```\n#hash\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["one-two-three", "same", "same-1"]);
    }

    #[test]
    fn a_link_to_nothing_is_a_problem() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page.md");
        let of = |link: &str| problem(&page, "# Here\n", link).expect("nothing to read");
        assert_eq!(of("no-such.md"), Some("leads to no file"));
        assert_eq!(of("Cargo.toml"), None);
        assert_eq!(of("#here"), None);
        assert_eq!(of("#there"), Some("leads to no heading"));
        assert_eq!(of("https://example.org/no-such"), None);
    }

    #[test]
    fn every_link_of_this_repository_leads_somewhere() {
        let broken = broken_links(&process::root()).expect("the files can be read");
        assert!(broken.is_empty(), "{broken:#?}");
    }
}
