//! Queueing delay: one-way delay above its base, the average that reacts, and the queue that never empties.

use crate::parts::BaseDelay;
use units::{Span, Time};

/// Minutes the base delay remembers (libwebrtc: 10 entries of one minute).
const BASE_MINUTES: usize = 10;
/// Weight of a sample above the average (`QDELAY_AVG_G`); smaller samples replace it.
const AVERAGE_GAIN: f64 = 0.25;
/// Share of the target above which a queue counts as standing.
const STANDING_SHARE: f64 = 0.25;

/// Queueing delay of one flow.
#[derive(Clone, Debug)]
pub(crate) struct QueueDelay {
    base: BaseDelay,
    latest_s: f64,
    average_s: f64,
    averaged_at: Option<Time>,
    /// Seconds above which the queue is standing.
    standing_s: f64,
    drain_after: Option<Span>,
    /// When the queue was last seen (nearly) empty.
    empty_at: Option<Time>,
    newest_ns: i64,
}

impl QueueDelay {
    /// `target_s` is the delay target; a queue that stands for `drain_after_s` seconds asks for a drain (0: never).
    pub(crate) fn new(target_s: f64, drain_after_s: f64) -> Self {
        Self {
            base: BaseDelay::new(BASE_MINUTES),
            latest_s: 0.0,
            average_s: 0.0,
            averaged_at: None,
            standing_s: target_s * STANDING_SHARE,
            drain_after: (drain_after_s > 0.0).then(|| Span::from_secs_f64(drain_after_s)),
            empty_at: None,
            newest_ns: 0,
        }
    }

    /// Takes the newest and the least one-way delay of an ACK (ns, any clock offset); averages every `interval`.
    pub(crate) fn add(&mut self, now: Time, newest_ns: i64, least_ns: i64, interval: Span) {
        self.base.add(now, least_ns);
        self.newest_ns = newest_ns;
        let base_ns = self.base.get().unwrap_or(newest_ns);
        self.latest_s = newest_ns.saturating_sub(base_ns).max(0) as f64 / 1e9;
        if self.averaged_at.is_none_or(|at| now - at >= interval) {
            self.averaged_at = Some(now);
            self.average_s = if self.latest_s < self.average_s {
                self.latest_s
            } else {
                self.average_s + AVERAGE_GAIN * (self.latest_s - self.average_s)
            };
        }
        if self.empty_at.is_none() || self.latest_s <= self.standing_s {
            self.empty_at = Some(now);
        }
    }

    /// Whether the queue has been standing for so long that it has to be drained to find its base again. If so, the base
    /// is forgotten.
    pub(crate) fn take_drain(&mut self, now: Time) -> bool {
        let (Some(after), Some(empty_at)) = (self.drain_after, self.empty_at) else { return false };
        let due = now - empty_at > after;
        if due {
            self.base = BaseDelay::new(BASE_MINUTES);
            self.base.add(now, self.newest_ns);
            self.empty_at = Some(now);
        }
        due
    }

    /// Queueing delay of the newest packet, seconds.
    pub(crate) const fn latest_s(&self) -> f64 {
        self.latest_s
    }

    /// Averaged queueing delay, seconds.
    pub(crate) const fn average_s(&self) -> f64 {
        self.average_s
    }
}
