//! What the two genericCC variants of Copa share: constants, clock, start-up pacing, and the order of loss and ACK.
//!
//! genericCC runs its window rule for an ACK before it looks for losses below the acknowledged number. The transport
//! reports losses first, so [`Losses`] keeps them until the rule has run.

use crate::{Parameter, Start};
use units::{Rate, Span, Time};

/// Window at the start, packets.
pub(crate) const INITIAL_WINDOW: f64 = 10.0;
/// Smallest window, packets.
pub(crate) const MIN_WINDOW: f64 = 2.0;
/// ACKs that leave the window alone: one less than twice the ten probe packets.
pub(crate) const PROBE_ACKS: u64 = 19;
/// Shortest span of the long windows, ms.
pub(crate) const HISTORY_MS: f64 = 10_000.0;

pub(crate) const DELTA: Parameter = Parameter::number(
    "delta",
    "1/packet",
    0.5,
    (0.001, 10.0),
    "Default delta: a lone flow keeps about 1/delta packets queued (delta_conf=do_ss:auto:0.5).",
);
pub(crate) const HANDSHAKE_RTT: Parameter = Parameter::number(
    "handshake_rtt_ms",
    "ms",
    0.0,
    (0.0, 60_000.0),
    "RTT of the handshake, a tenth of which spaces the first packets; 0 takes the measured one.",
);

/// genericCC's clock (milliseconds since the flow's start) and what happens before the first window update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Startup {
    start: Time,
    handshake_rtt_ms: f64,
}

impl Startup {
    pub(crate) fn new(start: &Start, handshake_rtt_ms: f64) -> Self {
        Self { start: start.now, handshake_rtt_ms }
    }

    /// `time` in ms since the flow's start.
    pub(crate) fn ms(&self, time: Time) -> f64 {
        time.since(self.start).as_ms_f64()
    }

    /// An RTT sample: the handshake's, or the first one where there is no handshake.
    pub(crate) fn note_rtt(&mut self, rtt_ms: f64) {
        if self.handshake_rtt_ms == 0.0 {
            self.handshake_rtt_ms = rtt_ms;
        }
    }

    /// Time between two packets until the window rule sets it, ms; 0 while no RTT is known.
    pub(crate) fn spacing_ms(&self) -> f64 {
        self.handshake_rtt_ms / 10.0
    }
}

/// `ms` as whole ns, for the filters' positions and lengths.
pub(crate) fn ns(ms: f64) -> u64 {
    Span::from_secs_f64(ms / 1e3).as_ns()
}

/// The pacing rate that sends `mss_bytes` every `spacing_ms`; unpaced at 0, and never so slow that nothing leaves.
pub(crate) fn pacing(mss_bytes: f64, spacing_ms: f64) -> Option<Rate> {
    (spacing_ms > 0.0).then(|| Rate::from_bps_f64(mss_bytes * 8e3 / spacing_ms).max(Rate::from_bps(1)))
}

/// Losses reported before the ACK that revealed them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    packets: u64,
}

impl Losses {
    pub(crate) fn note(&mut self, packets: usize) {
        self.packets += packets as u64;
    }

    /// How many there are; none from now on.
    pub(crate) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.packets)
    }
}

/// For the unit tests of both generations: one ACK, `gap_ms` after the one before, of a packet with this RTT.
#[cfg(test)]
pub(crate) fn ack(driver: &mut crate::testing::Driver, gap_ms: u64, rtt_ms: u64) {
    driver.now += Span::from_ms(gap_ms);
    driver.rtt = Span::from_ms(rtt_ms);
    driver.ack(1);
}
