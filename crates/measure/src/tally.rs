//! Packets, bytes and times of one direction of one flow, and Pantheon's formulas over them.

use record::time_to_us;
use units::Span;

/// Nearest whole microsecond of a time span in ns, halves away from zero (as logs are exported).
///
/// All delay metrics are computed from delays rounded this way, so that percentile, minimum and mean fit together.
#[inline]
pub const fn round_to_us(delay_ns: i64) -> i64 {
    let half = if delay_ns < 0 { -500 } else { 500 };
    delay_ns.saturating_add(half) / 1_000
}

/// Milliseconds as Python reads them from a log: the double nearest to the printed decimal. (A whole number of
/// microseconds divided by 1000 is correctly rounded, thus the same double as the parsed text.)
pub(crate) fn time_to_ms(time_ns: u64) -> f64 {
    time_to_us(time_ns) as f64 / 1_000.0
}

/// Milliseconds of a delay in µs.
pub(crate) fn us_to_ms(us: i64) -> f64 {
    us as f64 / 1_000.0
}

/// Mean rate of `bytes` over `span`, Mbit/s; `None` over no time.
pub(crate) fn mbps(bytes: u64, span: Span) -> Option<f64> {
    // bit/ns are 1000 Mbit/s.
    (!span.is_zero()).then(|| (bytes * 8) as f64 * 1_000.0 / span.as_ns() as f64)
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

    /// Time of the first packet, ns.
    pub(crate) fn first_ns(&self) -> Option<u64> {
        (self.packets > 0).then_some(self.first_ns)
    }

    /// Adds what another flow sent past the same point.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.packets == 0 {
            return;
        }
        self.first_ns = if self.packets == 0 { other.first_ns } else { self.first_ns.min(other.first_ns) };
        self.last_ns = self.last_ns.max(other.last_ns);
        self.packets += other.packets;
        self.bytes += other.bytes;
    }

    /// Time from the first to the last packet, ms, as a difference of two Python floats.
    pub(crate) fn span_ms(&self) -> f64 {
        time_to_ms(self.last_ns) - time_to_ms(self.first_ns)
    }

    /// Mean rate over the tally's own span, Mbit/s; 0 where that span is empty (Pantheon's `tunnel_graph.py`).
    pub(crate) fn mean_mbps(&self) -> f64 {
        let span_ms = self.span_ms();
        if span_ms > 0.0 { (self.bytes * 8) as f64 / (1_000.0 * span_ms) } else { 0.0 }
    }
}

/// Pantheon's loss rate: the fraction of the bytes that went in and did not come out (`tunnel_graph.py`).
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
        assert_eq!(tally(&[(0, 1500), (1_000_000, 1500), (2_000_000, 1500)]).mean_mbps(), 18.0);
    }

    #[test]
    fn a_rate_is_zero_where_the_span_is_empty() {
        assert_eq!(tally(&[(5_000_000, 1500), (5_000_000, 1500)]).mean_mbps(), 0.0);
        assert_eq!(Tally::default().mean_mbps(), 0.0);
    }

    #[test]
    fn merging_spans_from_the_earliest_to_the_latest_packet() {
        let mut total = Tally::default();
        total.merge(&tally(&[(4_000_000, 500), (6_000_000, 500)]));
        total.merge(&Tally::default());
        total.merge(&tally(&[(2_000_000, 250)]));
        assert_eq!((total.packets, total.bytes, total.span_ms()), (3, 1_250, 4.0));
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
    fn microseconds_divided_by_a_thousand_are_the_parsed_decimal() {
        for us in (0..3_000_000_000_u64).step_by(7_919_111) {
            let text = format!("{}.{:03}", us / 1_000, us % 1_000);
            assert_eq!(time_to_ms(us * 1_000), text.parse::<f64>().unwrap(), "{text}");
        }
    }
}
