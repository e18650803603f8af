//! Misbehaving receivers, and the sender's reactions (RFC 9743 7.6).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::harness::Pair;
use congestion::{Ack, Control, Controller, FieldSink};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use transport::{AckFrame, ApplicationSpec, Arrival, Config, Part, Range, ReceiverBehavior};
use units::Time;

const GREEDY: ApplicationSpec = ApplicationSpec::Greedy;

fn tcp(receiver: ReceiverBehavior) -> Config {
    Config { receiver, ack_every: 1, ..Config::tcp() }
}

/// One segment more for every ACK, however little it acknowledges.
#[derive(Debug)]
struct AckCounter {
    window_bytes: u64,
}

impl Controller for AckCounter {
    fn on_ack(&mut self, _event: &Ack<'_>) {
        self.window_bytes += 1448;
    }

    fn control(&self) -> Control {
        Control::window(self.window_bytes)
    }

    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

/// Data packets sent in the round trip after the initial window was acknowledged.
fn second_window(config: &Config, counts_acks: bool) -> usize {
    let mut pair = if counts_acks {
        Pair::with(config, GREEDY, |_| Box::new(AckCounter { window_bytes: 14_480 }), None)
    } else {
        Pair::new(config, GREEDY)
    };
    pair.run_to(299);
    assert_eq!(pair.sent_between(100, 200).len(), 10);
    pair.sent_between(200, 300).len()
}

#[test]
fn ack_division_gains_nothing_from_a_sender_that_counts_bytes() {
    let divided = ReceiverBehavior::AckDivision { parts: 10 };
    assert_eq!(second_window(&tcp(divided.clone()), false), 20);
    assert_eq!(second_window(&tcp(ReceiverBehavior::Honest), false), 20);
    assert_eq!(second_window(&tcp(ReceiverBehavior::Honest), true), 20);
    // Ten ACKs for each of ten packets: a hundred segments on top of the ten.
    assert_eq!(second_window(&tcp(divided), true), 110);
}

#[test]
fn parts_of_a_packet_add_up_to_the_packet() {
    for bytes in [0, 1, 7, 1448] {
        for count in [1, 3, 10] {
            let ends: Vec<u32> = (0..count).map(|index| Part { index, count }.acknowledged(bytes)).collect();
            assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]), "{ends:?}");
            assert_eq!(*ends.last().unwrap(), bytes);
        }
    }
    assert_eq!(Part { index: u32::MAX - 1, count: 2 }.acknowledged(100), 100);
    assert_eq!(Part { index: 0, count: 0 }.acknowledged(100), 100);
}

#[test]
fn a_divided_ack_that_was_lost_is_made_up_for_by_the_next() {
    let mut pair = Pair::new(
        &tcp(ReceiverBehavior::AckDivision { parts: 4 }),
        ApplicationSpec::Fixed { bytes: 1_000_000 },
    );
    pair.drop_acks = (1..400).step_by(3).collect();
    pair.run_to(20_000);
    assert_eq!((pair.delivered, pair.sender.stats().packets_lost), (1_000_000, 0));
}

#[test]
fn a_packet_acknowledged_in_parts_is_delivered_once_and_gives_one_rate_sample() {
    #[derive(Debug, Default)]
    struct Samples(Arc<Mutex<Vec<(u64, u64, bool)>>>);
    impl Controller for Samples {
        fn on_ack(&mut self, event: &Ack<'_>) {
            self.0.lock().unwrap().push((event.acked_bytes, event.delivered_bytes, event.rate.is_some()));
        }

        fn control(&self) -> Control {
            Control::window(14_480)
        }

        fn fields(&self, _sink: &mut dyn FieldSink) {}
    }
    let acks = Arc::new(Mutex::new(Vec::new()));
    let samples = Samples(Arc::clone(&acks));
    let config = tcp(ReceiverBehavior::AckDivision { parts: 4 });
    let mut pair =
        Pair::with(&config, ApplicationSpec::Fixed { bytes: 30 * 1448 }, |_| Box::new(samples), None);
    // ACKs 0 to 3 are for the handshake packet, ACKs 4 to 7 for the first data packet. The last of these is lost. The
    // first ACK for the second data packet then contains ranges in which both packets are complete.
    pair.drop_acks = vec![7];
    pair.run_to(1000);
    let acks = acks.lock().unwrap();
    assert_eq!(acks[..3], [(362, 0, false); 3]);
    assert_eq!(acks[3], (362 + 1448, 2 * 1448, true));
    assert_eq!(acks[4..7], [(362, 2 * 1448, false); 3]);
    assert_eq!(acks[7], (362, 3 * 1448, true));
    assert_eq!(acks.iter().map(|ack| ack.0).sum::<u64>(), 30 * 1448);
    assert_eq!(acks.iter().filter(|ack| ack.2).count(), 29);
    assert_eq!(acks.last().unwrap().1, 30 * 1448);
}

#[test]
fn a_probe_that_arrives_settles_the_lost_packet_it_repeats() {
    // Without selective ACKs every probe of a packet whose payload had arrived with another probe counted as progress,
    // and the next probe followed, for ever.
    let config = Config { sack: false, max_window_bytes: 200_000, ..Config::tcp() };
    let config = Config { receiver: ReceiverBehavior::AckDivision { parts: 15 }, ..config };
    let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: 300_000 });
    pair.drop = vec![4, 6, 8, 14, 15, 16, 17, 18, 40, 50, 51, 52, 53, 54, 55, 56, 57, 61, 91, 176, 192, 200];
    pair.drop_acks = vec![0, 1, 2, 44, 45, 46, 47, 48, 49, 163, 168, 222, 239, 297];
    pair.run_to(300_000);
    assert_eq!(pair.delivered, 300_000);
    assert!(pair.sender.stats().probes < 50, "{} probes", pair.sender.stats().probes);
}

#[test]
fn optimistic_acks_hurry_the_sender_and_hide_losses() {
    let run = |receiver| {
        let mut pair = Pair::new(&Config { time_threshold: 0.0, ..tcp(receiver) }, GREEDY);
        pair.drop = vec![200];
        pair.run_to(1500);
        (pair.sent.len(), pair.sender.stats().packets_lost)
    };
    let (honest, lost) = run(ReceiverBehavior::Honest);
    let (hurried, hidden) = run(ReceiverBehavior::Optimistic { ahead_packets: 8 });
    assert_eq!((lost, hidden), (1, 0));
    assert!(hurried > 2 * honest, "{hurried} packets instead of {honest}");
}

#[test]
fn what_was_never_sent_cannot_be_acknowledged() {
    let mut pair = Pair::new(&tcp(ReceiverBehavior::Honest), GREEDY);
    pair.run_to(120);
    let (in_flight, window) = (in_flight(&pair), pair.sender.window_bytes());
    assert_eq!((in_flight, window), (14_480.0, 14_480));
    let claims = AckFrame {
        number: 1000,
        largest: u64::MAX - 1,
        ranges: [Range { start: 5000, end: u64::MAX }].into_iter().collect(),
        arrivals: [11, 1 << 50]
            .map(|number| Arrival { number, at: pair.now, ce: false })
            .into_iter()
            .collect(),
        ..AckFrame::default()
    };
    pair.sender.on_ack(Time::from_ns(130_000_000), &claims);
    assert_eq!((self::in_flight(&pair), pair.sender.window_bytes()), (in_flight, window));
    // An ACK of an unsent packet and of a sent one acknowledges the sent one.
    let mixed = AckFrame {
        arrivals: [Arrival { number: 1, at: pair.now, ce: false }].into_iter().collect(),
        number: 1001,
        ..claims
    };
    pair.sender.on_ack(Time::from_ns(131_000_000), &mixed);
    assert_eq!(self::in_flight(&pair), in_flight - 1448.0);
}

fn in_flight(pair: &Pair) -> f64 {
    #[derive(Default)]
    struct InFlight(f64);
    impl FieldSink for InFlight {
        fn put(&mut self, name: &str, _unit: &str, value: f64) {
            if name == "in_flight" {
                self.0 = value;
            }
        }
    }
    let mut in_flight = InFlight::default();
    pair.sender.fields(&mut in_flight);
    in_flight.0
}

#[test]
fn without_any_feedback_the_sender_backs_off_and_afterwards_recovers() {
    let silent = ReceiverBehavior::Silent { after_s: 1.0, for_s: Some(30.0) };
    let mut pair = Pair::new(&Config { max_window_bytes: 100_000, ..tcp(silent) }, GREEDY);
    pair.run_to(31_000);
    let gaps: Vec<u64> = pair
        .sent
        .iter()
        .filter(|(at, _)| at.as_ns() > 1_500_000_000)
        .map(|(at, _)| at.as_ns() / 1_000_000)
        .collect::<Vec<_>>()
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|gap| *gap > 0)
        .collect();
    assert!(gaps.len() <= 8, "retransmissions at {gaps:?} ms from each other");
    assert!(gaps.windows(2).skip(1).all(|pair| pair[1] == 2 * pair[0]), "doubling: {gaps:?}");
    pair.run_to(70_000);
    assert!(pair.sent_between(65_000, 70_000).len() > 500, "it goes on when feedback is back");
}

#[test]
fn a_silence_without_end_ends_nothing_else() {
    let mut pair = Pair::new(&tcp(ReceiverBehavior::Silent { after_s: 0.5, for_s: None }), GREEDY);
    pair.run_to(600_000);
    assert!(pair.receiver.stats().acks > 0);
    assert!(pair.sent_between(300_000, 600_000).len() < 10);
}

fn conduct() -> impl Strategy<Value = ReceiverBehavior> {
    prop_oneof![
        (2u32..40).prop_map(|parts| ReceiverBehavior::AckDivision { parts }),
        (1u32..300).prop_map(|ahead_packets| ReceiverBehavior::Optimistic { ahead_packets }),
        (0.0f64..1.0, prop::option::of(0.1f64..5.0))
            .prop_map(|(after_s, for_s)| ReceiverBehavior::Silent { after_s, for_s }),
        (0.0f64..=1.0).prop_map(|probability| ReceiverBehavior::DropFeedback { probability }),
    ]
}

proptest! {
    #[test]
    fn the_transport_survives_any_receiver(
        receiver in conduct(), profile in 0usize..3, sack: bool, every in 1u32..5,
        drop in prop::collection::vec(0u64..300, 0..60), drop_acks in prop::collection::vec(0u64..300, 0..60),
    ) {
        let profiles = [Config::tcp(), Config::quic(), Config::datagram()];
        // QUIC has no acknowledgement that is not selective, and its timer declares nothing lost.
        let sack = sack || profile == 1;
        let config = Config {
            receiver: receiver.clone(), sack, ack_every: every, max_window_bytes: 200_000, ..profiles[profile].clone()
        };
        let reliable = config.reliable;
        let mut pair = Pair::new(&config, ApplicationSpec::Fixed { bytes: 300_000 });
        (pair.drop, pair.drop_acks) = (drop, drop_acks);
        pair.run_to(3_000_000);
        prop_assert!(pair.delivered <= 300_000);
        let flight = in_flight(&pair);
        prop_assert!((0.0..=300_000.0).contains(&flight), "{flight} bytes in flight");
        // A receiver that divides ACKs, or loses few of them, still gets everything that a reliable transport owes.
        let cooperates = match receiver {
            ReceiverBehavior::AckDivision { .. } => true,
            ReceiverBehavior::DropFeedback { probability } => probability < 0.3,
            _ => false,
        };
        if reliable && cooperates {
            prop_assert_eq!(pair.delivered, 300_000);
        }
    }
}
