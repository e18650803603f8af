//! Transport services for schemes with a receiver-side half, probes or a live source.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::harness::Pair;
use congestion::{Ack, Arrived, Control, Controller, FieldSink, Frame, Message, ReceiverHalf, Sent};
use std::sync::{Arc, Mutex};
use transport::{ApplicationSpec, Config, EncoderSpec};
use units::{Rate, Span, Time};

/// Record of both halves of the test's scheme.
#[derive(Debug, Default)]
struct TestRecord {
    arrived: Vec<Arrived>,
    feedback: Vec<Vec<u8>>,
    frames: Vec<Frame>,
    fillers: Vec<Time>,
}

/// A scheme with a fixed allowance that writes its packet count into each packet.
#[derive(Debug)]
struct Scheme {
    control: Control,
    sent: u64,
    record: Arc<Mutex<TestRecord>>,
}

impl Controller for Scheme {
    fn on_sent(&mut self, event: &Sent) {
        self.sent += 1;
        if event.filler {
            self.record.lock().unwrap().fillers.push(event.now);
        }
    }

    fn message(&mut self, event: &Sent) -> Message {
        [self.sent, event.number]
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        self.record.lock().unwrap().feedback.push(event.feedback.to_vec());
    }

    fn on_wake(&mut self, now: Time) {
        self.control.wake_at = now + Span::from_ms(50);
    }

    fn on_frame(&mut self, event: &Frame) {
        self.record.lock().unwrap().frames.push(*event);
    }

    fn control(&self) -> Control {
        self.control
    }

    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

/// Speaks every 20 ms, and weighs as much as the scheme wants.
#[derive(Debug)]
struct Half {
    next: Time,
    record: Arc<Mutex<TestRecord>>,
}

impl ReceiverHalf for Half {
    fn on_packet(&mut self, event: &Arrived) {
        self.record.lock().unwrap().arrived.push(*event);
    }

    fn next_timer(&self) -> Time {
        self.next
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        self.next = now + Span::from_ms(20);
        feedback.push(self.record.lock().unwrap().arrived.len() as u8);
    }
}

fn pair(
    change: impl FnOnce(&mut Config),
    application: ApplicationSpec,
    control: Control,
) -> (Pair, Arc<Mutex<TestRecord>>) {
    let mut config =
        Config { ack_every: 1_000_000, ack_delay_ms: 10_000.0, ack_on_gap: false, ..Config::datagram() };
    change(&mut config);
    let record = Arc::new(Mutex::new(TestRecord::default()));
    let half = Box::new(Half { next: Time::ZERO, record: Arc::clone(&record) });
    let scheme = Scheme { control, sent: 0, record: Arc::clone(&record) };
    (Pair::with(&config, application, |_| Box::new(scheme), Some(half)), record)
}

fn encoder(change: impl FnOnce(&mut EncoderSpec)) -> ApplicationSpec {
    let mut spec = EncoderSpec { fps: 50.0, deviation: 0.0, ..EncoderSpec::default() };
    change(&mut spec);
    ApplicationSpec::Encoder(spec)
}

/// Decoded frames: number and delay in ms.
fn decoded_frames(pair: &mut Pair) -> Vec<(u32, f64)> {
    std::iter::from_fn(|| pair.receiver.take_frame())
        .map(|frame| (frame.mark.number, (frame.decoded_at - frame.mark.captured_at).as_ms_f64()))
        .collect()
}

#[test]
fn every_packet_carries_the_message_and_acks_leave_only_when_the_half_wants() {
    let (mut pair, record) = pair(|_| {}, ApplicationSpec::Greedy, Control::window(3 * 1424));
    pair.drop = vec![1];
    pair.run_to(120);
    let record = record.lock().unwrap();
    let messages: Vec<Message> = record.arrived.iter().take(2).map(|arrived| arrived.message).collect();
    assert_eq!(messages, [[1, 0], [3, 2]]);
    // Packets arrive at 50 ms, one ACK at once for the half's first timer; the gap brings no further one.
    assert_eq!(pair.receiver.stats().acks, 4, "at 50, 70, 90 and 110 ms");
    assert_eq!(record.feedback.first().unwrap(), &[1]);
}

#[test]
fn filler_leaves_at_the_pace_when_the_application_has_nothing() {
    let control =
        Control { pacing: Some(Rate::from_mbps(1.0)), filler_bytes: Some(1250), ..Control::window(u64::MAX) };
    let (mut pair, record) = pair(|_| {}, ApplicationSpec::Fixed { bytes: 1424 }, control);
    pair.run_to(200);
    // 1250 bytes at 1 Mbit/s: one packet each 10 ms, after 11.4 ms for the transfer's only packet.
    let fillers = record.lock().unwrap().fillers.len();
    assert_eq!((fillers, pair.delivered), (19, 1424), "filler is no goodput");
    assert!(pair.sent.iter().skip(1).all(|(_, data)| data.filler && data.application_bytes() == 0));
}

#[test]
fn lost_filler_is_not_sent_again() {
    let control =
        Control { pacing: Some(Rate::from_mbps(1.0)), filler_bytes: Some(1250), ..Control::window(u64::MAX) };
    let (mut pair, _) =
        pair(|config| config.reliable = true, ApplicationSpec::Fixed { bytes: 1424 }, control);
    pair.drop = vec![3, 4];
    pair.run_to(500);
    assert_eq!((pair.sender.stats().packets_lost, pair.sender.stats().retransmissions), (2, 0));
}

#[test]
fn an_empty_heartbeat_passes_a_closed_window_once_at_a_time() {
    let wake_at = Time::from_ns(1);
    let control = Control { wake_at, filler_bytes: Some(0), ..Control::window(1424) };
    let (mut pair, record) = pair(|_| {}, ApplicationSpec::Greedy, control);
    pair.drop = (0..1000).collect();
    pair.run_to(190);
    // At 0, and at each waking 50 ms apart.
    assert_eq!(record.lock().unwrap().fillers.len(), 5);
    assert_eq!(pair.sent.iter().filter(|(_, data)| !data.filler).count(), 1);
}

#[test]
fn an_acknowledged_heartbeat_is_no_connection_set_up() {
    let control = Control { filler_bytes: Some(0), ..Control::window(1424) };
    let (mut pair, record) = pair(|_| {}, ApplicationSpec::Fixed { bytes: 100 }, control);
    pair.run_to(300);
    assert!(record.lock().unwrap().arrived.iter().any(|arrived| arrived.bytes == 0));
    assert_eq!(pair.sender.stats().packets_lost, 0);
    assert!(record.lock().unwrap().feedback.len() > 5);
}

#[test]
fn frames_come_at_their_times_however_closed_the_window_is() {
    let control = Control { media_rate: Some(Rate::from_mbps(1.0)), ..Control::window(1) };
    let (mut pair, record) = pair(|_| {}, encoder(|spec| spec.skip_queue_ms = 65.0), control);
    pair.drop = (0..1000).collect();
    pair.run_to(99);
    let record = record.lock().unwrap();
    let times: Vec<u64> = record.frames.iter().map(|frame| frame.now.as_ns() / 1_000_000).collect();
    // The first packet leaves at once, the rest of the key frame waits: after 65 ms frames are skipped.
    assert_eq!(times, [0, 20, 40, 60]);
    assert_eq!(record.frames[3].queue_delay, Span::from_ms(60));
    let stats = pair.sender.encoder_stats().unwrap();
    assert_eq!((stats.frames, stats.frames_skipped, stats.key_frames), (4, 1, 1));
}

#[test]
fn frames_are_decoded_one_way_delay_after_their_last_packet_left() {
    let control = Control {
        media_rate: Some(Rate::from_mbps(1.0)),
        pacing: Some(Rate::from_mbps(10.0)),
        ..Control::window(u64::MAX)
    };
    let (mut pair, _) = pair(|_| {}, encoder(|_| {}), control);
    pair.run_to(1000);
    let frames = decoded_frames(&mut pair);
    assert_eq!(frames.len(), 48, "those captured up to 940 ms");
    assert!(frames.iter().all(|&(_, delay)| (50.0..56.0).contains(&delay)), "{frames:?}");
}

#[test]
fn a_lost_packet_costs_the_frames_up_to_the_next_key_frame() {
    let control = Control { media_rate: Some(Rate::from_mbps(1.0)), ..Control::window(u64::MAX) };
    let control = Control { pacing: Some(Rate::from_mbps(50.0)), ..control };
    let lost = |reliable| {
        let (mut pair, _) = pair(|config| config.reliable = reliable, encoder(|_| {}), control);
        let first = |pair: &mut Pair| {
            pair.run_to(399);
            pair.sent.len() as u64
        };
        let next = first(&mut pair);
        pair.drop = vec![next];
        pair.run_to(2000);
        let numbers: Vec<u32> = decoded_frames(&mut pair).iter().map(|frame| frame.0).collect();
        numbers.windows(2).map(|two| two[1] - two[0] - 1).sum::<u32>()
    };
    // Lost at 400 ms, known at about 540 ms: some eight frames hang on it. Sent again, nothing is lost.
    assert!((6..=10).contains(&lost(false)), "{}", lost(false));
    assert_eq!(lost(true), 0);
}

#[test]
fn what_cannot_be_delivered_within_a_second_is_given_up_for_a_key_frame() {
    let control = Control { media_rate: Some(Rate::from_mbps(1.0)), ..Control::window(u64::MAX) };
    let control = Control { pacing: Some(Rate::from_mbps(50.0)), ..control };
    let (mut pair, _) = pair(|config| config.reliable = true, encoder(|_| {}), control);
    pair.run_to(399);
    let next = pair.sent.len() as u64;
    // Nothing arrives for 1.5 s.
    pair.drop = (next..next + 400).collect();
    pair.run_to(1900);
    pair.drop.clear();
    pair.run_to(4000);
    let resent_late = pair.sent.iter().filter(|(at, data)| {
        data.retransmission && at.as_ns() > data.frame.captured_at.as_ns() + 1_000_000_000
    });
    assert_eq!(resent_late.count(), 0);
    assert!(pair.sender.encoder_stats().unwrap().key_frames >= 2);
    assert!(decoded_frames(&mut pair).iter().any(|frame| frame.0 > 150), "the picture moves again");
}

#[test]
fn a_controller_that_knows_nothing_of_encoders_still_steers_one() {
    let mut pair =
        Pair::new(&Config { ack_every: 1, ..Config::tcp() }, encoder(|spec| spec.max_rate_mbps = 8.0));
    pair.run_to(5000);
    let stats = pair.sender.encoder_stats().unwrap();
    let mbps = stats.bytes as f64 * 8.0 / 5e6;
    // Ten packets per 100 ms are 1.2 Mbit/s and more as the window grows: well above the start rate of 0.3.
    assert!((0.8..8.0).contains(&mbps), "{mbps}");
}
