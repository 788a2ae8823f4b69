//! Gauss–Legendre quadrature in panels.

/// Positive nodes of the 16-point rule on [−1, 1] with their weights.
const NODES: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_74),
    (0.755_404_408_355_003, 0.124_628_971_255_533_88),
    (0.865_631_202_387_831_8, 0.095_158_511_682_492_79),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_096),
];

/// `∫ f` over `[from, to]`, one 16-point panel (exact for polynomials up to degree 31).
pub(crate) fn panel(from: f64, to: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
    half * NODES.iter().map(|&(node, weight)| weight * (f(middle - half * node) + f(middle + half * node))).sum::<f64>()
}

/// `∫ f` over `[from, to]` in equal panels.
pub(crate) fn panels(from: f64, to: f64, count: u32, mut f: impl FnMut(f64) -> f64) -> f64 {
    let width = (to - from) / f64::from(count);
    (0..count)
        .map(|index| {
            let start = from + f64::from(index) * width;
            panel(start, start + width, &mut f)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_exact_for_its_degree() {
        let got = panel(-1.0, 3.0, |x| x.powi(31) + x.powi(30));
        let antiderivative = |x: f64| x.powi(32) / 32.0 + x.powi(31) / 31.0;
        let want = antiderivative(3.0) - antiderivative(-1.0);
        assert!((got / want - 1.0).abs() < 1e-13);
    }

    #[test]
    fn panels_add_up() {
        assert!((panels(0.0, 20.0, 7, f64::sin) - (1.0 - 20.0_f64.cos())).abs() < 1e-13);
    }
}
