//! Random bits handed out a few at a time.

use zeroize::Zeroize;

use crate::NoiseSource;

/// A stream of random bits of which the next 64 can always be seen.
///
/// Bits come from the top of each word drawn. They may be looked at before it is known how many are needed: a caller that
/// decides to take `n` bits by looking at those `n` only leaves the others uniform.
pub(crate) struct Reservoir {
    /// The next 64 bits.
    visible: u64,
    /// The bits after those, from the top; the rest is zero.
    ahead: u64,
    /// How many bits `ahead` holds.
    count: u32,
}

impl Reservoir {
    pub(crate) fn new<R: NoiseSource + ?Sized>(noise: &mut R) -> Self {
        Self { visible: noise.next_u64(), ahead: 0, count: 0 }
    }

    /// The next 64 bits, first bit on top.
    pub(crate) fn peek(&self) -> u64 {
        self.visible
    }

    /// Uses up the next `bits` bits, 1 to 63 of them.
    pub(crate) fn take<R: NoiseSource + ?Sized>(&mut self, bits: u32, noise: &mut R) {
        debug_assert!((1..64).contains(&bits));
        self.visible = (self.visible << bits) | (self.ahead >> (64 - bits));
        if bits <= self.count {
            self.ahead <<= bits;
            self.count -= bits;
        } else {
            let fresh = noise.next_u64();
            let missing = bits - self.count;
            self.visible |= fresh >> (64 - missing);
            self.ahead = fresh << missing;
            self.count = 64 - missing;
        }
    }
}

impl Drop for Reservoir {
    fn drop(&mut self) {
        self.visible.zeroize();
        self.ahead.zeroize();
    }
}
