//! Samples of one flow: sums over the current sample interval, and statistics over all intervals.

use super::response::{Rates, Response};
use crate::inputs::FlowState;
use crate::meters::tally::mbps;
use crate::statistics::Moments;
use units::Span;

/// Part of the fair share below which a flow starves.
const STARVING: f64 = 0.1;
/// Weight of the newest gap in the smoothed time between deliveries.
const SPACING_GAIN: f64 = 1.0 / 8.0;

/// Sums and statistics of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSamples {
    /// Payload that reached the application in the current interval, bytes.
    pub(crate) stream_bytes: u64,
    /// Bytes put on the path in the current interval.
    sent_bytes: u64,
    /// Bytes that left the path in the current interval.
    delivered_bytes: u64,
    /// Total payload that reached the application, bytes.
    pub(crate) read_bytes: u64,
    /// Sum over those bytes of the time since they were written, byte ns.
    pub(crate) waited_byte_ns: u128,
    /// Payload sent, including retransmissions, bytes.
    pub(crate) sent_payload_bytes: u64,
    /// Arrival of the last byte of a finite transfer, ns.
    pub(crate) done_ns: Option<u64>,
    last_delivery_ns: Option<u64>,
    /// Smoothed time between deliveries, ns.
    spacing_ns: Option<f64>,
    /// Throughput of the latest interval; `None` unless the flow was active in all of it.
    pub(crate) active_mbps: Option<f64>,
    pub(crate) throughput_mbps: Moments,
    pub(crate) in_flight_bytes: Moments,
    pub(crate) network_power: Moments,
    pub(crate) utility_pf: Moments,
    pub(crate) utility_mpdf: Moments,
    pub(crate) spacing: Moments,
    /// Intervals without any throughput.
    pub(crate) zero_samples: u64,
    /// Time integral of the bottleneck's capacity, Mbit/s s, and the time, s.
    capacity: (f64, f64),
    /// Time in which the flow starved; `None` if no capacity is known.
    pub(crate) starved: Option<Span>,
    pub(crate) response: Response,
}

/// Common conditions of all flows in an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    pub(crate) span: Span,
    /// Capacity of the flow's bottleneck.
    pub(crate) capacity_mbps: Option<f64>,
    /// Number of flows that share the bottleneck.
    pub(crate) flows: u64,
    /// Time since the last change of the path, and true if the change reduced the capacity; `None` if the interval is
    /// not after it.
    pub(crate) since_change: Option<(Span, bool)>,
}

impl FlowSamples {
    #[inline]
    pub(crate) fn send(&mut self, size_bytes: u32, payload_bytes: u32) {
        self.sent_bytes += u64::from(size_bytes);
        self.sent_payload_bytes += u64::from(payload_bytes);
    }

    #[inline]
    pub(crate) fn deliver(&mut self, time_ns: u64, size_bytes: u32, payload_bytes: u32) {
        self.delivered_bytes += u64::from(size_bytes);
        if payload_bytes == 0 {
            // The long gap between the set-up of a connection and its first data carries no information about spacing.
            return;
        }
        if let Some(last_ns) = self.last_delivery_ns.replace(time_ns) {
            let gap = time_ns.saturating_sub(last_ns) as f64;
            self.spacing_ns = Some(self.spacing_ns.map_or(gap, |mean| mean + SPACING_GAIN * (gap - mean)));
        }
    }

    /// Counts `bytes` that reached the application; `total` is the size of its transfer.
    #[inline]
    pub(crate) fn read(&mut self, time_ns: u64, bytes: u64, total: Option<u64>) {
        self.stream_bytes += bytes;
        self.read_bytes += bytes;
        if total.is_some_and(|total| self.read_bytes >= total) && self.done_ns.is_none() {
            self.done_ns = Some(time_ns);
        }
    }

    /// Counts a bottleneck capacity of `mbps` over `span` of the flow's time.
    pub(crate) fn offer(&mut self, mbps: f64, span: Span) {
        let seconds = span.as_secs_f64();
        self.capacity = (self.capacity.0 + mbps * seconds, self.capacity.1 + seconds);
    }

    /// Returns the bottleneck's average capacity while the flow was active, Mbit/s.
    pub(crate) fn capacity_mbps(&self) -> Option<f64> {
        (self.capacity.1 > 0.0).then(|| self.capacity.0 / self.capacity.1)
    }

    /// Ends an interval; `active`: true if the flow was active in all of it.
    pub(crate) fn measure(&mut self, span: Span, active: bool) {
        self.active_mbps = mbps(self.stream_bytes, span).filter(|_| active);
    }

    /// Adds an interval in which the flow was active to the statistics.
    pub(crate) fn take_in(&mut self, state: Option<&FlowState>, around: &Surroundings, elastic: bool) {
        let Some(rate_mbps) = self.active_mbps else { return };
        self.throughput_mbps.add(rate_mbps);
        if rate_mbps > 0.0 {
            self.utility_pf.add(libm::log(rate_mbps));
            self.utility_mpdf.add(-1.0 / rate_mbps);
        } else {
            self.zero_samples += 1;
        }
        if let Some(state) = state {
            self.in_flight_bytes.add(state.in_flight_bytes as f64);
            if let Some(srtt) = state.srtt.filter(|srtt| !srtt.is_zero()) {
                self.network_power.add(rate_mbps / srtt.as_secs_f64());
            }
        }
        if let Some(spacing_ns) = self.spacing_ns {
            self.spacing.add(spacing_ns / 1e6);
        }
        let Some(capacity_mbps) = around.capacity_mbps else { return };
        let fair_mbps = capacity_mbps / around.flows as f64;
        if elastic {
            let starving = rate_mbps < STARVING * fair_mbps;
            let starved = self.starved.get_or_insert(Span::ZERO);
            *starved += if starving { around.span } else { Span::ZERO };
        }
        if let Some((since, is_drop)) = around.since_change {
            let mean = |bytes| mbps(bytes, around.span).unwrap_or(0.0);
            let rates =
                Rates { sent: mean(self.sent_bytes), delivered: mean(self.delivered_bytes), fair: fair_mbps };
            self.response.observe(since, rates, is_drop);
        }
    }

    /// Begins the next interval.
    pub(crate) const fn restart(&mut self) {
        (self.stream_bytes, self.sent_bytes, self.delivered_bytes) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span::from_ms(100);

    fn around(capacity_mbps: Option<f64>) -> Surroundings {
        Surroundings { span: SPAN, capacity_mbps, flows: 2, since_change: None }
    }

    /// Returns the samples of a flow that reads these bytes per 100 ms, with a smoothed RTT of 50 ms. Two flows share a
    /// bottleneck of 40 Mbit/s.
    fn samples(bytes: &[u64]) -> FlowSamples {
        let mut samples = FlowSamples::default();
        for &bytes in bytes {
            samples.read(0, bytes, None);
            samples.measure(SPAN, true);
            let state = FlowState { in_flight_bytes: 62_500, srtt: Some(Span::from_ms(50)) };
            samples.take_in(Some(&state), &around(Some(40.0)), true);
            samples.restart();
        }
        samples
    }

    #[test]
    fn ten_megabits_at_fifty_milliseconds() {
        // 125,000 B per 100 ms are 10 Mbit/s: power 10 / 0.05 s, ln 10, -1/10, no variation.
        let samples = samples(&[125_000; 9]);
        assert_eq!(samples.network_power.mean(), Some(200.0));
        assert!((samples.utility_pf.mean().unwrap() - core::f64::consts::LN_10).abs() < 1e-12);
        assert_eq!(samples.utility_mpdf.mean(), Some(-0.1));
        assert_eq!(
            (samples.throughput_mbps.variation(), samples.throughput_mbps.variance()),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(samples.in_flight_bytes.mean(), Some(62_500.0));
    }

    #[test]
    fn intervals_without_throughput_have_no_utility_and_are_counted() {
        let samples = samples(&[125_000, 0, 125_000]);
        assert_eq!((samples.utility_mpdf.mean(), samples.zero_samples), (Some(-0.1), 1));
        assert!((samples.throughput_mbps.mean().unwrap() - 20.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn less_than_a_tenth_of_the_fair_share_is_starvation() {
        // The fair share is 20 Mbit/s, 250,000 B per interval.
        assert_eq!(samples(&[250_000, 25_000, 24_999, 0]).starved, Some(Span::from_ms(200)));
        let mut samples = FlowSamples::default();
        samples.measure(SPAN, true);
        samples.take_in(None, &around(None), true);
        assert_eq!(samples.starved, None);
    }

    #[test]
    fn spacing_follows_the_gaps_between_deliveries() {
        let mut samples = FlowSamples::default();
        for ms in [0, 100, 108, 116, 132] {
            samples.deliver(ms * 1_000_000, 1500, if ms == 0 { 0 } else { 1448 });
        }
        samples.measure(SPAN, true);
        samples.take_in(None, &around(None), true);
        // 8, 8, then 8 + (16 - 8) / 8.
        assert_eq!(samples.spacing.mean(), Some(9.0));
    }

    #[test]
    fn a_transfer_is_done_with_its_last_byte() {
        let mut samples = FlowSamples::default();
        samples.read(5, 600, Some(1_000));
        assert_eq!(samples.done_ns, None);
        samples.read(7, 400, Some(1_000));
        assert_eq!(samples.done_ns, Some(7));
    }
}
