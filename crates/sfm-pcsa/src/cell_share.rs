//! Which share of some cells is truly set.

use cardinality_estimators::BitChannel;

use crate::double_double::to_f64;

/// The share of cells whose true answer is yes, as noisy bits show it.
///
/// With `k` ones among `m` noisy bits behind a channel `(p, q)`, `d = p − q`, the share is `(k/m − q)/d`. It averages to
/// the share of true cells of *this* bitmap, which is what the error is about; how that share varies with the hash is not
/// part of it.
///
/// # Examples
/// See [`NoisyCells`](crate::NoisyCells).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellShare {
    cells: u64,
    ones: u64,
    share: f64,
    std_error: f64,
}

impl CellShare {
    pub(crate) fn new(cells: u64, ones: u64, channel: BitChannel) -> Self {
        let (p, q, d, total) = (channel.p(), channel.q(), channel.d(), to_f64(cells));
        let share = (to_f64(ones) / total - q) / d;
        // Given the true cells the noisy bits are independent: yes has variance p(1−p), no has q(1−q).
        let yes = share.clamp(0.0, 1.0);
        let variance = yes * p * channel.miss() + (1.0 - yes) * q * (1.0 - q);
        Self { cells, ones, share, std_error: (variance / total).sqrt() / d }
    }

    /// The number of cells.
    #[must_use]
    pub const fn cells(&self) -> u64 {
        self.cells
    }

    /// How many of them read one.
    #[must_use]
    pub const fn ones(&self) -> u64 {
        self.ones
    }

    /// The estimated share of true cells. Not clipped to 0 ..= 1, so that averages of many are unbiased.
    #[must_use]
    pub const fn share(&self) -> f64 {
        self.share
    }

    /// `√(θ p(1−p) + (1−θ) q(1−q)) / (d √m)` for the share `θ`, clipped to 0 ..= 1.
    #[must_use]
    pub const fn std_error(&self) -> f64 {
        self.std_error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_invert_the_channel_and_noiseless_ones_are_exact() {
        let channel = BitChannel::new(0.8, 0.3).unwrap();
        // 0.4 of 1000 cells true: 0.4 · 0.8 + 0.6 · 0.3 = 0.5 read one.
        let found = CellShare::new(1000, 500, channel);
        assert!((found.share() - 0.4).abs() < 1e-15);
        let variance: f64 = 0.4 * 0.8 * 0.2 + 0.6 * 0.3 * 0.7;
        assert!((found.std_error() - (variance / 1000.0).sqrt() / 0.5).abs() < 1e-15);
        let exact = CellShare::new(64, 16, BitChannel::NOISELESS);
        assert_eq!((exact.share().to_bits(), exact.std_error().to_bits()), (0.25_f64.to_bits(), 0));
        // Fewer ones than noise alone gives: below zero, with the error of an empty bitmap.
        let low = CellShare::new(1000, 250, channel);
        assert!(low.share() < 0.0 && (low.std_error() - (0.3_f64 * 0.7 / 1000.0).sqrt() / 0.5).abs() < 1e-15);
    }
}
