//! Requirements of statistics. If a log does not contain what a statistic needs, the statistic is absent, never zero.

use crate::inputs::{Delay, Tells};

/// Requirement that not every log meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The log contains the packets that were sent.
    Sendings,
    /// The log contains the packets that arrived.
    Arrivals,
    /// The log contains the packets that the path dropped.
    Drops,
    /// The log marks packets that arrived with CE.
    Marks,
    /// The log tells the flow of each packet.
    Flows,
    /// The log tells the payload bytes of each packet.
    Payload,
    /// The driver reports the bytes that applications read.
    Reads,
    /// Delays of the log are times from sending to arrival, by clocks that agree.
    OneWayDelays,
    /// Delays of the log are these times, or these times plus an unknown constant.
    DelayDifferences,
    /// Delays of the log are times from sending to the arrival of the acknowledgement.
    RoundTrips,
}

/// Contents of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogTells {
    pub(crate) tells: Tells,
    pub(crate) drops: bool,
    pub(crate) payload: bool,
    pub(crate) reads: bool,
}

impl LogTells {
    /// Returns true if the log meets all of `needs`.
    pub(crate) fn tells(self, needs: &[Need]) -> bool {
        let Self { tells, drops, payload, reads } = self;
        needs.iter().all(|need| match need {
            Need::Sendings => tells.sendings,
            Need::Arrivals => tells.arrivals,
            Need::Drops => drops,
            Need::Marks => tells.marks,
            Need::Flows => tells.flows,
            Need::Payload => payload,
            Need::Reads => reads,
            Need::OneWayDelays => tells.delay == Delay::OneWay,
            Need::DelayDifferences => matches!(tells.delay, Delay::OneWay | Delay::AboveSmallest),
            Need::RoundTrips => tells.delay == Delay::RoundTrip,
        })
    }
}

impl Default for LogTells {
    /// Returns a log that meets all needs.
    fn default() -> Self {
        Self { tells: Tells::default(), drops: true, payload: true, reads: true }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Delay, FlowInfo, FlowStats, MeterConfig, RunMeter, RunStats, Tells};
    use record::{Event, Record};
    use units::{Span, Time};

    /// Returns the statistics of two packets sent at 0 and 10 ms; the first one counts as delivered after 30 ms.
    fn stats(tells: Tells) -> RunStats {
        let mut meter = RunMeter::new(MeterConfig { senders_view: true, tells, ..MeterConfig::default() });
        let at = |ms: u64, event, seq, delay_ms: i64| Record {
            time_ns: ms * 1_000_000,
            flow: 1,
            event,
            seq,
            size_bytes: 1_000,
            data_bytes: 900,
            one_way_delay_ns: delay_ms * 1_000_000,
        };
        meter.record(&at(0, Event::Send, 0, 0));
        meter.record(&at(10, Event::Send, 1, 0));
        meter.record(&at(30, Event::AckDeliver, 0, 0));
        meter.record(&at(30, Event::Deliver, 0, 30));
        meter.record(&at(60, Event::Opportunity, 0, 0));
        meter.finish(&[], &[])
    }

    fn flow(tells: Tells) -> FlowStats {
        stats(tells).flows.remove(0)
    }

    #[test]
    fn a_round_trip_is_no_one_way_delay() {
        let all = flow(Tells::default());
        assert_eq!((all.owd_min_ms, all.rtt_min_ms), (Some(30.0), None));
        assert_eq!(all.acklink.expect("ACKs").delay_p95_ms, Some(0.0));
        let run = stats(Tells { delay: Delay::RoundTrip, marks: false, ..Tells::default() });
        let flow = &run.flows[0];
        assert_eq!(
            (flow.rtt_min_ms, flow.rtt_p95_ms, flow.rtt_mean_ms),
            (Some(30.0), Some(30.0), Some(30.0))
        );
        assert_eq!(
            (flow.delay_p95_ms, flow.owd_min_ms, flow.self_inflicted_delay_mean_ms),
            (None, None, None)
        );
        assert_eq!((run.network.delay_p95_ms, run.network.owd_p95_ms), (None, None));
        // One ACK has no rate, and the log does not tell the number of sent ACKs.
        assert_eq!((&flow.acklink, flow.packets_marked), (&None, None));
        assert_eq!((flow.packets_sent, flow.packets_delivered), (Some(2), Some(1)));
    }

    #[test]
    fn what_an_unknown_offset_of_clocks_leaves_is_differences() {
        let flow = flow(Tells { delay: Delay::AboveSmallest, ..Tells::default() });
        assert_eq!((flow.delay_p95_ms, flow.owd_min_ms, flow.rtt_min_ms), (None, None, None));
        assert_eq!(flow.self_inflicted_delay_p95_ms, Some(0.0));
    }

    #[test]
    fn a_log_without_arrivals_has_no_throughput_of_zero_and_no_total_loss() {
        let run = stats(Tells { arrivals: false, delay: Delay::RoundTrip, ..Tells::default() });
        let flow = &run.flows[0];
        assert_eq!((flow.throughput_mbps, flow.loss_rate, flow.packet_loss_rate), (None, None, None));
        assert_eq!((flow.packets_delivered, flow.packets_in_flight_at_end), (None, None));
        assert_eq!((flow.packets_sent, flow.bytes_sent), (Some(2), Some(2_000)));
        let network = &run.network;
        assert_eq!(
            (network.throughput_mbps, network.loss_rate, network.packet_loss_rate),
            (None, None, None)
        );
        assert_eq!((network.duration_s, network.jain_index, network.goodput_mbps), (None, None, None));
    }

    #[test]
    fn a_log_without_sendings_has_no_loss() {
        let flow = flow(Tells { sendings: false, delay: Delay::Unknown, ..Tells::default() });
        assert_eq!((flow.packets_sent, flow.ingress_mbps, flow.loss_rate), (None, None, None));
        assert_eq!((flow.packets_delivered, flow.rtt_min_ms), (Some(1), None));
    }

    #[test]
    fn a_log_that_does_not_tell_flows_apart_says_nothing_of_fairness() {
        assert_eq!(stats(Tells::default()).network.jain_index, Some(1.0));
        let run = stats(Tells { flows: false, ..Tells::default() });
        assert_eq!((run.network.jain_index, run.network.jain_index_mean), (None, None));
        assert_eq!((run.flows[0].packets_marked, run.flows[0].packets_delivered), (Some(0), Some(1)));
    }

    #[test]
    fn totals_that_were_stated_stand_in_for_records() {
        let second = |s| Time::ZERO + Span::from_secs(s);
        let info = FlowInfo { flow: 1, start: second(0), stop: second(4), ..FlowInfo::default() };
        let tells = Tells {
            sendings: false,
            arrivals: false,
            marks: false,
            delay: Delay::Unknown,
            ..Tells::default()
        };
        let config =
            MeterConfig { flows: vec![info], duration: Span::from_secs(4), tells, ..MeterConfig::default() };
        let meter = RunMeter::new(config);
        let mut stated = meter.sampled_states();
        for (s, field, unit, value) in [
            (0, "delivered", "bytes", 1_000.0),
            (0, "srtt", "ms", 20.0),
            (2, "srtt", "ms", 40.0),
            (2, "retransmissions", "packets", 3.0),
            (4, "delivered", "bytes", 501_000.0),
            (4, "retransmissions", "packets", 10.0),
        ] {
            stated.state(second(s), 1, field, unit, value);
        }
        let run = meter.finish(&[], &stated.finish());
        let flow = &run.flows[0];
        // 500,000 bytes in 4 s.
        assert_eq!((flow.goodput_mbps, run.network.goodput_mbps), (Some(1.0), Some(1.0)));
        assert_eq!((flow.mean_srtt_ms, flow.retransmissions), (Some(30.0), Some(7)));
        assert_eq!((flow.throughput_mbps, flow.packets_sent, flow.packet_loss_rate), (None, None, None));
        assert_eq!((flow.timeouts, flow.mean_cwnd_bytes), (None, None));
    }
}
