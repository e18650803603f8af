//! Lateness of an end: the time from a datagram's kernel receive timestamp, or from a timer's due time, until the end
//! handled it.

use measure::DelayHistogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Span, Time};

/// Distribution of an end's lateness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Punctuality {
    /// Number of datagrams and timers.
    pub events: u64,
    /// Mean lateness, us.
    pub mean_us: u64,
    /// Median lateness, us.
    pub p50_us: u64,
    /// 99th percentile of the lateness, us.
    pub p99_us: u64,
    /// Maximum lateness, us.
    pub max_us: u64,
}

impl Punctuality {
    /// Returns a remark on an end called `who` if the 99th percentile of its lateness exceeds `bound`.
    pub fn remark(&self, who: &str, bound: Span) -> Option<String> {
        let bound_us = bound.as_ns() / 1000;
        let ms = |us: u64| us as f64 / 1e3;
        (self.p99_us > bound_us).then(|| {
            format!(
                "{who} was late: p99 {:.2} ms above the bound of {:.2} ms (median {:.3} ms)",
                ms(self.p99_us),
                ms(bound_us),
                ms(self.p50_us)
            )
        })
    }
}

/// Collector of an end's lateness.
#[derive(Debug, Default)]
pub struct Delays(DelayHistogram);

impl Delays {
    /// Records an event that was due at `due` and handled at `now`.
    #[inline]
    pub fn record(&mut self, due: Time, now: Time) {
        self.0.record(((now - due).as_ns() / 1000) as i64);
    }

    /// Returns the distribution.
    pub fn report(&mut self) -> Punctuality {
        let events = self.0.count();
        let mean_us = self.0.summary().map_or(0, |summary| summary.mean_us.max(0.0).round() as u64);
        let mut percentile = |percent: f64| self.0.percentile_us(percent).unwrap_or(0).unsigned_abs();
        Punctuality {
            events,
            mean_us,
            p50_us: percentile(50.0),
            p99_us: percentile(99.0),
            max_us: percentile(100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_late_now_and_then_is_told_from_one_that_is_late_often() {
        let at = |us: u64| Time::from_ns(us * 1000);
        let late = |times: u64| {
            let mut delays = Delays::default();
            (0..1000 - times).for_each(|_| delays.record(at(5), at(25)));
            (0..times).for_each(|_| delays.record(at(5), at(5005)));
            delays.report()
        };
        let (seldom, often) = (late(5), late(50));
        assert_eq!(seldom, Punctuality { events: 1000, mean_us: 45, p50_us: 20, p99_us: 20, max_us: 5000 });
        assert_eq!(seldom.remark("flow 1 (bbr) sender", Span::from_ms(1)), None);
        assert_eq!(
            often.remark("flow 1 (bbr) sender", Span::from_ms(1)).unwrap(),
            "flow 1 (bbr) sender was late: p99 5.00 ms above the bound of 1.00 ms (median 0.020 ms)"
        );
        assert_eq!(Delays::default().report(), Punctuality::default());
    }
}
