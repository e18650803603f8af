//! Small closed loop of one sender and one receiver: 100 Mbit/s, 40 ms, a droptail queue of one bandwidth-delay
//! product, and a little random loss.

use std::collections::VecDeque;
use transport::{AckFrame, Data, EcnCounts, Receiver, Sender};
use units::{Rate, Rng, Span, Time};

const RATE: Rate = Rate::from_bps(100_000_000);
const ONE_WAY: Span = Span::from_ms(20);
const QUEUE_BYTES: u64 = 500_000;
const LOSS: f64 = 1e-4;
const SEED: u64 = 1;

/// Packets in flight between the two ends.
struct Path {
    link_free_at: Time,
    loss: Rng,
    data: VecDeque<(Time, Data)>,
    acks: VecDeque<(Time, AckFrame)>,
}

impl Path {
    fn carry(&mut self, now: Time, data: Data) {
        let free_at = self.link_free_at.max(now);
        let bytes = u64::from(data.datagram_bytes);
        if RATE.bytes_in(free_at - now) + bytes > QUEUE_BYTES {
            return;
        }
        self.link_free_at = free_at + RATE.time_for(bytes);
        if !self.loss.chance(LOSS) {
            self.data.push_back((self.link_free_at + ONE_WAY, data));
        }
    }
}

/// Result of the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) payload_bytes: u64,
}

/// Runs both ends until `end`.
pub(crate) fn run(sender: &mut Sender, receiver: &mut Receiver, end: Time) -> Outcome {
    let mut path = Path {
        link_free_at: Time::ZERO,
        loss: Rng::new(SEED, "loss"),
        data: VecDeque::new(),
        acks: VecDeque::new(),
    };
    let mut now = Time::ZERO;
    let mut spare = Data::default();
    loop {
        let data_at = path.data.front().map_or(Time::NEVER, |(at, _)| *at);
        let ack_at = path.acks.front().map_or(Time::NEVER, |(at, _)| *at);
        let next = data_at.min(ack_at).min(sender.next_timer()).min(receiver.next_timer());
        if next >= end {
            return Outcome { payload_bytes: receiver.stats().new_bytes };
        }
        now = now.max(next);
        if data_at <= now {
            if let Some((_, data)) = path.data.pop_front() {
                receiver.on_data(now, &data, EcnCounts::default());
            }
        } else if ack_at <= now {
            if let Some((_, frame)) = path.acks.pop_front() {
                sender.on_ack(now, &frame);
            }
        } else {
            sender.on_timer(now);
        }
        while receiver.take_frame().is_some() {}
        let mut frame = AckFrame::default();
        while receiver.poll_ack(now, &mut frame) {
            path.acks.push_back((now + ONE_WAY, std::mem::take(&mut frame)));
        }
        while sender.poll_transmit(now, &mut spare) {
            path.carry(now, spare);
        }
    }
}
