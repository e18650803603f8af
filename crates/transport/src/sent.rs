//! The packets a sender has sent and still cares about, by packet number.

use crate::rate::Snapshot;
use std::collections::VecDeque;
use units::Time;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    InFlight,
    Acked,
    Lost,
}

/// One transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentPacket {
    pub(crate) sent_at: Time,
    pub(crate) offset: u64,
    pub(crate) payload_bytes: u32,
    /// Of these, how many were acknowledged by ACKs for a part of the packet.
    pub(crate) acked_bytes: u32,
    pub(crate) fate: Fate,
    pub(crate) retransmission: bool,
    /// Carries no data of the application: nothing to send again.
    pub(crate) filler: bool,
    pub(crate) snapshot: Snapshot,
}

impl SentPacket {
    /// Payload bytes that are not acknowledged.
    pub(crate) const fn outstanding_bytes(&self) -> u32 {
        self.payload_bytes - self.acked_bytes
    }
}

/// A window of consecutive packet numbers; everything below `base` is settled and forgotten.
#[derive(Clone, Debug)]
pub(crate) struct SentPackets {
    packets: VecDeque<SentPacket>,
    base: u64,
    /// Every packet below is acknowledged or lost.
    first_in_flight: u64,
}

impl SentPackets {
    pub(crate) fn new() -> Self {
        Self { packets: VecDeque::with_capacity(1024), base: 0, first_in_flight: 0 }
    }

    /// Number the next packet gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.base + self.packets.len() as u64
    }

    /// Lowest number still remembered.
    pub(crate) const fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn push(&mut self, packet: SentPacket) {
        self.packets.push_back(packet);
    }

    pub(crate) fn get(&self, number: u64) -> Option<&SentPacket> {
        self.packets.get(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut SentPacket> {
        self.packets.get_mut(usize::try_from(number.checked_sub(self.base)?).ok()?)
    }

    /// Lowest number in flight, or the next number if nothing is.
    pub(crate) fn first_in_flight(&mut self) -> u64 {
        while let Some(packet) = self.get(self.first_in_flight) {
            if packet.fate == Fate::InFlight {
                break;
            }
            self.first_in_flight += 1;
        }
        self.first_in_flight
    }

    /// Forgets settled packets from the front: acknowledged ones, and lost ones sent before `lost_before`.
    pub(crate) fn forget(&mut self, lost_before: Time) {
        while let Some(packet) = self.packets.front() {
            match packet.fate {
                Fate::InFlight => break,
                Fate::Lost if packet.sent_at >= lost_before => break,
                Fate::Acked | Fate::Lost => {
                    self.packets.pop_front();
                    self.base += 1;
                }
            }
        }
        self.first_in_flight = self.first_in_flight.max(self.base);
    }
}
