//! Links of the built book: every relative target must be a file of the site. Rustdoc checks the links of its own pages.

use std::path::{Component, Path, PathBuf};

use super::{files, is_outside};
use crate::failure::Failure;
use crate::process;

/// One sentence for each link of the book's pages that leads to no file.
pub(super) fn broken_links(site: &Path) -> Result<Vec<String>, Failure> {
    let mut broken = Vec::new();
    for page in files(site, "html")? {
        let text = process::read(&page)?;
        // The page for a missing address is served from anywhere: its links start at the server's root.
        if page.ends_with("404.html") {
            continue;
        }
        for link in targets(&text) {
            let file = link.split(['#', '?']).next().unwrap_or_default();
            if !is_outside(file) && !leads_somewhere(&page, file) {
                broken
                    .push(format!("{}: `{link}` leads to no file", page.strip_prefix(site).unwrap_or(&page).display()));
            }
        }
    }
    Ok(broken)
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let target = normal(&page.with_file_name(link));
    if target.is_dir() { target.join("index.html").exists() } else { target.exists() }
}

/// The path without `..`, which would ask for folders that need not exist.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

/// The values of every `href` and `src` attribute.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for attribute in [" href=\"", " src=\""] {
        let values = text.split(attribute).skip(1).filter_map(|tail| tail.split_once('"'));
        found.extend(values.map(|(value, _)| value));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found() {
        assert_eq!(targets("<a href=\"x.html#y\"><img src=\"z.svg\">"), ["x.html#y", "z.svg"]);
    }

    #[test]
    fn parent_folders_are_resolved() {
        assert_eq!(normal(Path::new("/site/a/../b/./c.html")), Path::new("/site/b/c.html"));
    }
}
