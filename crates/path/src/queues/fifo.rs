//! Common parts of the disciplines: a byte-counting FIFO and the size limits.

use super::settings::whole;
use crate::{Ecn, Packet, PacketEvent, Tap};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::Time;

/// Packets in order of arrival, with their bytes counted. The memory grows to the largest backlog seen and stays.
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

    /// Returns the packet that has waited longest.
    #[inline]
    pub(super) fn first(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Returns the packet at this place; 0 is the packet that has waited longest.
    pub(super) fn get(&self, index: usize) -> Option<&Packet> {
        self.packets.get(index)
    }

    /// Removes and returns the packet at this place.
    pub(super) fn remove(&mut self, index: usize) -> Option<Packet> {
        let packet = self.packets.remove(index)?;
        self.bytes -= u64::from(packet.size_bytes);
        Some(packet)
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
    /// Returns checked limits: at least 1, or no limit if absent.
    pub(super) fn new(packets: Option<u64>, bytes: Option<u64>) -> Result<Self, Refusal> {
        let limit = |name, limit: Option<u64>| limit.map_or(Ok(u64::MAX), |limit| whole(name, limit as f64));
        Ok(Self { packets: limit("packets", packets)?, bytes: limit("bytes", bytes)? })
    }

    /// Returns checked limits of which at least one is present.
    pub(super) fn at_least_one(packets: Option<u64>, bytes: Option<u64>) -> Result<Self, Refusal> {
        let limits = Self::new(packets, bytes)?;
        if packets.or(bytes).is_none() {
            return Err(Refusal::new(
                "`packets` or `bytes` is missing: allowed is a whole number, at least 1",
            ));
        }
        Ok(limits)
    }

    /// Returns the limits in packets and bytes; `u64::MAX` for no limit.
    pub(super) fn most(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    /// Returns true if another packet of `size_bytes` still fits.
    #[inline]
    pub(super) fn admit(&self, fifo: &Fifo, size_bytes: u32) -> bool {
        fifo.packets() < self.packets && fifo.bytes() + u64::from(size_bytes) <= self.bytes
    }

    /// Returns true if a backlog is over a limit.
    #[inline]
    pub(super) fn exceeded(&self, packets: u64, bytes: u64) -> bool {
        packets > self.packets || bytes > self.bytes
    }

    /// Changes the limit called `name`. A lower limit takes effect on the next arrival.
    pub(super) fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        match name {
            "packets" => self.packets = whole(name, value)?,
            _ => self.bytes = whole(name, value)?,
        }
        Ok(())
    }
}

/// Sets CE in `packet` and reports it as marked.
pub(super) fn mark<T: Tap>(now: Time, packet: &mut Packet, tap: &mut T) {
    packet.ecn = Ecn::CE;
    tap.packet(now, PacketEvent::Marked, packet);
}
