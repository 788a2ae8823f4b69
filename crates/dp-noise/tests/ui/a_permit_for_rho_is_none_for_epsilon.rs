use dp_noise::{Epsilon, Permit, Rho};

fn release(_: Permit<Epsilon>) {}

fn main() {
    release(Permit::standalone(Rho::new(1.0).unwrap()));
}
