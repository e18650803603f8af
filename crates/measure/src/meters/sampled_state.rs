//! Time means of state that senders stated at some times: a value holds until the next.

use crate::inputs::{SenderCounters, StatedTotals};
use units::{Span, Time};

/// Time of a flow in which its state is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampledSpan {
    /// Number of the flow.
    pub(crate) flow: u32,
    /// First packet.
    pub(crate) from: Time,
    /// First acknowledgement: RTTs stated earlier are guesses.
    pub(crate) acknowledged: Option<Time>,
    /// End of the flow.
    pub(crate) to: Time,
}

/// Integrates the samples of an imported log: `window` and `in_flight` (bytes) and `srtt` (ms). For the totals
/// `retransmissions`, `sent` and `lost` (packets) and `delivered` (bytes) it keeps the increase during the log.
#[derive(Clone, Debug)]
pub struct SampledStates {
    flows: Vec<SampledFlow>,
}

#[derive(Clone, Debug)]
struct SampledFlow {
    span: SampledSpan,
    window: Steps,
    in_flight: Steps,
    srtt: Steps,
    retransmissions: Total,
    delivered: Total,
    sent: Total,
    lost: Total,
}

/// Total with its first and last statement: time and value.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    range: Option<((Time, u64), (Time, u64))>,
}

impl Total {
    fn state(&mut self, at: Time, value: u64) {
        let first = self.range.map_or((at, value), |(first, _)| first);
        self.range = Some((first, (at, value)));
    }

    /// Returns the increase of the total, and the time that it took.
    fn added(self) -> Option<(u64, Span)> {
        self.range.map(|(first, last)| (last.1.saturating_sub(first.1), last.0 - first.0))
    }

    fn count(self) -> Option<u64> {
        self.added().map(|(count, _)| count)
    }
}

/// Value that changes in steps, and its integral.
#[derive(Clone, Debug)]
struct Steps {
    from: Time,
    to: Time,
    /// End of the integral, and the value since then.
    latest: Option<(Time, u64)>,
    value_ns: u128,
    active_ns: u64,
}

impl Steps {
    fn new(from: Time, to: Time) -> Self {
        Self { from, to, latest: None, value_ns: 0, active_ns: 0 }
    }

    /// Adds a value. Before `from` only the last value counts, after `to` none. Values come in order of time.
    fn state(&mut self, at: Time, value: u64) {
        let at = at.max(self.from).min(self.to);
        self.integrate(at);
        self.latest = Some((at, value));
    }

    fn integrate(&mut self, at: Time) {
        if let Some((since, value)) = self.latest {
            let ns = (at - since).as_ns();
            self.value_ns += u128::from(value) * u128::from(ns);
            self.active_ns += ns;
        }
    }

    /// Returns the integral and the time that it covers.
    fn finish(mut self) -> (u128, Span) {
        self.integrate(self.to);
        (self.value_ns, Span::from_ns(self.active_ns))
    }
}

impl SampledStates {
    pub(crate) fn new(flows: impl Iterator<Item = SampledSpan>) -> Self {
        let stated = |span: SampledSpan| SampledFlow {
            window: Steps::new(span.from, span.to),
            in_flight: Steps::new(span.from, span.to),
            // Without an acknowledgement no RTT counts.
            srtt: Steps::new(span.acknowledged.unwrap_or(span.to), span.to),
            retransmissions: Total::default(),
            delivered: Total::default(),
            sent: Total::default(),
            lost: Total::default(),
            span,
        };
        Self { flows: flows.map(stated).collect() }
    }

    /// Adds the next value that the sender of flow number `flow` stated, in order of time. Other fields, and flows
    /// without records, are ignored.
    pub fn state(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        let Some(stated) = self.flows.iter_mut().find(|stated| stated.span.flow == flow) else { return };
        match (field, unit) {
            ("window", "bytes") => stated.window.state(at, value as u64),
            ("in_flight", "bytes") => stated.in_flight.state(at, value as u64),
            ("retransmissions", "packets") => stated.retransmissions.state(at, value as u64),
            ("delivered", "bytes") => stated.delivered.state(at, value as u64),
            ("sent", "packets") => stated.sent.state(at, value as u64),
            ("lost", "packets") => stated.lost.state(at, value as u64),
            // An RTT is never zero: some senders write zero before they know one.
            ("srtt", "ms") if value > 0.0 => stated.srtt.state(at, (value * 1e6).round() as u64),
            _ => {}
        }
    }

    /// Returns the senders' counters, as far as they were stated.
    pub fn finish(self) -> Vec<SenderCounters> {
        let counters = |stated: SampledFlow| {
            let SampledFlow { span, window, in_flight, srtt, retransmissions, delivered, sent, lost } =
                stated;
            let (cwnd_byte_ns, cwnd_active) = window.finish();
            let (in_flight_byte_ns, active) = in_flight.finish();
            let (srtt_ns_ns, srtt_active) = srtt.finish();
            SenderCounters {
                flow: span.flow,
                retransmissions: retransmissions.count(),
                stated: StatedTotals { payload: delivered.added(), packets: sent.count().zip(lost.count()) },
                cwnd_byte_ns,
                cwnd_active,
                in_flight_byte_ns,
                active,
                srtt_ns_ns,
                srtt_active,
                ..SenderCounters::default()
            }
        };
        self.flows.into_iter().map(counters).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn means_are_over_the_time_for_which_something_is_stated() {
        let at = |ms| Time::from_ns(ms * MS);
        let span = SampledSpan { flow: 1, from: at(100), acknowledged: Some(at(150)), to: at(300) };
        let mut states = SampledStates::new([span].into_iter());
        for (ms, flow, field, unit, value) in [
            (0, 1, "window", "bytes", 5_000.0),
            (0, 1, "srtt", "ms", 333.0),
            (50, 1, "window", "bytes", 10_000.0),
            (50, 1, "window", "packets", 7.0),
            (150, 1, "srtt", "ms", 50.0),
            (200, 1, "window", "bytes", 20_000.0),
            (200, 2, "window", "bytes", 99_999.0),
            (200, 1, "srtt", "ms", 0.0),
            (250, 1, "in_flight", "bytes", 3_000.0),
            (250, 1, "srtt", "ms", 80.0),
            (400, 1, "window", "bytes", 90_000.0),
        ] {
            states.state(at(ms), flow, field, unit, value);
        }
        let counters = &states.finish()[0];
        // 10,000 bytes from 100 to 200 ms, 20,000 bytes to 300 ms.
        assert_eq!(
            (counters.cwnd_byte_ns, counters.cwnd_active),
            (3_000_000 * u128::from(MS), Span::from_ms(200))
        );
        // 50 ms for 100 ms, 80 ms for 50 ms.
        assert_eq!(counters.srtt_ns_ns, 9_000 * u128::from(MS) * u128::from(MS));
        assert_eq!(counters.srtt_active, Span::from_ms(150));
        assert_eq!(
            (counters.in_flight_byte_ns, counters.active),
            (150_000 * u128::from(MS), Span::from_ms(50))
        );
        assert_eq!((counters.retransmissions, counters.timeouts), (None, None));
    }

    #[test]
    fn nothing_is_known_of_what_is_not_stated() {
        let end = Time::from_ns(300 * MS);
        let span = SampledSpan { flow: 1, from: Time::ZERO, acknowledged: None, to: end };
        let mut states = SampledStates::new([span].into_iter());
        states.state(Time::ZERO, 1, "srtt", "ms", 100.0);
        let counters = &states.finish()[0];
        assert_eq!((counters.cwnd_active, counters.srtt_active), (Span::ZERO, Span::ZERO));
    }
}
