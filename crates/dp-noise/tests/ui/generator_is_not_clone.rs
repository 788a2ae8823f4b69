use dp_noise::NoiseRng;

fn main() {
    let noise = NoiseRng::from_os().unwrap();
    let _ = noise.clone();
}
