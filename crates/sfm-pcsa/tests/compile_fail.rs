//! The wrong generator does not compile.

#[test]
fn insecure_generators_cannot_release() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
