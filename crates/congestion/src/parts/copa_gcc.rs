//! Common parts of the two genericCC variants of Copa: constants, clock, and the order of loss and ACK.
//!
//! The first window leaves unpaced. genericCC sets a spacing of a tenth of the handshake's RTT (`markoviancc.cc:30`),
//! which delays the first packet. `onPktSent` then overwrites it with 0 until the window rule has run
//! (venkatarun95/genericCC@d0153f8 `markoviancc.cc:45, :291`; 80b516c `:47, :288`).
//!
//! genericCC runs its window rule for an ACK before it looks for losses below the acknowledged number. The transport
//! reports losses first, so [`Losses`] keeps them until the rule has run.

use crate::{Parameter, Start};
use units::{Rate, Span, Time};

/// Initial window, packets.
pub(crate) const INITIAL_WINDOW: f64 = 10.0;
/// Minimum window, packets.
pub(crate) const MIN_WINDOW: f64 = 2.0;
/// Number of ACKs that do not change the window: one less than twice the ten probe packets.
pub(crate) const PROBE_ACKS: u64 = 19;
/// Minimum span of the long windows, ms.
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

    /// Returns `time` in ms since the flow's start.
    pub(crate) fn ms(self, time: Time) -> f64 {
        time.since(self.start).as_ms_f64()
    }
}

/// Converts `ms` to whole ns, for the filters' positions and lengths.
pub(crate) fn ns(ms: f64) -> u64 {
    Span::from_secs_f64(ms / 1e3).as_ns()
}

/// Returns the pacing rate that sends `mss_bytes` every `spacing_ms`. A spacing of 0 means no pacing; the rate is at
/// least 1 bit/s so that packets leave.
pub(crate) fn pacing(mss_bytes: f64, spacing_ms: f64) -> Option<Rate> {
    (spacing_ms > 0.0).then(|| Rate::from_bps_f64(mss_bytes * 8e3 / spacing_ms).max(Rate::from_bps(1)))
}

/// Losses that were reported before the ACK that revealed them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    packets: u64,
}

impl Losses {
    pub(crate) fn note(&mut self, packets: usize) {
        self.packets += packets as u64;
    }

    /// Returns the number of losses and resets it.
    pub(crate) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.packets)
    }
}

/// Delivers one ACK, `gap_ms` after the previous ACK, of a packet with this RTT; for the unit tests of both
/// generations.
#[cfg(test)]
pub(crate) fn ack(driver: &mut crate::testing::Driver, gap_ms: u64, rtt_ms: u64) {
    driver.now += Span::from_ms(gap_ms);
    driver.rtt = Span::from_ms(rtt_ms);
    driver.ack(1);
}
