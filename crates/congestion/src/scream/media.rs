//! The bitrate the encoder is to produce, and the pacing rate that goes with it.

use crate::parts::FrameClock;
use crate::{Frame, Parameters};
use units::{Rate, Span, Time};

/// Bytes of RTP header per packet that the target leaves room for (`PACKET_OVERHEAD`).
const PACKET_OVERHEAD: f64 = 20.0;
/// Weight of a frame's wait in the rate adjustment (`RATE_ADJUST_GAIN`).
const RATE_ADJUST_GAIN: f64 = 1.0 / 16.0;
/// Share of the frame period that a frame may wait without lowering the target.
const TOLERATED_WAIT: f64 = 0.25;
/// Largest rate adjustment.
const MAX_RATE_ADJUST: f64 = 0.5;
/// Weight of a frame in the average of what frames are too large (`FRAME_SIZE_DEV_ALPHA`).
const FRAME_DEVIATION_GAIN: f64 = 1.0 / 64.0;
/// Largest part of that average that counts.
const MAX_FRAME_DEVIATION: f64 = 0.2;
/// Smallest rate the pacing is computed from (`RATE_PACE_MIN`).
const LEAST_PACING_BASE_BPS: f64 = 50e3;
/// Share of the highest bitrate from which on pacing is relaxed.
const RELAXED_FROM: f64 = 0.8;
/// What is left of the target while a standing queue drains.
const DRAIN_SHARE: f64 = 0.5;
/// Shortest drain.
const MIN_DRAIN: Span = Span::from_ms(200);

/// Target bitrate of one flow's encoder.
#[derive(Clone, Debug)]
pub(crate) struct Media {
    min_bps: f64,
    max_bps: f64,
    margin: f64,
    pacing_headroom: f64,
    relaxed_pacing: f64,
    mss: f64,
    target_bps: f64,
    clock: FrameClock,
    rate_adjust: f64,
    frame_deviation: f64,
    drain_until: Time,
}

impl Media {
    pub(crate) fn new(parameters: &Parameters, mss: f64) -> Self {
        let max_bps = parameters.number("max_rate_mbps") * 1e6;
        let min_bps = (parameters.number("min_rate_mbps") * 1e6).min(max_bps);
        Self {
            min_bps,
            max_bps,
            margin: parameters.number("rate_margin"),
            pacing_headroom: parameters.number("pacing_headroom"),
            relaxed_pacing: parameters.number("relaxed_pacing"),
            mss,
            target_bps: (parameters.number("start_rate_mbps") * 1e6).clamp(min_bps, max_bps),
            clock: FrameClock::default(),
            rate_adjust: 0.0,
            frame_deviation: 0.0,
            drain_until: Time::ZERO,
        }
    }

    /// A frame was written: what still waits from earlier ones, and frames larger than they should be, lower the target.
    pub(crate) fn on_frame(&mut self, frame: &Frame) {
        let Some(period) = self.clock.tick(frame.now) else { return };
        let wait = frame.queue_delay.as_secs_f64() / period;
        self.rate_adjust =
            (self.rate_adjust + RATE_ADJUST_GAIN * (wait - TOLERATED_WAIT)).clamp(0.0, MAX_RATE_ADJUST);
        let nominal = self.target_bps / 8.0 * period;
        let excess = ((frame.bytes as f64 - nominal) / nominal).max(0.0);
        self.frame_deviation += FRAME_DEVIATION_GAIN * (excess - self.frame_deviation);
        self.frame_deviation = self.frame_deviation.min(MAX_FRAME_DEVIATION);
    }

    /// Lets a standing queue drain for a while.
    pub(crate) fn drain(&mut self, now: Time, srtt: Span) {
        self.drain_until = now + (srtt * 5).max(MIN_DRAIN);
    }

    /// The target at the reference window `ref_wnd` (bytes) and the smoothed RTT.
    pub(crate) fn update(&mut self, now: Time, ref_wnd: f64, srtt: Span) {
        let ratio = (self.mss / ref_wnd).min(1.0);
        let mut target = 8.0 * ref_wnd / srtt.as_secs_f64()
            * (1.0 - (ratio - 0.1).clamp(0.0, 0.2))
            * (self.mss / (self.mss + PACKET_OVERHEAD))
            / (self.margin + self.rate_adjust + self.frame_deviation);
        if now < self.drain_until {
            target *= DRAIN_SHARE;
        }
        self.target_bps = target.clamp(self.min_bps, self.max_bps);
    }

    pub(crate) fn is_at_maximum(&self) -> bool {
        self.target_bps >= self.max_bps
    }

    /// Bitrate the encoder is to produce.
    pub(crate) fn target(&self) -> Rate {
        Rate::from_bps_f64(self.target_bps)
    }

    pub(crate) fn pacing(&self) -> Rate {
        let near_maximum =
            ((self.target_bps / self.max_bps - RELAXED_FROM) / (1.0 - RELAXED_FROM)).clamp(0.0, 1.0);
        let relaxation = (self.relaxed_pacing - self.pacing_headroom).max(0.0) * near_maximum;
        Rate::from_bps_f64(self.target_bps.max(LEAST_PACING_BASE_BPS) * (self.pacing_headroom + relaxation))
    }

    pub(crate) const fn rate_adjust(&self) -> f64 {
        self.rate_adjust
    }
}
