//! Response to CE marks, with the parameter `ecn`: that of Linux's version 3, because the draft has none.
//!
//! Source: google/bbr@001a430, `net/ipv4/tcp_bbr.c`. The moving average `alpha` of the marked fraction is updated once
//! per round. Outside of probes the short-term bound on the flight loses `alpha / 3` in rounds with marks. If more than
//! half of the packets were marked, a probe ends; Startup ends after two such rounds. Paths of more than 5 ms do not
//! respond: their marks come from classic queues. Here the marked fraction of a probe covers whole rounds; Linux uses
//! the fraction of each rate sample.

use super::{Bbr3, State};
use crate::Ack;
use units::Span;

const ALPHA_GAIN: f64 = 1.0 / 16.0;
/// Part of `alpha` by which a bound is reduced.
const FACTOR: f64 = 1.0 / 3.0;
/// Marked fraction of a round above which too much is in flight.
const THRESHOLD: f64 = 0.5;
const STARTUP_ROUNDS: u32 = 2;
const MAX_RTT: Span = Span::from_ms(5);

#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// True if the minimum RTT was once short enough.
    is_eligible: bool,
    pub(super) alpha: f64,
    /// Marked fraction of the last whole round.
    share: f64,
    /// Counts of the present round, packets.
    delivered: f64,
    marked: f64,
    /// True if marks have come since the short-term bounds were last adapted.
    pub(super) in_round: bool,
    startup_rounds: u32,
}

impl Marks {
    pub(super) const fn new() -> Self {
        Self {
            is_eligible: false,
            alpha: 1.0,
            share: 0.0,
            delivered: 0.0,
            marked: 0.0,
            in_round: false,
            startup_rounds: 0,
        }
    }

    pub(super) fn on_marks(&mut self, packets: u64) {
        self.marked += packets as f64;
        self.in_round |= packets > 0;
    }

    /// Returns true if, by the marks of the last round, too much is in flight.
    pub(super) fn is_inflight_too_high(&self) -> bool {
        self.is_eligible && self.share > THRESHOLD
    }

    /// Returns the factor for a bound after a round with marks; `None` if the marks have no effect.
    pub(super) fn kept(&self) -> Option<f64> {
        (self.is_eligible && self.in_round).then_some(1.0 - self.alpha * FACTOR)
    }
}

impl Bbr3 {
    pub(super) fn update_marks(&mut self, ack: &Ack<'_>) {
        self.marks.delivered += ack.packets.len() as f64;
        if !self.settings.ecn || !self.round_start {
            return;
        }
        let marks = &mut self.marks;
        marks.is_eligible |= self.min_rtt.rtt.is_some_and(|rtt| rtt <= MAX_RTT);
        marks.share = (marks.marked / marks.delivered.max(1.0)).min(1.0);
        marks.alpha += ALPHA_GAIN * (marks.share - marks.alpha);
        (marks.delivered, marks.marked) = (0.0, 0.0);
        if self.state != State::Startup || self.full_bw_reached || !marks.is_eligible {
            return;
        }
        marks.startup_rounds = if marks.share >= THRESHOLD { marks.startup_rounds + 1 } else { 0 };
        if marks.startup_rounds >= STARTUP_ROUNDS {
            self.leave_full_startup();
        }
    }
}
