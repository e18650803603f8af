//! Differences between the authors' program and the draft, except mere constants.

use units::Span;

/// One of the two descriptions of `SCReAM` version 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Minimum time between two reactions to congestion. At longer RTTs reactions are scaled down by it.
    pub(crate) reaction_interval: Span,
    /// True if the window is updated once per reaction interval, at a reaction and at a new frame. False if it is
    /// updated with every ACK.
    pub(crate) updates_at_intervals: bool,
    /// True if the RTT is smoothed twice, and falls slowly while the encoder limits sending. False if it is the
    /// transport's RTT.
    pub(crate) slow_rtt: bool,
    /// True if a loss counts unless there was a reaction within an RTT. False if losses of one flight count once, and
    /// silence counts as a loss.
    pub(crate) loss_after_rtt: bool,
    /// True if a mark that comes too early for a reaction is forgotten.
    pub(crate) forgets_marks: bool,
    /// True if a slow average of its minima is subtracted from the averaged queueing delay.
    pub(crate) slow_minimum: bool,
    /// True if arrival times are known in 1/1024 s, as in reports of RFC 8888. The delay then seems to vary by a unit.
    pub(crate) rounds_arrivals: bool,
    /// True if reactions to queueing delay are scaled by the RTT twice, and end multiplicative growth like losses.
    pub(crate) strict_delay: bool,
    /// Minimum RTT for the return of multiplicative growth.
    pub(crate) min_recovery_rtt: Span,
    /// Initial average of the fraction of marked packets.
    pub(crate) initial_alpha: f64,
    /// Time for which the first window holds the start rate; `None`: the first RTT.
    pub(crate) start_span: Option<Span>,
    /// True if multiplicative growth returns slowly from the start on, as after congestion. False if it is there from the
    /// start. (The program's clock begins with the flow, and `lastCongestionDetectedT_ntp` at 0.)
    pub(crate) starts_congested: bool,
    /// True if packets are paced only from the first report on.
    pub(crate) paces_after_report: bool,
    /// True if near the highest bitrate the window is bounded by that bitrate's need and by the maximum flight.
    pub(crate) bounds_at_maximum: bool,
    /// Relation of the target to the window.
    pub(crate) media: MediaForm,
}

/// Relation of the encoder's target to the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaForm {
    /// Weight of a frame's wait in the rate adjustment.
    pub(crate) adjust_gain: f64,
    /// Fraction of the frame period that a frame may wait without lowering the target.
    pub(crate) tolerated_wait: f64,
    /// True if the target is divided by the sum of the margin, the rate adjustment and the average excess of frame
    /// sizes. False if it is divided by the margin and then by one plus the rate adjustment.
    pub(crate) adds_to_margin: bool,
    /// Time added to the RTT when the window is turned into a rate, and maximum RTT for this.
    pub(crate) extra_rtt: Span,
    pub(crate) max_rtt: Span,
    /// True if the pacing rate is at least the encoder's rate of the last 400 ms.
    pub(crate) paces_recent_frames: bool,
    /// Minimum duration of a drain.
    pub(crate) min_drain: Span,
}

/// Form of the authors' program.
pub(crate) const PROGRAM: Form = Form {
    reaction_interval: Span::from_ms(30),
    updates_at_intervals: true,
    slow_rtt: true,
    loss_after_rtt: true,
    forgets_marks: true,
    slow_minimum: true,
    rounds_arrivals: true,
    strict_delay: true,
    min_recovery_rtt: Span::ZERO,
    initial_alpha: 0.1,
    start_span: Some(Span::from_ms(100)),
    starts_congested: true,
    paces_after_report: true,
    bounds_at_maximum: true,
    media: MediaForm {
        adjust_gain: 0.2 / 8.0,
        tolerated_wait: 0.5,
        adds_to_margin: false,
        extra_rtt: Span::from_ms(1),
        max_rtt: Span::from_ms(200),
        paces_recent_frames: true,
        min_drain: Span::from_ms(100),
    },
};

/// Form of the draft.
pub(crate) const DRAFT: Form = Form {
    reaction_interval: Span::from_ms(25),
    updates_at_intervals: false,
    slow_rtt: false,
    loss_after_rtt: false,
    forgets_marks: false,
    slow_minimum: false,
    rounds_arrivals: false,
    strict_delay: false,
    min_recovery_rtt: Span::from_ms(25),
    initial_alpha: 0.0,
    start_span: None,
    starts_congested: false,
    paces_after_report: false,
    bounds_at_maximum: false,
    media: MediaForm {
        adjust_gain: 1.0 / 16.0,
        tolerated_wait: 0.25,
        adds_to_margin: true,
        extra_rtt: Span::ZERO,
        max_rtt: Span::MAX,
        paces_recent_frames: false,
        min_drain: Span::from_ms(200),
    },
};
