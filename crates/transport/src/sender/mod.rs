//! The sending side of a flow: its parts, and what can be asked about them. Acknowledgements are processed in `ack`,
//! packets leave in `transmit`, timers expire in `expire`.

mod ack;
mod expire;
mod stats;
mod transmit;

use crate::application::Application;
use crate::bursts::Bursts;
use crate::config::{Config, WindowRounding};
use crate::ecn::{EcnMode, EcnValidator};
use crate::encoder::EncoderStats;
use crate::flight::{Flight, Verdict};
use crate::integrals::{Integrals, Levels};
use crate::keepalive::Keepalive;
use crate::loss::LossDetector;
use crate::opening::Opening;
use crate::pacer::Pacer;
use crate::rate::RateSampler;
use crate::recovery::{Frontier, Recovery};
use crate::rounds::Rounds;
use crate::rtt::RttEstimator;
use crate::stream::Stream;
use crate::timers::Timers;
use crate::wire::EcnCounts;
use congestion::{Agent, Control, Controller, FieldSink};
pub use stats::SenderStats;
pub use transmit::MEDIA_SHARE;
use units::{Rate, Span, Time};

/// Sender of one flow.
#[derive(Debug)]
pub struct Sender {
    controller: Box<dyn Controller>,
    /// What the controller allowed after the latest event.
    control: Control,
    /// What is to be sent.
    stream: Stream,
    /// What was sent and is not settled.
    flight: Flight,
    detector: LossDetector,
    recovery: Recovery,
    rtt: RttEstimator,
    sampler: RateSampler,
    rounds: Rounds,
    pacer: Pacer,
    bursts: Bursts,
    timers: Timers,
    keepalive: Keepalive,
    integrals: Integrals,
    /// Packets that the receiver saw with each codepoint.
    ecn: EcnCounts,
    max_window_bytes: u64,
    start: Time,
    stop: Time,
    /// When the last filler packet left: without pacing there is one at a time.
    filler_at: Time,
    /// Packets to send regardless of window and pacing.
    probes: u32,
    payload_bytes: u32,
    header_bytes: u32,
    validator: EcnValidator,
    window_rounding: WindowRounding,
    limited_transmit: bool,
    /// Whether windows decay while nothing is in flight, and for how many timeouts nothing was before the next packet.
    restart_window: bool,
    idle_timeouts: u32,
    /// Whether the flow was asked for packets since its start.
    started: bool,
    /// Connection set-up.
    opening: Opening,
    /// Whether the last poll stopped at the window.
    blocked: bool,
    /// Whether somebody outside decides, and whether a decision is due.
    is_agent: bool,
    awaits_decision: bool,
}

impl Sender {
    /// A sender that opens at `start` and falls silent at `stop`.
    pub fn new(
        config: &Config,
        mut controller: Box<dyn Controller>,
        application: Application,
        start: Time,
        stop: Time,
    ) -> Self {
        Self {
            control: controller.control(),
            is_agent: controller.agent().is_some(),
            awaits_decision: false,
            controller,
            stream: Stream::new(config, application),
            flight: Flight::new(config),
            detector: LossDetector::new(config, 0),
            recovery: Recovery::new(config),
            rtt: RttEstimator::new(config),
            sampler: RateSampler::default(),
            rounds: Rounds::default(),
            pacer: Pacer::new(start, config),
            bursts: Bursts::new(config),
            timers: Timers::new(config, start),
            keepalive: Keepalive::new(config, start),
            integrals: Integrals::new(start, stop),
            ecn: EcnCounts::default(),
            max_window_bytes: config.max_window_bytes,
            start,
            stop,
            filler_at: Time::NEVER,
            probes: 0,
            payload_bytes: config.payload_bytes,
            header_bytes: config.header_bytes,
            validator: EcnValidator::new(config.ecn, config.ecn_validation),
            window_rounding: config.window_rounding,
            limited_transmit: config.limited_transmit,
            restart_window: config.restart_window,
            idle_timeouts: 0,
            started: false,
            opening: Opening::new(config),
            blocked: false,
        }
    }

    /// The same with the seed for what the transport leaves to chance.
    #[must_use]
    pub fn with_seed(self, config: &Config, seed: u64) -> Self {
        Self { detector: LossDetector::new(config, seed), ..self }
    }

    /// Under a real clock a driver comes late: the pacer makes up for at most `slack` of that. Zero by default.
    pub const fn set_timer_slack(&mut self, slack: Span) {
        self.pacer.set_timer_slack(slack);
    }

    /// Who decides for the controller from outside, if somebody does.
    pub fn agent(&mut self) -> Option<&mut Agent> {
        self.controller.agent()
    }

    /// Whether a decision of that agent is due. The driver does not poll for packets until it is made.
    pub const fn awaits_decision(&self) -> bool {
        self.awaits_decision
    }

    /// Decides for the agent; poll for packets afterwards.
    pub fn decide(&mut self, now: Time, action: &[f32]) {
        if let Some(agent) = self.controller.agent() {
            agent.act(now, action);
        }
        self.refresh_control();
    }

    /// When the last byte of a finite transfer was acknowledged.
    pub fn completed_at(&self) -> Option<Time> {
        self.stream.completed_at()
    }

    /// ECN codepoint of the data packets that leave now.
    pub const fn ecn_codepoint(&self) -> EcnMode {
        self.validator.codepoint()
    }

    /// Brings the integrals over time up to `now`, or to the flow's stop.
    pub fn integrate_to(&mut self, now: Time) {
        if !self.integrals.pending(now).is_zero() {
            let levels = Levels {
                window_bytes: self.has_window().then(|| self.window_bytes()),
                in_flight_bytes: self.flight.bytes(),
                srtt: self.rtt.known(),
                delivery_rate: self.sampler.latest(),
            };
            self.integrals.add(now, &levels);
        }
    }

    /// Bytes in flight now.
    pub const fn in_flight_bytes(&self) -> u64 {
        self.flight.bytes()
    }

    /// Packets that it keeps in memory: those sent and not settled yet.
    pub fn packets_held(&self) -> u64 {
        self.flight.next_number() - self.flight.base()
    }

    /// The smoothed RTT, once there is one.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.known()
    }

    /// Bytes that may be in flight now.
    pub fn window_bytes(&self) -> u64 {
        self.allowed_bytes().min(self.max_window_bytes)
    }

    /// Bytes that controller and recovery allow in flight.
    fn allowed_bytes(&self) -> u64 {
        self.recovery.window().unwrap_or(self.control.window_bytes)
    }

    /// Whether the flow has begun and is not over: later its state says nothing any more.
    pub fn is_active(&self, now: Time) -> bool {
        let is_over = now > self.stop || (self.stream.completed_at().is_some() && self.flight.bytes() == 0);
        now >= self.start && !is_over
    }

    /// Data packets sent so far, retransmissions and the opener included.
    pub fn packets_sent(&self) -> u64 {
        self.flight.next_number()
    }

    /// Bytes the application has written to the socket.
    pub fn accepted_bytes(&self) -> u64 {
        if self.opening.is_over() { self.stream.accepted_bytes() } else { 0 }
    }

    /// What the encoder of a live source has done.
    pub fn encoder_stats(&self) -> Option<EncoderStats> {
        self.stream.encoder_stats()
    }

    /// What the last [`Sender::on_ack`] or [`Sender::on_timer`] found out about packets, in that order.
    pub fn verdicts(&self) -> &[Verdict] {
        self.flight.verdicts()
    }

    /// State of transport and controller by name and unit, for time series.
    pub fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("in_flight", "bytes", self.flight.bytes() as f64);
        sink.put("delivered", "bytes", self.sampler.delivered_bytes() as f64);
        sink.put("srtt", "ms", self.rtt.known().map_or(f64::NAN, Span::as_ms_f64));
        sink.put("delivery_rate", "Mbit/s", self.sampler.latest().mbps());
        if let Some(bitrate) = self.stream.bitrate() {
            sink.put("encoder_rate", "Mbit/s", bitrate.mbps());
        }
        self.controller.fields(sink);
    }

    /// [`Sender::fields`], and what the transport adds to it: everything that a trace of every event shows.
    pub fn all_fields(&self, sink: &mut dyn FieldSink) {
        let rtt_ms = |rtt: Span| self.rtt.known().map_or(f64::NAN, |_| rtt.as_ms_f64());
        sink.put("window", "bytes", if self.has_window() { self.window_bytes() as f64 } else { f64::NAN });
        sink.put("pacing", "Mbit/s", self.pacing_rate().map_or(f64::NAN, Rate::mbps));
        sink.put("latest_rtt", "ms", rtt_ms(self.rtt.latest()));
        sink.put("lowest_rtt", "ms", rtt_ms(self.rtt.min()));
        sink.put("rttvar", "ms", rtt_ms(self.rtt.variation()));
        sink.put("recovery", "0 no, 1 yes", f64::from(u8::from(self.recovery.episode().is_active())));
        if let Some(is_valid) = self.validator.field() {
            sink.put("ecn_valid", "0 no, 1 yes", is_valid);
        }
        self.fields(sink);
    }

    /// Whether a window limits what is in flight, besides the largest one that is configured.
    fn has_window(&self) -> bool {
        self.recovery.window().is_some() || self.control.window_bytes != u64::MAX
    }

    /// The rate at which packets leave, if they do not leave as fast as the window opens.
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        let threshold = || self.controller.slow_start_threshold_bytes();
        self.pacer.rate(&self.control, self.window_bytes(), self.rtt.known(), threshold)
    }

    /// Reads what the controller allows after an event.
    fn refresh_control(&mut self) {
        self.control = self.controller.control();
        if self.control.app_limited {
            self.sampler.mark_app_limited(self.flight.bytes());
        }
        if self.is_agent {
            self.awaits_decision = self.controller.agent().is_some_and(|agent| agent.is_waiting());
        }
    }

    /// What is sent next.
    fn frontier(&self) -> Frontier {
        Frontier { number: self.flight.next_number(), offset: self.stream.next_offset() }
    }

    /// Tells the stream what packets the detector has just declared lost.
    fn resend_lost(&mut self) {
        for lost in self.flight.lost() {
            if let Some(packet) = self.flight.get(lost.number) {
                self.stream.on_lost(lost.number, packet);
            }
        }
    }
}
