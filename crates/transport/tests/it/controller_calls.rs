//! Calls of a controller and the effects of its answers: each statement of the interface's documentation, tested on the
//! transport.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::harness::Pair;
use congestion::{
    Ack, AckedPacket, Control, Controller, Ecn, FieldSink, Frame, Loss, Sent, Timeout, TimeoutKind,
};
use std::sync::{Arc, Mutex};
use transport::{ApplicationSpec, Config, EcnMode, EcnValidation, EncoderSpec, Reduction};
use units::{Rate, Span, Time};

/// Calls of a controller, in order.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    Ack { packets: Vec<(u64, u32, bool)>, in_recovery: bool, complete: u64, sent: u64 },
    Loss { new_episode: bool, by_ack: bool },
    Ecn { packets: u64, new_episode: bool, newest_sent_at: Time },
    Timeout { kind: TimeoutKind },
    Recovered,
    Spurious,
}

impl Call {
    /// Place among the calls of one ACK.
    const fn rank(&self) -> usize {
        match self {
            Self::Recovered => 0,
            Self::Spurious => 1,
            Self::Loss { .. } => 2,
            Self::Timeout { .. } => 3,
            Self::Ecn { .. } => 4,
            Self::Ack { .. } => 5,
        }
    }
}

const RTO: Call = Call::Timeout { kind: TimeoutKind::Rto };
const PERSISTENT: Call = Call::Timeout { kind: TimeoutKind::PersistentCongestion };

/// Flags of an ACK: the limits that held the sender back.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Limits {
    window: bool,
    pacing: bool,
    app: bool,
}

#[derive(Debug, Default)]
struct ControllerCalls {
    calls: Vec<Call>,
    /// Time of each call.
    at: Vec<Time>,
    /// Limits in each ACK, with the ACK's time.
    limits: Vec<(Time, Limits)>,
    sent: Vec<Sent>,
    frames: Vec<Frame>,
    in_flight: Vec<u64>,
    /// True for each delivery-rate sample that was application-limited.
    limited: Vec<bool>,
}

/// Controller that answers `now` until the first loss or mark of an episode and `after` from then on.
#[derive(Debug)]
struct ScriptedController {
    now: Control,
    after: Control,
    log: Arc<Mutex<ControllerCalls>>,
}

impl ScriptedController {
    fn note(&self, now: Time, call: Call) {
        let mut log = self.log.lock().unwrap();
        log.calls.push(call);
        log.at.push(now);
    }
}

impl Controller for ScriptedController {
    fn on_sent(&mut self, event: &Sent) {
        let mut log = self.log.lock().unwrap();
        log.sent.push(*event);
        log.in_flight.push(event.in_flight_bytes);
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        if let Some(sample) = event.rate {
            self.log.lock().unwrap().limited.push(sample.app_limited);
        }
        let limits =
            Limits { window: event.window_limited, pacing: event.pacing_limited, app: event.app_limited };
        self.log.lock().unwrap().limits.push((event.now, limits));
        let packet = |packet: &AckedPacket| (packet.number, packet.bytes, packet.ce);
        let call = Call::Ack {
            packets: event.packets.iter().map(packet).collect(),
            in_recovery: event.in_recovery,
            complete: event.complete_bytes,
            sent: event.sent_bytes,
        };
        self.note(event.now, call);
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        if event.new_episode {
            self.now = self.after;
        }
        self.note(event.now, Call::Loss { new_episode: event.new_episode, by_ack: event.by_ack });
    }

    fn on_ecn(&mut self, event: &Ecn) {
        if event.new_episode {
            self.now = self.after;
        }
        let call = Call::Ecn {
            packets: event.ce_packets,
            new_episode: event.new_episode,
            newest_sent_at: event.newest_sent_at,
        };
        self.note(event.now, call);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.note(event.now, Call::Timeout { kind: event.kind });
    }

    fn on_recovered(&mut self, now: Time) {
        self.note(now, Call::Recovered);
    }

    fn on_spurious_loss(&mut self, now: Time) {
        self.note(now, Call::Spurious);
    }

    fn on_frame(&mut self, event: &Frame) {
        self.log.lock().unwrap().frames.push(*event);
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
    let log = Arc::new(Mutex::new(ControllerCalls::default()));
    let [now, after] = controls;
    let controller = ScriptedController { now, after, log: Arc::clone(&log) };
    (Pair::with(&config, application, |_| Box::new(controller), None), log)
}

fn window(packets: u64) -> Control {
    Control::window(packets * SEGMENT)
}

#[test]
fn windows_and_sizes_count_payload_and_no_headers() {
    let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(5); 2], |_| {});
    pair.run_to(99);
    let log = log.lock().unwrap();
    // With headers (1500 bytes a packet) only four would fit into 5 * 1448.
    assert_eq!(log.in_flight, [1, 2, 3, 4, 5].map(|packets| packets * SEGMENT));
    assert!(log.sent.iter().all(|sent| u64::from(sent.bytes) == SEGMENT));
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
        let (mut pair, log) =
            pair(ApplicationSpec::Greedy, [window(20); 2], |config| config.recovery = recovery);
        pair.drop = vec![25];
        pair.run_to(1000);
        let log = log.lock().unwrap();
        assert!(log.calls.contains(&Call::Loss { new_episode: true, by_ack: true }));
        assert_eq!(log.in_flight.last(), Some(&(20 * SEGMENT)), "{recovery:?}");
        assert_eq!(pair.sent_between(800, 900).len(), 20, "{recovery:?}: no packet less in a round trip");
    }
}

#[test]
fn with_prr_the_flight_shrinks_over_a_round_trip_and_without_it_nothing_leaves_until_it_has() {
    let most_in_flight = |recovery| {
        let controls = [window(20), window(10)];
        let (mut pair, log) = pair(ApplicationSpec::Greedy, controls, |config| config.recovery = recovery);
        pair.drop = vec![20];
        pair.run_to(1000);
        // Three later packets make packet 20 lost. Compared are the most bytes in flight from its retransmission on,
        // and the bytes in flight at the end.
        let log = log.lock().unwrap();
        let again = log.sent.iter().position(|sent| sent.retransmission).unwrap();
        let after = &log.in_flight[again..];
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
    let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    pair.drop = vec![25];
    pair.run_to(1000);
    let calls = &log.lock().unwrap().calls;
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
    let (mut timeout, log) =
        pair(ApplicationSpec::Greedy, [window(5); 2], |config| config.tail_loss_probe = false);
    // Packet 5, its retransmission and everything else of that round trip.
    timeout.drop = [5].into_iter().chain(10..15).collect();
    timeout.run_to(3000);
    let calls = log.lock().unwrap().calls.clone();
    assert!(calls.contains(&Call::Loss { new_episode: true, by_ack: true }));
    assert!(calls.contains(&RTO) && !calls.contains(&Call::Recovered), "{calls:?}");

    let (mut alarm, log) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    alarm.late = vec![(25, 20)];
    alarm.run_to(1000);
    let calls = log.lock().unwrap().calls.clone();
    assert!(calls.contains(&Call::Spurious) && !calls.contains(&Call::Recovered), "{calls:?}");
}

#[test]
fn a_loss_says_whether_an_ack_follows_that_revealed_it_or_a_timer_found_it() {
    let (mut lossy, log) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    lossy.drop = vec![25, 60];
    lossy.run_to(2000);
    let calls = log.lock().unwrap().calls.clone();
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
    let (mut end, log) = pair(fixed, [window(20); 2], |_| {});
    end.drop = vec![17];
    end.run_to(3000);
    let calls = log.lock().unwrap().calls.clone();
    assert!(calls.contains(&Call::Loss { new_episode: true, by_ack: false }), "{calls:?}");
}

#[test]
fn the_calls_of_one_ack_come_in_one_order() {
    let mut neighbours: Vec<(usize, usize)> = Vec::new();
    for seed in 1..40 {
        let change = |config: &mut Config| {
            *config = Config { ack_every: 1, handshake: false, ecn: EcnMode::Ect0, ..Config::quic() };
            config.ecn_validation = EcnValidation::None;
            config.undo = true;
        };
        let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(12); 2], change);
        let every = |places: u64, rest: u64| {
            (0..400).filter(move |number| number * 7919 * seed % places == rest).collect::<Vec<u64>>()
        };
        (pair.drop, pair.mark, pair.drop_acks) = (every(23, 7), every(9, 1), every(4, 3));
        pair.late = every(37, 5).into_iter().map(|number| (number, 30)).collect();
        pair.run_to(4000);
        let log = log.lock().unwrap();
        let is_ack = |call: &Call| matches!(call, Call::Ack { .. });
        let mut begin = 0;
        for end in (0..log.calls.len()).filter(|&place| is_ack(&log.calls[place])) {
            // Calls from a timer, or at a different time, do not belong to this ACK.
            let first = (begin..=end)
                .find(|&place| {
                    log.at[place..=end].iter().all(|at| *at == log.at[end])
                        && !matches!(log.calls[place], Call::Loss { by_ack: false, .. } | RTO)
                })
                .unwrap();
            let ranks: Vec<usize> = log.calls[first..=end].iter().map(Call::rank).collect();
            assert!(ranks.is_sorted(), "{:?}", &log.calls[first..=end]);
            neighbours.extend(ranks.windows(2).map(|pair| (pair[0], pair[1])));
            begin = end + 1;
        }
    }
    let [recovered, spurious, loss, _, ecn, ack] = [0, 1, 2, 3, 4, 5];
    for calls in [(recovered, loss), (spurious, ack), (loss, ecn), (loss, ack), (ecn, ack)] {
        assert!(neighbours.contains(&calls), "never seen: {calls:?}");
    }
}

#[test]
fn a_retransmission_timeout_is_told_alone() {
    let (mut pair, log) =
        pair(ApplicationSpec::Greedy, [window(5); 2], |config| config.tail_loss_probe = false);
    pair.drop = (10..15).collect();
    pair.run_to(3000);
    let log = log.lock().unwrap();
    let place = log.calls.iter().position(|call| *call == RTO).unwrap();
    let at_once = log.at.iter().filter(|at| **at == log.at[place]).count();
    assert_eq!(at_once, 1, "no other call at that time: {:?}", log.calls);
    assert!(!log.calls.iter().any(|call| matches!(call, Call::Loss { .. })), "{:?}", log.calls);
}

#[test]
fn persistent_congestion_is_told_as_a_loss_and_then_as_a_timeout_at_one_time() {
    let change =
        |config: &mut Config| *config = Config { handshake: false, pacing_gain: 0.0, ..Config::quic() };
    let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(10); 2], change);
    // The second flight and the first three probes: the ACK of the fourth shows that all were lost.
    pair.drop = (10..23).collect();
    pair.run_to(4000);
    let log = log.lock().unwrap();
    let place = log.calls.iter().position(|call| *call == PERSISTENT).unwrap();
    let around = &log.calls[place - 1..=place + 1];
    assert!(
        matches!(around, [Call::Loss { new_episode: true, by_ack: true }, PERSISTENT, Call::Ack { .. }]),
        "{around:?}"
    );
    assert!(log.at[place - 1..=place + 1].iter().all(|at| *at == log.at[place]));
    assert_eq!(log.calls.iter().filter(|call| **call == PERSISTENT).count(), 1);
    assert!(!log.calls.contains(&Call::Recovered), "persistent congestion ends the episode: {:?}", log.calls);
}

#[test]
fn persistent_congestion_never_follows_losses_that_a_timer_found() {
    let (mut persistent, mut by_timer) = (0, 0);
    for seed in 1..40_u64 {
        let change = |config: &mut Config| *config = Config { handshake: false, ..Config::quic() };
        let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(10); 2], change);
        let bursts = (1..8).map(|burst| (burst * (17 + seed % 11), 1 + (burst * seed * 7919) % 24));
        pair.drop = bursts.flat_map(|(first, count)| first..first + count).collect();
        pair.late =
            (0..400).filter(|number| number * seed % 29 == 3).map(|number| (number, seed * 3)).collect();
        pair.run_to(20_000);
        let log = log.lock().unwrap();
        by_timer += log.calls.iter().filter(|call| matches!(call, Call::Loss { by_ack: false, .. })).count();
        for place in (0..log.calls.len()).filter(|&place| log.calls[place] == PERSISTENT) {
            persistent += 1;
            let around = &log.calls[place - 1..=place + 1];
            assert!(matches!(around[0], Call::Loss { by_ack: true, .. }), "{seed}: {around:?}");
            assert!(log.at[place - 1..=place + 1].iter().all(|at| *at == log.at[place]), "{seed}");
        }
    }
    assert!(persistent > 10 && by_timer > 10, "{persistent} {by_timer}");
}

#[test]
fn packets_that_answer_an_ack_have_its_time() {
    let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(20), window(10)], |_| {});
    pair.drop = vec![25];
    pair.run_to(1000);
    let log = log.lock().unwrap();
    let begin =
        log.calls.iter().position(|call| matches!(call, Call::Loss { new_episode: true, .. })).unwrap();
    let again = log.sent.iter().find(|sent| sent.retransmission).unwrap();
    assert_eq!(again.now, log.at[begin], "the retransmission leaves when the episode begins, and not later");
}

/// Writes of an application, packets at times in ms.
fn writes(packets: &[(f64, u64)]) -> ApplicationSpec {
    ApplicationSpec::Trace { writes: packets.iter().map(|&(ms, packets)| (ms, packets * SEGMENT)).collect() }
}

#[test]
fn an_ack_says_what_limited_the_sender_before_it() {
    let limits_of = |application, control| {
        let (mut pair, log) = pair(application, [control; 2], |_| {});
        pair.run_to(450);
        let log = log.lock().unwrap();
        log.limits.iter().map(|&(at, limits)| (at.as_ns() / 1_000_000, limits)).collect::<Vec<_>>()
    };
    let none = Limits { window: false, pacing: false, app: false };
    let greedy = limits_of(ApplicationSpec::Greedy, window(10));
    assert!(greedy.iter().all(|&(_, limits)| limits == Limits { window: true, ..none }), "{greedy:?}");

    // The window allows ten packets; the application has three.
    let few = limits_of(writes(&[(0.0, 3)]), window(10));
    assert!(
        few.len() == 3 && few.iter().all(|&(_, limits)| limits == Limits { app: true, ..none }),
        "{few:?}"
    );

    // 1 Mbit/s fills no window of 20 packets, and the application has more.
    let slow = Control { pacing: Some(Rate::from_bps(1_158_400)), ..window(20) };
    let paced = limits_of(ApplicationSpec::Greedy, slow);
    assert!(paced.iter().all(|&(_, limits)| limits == Limits { pacing: true, ..none }), "{paced:?}");

    // Three packets, and from 60 ms on more data than the window allows. From 100 ms on the ACKs report the window as
    // limit. The ACK at 160 ms, of the first later packet, is the first one that does not report the application as
    // limit.
    let more = limits_of(writes(&[(0.0, 3), (60.0, 1000)]), window(10));
    assert!(more.iter().all(|&(_, limits)| limits.window && !limits.pacing), "{more:?}");
    let app: Vec<(u64, bool)> = more.iter().map(|&(at, limits)| (at, limits.app)).take(4).collect();
    assert_eq!(app, [(100, true), (100, true), (100, true), (160, false)]);

    // Thirteen packets, of which ten fill the window: three wait for the ACKs at 100 ms. The rounds end at 100, 200 and
    // 400 ms. The ACK that ends a round reports the limits of that round and of the one before.
    let end = limits_of(writes(&[(0.0, 13), (300.0, 2)]), window(10));
    let windows: Vec<(u64, bool)> = end.iter().map(|&(at, limits)| (at, limits.window)).collect();
    assert!(windows[..13].iter().all(|&(_, window)| window), "{windows:?}");
    assert_eq!(windows[13..], [(400, true), (400, false)]);
}

#[test]
fn samples_are_application_limited_while_the_controller_says_so() {
    let limited = Control { app_limited: true, ..window(20) };
    let (mut pair, log) = pair(ApplicationSpec::Greedy, [limited, window(20)], |_| {});
    pair.drop = vec![100];
    pair.run_to(2000);
    let marks = log.lock().unwrap().limited.clone();
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
    let (mut pair, log) = pair(ApplicationSpec::Greedy, [window(10); 2], with_ecn);
    (pair.mark, pair.drop_acks) = (vec![2, 3, 7], vec![7]);
    pair.run_to(150);
    let log = log.lock().unwrap();
    let calls = &log.calls;
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
            let sent = log.sent.iter().find(|sent| sent.number == newest).unwrap();
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
    let (mut pair, log) = pair(encoder(), [control; 2], |_| {});
    pair.run_to(500);
    let log = log.lock().unwrap();
    for frame in &log.frames {
        let of_it: Vec<&Sent> = log.sent.iter().filter(|sent| sent.frame == frame.number).collect();
        assert_eq!(of_it.iter().map(|sent| u64::from(sent.bytes)).sum::<u64>(), frame.bytes);
        let ends: Vec<bool> = of_it.iter().map(|sent| sent.frame_end).collect();
        assert!(ends.iter().rev().skip(1).all(|end| !end) && ends.last() == Some(&true), "{ends:?}");
    }
    assert_eq!(log.frames.iter().map(|frame| frame.number).collect::<Vec<_>>(), (1..=26).collect::<Vec<_>>());
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
        let (mut pair, log) = pair(encoder(), [control; 2], |_| {});
        pair.run_to(3000);
        let stats = pair.sender.encoder_stats().unwrap();
        let log = log.lock().unwrap();
        let captured = |frame: u32| log.frames[frame as usize - 1].now;
        let first_sent: Vec<&Sent> = {
            let mut last = 0;
            log.sent.iter().filter(|sent| core::mem::replace(&mut last, sent.frame) != sent.frame).collect()
        };
        let longest = first_sent.iter().map(|sent| sent.now - captured(sent.frame)).max().unwrap();
        for sent in &first_sent {
            let bytes: u64 = log
                .sent
                .iter()
                .filter(|other| other.frame == sent.frame)
                .map(|other| u64::from(other.bytes))
                .sum();
            let whole = log.frames[sent.frame as usize - 1].bytes;
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
