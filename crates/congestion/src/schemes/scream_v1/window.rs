//! Congestion window.

use crate::{Parameters, Sent};
use units::{Span, Time};

/// Segment size before the first packet, bytes (`kInitMss`).
const INITIAL_MSS: f64 = 100.0;
/// Minimum window, segments.
const MIN_SEGMENTS: f64 = 2.0;
/// Rate from which on the rate bounds growth, bit/s.
const SLOW_BPS: f64 = 100e3;
/// Maximum growth per report, as a multiple of the bytes that the rate carries since the last report.
const GROWTH_HEADROOM: f64 = 1.25;
/// Trend of the delay that ends fast start and counts as congestion.
const CONGESTED_TREND: f64 = 0.2;
/// Factor of fast start: it grows only while in-flight bytes times this exceed the window.
const FAST_START_USE: f64 = 1.5;
/// Factor of later growth: it happens only while in-flight bytes times this exceed the window.
const GROWTH_USE: f64 = 1.2;
/// Maximum window, as a multiple of the maximum flight (`kMaxBytesInFlightHeadRoom`).
const IN_FLIGHT_HEADROOM: f64 = 1.1;
/// Bytes from which on that bound holds.
const IN_FLIGHT_BOUND_FROM: f64 = 5000.0;
/// Length of one entry of the in-flight history (`kBytesInFlightHistInterval`).
const HISTORY_SLOT: Span = Span::from_secs(1);
/// Number of entries of the in-flight history.
const HISTORY_SLOTS: usize = 5;
/// Time without congestion after which fast start resumes.
const FAST_START_AGAIN: Span = Span::from_secs(5);
/// RTT below which the window follows the rate.
const SHORT_RTT: Span = Span::from_ms(10);
/// Trend below which the window follows the rate.
const SHORT_RTT_TREND: f64 = 0.1;

/// Contents of one report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) now: Time,
    /// Bytes acknowledged or lost since the last report.
    pub(crate) newly_acked: f64,
    /// Bytes still in flight.
    pub(crate) in_flight: f64,
    /// Queueing delay, s.
    pub(crate) delay: f64,
    pub(crate) trend: f64,
    pub(crate) srtt: Span,
    pub(crate) sent_bps: f64,
    /// Larger one of sent and acknowledged rate, bit/s.
    pub(crate) rate_bps: f64,
    pub(crate) loss_event: bool,
}

/// Maxima of the last five seconds, and the present maximum.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    slots: [f64; HISTORY_SLOTS],
    present: f64,
}

impl History {
    fn close_slot(&mut self, index: usize) {
        self.slots[index] = self.present;
        self.present = 0.0;
    }

    fn max(&self) -> f64 {
        self.slots.iter().copied().fold(self.present, f64::max)
    }
}

/// Window of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    loss_beta: f64,
    gain_up: f64,
    gain_down: f64,
    target_s: f64,
    mss: f64,
    bytes: f64,
    fast_start: bool,
    congested_at: Time,
    reported_at: Time,
    /// Maximum flight after sending.
    high: History,
    /// Maximum flight after reports.
    low: History,
    slot_began: Time,
    slot: usize,
}

impl Window {
    pub(crate) fn new(parameters: &Parameters, now: Time) -> Self {
        Self {
            loss_beta: parameters.number("loss_beta"),
            gain_up: parameters.number("gain_up"),
            gain_down: parameters.number("gain_down"),
            target_s: parameters.number("queue_delay_target_ms") / 1e3,
            mss: INITIAL_MSS,
            bytes: MIN_SEGMENTS * INITIAL_MSS,
            fast_start: true,
            congested_at: now,
            reported_at: now,
            high: History::default(),
            low: History::default(),
            slot_began: now,
            slot: 0,
        }
    }

    /// Takes the largest packet so far as the segment size.
    pub(crate) fn on_sent(&mut self, sent: &Sent) {
        self.mss = self.mss.max(f64::from(sent.bytes));
        self.bytes = self.bytes.max(self.least());
        self.high.present = self.high.present.max(sent.in_flight_bytes as f64);
    }

    fn least(&self) -> f64 {
        MIN_SEGMENTS * self.mss
    }

    /// Handles a report. Returns the fraction of the window that was removed for delay at a low rate.
    pub(crate) fn on_report(&mut self, round: &Round) -> f64 {
        self.note_in_flight(round);
        let elapsed = (round.now - self.reported_at).as_secs_f64();
        self.reported_at = round.now;
        let growth = if round.rate_bps > SLOW_BPS {
            round.newly_acked.min(GROWTH_HEADROOM * round.rate_bps * elapsed / 8.0)
        } else {
            MIN_SEGMENTS * self.mss
        };
        let mut reduction = 0.0;
        let distance = (self.target_s - round.delay) / self.target_s;
        if round.loss_event {
            self.bytes = (self.loss_beta * self.bytes).max(self.least());
            self.fast_start = false;
        } else if self.fast_start {
            if round.trend >= CONGESTED_TREND {
                self.fast_start = false;
            } else if FAST_START_USE * round.in_flight + round.newly_acked > self.bytes {
                self.bytes += growth;
            }
        } else if distance > 0.0 {
            if GROWTH_USE * round.in_flight + round.newly_acked > self.bytes {
                self.bytes += (self.gain_up * distance * growth * self.mss / self.bytes).round();
            }
        } else {
            let wanted = (self.gain_down * -distance * round.newly_acked * self.mss / self.bytes).trunc();
            let taken = wanted.min(self.bytes / 4.0);
            if round.rate_bps < SLOW_BPS {
                reduction = taken / self.bytes;
            }
            self.bytes -= taken;
        }
        self.bound(round);
        if round.loss_event || round.trend > CONGESTED_TREND {
            self.congested_at = round.now;
        } else if round.now - self.congested_at > FAST_START_AGAIN {
            self.fast_start = true;
        }
        reduction
    }

    fn note_in_flight(&mut self, round: &Round) {
        self.low.present = self.low.present.max(round.in_flight);
        if round.now - self.slot_began > HISTORY_SLOT {
            self.slot_began = round.now;
            self.high.close_slot(self.slot);
            self.low.close_slot(self.slot);
            self.slot = (self.slot + 1) % HISTORY_SLOTS;
        }
    }

    /// Keeps the window near the maximum flight.
    fn bound(&mut self, round: &Round) {
        let in_flight =
            (self.high.max() * (1.0 - round.trend) + self.low.max() * round.trend) * IN_FLIGHT_HEADROOM;
        if in_flight > IN_FLIGHT_BOUND_FROM {
            self.bytes = self.bytes.min(in_flight);
        }
        if round.srtt < SHORT_RTT && round.trend < SHORT_RTT_TREND {
            let carried = round.sent_bps * SHORT_RTT.as_secs_f64() / 8.0;
            self.bytes = self.bytes.max(carried).max(FAST_START_USE * in_flight);
        }
        self.bytes = self.bytes.max(self.least());
    }

    pub(crate) const fn bytes(&self) -> f64 {
        self.bytes
    }

    pub(crate) const fn mss(&self) -> f64 {
        self.mss
    }

    pub(crate) const fn is_fast_start(&self) -> bool {
        self.fast_start
    }
}
