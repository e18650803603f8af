//! Packets, bytes and times of one direction of one flow, with Pantheon's formulas.

use record::time_to_us;
use units::Span;

/// Rounds a duration in ns to the nearest microsecond, halves away from zero (as in exported logs).
///
/// All delay metrics are computed from delays rounded this way, so that percentile, minimum and mean are consistent.
#[inline]
pub const fn round_to_us(delay_ns: i64) -> i64 {
    let half = if delay_ns < 0 { -500 } else { 500 };
    delay_ns.saturating_add(half) / 1_000
}

/// Returns milliseconds as Python reads them from a log: the double nearest to the printed decimal. (A whole number of
/// microseconds divided by 1000 is correctly rounded, so it equals the double of the parsed text.)
fn time_to_ms(time_ns: u64) -> f64 {
    time_to_us(time_ns) as f64 / 1_000.0
}

/// Conversion of record times into the milliseconds of Pantheon's formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Whole µs, as in an exported log.
    Exported,
    /// Times of an imported log, whose zero is at this time, ns. They may have more decimals.
    Logged(u64),
}

impl Clock {
    pub(crate) fn ms(self, time_ns: u64) -> f64 {
        match self {
            Self::Exported => time_to_ms(time_ns),
            Self::Logged(zero_ns) => {
                let logged_ns = i128::from(time_ns) - i128::from(zero_ns);
                if logged_ns % 1_000 == 0 {
                    (logged_ns / 1_000) as f64 / 1_000.0
                } else {
                    logged_ns as f64 / 1e6
                }
            }
        }
    }
}

/// Percentile of delays in Pantheon (StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py`).
pub(crate) const PANTHEON_PERCENT: f64 = 95.0;

/// Returns the milliseconds of a delay in µs.
pub(crate) fn us_to_ms(us: i64) -> f64 {
    us as f64 / 1_000.0
}

/// Returns the mean rate of `bytes` over `span`, Mbit/s; `None` if `span` is zero.
pub(crate) fn mbps(bytes: u64, span: Span) -> Option<f64> {
    // 1 bit/ns is 1000 Mbit/s.
    (!span.is_zero()).then(|| (bytes * 8) as f64 * 1_000.0 / span.as_ns() as f64)
}

/// Returns the time mean of a quantity from its integral; `None` if `span` is zero.
pub(crate) fn time_mean(integral_ns: u128, span: Span) -> Option<f64> {
    (!span.is_zero()).then(|| integral_ns as f64 / span.as_ns() as f64)
}

/// Packets that passed one point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Time of the first packet, ns.
    first_ns: u64,
    /// Time of the last packet, ns.
    last_ns: u64,
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, time_ns: u64, size_bytes: u32) {
        if self.packets == 0 {
            self.first_ns = time_ns;
        }
        self.packets += 1;
        self.bytes += u64::from(size_bytes);
        self.last_ns = self.last_ns.max(time_ns);
    }

    /// Returns the time of the first packet, ns.
    pub(crate) fn first_ns(&self) -> Option<u64> {
        (self.packets > 0).then_some(self.first_ns)
    }

    /// Sets the time of the first packet of several flows, by the order of the records. (If a clock steps back this is
    /// not the earliest time.)
    pub(crate) fn begin(&mut self, first_ns: Option<u64>) {
        self.first_ns = first_ns.unwrap_or(self.first_ns);
    }

    /// Adds the packets of another flow at this point.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.packets == 0 {
            return;
        }
        self.first_ns = if self.packets == 0 { other.first_ns } else { self.first_ns.min(other.first_ns) };
        self.last_ns = self.last_ns.max(other.last_ns);
        self.packets += other.packets;
        self.bytes += other.bytes;
    }

    /// Returns the time from the first to the latest packet, ms, as a difference of two Python floats.
    pub(crate) fn span_ms(&self, clock: Clock) -> f64 {
        clock.ms(self.last_ns) - clock.ms(self.first_ns)
    }

    /// Returns the mean rate over the tally's own span, Mbit/s; 0 if that span is empty (Pantheon's `tunnel_graph.py`).
    pub(crate) fn mean_mbps(&self, clock: Clock) -> f64 {
        let span_ms = self.span_ms(clock);
        if span_ms > 0.0 { (self.bytes * 8) as f64 / (1_000.0 * span_ms) } else { 0.0 }
    }
}

/// Returns Pantheon's loss rate: the fraction of the sent bytes that were not delivered (`tunnel_graph.py`).
pub(crate) fn byte_loss(sent: &Tally, delivered: &Tally) -> Option<f64> {
    (sent.bytes > 0).then(|| 1.0 - (delivered.bytes * 8) as f64 / (sent.bytes * 8) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(packets: &[(u64, u32)]) -> Tally {
        let mut tally = Tally::default();
        for &(time_ns, size) in packets {
            tally.add(time_ns, size);
        }
        tally
    }

    #[test]
    fn a_rate_divides_by_the_own_first_to_last_span() {
        // 3 x 1,500 B x 8 = 36,000 bit in 2 ms = 18 Mbit/s: the first packet's bits count although its time does not.
        assert_eq!(
            tally(&[(0, 1500), (1_000_000, 1500), (2_000_000, 1500)]).mean_mbps(Clock::Exported),
            18.0
        );
    }

    #[test]
    fn a_rate_is_zero_where_the_span_is_empty() {
        assert_eq!(tally(&[(5_000_000, 1500), (5_000_000, 1500)]).mean_mbps(Clock::Exported), 0.0);
        assert_eq!(Tally::default().mean_mbps(Clock::Exported), 0.0);
    }

    #[test]
    fn merging_spans_from_the_earliest_to_the_latest_packet() {
        let mut total = Tally::default();
        total.merge(&tally(&[(4_000_000, 500), (6_000_000, 500)]));
        total.merge(&Tally::default());
        total.merge(&tally(&[(2_000_000, 250)]));
        assert_eq!((total.packets, total.bytes, total.span_ms(Clock::Exported)), (3, 1_250, 4.0));
    }

    #[test]
    fn duplicates_make_the_byte_loss_negative() {
        assert_eq!(byte_loss(&tally(&[(0, 1000)]), &tally(&[(1, 1000), (2, 1000)])), Some(-1.0));
        assert_eq!(byte_loss(&tally(&[(0, 1000)]), &Tally::default()), Some(1.0));
        assert_eq!(byte_loss(&Tally::default(), &Tally::default()), None);
    }

    #[test]
    fn microseconds_are_rounded_to_the_nearest_with_halves_away_from_zero() {
        let cases = [(499, 0), (500, 1), (1_499, 1), (-499, 0), (-500, -1), (-1_499, -1), (-1_500, -2)];
        for (ns, us) in cases {
            assert_eq!(round_to_us(ns), us, "{ns} ns");
        }
        assert_eq!((time_to_us(1_499), time_to_us(1_500)), (1, 2));
    }

    #[test]
    fn a_clock_that_steps_back_counts_from_the_first_packet_of_the_log_to_the_latest() {
        let flow = tally(&[(5_000_000, 500), (4_800_000, 500), (6_000_000, 500), (5_900_000, 500)]);
        assert_eq!(flow.span_ms(Clock::Exported), 1.0);
        let mut total = flow.clone();
        total.merge(&tally(&[(4_900_000, 500)]));
        assert!(total.span_ms(Clock::Exported) > 1.0);
        total.begin(Some(5_000_000));
        assert_eq!(total.span_ms(Clock::Exported), 1.0);
    }

    #[test]
    fn times_are_those_of_the_log_to_the_last_bit() {
        // times moved by 2.5 ms: their difference is not that of the logged times
        let clock = Clock::Logged(2_500_000);
        assert_eq!(clock.ms(1_003_000), -1.497);
        assert_eq!(clock.ms(30_000_812_345_678), 30_000_809.845_678);
        assert_eq!(clock.ms(2_800_000) - clock.ms(2_600_000), 0.3 - 0.1);
        assert_ne!(Clock::Exported.ms(2_800_000) - Clock::Exported.ms(2_600_000), 0.3 - 0.1);
        assert_eq!(Clock::Logged(0).ms(1_234_567), 1.234_567);
        assert_eq!(Clock::Exported.ms(1_234_567), 1.235);
    }

    #[test]
    fn microseconds_divided_by_a_thousand_are_the_parsed_decimal() {
        for us in (0..3_000_000_000_u64).step_by(7_919_111) {
            let text = format!("{}.{:03}", us / 1_000, us % 1_000);
            assert_eq!(time_to_ms(us * 1_000), text.parse::<f64>().unwrap(), "{text}");
        }
    }
}
