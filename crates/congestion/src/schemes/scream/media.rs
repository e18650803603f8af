//! Target bitrate of the encoder, and the corresponding pacing rate.

use super::form::MediaForm;
use crate::parts::FrameClock;
use crate::{Frame, Parameters};
use units::{Rate, Span, Time};

/// Bytes of RTP header per packet for which the target leaves room (`PACKET_OVERHEAD`).
const PACKET_OVERHEAD: f64 = 20.0;
/// Maximum rate adjustment.
const MAX_RATE_ADJUST: f64 = 0.5;
/// Weight of a frame in the average excess of frame sizes (`FRAME_SIZE_DEV_ALPHA`).
const FRAME_DEVIATION_GAIN: f64 = 1.0 / 64.0;
/// Maximum of that average.
const MAX_FRAME_DEVIATION: f64 = 0.2;
/// Minimum rate that the pacing is computed from (`RATE_PACE_MIN`).
const LEAST_PACING_BASE_BPS: f64 = 50e3;
/// Fraction of the highest bitrate from which on pacing is relaxed.
const RELAXED_FROM: f64 = 0.8;
/// Fraction of the highest bitrate from which on the window is bounded.
const BOUNDED_FROM: f64 = 0.95;
/// Frame size below which frames are not paced faster, bytes.
const MIN_PACED_FRAME: f64 = 500.0;
/// Fraction of the target that remains while a standing queue drains.
const DRAIN_SHARE: f64 = 0.5;
/// Number of slots of the encoder's recent rate, and their length.
const RATE_SLOTS: usize = 4;
const RATE_SLOT: Span = Span::from_ms(100);

/// Rate at which the encoder wrote frames in the last four slots of 100 ms.
#[derive(Clone, Copy, Debug, Default)]
struct RecentRate {
    slots_bps: [f64; RATE_SLOTS],
    next: usize,
    began: Option<Time>,
    bytes: u64,
}

impl RecentRate {
    fn add(&mut self, now: Time, bytes: u64) {
        let elapsed = now - *self.began.get_or_insert(now);
        if elapsed > RATE_SLOT {
            self.slots_bps[self.next] = self.bytes as f64 * 8.0 / elapsed.as_secs_f64();
            self.next = (self.next + 1) % RATE_SLOTS;
            (self.began, self.bytes) = (Some(now), 0);
        }
        self.bytes += bytes;
    }

    fn bps(&self) -> f64 {
        self.slots_bps.iter().sum::<f64>() / RATE_SLOTS as f64
    }
}

/// Target bitrate of one flow's encoder.
#[derive(Clone, Debug)]
pub(crate) struct Media {
    form: MediaForm,
    min_bps: f64,
    max_bps: f64,
    margin: f64,
    pacing_headroom: f64,
    relaxed_pacing: f64,
    adaptive_pacing: f64,
    mss: f64,
    target_bps: f64,
    clock: FrameClock,
    rate_adjust: f64,
    frame_deviation: f64,
    /// Size of the latest frame over its nominal size, 1 to `adaptive_pacing`.
    frame_pacing: f64,
    recent: RecentRate,
    drain_until: Time,
}

impl Media {
    pub(crate) fn new(parameters: &Parameters, form: MediaForm, mss: f64) -> Self {
        let max_bps = parameters.number("max_rate_mbps") * 1e6;
        let min_bps = (parameters.number("min_rate_mbps") * 1e6).min(max_bps);
        Self {
            form,
            min_bps,
            max_bps,
            margin: parameters.number("rate_margin"),
            pacing_headroom: parameters.number("pacing_headroom"),
            relaxed_pacing: parameters.number("relaxed_pacing"),
            adaptive_pacing: parameters.number("adaptive_pacing"),
            mss,
            target_bps: (parameters.number("start_rate_mbps") * 1e6).clamp(min_bps, max_bps),
            clock: FrameClock::default(),
            rate_adjust: 0.0,
            frame_deviation: 0.0,
            frame_pacing: 1.0,
            recent: RecentRate::default(),
            drain_until: Time::ZERO,
        }
    }

    /// Handles a new frame. Queued data of earlier frames, and frames above their nominal size, lower the target.
    pub(crate) fn on_frame(&mut self, frame: &Frame) {
        self.recent.add(frame.now, frame.bytes);
        let Some(period) = self.clock.tick(frame.now) else { return };
        let wait = frame.queue_delay.as_secs_f64() / period;
        self.rate_adjust = (self.rate_adjust + self.form.adjust_gain * (wait - self.form.tolerated_wait))
            .clamp(0.0, MAX_RATE_ADJUST);
        let nominal = self.target_bps / 8.0 * period;
        let excess = ((frame.bytes as f64 - nominal) / nominal).max(0.0);
        self.frame_deviation += FRAME_DEVIATION_GAIN * (excess - self.frame_deviation);
        self.frame_deviation = self.frame_deviation.min(MAX_FRAME_DEVIATION);
        self.frame_pacing = if nominal > MIN_PACED_FRAME {
            (frame.queued_bytes.max(frame.bytes) as f64 / nominal).clamp(1.0, self.adaptive_pacing)
        } else {
            1.0
        };
    }

    /// Lets a standing queue drain for a while.
    pub(crate) fn drain(&mut self, now: Time, srtt: Span) {
        self.drain_until = now + (srtt * 5).max(self.form.min_drain);
    }

    /// Updates the target for the reference window `ref_wnd` (bytes) and the smoothed RTT.
    pub(crate) fn update(&mut self, now: Time, ref_wnd: f64, srtt: Span) {
        let form = &self.form;
        let ratio = (self.mss / ref_wnd).min(1.0);
        let mut target = 8.0 * ref_wnd / (srtt + form.extra_rtt).min(form.max_rtt).as_secs_f64()
            * (1.0 - (ratio - 0.1).clamp(0.0, 0.2))
            * (self.mss / (self.mss + PACKET_OVERHEAD));
        if form.adds_to_margin {
            target /= self.margin + self.rate_adjust + self.frame_deviation;
        } else {
            target = (target / self.margin).min(self.max_bps) / (1.0 + self.rate_adjust);
        }
        if now < self.drain_until {
            target *= DRAIN_SHARE;
        }
        self.target_bps = target.clamp(self.min_bps, self.max_bps);
    }

    pub(crate) fn is_at_maximum(&self) -> bool {
        self.target_bps >= self.max_bps
    }

    /// Returns the maximum window, bytes, if the target is near the highest bitrate; `None` below that.
    pub(crate) fn window_at_maximum(&self, srtt: Span) -> Option<f64> {
        let span = srtt + self.form.extra_rtt;
        (self.target_bps > BOUNDED_FROM * self.max_bps)
            .then(|| self.pacing_headroom * self.max_bps / 8.0 * span.as_secs_f64())
    }

    /// Returns the target bitrate of the encoder.
    pub(crate) fn target(&self) -> Rate {
        Rate::from_bps_f64(self.target_bps)
    }

    pub(crate) const fn target_bps(&self) -> f64 {
        self.target_bps
    }

    pub(crate) fn pacing(&self) -> Rate {
        let near_maximum =
            ((self.target_bps / self.max_bps - RELAXED_FROM) / (1.0 - RELAXED_FROM)).clamp(0.0, 1.0);
        let relaxation = (self.relaxed_pacing - self.pacing_headroom).max(0.0) * near_maximum;
        let recent_bps = if self.form.paces_recent_frames { self.recent.bps() } else { 0.0 };
        let base_bps = self.target_bps.max(recent_bps).max(LEAST_PACING_BASE_BPS);
        Rate::from_bps_f64(base_bps * (self.pacing_headroom * self.frame_pacing + relaxation))
    }

    pub(crate) const fn rate_adjust(&self) -> f64 {
        self.rate_adjust
    }
}
