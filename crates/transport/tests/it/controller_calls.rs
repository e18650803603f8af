//! What a controller is told, and what its answers count: each statement of the interface's pages, against the
//! transport.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::harness::Pair;
use congestion::{Ack, AckedPacket, Control, Controller, Ecn, FieldSink, Frame, Loss, Sent, Timeout};
use std::sync::{Arc, Mutex};
use transport::{ApplicationSpec, Config, EcnMode, EncoderSpec, Reduction};
use units::{Rate, Span, Time};

/// What a controller was told, in order.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    Ack { packets: Vec<(u64, u32, bool)>, in_recovery: bool, complete: u64, sent: u64 },
    Loss { new_episode: bool, by_ack: bool },
    Ecn { packets: u64, new_episode: bool, newest_sent_at: Time },
    Timeout,
    Recovered,
    Spurious,
}

#[derive(Debug, Default)]
struct ControllerCalls {
    calls: Vec<Call>,
    sent: Vec<Sent>,
    frames: Vec<Frame>,
    in_flight: Vec<u64>,
    /// Whether each delivery-rate sample was application-limited.
    limited: Vec<bool>,
}

/// Answers `before` until the first loss or mark of an episode and `after` from then on.
#[derive(Debug)]
struct Scripted {
    now: Control,
    after: Control,
    told: Arc<Mutex<ControllerCalls>>,
}

impl Scripted {
    fn note(&self, call: Call) {
        self.told.lock().unwrap().calls.push(call);
    }
}

impl Controller for Scripted {
    fn on_sent(&mut self, event: &Sent) {
        let mut told = self.told.lock().unwrap();
        told.sent.push(*event);
        told.in_flight.push(event.in_flight_bytes);
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        if let Some(sample) = event.rate {
            self.told.lock().unwrap().limited.push(sample.app_limited);
        }
        let packet = |packet: &AckedPacket| (packet.number, packet.bytes, packet.ce);
        self.note(Call::Ack {
            packets: event.packets.iter().map(packet).collect(),
            in_recovery: event.in_recovery,
            complete: event.complete_bytes,
            sent: event.sent_bytes,
        });
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        if event.new_episode {
            self.now = self.after;
        }
        self.note(Call::Loss { new_episode: event.new_episode, by_ack: event.by_ack });
    }

    fn on_ecn(&mut self, event: &Ecn) {
        if event.new_episode {
            self.now = self.after;
        }
        self.note(Call::Ecn {
            packets: event.ce_packets,
            new_episode: event.new_episode,
            newest_sent_at: event.newest_sent_at,
        });
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.note(Call::Timeout);
    }

    fn on_recovered(&mut self, _now: Time) {
        self.note(Call::Recovered);
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        self.note(Call::Spurious);
    }

    fn on_frame(&mut self, event: &Frame) {
        self.told.lock().unwrap().frames.push(*event);
    }

    fn control(&self) -> Control {
        self.now
    }

    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

const SEGMENT: u64 = 1448;

/// TCP without connection set-up and with an ACK for every packet, as `change` changes it.
fn pair(
    application: ApplicationSpec,
    controls: [Control; 2],
    change: impl FnOnce(&mut Config),
) -> (Pair, Arc<Mutex<ControllerCalls>>) {
    let mut config = Config { ack_every: 1, handshake: false, ..Config::tcp() };
    change(&mut config);
    let told = Arc::new(Mutex::new(ControllerCalls::default()));
    let [now, after] = controls;
    let controller = Scripted { now, after, told: Arc::clone(&told) };
    (Pair::with(&config, application, |_| Box::new(controller), None), told)
}

fn window(packets: u64) -> Control {
    Control::window(packets * SEGMENT)
}

#[test]
fn windows_and_sizes_count_payload_and_no_headers() {
    let (mut pair, told) = pair(ApplicationSpec::Greedy, [window(5); 2], |_| {});
    pair.run_to(99);
    let told = told.lock().unwrap();
    // With headers (1500 bytes a packet) only four would fit into 5 * 1448.
    assert_eq!(told.in_flight, [1, 2, 3, 4, 5].map(|packets| packets * SEGMENT));
    assert!(told.sent.iter().all(|sent| u64::from(sent.bytes) == SEGMENT));
    assert!(pair.sent.iter().all(|(_, data)| data.datagram_bytes == 1448 + 52));
}

#[test]
fn a_pacing_rate_counts_payload_and_no_headers() {
    let control = Control { pacing: Some(Rate::from_bps(11_584_000)), ..Control::window(u64::MAX) };
    let (mut pair, _) = pair(ApplicationSpec::Greedy, [control; 2], |_| {});
    pair.run_to(50);
    // 1448 bytes at 11.584 Mbit/s are 1 ms; 1500 would be 1.036 ms.
    let times: Vec<u64> = pair.sent.iter().map(|(at, _)| at.as_ns()).collect();
    assert_eq!(times, (0..=50).map(|ms| ms * 1_000_000).collect::<Vec<_>>());
}

#[test]
fn nobody_but_the_controller_reduces_the_window() {
    for recovery in [Reduction::Prr, Reduction::Immediate] {
        let (mut pair, told) =
            pair(ApplicationSpec::Greedy, [window(20); 2], |config| config.recovery = recovery);
        pair.drop = vec![25];
        pair.run_to(1000);
        let told = told.lock().unwrap();
        assert!(told.calls.contains(&Call::Loss { new_episode: true, by_ack: true }));
        assert_eq!(told.in_flight.last(), Some(&(20 * SEGMENT)), "{recovery:?}");
        assert_eq!(pair.sent_between(800, 900).len(), 20, "{recovery:?}: no packet less in a round trip");
    }
}

#[test]
fn with_prr_the_flight_shrinks_over_a_round_trip_and_without_it_nothing_leaves_until_it_has() {
    let most_in_flight = |recovery| {
        let controls = [window(20), window(10)];
        let (mut pair, told) = pair(ApplicationSpec::Greedy, controls, |config| config.recovery = recovery);
        pair.drop = vec![20];
        pair.run_to(1000);
        // Packet 20 is lost by three later ones: from its retransmission on, the most in flight, and what is at last.
        let told = told.lock().unwrap();
        let again = told.sent.iter().position(|sent| sent.retransmission).unwrap();
        let after = &told.in_flight[again..];
        (*after.iter().max().unwrap() / SEGMENT, *after.last().unwrap() / SEGMENT)
    };
    let (most, last) = most_in_flight(Reduction::Prr);
    assert!((15..=19).contains(&most) && last == 10, "{most} {last}");
    assert_eq!(most_in_flight(Reduction::Immediate), (10, 10));
}

#[test]
fn what_is_changed_of_the_window_during_an_episode_counts_with_prr_from_its_end_on() {
    // Twice as much is allowed at once after the reduction was read.
    #[derive(Debug)]
    struct Opens(u64);
    impl Controller for Opens {
        fn on_loss(&mut self, event: &Loss<'_>) {
            self.0 = if event.new_episode { 10 } else { self.0 };
        }
        fn on_ack(&mut self, event: &Ack<'_>) {
            self.0 = if event.in_recovery { 40 } else { self.0 };
        }
        fn control(&self) -> Control {
            window(self.0)
        }
        fn fields(&self, _sink: &mut dyn FieldSink) {}
    }
    let most = |recovery| {
        let config = Config { ack_every: 1, handshake: false, recovery, ..Config::tcp() };
        let mut pair = Pair::with(&config, ApplicationSpec::Greedy, |_| Box::new(Opens(20)), None);
        pair.drop = vec![20];
        pair.run_to(290);
        let during = pair.sender.in_flight_bytes() / SEGMENT;
        pair.run_to(600);
        (during, pair.sender.in_flight_bytes() / SEGMENT)
    };
    assert!(most(Reduction::Prr).0 <= 20 && most(Reduction::Prr).1 == 40, "{:?}", most(Reduction::Prr));
    assert_eq!(most(Reduction::Immediate), (40, 40));
}

#[test]
fn the_end_of_an_episode_is_told_before_the_ack_that_ended_it() {
    let (mut pair, told) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    pair.drop = vec![25];
    pair.run_to(1000);
    let calls = &told.lock().unwrap().calls;
    let place = |wanted: &Call| calls.iter().position(|call| call == wanted).unwrap();
    let (begin, end) = (place(&Call::Loss { new_episode: true, by_ack: true }), place(&Call::Recovered));
    let recovering = |call: &Call| matches!(call, Call::Ack { in_recovery: true, .. });
    assert!(begin < end && calls[begin + 1..end].iter().all(recovering), "{calls:?}");
    let Call::Ack { in_recovery: false, complete, sent, .. } = &calls[end + 1] else { panic!("{calls:?}") };
    // Everything that was sent when the episode began has arrived in order.
    assert!(*complete >= 40 * SEGMENT && complete < sent, "{complete} {sent}");
    assert_eq!(calls.iter().filter(|call| **call == Call::Recovered).count(), 1);
}

#[test]
fn an_episode_that_a_timeout_or_a_false_alarm_ends_is_not_told_as_recovered() {
    let (mut timeout, told) =
        pair(ApplicationSpec::Greedy, [window(5); 2], |config| config.tail_loss_probe = false);
    // Packet 5, its retransmission and everything else of that round trip.
    timeout.drop = [5].into_iter().chain(10..15).collect();
    timeout.run_to(3000);
    let calls = told.lock().unwrap().calls.clone();
    assert!(calls.contains(&Call::Loss { new_episode: true, by_ack: true }));
    assert!(calls.contains(&Call::Timeout) && !calls.contains(&Call::Recovered), "{calls:?}");

    let (mut alarm, told) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    alarm.late = vec![(25, 20)];
    alarm.run_to(1000);
    let calls = told.lock().unwrap().calls.clone();
    assert!(calls.contains(&Call::Spurious) && !calls.contains(&Call::Recovered), "{calls:?}");
}

#[test]
fn a_loss_says_whether_an_ack_follows_that_revealed_it_or_a_timer_found_it() {
    let (mut lossy, told) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    lossy.drop = vec![25, 60];
    lossy.run_to(2000);
    let calls = told.lock().unwrap().calls.clone();
    let mut by_ack = 0;
    for (place, call) in calls.iter().enumerate() {
        if let Call::Loss { by_ack: true, .. } = call {
            by_ack += 1;
            assert!(matches!(calls[place + 1], Call::Ack { .. }), "{calls:?}");
        }
    }
    assert!(by_ack >= 1, "{calls:?}");

    // The last packets of a file: nothing after them is acknowledged, and a timer finds the one that the probe reveals.
    let fixed = ApplicationSpec::Fixed { bytes: 20 * SEGMENT };
    let (mut end, told) = pair(fixed, [window(20); 2], |_| {});
    end.drop = vec![17];
    end.run_to(3000);
    let calls = told.lock().unwrap().calls.clone();
    assert!(calls.contains(&Call::Loss { new_episode: true, by_ack: false }), "{calls:?}");
}

#[test]
fn samples_are_application_limited_while_the_controller_says_so() {
    let limited = Control { app_limited: true, ..window(20) };
    let (mut pair, told) = pair(ApplicationSpec::Greedy, [limited, window(20)], |_| {});
    pair.drop = vec![100];
    pair.run_to(2000);
    let marks = told.lock().unwrap().limited.clone();
    // Until the loss of packet 100 and the round trip after it, but for packets of the first window, sent before.
    let first = marks.iter().position(|mark| *mark).unwrap();
    let last = marks.iter().rposition(|mark| *mark).unwrap();
    assert!(first <= 20, "{first}");
    assert!(marks[first..=last].iter().all(|mark| *mark));
    assert!((99..200).contains(&last), "{last}");
    assert!(marks.len() > last + 100);
}

#[test]
fn every_packet_says_whether_it_arrived_marked_unless_its_ack_was_lost() {
    let with_ecn = |config: &mut Config| config.ecn = EcnMode::Ect0;
    let (mut pair, told) = pair(ApplicationSpec::Greedy, [window(10); 2], with_ecn);
    (pair.mark, pair.drop_acks) = (vec![2, 3, 7], vec![7]);
    pair.run_to(150);
    let told = told.lock().unwrap();
    let calls = &told.calls;
    let mut packets: Vec<(u64, bool)> = Vec::new();
    for call in calls {
        if let Call::Ack { packets: acked, .. } = call {
            packets.extend(acked.iter().map(|&(number, _, ce)| (number, ce)));
        }
    }
    let marked: Vec<u64> = packets.iter().filter(|(_, ce)| *ce).map(|(number, _)| *number).collect();
    assert_eq!(marked, [2, 3], "the ACK that listed packet 7 was lost: {packets:?}");
    for (place, call) in calls.iter().enumerate() {
        if let (Call::Ecn { newest_sent_at, .. }, Some(Call::Ack { packets, .. })) =
            (call, calls.get(place + 1))
        {
            let newest = packets.iter().map(|&(number, ..)| number).max().unwrap();
            let sent = told.sent.iter().find(|sent| sent.number == newest).unwrap();
            assert_eq!(*newest_sent_at, sent.now, "the sent_time of RFC 9002 B.7");
        }
    }
    let told_in_all: u64 =
        calls.iter().map(|call| if let Call::Ecn { packets, .. } = call { *packets } else { 0 }).sum();
    assert_eq!(told_in_all, 3, "the counts have them all");
}

fn encoder() -> ApplicationSpec {
    ApplicationSpec::Encoder(EncoderSpec {
        fps: 50.0,
        deviation: 0.0,
        start_rate_mbps: 2.0,
        ..EncoderSpec::default()
    })
}

#[test]
fn packets_say_which_frame_they_are_of_and_where_it_ends() {
    let control = Control { media_rate: Some(Rate::from_mbps(2.0)), ..Control::window(1 << 20) };
    let (mut pair, told) = pair(encoder(), [control; 2], |_| {});
    pair.run_to(500);
    let told = told.lock().unwrap();
    for frame in &told.frames {
        let of_it: Vec<&Sent> = told.sent.iter().filter(|sent| sent.frame == frame.number).collect();
        assert_eq!(of_it.iter().map(|sent| u64::from(sent.bytes)).sum::<u64>(), frame.bytes);
        let ends: Vec<bool> = of_it.iter().map(|sent| sent.frame_end).collect();
        assert!(ends.iter().rev().skip(1).all(|end| !end) && ends.last() == Some(&true), "{ends:?}");
    }
    assert_eq!(
        told.frames.iter().map(|frame| frame.number).collect::<Vec<_>>(),
        (1..=26).collect::<Vec<_>>()
    );
}

#[test]
fn frames_that_wait_too_long_are_dropped_whole_and_a_key_frame_follows() {
    // At 1 Mbit/s an encoder at 2 Mbit/s fills the queue: half of what it writes cannot be sent.
    let sent = |max_frame_wait| {
        let control = Control {
            media_rate: Some(Rate::from_mbps(2.0)),
            pacing: Some(Rate::from_mbps(1.0)),
            max_frame_wait,
            ..Control::window(u64::MAX)
        };
        let (mut pair, told) = pair(encoder(), [control; 2], |_| {});
        pair.run_to(3000);
        let stats = pair.sender.encoder_stats().unwrap();
        let told = told.lock().unwrap();
        let captured = |frame: u32| told.frames[frame as usize - 1].now;
        let first_sent: Vec<&Sent> = {
            let mut last = 0;
            told.sent.iter().filter(|sent| core::mem::replace(&mut last, sent.frame) != sent.frame).collect()
        };
        let longest = first_sent.iter().map(|sent| sent.now - captured(sent.frame)).max().unwrap();
        for sent in &first_sent {
            let bytes: u64 = told
                .sent
                .iter()
                .filter(|other| other.frame == sent.frame)
                .map(|other| u64::from(other.bytes))
                .sum();
            let whole = told.frames[sent.frame as usize - 1].bytes;
            assert!(
                bytes == whole || sent.frame == first_sent.last().unwrap().frame,
                "frame {} in part",
                sent.frame
            );
        }
        (stats, longest)
    };
    let (without, longest) = sent(None);
    assert_eq!((without.frames_dropped, longest > Span::from_ms(300)), (0, true), "{longest:?}");
    let (with, longest) = sent(Some(Span::from_ms(100)));
    assert!(with.frames_dropped > 20 && longest <= Span::from_ms(100), "{with:?} {longest:?}");
    assert!(with.key_frames > 1 + without.key_frames, "{with:?}");
}
