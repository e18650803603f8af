//! Base delay: the minimum one-way delay of the last minutes, as the LEDBAT family keeps it (RFC 6817 3.4.2).

use units::{Span, Time};

/// Maximum length of a history, minutes.
pub(crate) const MAX_MINUTES: usize = 60;

/// Length of one slot.
const SLOT: Span = Span::from_secs(60);

/// Minima of one-minute slots. Delays are in ns and contain an unknown clock offset; they may be negative.
///
/// Without samples time stands still: after a pause of any length one slot is replaced, as in RFC 6817 and libutp.
#[derive(Clone, Debug)]
pub(crate) struct BaseDelay {
    slots: [i64; MAX_MINUTES],
    /// Slots in use, 1 to [`MAX_MINUTES`].
    count: usize,
    current: usize,
    /// Beginning of the current slot; `None` before the first sample.
    began: Option<Time>,
    base_ns: i64,
}

impl BaseDelay {
    /// Returns a history of `minutes` slots (1 to [`MAX_MINUTES`]).
    pub(crate) fn new(minutes: usize) -> Self {
        let count = minutes.clamp(1, MAX_MINUTES);
        Self { slots: [i64::MAX; MAX_MINUTES], count, current: 0, began: None, base_ns: 0 }
    }

    /// Adds a delay sample.
    pub(crate) fn add(&mut self, now: Time, delay_ns: i64) {
        match self.began {
            None => {
                self.slots[..self.count].fill(delay_ns);
                self.began = Some(now);
                self.base_ns = delay_ns;
            }
            Some(began) if now - began > SLOT => {
                self.began = Some(now);
                self.current = (self.current + 1) % self.count;
                self.slots[self.current] = delay_ns;
                self.base_ns = self.slots[..self.count].iter().copied().min().unwrap_or(delay_ns);
            }
            Some(_) => {
                self.slots[self.current] = self.slots[self.current].min(delay_ns);
                self.base_ns = self.base_ns.min(delay_ns);
            }
        }
    }

    /// Returns the base delay, ns plus clock offset; `None` before the first sample.
    pub(crate) fn get(&self) -> Option<i64> {
        self.began.map(|_| self.base_ns)
    }

    /// Raises every slot by `ns`.
    pub(crate) fn shift(&mut self, ns: i64) {
        for slot in &mut self.slots[..self.count] {
            *slot = slot.saturating_add(ns);
        }
        self.base_ns = self.base_ns.saturating_add(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_minimum_is_forgotten_after_its_slot_is_reused() {
        let mut base = BaseDelay::new(2);
        assert_eq!(base.get(), None);
        base.add(at(0), -50);
        base.add(at(1), 30);
        assert_eq!(base.get(), Some(-50));
        // Minute 1 begins with 30; both slots started at -50, so the old minimum stays for one more minute.
        base.add(at(61), 30);
        assert_eq!(base.get(), Some(-50));
        base.add(at(122), 40);
        assert_eq!(base.get(), Some(30));
    }

    #[test]
    fn a_slot_lasts_sixty_seconds_from_its_first_sample() {
        let mut base = BaseDelay::new(1);
        base.add(at(5), 10);
        base.add(at(65), 20);
        assert_eq!(base.get(), Some(10));
        base.add(at(66), 20);
        assert_eq!(base.get(), Some(20));
    }

    #[test]
    fn a_shift_moves_the_whole_history() {
        let mut base = BaseDelay::new(13);
        base.add(at(0), 100);
        base.shift(7);
        assert_eq!(base.get(), Some(107));
        base.add(at(61), 500);
        assert_eq!(base.get(), Some(107));
    }
}
