#![deny(unused_must_use)]

use dp_noise::{Amount, Budget, Epsilon};

fn spend(budget: &mut Budget) -> Result<(), dp_noise::BudgetError> {
    budget.spend(Epsilon::new(1.0).unwrap())?;
    Ok(())
}

fn main() {
    spend(&mut Budget::new(Amount::ZERO)).unwrap();
}
