//! Round trips, detected from deliveries, and peak values of the latest two.

/// Largest value of the current round trip and of the previous one.
#[derive(Clone, Copy, Debug, Default)]
struct Peak<T> {
    current: T,
    previous: T,
}

impl<T: Copy + Ord> Peak<T> {
    fn note(&mut self, value: T) {
        self.current = self.current.max(value);
    }

    const fn begin_round(&mut self, value: T) {
        self.previous = self.current;
        self.current = value;
    }

    fn get(self) -> T {
        self.current.max(self.previous)
    }
}

/// Current round trip of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Delivered bytes at which the round began. A packet that left after that ends the round.
    ends_at: u64,
    in_flight: Peak<u64>,
    window_limited: Peak<bool>,
    pacing_limited: Peak<bool>,
}

impl Rounds {
    /// Notes the bytes in flight.
    pub fn note_in_flight(&mut self, bytes: u64) {
        self.in_flight.note(bytes);
    }

    /// Notes that the window kept a packet back.
    pub fn note_window_limited(&mut self) {
        self.window_limited.note(true);
    }

    /// Notes that the pacer kept packets back that would have filled the window.
    pub fn note_pacing_limited(&mut self) {
        self.pacing_limited.note(true);
    }

    /// Returns true if the window has kept a packet back in this round.
    pub const fn is_window_limited(&self) -> bool {
        self.window_limited.current
    }

    /// Returns true if the window, or the pacer in its place, has kept a packet back in this round.
    pub const fn is_limited(&self) -> bool {
        self.window_limited.current || self.pacing_limited.current
    }

    /// Returns true if an arrived packet ends the round: call [`Rounds::begin`] after reading the peaks. `at_send`
    /// bytes were delivered when the packet left, `delivered` by now.
    pub const fn is_over(&mut self, at_send: u64, delivered: u64) -> bool {
        let is_over = at_send >= self.ends_at;
        if is_over {
            self.ends_at = delivered;
        }
        is_over
    }

    /// Begins the next round with `in_flight` bytes in flight.
    pub const fn begin(&mut self, in_flight: u64) {
        self.in_flight.begin_round(in_flight);
        self.window_limited.begin_round(false);
        self.pacing_limited.begin_round(false);
    }

    /// Returns the most bytes in flight at any moment since the start of the previous round.
    pub fn peak_in_flight(&self) -> u64 {
        self.in_flight.get()
    }

    /// Returns true if the window kept a packet back since the start of the previous round.
    pub fn was_window_limited(&self) -> bool {
        self.window_limited.get()
    }

    /// Returns true if, since the start of the previous round, the pacer kept packets back that would have filled the
    /// window.
    pub fn was_pacing_limited(&self) -> bool {
        self.pacing_limited.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_a_packet_that_left_after_its_beginning() {
        let mut rounds = Rounds::default();
        assert!(rounds.is_over(0, 1000));
        assert!(!rounds.is_over(999, 2000));
        assert!(rounds.is_over(1000, 3000));
        assert!(!rounds.is_over(2999, 4000));
    }

    #[test]
    fn peaks_last_for_the_present_round_and_the_one_before() {
        let mut rounds = Rounds::default();
        rounds.note_in_flight(5000);
        rounds.note_window_limited();
        rounds.begin(3000);
        rounds.note_in_flight(4000);
        assert_eq!((rounds.peak_in_flight(), rounds.was_window_limited()), (5000, true));
        rounds.begin(2000);
        assert_eq!((rounds.peak_in_flight(), rounds.was_window_limited()), (4000, false));
    }
}
