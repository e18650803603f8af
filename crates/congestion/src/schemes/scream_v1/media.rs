//! Target bitrate of the encoder.

use super::rates::RateMeter;
use super::window::Window;
use crate::{Frame, Parameters};
use units::{Rate, Span, Time};

/// Time between two adjustments (`kRateAdjustInterval`).
const ADJUST_INTERVAL: Span = Span::from_ms(200);
/// Time between two inflection points.
const INFLECTION_SPACING: Span = Span::from_secs(2);
/// Number of inflection points remembered.
const INFLECTIONS: usize = 3;
/// Minimum time between two discards of a queue that has grown too old (`kMinRtpQueueDiscardInterval`).
const DISCARD_SPACING: Span = Span::from_secs(1);
/// Maximum target, as a multiple of the rate that gets through.
const USED_HEADROOM: f64 = 1.5;
/// Queued bits, relative to one second at the present rate, up to which fast start raises the target.
const SHORT_QUEUE: f64 = 0.1;
/// Queued bits above which the target does not rise after fast start.
const QUEUE_BITS: f64 = 12_000.0;
/// Weight of the newest queue length in the average over adjustments.
const QUEUE_GAIN: f64 = 0.5;
/// Weight of a measurement of rates in the ratio of target to produced rate.
const RATIO_GAIN: f64 = 0.05;
/// Bounds of that ratio.
const RATIO_BOUNDS: (f64, f64) = (0.8, 1.25);

/// Target bitrate of one flow's encoder, bit/s.
#[derive(Clone, Debug)]
pub(crate) struct MediaRate {
    min_bps: f64,
    max_bps: f64,
    ramp_bps_per_s: f64,
    max_queue_delay: Span,
    queue_factor: f64,
    guard: f64,
    loss_scale: f64,
    target_bps: f64,
    adjusted_at: Option<Time>,
    loss_pending: bool,
    inflections: [f64; INFLECTIONS],
    inflection_index: usize,
    inflection_at: Option<Time>,
    discarded_at: Option<Time>,
    /// Average length of the sender's queue at adjustments, bits.
    queued_bits: f64,
    /// Average ratio of target to produced rate.
    ratio: f64,
}

impl MediaRate {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let max_bps = parameters.number("max_rate_kbps") * 1e3;
        let min_bps = (parameters.number("min_rate_kbps") * 1e3).min(max_bps);
        Self {
            min_bps,
            max_bps,
            ramp_bps_per_s: parameters.number("ramp_up_kbps_per_s") * 1e3,
            max_queue_delay: Span::from_secs_f64(parameters.number("max_rtp_queue_delay_ms") / 1e3),
            queue_factor: parameters.number("tx_queue_size_factor"),
            guard: parameters.number("queue_delay_guard"),
            loss_scale: parameters.number("loss_event_rate_scale"),
            target_bps: (parameters.number("start_rate_kbps") * 1e3).clamp(min_bps, max_bps),
            adjusted_at: None,
            loss_pending: false,
            inflections: [0.0; INFLECTIONS],
            inflection_index: 0,
            inflection_at: None,
            discarded_at: None,
            queued_bits: 0.0,
            ratio: 1.0,
        }
    }

    pub(crate) const fn on_loss_event(&mut self) {
        self.loss_pending = true;
    }

    /// Reduces the target together with the window: the window lost `share` of itself at a rate so low that the encoder
    /// must follow at once.
    pub(crate) fn on_window_reduced(&mut self, share: f64) {
        self.target_bps = (self.target_bps * (1.0 - share)).max(self.min_bps);
    }

    /// Updates the ratio of target to produced rate after a new measurement of rates.
    pub(crate) fn on_rates(&mut self, rates: &RateMeter) {
        let produced = rates.encoded_bps();
        if produced > 0.0 {
            self.ratio += RATIO_GAIN * (self.target_bps / produced - self.ratio);
            self.ratio = self.ratio.clamp(RATIO_BOUNDS.0, RATIO_BOUNDS.1);
        }
    }

    /// Handles a new frame: adjusts the target if an adjustment is due.
    pub(crate) fn on_frame(&mut self, frame: &Frame, rates: &RateMeter, window: &Window, trend: f64) {
        let is_due = self.adjusted_at.is_none_or(|at| frame.now - at >= ADJUST_INTERVAL);
        if self.loss_pending {
            self.after_loss(frame.now, rates);
        } else if is_due {
            self.adjust(frame, rates, window.is_fast_start(), trend);
        } else {
            return;
        }
        self.adjusted_at = Some(frame.now);
        self.target_bps = self.target_bps.clamp(self.min_bps, self.max_bps);
    }

    fn after_loss(&mut self, now: Time, rates: &RateMeter) {
        self.loss_pending = false;
        if self.inflection_at.is_none_or(|at| now - at > INFLECTION_SPACING) {
            self.inflection_at = Some(now);
            self.inflections[self.inflection_index] = carried(rates);
            self.inflection_index = (self.inflection_index + 1) % INFLECTIONS;
        }
        self.target_bps *= self.loss_scale;
    }

    /// Returns the scale of the ramp at the present distance from the last inflection, 0.2 to 1.
    fn inflection_scale(&self) -> f64 {
        let inflection = self.inflections.iter().copied().fold(0.0, f64::max);
        if inflection <= 0.0 {
            return 1.0;
        }
        let distance = 4.0 * (self.target_bps - inflection) / inflection;
        (distance * distance).clamp(0.2, 1.0)
    }

    fn adjust(&mut self, frame: &Frame, rates: &RateMeter, is_fast_start: bool, trend: f64) {
        // The frame just written may still be in the queue.
        let queued_bits = frame.queued_bytes.saturating_sub(frame.bytes) as f64 * 8.0;
        self.queued_bits += QUEUE_GAIN * (queued_bits - self.queued_bits);
        if frame.queue_delay > self.max_queue_delay
            && self.discarded_at.is_none_or(|at| frame.now - at >= DISCARD_SPACING)
        {
            // The library drops its queue here; this queue is the encoder's, which skips frames.
            self.discarded_at = Some(frame.now);
            (self.queued_bits, self.ratio) = (0.0, 1.0);
            return;
        }
        let carried = carried(rates);
        let target = self.target_bps;
        let scale = self.inflection_scale();
        let ramp = self.ramp_bps_per_s.min(target / 2.0) * ADJUST_INTERVAL.as_secs_f64();
        let is_unused = target > USED_HEADROOM * carried;
        let change = if is_fast_start && queued_bits / carried.max(target) < SHORT_QUEUE {
            if is_unused { 0.0 } else { ramp * scale }
        } else {
            let headroom = 1.0 + 0.05 * (50_000.0 / target).min(1.0);
            let wanted = headroom * carried * (1.0 - self.guard * trend)
                - self.queue_factor * self.queued_bits
                - target;
            if wanted > 0.0 {
                let is_blocked = queued_bits > QUEUE_BITS || is_unused;
                if is_blocked { 0.0 } else { (wanted * scale).min(ramp) }
            } else {
                let produced = rates.encoded_bps();
                let is_off = produced < 0.8 * target || produced > 2.0 * target;
                if is_off { 0.0 } else { wanted }
            }
        };
        self.target_bps += change;
    }

    /// Returns the target, bit/s.
    pub(crate) const fn target_bps(&self) -> f64 {
        self.target_bps
    }

    /// Returns the rate requested from the encoder: the target, corrected by the encoder's deviation from it.
    pub(crate) fn encoder_rate(&self) -> Rate {
        Rate::from_bps_f64(self.target_bps * self.ratio)
    }
}

/// Returns the rate that gets through: the larger one of sent and acknowledged.
fn carried(rates: &RateMeter) -> f64 {
    rates.sent_bps().max(rates.acked_bps())
}
