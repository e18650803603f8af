//! What a log does not tell is absent from the statistics, never zero.

use crate::inputs::{Delay, Tells};
use crate::stats::{AckLinkStats, CcperfNetwork, FlowStats, NetworkStats, RunStats};

/// Takes out of `stats` every number that a log which tells no more than `tells` cannot support.
pub(crate) fn take_out(stats: &mut RunStats, tells: Tells) {
    for flow in &mut stats.flows {
        delays_of_flow(flow, tells.delay);
        if !tells.sendings {
            without_sendings(flow);
        }
        if !tells.arrivals {
            without_arrivals(flow);
        }
        if !tells.marks {
            flow.packets_marked = None;
        }
        acks(&mut flow.acklink, tells.delay);
    }
    let network = &mut stats.network;
    if tells.delay != Delay::OneWay {
        network.delay_p95_ms = None;
        (network.owd_p50_ms, network.owd_p95_ms, network.owd_p99_ms) = (None, None, None);
    }
    if !tells.sendings {
        network.ingress_mbps = None;
    }
    if !tells.arrivals {
        network_without_arrivals(network);
    }
    if !tells.flows {
        without_jain(network);
    }
    if !tells.sendings || !tells.arrivals {
        (network.loss_rate, network.packet_loss_rate) = (None, None);
    }
    acks(&mut network.acklink, tells.delay);
}

/// Round-trip times go to their own metrics; delays with an unknown constant keep their differences only.
fn delays_of_flow(flow: &mut FlowStats, delay: Delay) {
    if delay == Delay::OneWay {
        return;
    }
    if delay == Delay::RoundTrip {
        flow.rtt_min_ms = flow.owd_min_ms;
        flow.rtt_mean_ms = flow.owd_mean_ms;
        flow.rtt_p50_ms = flow.owd_p50_ms;
        flow.rtt_p95_ms = flow.owd_p95_ms;
        flow.rtt_p99_ms = flow.owd_p99_ms;
    }
    if delay != Delay::AboveSmallest {
        (flow.self_inflicted_delay_p95_ms, flow.self_inflicted_delay_mean_ms) = (None, None);
        flow.queueing_delay_mean_ms = None;
    }
    flow.delay_p95_ms = None;
    (flow.owd_min_ms, flow.owd_mean_ms) = (None, None);
    (flow.owd_p50_ms, flow.owd_p95_ms, flow.owd_p99_ms) = (None, None, None);
}

fn without_sendings(flow: &mut FlowStats) {
    (flow.ingress_mbps, flow.packets_sent, flow.bytes_sent) = (None, None, None);
    (flow.loss_rate, flow.packet_loss_rate) = (None, None);
    (flow.packets_dropped, flow.packets_in_flight_at_end) = (None, None);
    flow.ccperf.mean_sending_rate_l4 = None;
}

fn without_arrivals(flow: &mut FlowStats) {
    (flow.throughput_mbps, flow.goodput_mbps, flow.ccperf.mean_throughput_l4) = (None, None, None);
    (flow.packets_delivered, flow.bytes_delivered, flow.data_bytes_delivered) = (None, None, None);
    (flow.loss_rate, flow.packet_loss_rate, flow.packets_in_flight_at_end) = (None, None, None);
    flow.payload_share = None;
}

fn network_without_arrivals(network: &mut NetworkStats) {
    (network.throughput_mbps, network.goodput_mbps, network.duration_s) = (None, None, None);
    network.capacity_utilization = None;
    without_jain(network);
    network.ccperf = CcperfNetwork::default();
    network.convergence_time_s = None;
}

fn without_jain(network: &mut NetworkStats) {
    (network.jain_index, network.jain_index_mean) = (None, None);
    (network.jain_seen_p50, network.jain_seen_p05) = (None, None);
    (network.jain_active_p50, network.jain_active_p05) = (None, None);
}

/// Of the return direction one end sees what arrives there, without knowing when it was sent or how much was.
fn acks(acks: &mut Option<AckLinkStats>, delay: Delay) {
    match delay {
        Delay::OneWay => {}
        Delay::AboveSmallest => {
            if let Some(acks) = acks {
                acks.delay_p95_ms = None;
            }
        }
        Delay::RoundTrip | Delay::Unknown => {
            *acks = acks.take().filter(|acks| acks.throughput_mbps > 0.0).map(|acks| AckLinkStats {
                delay_p95_ms: None,
                loss_rate: None,
                ..acks
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Delay, FlowInfo, FlowStats, MeterConfig, RunMeter, RunStats, Tells};
    use record::{Event, Record};
    use units::{Span, Time};

    /// Two packets sent at 0 and 10 ms, the first of which takes 30 ms to what counts as its delivery.
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
        // One ACK has no rate, and nothing tells how many were sent.
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
        let mut stated = meter.stated();
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
