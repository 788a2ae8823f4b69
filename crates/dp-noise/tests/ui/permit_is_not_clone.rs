use dp_noise::{Epsilon, Permit};

fn release(_: Permit<Epsilon>) {}

fn main() {
    let permit = Permit::standalone(Epsilon::new(1.0).unwrap());
    release(permit.clone());
    release(permit);
}
