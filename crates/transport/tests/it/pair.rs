//! Scripted transfers between one sender and one receiver: 100 ms RTT, losses by packet number.

use crate::harness::Pair;
use transport::{ApplicationSpec, Config, TimerKind};

/// One ACK per packet, no connection set-up: packet numbers and times are easy to follow.
fn tcp() -> Config {
    Config { ack_every: 1, handshake: false, ..Config::tcp() }
}

const SEGMENT: u64 = 1448;

fn fixed(segments: u64) -> ApplicationSpec {
    ApplicationSpec::Fixed { bytes: segments * SEGMENT }
}

#[test]
fn the_initial_window_leaves_at_once_and_doubles_per_round_trip() {
    let mut pair = Pair::new(&tcp(), ApplicationSpec::Greedy);
    pair.run_to(250);
    assert_eq!(pair.sent_between(0, 50).len(), 10);
    assert_eq!(pair.sent_between(50, 150).len(), 20);
    assert_eq!(pair.sent_between(150, 250).len(), 40);
}

#[test]
fn connection_set_up_costs_one_round_trip_and_gives_an_rtt() {
    let mut pair = Pair::new(&Config::tcp(), ApplicationSpec::Greedy);
    pair.run_to(101);
    assert_eq!(pair.sent[0].1.payload_bytes, 0);
    assert_eq!(pair.sent_between(1, 101).len(), 10);
}

#[test]
fn a_lost_opener_is_repeated_after_the_initial_timeout() {
    let mut pair = Pair::new(&Config::tcp(), fixed(1));
    pair.drop = vec![0];
    pair.run_to(1300);
    assert_eq!(pair.sent_between(1000, 1001).len(), 1);
    assert_eq!(pair.delivered, SEGMENT);
}

#[test]
fn data_does_not_wait_for_an_opener_that_was_lost() {
    let config = Config { handshake: true, limited_transmit: false, ..tcp() };
    let mut pair = Pair::new(&config, fixed(500));
    pair.drop = vec![0];
    pair.run_to(3000);
    assert_eq!((pair.delivered, pair.sender.stats().packets_lost), (500 * SEGMENT, 0));
}

#[test]
fn an_opener_that_is_sent_again_is_no_retransmission() {
    let mut pair = Pair::new(&Config { handshake: true, ..tcp() }, fixed(5));
    pair.drop = vec![0];
    pair.run_to(3000);
    let stats = pair.sender.stats();
    assert_eq!((pair.delivered, stats.probes, stats.retransmissions), (5 * SEGMENT, 1, 0));
}

#[test]
fn a_finite_transfer_completes_with_every_byte_delivered_once() {
    let mut pair = Pair::new(&tcp(), ApplicationSpec::Fixed { bytes: 100_000 });
    pair.run_to(1000);
    assert_eq!(pair.delivered, 100_000);
    assert_eq!(pair.sent.iter().map(|(_, data)| u64::from(data.payload_bytes)).sum::<u64>(), 100_000);
    assert!(pair.sender.stats().completed_at.is_some());
}

#[test]
fn a_transfer_that_sends_nothing_again_is_complete_if_nothing_was_lost() {
    for (drop, completes) in [(vec![], true), (vec![5], false)] {
        let mut pair = Pair::new(&Config::datagram(), ApplicationSpec::Fixed { bytes: 100_000 });
        pair.drop = drop;
        pair.run_to(2000);
        assert_eq!(pair.sender.stats().completed_at.is_some(), completes);
    }
}

#[test]
fn three_later_packets_make_a_loss_and_the_window_halves() {
    let mut pair = Pair::new(&tcp(), ApplicationSpec::Greedy);
    pair.drop = vec![2];
    pair.run_to(100);
    // ACKs of packets 0, 1, 3, 4, 5: the third one above packet 2 arrives in the same round trip.
    let resent: Vec<u64> =
        pair.sent.iter().filter(|(_, data)| data.retransmission).map(|(_, d)| d.offset).collect();
    assert_eq!(resent, [2 * SEGMENT]);
    assert_eq!((pair.sender.stats().packets_lost, pair.sender.stats().episodes), (1, 1));
    pair.run_to(450);
    assert_eq!(pair.sender.stats().timeouts, 0);
    assert_eq!(pair.sender.stats().packets_lost, 1);
}

#[test]
fn losses_of_one_flight_are_one_episode() {
    let mut pair = Pair::new(&tcp(), ApplicationSpec::Greedy);
    pair.drop = vec![12, 15, 18, 21];
    pair.run_to(400);
    assert_eq!((pair.sender.stats().packets_lost, pair.sender.stats().episodes), (4, 1));
}

#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    let mut pair = Pair::new(&tcp(), ApplicationSpec::Greedy);
    pair.drop = vec![2];
    pair.run_to(100);
    let retransmission = pair.sent.iter().find(|(_, data)| data.retransmission).unwrap().1.number;
    pair.drop.push(retransmission);
    let mut again = Pair::new(&tcp(), ApplicationSpec::Greedy);
    again.drop = vec![2, retransmission];
    again.run_to(600);
    assert_eq!((again.sender.stats().timeouts, again.sender.stats().packets_lost), (0, 2));
}

#[test]
fn a_lost_tail_is_repaired_by_a_probe() {
    let mut pair = Pair::new(&tcp(), fixed(5));
    pair.drop = vec![4];
    pair.run_to(2000);
    let stats = pair.sender.stats();
    assert_eq!((pair.delivered, stats.timeouts, stats.probes), (5 * SEGMENT, 0, 1));
}

#[test]
fn a_whole_lost_flight_takes_a_timeout_that_backs_off() {
    let config = Config { tail_loss_probe: false, ..tcp() };
    let mut pair = Pair::new(&config, fixed(3));
    // No RTT sample yet: initial timeout 1 s, then 2 s after the first repeat is lost as well.
    pair.drop = vec![0, 1, 2, 3];
    pair.run_to(3200);
    assert_eq!(pair.sent_between(999, 1001).len(), 1);
    assert_eq!(pair.sent_between(2999, 3001).len(), 1);
    pair.run_to(5000);
    assert_eq!((pair.delivered, pair.sender.stats().timeouts), (3 * SEGMENT, 2));
}

#[test]
fn quic_probes_instead_of_timing_out_and_declares_persistent_congestion() {
    let config = Config { handshake: false, pacing_gain: 0.0, ..Config::quic() };
    let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
    // Packets 10 to 29 leave at 100 ms; then only probes. Five equal RTT samples leave
    // 50 x 0.75^4 = 15.8 ms of variation: the probe timeout is 100 + 4 x 15.8 + 25 = 188 ms, and doubles each time.
    pair.drop = (10..33).collect();
    pair.run_to(2000);
    assert_eq!((pair.sender.stats().probes, pair.sender.stats().timeouts), (3, 0));
    pair.run_to(3100);
    assert_eq!((pair.sender.stats().probes, pair.sender.stats().timeouts), (4, 1));
    let before = pair.delivered;
    pair.run_to(4000);
    assert!(pair.delivered > before);
}

#[test]
fn a_lost_ack_costs_nothing_because_ranges_repeat_it() {
    let mut pair = Pair::new(&tcp(), fixed(10));
    pair.drop_acks = vec![1, 2, 3];
    pair.run_to(1000);
    let stats = pair.sender.stats();
    assert_eq!((stats.packets_lost, stats.retransmissions, stats.probes), (0, 0, 0));
    assert!(stats.completed_at.is_some());
}

#[test]
fn without_selective_acks_every_hole_costs_a_round_trip() {
    let config = Config { sack: false, time_threshold: 0.0, tail_loss_probe: false, ..tcp() };
    let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
    pair.drop = vec![12, 15];
    pair.run_to(450);
    let resent: Vec<(u64, u64)> = pair
        .sent
        .iter()
        .filter(|(_, data)| data.retransmission)
        .map(|(at, data)| (at.as_ns() / 1_000_000, data.offset / SEGMENT))
        .collect();
    // Third duplicate of packet 12's hole at 200 ms; the partial ACK one round trip later reveals packet 15.
    assert_eq!(resent, [(200, 12), (300, 15)]);
    assert_eq!(pair.sender.stats().timeouts, 0);
}

#[test]
fn without_selective_acks_a_timeout_starts_over_with_what_is_missing() {
    let run = |drop: &[u64]| {
        let config = Config { sack: false, time_threshold: 0.0, tail_loss_probe: false, ..tcp() };
        let mut pair = Pair::new(&config, fixed(30));
        pair.drop = drop.to_vec();
        pair.run_to(5000);
        pair
    };
    let resent = |pair: &Pair| pair.sent.iter().position(|(_, data)| data.retransmission);
    let again = resent(&run(&[5])).unwrap();
    // The retransmission is lost too. Among the packets in flight at the timeout it has the second highest number.
    let pair = run(&[5, again as u64]);
    let stats = pair.sender.stats();
    assert_eq!((stats.timeouts, stats.completed_at.is_some()), (1, true));
    let missing = pair.sent[again].1.offset;
    let next = pair.sent[again + 1..].iter().find(|(_, data)| data.retransmission).unwrap();
    assert_eq!(next.1.offset, missing);
}

#[test]
fn limited_transmit_can_be_switched_off() {
    let new_data_at_100 = |limited_transmit| {
        let config = Config { limited_transmit, initial_window: 3, time_threshold: 0.0, ..tcp() };
        let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
        pair.drop = vec![0];
        pair.run_to(150);
        pair.sent_between(100, 150).iter().filter(|data| !data.retransmission).count()
    };
    // Packets 1 and 2 arrive: two duplicate ACKs, each of which may release a new segment.
    assert!(new_data_at_100(true) >= 2);
    assert_eq!(new_data_at_100(false), 0);
}

#[test]
fn reordering_within_the_threshold_is_no_loss() {
    let mut pair = Pair::new(&Config { packet_threshold: 1000, ..tcp() }, fixed(10));
    pair.drop = vec![3];
    pair.run_to(99);
    assert_eq!(pair.sender.stats().packets_lost, 0);
    // The time threshold finds it: 5/4 RTT after it was sent, and 2 ms for an ACK to decide first.
    pair.run_to(127);
    assert_eq!(pair.sender.stats().packets_lost, 1);
}

#[test]
fn unreliable_data_is_never_sent_again() {
    let config = Config { ..Config::datagram() };
    let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
    pair.drop = vec![3, 5, 8];
    pair.run_to(500);
    assert_eq!(pair.sender.stats().retransmissions, 0);
    assert_eq!(pair.sender.stats().packets_lost, 3);
}

#[test]
fn silence_forgets_the_flight_and_starts_again() {
    let config = Config { timer: TimerKind::Silence, timeout_initial_ms: 2000.0, ..Config::datagram() };
    let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
    pair.drop = (0..10).collect();
    pair.run_to(2100);
    assert_eq!(pair.sender.stats().timeouts, 1);
    assert_eq!(pair.sent_between(2000, 2001).len(), 1);
}

#[test]
fn a_keepalive_leaves_when_nothing_else_happens() {
    let config = Config { keepalive_ms: 50.0, ..Config::datagram() };
    let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
    pair.drop = (0..20).collect();
    pair.run_to(120);
    assert_eq!(pair.sent_between(50, 51).len(), 1);
    assert_eq!(pair.sent_between(100, 101).len(), 1);
}

#[test]
fn pacing_spreads_a_window_over_a_round_trip() {
    let mut pair = Pair::new(&Config { pacing_gain: 1.0, ..tcp() }, ApplicationSpec::Greedy);
    pair.run_to(200);
    // Window 10..20 over 100 ms: no more than a few packets per 10 ms once there is an RTT sample.
    let busiest = (100..190).step_by(10).map(|ms| pair.sent_between(ms, ms + 10).len()).max();
    assert!(busiest.is_some_and(|busiest| (1..=4).contains(&busiest)), "{busiest:?}");
}

#[test]
fn with_segmentation_offload_a_paced_window_leaves_in_bursts_and_no_slower() {
    let [single, bursts] = [0.0, 20.0].map(|burst_ms| {
        let config = Config { pacing_gain: 1.0, burst_ms, ..tcp() };
        let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
        pair.run_to(600);
        let per_ms = (400..500).map(|ms| pair.sent_between(ms, ms + 1).len());
        (per_ms.clone().filter(|sent| *sent > 0).count(), per_ms.sum::<usize>())
    });
    assert!(single.0 > 60, "{single:?}");
    // Each burst is a fifth of the window, plus the packets that ACKs allow in the meantime.
    assert!(bursts.0 < 20, "{bursts:?}");
    assert!(bursts.1 * 10 > single.1 * 9, "{bursts:?}, one by one {single:?}");
}

#[test]
fn an_application_that_is_silent_at_first_is_waited_for() {
    let writes = vec![(300.0, 5000), (400.0, 5000)];
    let mut pair = Pair::new(&Config::datagram(), ApplicationSpec::Trace { writes });
    pair.run_to(1000);
    assert_eq!(pair.sent_between(0, 300).len(), 0);
    assert_eq!(pair.delivered, 10_000);
}

#[test]
fn a_keepalive_without_anything_to_send_stays_silent() {
    let config = Config { keepalive_ms: 50.0, ..Config::datagram() };
    let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: 3000 });
    pair.run_to(1000);
    assert_eq!((pair.sent.len(), pair.delivered), (3, 3000));
}
