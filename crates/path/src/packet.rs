//! Packets that travel through a path.

use units::Time;

/// ECN bits of a packet. A number rather than an enum: without forbidden values an `Option<Packet>` keeps its
/// discriminant outside of the packet, and packets are copied in one go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecn(u8);

impl Ecn {
    /// Not ECN-capable: congestion is signalled by dropping.
    pub const NOT_ECT: Self = Self(0b00);
    /// ECN-capable, L4S (RFC 9331).
    pub const ECT1: Self = Self(0b01);
    /// ECN-capable, classic (RFC 3168).
    pub const ECT0: Self = Self(0b10);
    /// Congestion experienced.
    pub const CE: Self = Self(0b11);

    /// Returns the two bits, as in an IP header.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns true if an AQM may mark the packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        self.0 != Self::NOT_ECT.0
    }
}

/// Packet (or fragment of a datagram) inside a path. The path never reads the contents: `token` is the driver's handle
/// to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Flow of the packet.
    pub flow: u32,
    /// Size on the path, bytes: IP datagram plus the path's per-packet overhead.
    pub size_bytes: u32,
    /// Packet number within its flow and direction; the `seq` of the packet log.
    pub number: u64,
    /// Driver's handle to the contents.
    pub token: u32,
    /// ECN bits.
    pub ecn: Ecn,
    /// Position among the fragments of one datagram, from 0.
    pub fragment: u8,
    /// Number of fragments of the datagram; 1 for a whole one. Two bytes, so that no byte of the packet is padding:
    /// padding would split every copy into overlapping pieces, each of which waits for the previous piece.
    pub fragments: u16,
    /// Time at which the packet entered the path.
    pub entered: Time,
    /// Time at which the packet entered its current queue (set by queues, read by AQMs).
    pub queued: Time,
}

impl Packet {
    /// Returns a whole datagram that enters the path at `now`.
    pub const fn new(flow: u32, number: u64, size_bytes: u32, token: u32, now: Time) -> Self {
        Self {
            flow,
            size_bytes,
            number,
            token,
            ecn: Ecn::NOT_ECT,
            fragment: 0,
            fragments: 1,
            entered: now,
            queued: now,
        }
    }
}
