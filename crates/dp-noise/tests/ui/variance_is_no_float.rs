use dp_noise::Variance;

fn main() {
    let _ = Variance::from(2.5);
}
