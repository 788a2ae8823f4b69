//! Serde traits of the private sketch.
#![cfg(feature = "serde")]

mod support;

use f0_sketch::{Presampled, PrivateF0Sketch, Set};
use support::{general, noise, raw, released, stream};

#[test]
fn test_noise_is_refused_and_marks_itself() {
    let text = serde_json::to_string(&released(raw(general(), 0..20), 1.0, &mut noise(1))).expect("JSON");
    assert!(text.contains("\"insecure_noise\":true"));
    let error = serde_json::from_str::<PrivateF0Sketch<Set>>(&text).expect_err("insecure");
    assert!(error.to_string().contains("insecure test generator"), "{error}");
}

#[test]
fn sketches_come_back_with_every_check() {
    let sketch = released(raw(general(), 0..20), 1.0, &mut noise(1));
    let text =
        serde_json::to_string(&sketch).expect("JSON").replace("\"insecure_noise\":true", "\"insecure_noise\":false");
    let read: PrivateF0Sketch = serde_json::from_str(&text).expect("a sketch");
    assert_eq!((read.ones_per_table(), read.leaves()), (sketch.ones_per_table(), sketch.leaves()));
    assert!(serde_json::from_str::<PrivateF0Sketch<Presampled>>(&text).is_err(), "another mode");
    assert!(serde_json::from_str::<PrivateF0Sketch>(&text.replace("\"version\":1", "\"version\":2")).is_err());
    assert!(serde_json::from_str::<PrivateF0Sketch>(&text.replace("\"epsilon\":1.0", "\"epsilon\":0.5")).is_err());
    let coins = released(stream(general(), &[1], &mut noise(2)), 1.0, &mut noise(3));
    assert!(serde_json::to_string(&coins).expect("JSON").contains("\"mode\":2"));
}
