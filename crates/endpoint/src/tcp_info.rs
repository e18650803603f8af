//! What the kernel tells of a TCP connection (`struct tcp_info` of Linux's uapi; kernels append fields, never move them).

use crate::sys;
use congestion::FieldSink;
use std::io;
use std::net::TcpStream;
use units::{Rate, Span};

/// Room for the structure and what later kernels add.
const MAX_BYTES: usize = 320;

/// Connection states after which nothing is sent any more: closed, and closing with everything acknowledged.
const DONE_STATES: [u8; 3] = [5, 6, 7];

/// The state of congestion control (`enum tcp_ca_state`), from the one that counts as an episode on.
const RECOVERY: u8 = 3;
/// A retransmission timeout happened.
const LOSS: u8 = 4;

/// No slow start threshold yet.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// A reading of `TCP_INFO`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TcpInfo {
    bytes: [u8; MAX_BYTES],
    length: usize,
}

impl TcpInfo {
    pub(crate) fn read(stream: &TcpStream) -> io::Result<Self> {
        let mut info = Self { bytes: [0; MAX_BYTES], length: 0 };
        info.length = sys::tcp_info(stream, &mut info.bytes)?;
        Ok(info)
    }

    /// The bytes of the field at `offset`; `None` if this kernel does not know it.
    fn field<const BYTES: usize>(&self, offset: usize) -> Option<[u8; BYTES]> {
        self.bytes[..self.length].get(offset..)?.first_chunk().copied()
    }

    fn u32(&self, offset: usize) -> u32 {
        self.field(offset).map_or(0, u32::from_ne_bytes)
    }

    fn u64(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(u64::from_ne_bytes)
    }

    /// Whether the connection has sent everything and got it acknowledged, or is gone.
    pub(crate) fn is_done(&self) -> bool {
        DONE_STATES.contains(&self.bytes[0])
    }

    /// Whether it is repairing a loss: fast recovery, or after a timeout.
    pub(crate) fn in_loss_episode(&self) -> bool {
        self.bytes[1] >= RECOVERY
    }

    /// Whether it is repairing what a timeout lost.
    pub(crate) fn in_timeout_recovery(&self) -> bool {
        self.bytes[1] == LOSS
    }

    /// Largest segment's payload, bytes.
    pub(crate) fn mss_bytes(&self) -> u64 {
        u64::from(self.u32(16))
    }

    /// Congestion window, packets.
    pub(crate) fn window_packets(&self) -> u64 {
        u64::from(self.u32(80))
    }

    /// Packets in flight as congestion control counts them: outstanding, not selectively acknowledged or taken for
    /// lost, and what is sent again of the latter.
    pub(crate) fn in_flight_packets(&self) -> u64 {
        let [outstanding, sacked, lost, resent] = [24, 28, 32, 36].map(|offset| u64::from(self.u32(offset)));
        (outstanding + resent).saturating_sub(sacked + lost)
    }

    /// Smoothed RTT; zero before the first sample.
    pub(crate) fn srtt(&self) -> Span {
        Span::from_us(u64::from(self.u32(68)))
    }

    /// Bytes written to the socket that have not been sent.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        u64::from(self.u32(144))
    }

    /// What congestion control lets through: a window per smoothed RTT, or what it paces at if that is less. `None`
    /// before there is an RTT.
    pub(crate) fn allowed_rate(&self) -> Option<Rate> {
        let srtt = self.srtt();
        let by_window = (!srtt.is_zero())
            .then(|| Rate::from_bytes_per(self.window_packets() * self.mss_bytes(), srtt))?;
        Some(self.u64(104).map_or(by_window, |bytes| by_window.min(Rate::from_bps(bytes.saturating_mul(8)))))
    }

    /// Segments sent again since the start of the connection.
    pub(crate) fn retransmissions(&self) -> u64 {
        u64::from(self.u32(100))
    }

    /// Expiries of the retransmission timer, if the kernel counts them (6.7 and later).
    pub(crate) fn timeouts(&self) -> Option<u64> {
        self.field(240).map(|bytes| u64::from(u16::from_ne_bytes(bytes)))
    }

    /// The same names and units as those of our transport and controllers.
    pub(crate) fn fields(&self, sink: &mut dyn FieldSink) {
        let us = |us: u32| if us == 0 || us == u32::MAX { f64::NAN } else { f64::from(us) / 1e3 };
        let bytes_per_s = |rate: Option<u64>| match rate {
            // "Unlimited", and kernels that do not know it.
            None | Some(u64::MAX) => f64::NAN,
            Some(rate) => Rate::from_bps(rate.saturating_mul(8)).mbps(),
        };
        let ssthresh = self.u32(76);
        sink.put("in_flight", "bytes", (self.in_flight_packets() * self.mss_bytes()) as f64);
        sink.put("srtt", "ms", us(self.u32(68)));
        sink.put("delivery_rate", "Mbit/s", bytes_per_s(self.u64(160)));
        sink.put("cwnd", "packets", self.window_packets() as f64);
        let infinite = ssthresh >= INFINITE_SSTHRESH;
        sink.put("ssthresh", "packets", if infinite { f64::INFINITY } else { f64::from(ssthresh) });
        sink.put("pacing_rate", "Mbit/s", bytes_per_s(self.u64(104)));
        sink.put("min_rtt", "ms", us(self.field(148).map_or(0, u32::from_ne_bytes)));
        sink.put("rttvar", "ms", us(self.u32(72)));
        sink.put("retransmits", "packets", self.retransmissions() as f64);
    }
}
