//! Seeded random streams, identical on every platform.

use crate::Span;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Seeded stream of random numbers (xoshiro256++). Logarithms come from `libm`, so draws are identical on every
/// platform.
#[derive(Clone, Debug)]
pub struct Rng {
    source: Xoshiro256PlusPlus,
}

impl Rng {
    /// Returns the stream named `stream` of `seed`. Streams with different names are independent, so a new element of a
    /// path does not change the draws of the others.
    pub fn new(seed: u64, stream: &str) -> Self {
        // FNV-1a folds the name into the seed; seed_from_u64 then mixes all bits (SplitMix64).
        let folded = stream.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self { source: Xoshiro256PlusPlus::seed_from_u64(folded) }
    }

    /// Returns a uniform 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.source.next_u64()
    }

    /// Returns a uniform number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform integer in [0, n); 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Returns true with probability `p`; draws nothing if `p` is 0.
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }

    /// Returns an exponential number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.uniform()) * mean
    }

    /// Returns an exponential span with the given mean.
    pub fn exponential_span(&mut self, mean: Span) -> Span {
        Span::from_ns(self.exponential(mean.as_ns() as f64).round() as u64)
    }

    /// Returns a normal number with the given mean and standard deviation (Marsaglia's polar method, one value per
    /// draw).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let s = x * x + y * y;
            if s > 0.0 && s < 1.0 {
                return mean + deviation * x * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// Returns a Pareto number with the given mean and shape (shape > 1): heavy-tailed, at least `mean * (shape - 1) /
    /// shape`.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_and_stream_repeat_and_others_differ() {
        let draw = |seed, stream| Rng::new(seed, stream).next_u64();
        assert_eq!(draw(1, "loss"), draw(1, "loss"));
        assert_ne!(draw(1, "loss"), draw(2, "loss"));
        assert_ne!(draw(1, "loss"), draw(1, "jitter"));
    }

    #[test]
    fn moments_are_right() {
        let mut rng = Rng::new(7, "moments");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        // Standard error of each mean is below 0.005; the bounds are six of them.
        assert!((mean(&mut || rng.exponential(2.0)) - 2.0).abs() < 0.03);
        assert!((mean(&mut || rng.normal(1.0, 2.0)) - 1.0).abs() < 0.03);
        assert!((mean(&mut || rng.uniform()) - 0.5).abs() < 0.01);
        assert!((mean(&mut || rng.pareto(3.0, 3.0)) - 3.0).abs() < 0.05);
    }

    #[test]
    fn below_stays_below() {
        let mut rng = Rng::new(7, "below");
        assert!((0..10_000).all(|_| rng.below(7) < 7));
        assert_eq!(rng.below(0), 0);
    }
}
