//! Help, versions, manuals and completions.

use crate::support::Folder;

const VERBS: [&str; 17] = [
    "plan",
    "build",
    "release",
    "merge",
    "estimate",
    "query",
    "topk",
    "decode",
    "inspect",
    "convert",
    "verify",
    "key",
    "study",
    "ledger",
    "demo",
    "completions",
    "man",
];

#[test]
fn help_lists_every_verb_and_the_exit_codes() {
    let folder = Folder::new();
    let help = folder.ok(&["--help"]).text();
    for verb in VERBS {
        assert!(help.contains(verb), "{verb}");
        assert!(folder.ok(&[verb, "--help"]).text().contains("Usage"));
    }
    assert!(help.contains("Exit codes"));
}

#[test]
fn version_names_commit_format_and_processor() {
    let folder = Folder::new();
    let version = folder.ok(&["--version"]).text();
    for word in [env!("CARGO_PKG_VERSION"), "commit: ", "file format: 1", "processor: "] {
        assert!(version.contains(word), "{word}: {version}");
    }
    assert_eq!(folder.ok(&["-V"]).text(), format!("dpsketch {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn there_are_manuals_and_completions() {
    let folder = Folder::new();
    assert!(folder.ok(&["man"]).text().contains(".TH dpsketch 1"));
    assert!(folder.ok(&["man", "build"]).text().contains("dpsketch\\-build"));
    folder.fails(2, &["man", "nonsense"]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.ok(&["completions", shell]).text().contains("estimate"), "{shell}");
    }
}

#[test]
fn colour_is_on_only_where_it_is_wanted() {
    let folder = Folder::new();
    let always = folder.run(&["estimate", "no.dps", "--color", "always"]);
    assert!(always.stderr.contains("\u{1b}["));
    for args in [&["estimate", "no.dps"][..], &["estimate", "no.dps", "--color", "never"]] {
        assert!(!folder.run(args).stderr.contains('\u{1b}'));
    }
}
