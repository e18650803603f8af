//! What every discipline is made of: a byte-counting FIFO, the size limits, and the checks of numeric parameters.

use crate::{Ecn, Packet, PacketEvent, Tap};
use std::collections::VecDeque;
use units::{Span, Time};

/// Packets in order of arrival, with their bytes counted. Its memory grows to the largest backlog seen and stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl Fifo {
    #[inline]
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.size_bytes);
        self.packets.push_back(packet);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size_bytes);
        Some(packet)
    }

    /// The packet that has waited longest.
    #[inline]
    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    #[inline]
    pub(super) fn packets(&self) -> u64 {
        self.packets.len() as u64
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}

/// Size limits; a backlog equal to a limit is within it. `u64::MAX` stands for "no limit".
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    packets: u64,
    bytes: u64,
}

impl Limits {
    pub(super) fn new(packets: Option<u64>, bytes: Option<u64>) -> Self {
        Self { packets: packets.unwrap_or(u64::MAX), bytes: bytes.unwrap_or(u64::MAX) }
    }

    /// Whether a packet of `size_bytes` more still fits.
    #[inline]
    pub(super) fn admit(&self, fifo: &Fifo, size_bytes: u32) -> bool {
        fifo.packets() < self.packets && fifo.bytes() + u64::from(size_bytes) <= self.bytes
    }

    /// Whether a backlog is over a limit.
    #[inline]
    pub(super) fn exceeded(&self, packets: u64, bytes: u64) -> bool {
        packets > self.packets || bytes > self.bytes
    }

    /// Changes the limit called `name`. A lower limit takes effect on the next arrival.
    pub(super) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        match name {
            "packets" => self.packets = whole(name, value)?,
            _ => self.bytes = whole(name, value)?,
        }
        Ok(())
    }
}

/// Sets CE and reports it.
pub(super) fn mark<T: Tap>(now: Time, packet: &mut Packet, tap: &mut T) {
    packet.ecn = Ecn::CE;
    tap.packet(now, PacketEvent::Marked, packet);
}

/// The error for `name = value` when `allowed` is what may stand there.
pub(super) fn refuse(name: &str, value: f64, allowed: &str) -> String {
    format!("`{name}` = {value}: allowed is {allowed}")
}

/// Largest number of milliseconds a parameter takes: one hour.
const LONGEST_MS: f64 = 3_600_000.0;

/// A length of time above zero, in ms.
pub(super) fn milliseconds(name: &str, value: f64) -> Result<Span, String> {
    if value > 0.0 && value <= LONGEST_MS {
        return Ok(Span::from_secs_f64(value / 1e3));
    }
    Err(refuse(name, value, "a number of ms above 0, at most 3600000"))
}

/// A length of time, zero included, in ms.
pub(super) fn milliseconds_or_zero(name: &str, value: f64) -> Result<Span, String> {
    if (0.0..=LONGEST_MS).contains(&value) {
        return Ok(Span::from_secs_f64(value / 1e3));
    }
    Err(refuse(name, value, "a number of ms from 0 to 3600000"))
}

/// Refuses fractions of a millisecond: Mahimahi's clock has none.
pub(super) fn whole_milliseconds(name: &str, value: f64) -> Result<(), String> {
    if value.fract() == 0.0 {
        return Ok(());
    }
    Err(refuse(name, value, "whole ms with `quirk` = mahimahi"))
}

/// A whole number from 1 to 2^53.
pub(super) fn whole(name: &str, value: f64) -> Result<u64, String> {
    if value >= 1.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 {
        return Ok(value as u64);
    }
    Err(refuse(name, value, "a whole number, at least 1"))
}

/// A number above 0, at most 1.
pub(super) fn fraction(name: &str, value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(refuse(name, value, "a number above 0, at most 1"))
}

/// The error for a parameter that does not exist or cannot change during a run.
pub(super) fn unknown(name: &str, allowed: &str) -> String {
    format!("`{name}` cannot be changed; allowed is {allowed}")
}
