//! Limits on growth by actual use: windows under the limits of user, receiver and pacer; pauses; probes; the receiver's
//! ACK of a filled hole.

use crate::harness::Pair;
use transport::{AckFrame, ApplicationSpec, Config, Data, EcnCounts, Receiver};
use units::Time;

const SEGMENT: u64 = 1448;

fn window_after(config: &Config, ms: u64) -> u64 {
    let mut pair = Pair::new(config, ApplicationSpec::Greedy);
    pair.run_to(ms);
    pair.field("cwnd") as u64
}

#[test]
fn a_window_stays_near_twice_what_a_limit_lets_through_whichever_limit_that_is() {
    let limit_bytes = 40 * SEGMENT;
    for config in [
        Config { max_window_bytes: limit_bytes, ..Config::tcp() },
        Config { receive_window_bytes: limit_bytes, ..Config::tcp() },
        Config { send_buffer_bytes: limit_bytes, ..Config::tcp() },
        Config { max_window_bytes: limit_bytes, ..Config::quic() },
        Config { receive_window_bytes: limit_bytes, ..Config::quic() },
    ] {
        let window = window_after(&config, 5000);
        assert!((60..=130).contains(&window), "{window} {config:?}");
    }
}

#[test]
fn a_window_that_pacing_keeps_from_being_filled_grows_all_the_same() {
    let paced = |pacing_gain| {
        let mut pair = Pair::new(&Config { pacing_gain, ..Config::tcp() }, ApplicationSpec::Greedy);
        pair.drop = vec![30];
        pair.run_to(1000);
        let before = pair.field("cwnd");
        pair.run_to(4000);
        pair.field("cwnd") - before
    };
    // One packet per round trip of 100 ms; at nine tenths of the window per RTT a round takes a little longer.
    assert!((22.0..=31.0).contains(&paced(0.9)), "{}", paced(0.9));
    assert!((28.0..=31.0).contains(&paced(1.25)), "{}", paced(1.25));
}

/// Packets that leave within 5 ms of the end of a pause of `pause_ms`, and the window before.
fn after_pause(config: &Config, pause_ms: u64) -> (usize, u64) {
    let at_ms = 2000 + pause_ms;
    let writes = vec![(0.0, 200 * SEGMENT), (at_ms as f64, 200 * SEGMENT)];
    let mut pair = Pair::new(config, ApplicationSpec::Trace { writes });
    pair.run_to(at_ms - 1);
    let window = pair.window();
    pair.run_to(at_ms + 5);
    (pair.sent_between(at_ms, at_ms + 5).len(), window)
}

#[test]
fn after_a_pause_the_window_has_halved_for_each_timeout_that_passed() {
    let (burst, window) = after_pause(&Config::tcp(), 8000);
    assert!(burst == 10 && window > 100, "{burst} {window}");
    let without = after_pause(&Config { restart_window: false, ..Config::tcp() }, 8000);
    assert_eq!(without.0 as u64, without.1.min(200));
    // Half a second after the last ACK one timeout of 300 ms has passed, not two.
    let config = Config::tcp();
    let (burst, window) = after_pause(&config, 0);
    assert!(burst as u64 <= window / 2, "{burst} {window}");
}

#[test]
fn a_hole_that_is_filled_is_acknowledged_at_once_the_last_one_too() {
    let mut receiver = Receiver::new(&Config::tcp(), None);
    let mut frame = AckFrame::default();
    let at = |ms: u64| Time::from_ns(ms * 1_000_000);
    let data = |number: u64, offset: u64| Data {
        number,
        offset: offset * 1000,
        payload_bytes: 1000,
        datagram_bytes: 1052,
        ..Data::default()
    };
    let mut arrive = |ms: u64, number: u64, offset: u64| {
        receiver.on_data(at(ms), &data(number, offset), EcnCounts::default());
        receiver.poll_ack(at(ms), &mut frame)
    };
    assert!(!arrive(0, 0, 0));
    assert!(arrive(1, 2, 2), "behind a hole");
    assert!(arrive(2, 3, 1), "it fills the last hole (RFC 5681 4.2)");
    assert!(!arrive(3, 4, 3));
}

/// When probes left, and the segments that they carried, of a transfer of `segments` whose last `lost` are lost.
fn probes(segments: u64, lost: u64) -> Vec<(u64, u64)> {
    let config = Config { handshake: false, ..Config::tcp() };
    let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: segments * SEGMENT });
    pair.drop = (segments - lost..segments).collect();
    pair.run_to(3000);
    let again = pair.sent.iter().filter(|(_, data)| data.retransmission);
    again.map(|(at, data)| (at.as_ns() / 1_000_000, data.offset / SEGMENT)).collect()
}

#[test]
fn a_tail_loss_probe_repeats_the_latest_segment_two_round_trips_after_the_last_ack() {
    // Eight of ten arrive and are acknowledged at 100 ms: a probe at 300 ms; its ACK makes segment 8 lost at 400 ms.
    assert_eq!(probes(10, 2), [(300, 9), (400, 8)]);
    // A single segment in flight since 140 ms, with a smoothed RTT of 105 ms: the receiver may hold its ACK back for 40
    // ms.
    assert_eq!(probes(10, 1)[0], (390, 9));
}

#[test]
fn no_probe_leaves_while_a_hole_is_open() {
    let config = Config { handshake: false, ..Config::tcp() };
    let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: 10 * SEGMENT });
    // 7 is lost, 8 arrives, 9 is lost: two packets above the hole are not enough, time is.
    pair.drop = vec![7, 9];
    pair.run_to(3000);
    let stats = pair.sender.stats();
    assert!(stats.completed_at.is_some() && stats.timeouts <= 1, "{stats:?}");
}

#[test]
fn without_selective_acks_duplicates_release_half_of_what_leaves_the_flight() {
    let config = Config {
        sack: false,
        ack_every: 1,
        initial_window: 200,
        handshake: false,
        tail_loss_probe: false,
        ..Config::tcp()
    };
    let mut pair = Pair::new(&config, ApplicationSpec::Greedy);
    pair.drop = vec![0];
    pair.run_to(150);
    // 199 duplicate ACKs at 100 ms: RFC 6937 releases about half of them.
    let released = pair.sent_between(100, 150).len();
    assert!((95..=105).contains(&released), "{released}");
}
