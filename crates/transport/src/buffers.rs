//! Socket buffers: limits on the data that an application writes ahead and that a receiver keeps.
//!
//! A fixed buffer counts payload. Linux's buffers count memory and grow with the connection, up to the bounds
//! `tcp_wmem` and `tcp_rmem` (Linux v5.15, `net/ipv4/tcp_input.c`: `tcp_sndbuf_expand`, `tcp_rcv_space_adjust`;
//! `include/net/sock.h`: `sk_stream_memory_free`, `sk_stream_min_wspace`; `Documentation/networking/ip-sysctl.rst`). A
//! packet occupies its `truesize`. So 4 MiB hold 1,821 packets of 1448 bytes if each packet has a buffer of 2048 bytes
//! and a description of 256 bytes.
//!
//! The sender computes the receiver's window from the arrivals that ACKs report. The application reads at once. Data
//! above a hole occupy memory (`tcp_space`). Both ends see the same progress. Not modelled: `rcv_ssthresh`, which grows
//! by two segments with each segment that arrives.

use crate::config::Config;
use units::{Span, Time};

/// Smallest payload per segment for which Linux reserves memory (`mss_clamp`): a segment of a connection without
/// options.
const LEAST_CLAMP_BYTES: u64 = 1460;
/// Memory reserved for the window, as a multiple of its segments (`tcp_sndbuf_expand`; BBR asks for 3).
const WINDOWS: u64 = 2;
/// Smallest number of segments that memory is reserved for (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// Memory of a packet with its own buffer besides the payload: headers and the data's description at the end of the
/// buffer (`MAX_TCP_HEADER`, `struct skb_shared_info`). Payload and this memory are rounded up to a power of two
/// together.
const AROUND_BYTES: u64 = 256 + 320;
/// Memory of a packet's description (`struct sk_buff`).
const DESCRIPTION_BYTES: u64 = 256;
/// Memory per packet with segmentation offload: payload lies in pages, and 45 packets share a head and a description of
/// 1280 bytes.
const OFFLOAD_SHARE_BYTES: u64 = 1280 / 45 + 1;
/// Divisor of the receive buffer that gives the announced window (`tcp_adv_win_scale` = 1: the rest is for
/// descriptions).
const ANNOUNCED: u64 = 2;

/// Sending socket's buffer: keeps data until they are acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SendBuffer {
    /// Applications write when something may be sent.
    None,
    /// Fixed number of payload bytes.
    Fixed(u64),
    /// Linux's buffer, which grows.
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

/// Returns the memory of a packet with its own buffer (`SKB_TRUESIZE`).
const fn alone_bytes(payload_bytes: u64) -> u64 {
    (payload_bytes + AROUND_BYTES).next_power_of_two() + DESCRIPTION_BYTES
}

/// Returns the memory that a full packet of `config` occupies in a socket.
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
    /// Enlarges the buffer for a window of `window_bytes`: memory for twice as many segments is allowed
    /// (`tcp_sndbuf_expand`).
    fn expand(&mut self, window_bytes: u64) {
        let segments = (window_bytes / self.payload_bytes).max(LEAST_SEGMENTS);
        let per_segment = alone_bytes(self.payload_bytes.max(LEAST_CLAMP_BYTES));
        let needed_bytes = segments.saturating_mul(WINDOWS * per_segment);
        self.bytes = self.bytes.max(needed_bytes.min(self.most_bytes));
    }

    /// Returns the payload bytes that fit. A packet may be written while the other packets take less than all memory.
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

    /// Returns the stream byte up to which the socket takes data at first.
    pub(crate) fn first_room(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Fixed(bytes) => Some(*bytes),
            Self::Linux(buffer) => Some(buffer.capacity_bytes()),
        }
    }

    /// Returns the stream byte up to which the socket takes data after the receiver got the first `complete` bytes in
    /// order. The application has written `accepted` of `room` bytes. The window is `window_bytes`, of which
    /// `in_flight_bytes` are used.
    ///
    /// Linux wakes an application that found the buffer full when a third of the buffer is free. Linux enlarges the
    /// buffer unless the window is full.
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
                let held_bytes = accepted.saturating_sub(complete);
                let is_asleep = accepted >= room && capacity.saturating_sub(held_bytes) < held_bytes / 2;
                (!is_asleep).then_some(complete + capacity)
            }
        }
    }
}

/// Data that the receiver can keep above the first missing byte.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReceiveWindow {
    /// Any number of bytes.
    Unlimited,
    /// Fixed number of bytes.
    Fixed(u64),
    /// Linux's window, which grows.
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
    /// Stream byte up to which data are allowed; never decreases (`tcp_select_window`).
    edge: u64,
    /// Bytes that the application read in the best round trip so far (`rcvq_space.space`).
    space: u64,
    /// First byte of the current round trip (`rcvq_space.seq`), and its start time.
    from: u64,
    since: Time,
}

impl LinuxReceiveWindow {
    /// Enlarges the window after the application read up to `complete` (`tcp_rcv_space_adjust`).
    fn adjust(&mut self, now: Time, complete: u64, rtt: Span) {
        if now.since(self.since) < rtt {
            return;
        }
        let copied = complete - self.from;
        if copied > self.space {
            let window = 2 * copied + 16 * self.segment_bytes;
            let growth = window.saturating_mul(copied - self.space) / self.space;
            let needed_bytes = (window + 2 * growth) * ANNOUNCED;
            self.bytes = self.bytes.max(needed_bytes.min(self.most_bytes));
            self.space = copied;
        }
        (self.from, self.since) = (complete, now);
    }

    /// Announces the window after the stream arrived up to `complete`, with `waiting_bytes` above the hole there
    /// (`tcp_select_window`).
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

    /// Handles an ACK: the stream is complete up to `complete`, and `waiting_bytes` have arrived above.
    pub(crate) fn on_ack(&mut self, now: Time, complete: u64, waiting_bytes: u64, rtt: Option<Span>) {
        let Self::Linux(window) = self else { return };
        if let Some(rtt) = rtt {
            window.adjust(now, complete, rtt);
        }
        window.announce(complete, waiting_bytes);
    }

    /// Returns the stream byte up to which data may be sent; the first missing byte is `complete`.
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

    /// Room for a greedy application, which has always written up to `room`.
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
        // An application that has not filled the buffer is not made to wait.
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
        // 40 segments: 2 * 40 + 16, and twice that for each 10 segments more than the 10 before.
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
