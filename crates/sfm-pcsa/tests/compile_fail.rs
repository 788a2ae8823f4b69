//! The wrong generator does not compile.
#![cfg(feature = "os-rng")]

#[test]
fn insecure_generators_cannot_release() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
