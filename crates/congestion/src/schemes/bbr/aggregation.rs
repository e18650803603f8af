//! ACK aggregation: the number of bytes acknowledged at once beyond the expected number.
//!
//! Links that hold ACKs back (Wi-Fi, cellular, cable) stop a window of two BDP from filling the pipe. The maximum
//! excess of the last 5 to 10 round trips is added to the window (Linux v5.1 and later, `net/ipv4/tcp_bbr.c`,
//! `bbr_update_ack_aggregation`).

use units::{Span, Time};

/// Number of rounds after which the older of the two half windows is forgotten.
const HALF_WINDOW_ROUNDS: u32 = 5;
/// Maximum number of packets in an epoch.
const MAX_EPOCH_PACKETS: f64 = 1_048_576.0;
/// Maximum excess, as a time at the estimated bandwidth.
const MAX_EXCESS: Span = Span::from_ms(100);

#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    epoch_start: Time,
    /// Packets acknowledged in this epoch.
    epoch_acked: f64,
    /// Maximum excess of the present and of the previous half window, packets.
    excess: [f64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// Handles a restart after idleness: no ACKs were expected during it.
    pub(super) fn restart(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0.0;
    }

    /// Counts `acked` packets if `packets_per_s` are expected; an excess above `cwnd` is cut to `cwnd`.
    pub(super) fn update(&mut self, now: Time, acked: f64, packets_per_s: f64, cwnd: f64, round_start: bool) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= HALF_WINDOW_ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.excess[self.current] = 0.0;
            }
        }
        let mut expected = packets_per_s * (now - self.epoch_start).as_secs_f64();
        if self.epoch_acked <= expected || self.epoch_acked + acked >= MAX_EPOCH_PACKETS {
            self.restart(now);
            expected = 0.0;
        }
        self.epoch_acked += acked;
        let excess = (self.epoch_acked - expected).min(cwnd);
        self.excess[self.current] = self.excess[self.current].max(excess);
    }

    /// Returns the number of packets to add to the window.
    pub(super) fn allowance(&self, packets_per_s: f64) -> f64 {
        self.excess[0].max(self.excess[1]).min(packets_per_s * MAX_EXCESS.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_excess_is_what_came_beyond_the_expected() {
        let mut aggregation = Aggregation::default();
        // 1000 packets/s are expected. 10 packets at 100 ms begin an epoch. 8 more at 105 ms make 18, of which 5 were
        // expected.
        aggregation.update(at(100), 10.0, 1000.0, 100.0, false);
        aggregation.update(at(105), 8.0, 1000.0, 100.0, false);
        assert!((aggregation.allowance(1000.0) - 13.0).abs() < 1e-9);
        // The allowance is at most 100 ms of bandwidth, and at most the window.
        assert!((aggregation.allowance(50.0) - 5.0).abs() < 1e-9);
        aggregation.update(at(105), 80.0, 1000.0, 20.0, false);
        assert_eq!(aggregation.allowance(1000.0), 20.0);
    }

    #[test]
    fn an_epoch_ends_when_the_acks_fall_behind() {
        let mut aggregation = Aggregation::default();
        aggregation.update(at(100), 10.0, 1000.0, 100.0, false);
        aggregation.update(at(200), 4.0, 1000.0, 100.0, false);
        // The second epoch starts at 200 ms: 4 + 7 packets, of which 2 were expected, are an excess of 9. The first
        // epoch has 10.
        aggregation.update(at(202), 7.0, 1000.0, 100.0, false);
        assert_eq!(aggregation.allowance(1000.0), 10.0);
        aggregation.update(at(202), 3.0, 1000.0, 100.0, false);
        assert!((aggregation.allowance(1000.0) - 12.0).abs() < 1e-9);
    }

    #[test]
    fn an_excess_is_forgotten_after_ten_rounds_at_the_latest() {
        let mut aggregation = Aggregation::default();
        aggregation.update(at(100), 50.0, 1000.0, 100.0, false);
        let mut now = 1000;
        for round in 1..=10 {
            now += 100;
            aggregation.update(at(now), 1.0, 1000.0, 100.0, true);
            let expected = if round < 10 { 50.0 } else { 1.0 };
            assert_eq!(aggregation.allowance(1000.0), expected, "round {round}");
        }
    }
}
