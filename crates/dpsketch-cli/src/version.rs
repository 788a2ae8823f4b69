//! What `--version` says.

use std::sync::LazyLock;

/// The version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version with the commit, the file format and what the processor can do.
pub(crate) static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = match env!("DPSKETCH_COMMIT") {
        "" => "unknown",
        commit => commit,
    };
    let format = dpsketch::FORMAT_VERSION;
    let features = cpu_features();
    let features = if features.is_empty() { "none that is used".to_owned() } else { features.join(" ") };
    format!("{VERSION}\ncommit: {commit}\nfile format: {format}\nprocessor: {features}")
});

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($feature:tt),*) => {
            [$(($feature, std::arch::is_x86_feature_detected!($feature))),*]
        };
    }
    let found = detected!("popcnt", "avx2", "bmi2", "avx512f", "avx512vpopcntdq");
    found.into_iter().filter(|(_, found)| *found).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<&'static str> {
    vec![std::env::consts::ARCH]
}
