//! What must not compile: wrong generators, permits used twice, data after a release, a look at noise.
#![cfg(feature = "os-rng")]

#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
