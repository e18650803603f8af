//! One direction of the path with the datagrams inside it.

use path::{Direction, ElementSpec, NoTap, Packet};
use std::fmt::Write;
use units::{Span, Time};

/// IP version 4 and UDP.
const IP_UDP_BYTES: u32 = 28;

/// A direction, and what went in and came out.
pub(crate) struct Lane {
    direction: Direction,
    /// Contents by packet number; empty once delivered.
    datagrams: Vec<Vec<u8>>,
    overhead_bytes: u32,
    log: String,
    /// Packets that entered before are not logged.
    log_from: Option<Time>,
}

impl Lane {
    pub(crate) fn new(
        elements: &[ElementSpec],
        name: &str,
        seed: u64,
        overhead_bytes: u32,
    ) -> Result<Self, String> {
        let direction = Direction::build(elements, name, seed).map_err(|error| error.to_string())?;
        let log = String::from("# init timestamp: 0.000\n");
        Ok(Self { direction, datagrams: Vec::new(), overhead_bytes, log, log_from: None })
    }

    /// Time zero of the log is `now`.
    pub(crate) fn start_log(&mut self, now: Time) {
        self.log_from = Some(now);
    }

    /// When something happens inside.
    pub(crate) fn next_event(&self) -> Time {
        self.direction.next_event()
    }

    pub(crate) fn send(&mut self, now: Time, contents: Vec<u8>) {
        let size = contents.len() as u32 + IP_UDP_BYTES + self.overhead_bytes;
        let number = self.datagrams.len();
        self.datagrams.push(contents);
        if let Some(start) = self.log_from {
            let _ = writeln!(self.log, "{} + {size} 1", ms(now.since(start)));
        }
        let packet = Packet::new(1, number as u64, size, number as u32, now);
        self.direction.arrive(now, packet, &mut NoTap);
    }

    /// Does what is due at or before `now`; what has left can be received.
    pub(crate) fn advance(&mut self, now: Time) {
        self.direction.advance(now, &mut NoTap);
    }

    /// The next datagram that has left.
    pub(crate) fn receive(&mut self, now: Time) -> Option<Vec<u8>> {
        let packet = self.direction.pop()?;
        if let Some(start) = self.log_from.filter(|&start| packet.entered >= start) {
            let (at, delay) = (ms(now.since(start)), ms(now.since(packet.entered)));
            let _ = writeln!(self.log, "{at} - {} {delay} 1", packet.size_bytes);
        }
        Some(std::mem::take(&mut self.datagrams[packet.token as usize]))
    }

    pub(crate) fn into_log(self) -> String {
        self.log
    }
}

/// Milliseconds with the three decimals of the log's format.
fn ms(span: Span) -> String {
    let us = span.as_ns() / 1000;
    format!("{}.{:03}", us / 1000, us % 1000)
}
