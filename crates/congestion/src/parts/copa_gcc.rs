//! What the two genericCC variants of Copa share: constants, clock, and the order of loss and ACK.
//!
//! The first window leaves unpaced. genericCC sets a spacing of a tenth of the handshake's RTT (`markoviancc.cc:30`), which
//! delays the first packet; `onPktSent` then overwrites it with 0 until the window rule has run (venkatarun95/genericCC@d0153f8
//! `markoviancc.cc:45, :291`; 80b516c `:47, :288`).
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

/// genericCC's clock: milliseconds since the flow's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Time,
}

impl Clock {
    pub(crate) const fn new(start: &Start) -> Self {
        Self { start: start.now }
    }

    /// `time` in ms since the flow's start.
    pub(crate) fn ms(self, time: Time) -> f64 {
        time.since(self.start).as_ms_f64()
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
