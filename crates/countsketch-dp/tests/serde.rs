//! Serde traits of private sketches.
#![cfg(feature = "serde")]

mod support;

use countsketch_dp::PrivateCountSketch;
use dp_noise::NoiseRng;
use support::{entry, raw, released, rho, shape};

fn private() -> PrivateCountSketch {
    let raw = raw(shape(3, 4), entry(1), [(1, 1), (2, 1)]);
    raw.release(rho(0.5), &mut NoiseRng::from_key([3; 32])).expect("a release")
}

#[test]
fn json_comes_back() {
    let sketch = private();
    let text = serde_json::to_string(&sketch).unwrap();
    assert!(text.starts_with(r#"{"version":1,"insecure_noise":false,"body":{"frame":{"rows":3,"width":4,"#), "{text}");
    assert_eq!(serde_json::from_str::<PrivateCountSketch>(&text).unwrap(), sketch);
}

#[test]
fn json_is_checked_like_bytes() {
    let text = serde_json::to_string(&private()).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        serde_json::from_str::<PrivateCountSketch>(&text.replacen(from, to, 1)).map_err(|error| error.to_string())
    };
    assert!(changed(r#""version":1"#, r#""version":2"#).unwrap_err().contains("expected 1, found 2"));
    assert!(changed(r#""rows":3"#, r#""rows":4"#).unwrap_err().contains("invalid shape"));
    assert!(changed(r#""width":4"#, r#""width":5"#).unwrap_err().contains("15 cells, found 12"));
    assert!(changed(r#""cost":0.5"#, r#""cost":0.25"#).unwrap_err().contains("release 0"));
    assert!(changed(r#""insecure_noise":false"#, r#""insecure_noise":true"#).unwrap_err().contains("not private"));
}

#[test]
fn insecure_noise_is_refused() {
    let insecure = released(raw(shape(3, 4), entry(1), []), 0.5, 1);
    let text = serde_json::to_string(&insecure).unwrap();
    assert!(serde_json::from_str::<PrivateCountSketch>(&text).unwrap_err().to_string().contains("not private"));
}
