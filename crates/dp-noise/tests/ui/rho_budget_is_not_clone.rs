use dp_noise::{Amount, RhoBudget};

fn main() {
    let budget = RhoBudget::new(Amount::ZERO);
    let _ = budget.clone();
}
