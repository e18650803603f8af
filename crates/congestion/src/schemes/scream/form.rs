//! Where the authors' program and the draft differ in more than numbers.

use units::Span;

/// One of the two descriptions of `SCReAM` version 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Shortest time between two reactions to congestion; reactions at longer RTTs are scaled down by it.
    pub(crate) reaction_interval: Span,
    /// The window is updated once per reaction interval, at a reaction and at a new frame, not with every ACK.
    pub(crate) updates_at_intervals: bool,
    /// The RTT is smoothed twice, and falls slowly while the encoder limits sending; otherwise it is the transport's.
    pub(crate) slow_rtt: bool,
    /// A loss counts unless there was a reaction within an RTT; otherwise losses of one flight count once, and silence
    /// counts as a loss.
    pub(crate) loss_after_rtt: bool,
    /// A mark that comes too early for a reaction is forgotten.
    pub(crate) forgets_marks: bool,
    /// The averaged queueing delay is counted from a slow average of its minima.
    pub(crate) slow_minimum: bool,
    /// Arrival times are known in 1/1024 s, as reports of RFC 8888 have them: the delay seems to vary by a unit.
    pub(crate) rounds_arrivals: bool,
    /// Reactions to queueing delay are scaled by the RTT twice, and end multiplicative growth as losses do.
    pub(crate) strict_delay: bool,
    /// Shortest RTT for which multiplicative growth comes back.
    pub(crate) min_recovery_rtt: Span,
    /// Averaged share of marked packets at the start.
    pub(crate) initial_alpha: f64,
    /// Time for which the first window holds the start rate; `None`: the first RTT.
    pub(crate) start_span: Option<Span>,
    /// Multiplicative growth comes back from the start on, as after congestion; otherwise it is there from the start on.
    /// (The program's clock begins with it, and `lastCongestionDetectedT_ntp` at 0.)
    pub(crate) starts_congested: bool,
    /// Packets are paced from the first report on, not before.
    pub(crate) paces_after_report: bool,
    /// Near the highest bitrate the window is bounded by what that needs and by what was in flight.
    pub(crate) bounds_at_maximum: bool,
    /// How the target follows from the window.
    pub(crate) media: MediaForm,
}

/// How the encoder's target follows from the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaForm {
    /// Weight of a frame's wait in the rate adjustment.
    pub(crate) adjust_gain: f64,
    /// Share of the frame period that a frame may wait without lowering the target.
    pub(crate) tolerated_wait: f64,
    /// If true, the target is divided by the sum of the margin, the rate adjustment and the average excess of frame
    /// sizes. If false, it is divided by the margin and then by one plus the rate adjustment.
    pub(crate) adds_to_margin: bool,
    /// Time added to the RTT when the window is turned into a rate, and the largest RTT that is used for it.
    pub(crate) extra_rtt: Span,
    pub(crate) max_rtt: Span,
    /// The pacing rate is at least that of the encoder's last 400 ms.
    pub(crate) paces_recent_frames: bool,
    /// Shortest drain.
    pub(crate) min_drain: Span,
}

/// The authors' program.
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

/// The draft.
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
