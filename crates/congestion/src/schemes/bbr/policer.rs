//! Long-term bandwidth sampling: detection of a token-bucket policer by heavy loss at a steady delivery rate.
//!
//! Two successive sampling intervals of at least four round trips indicate a policer if each has at least 50/256 lost
//! per delivered bytes and their rates are nearly equal. That rate then replaces the bandwidth filter for 48 round
//! trips (Linux v5.15, `net/ipv4/tcp_bbr.c`, `bbr_lt_bw_sampling`).

use units::Time;

/// Difference of rates that counts as equal, as a fraction of the older rate.
const RATIO: f64 = 1.0 / 8.0;
/// Difference of rates that counts as equal for any rate: 4 kbit/s.
const DIFFERENCE_BPS: f64 = 4000.0;
/// Maximum length of an interval, as a multiple of the minimum number of rounds.
const GIVE_UP_FACTOR: u32 = 4;
/// Minimum interval, ns: Linux counts in whole milliseconds and refuses zero.
const MIN_INTERVAL_NS: u64 = 1_000_000;

/// Input of the policer detection from one ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) now: Time,
    /// Totals of the connection.
    pub(super) delivered_bytes: u64,
    pub(super) lost_bytes: u64,
    /// True if this ACK revealed losses.
    pub(super) has_losses: bool,
    pub(super) app_limited: bool,
    pub(super) round_start: bool,
    pub(super) in_probe_bw: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Policer {
    pub(super) enabled: bool,
    /// Minimum number of rounds in an interval.
    pub(super) min_rounds: u32,
    /// Minimum ratio of lost to delivered bytes for an interval to count.
    pub(super) loss_threshold: f64,
    /// Number of rounds for which an estimate is used.
    pub(super) hold_rounds: u32,
    is_sampling: bool,
    in_use: bool,
    /// Rate estimate of the previous interval, or the estimate in use, bit/s; 0 without an estimate.
    bps: f64,
    rounds: u32,
    since: Time,
    delivered_bytes: u64,
    lost_bytes: u64,
}

impl Policer {
    pub(super) fn new(enabled: bool, min_rounds: u32, loss_threshold: f64, hold_rounds: u32) -> Self {
        Self {
            enabled,
            min_rounds,
            loss_threshold,
            hold_rounds,
            is_sampling: false,
            in_use: false,
            bps: 0.0,
            rounds: 0,
            since: Time::ZERO,
            delivered_bytes: 0,
            lost_bytes: 0,
        }
    }

    /// Returns the policer's rate while the estimate is in use, bit/s.
    pub(super) fn estimate_bps(&self) -> Option<u64> {
        self.in_use.then_some(self.bps as u64)
    }

    /// Forgets the estimate. The next loss opens a fresh interval, so its counters need no values here.
    pub(super) fn reset(&mut self) {
        self.bps = 0.0;
        self.in_use = false;
        self.is_sampling = false;
        self.rounds = 0;
    }

    fn begin_interval(&mut self, sample: &Sample) {
        self.since = sample.now;
        self.delivered_bytes = sample.delivered_bytes;
        self.lost_bytes = sample.lost_bytes;
        self.rounds = 0;
    }

    /// Handles one ACK. Returns true if an estimate in use just expired: bandwidth probing then restarts.
    pub(super) fn update(&mut self, sample: &Sample) -> bool {
        if !self.enabled {
            return false;
        }
        if self.in_use {
            self.rounds += u32::from(sample.in_probe_bw && sample.round_start);
            let is_over = self.rounds >= self.hold_rounds;
            if is_over {
                self.reset();
            }
            return is_over;
        }
        // A policer shows itself by loss. Intervals begin and end with a loss, so that whole token buckets are
        // measured.
        if !self.is_sampling {
            if !sample.has_losses {
                return false;
            }
            self.begin_interval(sample);
            self.is_sampling = true;
        }
        if sample.app_limited {
            self.reset();
            return false;
        }
        self.rounds += u32::from(sample.round_start);
        if self.rounds > self.min_rounds * GIVE_UP_FACTOR {
            self.reset();
        } else if self.rounds >= self.min_rounds && sample.has_losses {
            self.try_end_interval(sample);
        }
        false
    }

    fn try_end_interval(&mut self, sample: &Sample) {
        let lost = (sample.lost_bytes - self.lost_bytes) as f64;
        let delivered = (sample.delivered_bytes - self.delivered_bytes) as f64;
        let span = sample.now - self.since;
        if delivered == 0.0 || lost < self.loss_threshold * delivered || span.as_ns() < MIN_INTERVAL_NS {
            return;
        }
        let bps = delivered * 8.0 / span.as_secs_f64();
        let difference = (bps - self.bps).abs();
        if self.bps > 0.0 && (difference <= RATIO * self.bps || difference <= DIFFERENCE_BPS) {
            self.bps = f64::midpoint(bps, self.bps);
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.bps = bps;
            self.begin_interval(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds rounds of 100 ms, with 80 kB delivered and `lost` bytes lost each.
    struct Feed {
        policer: Policer,
        sample: Sample,
    }

    impl Feed {
        fn new() -> Self {
            let sample = Sample {
                now: Time::from_ns(1_000_000_000),
                delivered_bytes: 0,
                lost_bytes: 0,
                has_losses: false,
                app_limited: false,
                round_start: true,
                in_probe_bw: true,
            };
            Self { policer: Policer::new(true, 4, 50.0 / 256.0, 48), sample }
        }

        fn round(&mut self, lost_bytes: u64) -> bool {
            self.sample.now += units::Span::from_ms(100);
            self.sample.delivered_bytes += 80_000;
            self.sample.lost_bytes += lost_bytes;
            self.sample.has_losses = lost_bytes > 0;
            self.policer.update(&self.sample)
        }
    }

    #[test]
    fn two_lossy_intervals_of_equal_rate_are_a_policer() {
        let mut feed = Feed::new();
        // The first loss opens the interval in its round 1. Rounds 2, 3 and 4 complete it: 3 x 80 kB in 300 ms.
        (0..4).for_each(|_| assert!(!feed.round(20_000)));
        assert_eq!(feed.policer.estimate_bps(), None);
        (0..3).for_each(|_| assert!(!feed.round(20_000)));
        assert_eq!(feed.policer.estimate_bps(), None);
        feed.round(20_000);
        assert_eq!(feed.policer.estimate_bps(), Some(6_400_000)); // 80 kB per 100 ms
    }

    #[test]
    fn an_estimate_is_kept_for_48_rounds() {
        let mut feed = Feed::new();
        (0..8).for_each(|_| assert!(!feed.round(20_000)));
        assert!(feed.policer.estimate_bps().is_some());
        (0..47).for_each(|_| assert!(!feed.round(0)));
        assert!(feed.round(0));
        assert_eq!(feed.policer.estimate_bps(), None);
    }

    #[test]
    fn loss_below_a_fifth_is_no_policer() {
        let mut feed = Feed::new();
        // 15 kB lost per 80 kB delivered is 18.75 %; the threshold is 19.53 %.
        (0..40).for_each(|_| assert!(!feed.round(15_000)));
        assert_eq!(feed.policer.estimate_bps(), None);
    }

    #[test]
    fn an_application_limited_sample_forgets_the_first_interval() {
        let mut feed = Feed::new();
        (0..4).for_each(|_| assert!(!feed.round(20_000)));
        feed.sample.app_limited = true;
        feed.round(20_000);
        feed.sample.app_limited = false;
        (0..4).for_each(|_| assert!(!feed.round(20_000)));
        assert_eq!(feed.policer.estimate_bps(), None);
    }
}
