use super::*;
use crate::testing::MSS_BYTES;
use crate::{AckedPacket, File};

fn policy(settings: &[(&str, &str)]) -> Aurora {
    let mut parameters = Parameters::defaults(ENTRY.parameters);
    for (name, value) in settings {
        parameters.set(name, value).unwrap();
    }
    let start = Start { now: Time::ZERO, mss_bytes: MSS_BYTES, initial_window_bytes: 10_000, seed: 1 };
    Aurora::new(&parameters, &start)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn send(policy: &mut Aurora, ms: u64, number: u64) {
    let now = at(ms);
    policy.on_sent(&Sent {
        now,
        number,
        bytes: MSS_BYTES,
        in_flight_bytes: 0,
        retransmission: false,
        filler: false,
        frame: 0,
        frame_end: false,
        idle_timeouts: 0,
    });
}

fn ack(policy: &mut Aurora, ms: u64, rtt_ms: u64) {
    let packet =
        AckedPacket { sent_at: at(ms - rtt_ms), bytes: MSS_BYTES, number: ms, ..AckedPacket::default() };
    policy.on_ack(&Ack {
        now: at(ms),
        packets: &[packet],
        acked_bytes: u64::from(MSS_BYTES),
        growth_bytes: u64::from(MSS_BYTES),
        lost_bytes: 0,
        rtt: Some(Span::from_ms(rtt_ms)),
        srtt: Span::from_ms(rtt_ms),
        rttvar: Span::ZERO,
        min_rtt: Span::from_ms(rtt_ms),
        ack_delay: Span::ZERO,
        in_flight_before_bytes: 0,
        in_flight_bytes: 0,
        peak_in_flight_bytes: 0,
        window_limited: false,
        pacing_limited: false,
        app_limited: false,
        delivered_bytes: 0,
        rate: None,
        round_start: false,
        in_recovery: false,
        next_number: 0,
        queued_bytes: u64::MAX,
        queue_delay: Span::ZERO,
        feedback: &[],
        complete_bytes: 0,
        sent_bytes: 0,
    });
}

/// Returns the features of the newest interval as the network sees them.
fn newest(policy: &mut Aurora, ms: u64) -> [f32; FEATURES] {
    policy.observation(at(ms)).unwrap()[INPUTS - FEATURES..].try_into().unwrap()
}

#[test]
fn features_are_those_of_the_interval() {
    for (recv_rate, seconds) in [("ack_span", 0.060), ("mi", 0.150)] {
        let mut policy = policy(&[("recv_rate", recv_rate)]);
        policy.on_established(at(0), Span::from_ms(100));
        (0..6).for_each(|number| send(&mut policy, 0, number));
        assert_eq!(policy.control().wake_at, at(150), "1.5 RTTs");
        for (ms, rtt) in [(100, 100), (120, 100), (140, 110), (160, 130)] {
            assert_eq!(policy.observation(at(ms.min(149))), None);
            ack(&mut policy, ms, rtt);
        }
        // 6 packets left in 150 ms, 4 arrived. The mean RTT is 110 ms: the halves have 100 and 120 ms.
        policy.interval.acked = Some((at(100), at(160)));
        let found = newest(&mut policy, 150);
        let expected = [0.02 / 0.15, 1.0, (6.0 / 0.150) / (3.0 / seconds)];
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{recv_rate}: {found} {expected}");
        }
        assert_eq!(policy.observation[..INPUTS - FEATURES].as_chunks().0, [QUIET; HISTORY - 1]);
        // The second interval has one and a half RTTs, too, now with a measured RTT. Later intervals last half an RTT.
        assert_eq!(policy.control().wake_at, at(150 + 165));
        assert_eq!(newest(&mut policy, 315), [0.0, 0.0, 1.0], "nothing happened");
        assert_eq!(policy.control().wake_at, at(315 + 55));
        ack(&mut policy, 320, 99);
        assert_eq!(newest(&mut policy, 370), [0.0, 1.0, 1.0], "a new minimum; one packet gives no rate");
    }
}

#[test]
fn one_packet_less_makes_a_short_interval_look_congested() {
    // n packets leave and arrive evenly in an interval of 50 ms.
    let ratio = |recv_rate: &str, packets: u64| {
        let mut policy = policy(&[("recv_rate", recv_rate)]);
        policy.on_established(at(0), Span::from_ms(100));
        policy.ended = FIRST_INTERVALS;
        let gap = 50 / packets;
        for number in 0..packets {
            send(&mut policy, 0, number);
            ack(&mut policy, 100 + number * gap, 100);
        }
        newest(&mut policy, 50)[2]
    };
    assert!((ratio("mi", 10) - 10.0 / 9.0).abs() < 1e-6);
    assert!((ratio("ack_span", 10) - 1.0).abs() < 0.11);
    assert!((ratio("ack_span", 50) - 1.0).abs() < 1e-6);
    assert!((ratio("mi", 50) - 50.0 / 49.0).abs() < 1e-6);
}

#[test]
fn a_sending_rate_that_is_not_divided_is_the_ratio_times_the_length_of_the_interval() {
    let seen = |send_rate: &str| {
        let mut policy = policy(&[("send_rate", send_rate)]);
        policy.on_established(at(0), Span::from_ms(200));
        (0..30).for_each(|number| send(&mut policy, 0, number));
        (0..30).for_each(|number| ack(&mut policy, 200 + number, 200));
        newest(&mut policy, 300)[2]
    };
    assert!((seen("undivided") / seen("rate") - 0.3).abs() < 1e-6);
}

#[test]
fn actions_multiply_and_divide_the_rate_within_its_bounds() {
    let mut policy = policy(&[]);
    let mut after = |action: f32| {
        policy.act(Time::ZERO, &[action]);
        policy.rate
    };
    assert!((after(1.0) - 6.3).abs() < 1e-9);
    assert!((after(-1.0) - 6.0).abs() < 1e-9);
    assert!((after(-2.0) - 6.0 / 1.1).abs() < 1e-6);
    assert_eq!([after(1e9), after(-1e9)], [300.0, 0.5]);
}

#[test]
fn a_checkpoint_is_read_by_its_layout() {
    // Only the bias drives each hidden unit; the last layer adds tanh of the second layer's biases.
    let mut floats = vec![0.0_f32; 24_736 / 4];
    floats[0] = 0.25;
    floats[2..18].fill(0.5);
    floats[4040 / 4..4040 / 4 + 16].fill(1.0);
    let contents: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
    let file = File { name: "aurora.data".into(), contents: contents.into() };
    let mut network = Network::new(&Tensors::read("weights", &file, LAYOUTS).unwrap(), INPUTS, 1).unwrap();
    let expected = 0.25 + 16.0 * 0.5 * libm::tanh(1.0);
    assert!((f64::from(network.step(&[0.3; INPUTS])[0]) - expected).abs() < 1e-6);
}

#[test]
fn a_scheme_without_a_network_is_refused_in_one_line() {
    let start = Start { now: Time::ZERO, mss_bytes: MSS_BYTES, initial_window_bytes: 10_000, seed: 1 };
    let refusal = ENTRY.build(&Parameters::defaults(ENTRY.parameters), &start).unwrap_err().to_string();
    assert_eq!(refusal, "`weights`: no file named: allowed is a file with Aurora's network");
}
