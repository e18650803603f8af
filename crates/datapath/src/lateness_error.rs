//! How far lateness makes the numbers of a run wrong, and how far it may before the run counts as degraded.
//!
//! At the bounds a simulated run differs by at most 2 % of its throughput and 1 ms of its mean one-way delay from the same
//! run without lateness (`tests/core/test_lateness_bounds.py`), which is what runs of one scheme differ by among themselves.

use crate::lateness::{Lateness, LatenessReport, bound};
use schemars::JsonSchema;
use serde::Serialize;
use units::Span;

/// What lateness may add to a round trip in the mean. It is no share of the RTT: controllers that keep a queue of a few
/// packets (Copa) take it for queue.
const DELAY_BOUND: Span = Span::from_us(500);
/// Share by which lateness may make rates wrong.
const RATE_BOUND: f64 = 0.02;
/// Longest time that path or end may stand still, or [`STILL_RTT_SHARE`] of the base RTT if that is more: after a round trip
/// without ACKs the window has left at once, and a queue overflows that would not have.
const STILL_BOUND: Span = Span::from_ms(20);
/// Share of the base RTT that path or end may stand still.
const STILL_RTT_SHARE: u64 = 2;

/// How far lateness made the numbers of a run wrong, at most.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LatenessError {
    /// What lateness added to a round trip in the mean, ms: on the path in both directions, and at the ends of the flow
    /// where that is most.
    pub delay_ms: f64,
    /// What that may reach before the run counts as degraded, ms.
    pub delay_bound_ms: f64,
    /// Delay that lateness added to a packet one way, 95th percentile, ms.
    pub delay_p95_ms: f64,
    /// What that may reach before the run counts as degraded, ms.
    pub delay_p95_bound_ms: f64,
    /// Share by which rates are wrong.
    pub rate: f64,
    /// What that may reach before the run counts as degraded.
    pub rate_bound: f64,
    /// Longest time that the path or an end stood still, ms.
    pub longest_ms: f64,
    /// What that may reach before the run counts as degraded, ms.
    pub longest_bound_ms: f64,
}

/// How late the end of a flow was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndError {
    /// What the end added to a round trip in the mean, ms.
    pub(crate) delay_ms: f64,
    /// Share of the time for which the end had no processor although it always wanted one.
    pub(crate) rate: f64,
}

/// The judgement on a run that was late.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    /// Why the run counts as degraded, if it does.
    pub(crate) degraded: Option<String>,
    /// How late the run was, if its numbers are good all the same.
    pub(crate) remark: Option<String>,
}

impl LatenessError {
    /// Returns the error of a run in which nothing was late.
    pub(crate) fn none(base_rtt: Span) -> Self {
        Self {
            delay_ms: 0.0,
            delay_bound_ms: ms(DELAY_BOUND),
            delay_p95_ms: 0.0,
            delay_p95_bound_ms: ms(bound(base_rtt)),
            rate: 0.0,
            rate_bound: RATE_BOUND,
            longest_ms: 0.0,
            longest_bound_ms: ms(STILL_BOUND.max(base_rtt / STILL_RTT_SHARE)),
        }
    }

    /// Adds what both directions of a path do, whose lateness together is `report`.
    pub(crate) fn with_path(
        mut self,
        directions: [&mut Lateness; 2],
        report: &LatenessReport,
        duration: Span,
    ) -> Self {
        self.delay_ms += directions.into_iter().map(|direction| direction.mean_us() / 1e3).sum::<f64>();
        self.delay_p95_ms = report.p95 as f64 / 1e3;
        self.rate += share(Span::from_us(report.remembered), duration);
        self.longest_ms = self.longest_ms.max(report.max as f64 / 1e3);
        self
    }

    /// Adds what the ends of flows do, of which no flow has more than `delay_ms` and `rate`. The longest time that one of them
    /// stood still is lost to its flow.
    pub(crate) fn with_ends(mut self, worst: EndError, longest: Option<Span>, duration: Span) -> Self {
        let longest = longest.unwrap_or(Span::ZERO);
        self.delay_ms += worst.delay_ms;
        self.rate += worst.rate + share(longest, duration);
        self.longest_ms = self.longest_ms.max(ms(longest));
        self
    }

    /// Returns what is said of the run, of which `cause` tells what was late.
    pub(crate) fn verdict(&self, cause: Option<&str>) -> Verdict {
        let beyond = self.beyond();
        let text = |what: String| cause.into_iter().chain([&*what]).collect::<Vec<_>>().join("; ");
        match (beyond, cause) {
            (Some(beyond), _) => Verdict { degraded: Some(text(beyond)), remark: None },
            (None, Some(_)) => {
                let error = format!(
                    "lateness added {:.2} ms to a round trip and made rates wrong by at most {:.1} %",
                    self.delay_ms,
                    self.rate * 100.0
                );
                Verdict { degraded: None, remark: Some(text(error)) }
            }
            (None, None) => Verdict::default(),
        }
    }

    /// Returns which bound is exceeded, if any is.
    fn beyond(&self) -> Option<String> {
        let delay = |what: &str, found: f64, bound: f64| {
            (found > bound).then(|| format!("lateness added {found:.2} ms to {what}, bound {bound:.2} ms"))
        };
        delay("a round trip", self.delay_ms, self.delay_bound_ms)
            .or_else(|| {
                (self.rate > self.rate_bound).then(|| {
                    let [found, bound] = [self.rate, self.rate_bound].map(|share| share * 100.0);
                    format!("lateness made rates wrong by up to {found:.1} %, bound {bound:.0} %")
                })
            })
            .or_else(|| delay("one packet of twenty or more", self.delay_p95_ms, self.delay_p95_bound_ms))
            .or_else(|| {
                let [found, bound] = [self.longest_ms, self.longest_bound_ms];
                (found > bound)
                    .then(|| format!("path or ends stood still for {found:.0} ms, bound {bound:.0} ms"))
            })
    }
}

impl EndError {
    /// Returns what both ends of a flow do together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { delay_ms: self.delay_ms + other.delay_ms, rate: self.rate.max(other.rate) }
    }

    /// Returns the larger of each.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { delay_ms: self.delay_ms.max(other.delay_ms), rate: self.rate.max(other.rate) }
    }
}

fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

fn share(part: Span, whole: Span) -> f64 {
    part.as_ns() as f64 / whole.as_ns().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of 10 s on a path of 40 ms in which these packets of each direction were so late.
    fn path(late_us: impl Iterator<Item = u64> + Clone, loss_based: bool) -> LatenessError {
        let mut direction = Lateness::default();
        // A queue of 10 ms was full and empty.
        for ms in [5, 15] {
            direction.record_passage(Span::from_ms(ms));
        }
        late_us.for_each(|us| direction.record(Span::from_us(us)));
        let (rtt, duration) = (Span::from_ms(40), Span::from_secs(10));
        let mut both = direction.clone();
        both.merge(&direction);
        let report = both.report(rtt, duration, loss_based);
        LatenessError::none(rtt).with_path([&mut direction, &mut both], &report, duration)
    }

    #[test]
    fn a_run_that_was_late_on_a_busy_machine_is_done_with_its_error_and_not_degraded_for_ever() {
        // A run of docs/evidence/agreement.md: the emulator stood still 9 times for up to 3.1 ms, and 7 times were allowed.
        let often = (0..20_000).map(|number| if number % 2000 == 0 { 3100 } else { 20 });
        let pauses = path(often.clone(), false);
        let verdict = pauses.verdict(Some("the emulator stood still"));
        assert_eq!(
            verdict.degraded.as_deref(),
            Some("the emulator stood still; lateness made rates wrong by up to 3.1 %, bound 2 %")
        );
        assert_eq!(path(often, true).verdict(None), Verdict::default(), "the queue hides pauses of 3.1 ms");
        let longer = (0..20_000).map(|number| if number % 2000 == 0 { 5100 } else { 20 });
        assert!(path(longer, true).verdict(None).degraded.is_some(), "but not those of half of its length");
        let pauses = path((0..20_000).map(|number| if number % 4000 == 0 { 3100 } else { 20 }), false);
        let verdict = pauses.verdict(Some("the emulator stood still"));
        assert_eq!(verdict.degraded, None);
        assert_eq!(
            verdict.remark.unwrap(),
            "the emulator stood still; lateness added 0.04 ms to a round trip and made rates wrong by at most 1.6 %"
        );
        assert_eq!(path([20; 1000].into_iter(), false).verdict(None), Verdict::default());
    }

    #[test]
    fn delays_that_are_wrong_in_the_mean_or_in_one_packet_of_twenty_degrade_a_run() {
        let mean = path([260; 1000].into_iter(), false).verdict(None).degraded.unwrap();
        assert_eq!(mean, "lateness added 0.52 ms to a round trip, bound 0.50 ms");
        let mut tail = path([20; 1000].into_iter(), false);
        tail.delay_p95_ms = 2.5;
        assert_eq!(
            tail.verdict(None).degraded.unwrap(),
            "lateness added 2.50 ms to one packet of twenty or more, bound 2.00 ms"
        );
    }

    #[test]
    fn ends_without_a_processor_count_like_the_path() {
        let (rtt, duration) = (Span::from_ms(100), Span::from_secs(10));
        let end = EndError { delay_ms: 0.2, rate: 0.0 };
        let both = end.and(EndError { delay_ms: 0.2, rate: 0.015 });
        let good = LatenessError::none(rtt).with_ends(both.max(end), None, duration);
        assert_eq!((good.delay_ms, good.delay_bound_ms, good.verdict(None)), (0.4, 0.5, Verdict::default()));
        let stood = |ms| LatenessError::none(rtt).with_ends(both, Some(Span::from_ms(ms)), duration);
        assert_eq!(stood(40).verdict(None).degraded, None);
        assert_eq!(
            stood(60).verdict(None).degraded.unwrap(),
            "lateness made rates wrong by up to 2.1 %, bound 2 %"
        );
        let long = LatenessError::none(rtt).with_ends(end, Some(Span::from_ms(60)), Span::from_secs(60));
        assert_eq!(long.verdict(None).degraded.unwrap(), "path or ends stood still for 60 ms, bound 50 ms");
    }
}
