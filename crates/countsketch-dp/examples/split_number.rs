//! The warm-up of private CountSketch: one number, split among holders who each get a noisy copy.
//!
//! ```text
//! cargo run -p countsketch-dp --example split_number
//! ```

use countsketch_dp::NumberShare;
use countsketch_dp::cardinality_estimators::Confidence;
use countsketch_dp::dp_noise::{NoiseRng, Permit, Rho};

type Outcome = Result<(), Box<dyn core::error::Error>>;

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Outcome {
    let mut noise = NoiseRng::from_os()?;
    // A count that one person changes by at most 1, at rho = 1/200: alone it would get noise of standard deviation 10.
    let permit = Permit::standalone(Rho::new(0.005)?);
    let shares = NumberShare::split(12_345, 1, 31, permit, &mut noise)?;
    println!("31 holders, each with noise of variance {}", shares[0].noise_parameter().to_f64());
    println!("holders  mean ± error        median ± error");
    for used in [1, 3, 7, 15, 31] {
        let (mean, median) = (
            NumberShare::mean(&shares[..used], Confidence::P95)?,
            NumberShare::median(&shares[..used], Confidence::P95)?,
        );
        println!(
            "{used:7}  {:9.1} ± {:<7.1} {:9.1} ± {:<7.1}",
            mean.value().unwrap_or(f64::NAN),
            mean.std_error().unwrap_or(f64::NAN),
            median.value().unwrap_or(f64::NAN),
            median.std_error().unwrap_or(f64::NAN),
        );
    }
    println!("All shares together cost rho = 0.005, and give the number as well as one release of it would.");
    Ok(())
}
