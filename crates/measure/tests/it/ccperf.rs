//! Tests of every metric with a ccperf name, on hand-made counters and samples with hand-computed answers.

use measure::{
    Convention, FlowFacts, FlowInfo, FlowState, Level, LinkCounters, MeterConfig, Read, RunMeter, RunStats,
    Sample, SenderCounters, StatedTotals, metrics,
};
use record::{Event, Record};
use units::{Span, Time};

fn record(time_ms: u64, event: Event, data_bytes: u32) -> Record {
    let time_ns = time_ms * 1_000_000;
    Record { time_ns, flow: 1, event, seq: 0, size_bytes: 1_040, data_bytes, one_way_delay_ns: 1_000_000 }
}

/// Returns the configuration of a run of 2 s.
fn config(flow: FlowInfo) -> MeterConfig {
    MeterConfig { flows: vec![flow], duration: Span::from_secs(2), ..MeterConfig::default() }
}

/// Returns a sender of segments of 1,000 bytes, active for 2 s.
fn sender() -> SenderCounters {
    SenderCounters {
        flow: 1,
        retransmissions: Some(5),
        timeouts: Some(1),
        loss_episodes: Some(2),
        cwnd_byte_ns: 30_000_000_000_000,
        in_flight_byte_ns: 24_000_000_000_000,
        srtt_ns_ns: 100_000_000_000_000_000,
        delivery_rate_ns: 8_000_000_000_000_000,
        active: Span::from_secs(2),
        cwnd_active: Span::from_secs(2),
        srtt_active: Span::from_ms(1_600),
        delivery_rate_active: Span::from_ms(1_000),
        recoveries: Some((2, Span::from_us(252_126))),
        accepted_bytes: Some(2_500_000),
        completed: None,
        media: None,
        stated: StatedTotals::default(),
    }
}

/// Returns a flow of 1,000-byte segments, 1,040 bytes on the path. Its base RTT is 50 ms, and 60 ms from 1.2 s on.
fn planned_flow(change: impl FnOnce(&mut FlowInfo)) -> FlowInfo {
    let rtt = |ms, rtt| (Time::ZERO + Span::from_ms(ms), Span::from_ms(rtt));
    let facts = FlowFacts {
        segment_bytes: 1_000,
        wire_bytes: 1_040,
        base_rtt: vec![rtt(0, 50), rtt(1_200, 60)],
        elastic: true,
        ..FlowFacts::default()
    };
    let mut info = FlowInfo { flow: 1, stop: Time::NEVER, facts, ..FlowInfo::default() };
    change(&mut info);
    info
}

fn bottleneck() -> LinkCounters {
    LinkCounters {
        direction: "data".into(),
        elapsed: Span::from_secs(2),
        framing_bytes: 2,
        capacity_bits: 20_000_000,
        ..LinkCounters::default()
    }
}

/// Returns the statistics of a flow over two seconds; `reads` are the bytes that its application read in each second.
fn two_seconds(config: MeterConfig, reads: [u64; 2], sender: SenderCounters) -> RunStats {
    let second = |s: u64| Time::ZERO + Span::from_secs(s);
    let state = FlowState { in_flight_bytes: 12_000, srtt: Some(Span::from_ms(50)) };
    let mut meter = RunMeter::new(MeterConfig { tells_reads: true, ..config });
    for (index, bytes) in reads.into_iter().enumerate() {
        let (from, to) = (second(index as u64), second(index as u64 + 1));
        let sent = record(index as u64 * 1_000, Event::Send, 1_000);
        for _ in 0..bytes.div_ceil(1_000) + 100 {
            meter.record(&sent);
        }
        meter.read(&Read { flow: 1, at: from, bytes, waited_byte_ns: u128::from(bytes) * 30_000_000 });
        meter.sample(&Sample { at: to, flows: &[Some(state)], capacity_bits: [Some(10_000_000), None] });
    }
    meter.finish(&[bottleneck()], &[sender])
}

#[test]
fn what_an_application_reads_after_its_flow_stopped_is_not_of_its_time() {
    let flow = planned_flow(|info| info.stop = Time::ZERO + Span::from_ms(500));
    let stats = two_seconds(config(flow), [1_000_000, 500_000], sender());
    assert_eq!(stats.flows[0].mean_throughput_l4, Some(16.0));
    assert_eq!(stats.network.mean_agg_throughput_l4, Some(16.0));
}

#[test]
fn one_flow_by_ccperfs_names() {
    let stats = two_seconds(config(planned_flow(|_| {})), [1_000_000, 500_000], sender());
    assert_eq!(stats.contradiction, None);
    let flow = &stats.flows[0];
    // 12 Mbit in 2 s, 13.6 sent, 20 accepted.
    assert_eq!((flow.mean_throughput_l4, flow.mean_throughput_l7), (Some(6.0), Some(6.0)));
    assert_eq!((flow.mean_sending_rate_l4, flow.mean_sending_rate_l7), (Some(6.8), Some(10.0)));
    // 8 x 10^15 bit/s ns over 1 s are 8 Mbit/s.
    assert_eq!((flow.mean_delivery_rate_l4, flow.mean_srtt_l4), (Some(8.0), Some(62.5)));
    assert_eq!((flow.mean_cwnd_l4, flow.mean_in_flight_l4), (Some(15.0), Some(12.0)));
    // The base RTT since 0.4 s is 50 ms for one half of the time and 60 ms for the other half.
    assert_eq!(flow.mean_est_qdelay_l4, Some(7.5));
    // Samples 8 and 4 Mbit/s at 50 ms: power 160 and 80; ln 8 and ln 4, together 5 ln 2; -1/8 and -1/4; deviations 2
    // and -2.
    assert_eq!(flow.mean_network_power_l4, Some(120.0));
    assert!((flow.mean_utility_pf_l4.expect("samples") - 2.5 * core::f64::consts::LN_2).abs() < 1e-12);
    assert_eq!((flow.mean_utility_mpdf_l4, flow.zero_samples_l4), (Some(-0.1875), Some(0)));
    assert_eq!((flow.var_throughput_l4, flow.cov_throughput_l4), (Some(8.0), Some(8.0_f64.sqrt() / 6.0)));
    assert_eq!(flow.cov_in_flight_l4, Some(0.0));
    // Rate 6 of 10 Mbit/s; 12 x 1,042 bytes of 10 Mbit/s x 54 ms = 67,500 bytes; then with 1,000 bytes.
    assert_eq!(flow.mean_utilization_bw_l4, Some(0.6));
    assert!((flow.mean_in_flight_bdp.expect("a BDP") - 12_504.0 / 67_500.0).abs() < 1e-12);
    let compat = flow.mean_utilization_bdp_l4.expect("a BDP");
    assert!((compat - 12_504.0 / 67_500.0 * 1.042).abs() < 1e-12);
    assert_eq!((flow.flow_completion_time_l4, flow.mean_one_way_delay_l7), (Some(2.0), Some(30.0)));
    // Two episodes of 252.126 ms together (`docs/evidence/derivations.md`, ns-3).
    assert_eq!(flow.mean_recovery_time_l4, Some(126.063));
    assert_eq!((flow.total_retransmissions_l4, flow.total_rtos_l4), (Some(5), Some(1)));
    let network = &stats.network;
    assert_eq!((network.mean_agg_throughput_l4, network.mean_agg_in_flight_l4), (Some(6.0), Some(12.0)));
    assert_eq!(network.mean_agg_utilization_bw_l4, Some(0.6));
    assert_eq!(network.mean_agg_utilization_bdp_l4, flow.mean_utilization_bdp_l4);
    assert_eq!(network.mean_agg_utility_pf_l4, flow.mean_utility_pf_l4);
    assert_eq!(network.mean_jains_fairness_throughput_l4, Some(1.0));
    assert_eq!(network.mean_entropy_fairness_throughput_l4, Some(0.0));
    assert_eq!(network.mean_product_fairness_throughput_l4, Some(6.0));
    assert_eq!(stats.flows[0].starvation_time_s, Some(0.0));
    assert_eq!((stats.network.convergence_time_s, stats.network.convergence_delta), (None, 0.2));
}

#[test]
fn means_of_a_finite_transfer_end_with_it() {
    let info = planned_flow(|info| info.facts.total_bytes = Some(1_500_000));
    let completed = Some(Time::ZERO + Span::from_ms(1_500));
    let stats =
        two_seconds(config(info.clone()), [1_000_000, 500_000], SenderCounters { completed, ..sender() });
    let flow = &stats.flows[0];
    assert_eq!((flow.flow_completion_time_l4, flow.mean_throughput_l4), (Some(1.5), Some(8.0)));
    // Only the first sample was active completely.
    assert_eq!((flow.mean_network_power_l4, flow.var_throughput_l4), (Some(160.0), None));
    let transfers = &stats.network;
    assert_eq!((transfers.fct_mean_s, transfers.fct_incomplete), (Some(1.5), 0));
    let stats = two_seconds(config(info), [1_000_000, 499_999], sender());
    assert_eq!(stats.flows[0].flow_completion_time_l4, None);
    assert_eq!(stats.network.fct_incomplete, 1);
}

#[test]
fn logs_that_tell_little_have_no_numbers_by_ccperfs_names() {
    let mut meter = RunMeter::new(config(FlowInfo { stop: Time::NEVER, ..FlowInfo::default() }));
    for ms in 0..10 {
        meter.record(&record(ms, Event::Send, 0));
        meter.record(&record(ms, Event::Deliver, 0));
    }
    let stats = meter.finish(&[], &[]);
    let json = serde_json::to_value(&stats).expect("JSON");
    for (level, table) in [(Level::Flow, &json["flows"][0]), (Level::Network, &json["network"])] {
        for metric in
            metrics().filter(|metric| metric.level == level && metric.convention == Convention::Ccperf)
        {
            // The duration of a flow comes from its plan.
            let is_null = table[metric.name].is_null() || metric.name == "flow_completion_time_l4";
            assert!(is_null, "{} = {}", metric.name, table[metric.name]);
        }
    }
}
