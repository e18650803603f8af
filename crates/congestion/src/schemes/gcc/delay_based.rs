//! Delay-based estimate: a sequence of groups, trendline and AIMD (libwebrtc M150,
//! `modules/congestion_controller/goog_cc/delay_based_bwe.cc`).

use super::aimd::Aimd;
use super::arrival::Groups;
use super::trendline::{Trendline, Usage};
use crate::Parameters;
use units::{Span, Time};

/// Time without feedback after which delays restart.
const STREAM_TIMEOUT: Span = Span::from_secs(2);

/// Effects of one feedback on the estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// True if the estimate may have changed.
    pub(super) updated: bool,
    /// True if a probe changed the estimate.
    pub(super) from_probe: bool,
    /// True if the queue had been draining and is now steady.
    pub(super) recovered: bool,
}

/// Delay-based estimator.
#[derive(Debug)]
pub(super) struct DelayBased {
    parameters: Parameters,
    groups: Groups,
    trendline: Trendline,
    aimd: Aimd,
    reported_at: Option<Time>,
    recovered: bool,
}

impl DelayBased {
    /// Returns an estimator; rates in bit/s.
    pub(super) fn new(parameters: &Parameters, start_rate: f64, min_rate: f64) -> Self {
        Self {
            parameters: parameters.clone(),
            groups: Groups::default(),
            trendline: Trendline::new(parameters),
            aimd: Aimd::new(parameters, start_rate, min_rate),
            reported_at: None,
            recovered: false,
        }
    }

    /// Begins a feedback.
    pub(super) fn begin_report(&mut self, now: Time, rtt: Span) {
        if self.reported_at.is_none_or(|reported_at| now - reported_at > STREAM_TIMEOUT) {
            self.groups = Groups::default();
            self.trendline = Trendline::new(&self.parameters);
        }
        self.reported_at = Some(now);
        self.recovered = false;
        self.aimd.set_rtt(rtt);
    }

    /// Adds one packet of the feedback, in the order of arrival.
    pub(super) fn on_received(&mut self, now: Time, sent_at: Time, arrival: Time) {
        let before = self.usage();
        if let Some(deltas) = self.groups.add(sent_at, arrival, now) {
            self.trendline.update(deltas, arrival);
        }
        self.recovered |= before == Usage::Underuse && self.usage() == Usage::Normal;
    }

    /// Ends the feedback. `acked` is the receive rate, `probe` the result of a probe, both bit/s.
    pub(super) fn end_report(&mut self, now: Time, acked: Option<f64>, probe: Option<f64>) -> News {
        let usage = self.usage();
        let updated = self.aimd.update(now, usage, acked, probe);
        let from_probe = probe.is_some() && usage != Usage::Overuse;
        let recovered = self.recovered && usage != Usage::Overuse && !from_probe;
        News { updated, from_probe, recovered }
    }

    /// Returns the estimate, bit/s.
    pub(super) const fn rate(&self) -> f64 {
        self.aimd.rate()
    }

    /// Returns the link's capacity, bit/s; `None` before an overuse.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.aimd.capacity()
    }

    pub(super) const fn usage(&self) -> Usage {
        self.trendline.usage()
    }

    pub(super) const fn trendline(&self) -> &Trendline {
        &self.trendline
    }
}
