//! Misuse that must not compile. The messages are those of the pinned toolchain.
#![cfg(all(feature = "hazmat", feature = "os-rng"))]
// The compiler lists the implementors of the trait, so the messages hold for all features only.

#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/secure_generator.rs");
    cases.compile_fail("tests/ui/xoshiro_is_no_noise_source.rs");
    cases.compile_fail("tests/ui/seeded_chacha_is_no_noise_source.rs");
    cases.compile_fail("tests/ui/own_crypto_rng_is_no_noise_source.rs");
    cases.compile_fail("tests/ui/noise_source_is_sealed.rs");
    cases.compile_fail("tests/ui/permit_is_not_clone.rs");
    cases.compile_fail("tests/ui/permit_is_used_once.rs");
    cases.compile_fail("tests/ui/permit_must_be_used.rs");
    cases.compile_fail("tests/ui/permit_cannot_be_made_up.rs");
    cases.compile_fail("tests/ui/budget_is_not_clone.rs");
    cases.compile_fail("tests/ui/generator_is_not_clone.rs");
    cases.compile_fail("tests/ui/rho_budget_is_not_clone.rs");
    cases.compile_fail("tests/ui/a_permit_for_rho_is_none_for_epsilon.rs");
    cases.compile_fail("tests/ui/privacy_level_is_sealed.rs");
    cases.compile_fail("tests/ui/sensitivities_are_not_swapped.rs");
    cases.compile_fail("tests/ui/variance_is_no_float.rs");
}
