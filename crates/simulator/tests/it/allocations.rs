//! Tests that learned controllers (networks, tables) allocate no memory while they run, once their lists have grown to
//! the size that a flow needs.
//!
//! A greedy flow runs over 12 Mbit/s, 60 ms and a queue of 60 packets, with random losses. Counted are only the
//! allocations in calls of the controller and of its receiver half.
#![allow(unsafe_code, reason = "an allocator that counts")]

use crate::harness::ends;
use congestion::{
    Ack, Arrived, Control, Controller, Ecn, FieldSink, Frame, Loss, Message, ParameterKind, ReceiverHalf,
    Registry, Sent, Timeout,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use transport::{AckFrame, Data, EcnCounts};
use units::{Rate, Rng, Span, Time};

const RATE: Rate = Rate::from_bps(12_000_000);
const ONE_WAY: Span = Span::from_ms(30);
const QUEUE: Span = Span::from_ms(60);
const LOSS: f64 = 0.002;
const WARM_UP: Time = Time::from_ns(20_000_000_000);
const END: Time = Time::from_ns(40_000_000_000);

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

/// System allocator that counts the requests of this thread.
struct Counting;

fn count() {
    ASKED.with(|asked| asked.set(asked.get() + 1));
}

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the conditions of this call hold.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the conditions of this call hold.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the conditions of this call hold.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Requests of controllers and halves since the last reset.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Runs `work` of a controller or its half, and counts its requests.
fn count_allocations<T>(work: impl FnOnce() -> T) -> T {
    let before = ASKED.get();
    let result = work();
    TAKEN.set(TAKEN.get() + ASKED.get() - before);
    result
}

#[derive(Debug)]
struct CountedCalls<T>(T);

impl Controller for CountedCalls<Box<dyn Controller>> {
    fn on_established(&mut self, now: Time, rtt: Span) {
        count_allocations(|| self.0.on_established(now, rtt));
    }

    fn on_sent(&mut self, event: &Sent) {
        count_allocations(|| self.0.on_sent(event));
    }

    fn on_ack(&mut self, event: &Ack<'_>) {
        count_allocations(|| self.0.on_ack(event));
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        count_allocations(|| self.0.on_loss(event));
    }

    fn on_timeout(&mut self, event: &Timeout) {
        count_allocations(|| self.0.on_timeout(event));
    }

    fn on_ecn(&mut self, event: &Ecn) {
        count_allocations(|| self.0.on_ecn(event));
    }

    fn on_wake(&mut self, now: Time) {
        count_allocations(|| self.0.on_wake(now));
    }

    fn on_frame(&mut self, event: &Frame) {
        count_allocations(|| self.0.on_frame(event));
    }

    fn message(&mut self, event: &Sent) -> Message {
        count_allocations(|| self.0.message(event))
    }

    fn control(&self) -> Control {
        count_allocations(|| self.0.control())
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.0.fields(sink);
    }
}

impl ReceiverHalf for CountedCalls<Box<dyn ReceiverHalf>> {
    fn on_packet(&mut self, event: &Arrived) {
        count_allocations(|| self.0.on_packet(event));
    }

    fn next_timer(&self) -> Time {
        self.0.next_timer()
    }

    fn write_feedback(&mut self, now: Time, feedback: &mut Vec<u8>) {
        // The frame belongs to the driver, and is a new one in this test.
        feedback.reserve(65_536);
        count_allocations(|| self.0.write_feedback(now, feedback));
    }

    fn padding_bytes(&self) -> u32 {
        self.0.padding_bytes()
    }
}

/// Returns the packets that a flow of the controller has delivered, and the controller's requests to the allocator
/// since the warm-up.
fn run(controller: &str) -> (u64, u64) {
    let (mut sender, mut receiver) = ends(
        controller,
        END,
        |controller| Box::new(CountedCalls(controller)),
        |half| Box::new(CountedCalls(half)),
    );

    let mut is_warm = false;
    let (mut data, mut acks) = (VecDeque::<(Time, Data)>::new(), VecDeque::<(Time, AckFrame)>::new());
    let (mut packet, mut frame) = (Data::default(), AckFrame::default());
    let (mut now, mut free_at, mut rng) = (Time::ZERO, Time::ZERO, Rng::new(1, "loss"));
    loop {
        let data_at = data.front().map_or(Time::NEVER, |(at, _)| *at);
        let ack_at = acks.front().map_or(Time::NEVER, |(at, _)| *at);
        now = now.max(data_at.min(ack_at).min(sender.next_timer()).min(receiver.next_timer()));
        if now >= END {
            return (receiver.stats().packets, TAKEN.get());
        }
        if now >= WARM_UP && !std::mem::replace(&mut is_warm, true) {
            TAKEN.set(0);
        }
        if data_at <= now {
            let (_, packet) = data.pop_front().expect("a packet is due");
            receiver.on_data(now, &packet, EcnCounts::default());
        } else if ack_at <= now {
            let (_, frame) = acks.pop_front().expect("an ACK is due");
            sender.on_ack(now, &frame);
        } else {
            sender.on_timer(now);
        }
        while receiver.poll_ack(now, &mut frame) {
            acks.push_back((now + ONE_WAY, std::mem::take(&mut frame)));
        }
        while sender.poll_transmit(now, &mut packet) {
            let begins = free_at.max(now);
            if begins - now <= QUEUE && !rng.chance(LOSS) {
                free_at = begins + RATE.time_for(u64::from(packet.datagram_bytes));
                data.push_back((free_at + ONE_WAY, packet));
            }
        }
    }
}

#[test]
fn the_count_sees_an_allocation() {
    let before = ASKED.get();
    let list = std::hint::black_box(vec![0_u8; 100]);
    assert_eq!((ASKED.get() - before, list.len()), (1, 100));
}

#[test]
fn learned_controllers_take_no_memory_once_they_run() {
    let registry = Registry::builtin();
    let is_learned = |parameters: &[congestion::Parameter]| {
        parameters.iter().any(|parameter| parameter.kind == ParameterKind::File && parameter.is_needed)
    };
    let learned: Vec<&str> =
        registry.iter().filter(|entry| is_learned(entry.parameters)).map(|entry| entry.name).collect();
    assert!(learned.len() >= 8, "{learned:?}");
    let mut lines = vec![];
    for name in learned {
        let (packets, taken) = run(name);
        assert!(packets > 50, "{name}: {packets} packets arrived");
        if taken > 0 {
            lines.push(format!("{name}: {taken} allocations, {packets} packets"));
        }
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
