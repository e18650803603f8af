//! Behavior of SCReAM (both versions) and NADA with a live encoder, against published figures.

use crate::harness::{Outcome, dumbbell, run, spec};
use serde_json::{Value, json};

/// Returns a flow of a live encoder.
fn media_flow(controller: &str, transport: &Value, application: &Value) -> Value {
    json!({"scheme": controller, "controller": controller, "transport": transport, "application": application})
}

/// Returns SCReAM version 2 as in the catalog, with an encoder of at most `max_mbps`.
fn scream(max_mbps: f64) -> Value {
    scream_with(json!({}), max_mbps)
}

/// Returns SCReAM version 2 as in its draft (scheme `scream-draft`).
fn scream_draft(max_mbps: f64) -> Value {
    let parameters = json!({
        "form": "draft", "loss_threshold": "0", "loss_delay_packets": "0", "jitter_scaling": "false", "acked_margin": "0", "beta_ecn": "0.8",
        "min_ref_wnd_bytes": "3000", "mul_increase": "0.02", "post_congestion_rtts": "100",
        "in_flight_headroom": "1.5", "window_overhead": "3", "rate_margin": "1.2", "relaxed_pacing": "4",
        "adaptive_pacing": "1", "drain_after_s": "20"});
    scream_with(parameters, max_mbps)
}

fn scream_with(mut parameters: Value, max_mbps: f64) -> Value {
    let transport = json!({
        "profile": "datagram", "payload_bytes": 1000, "header_bytes": 40, "ack_bytes": 80, "ack_every": 16,
        "ack_delay_ms": 10.0, "ack_on_gap": false, "ack_ranges": 64, "packet_threshold": 3,
        "timer": "silence", "timeout_initial_ms": 1000.0, "ecn": "ect1"});
    let application = json!({
        "kind": "encoder", "fps": 30.0, "min_rate_mbps": 0.064, "start_rate_mbps": 1.0, "max_rate_mbps": max_mbps});
    let mut flow = media_flow("scream", &transport, &application);
    parameters["max_rate_mbps"] = json!(max_mbps.to_string());
    flow["parameters"] = parameters;
    flow
}

/// Returns SCReAM version 1 with Pantheon's encoder.
fn scream_v1(parameters: &Value, max_mbps: f64) -> Value {
    let transport = json!({
        "profile": "datagram", "payload_bytes": 1220, "header_bytes": 34, "ack_bytes": 46, "ack_every": 1_000_000,
        "ack_delay_ms": 10_000.0, "ack_on_gap": false, "ack_ranges": 64, "packet_threshold": 1});
    let application = json!({
        "kind": "encoder", "fps": 25.0, "min_rate_mbps": 0.001, "start_rate_mbps": 0.064, "max_rate_mbps": max_mbps,
        "key_factor": 1.0, "key_after_loss": false, "deviation": 0.096, "reaction_ms": 0.0, "skip_queue_ms": 500.0});
    let mut flow = media_flow("scream-v1", &transport, &application);
    flow["parameters"] = parameters.clone();
    flow
}

/// Returns NADA as in the catalog.
fn nada() -> Value {
    let transport = json!({
        "profile": "datagram", "payload_bytes": 1000, "header_bytes": 40, "ack_bytes": 80, "ack_every": 1000,
        "ack_delay_ms": 100.0, "ack_on_gap": false, "ack_ranges": 64, "packet_threshold": 3});
    let application = json!({
        "kind": "encoder", "fps": 30.0, "min_rate_mbps": 0.03, "start_rate_mbps": 0.15, "max_rate_mbps": 100.0});
    media_flow("nada", &transport, &application)
}

/// Returns the arguments that Pantheon's client passes, as the library understands them.
fn pantheon_arguments() -> Value {
    json!({"start_rate_kbps": "100000", "max_rate_kbps": "200", "ramp_up_kbps_per_s": "0.002",
           "max_rtp_queue_delay_ms": "500", "tx_queue_size_factor": "0.3", "quirk_repair_frame": "true",
           "quirk_one_packet_per_event": "true"})
}

/// Returns the arguments that Pantheon's client intended.
fn intended_arguments() -> Value {
    json!({"max_rtp_queue_delay_ms": "500", "tx_queue_size_factor": "0.3"})
}

/// Returns a dumbbell whose queue holds `bytes`.
fn path(rate_mbps: f64, rtt_ms: f64, bytes: u64) -> Value {
    let mut path = dumbbell(rate_mbps, rtt_ms, 1);
    path["data"][0]["queue"] = json!({"kind": "droptail", "bytes": bytes});
    path
}

/// Returns the mean bitrate of the encoder of flow `flow` within an interval of seconds, Mbit/s.
fn encoder_rate(outcome: &Outcome, flow: u32, from_s: f64, to_s: f64) -> f64 {
    outcome.mean(flow, "encoder_rate", from_s, to_s)
}

/// docs/evidence/derivations.md, `SCReAM`: Pantheon's arguments give a constant 200 kbit/s on any path of at least 1
/// Mbit/s, without a queue and without loss. That is 0.20 to 0.23 Mbit/s of IP (its report of January 2018: 0.22
/// Mbit/s).
#[test]
fn scream_as_pantheon_ran_it_sends_200_kbit_per_second_over_any_path() {
    for (rate, rtt) in [(1.0, 100.0), (12.0, 40.0), (40.0, 24.0), (100.0, 4.0)] {
        let outcome = run(&spec(path(rate, rtt, 100_000), vec![scream_v1(&pantheon_arguments(), 0.2)], 30.0));
        let throughput = outcome.flow(1, "throughput_mbps");
        assert!((0.20..=0.23).contains(&throughput), "{rate} Mbit/s: {throughput:.3}");
        assert_eq!(outcome.flow(1, "packets_dropped"), 0.0);
        // A frame is one packet of about 1034 bytes, and sometimes two: no more delay than their own serialization.
        let own = 2.0 * 1300.0 * 8.0 / (rate * 1e3);
        let delay = outcome.flow(1, "delay_p95_ms") - rtt / 2.0;
        assert!(delay <= own, "{rate} Mbit/s: {delay:.2} ms of queue, {own:.2} of its own");
    }
}

/// docs/evidence/derivations.md, `SCReAM`, with the intended arguments. The rate climbs 50 % per second up to 400
/// kbit/s, then 200 kbit/s per second. That gives about 5.5 Mbit/s after 30 s, and about 3 Mbit/s on average.
#[test]
fn scream_v1_climbs_200_kbit_per_second() {
    let outcome = run(&spec(path(40.0, 24.0, 850_000), vec![scream_v1(&intended_arguments(), 100.0)], 30.0));
    let end = outcome.mean(1, "target_rate", 29.5, 30.0);
    assert!((5.0..=6.0).contains(&end), "{end:.2}");
    let mean = outcome.flow(1, "throughput_mbps");
    assert!((2.5..=3.5).contains(&mean), "{mean:.2}");
    let climbed = outcome.mean(1, "target_rate", 25.0, 26.0) - outcome.mean(1, "target_rate", 15.0, 16.0);
    assert!((climbed - 2.0).abs() < 0.1, "{climbed:.3} Mbit/s in 10 s");
}

/// RFC 8298 with a delay target of 100 ms: limited by the network, the rate oscillates, with about 20 to 60 ms of
/// queueing delay.
#[test]
fn scream_v1_oscillates_around_a_short_queue() {
    let outcome = run(&spec(path(2.0, 50.0, 150_000), vec![scream_v1(&intended_arguments(), 100.0)], 60.0));
    let delay = outcome.mean(1, "qdelay", 15.0, 60.0);
    assert!((20.0..=60.0).contains(&delay), "{delay:.1} ms");
    let utilization = outcome.link("throughput_mbps") / 2.0;
    assert!(utilization > 0.7, "{utilization:.3}");
    let rates = outcome.series(1, "target_rate", 15.0, 60.0);
    let (low, high) =
        rates.iter().fold((f64::MAX, 0f64), |(low, high), (_, rate)| (low.min(*rate), high.max(*rate)));
    assert!(low < 0.9 * high, "oscillates: {low:.2} to {high:.2}");
}

/// docs/evidence/derivations.md, `SCReAM`: 5 Mbit/s, RTT 50 ms, 30 frames/s of at most 20 Mbit/s. Expected is above 80
/// % of the link, with less than 60 ms of queueing delay on average. Virtual marks bound the averaged delay to 30 to 60
/// ms. Frames are uneven, so the test requires 15 to 60 ms and 85 % of the link.
#[test]
fn scream_fills_five_megabits_with_a_short_queue() {
    let outcome = run(&spec(path(5.0, 50.0, 500_000), vec![scream_draft(20.0)], 60.0));
    let utilization = outcome.link("throughput_mbps") / 5.0;
    assert!(utilization > 0.85, "{utilization:.3}");
    let delay = outcome.mean(1, "qdelay", 5.0, 60.0);
    assert!((15.0..60.0).contains(&delay), "{delay:.1} ms");
    assert_eq!(outcome.flow(1, "packets_dropped"), 0.0);
}

/// Means of five runs of the authors' program (EricssonResearch/scream@c8f84c3) in its wrapper (validation/originals).
/// Over 5 Mbit/s, 50 ms, 500 kB: 4.61 Mbit/s and a p95 of 59.0 ms. Over 12 Mbit/s, 40 ms, 60 kB with 1 % of random
/// loss: 4.00 Mbit/s and 30.6 ms, while its draft has 1.4 (docs/schemes/scream.md). Allowed: 10 %; with loss 25 %, for
/// one seed.
#[test]
fn scream_does_as_its_authors_program_with_and_without_loss() {
    let smooth = run(&spec(path(5.0, 50.0, 500_000), vec![scream(100.0)], 30.0));
    let (rate, p95) = (smooth.flow(1, "throughput_mbps"), smooth.flow(1, "delay_p95_ms"));
    assert!(
        (rate / 4.61 - 1.0).abs() < 0.1 && (p95 / 59.0 - 1.0).abs() < 0.1,
        "{rate:.2} Mbit/s, {p95:.1} ms"
    );
    let mut path = path(12.0, 40.0, 60_000);
    path["data"].as_array_mut().unwrap().push(json!({"kind": "loss", "probability": 0.01}));
    let lossy = run(&spec(path, vec![scream(100.0)], 30.0));
    let (rate, p95) = (lossy.flow(1, "throughput_mbps"), lossy.flow(1, "delay_p95_ms"));
    assert!(
        (rate / 4.00 - 1.0).abs() < 0.25 && (p95 / 30.6 - 1.0).abs() < 0.25,
        "{rate:.2} Mbit/s, {p95:.1} ms"
    );
}

/// Chromium's SCReAM version 2 over 4 Mbit/s, 40 ms, 100 kB (docs/schemes/chromium.md, made by hand): 3.70 to 3.83
/// Mbit/s without loss. Its one-way delay is 34 to 48 ms at the median and 55 to 68 ms at the 95th percentile. Allowed:
/// 10 % of rate, 20 % of delay; its constants differ from the draft's.
#[test]
fn scream_is_close_to_chromiums_at_four_megabits() {
    let outcome = run(&spec(path(4.0, 40.0, 100_000), vec![scream_draft(10.0)], 30.0));
    let rate = outcome.flow(1, "throughput_mbps");
    assert!((3.70 * 0.9..=3.83 * 1.1).contains(&rate), "{rate:.2}");
    let (median, p95) = (outcome.network("owd_p50_ms"), outcome.flow(1, "delay_p95_ms"));
    assert!((34.0 * 0.8..=48.0 * 1.2).contains(&median), "median {median:.1} ms");
    assert!((55.0 * 0.8..=68.0 * 1.2).contains(&p95), "p95 {p95:.1} ms");
    assert_eq!(outcome.flow(1, "packets_dropped"), 0.0);
}

/// Chromium's rates and delays, 5 to 1 to 5 Mbit/s with 50 kB (docs/schemes/chromium.md). One-way delays above 120 ms
/// end 0.6 s after the drop. The rate is 0.7 to 1.0 Mbit/s in the last 5 s before the return, and full 3 to 4 s after
/// the return. Allowed: 1.2 s, and such delays again in 1 % of the time (one peak of 121 ms here); 0.6 to 1.0; 4 s.
#[test]
fn scream_drains_a_sudden_queue_within_a_second() {
    let mut path = path(5.0, 40.0, 50_000);
    path["data"][0]["schedule"] = json!([{"at_s": 10.0, "rate_mbps": 1.0}, {"at_s": 20.0, "rate_mbps": 5.0}]);
    let outcome = run(&spec(path, vec![scream_draft(10.0)], 32.0));
    let delays = outcome.series(1, "qdelay", 10.0, 20.0);
    let delayed: Vec<f64> = delays.iter().filter(|(_, delay)| *delay > 100.0).map(|(at, _)| *at).collect();
    assert!(delayed.iter().any(|at| *at < 10.5), "the drop fills the queue");
    let later = delayed.iter().filter(|at| **at >= 11.2).count();
    assert!(later <= delays.len() / 100, "{later} of {} samples", delays.len());
    let low = encoder_rate(&outcome, 1, 15.0, 20.0);
    assert!((0.6..=1.0).contains(&low), "{low:.2}");
    let high = encoder_rate(&outcome, 1, 23.0, 26.0);
    assert!(high > 4.0, "{high:.2}");
}

/// Chromium's, two flows over 6 Mbit/s, 150 kB, the second half a second later (docs/schemes/chromium.md): 2.9 and
/// 2.9 Mbit/s. Allowed: 15 %, and Jain's index above 0.98.
#[test]
fn two_scream_flows_share_equally() {
    let mut second = scream_draft(10.0);
    second["start_s"] = json!(0.5);
    let outcome = run(&spec(path(6.0, 40.0, 150_000), vec![scream_draft(10.0), second], 30.0));
    let (a, b) = (outcome.flow(1, "throughput_mbps"), outcome.flow(2, "throughput_mbps"));
    assert!((a - 2.9).abs() < 0.44 && (b - 2.9).abs() < 0.44, "{a:.2} and {b:.2}");
    let jain = (a + b) * (a + b) / (2.0 * (a * a + b * b));
    assert!(jain > 0.98, "{a:.2} and {b:.2}");
}

/// Chromium's, 4 ms and 100 Mbit/s with at most 10 Mbit/s (docs/schemes/chromium.md): 9.6 Mbit/s after 4 s, one-way
/// delay at most 6 ms.
#[test]
fn scream_reaches_its_cap_without_a_queue() {
    let outcome = run(&spec(path(100.0, 4.0, 100_000), vec![scream_draft(10.0)], 10.0));
    let rate = encoder_rate(&outcome, 1, 4.0, 5.0);
    assert!((9.0..=10.0).contains(&rate), "{rate:.2}");
    assert!(outcome.flow(1, "delay_p95_ms") < 6.0);
}

/// With L4S marks the queueing delay is a few ms. Marks from 2 ms of queue on, all packets from 20 ms on. Above 5 ms of
/// a step threshold Chromium kept half of the link and 9 to 11 ms at most (docs/schemes/chromium.md, made by hand).
#[test]
fn scream_keeps_a_few_milliseconds_under_l4s_marks() {
    let mut path = path(5.0, 40.0, 100_000);
    path["data"][0]["queue"] = json!({
        "kind": "red", "bytes": 100_000, "min_threshold_bytes": 1250, "max_threshold_bytes": 12_500,
        "max_probability": 1.0, "weight": 1.0, "gentle": true, "ecn": true});
    let outcome = run(&spec(path, vec![scream_draft(10.0)], 30.0));
    let (delay, share) = (outcome.mean(1, "qdelay", 5.0, 30.0), outcome.mean(1, "l4s_alpha", 5.0, 30.0));
    let utilization = outcome.link("throughput_mbps") / 5.0;
    assert!(delay < 10.0, "{delay:.1} ms");
    assert!((0.01..0.6).contains(&share), "{share:.3}");
    assert!(utilization > 0.5, "{utilization:.2}");
    assert_eq!(outcome.flow(1, "packets_dropped"), 0.0);
}

/// docs/evidence/derivations.md, NADA: at most 1.5 Mbit/s over 1 Mbit/s: a rate of 1.0 Mbit/s +-5 %, 15 +-5 ms of
/// queueing delay.
#[test]
fn nada_settles_at_the_link_with_fifteen_milliseconds_of_queue() {
    let outcome = run(&spec(path(1.0, 50.0, 100_000), vec![nada()], 120.0));
    let rate = outcome.mean(1, "ref_rate", 20.0, 120.0);
    assert!((0.95..=1.05).contains(&rate), "{rate:.3}");
    let delay = outcome.mean(1, "qdelay", 20.0, 120.0);
    assert!((10.0..=20.0).contains(&delay), "{delay:.1} ms");
    assert_eq!(outcome.flow(1, "packets_dropped"), 0.0);
}

/// RFC 8698 4.3: flows with equal priority and maximum share equally, and a slower link has a longer queue. For two
/// flows with half a megabit each it is 10 ms * 1.5 / 0.5 = 30 ms. Allowed: 10 % of the rate, 10 ms.
#[test]
fn two_nada_flows_share_equally() {
    let outcome = run(&spec(path(1.0, 50.0, 100_000), vec![nada(), nada()], 180.0));
    let (a, b) = (outcome.mean(1, "ref_rate", 120.0, 180.0), outcome.mean(2, "ref_rate", 120.0, 180.0));
    assert!((a - 0.5).abs() < 0.05 && (b - 0.5).abs() < 0.05, "{a:.3} and {b:.3}");
    let delay = outcome.mean(1, "qdelay", 60.0, 180.0);
    assert!((20.0..=40.0).contains(&delay), "{delay:.1} ms");
}

/// Losses without a queue cost little (docs/evidence/derivations.md, NADA). At half a percent their penalty is 10 ms *
/// 0.5^2 = 2.5 ms. The highest rate of 1.5 Mbit/s allows 10 ms.
#[test]
fn nada_bears_half_a_percent_of_loss() {
    let mut path = path(10.0, 50.0, 100_000);
    path["data"].as_array_mut().expect("a list").insert(1, json!({"kind": "loss", "probability": 0.005}));
    let outcome = run(&spec(path, vec![nada()], 120.0));
    let rate = outcome.mean(1, "ref_rate", 30.0, 120.0);
    assert!(rate > 1.4, "{rate:.3}");
}
