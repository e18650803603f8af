//! Recording of the calls of a controller and a receiver half, and their replay with new instances.

use crate::meter::{Meter, Spent};
use congestion::{
    Ack, AckedPacket, Arrived, Control, Controller, Ecn, FieldSink, Frame, Loss, Message, ReceiverHalf, Sent,
    Timeout,
};
use std::hint::black_box;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use units::{Span, Time};

/// Value shared between the recorder inside a [`transport::Sender`] or [`transport::Receiver`] and a later reader.
pub type Shared<T> = Arc<Mutex<T>>;

/// Locks the shared value.
pub fn open<T>(shared: &Shared<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Call of a controller. Its argument is the next one of its kind on the [`Tape`].
#[derive(Clone, Copy, Debug)]
enum Call {
    Established(Time, Span),
    Sent,
    Message,
    Ack,
    Loss,
    Timeout(Timeout),
    Ecn(Ecn),
    SpuriousLoss(Time),
    Recovered(Time),
    Wake(Time),
    Frame(Frame),
    Control,
}

/// Event with the numbers of its packets and feedback bytes on the tape.
#[derive(Clone, Copy, Debug)]
struct With<T> {
    event: T,
    packets: usize,
    feedback: usize,
}

/// All calls of one controller, in order.
#[derive(Debug, Default)]
pub struct Tape {
    calls: Vec<Call>,
    sent: Vec<Sent>,
    acks: Vec<With<Ack<'static>>>,
    losses: Vec<With<Loss<'static>>>,
    packets: Vec<AckedPacket>,
    feedback: Vec<u8>,
    last_control: Option<Control>,
}

impl Tape {
    pub(crate) const fn acks(&self) -> usize {
        self.acks.len()
    }

    pub(crate) const fn packets_sent(&self) -> usize {
        self.sent.len()
    }

    /// Returns the last limits of the recorded controller.
    pub(crate) const fn last_control(&self) -> Option<Control> {
        self.last_control
    }

    /// Replays all calls with `controller`. Returns their cost.
    pub(crate) fn replay(&self, controller: &mut dyn Controller, meter: &mut Meter) -> Spent {
        meter.of(|| self.tell(controller, || ()))
    }

    /// Replays all calls with `controller`, and appends the duration of each call, ns.
    pub(crate) fn replay_timed(&self, controller: &mut dyn Controller, times: &mut Vec<u64>) {
        times.reserve(self.calls.len());
        let mut last = now();
        self.tell(controller, || last = note(last, times));
    }

    /// Replays all calls with `controller`, and calls `told` after each.
    pub fn tell(&self, controller: &mut dyn Controller, mut told: impl FnMut()) {
        let (mut sent, mut acks, mut losses) = (self.sent.iter(), self.acks.iter(), self.losses.iter());
        let (mut packets, mut feedback) = (self.packets.as_slice(), self.feedback.as_slice());
        let mut latest = None;
        for call in &self.calls {
            match call {
                Call::Established(now, rtt) => controller.on_established(*now, *rtt),
                Call::Sent => {
                    latest = sent.next();
                    let Some(event) = latest else { break };
                    controller.on_sent(event);
                }
                Call::Message => {
                    let Some(event) = latest else { break };
                    black_box(controller.message(event));
                }
                Call::Ack => {
                    let Some(with) = acks.next() else { break };
                    controller.on_ack(&Ack {
                        packets: take(&mut packets, with.packets),
                        feedback: take(&mut feedback, with.feedback),
                        ..with.event
                    });
                }
                Call::Loss => {
                    let Some(with) = losses.next() else { break };
                    controller.on_loss(&Loss { packets: take(&mut packets, with.packets), ..with.event });
                }
                Call::Timeout(event) => controller.on_timeout(event),
                Call::Ecn(event) => controller.on_ecn(event),
                Call::SpuriousLoss(now) => controller.on_spurious_loss(*now),
                Call::Recovered(now) => controller.on_recovered(*now),
                Call::Wake(now) => controller.on_wake(*now),
                Call::Frame(event) => controller.on_frame(event),
                Call::Control => {
                    black_box(controller.control());
                }
            }
            told();
        }
    }
}

/// Appends the time since `last`, ns. Returns the current time.
fn note(last: Instant, times: &mut Vec<u64>) -> Instant {
    let at = now();
    times.push((at - last).as_nanos() as u64);
    at
}

/// Removes the first `count` items from `rest` and returns them.
fn take<'a, T>(rest: &mut &'a [T], count: usize) -> &'a [T] {
    let (first, others) = rest.split_at(count);
    *rest = others;
    first
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

/// Controller that records each call before it forwards the call.
#[derive(Debug)]
pub struct Recording {
    inner: Box<dyn Controller>,
    tape: Shared<Tape>,
}

impl Recording {
    /// Creates a recorder in front of `inner`.
    pub fn new(inner: Box<dyn Controller>, tape: &Shared<Tape>) -> Self {
        Self { inner, tape: Arc::clone(tape) }
    }

    fn note(&self, call: Call) {
        open(&self.tape).calls.push(call);
    }
}

impl Controller for Recording {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.note(Call::Established(now, rtt));
        self.inner.on_established(now, rtt);
    }

    fn on_sent(&mut self, event: &Sent) {
        self.note(Call::Sent);
        open(&self.tape).sent.push(*event);
        self.inner.on_sent(event);
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        self.note(Call::Ack);
        let mut tape = open(&self.tape);
        tape.acks.push(With {
            event: Ack { packets: &[], feedback: &[], ..*event },
            packets: event.packets.len(),
            feedback: event.feedback.len(),
        });
        tape.packets.extend_from_slice(event.packets);
        tape.feedback.extend_from_slice(event.feedback);
        drop(tape);
        self.inner.on_ack(event);
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        self.note(Call::Loss);
        let mut tape = open(&self.tape);
        tape.losses.push(With {
            event: Loss { packets: &[], ..*event },
            packets: event.packets.len(),
            feedback: 0,
        });
        tape.packets.extend_from_slice(event.packets);
        drop(tape);
        self.inner.on_loss(event);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.note(Call::Timeout(*event));
        self.inner.on_timeout(event);
    }

    fn on_ecn(&mut self, event: &Ecn) {
        self.note(Call::Ecn(*event));
        self.inner.on_ecn(event);
    }

    fn on_spurious_loss(&mut self, now: Time) {
        self.note(Call::SpuriousLoss(now));
        self.inner.on_spurious_loss(now);
    }

    fn on_recovered(&mut self, now: Time) {
        self.note(Call::Recovered(now));
        self.inner.on_recovered(now);
    }

    fn on_wake(&mut self, now: Time) {
        self.note(Call::Wake(now));
        self.inner.on_wake(now);
    }

    fn on_frame(&mut self, event: &Frame) {
        self.note(Call::Frame(*event));
        self.inner.on_frame(event);
    }

    /// The transport calls this right after `on_sent`, with the same event.
    fn message(&mut self, event: &Sent) -> Message {
        self.note(Call::Message);
        self.inner.message(event)
    }

    fn control(&self) -> Control {
        let control = self.inner.control();
        let mut tape = open(&self.tape);
        tape.calls.push(Call::Control);
        tape.last_control = Some(control);
        control
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.inner.fields(sink);
    }
}

/// Controller that does nothing. Its replay measures the cost of replaying.
#[derive(Debug)]
pub(crate) struct Idle;

impl Controller for Idle {
    fn on_ack(&mut self, event: &Ack<'_>) {
        black_box(event.packets.last());
    }

    fn control(&self) -> Control {
        Control::window(u64::MAX)
    }

    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

/// Call of a receiver half.
#[derive(Clone, Copy, Debug)]
enum HalfCall {
    Packet(Arrived),
    Feedback(Time),
}

impl HalfCall {
    /// Makes this call of `half`, then reads its timer, as the transport does.
    fn tell(&self, half: &mut dyn ReceiverHalf, feedback: &mut Vec<u8>) {
        match self {
            Self::Packet(event) => half.on_packet(event),
            Self::Feedback(now) => {
                feedback.clear();
                half.write_feedback(*now, feedback);
                black_box((&feedback, half.padding_bytes()));
            }
        }
        black_box(half.next_timer());
    }
}

/// All calls of one receiver half, in order.
#[derive(Debug, Default)]
pub(crate) struct HalfTape {
    calls: Vec<HalfCall>,
}

/// Value for packets and for feedback, such as a duration or a count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PerCall<T> {
    pub(crate) packets: T,
    pub(crate) feedback: T,
}

impl HalfTape {
    pub(crate) fn counts(&self) -> PerCall<usize> {
        let packets = self.calls.iter().filter(|call| matches!(call, HalfCall::Packet(_))).count();
        PerCall { packets, feedback: self.calls.len() - packets }
    }

    /// Replays all calls with `half`. The clock is only read between packets and feedback.
    pub(crate) fn replay(&self, half: &mut dyn ReceiverHalf) -> PerCall<Duration> {
        let (mut spent, mut feedback) = (PerCall::<Duration>::default(), Vec::with_capacity(4096));
        let is_packet = |call: &HalfCall| matches!(call, HalfCall::Packet(_));
        for calls in self.calls.chunk_by(|one, next| is_packet(one) == is_packet(next)) {
            let start = now();
            for call in calls {
                call.tell(half, &mut feedback);
            }
            let spent = if is_packet(&calls[0]) { &mut spent.packets } else { &mut spent.feedback };
            *spent += start.elapsed();
        }
        spent
    }

    /// Replays all calls with `half`, and appends the duration of each call, ns.
    pub(crate) fn replay_timed(&self, half: &mut dyn ReceiverHalf, times: &mut Vec<u64>) {
        let mut feedback = Vec::with_capacity(4096);
        times.reserve(self.calls.len());
        let mut last = now();
        for call in &self.calls {
            call.tell(half, &mut feedback);
            last = note(last, times);
        }
    }
}

/// Receiver half that records each call before it forwards the call.
#[derive(Debug)]
pub(crate) struct RecordingHalf {
    inner: Box<dyn ReceiverHalf>,
    tape: Shared<HalfTape>,
}

impl RecordingHalf {
    pub(crate) fn new(inner: Box<dyn ReceiverHalf>, tape: &Shared<HalfTape>) -> Self {
        Self { inner, tape: Arc::clone(tape) }
    }
}

impl ReceiverHalf for RecordingHalf {
    fn on_packet(&mut self, event: &Arrived) {
        open(&self.tape).calls.push(HalfCall::Packet(*event));
        self.inner.on_packet(event);
    }

    fn next_timer(&self) -> Time {
        self.inner.next_timer()
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        open(&self.tape).calls.push(HalfCall::Feedback(now));
        self.inner.write_feedback(now, feedback);
    }

    fn padding_bytes(&self) -> u32 {
        self.inner.padding_bytes()
    }
}

/// Receiver half that does nothing.
#[derive(Debug)]
pub(crate) struct IdleHalf;

impl ReceiverHalf for IdleHalf {
    fn on_packet(&mut self, event: &Arrived) {
        black_box(event.number);
    }

    fn next_timer(&self) -> Time {
        Time::NEVER
    }

    fn write_feedback(&mut self, _now: Time, _feedback: &mut Vec<u8>) {}
}
