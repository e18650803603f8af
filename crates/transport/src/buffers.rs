//! Socket buffers: what an application may write ahead, and what the receiver says it can keep.
//!
//! Fixed ones count payload. Linux's count memory and grow with the connection, up to the bounds `tcp_wmem` and `tcp_rmem`
//! (Linux v5.15, `net/ipv4/tcp_input.c`: `tcp_sndbuf_expand`, `tcp_rcv_space_adjust`; `include/net/sock.h`:
//! `sk_stream_memory_free`, `sk_stream_min_wspace`; `Documentation/networking/ip-sysctl.rst`). A packet occupies its
//! `truesize`, so 4 MiB hold 1,821 packets of 1448 bytes where each is a buffer of 2048 bytes and 256 of description.
//!
//! The receiver's window is worked out at the sender, from what ACKs say has arrived: the application reads at once, what
//! waits behind a hole occupies memory (`tcp_space`), and both ends see the same progress. Not modelled: `rcv_ssthresh`,
//! which grows by two segments with each that arrives.

use crate::config::Config;
use units::{Span, Time};

/// Largest payload that a connection without options may have: Linux reserves memory for no less (`mss_clamp`).
const LEAST_CLAMP_BYTES: u64 = 1460;
/// Segments of the window are counted this many times (`tcp_sndbuf_expand`; BBR asks for 3).
const WINDOWS: u64 = 2;
/// Segments reserved for at least (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// Memory besides the payload of a packet that is a buffer of its own: headers and what describes the data at its end
/// (`MAX_TCP_HEADER`, `struct skb_shared_info`); together they are rounded up to a power of two.
const AROUND_BYTES: u64 = 256 + 320;
/// Memory of a packet's description (`struct sk_buff`).
const DESCRIPTION_BYTES: u64 = 256;
/// With segmentation offload payload lies in pages, and 45 packets share a head and a description of 1280 bytes.
const OFFLOAD_SHARE_BYTES: u64 = 1280 / 45 + 1;
/// Part of the receive buffer that is announced (`tcp_adv_win_scale` = 1: the rest is for descriptions).
const ANNOUNCED: u64 = 2;

/// What the sending socket holds until it is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SendBuffer {
    /// Applications write when something may be sent.
    None,
    /// So many payload bytes.
    Fixed(u64),
    /// Linux's.
    Linux(LinuxSendBuffer),
}

/// Linux's buffer of a sending socket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinuxSendBuffer {
    /// Memory that it may occupy (`sk_sndbuf`).
    bytes: u64,
    most_bytes: u64,
    payload_bytes: u64,
    truesize_bytes: u64,
}

/// Return the memory of a packet that is a buffer of its own (`SKB_TRUESIZE`).
const fn alone_bytes(payload_bytes: u64) -> u64 {
    (payload_bytes + AROUND_BYTES).next_power_of_two() + DESCRIPTION_BYTES
}

/// Return the memory that a full packet of `config` occupies in a socket.
const fn truesize_bytes(config: &Config) -> u64 {
    let payload = config.payload_bytes as u64;
    if config.skb_truesize_bytes > 0 {
        config.skb_truesize_bytes
    } else if config.burst_ms > 0.0 {
        payload + OFFLOAD_SHARE_BYTES
    } else {
        alone_bytes(payload)
    }
}

impl LinuxSendBuffer {
    /// The window is `window_bytes`: memory for twice as many segments is allowed (`tcp_sndbuf_expand`).
    fn expand(&mut self, window_bytes: u64) {
        let segments = (window_bytes / self.payload_bytes).max(LEAST_SEGMENTS);
        let per_segment = alone_bytes(self.payload_bytes.max(LEAST_CLAMP_BYTES));
        let wanted = segments.saturating_mul(WINDOWS * per_segment);
        self.bytes = self.bytes.max(wanted.min(self.most_bytes));
    }

    /// Return how many payload bytes fit: a packet may be written as long as the others take less than all memory.
    const fn capacity_bytes(&self) -> u64 {
        self.bytes.div_ceil(self.truesize_bytes) * self.payload_bytes
    }
}

impl SendBuffer {
    pub(crate) fn new(config: &Config) -> Self {
        let [_, first_bytes, most_bytes] = config.tcp_wmem;
        if most_bytes > 0 {
            let mut buffer = LinuxSendBuffer {
                bytes: first_bytes,
                most_bytes,
                payload_bytes: u64::from(config.payload_bytes),
                truesize_bytes: truesize_bytes(config),
            };
            buffer.expand(0);
            return Self::Linux(buffer);
        }
        if config.send_buffer_bytes > 0 { Self::Fixed(config.send_buffer_bytes) } else { Self::None }
    }

    /// Return the stream byte up to which the socket takes data at first.
    pub(crate) fn first_room(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Fixed(bytes) => Some(*bytes),
            Self::Linux(buffer) => Some(buffer.capacity_bytes()),
        }
    }

    /// The receiver has the first `complete` bytes in order. Return the stream byte up to which the socket takes data now;
    /// `accepted` of `room` bytes are written, the window is `window_bytes`, `in_flight_bytes` of it used.
    ///
    /// Linux wakes an application that found the buffer full when a third of it is free, and enlarges the buffer unless
    /// the window is full.
    pub(crate) fn room(
        &mut self,
        complete: u64,
        room: u64,
        accepted: u64,
        window_bytes: u64,
        in_flight_bytes: u64,
    ) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Fixed(bytes) => Some(complete + *bytes),
            Self::Linux(buffer) => {
                if in_flight_bytes < window_bytes {
                    buffer.expand(window_bytes);
                }
                let capacity = buffer.capacity_bytes();
                let held = accepted.saturating_sub(complete);
                let is_asleep = accepted >= room && capacity.saturating_sub(held) < held / 2;
                (!is_asleep).then_some(complete + capacity)
            }
        }
    }
}

/// What the receiver can keep above the first byte that is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReceiveWindow {
    /// Any number of bytes.
    Unlimited,
    /// So many bytes.
    Fixed(u64),
    /// Linux's, which grows.
    Linux(LinuxReceiveWindow),
}

/// Linux's receive window: dynamic right-sizing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinuxReceiveWindow {
    /// Memory that the socket may occupy (`sk_rcvbuf`).
    bytes: u64,
    most_bytes: u64,
    segment_bytes: u64,
    truesize_bytes: u64,
    /// The stream byte up to which data were allowed, which is never taken back (`tcp_select_window`).
    edge: u64,
    /// Bytes that the application read in the best round trip so far (`rcvq_space.space`).
    space: u64,
    /// First byte of the present round trip (`rcvq_space.seq`), and when it began.
    from: u64,
    since: Time,
}

impl LinuxReceiveWindow {
    /// The application has read up to `complete` (`tcp_rcv_space_adjust`).
    fn adjust(&mut self, now: Time, complete: u64, rtt: Span) {
        if now.since(self.since) < rtt {
            return;
        }
        let copied = complete - self.from;
        if copied > self.space {
            let window = 2 * copied + 16 * self.segment_bytes;
            let growth = window.saturating_mul(copied - self.space) / self.space;
            let wanted = (window + 2 * growth) * ANNOUNCED;
            self.bytes = self.bytes.max(wanted.min(self.most_bytes));
            self.space = copied;
        }
        (self.from, self.since) = (complete, now);
    }

    /// The stream has arrived up to `complete`, and `waiting_bytes` behind the hole there (`tcp_select_window`).
    fn announce(&mut self, complete: u64, waiting_bytes: u64) {
        let occupied = waiting_bytes.div_ceil(self.segment_bytes) * self.truesize_bytes;
        self.edge = self.edge.max(complete + self.bytes.saturating_sub(occupied) / ANNOUNCED);
    }
}

impl ReceiveWindow {
    pub(crate) fn new(config: &Config) -> Self {
        let [_, bytes, most_bytes] = config.tcp_rmem;
        if most_bytes > 0 {
            let segment_bytes = u64::from(config.payload_bytes);
            return Self::Linux(LinuxReceiveWindow {
                bytes,
                most_bytes,
                segment_bytes,
                truesize_bytes: truesize_bytes(config),
                edge: bytes / ANNOUNCED,
                space: LEAST_SEGMENTS * segment_bytes,
                from: 0,
                since: Time::ZERO,
            });
        }
        if config.receive_window_bytes > 0 {
            Self::Fixed(config.receive_window_bytes)
        } else {
            Self::Unlimited
        }
    }

    /// An ACK says that the stream is complete up to `complete`, and that `waiting_bytes` have arrived above.
    pub(crate) fn on_ack(&mut self, now: Time, complete: u64, waiting_bytes: u64, rtt: Option<Span>) {
        let Self::Linux(window) = self else { return };
        if let Some(rtt) = rtt {
            window.adjust(now, complete, rtt);
        }
        window.announce(complete, waiting_bytes);
    }

    /// Return the stream byte up to which may be sent; the first one missing is `complete`.
    pub(crate) const fn edge(&self, complete: u64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Fixed(bytes) => complete.saturating_add(*bytes),
            Self::Linux(window) => window.edge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1448;

    fn linux() -> SendBuffer {
        SendBuffer::new(&Config::linux())
    }

    /// A greedy application: it has always written up to `room`.
    fn greedy_room(buffer: &mut SendBuffer, complete: u64, room: u64, window: u64) -> u64 {
        buffer.room(complete, room, room, window, 0).unwrap_or(room)
    }

    #[test]
    fn four_mebibytes_hold_1821_packets() {
        let mut buffer = linux();
        // 10 segments, twice 2304 bytes each, in packets of 2304.
        assert_eq!(buffer.first_room(), Some(20 * SEGMENT));
        let room = greedy_room(&mut buffer, 20 * SEGMENT, 20 * SEGMENT, 100 * SEGMENT);
        assert_eq!(room, (20 + 200) * SEGMENT);
        let room = greedy_room(&mut buffer, room, room, 100_000 * SEGMENT);
        assert_eq!(room - (20 + 200) * SEGMENT, 1821 * SEGMENT);
    }

    #[test]
    fn memory_of_a_packet_follows_from_its_payload_and_from_offload() {
        assert_eq!(truesize_bytes(&Config::tcp()), 2304);
        assert_eq!(truesize_bytes(&Config { payload_bytes: 8948, ..Config::tcp() }), 16_384 + 256);
        assert_eq!(truesize_bytes(&Config::linux_offload()), 1448 + 29);
        assert_eq!(truesize_bytes(&Config { skb_truesize_bytes: 3000, ..Config::tcp() }), 3000);
    }

    #[test]
    fn a_buffer_is_not_enlarged_while_the_window_is_full() {
        let mut buffer = linux();
        let complete = 20 * SEGMENT;
        let window = 100 * SEGMENT;
        assert_eq!(buffer.room(complete, complete, complete, window, window), Some(2 * 20 * SEGMENT));
    }

    #[test]
    fn a_full_buffer_wakes_the_application_when_a_third_is_free() {
        let mut buffer = linux();
        let window = 100_000 * SEGMENT;
        let room = greedy_room(&mut buffer, 20 * SEGMENT, 20 * SEGMENT, window);
        let full = |free: u64| (20 + free) * SEGMENT;
        assert_eq!(buffer.room(full(606), room, room, window, 0), None);
        assert_eq!(buffer.room(full(607), room, room, window, 0), Some(room + 607 * SEGMENT));
        // One that has not filled it does not wait.
        assert_eq!(buffer.room(full(1), room, room - 1, window, 0), Some(room + SEGMENT));
    }

    #[test]
    fn the_receive_window_is_twice_what_was_read_in_a_round_trip_and_more_while_that_grows() {
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let rtt = Some(Span::from_ms(100));
        let mut window = ReceiveWindow::new(&Config::linux());
        let mut bytes_after = |ms: u64, segments: u64| {
            let complete = segments * SEGMENT;
            window.on_ack(at(ms), complete, 0, rtt);
            window.edge(complete) - complete
        };
        assert_eq!(bytes_after(100, 10), 65_536, "no more than the first window was read");
        assert_eq!(bytes_after(150, 40), 65_536, "the round trip is not over");
        // 40 segments: 2 * 40 + 16, and twice as much again for three times more than the 10 before.
        assert_eq!(bytes_after(200, 50), (96 + 2 * 96 * 3) * SEGMENT);
        assert_eq!(bytes_after(300, 10_000), 6_291_456 / 2);
    }

    #[test]
    fn data_behind_a_hole_occupies_the_receiver() {
        let mut window =
            ReceiveWindow::new(&Config { tcp_rmem: [0, 1_000_000, 1_000_000], ..Config::linux() });
        window.on_ack(Time::ZERO, 0, 100 * SEGMENT, None);
        assert_eq!(window.edge(0), 500_000, "what was allowed is not taken back");
        window.on_ack(Time::ZERO, 200 * SEGMENT, 100 * SEGMENT, None);
        assert_eq!(window.edge(200 * SEGMENT), 200 * SEGMENT + (1_000_000 - 100 * 2304) / 2);
        window.on_ack(Time::ZERO, 300 * SEGMENT, 0, None);
        assert_eq!(window.edge(300 * SEGMENT), 300 * SEGMENT + 500_000);
    }

    #[test]
    fn fixed_buffers_count_payload() {
        let config = Config { send_buffer_bytes: 9000, receive_window_bytes: 7000, ..Config::quic() };
        let mut buffer = SendBuffer::new(&config);
        assert_eq!((buffer.first_room(), buffer.room(500, 9000, 9000, 1, 1)), (Some(9000), Some(9500)));
        assert_eq!(ReceiveWindow::new(&config).edge(500), 7500);
        assert_eq!(SendBuffer::new(&Config::quic()).first_room(), None);
        assert_eq!(ReceiveWindow::new(&Config::quic()).edge(500), u64::MAX);
    }
}
