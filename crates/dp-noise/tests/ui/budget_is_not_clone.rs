use dp_noise::{Amount, Budget};

fn main() {
    let budget = Budget::new(Amount::ZERO);
    let _ = budget.clone();
}
