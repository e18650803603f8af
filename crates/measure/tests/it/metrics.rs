//! Tests of every metric on hand-made records with hand-computed answers.

use measure::{FlowInfo, LinkCounters, MeterConfig, RunMeter, RunStats, SenderCounters};
use record::{Event, Record};
use units::{Span, Time};

/// Returns a record of: time ms, flow, event, size, payload, delay ms.
fn record(time_ms: f64, flow: u32, event: Event, size_bytes: u32, data_bytes: u32, delay_ms: f64) -> Record {
    Record {
        time_ns: (time_ms * 1e6).round() as u64,
        flow,
        event,
        seq: 0,
        size_bytes,
        data_bytes,
        one_way_delay_ns: (delay_ms * 1e6).round() as i64,
    }
}

fn send(time_ms: f64, flow: u32) -> Record {
    record(time_ms, flow, Event::Send, 1_000, 900, 0.0)
}

fn deliver(time_ms: f64, flow: u32, delay_ms: f64) -> Record {
    record(time_ms, flow, Event::Deliver, 1_000, 900, delay_ms)
}

fn drop(time_ms: f64, flow: u32) -> Record {
    record(time_ms, flow, Event::Drop, 1_000, 0, 0.0)
}

fn flow(flow: u32, start_ms: u64, stop_ms: u64) -> FlowInfo {
    let time = |ms| if ms == u64::MAX { Time::NEVER } else { Time::from_ns(ms * 1_000_000) };
    FlowInfo {
        flow,
        scheme: format!("scheme-{flow}"),
        start: time(start_ms),
        stop: time(stop_ms),
        ..FlowInfo::default()
    }
}

fn config(flows: Vec<FlowInfo>, duration_ms: u64, warmup_ms: u64) -> MeterConfig {
    MeterConfig {
        flows,
        duration: Span::from_ms(duration_ms),
        warmup: Span::from_ms(warmup_ms),
        bin: Span::from_ms(500),
        ..MeterConfig::default()
    }
}

fn measure(config: MeterConfig, records: &[Record]) -> RunStats {
    let mut records = records.to_vec();
    records.sort_by_key(|record| record.time_ns);
    let mut meter = RunMeter::new(config);
    for record in &records {
        meter.record(record);
    }
    meter.finish(&[], &[])
}

/// Returns ten packets of 1,000 bytes (900 payload) sent at 0, 100, ..., 900 ms. Packet i takes 10 + i ms. Packet 3 is
/// dropped at 305 ms, packet 9 is still in flight at the end (1 s).
fn ten_packets() -> Vec<Record> {
    let mut records: Vec<_> = (0..10).map(|i| send(f64::from(i) * 100.0, 1)).collect();
    let arrived = [0, 1, 2, 4, 5, 6, 7, 8].map(f64::from);
    records.extend(arrived.map(|i| deliver(i * 100.0 + 10.0 + i, 1, 10.0 + i)));
    records.push(drop(305.0, 1));
    records
}

#[test]
fn pantheon_numbers_cover_the_whole_log() {
    let stats = measure(config(vec![flow(1, 0, 1_000)], 1_000, 450), &ten_packets());
    let flow = &stats.flows[0];
    // Sent: 80,000 bit in 900 ms. Delivered: 64,000 bit from 10 ms to 818 ms.
    assert_eq!(flow.ingress_mbps, Some(80_000.0 / (1_000.0 * 900.0)));
    assert_eq!(flow.throughput_mbps, Some(64_000.0 / (1_000.0 * (818.0 - 10.0))));
    // Delays 10, 11, 12, 14, ..., 18: index round(0.95 * 7 = 6.65) = 7.
    assert_eq!(flow.delay_p95_ms, Some(18.0));
    // Two of ten did not arrive, including the one in flight.
    assert_eq!(flow.loss_rate, Some(1.0 - 0.8));
    let network = &stats.network;
    assert_eq!(network.throughput_mbps, flow.throughput_mbps);
    assert_eq!(network.ingress_mbps, flow.ingress_mbps);
    assert_eq!((network.delay_p95_ms, network.loss_rate), (flow.delay_p95_ms, flow.loss_rate));
    assert_eq!(network.duration_s, Some((818.0 - 10.0) / 1_000.0));
    // 0.808 s of 1 s planned.
    assert_eq!((network.valid, network.invalid_reason.as_deref()), (true, None));
}

#[test]
fn corrected_numbers_start_after_the_warm_up_and_leave_out_what_is_in_flight() {
    let stats = measure(config(vec![flow(1, 0, 1_000)], 1_000, 450), &ten_packets());
    let flow = &stats.flows[0];
    // Packets 5 to 8 arrive between 450 and 1,000 ms: 4 x 900 B x 8 = 28,800 bit in 550 ms.
    assert_eq!(flow.goodput_mbps, Some(28_800.0 * 1_000.0 / 550e6));
    // The drop at 305 ms lies in the warm-up.
    assert_eq!(flow.packet_loss_rate, Some(0.0));
    // Delays 15, 16, 17, 18: index round(1.5) = 2, round(2.85) = 3; the smallest of the whole run is 10.
    assert_eq!(flow.owd_mean_ms, Some(16.5));
    assert_eq!((flow.owd_min_ms, flow.owd_p50_ms), (Some(10.0), Some(17.0)));
    assert_eq!((flow.owd_p95_ms, flow.owd_p99_ms), (Some(18.0), Some(18.0)));
    assert_eq!(flow.self_inflicted_delay_p95_ms, Some(8.0));
    assert_eq!(flow.self_inflicted_delay_mean_ms, Some(6.5));
    // The 10th percentile has index round(0.3) = 0: 15.
    assert_eq!(flow.self_inflicted_delay_p10_ms, Some(5.0));
    let network = &stats.network;
    assert_eq!(network.goodput_mbps, flow.goodput_mbps);
    assert_eq!(network.packet_loss_rate, Some(0.0));
    assert_eq!(
        (network.owd_p50_ms, network.owd_p95_ms, network.owd_p99_ms),
        (Some(17.0), Some(18.0), Some(18.0))
    );

    let stats = measure(config(vec![flow_of_all_time()], 1_000, 0), &ten_packets());
    // Without warm-up: one dropped of nine with a known fate.
    assert_eq!(stats.flows[0].packet_loss_rate, Some(1.0 / 9.0));
    assert_eq!(stats.network.packet_loss_rate, Some(1.0 / 9.0));
}

/// Packets 3, 4 and 7 of ten are declared lost; 4 is acknowledged nevertheless, 9 is in flight at the end. Declarations
/// in the warm-up, and in logs that are no sender's view, do not count.
#[test]
fn losses_are_those_that_the_sender_declared_in_a_senders_view() {
    let numbered =
        |time_ms: u64, event, seq| Record { seq, ..record(time_ms as f64, 1, event, 1_000, 900, 50.0) };
    let mut records: Vec<_> = (0..10).map(|i| numbered(i * 100, Event::Send, i)).collect();
    records.extend([0, 1, 2, 5, 6, 8].map(|i| numbered(i * 100 + 50, Event::Deliver, i)));
    records.extend([(560, 3), (560, 4), (860, 7), (870, 7)].map(|(at, i)| numbered(at, Event::Lost, i)));
    records.push(numbered(600, Event::Deliver, 4));
    let measured = |senders_view, warmup_ms| {
        let config = MeterConfig { senders_view, ..config(vec![flow_of_all_time()], 1_000, warmup_ms) };
        measure(config, &records).flows.remove(0)
    };
    let flow = measured(true, 0);
    assert_eq!((flow.packet_loss_rate, flow.packets_in_flight_at_end), (Some(2.0 / 9.0), Some(1)));
    assert_eq!((flow.packets_dropped, flow.loss_rate), (None, Some(1.0 - 7_000.0 / 10_000.0)));
    // From 580 ms on packet 7 was declared lost, and 4, 6 and 8 arrived.
    assert_eq!(measured(true, 580).packet_loss_rate, Some(1.0 / 4.0));
    // Without declarations: 3 and 7 of the nine packets sent longer than 50 ms before the last record.
    assert_eq!(measured(false, 0).packet_loss_rate, Some(2.0 / 9.0));
}

fn flow_of_all_time() -> FlowInfo {
    flow(1, 0, u64::MAX)
}

#[test]
fn counters_cover_the_whole_run() {
    let mut records = ten_packets();
    records.push(record(400.0, 1, Event::Mark, 1_000, 0, 0.0));
    let stats = measure(config(vec![flow(1, 0, 1_000)], 1_000, 450), &records);
    let flow = &stats.flows[0];
    assert_eq!((flow.flow, flow.scheme.as_str(), flow.start_s, flow.stop_s), (1, "scheme-1", 0.0, 1.0));
    assert_eq!((flow.packets_sent, flow.packets_delivered), (Some(10), Some(8)));
    assert_eq!(
        (flow.packets_dropped, flow.packets_marked, flow.packets_in_flight_at_end),
        (Some(1), Some(1), Some(1))
    );
    assert_eq!((flow.bytes_sent, flow.bytes_delivered), (Some(10_000), Some(8_000)));
    assert_eq!(flow.data_bytes_delivered, Some(7_200));
    assert_eq!((flow.retransmissions, flow.mean_cwnd_bytes, flow.mean_srtt_ms), (None, None, None));
}

#[test]
fn a_loss_free_flow_can_leave_faster_than_it_enters() {
    // Three packets sent over 20 ms arrive over 10 ms, each rate over its own span: 24,000 bit in 20 and in 10 ms.
    let records = [
        send(0.0, 1),
        send(10.0, 1),
        send(20.0, 1),
        deliver(15.0, 1, 15.0),
        deliver(20.0, 1, 10.0),
        deliver(25.0, 1, 5.0),
    ];
    let stats = measure(config(vec![], 0, 0), &records);
    let flow = &stats.flows[0];
    assert_eq!((flow.ingress_mbps, flow.throughput_mbps), (Some(1.2), Some(2.4)));
    assert_eq!((flow.loss_rate, flow.packet_loss_rate), (Some(0.0), Some(0.0)));
    assert_eq!(flow.delay_p95_ms, Some(15.0));
}

#[test]
fn duplicates_make_pantheons_loss_negative_and_never_the_corrected_one() {
    let records =
        [send(0.0, 1), send(10.0, 1), deliver(20.0, 1, 20.0), deliver(21.0, 1, 21.0), deliver(30.0, 1, 20.0)];
    let stats = measure(config(vec![], 0, 0), &records);
    assert_eq!((stats.flows[0].loss_rate, stats.network.loss_rate), (Some(-0.5), Some(-0.5)));
    assert_eq!(stats.flows[0].packet_loss_rate, Some(0.0));
    assert_eq!(stats.flows[0].packets_in_flight_at_end, Some(0));
}

#[test]
fn logs_without_drops_lose_what_is_older_than_the_largest_delay() {
    // 100 packets, 10 ms apart, 50 ms delay; 20 and 40 never arrive; the last five are in flight when the log ends.
    let mut records: Vec<_> = (0..100).map(|i| send(f64::from(i) * 10.0, 1)).collect();
    let arrived = (0..95).filter(|i| ![20, 40].contains(i)).map(f64::from);
    records.extend(arrived.map(|i| deliver(i * 10.0 + 50.0, 1, 50.0)));
    let stats = measure(config(vec![], 0, 0), &records);
    let flow = &stats.flows[0];
    // The log ends at 990 ms; 940 ms lies in the slice of packet 94, so packets 0..=93 are decided: 92 arrived.
    assert_eq!(flow.packet_loss_rate, Some(2.0 / 94.0));
    assert_eq!((flow.packets_dropped, flow.packets_in_flight_at_end), (None, Some(5)));
    // Pantheon's loss includes the five as well.
    assert_eq!(flow.loss_rate, Some(1.0 - 93.0 / 100.0));
    assert_eq!(stats.network.packet_loss_rate, flow.packet_loss_rate);
}

#[test]
fn a_driver_that_counts_at_its_links_tells_drops_even_without_any() {
    let mut meter = RunMeter::new(config(vec![flow(1, 0, 1_000)], 1_000, 0));
    // The link stalls: the second packet waits from 100 ms to the end.
    for record in [send(0.0, 1), deliver(10.0, 1, 10.0), send(100.0, 1), send(990.0, 1)] {
        meter.record(&record);
    }
    let flow = meter.finish(&[LinkCounters::default()], &[]).flows.remove(0);
    assert_eq!((flow.packets_dropped, flow.packets_in_flight_at_end), (Some(0), Some(2)));
    assert_eq!(flow.packet_loss_rate, Some(0.0));
}

#[test]
fn totals_span_all_flows_and_staggered_rates_do_not_add_up() {
    let records = [
        send(0.0, 1),
        deliver(10.0, 1, 10.0),
        send(100.0, 1),
        deliver(110.0, 1, 10.0),
        send(1_000.0, 2),
        deliver(1_030.0, 2, 30.0),
        send(1_100.0, 2),
        deliver(1_130.0, 2, 30.0),
    ];
    let stats = measure(config(vec![flow(1, 0, 500), flow(2, 1_000, 1_500)], 1_500, 0), &records);
    // Each flow: 16,000 bit in 100 ms. Total: 32,000 bit from 10 to 1,130 ms.
    assert_eq!((stats.flows[0].throughput_mbps, stats.flows[1].throughput_mbps), (Some(0.16), Some(0.16)));
    assert_eq!(stats.network.throughput_mbps, Some(32_000.0 / (1_000.0 * 1_120.0)));
    assert_eq!(stats.network.ingress_mbps, Some(32_000.0 / (1_000.0 * 1_100.0)));
    // Delays 10, 10, 30, 30: index round(2.85) = 3 and round(1.5) = 2.
    assert_eq!((stats.network.delay_p95_ms, stats.network.owd_p50_ms), (Some(30.0), Some(30.0)));
    // Goodput: 1,800 B in 500 ms each; 3,600 B from 0 to 1,500 ms together.
    assert_eq!(stats.flows[1].goodput_mbps, Some(0.0288));
    assert_eq!(stats.network.goodput_mbps, Some(0.0192));
    // The flows are never active together.
    assert_eq!((stats.network.jain_index, stats.network.jain_index_mean), (None, None));
    assert_eq!(
        stats.network.invalid_reason.as_deref(),
        Some("packets arrived over 1.120 s, less than 0.8 of the planned 1.5 s")
    );
}

#[test]
fn jain_compares_payload_while_all_flows_are_active() {
    // Flow 2 joins at 500 ms. Then, per 500 ms: flow 1 gets three packets and flow 2 one; then two each.
    let mut records = vec![send(0.0, 1), send(500.0, 2)];
    records.extend((1..50).map(|i| deliver(f64::from(i) * 10.0, 1, 1.0)));
    records.extend([510.0, 520.0, 530.0, 1_010.0, 1_020.0].map(|time| deliver(time, 1, 1.0)));
    records.extend([540.0, 1_040.0, 1_499.0].map(|time| deliver(time, 2, 1.0)));
    let stats = measure(config(vec![flow(1, 0, 1_500), flow(2, 500, 1_500)], 1_500, 0), &records);
    // Whole: 5 and 3 packets: 64 / (2 x 34). Bins: (3, 1): 16 / (2 x 10) = 0.8 and (2, 2): 1.
    assert_eq!(stats.network.jain_index, Some(64.0 / 68.0));
    assert_eq!(stats.network.jain_index_mean, Some(0.9));
}

#[test]
fn one_flow_is_perfectly_fair_to_itself() {
    let stats = measure(config(vec![flow(1, 0, 1_000)], 1_000, 0), &ten_packets());
    assert_eq!((stats.network.jain_index, stats.network.jain_index_mean), (Some(1.0), Some(1.0)));
}

#[test]
fn a_starved_flow_counts_in_the_index() {
    let stats = measure(config(vec![flow(1, 0, 1_000), flow(2, 0, 1_000)], 1_000, 0), &ten_packets());
    assert_eq!(stats.network.jain_index, Some(0.5));
    assert_eq!((stats.network.valid, stats.network.invalid_reason), (true, None));
    let flow = &stats.flows[1];
    assert_eq!((flow.throughput_mbps, flow.goodput_mbps), (Some(0.0), Some(0.0)));
    assert_eq!(
        (flow.delay_p95_ms, flow.loss_rate, flow.owd_min_ms, flow.packet_loss_rate),
        (None, None, None, None)
    );
}

#[test]
fn flows_that_only_records_know_are_added_from_their_first_record_on() {
    let mut records = vec![send(200.0, 7), deliver(210.0, 7, 10.0), deliver(400.0, 7, 10.0)];
    records.extend([record(100.0, 0, Event::Opportunity, 1_500, 0, 0.0)]);
    records.extend([
        send(600.0, 4_000_000_000),
        deliver(700.0, 4_000_000_000, 10.0),
        deliver(800.0, 7, 10.0),
    ]);
    let stats = measure(config(vec![], 0, 0), &records);
    let keys: Vec<_> = stats.flows.iter().map(|flow| (flow.flow, flow.start_s, flow.stop_s)).collect();
    assert_eq!(keys, [(7, 0.2, 0.8), (4_000_000_000, 0.6, 0.8)]);
    // 2,700 B from 200 to 800 ms.
    assert_eq!(stats.flows[0].goodput_mbps, Some(21_600.0 * 1_000.0 / 600e6));
    // From 600 ms on each flow delivers one packet.
    assert_eq!(stats.network.jain_index, Some(1.0));
}

#[test]
fn a_planned_flow_of_unknown_start_starts_with_its_first_record() {
    let unknown = |flow| FlowInfo {
        flow,
        scheme: "copa".into(),
        start: Time::NEVER,
        stop: Time::NEVER,
        ..FlowInfo::default()
    };
    let records = [send(200.0, 1), deliver(300.0, 1, 100.0), deliver(700.0, 1, 100.0)];
    let stats = measure(config(vec![unknown(1), unknown(2)], 0, 0), &records);
    let flow = &stats.flows[0];
    assert_eq!((flow.scheme.as_str(), flow.start_s, flow.stop_s), ("copa", 0.2, 0.7));
    assert_eq!(flow.goodput_mbps, Some(0.0288));
    // Flow 2 never appeared: it is listed, and Pantheon counts the run.
    assert_eq!((stats.flows.len(), stats.flows[1].packets_sent), (2, Some(0)));
    assert_eq!((stats.network.valid, stats.network.invalid_reason), (true, None));
}

#[test]
fn logs_without_payload_have_no_goodput_and_share_bytes() {
    let mut records =
        vec![record(0.0, 1, Event::Send, 1_500, 0, 0.0), record(0.0, 2, Event::Send, 500, 0, 0.0)];
    records.push(record(10.0, 1, Event::Deliver, 1_500, 0, 10.0));
    records.push(record(10.0, 2, Event::Deliver, 500, 0, 10.0));
    let stats = measure(config(vec![], 0, 0), &records);
    assert_eq!((stats.flows[0].goodput_mbps, stats.network.goodput_mbps), (None, None));
    assert_eq!(stats.flows[0].data_bytes_delivered, None);
    // Shares 3:1.
    assert_eq!(stats.network.jain_index, Some(0.8));
}

#[test]
fn the_return_direction_has_its_own_numbers() {
    let ack = |time, event, delay| record(time, 1, event, 100, 0, delay);
    let mut records = ten_packets();
    records.extend([20.0, 30.0, 40.0, 50.0].map(|time| ack(time, Event::AckSend, 0.0)));
    records.extend(
        [(30.0, 10.0), (42.0, 12.0), (61.0, 11.0)].map(|(time, delay)| ack(time, Event::AckDeliver, delay)),
    );
    records.push(ack(45.0, Event::AckDrop, 0.0));
    let stats = measure(config(vec![flow(1, 0, 1_000)], 1_000, 0), &records);
    for acklink in [stats.flows[0].acklink.as_ref(), stats.network.acklink.as_ref()] {
        let acklink = acklink.expect("ACK records exist");
        // 300 B x 8 = 2,400 bit from 30 to 61 ms; index round(0.95 * 2 = 1.9) = 2; one of four lost.
        assert_eq!(acklink.throughput_mbps, 2_400.0 / (1_000.0 * 31.0));
        assert_eq!((acklink.delay_p95_ms, acklink.loss_rate), (Some(12.0), Some(0.25)));
    }
    // The drop of an ACK is no drop of data.
    assert_eq!(stats.flows[0].packets_dropped, Some(1));
    let stats = measure(config(vec![], 0, 0), &ten_packets());
    assert_eq!((&stats.flows[0].acklink, &stats.network.acklink), (&None, &None));
}

#[test]
fn capacity_counts_the_first_opportunitys_bits() {
    let mut records: Vec<_> =
        (0..=10).map(|i| record(f64::from(i), 0, Event::Opportunity, 1_500, 0, 0.0)).collect();
    records.extend([send(0.0, 1), deliver(1.0, 1, 1.0), send(1.0, 1), deliver(11.0, 1, 10.0)]);
    let network = measure(config(vec![], 0, 0), &records).network;
    // 11 x 12,000 bit in 10 ms; 16,000 bit delivered in 10 ms.
    assert_eq!((network.capacity_mbps, network.throughput_mbps), (Some(13.2), Some(1.6)));
    assert_eq!(network.capacity_utilization, Some(1.6 / 13.2));
    let network = measure(config(vec![], 0, 0), &ten_packets()).network;
    assert_eq!((network.capacity_mbps, network.capacity_utilization), (None, None));
}

#[test]
fn a_run_in_which_nothing_arrives_is_invalid_and_has_numbers_all_the_same() {
    let stats =
        measure(config(vec![flow(1, 0, 1_000)], 1_000, 0), &[send(0.0, 1), send(5.0, 1), drop(6.0, 1)]);
    assert_eq!(stats.network.invalid_reason.as_deref(), Some("no packet arrived"));
    let flow = &stats.flows[0];
    assert_eq!((flow.throughput_mbps, flow.goodput_mbps, flow.loss_rate), (Some(0.0), Some(0.0), Some(1.0)));
    assert_eq!((flow.packet_loss_rate, flow.packets_in_flight_at_end), (Some(1.0), Some(1)));
    let records = [send(0.0, 1), deliver(900.0, 1, 900.0), deliver(10.0, 1, 10.0), send(0.0, 2)];
    let stats = measure(config(vec![], 1_000, 0), &records);
    assert_eq!(stats.network.invalid_reason.as_deref(), Some("no packet of flow 2 arrived"));
}

#[test]
fn a_run_with_arrivals_that_nobody_sent_is_invalid_unless_no_flow_is_told() {
    let records = |number| [send(0.0, 1), deliver(1.0, 1, 1.0), deliver(2.0, number, 1.0)];
    let stats = measure(config(vec![], 0, 0), &records(3));
    assert_eq!(stats.network.invalid_reason.as_deref(), Some("packets of flow 3 arrived, and none was sent"));
    assert_eq!(measure(config(vec![], 0, 0), &records(0)).network.invalid_reason, None);
}

#[test]
fn a_log_whose_clock_steps_back_counts_from_its_first_packet_by_its_own_zero() {
    // as logged: 0.1, then 0.05 (a step back), then 1.1 ms; the records are 2.5 ms later
    let arrival = |time_ms, flow| record(time_ms + 2.5, flow, Event::Deliver, 1_000, 0, 0.5);
    let records =
        [send(2.5, 1), send(2.5, 2), arrival(0.1, 1), arrival(0.05, 2), arrival(1.1, 1), arrival(1.0, 2)];
    let mut meter =
        RunMeter::new(MeterConfig { log_zero: Some(Time::from_ns(2_500_000)), ..config(vec![], 0, 0) });
    for record in &records {
        meter.record(record);
    }
    let stats = meter.finish(&[], &[]);
    assert_eq!(stats.flows[0].throughput_mbps, Some(16_000.0 / (1_000.0 * (1.1 - 0.1))));
    assert_eq!(stats.flows[1].throughput_mbps, Some(16_000.0 / (1_000.0 * (1.0 - 0.05))));
    assert_eq!(stats.network.throughput_mbps, Some(32_000.0 / (1_000.0 * (1.1 - 0.1))));
}

#[test]
fn no_records_at_all_give_finite_numbers() {
    let stats = measure(config(vec![], 0, 0), &[]);
    assert!(!stats.network.valid && stats.flows.is_empty());
    assert!(serde_json::to_string(&stats).is_ok_and(|json| !json.contains("NaN") && !json.contains("inf")));
}

#[test]
fn links_are_time_means_over_their_counters() {
    let link = LinkCounters {
        name: "bottleneck".into(),
        direction: "data".into(),
        elapsed: Span::from_secs(2),
        framing_bytes: 2,
        capacity_bits: 24_000_000,
        bytes_in: 2_400_000,
        bytes_out: 2_250_000,
        packets_in: 1_600,
        packets_out: 1_500,
        packets_dropped: 60,
        packets_marked: 7,
        queue_packet_ns: 5_000_000_000,
        queue_byte_ns: 7_500_000_000_000,
        max_queue_packets: 40,
        max_queue_bytes: 60_000,
        packets_dequeued: 1_501,
        queueing_delay_ns: 4_503_000_000,
        max_queueing_delay_ns: 40_000_000,
        peak_queueing_delay_ns: Some(20_000_000),
    };
    let unlimited = LinkCounters { name: "wire".into(), direction: "ack".into(), ..LinkCounters::default() };
    let stats = RunMeter::new(config(vec![], 2_000, 0)).finish(&[link, unlimited], &[]);
    let link = &stats.links[0];
    assert_eq!((link.link.as_str(), link.direction.as_str()), ("bottleneck", "data"));
    // 24 Mbit in 2 s; 18 Mbit sent: 9 of 12 Mbit/s.
    assert_eq!(
        (link.capacity_mbps, link.throughput_mbps, link.utilization),
        (Some(12.0), Some(9.0), Some(0.75))
    );
    assert_eq!((link.mean_queue_packets, link.mean_queue_bytes), (Some(2.5), Some(3_750.0)));
    assert_eq!((link.max_queue_packets, link.max_queue_bytes), (40, 60_000));
    // Packets waited 4.503 s in total; there were 1,501 of them, and the last is being sent.
    assert_eq!(link.mean_queue_delay_ms, Some(3.0));
    assert_eq!((link.max_queue_delay_ms, link.peak_queue_ms), (40.0, Some(20.0)));
    assert_eq!(link.ecn_mark_rate, Some(7.0 / 1_500.0));
    // The values with ccperf's names.
    assert_eq!((link.mean_qdisc_length_l2, link.mean_qdisc_delay_l2), (Some(2.5), Some(3.0)));
    assert_eq!((link.mean_sending_rate_l1, link.total_qdisc_drops_l2), (Some(9.0), 60));
    assert_eq!(
        (link.packets_in, link.packets_out, link.packets_dropped, link.packets_marked),
        (1_600, 1_500, 60, 7)
    );
    assert_eq!(stats.network.utilization, Some(0.75));
    let wire = &stats.links[1];
    assert_eq!((wire.capacity_mbps, wire.throughput_mbps, wire.utilization), (None, None, None));
    assert_eq!((wire.mean_queue_packets, wire.mean_queue_delay_ms), (None, None));
}

#[test]
fn senders_are_time_means_over_their_active_time() {
    let measure = |sender| {
        let meter = RunMeter::new(config(vec![flow(1, 0, 2_000)], 2_000, 0));
        meter.finish(&[], &[SenderCounters { flow: 9, ..SenderCounters::default() }, sender]).flows.remove(0)
    };
    let sender = SenderCounters {
        flow: 1,
        retransmissions: Some(5),
        timeouts: Some(1),
        loss_episodes: Some(2),
        cwnd_byte_ns: 30_000_000_000_000,
        in_flight_byte_ns: 24_000_000_000_000,
        srtt_ns_ns: 100_000_000_000_000_000,
        active: Span::from_secs(2),
        cwnd_active: Span::from_secs(2),
        srtt_active: Span::from_ms(1_600),
        ..SenderCounters::default()
    };
    let flow = measure(sender);
    assert_eq!((flow.retransmissions, flow.timeouts, flow.loss_episodes), (Some(5), Some(1), Some(2)));
    assert_eq!((flow.mean_cwnd_bytes, flow.mean_in_flight_bytes), (Some(15_000.0), Some(12_000.0)));
    // 10^17 ns^2 over the 1.6 s since the first sample are 62.5 ms.
    assert_eq!(flow.mean_srtt_ms, Some(62.5));
    let flow = measure(SenderCounters { flow: 1, ..SenderCounters::default() });
    assert_eq!((flow.mean_cwnd_bytes, flow.mean_srtt_ms), (None, None));
}

#[test]
fn delays_between_microseconds_never_make_self_inflicted_delay_negative() {
    // 10.0004 and 10.0006 ms: minimum, mean and percentiles are all of delays rounded to whole µs.
    for delay_ms in [10.000_4, 10.000_6] {
        let records = [send(0.0, 1), deliver(20.0, 1, delay_ms), deliver(30.0, 1, delay_ms)];
        let flow = measure(config(vec![], 0, 0), &records).flows.remove(0);
        assert_eq!(flow.self_inflicted_delay_mean_ms, Some(0.0), "{delay_ms}");
        assert_eq!(flow.self_inflicted_delay_p95_ms, Some(0.0), "{delay_ms}");
    }
}

#[test]
fn negative_delays_are_measured_like_others() {
    let records = [send(10.0, 1), deliver(8.0, 1, -2.0), deliver(9.0, 1, -1.0), deliver(20.0, 1, 3.5)];
    let flow = measure(config(vec![], 0, 0), &records).flows.remove(0);
    assert_eq!((flow.owd_min_ms, flow.owd_p50_ms, flow.delay_p95_ms), (Some(-2.0), Some(-1.0), Some(3.5)));
    assert_eq!(flow.self_inflicted_delay_p95_ms, Some(5.5));
}
