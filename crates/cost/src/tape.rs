//! What a controller and a receiver-side half were told in a run, and the same told to fresh ones.

use crate::meter::{Meter, Spent};
use congestion::{
    Ack, AckedPacket, Arrived, Control, Controller, Ecn, FieldSink, Frame, Loss, Message, ReceiverHalf, Sent,
    Timeout,
};
use std::hint::black_box;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use units::{Span, Time};

/// Shared between the recorder inside a [`transport::Sender`] or [`transport::Receiver`] and who reads it afterwards.
pub type Shared<T> = Arc<Mutex<T>>;

/// The value behind `shared`.
pub fn open<T>(shared: &Shared<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One call of a controller; its argument is the next one of its kind on the [`Tape`].
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

/// An event and how many packets and bytes of feedback of the tape belong to it.
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

    /// What the recorded controller allowed in the end.
    pub(crate) const fn last_control(&self) -> Option<Control> {
        self.last_control
    }

    /// Makes every recorded call of `controller`, and says what that took.
    pub(crate) fn replay(&self, controller: &mut dyn Controller, meter: &mut Meter) -> Spent {
        meter.of(|| self.tell(controller, || ()))
    }

    /// Makes every recorded call of `controller`, and appends how long each took, ns.
    pub(crate) fn replay_timed(&self, controller: &mut dyn Controller, times: &mut Vec<u64>) {
        times.reserve(self.calls.len());
        let mut last = now();
        self.tell(controller, || last = note(last, times));
    }

    /// Makes every recorded call of `controller`; `told` is called after each.
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

/// Appends the time since `last`, ns, and says when that was.
fn note(last: Instant, times: &mut Vec<u64>) -> Instant {
    let at = now();
    times.push((at - last).as_nanos() as u64);
    at
}

/// Cuts the first `count` items off `rest`.
fn take<'a, T>(rest: &mut &'a [T], count: usize) -> &'a [T] {
    let (first, others) = rest.split_at(count);
    *rest = others;
    first
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

/// A controller that writes down what it is told before it passes it on.
#[derive(Debug)]
pub struct Recording {
    inner: Box<dyn Controller>,
    tape: Shared<Tape>,
}

impl Recording {
    /// One that passes everything on to `inner`.
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

    /// The transport asks for it right after `on_sent`, with the same event.
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

/// A controller that does nothing: its replay is what replaying itself costs.
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

/// One call of a receiver-side half.
#[derive(Clone, Copy, Debug)]
enum HalfCall {
    Packet(Arrived),
    Feedback(Time),
}

impl HalfCall {
    /// Makes the call of `half`, followed by the question for its timer, as the transport does.
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

/// All calls of one receiver-side half, in order.
#[derive(Debug, Default)]
pub(crate) struct HalfTape {
    calls: Vec<HalfCall>,
}

/// Time a half took for packets and for feedback, or how many there were.
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

    /// Makes every recorded call of `half`. The clock is read only where packets and feedback take turns.
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

    /// Makes every recorded call of `half`, and appends how long each took, ns.
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

/// A receiver-side half that writes down what it is told before it passes it on.
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

/// A receiver-side half that does nothing.
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
