use dp_noise::{L1Sensitivity, Rho, Variance};

fn main() {
    let l1 = L1Sensitivity::new(5).unwrap();
    let _ = Variance::for_rho(l1, Rho::new(1.0).unwrap());
}
