//! Sprout: the receiver forecasts the link's deliveries, and the sender fills the next 100 ms of them.
//!
//! Source: Winstein, Sivaraman and Balakrishnan, NSDI 2013, as in its program `sproutbt2`, which Pantheon ran
//! (keithw/sprout@366e35c, with StanfordSNR/pantheon@23e738c, `src/wrappers/patches/sprout.patch`). Read the link's
//! model (`model.rs`), forecasts (`forecast.rs`), the arriving and the leaving direction (`inbound.rs`, `outbound.rs`),
//! one end (`peer.rs`), and the wire format (`wire.rs`). The data's sender is in this file, its receiver in
//! `receiver.rs`.
//!
//! Both ends are equal, except that the program's receiver sends no data since 2013 (`src/examples/sproutbt2.cc`): a
//! heartbeat every 20 ms has its forecast. With `feedback_only` off, as in the paper, the receiver fills the return
//! path with its own flow, whose packets are the ACKs. The sender forecasts the return path in either case. Clocks
//! count whole milliseconds.
//!
//! Deviations from the program:
//!
//! - The last packet of a flight, which is shorter than the others, is sent as filler.
//! - If the application cuts a flight short, a heartbeat ends it 10 ms later.
//! - Forecasts of data packets travel in the header, whose size is constant.
//! - Silences longer than 10 s are evaluated as 10 s.
//!
//! Expected (`docs/evidence/derivations.md`, Sprout): at most about 121 kB per RTT and tick: 33 Mbit/s at an RTT of 10
//! ms, 9.4 at 80 ms. Below this ceiling the one-way delay is 40 to 60 ms above the path's at the 95th percentile. Loss
//! only makes the link look slower.

mod forecast;
mod inbound;
mod model;
mod outbound;
mod peer;
mod receiver;
#[cfg(test)]
mod tests;
mod wire;

use crate::{
    Ack, Build, Control, Controller, Entry, FieldSink, Loss, Message, Parameter, Parameters, Sent, Start,
    Timeout,
};
use peer::{End, Peer, ms};
use units::Time;
use wire::Header;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "sprout",
    summary: "Sprout (NSDI 2013, sproutbt2): fills what a forecast at 95 % confidence promises for the next 100 ms",
    parameters: &[
        Parameter::number("confidence", "", 0.95, (0.05, 0.999), "Probability that a forecast is kept."),
        Parameter::integer(
            "lookahead",
            "ticks of 20 ms",
            5,
            (1, 7),
            "Time within which the queue is to drain.",
        ),
        Parameter::number(
            "sigma",
            "packets/s per sqrt(s)",
            200.0,
            (20.0, 1000.0),
            "How fast the link's rate wanders in the model.",
        ),
        Parameter::number(
            "outage_escape",
            "1/s",
            1.0,
            (0.01, 50.0),
            "Rate at which outages end in the model.",
        ),
        Parameter::integer("heartbeat_ms", "ms", 50, (20, 1000), "Time from a packet to the next heartbeat."),
        Parameter::integer("reorder_ms", "ms", 10, (0, 1000), "Packets overtaken for longer are lost."),
        Parameter::flag(
            "feedback_only",
            true,
            "The receiver sends a forecast every 20 ms and no data; off: it fills the return path with a flow of its own.",
        ),
    ],
    receiver: Some(|parameters, start| Ok(Box::new(receiver::Receiver::new(parameters, start)))),
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Sprout::new(parameters, start))),
};

/// Sender of the data.
#[derive(Debug)]
struct Sprout {
    peer: Peer,
    packet_bytes: u64,
    in_flight_bytes: u64,
    /// Header of the packet sent last.
    header: Header,
}

impl Sprout {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            peer: Peer::new(parameters, start, ms(start.now), End::Sender),
            packet_bytes: u64::from(start.mss_bytes.max(1)),
            in_flight_bytes: 0,
            header: Header::default(),
        }
    }
}

impl Controller for Sprout {
    fn on_sent(&mut self, event: &Sent) {
        self.in_flight_bytes = event.in_flight_bytes;
        self.header = self.peer.send(ms(event.now), event.bytes);
    }

    fn message(&mut self, _event: &Sent) -> Message {
        self.header.to_message()
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.in_flight_bytes = ack.in_flight_bytes;
        if let Some(header) = Header::read(ack.feedback) {
            self.peer.on_packet(ms(ack.now), &header);
            self.peer.look(ack.now);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.in_flight_bytes = loss.in_flight_bytes;
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.in_flight_bytes = 0;
    }

    fn on_wake(&mut self, now: Time) {
        self.peer.look(now);
    }

    fn control(&self) -> Control {
        let credit = self.peer.credit();
        let filler_bytes = if (1..self.packet_bytes).contains(&credit) {
            Some(credit as u32)
        } else {
            self.peer.heartbeat_is_due().then_some(0)
        };
        Control {
            wake_at: self.peer.wake_at(),
            filler_bytes,
            ..Control::window((self.in_flight_bytes + credit).max(1))
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("forecast", "packets", f64::from(self.peer.outbound.promised()));
        sink.put("queue_estimate", "bytes", self.peer.outbound.queue_bytes() as f64);
        sink.put("credit", "bytes", self.peer.credit() as f64);
        sink.put("return_rate", "packets/s", self.peer.inbound.posterior().mean());
        sink.put("return_outage", "", self.peer.inbound.posterior().outage());
    }
}
