//! Kernel state of a TCP connection (`struct tcp_info` of Linux's uapi). Kernels append fields and never move them.

use crate::sys;
use congestion::FieldSink;
use std::io;
use std::net::TcpStream;
use units::{Rate, Span};

/// Buffer length for the structure and fields of later kernels, bytes.
const MAX_BYTES: usize = 320;

/// Connection states without further transmissions: closed, and closing with everything acknowledged.
const DONE_STATES: [u8; 3] = [5, 6, 7];

/// First congestion control state (`enum tcp_ca_state`) that is a loss episode.
const RECOVERY: u8 = 3;
/// Congestion control state after a retransmission timeout.
const LOSS: u8 = 4;

/// Slow start threshold that is not set yet.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Output of `TCP_INFO`.
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

    /// Returns the bytes of the field at `offset`; `None` if this kernel lacks the field.
    fn field<const BYTES: usize>(&self, offset: usize) -> Option<[u8; BYTES]> {
        self.bytes[..self.length].get(offset..)?.first_chunk().copied()
    }

    fn u32(&self, offset: usize) -> u32 {
        self.field(offset).map_or(0, u32::from_ne_bytes)
    }

    fn u64(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(u64::from_ne_bytes)
    }

    /// Returns true if the connection has sent everything and received all acknowledgments, or is closed.
    pub(crate) fn is_done(&self) -> bool {
        DONE_STATES.contains(&self.bytes[0])
    }

    /// Returns true during a loss repair: fast recovery, or after a timeout.
    pub(crate) fn in_loss_episode(&self) -> bool {
        self.bytes[1] >= RECOVERY
    }

    /// Returns true during a loss repair after a timeout.
    pub(crate) fn in_timeout_recovery(&self) -> bool {
        self.bytes[1] == LOSS
    }

    /// Returns the maximum payload of a segment, bytes.
    pub(crate) fn mss_bytes(&self) -> u64 {
        u64::from(self.u32(16))
    }

    /// Returns the congestion window, packets.
    pub(crate) fn window_packets(&self) -> u64 {
        u64::from(self.u32(80))
    }

    /// Returns the packets in flight as congestion control counts them: outstanding packets that are neither
    /// selectively acknowledged nor lost, and retransmissions of lost packets.
    pub(crate) fn in_flight_packets(&self) -> u64 {
        let [outstanding, sacked, lost, resent] = [24, 28, 32, 36].map(|offset| u64::from(self.u32(offset)));
        (outstanding + resent).saturating_sub(sacked + lost)
    }

    /// Returns the smoothed RTT; zero before the first sample.
    pub(crate) fn srtt(&self) -> Span {
        Span::from_us(u64::from(self.u32(68)))
    }

    /// Returns the bytes written to the socket that have not been sent.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        u64::from(self.u32(144))
    }

    /// Returns the rate that congestion control allows: a window per smoothed RTT, or a lower pacing rate. Returns
    /// `None` before the first RTT.
    pub(crate) fn allowed_rate(&self) -> Option<Rate> {
        let srtt = self.srtt();
        let by_window = (!srtt.is_zero())
            .then(|| Rate::from_bytes_per(self.window_packets() * self.mss_bytes(), srtt))?;
        Some(self.u64(104).map_or(by_window, |bytes| by_window.min(Rate::from_bps(bytes.saturating_mul(8)))))
    }

    /// Returns the number of retransmitted segments since the start of the connection.
    pub(crate) fn retransmissions(&self) -> u64 {
        u64::from(self.u32(100))
    }

    /// Returns the number of retransmission timeouts, if the kernel counts them (6.7 and later).
    pub(crate) fn timeouts(&self) -> Option<u64> {
        self.field(240).map(|bytes| u64::from(u16::from_ne_bytes(bytes)))
    }

    /// Puts the fields, with the names and units of the built-in transport and controllers.
    pub(crate) fn fields(&self, sink: &mut dyn FieldSink) {
        let us = |us: u32| if us == 0 || us == u32::MAX { f64::NAN } else { f64::from(us) / 1e3 };
        let bytes_per_s = |rate: Option<u64>| match rate {
            // The rate is unlimited, or the kernel does not report it.
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
