use dp_noise::{Amount, Epsilon, Permit};

fn main() {
    let cost = Epsilon::new(1.0).unwrap();
    let _ = Permit { cost, stated: cost, amount: Amount::ZERO };
}
