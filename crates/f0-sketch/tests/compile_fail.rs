//! What would break privacy does not compile.
#![cfg(feature = "os-rng")]

#[test]
fn unsafe_uses_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
