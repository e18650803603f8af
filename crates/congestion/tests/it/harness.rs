//! Minimal transport that is consistent in itself; it checks the controller after every step.

use crate::far_end::{FarEnd, FrameQueue};
use crate::steps::Step;
use congestion::{
    Ack, AckedPacket, Control, Controller, Ecn, Entry, FieldSink, Frame, Loss, Message, Parameters,
    RateSample, Sent, Start, Timeout, TimeoutKind,
};
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Fields that may be infinite: thresholds before their first value.
const MAY_BE_INFINITE: &[&str] = &["ssthresh"];

/// Fields without a value (NaN) outside of a congestion-avoidance epoch. Measured times, in ms, may have none until the
/// next ACK.
const MAY_BE_ABSENT: &[&str] = &["k", "w_est", "queueing_delay", "delivery_rate", "sending_rate", "loss"];

/// Maximum number of packets that a controller may send at once here, for any window.
const MAX_FLIGHT: usize = 500;

/// Name, unit and bits of a field's value.
type Field = (&'static str, &'static str, u64);

/// Results of the steps: controls and fields, bit for bit.
pub(crate) type Trace = Vec<(Control, Vec<Field>)>;

/// Properties of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) mss_bytes: u32,
    /// Receiver's clock minus the sender's.
    pub(crate) clock_offset: Span,
    /// True if the flow sends the frames of an encoder; otherwise it always has more to send.
    pub(crate) live: bool,
}

/// Packet in flight and its message to the receiver-side half.
#[derive(Clone, Copy, Debug)]
struct Flying {
    packet: AckedPacket,
    message: Message,
}

/// Minimal transport that is consistent in itself.
#[derive(Debug)]
pub(crate) struct Harness {
    name: &'static str,
    controller: Box<dyn Controller>,
    far_end: Option<FarEnd>,
    flow: Flow,
    queue: FrameQueue,
    now: Time,
    outstanding: VecDeque<Flying>,
    /// Departure of the latest filler packet.
    filler_at: Option<Time>,
    next_number: u64,
    delivered_bytes: u64,
    lost_bytes: u64,
    srtt: Span,
    min_rtt: Span,
    round_end: u64,
    recovery_end: Option<u64>,
    episode_floor: u64,
    timed_out: bool,
    /// True if the latest step acknowledged something.
    just_acked: bool,
    pub(crate) trace: Trace,
}

impl Harness {
    pub(crate) fn new(entry: &Entry, parameters: &Parameters, flow: Flow) -> Self {
        let now = Time::from_ns(1);
        let initial_window_bytes = 10 * u64::from(flow.mss_bytes);
        let start = Start { now, mss_bytes: flow.mss_bytes, initial_window_bytes, seed: 7 };
        let far_start = Start { now: now + flow.clock_offset, ..start.clone() };
        let far_end = |build: congestion::BuildReceiver| {
            FarEnd::new(
                entry.name,
                build(parameters, &far_start).expect("files are checked before"),
                far_start.now,
            )
        };
        Self {
            name: entry.name,
            controller: entry.build(parameters, &start).expect("files are checked before"),
            far_end: entry.receiver.map(far_end),
            flow,
            queue: FrameQueue::default(),
            now,
            outstanding: VecDeque::new(),
            filler_at: None,
            next_number: 0,
            delivered_bytes: 0,
            lost_bytes: 0,
            srtt: Span::ZERO,
            min_rtt: Span::MAX,
            round_end: 0,
            recovery_end: None,
            episode_floor: 0,
            timed_out: false,
            just_acked: false,
            trace: vec![],
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        self.outstanding.iter().map(|flying| u64::from(flying.packet.bytes)).sum()
    }

    pub(crate) fn take(&mut self, step: &Step) {
        self.just_acked = false;
        match step {
            Step::Pass(ns) => self.now += Span::from_ns(*ns),
            Step::Send(count) => (0..*count).for_each(|_| self.send()),
            Step::Ack { skip, count, way, delay_us, limited } => {
                let held = Span::from_us(u64::from(*delay_us));
                self.acknowledge(usize::from(*skip), usize::from(*count), *way, held, *limited);
            }
            Step::Lose(count) => self.lose(usize::from(*count)),
            Step::Timeout { persistent } => self.time_out(*persistent),
            Step::Mark(count) => self.mark(u64::from(*count)),
            Step::FalseAlarm => {
                if self.recovery_end.take().is_some() {
                    self.controller.on_spurious_loss(self.now);
                }
            }
            Step::Wake => self.wake(),
            Step::Frame { bytes, key } => self.write_frame(u64::from(*bytes), *key),
            Step::Report { lost } => self.wait_for_report(*lost),
            Step::Mangled { at, value, cut } => {
                if let Some(far_end) = &self.far_end {
                    let feedback = far_end.mangled(usize::from(*at), *value, *cut);
                    self.take_feedback(&feedback);
                }
            }
            Step::Noise(feedback) => self.take_feedback(feedback),
        }
        self.check(step);
    }

    /// Sends one packet: the application's if the window allows it, otherwise filler if the controller asks for it.
    fn send(&mut self) {
        let control = self.controller.control();
        let (in_flight, most) = (self.in_flight_bytes(), self.flow.mss_bytes);
        let is_idle = self.outstanding.is_empty();
        let fits = |bytes: u32| in_flight + u64::from(bytes) <= control.window_bytes;
        let ready = if self.flow.live { self.queue.bytes().min(u64::from(most)) as u32 } else { most };
        if self.outstanding.len() >= MAX_FLIGHT {
            return;
        }
        if ready > 0 && (fits(ready) || is_idle) {
            let bytes = if self.flow.live { self.queue.take(most) } else { Some(most) };
            self.transmit(bytes.expect("something is ready"), false);
            return;
        }
        let may_repeat = |bytes| bytes > 0 && control.pacing.is_some();
        if let Some(bytes) = control.filler_bytes
            && (bytes == 0 || fits(bytes))
            && (may_repeat(bytes) || self.filler_at != Some(self.now))
        {
            self.filler_at = Some(self.now);
            self.transmit(bytes, true);
        }
    }

    fn transmit(&mut self, bytes: u32, filler: bool) {
        let in_flight_bytes = self.in_flight_bytes() + u64::from(bytes);
        let packet = AckedPacket {
            number: self.next_number,
            bytes,
            sent_at: self.now,
            lost_at_send_bytes: self.lost_bytes,
            in_flight_at_send_bytes: in_flight_bytes,
            ..AckedPacket::default()
        };
        self.next_number += 1;
        let (now, number) = (self.now, packet.number);
        let sent = Sent {
            now,
            number,
            bytes,
            in_flight_bytes,
            retransmission: false,
            filler,
            frame: 0,
            frame_end: false,
            idle_timeouts: 0,
        };
        self.controller.on_sent(&sent);
        let message = self.controller.message(&sent);
        self.outstanding.push_back(Flying { packet, message });
    }

    fn write_frame(&mut self, bytes: u64, key: bool) {
        if !self.flow.live {
            return;
        }
        self.queue.write(self.now, bytes);
        let (now, queued_bytes) = (self.now, self.queue.bytes());
        self.controller.on_frame(&Frame {
            now,
            bytes,
            key,
            queued_bytes,
            queue_delay: self.queue.delay(now),
            number: 1,
        });
    }

    fn wait_for_report(&mut self, lost: bool) {
        let Some((reports, at)) = self.far_end.as_mut().and_then(FarEnd::wait) else { return };
        self.now = self.now.max(at - self.flow.clock_offset + Span::from_ns(1));
        for report in reports.iter().filter(|_| !lost) {
            self.take_feedback(report);
        }
    }

    /// Delivers an ACK that acknowledges nothing new.
    fn take_feedback(&mut self, feedback: &[u8]) {
        if self.far_end.is_none() || feedback.is_empty() {
            return;
        }
        let bytes = self.in_flight_bytes();
        let ack = self.ack(&[], bytes);
        self.controller.on_ack(&Ack { feedback, ..ack });
    }

    /// Returns the common part of every ACK for `packets`, which are no longer in flight; before there were
    /// `in_flight_before_bytes`.
    fn ack<'a>(&self, packets: &'a [AckedPacket], in_flight_before_bytes: u64) -> Ack<'a> {
        let acked_bytes: u64 = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        Ack {
            now: self.now,
            packets,
            acked_bytes,
            growth_bytes: acked_bytes,
            lost_bytes: 0,
            rtt: None,
            srtt: self.srtt,
            rttvar: self.srtt / 2,
            min_rtt: self.min_rtt,
            ack_delay: Span::ZERO,
            in_flight_before_bytes,
            in_flight_bytes: in_flight_before_bytes - acked_bytes,
            peak_in_flight_bytes: in_flight_before_bytes,
            window_limited: false,
            pacing_limited: false,
            app_limited: false,
            delivered_bytes: self.delivered_bytes,
            rate: None,
            round_start: false,
            in_recovery: self.recovery_end.is_some(),
            next_number: self.next_number,
            queued_bytes: if self.flow.live { self.queue.bytes() } else { u64::MAX },
            queue_delay: self.queue.delay(self.now),
            feedback: &[],
            complete_bytes: 0,
            sent_bytes: 0,
        }
    }

    fn acknowledge(&mut self, skip: usize, count: usize, way: u8, held: Span, limited: bool) {
        let skip = skip.min(self.outstanding.len().saturating_sub(1));
        let end = (skip + count).min(self.outstanding.len());
        if end == 0 {
            return;
        }
        let in_flight_before_bytes = self.in_flight_bytes();
        let mut packets = Vec::with_capacity(end - skip);
        for Flying { mut packet, message } in self.outstanding.drain(skip..end) {
            let rtt = self.now - packet.sent_at;
            let on_the_way = rtt.mul_f64(f64::from(way) / 255.0);
            packet.received_at = packet.sent_at + on_the_way + self.flow.clock_offset;
            if let Some(far_end) = &mut self.far_end {
                far_end.arrive(packet.received_at, packet.number, packet.sent_at, packet.bytes, message);
            }
            packets.push(packet);
        }
        let newest = packets[packets.len() - 1];
        let rtt = self.now - newest.sent_at;
        self.srtt = if self.srtt.is_zero() { rtt } else { (self.srtt * 7 + rtt) / 8 };
        self.min_rtt = self.min_rtt.min(rtt);
        let acked_bytes: u64 = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        self.delivered_bytes += acked_bytes;
        if self.recovery_end.is_some_and(|end| newest.number >= end) {
            self.recovery_end = None;
        }
        let round_start = newest.number >= self.round_end;
        if round_start {
            self.round_end = self.next_number;
        }
        self.timed_out = false;
        self.just_acked = true;
        let rate = (!rtt.is_zero()).then(|| RateSample {
            delivered_bytes: acked_bytes,
            interval: rtt,
            rate: Rate::from_bytes_per(acked_bytes, rtt),
            prior_delivered_bytes: self.delivered_bytes - acked_bytes,
            lost_bytes: self.lost_bytes - newest.lost_at_send_bytes,
            in_flight_at_send_bytes: newest.in_flight_at_send_bytes,
            app_limited: !limited,
        });
        let reports = self.far_end.as_mut().map_or_else(Vec::new, |far_end| {
            far_end.pass(held.min(rtt));
            far_end.reports()
        });
        let ack = self.ack(&packets, in_flight_before_bytes);
        self.controller.on_ack(&Ack {
            rtt: Some(rtt),
            ack_delay: held.min(rtt),
            window_limited: limited,
            pacing_limited: false,
            app_limited: !limited,
            rate,
            round_start,
            feedback: reports.first().map_or(&[], Vec::as_slice),
            ..ack
        });
        reports.iter().skip(1).for_each(|report| self.take_feedback(report));
    }

    /// Returns true if a loss or mark of packet `newest` begins an episode.
    fn begins_episode(&mut self, newest: u64) -> bool {
        let begins = newest >= self.episode_floor;
        if begins {
            self.episode_floor = self.next_number;
            self.recovery_end = Some(self.next_number);
        }
        begins
    }

    fn lose(&mut self, count: usize) {
        // At least one packet remains, because something above the lost packets must have been acknowledged.
        let count = count.min(self.outstanding.len().saturating_sub(1));
        if count == 0 {
            return;
        }
        let in_flight_before_bytes = self.in_flight_bytes();
        let packets: Vec<AckedPacket> = self.outstanding.drain(..count).map(|flying| flying.packet).collect();
        let lost_bytes = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        self.lost_bytes += lost_bytes;
        let new_episode = self.begins_episode(packets[count - 1].number);
        self.controller.on_loss(&Loss {
            now: self.now,
            packets: &packets,
            lost_bytes,
            in_flight_before_bytes,
            in_flight_bytes: in_flight_before_bytes - lost_bytes,
            new_episode,
            by_ack: true,
            srtt: self.srtt,
            next_number: self.next_number,
        });
    }

    fn time_out(&mut self, persistent: bool) {
        let in_flight_before_bytes = self.in_flight_bytes();
        self.lost_bytes += in_flight_before_bytes;
        self.outstanding.clear();
        self.recovery_end = None;
        self.episode_floor = self.next_number;
        let kind = if persistent { TimeoutKind::PersistentCongestion } else { TimeoutKind::Rto };
        let repeated = std::mem::replace(&mut self.timed_out, true);
        self.controller.on_timeout(&Timeout {
            now: self.now,
            kind,
            repeated,
            in_flight_before_bytes,
            next_number: self.next_number,
        });
    }

    fn mark(&mut self, packets: u64) {
        let Some(newest) = self.outstanding.front().map(|flying| flying.packet.number) else { return };
        let new_episode = self.begins_episode(newest);
        self.controller.on_ecn(&Ecn {
            now: self.now,
            ce_packets: packets,
            packets: packets + 1,
            newest_sent_at: self.now,
            new_episode,
            in_flight_bytes: self.in_flight_bytes(),
            srtt: self.srtt,
        });
    }

    /// Fires the controller's timer, which must not ask for the same time again.
    fn wake(&mut self) {
        let wake_at = self.controller.control().wake_at;
        let soon = self.now + Span::from_secs(86_400);
        if wake_at > soon {
            return;
        }
        self.now = self.now.max(wake_at);
        for _ in 0..3 {
            if self.controller.control().wake_at > self.now {
                return;
            }
            self.controller.on_wake(self.now);
        }
        let wake_at = self.controller.control().wake_at;
        assert!(wake_at > self.now, "{} wakes at {wake_at:?} again and again, now {:?}", self.name, self.now);
    }

    fn fields(&self) -> Vec<Field> {
        #[derive(Default)]
        struct Collect(Vec<Field>);
        impl FieldSink for Collect {
            fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
                self.0.push((name, unit, value.to_bits()));
            }
        }
        let mut collect = Collect::default();
        self.controller.fields(&mut collect);
        collect.0
    }

    fn check(&mut self, step: &Step) {
        let name = self.name;
        let fields = self.fields();
        for &(field, unit, bits) in &fields {
            let value = f64::from_bits(bits);
            let is_infinite = value == f64::INFINITY && MAY_BE_INFINITE.contains(&field);
            let is_absent =
                value.is_nan() && ((unit == "ms" && !self.just_acked) || MAY_BE_ABSENT.contains(&field));
            assert!(value.is_finite() || is_infinite || is_absent, "{name}.{field} = {value} after {step:?}");
        }
        let control = self.controller.control();
        assert_eq!(control, self.controller.control(), "{name}: control() changed something");
        assert_eq!(fields, self.fields(), "{name}: control() changed a field");
        let holds_a_packet = control.window_bytes >= u64::from(self.flow.mss_bytes);
        let reopens = control.wake_at.is_finite() || !self.outstanding.is_empty();
        assert!(holds_a_packet || reopens, "{name} is stuck with {control:?} after {step:?}");
        assert!(control.window_bytes > 0, "{name}: empty window after {step:?}");
        assert!(
            control.window_bytes < u64::MAX || control.pacing.is_some(),
            "{name}: nothing limits sending after {step:?}"
        );
        let in_range = |rate: Rate| rate > Rate::ZERO && rate < Rate::from_bps(u64::MAX);
        assert!(
            control.media_rate.is_none_or(in_range),
            "{name}: {:?} for the encoder after {step:?}",
            control.media_rate
        );
        assert!(control.pacing.is_none_or(|rate| rate > Rate::ZERO), "{name}: pacing at zero after {step:?}");
        self.trace.push((control, fields));
    }
}
