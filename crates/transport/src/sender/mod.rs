//! Sending side of a flow: its parts and its public state. `ack` processes acknowledgements, `transmit` sends packets,
//! `expire` handles timers.

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
    /// Decisions of the controller after the latest event.
    control: Control,
    /// Data to send.
    stream: Stream,
    /// Packets sent and not settled.
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
    /// Packets that the receiver counted per ECN codepoint.
    ecn: EcnCounts,
    max_window_bytes: u64,
    start: Time,
    stop: Time,
    /// Departure of the last filler packet: without pacing there is one at a time.
    filler_at: Time,
    /// Packets to send regardless of window and pacing.
    probes: u32,
    payload_bytes: u32,
    header_bytes: u32,
    validator: EcnValidator,
    window_rounding: WindowRounding,
    limited_transmit: bool,
    /// True if windows decay while nothing is in flight; and the idle time before the next packet, in timeouts.
    restart_window: bool,
    idle_timeouts: u32,
    /// True if the flow was polled for packets since its start.
    started: bool,
    /// Connection set-up.
    opening: Opening,
    /// True if the window blocked the last poll.
    blocked: bool,
    /// True if an agent outside decides; and true if a decision is due.
    is_agent: bool,
    awaits_decision: bool,
}

impl Sender {
    /// Returns a sender that starts at `start` and falls silent at `stop`.
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

    /// Sets the seed for random choices of the transport.
    #[must_use]
    pub fn with_seed(self, config: &Config, seed: u64) -> Self {
        Self { detector: LossDetector::new(config, seed), ..self }
    }

    /// Sets the timer slack, the maximum lateness that the pacer makes up for. Drivers under a real clock are late.
    /// Zero by default.
    pub const fn set_timer_slack(&mut self, slack: Span) {
        self.pacer.set_timer_slack(slack);
    }

    /// Returns the external agent that decides for the controller, if one is connected.
    pub fn agent(&mut self) -> Option<&mut Agent> {
        self.controller.agent()
    }

    /// Returns true if a decision of the agent is due. The driver does not poll for packets until the decision is made.
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

    /// Returns the time at which the last byte of a finite transfer was acknowledged.
    pub fn completed_at(&self) -> Option<Time> {
        self.stream.completed_at()
    }

    /// Returns the ECN codepoint of the data packets that leave now.
    pub const fn ecn_codepoint(&self) -> EcnMode {
        self.validator.codepoint()
    }

    /// Brings the integrals over time up to `now`, or to the flow's stop.
    pub fn integrate_to(&mut self, now: Time) {
        if !self.integrals.pending(now).is_zero() {
            let levels = Levels {
                window_bytes: self.has_window().then(|| self.window_bytes()),
                in_flight_bytes: self.flight.bytes(),
                srtt: self.rtt.smoothed_if_sampled(),
                delivery_rate: self.sampler.latest(),
            };
            self.integrals.add(now, &levels);
        }
    }

    /// Returns the bytes in flight now.
    pub const fn in_flight_bytes(&self) -> u64 {
        self.flight.bytes()
    }

    /// Returns the number of packets in memory: sent and not settled yet.
    pub fn packets_held(&self) -> u64 {
        self.flight.next_number() - self.flight.base()
    }

    /// Returns the smoothed RTT; `None` before the first sample.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.smoothed_if_sampled()
    }

    /// Returns the bytes that may be in flight now.
    pub fn window_bytes(&self) -> u64 {
        self.allowed_bytes().min(self.max_window_bytes)
    }

    /// Returns the bytes that controller and recovery allow in flight.
    fn allowed_bytes(&self) -> u64 {
        self.recovery.window().unwrap_or(self.control.window_bytes)
    }

    /// Returns true from the flow's start to its end. Later its state has no meaning.
    pub fn is_active(&self, now: Time) -> bool {
        let is_over = now > self.stop || (self.stream.completed_at().is_some() && self.flight.bytes() == 0);
        now >= self.start && !is_over
    }

    /// Returns the data packets sent so far, including retransmissions and the handshake packet.
    pub fn packets_sent(&self) -> u64 {
        self.flight.next_number()
    }

    /// Returns the bytes that the application has written to the socket.
    pub fn accepted_bytes(&self) -> u64 {
        if self.opening.is_over() { self.stream.accepted_bytes() } else { 0 }
    }

    /// Returns the counters of a live source's encoder.
    pub fn encoder_stats(&self) -> Option<EncoderStats> {
        self.stream.encoder_stats()
    }

    /// Returns the verdicts of the last [`Sender::on_ack`] or [`Sender::on_timer`] on packets, in order.
    pub fn verdicts(&self) -> &[Verdict] {
        self.flight.verdicts()
    }

    /// Writes the state of transport and controller by name and unit, for time series.
    pub fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("in_flight", "bytes", self.flight.bytes() as f64);
        sink.put("delivered", "bytes", self.sampler.delivered_bytes() as f64);
        sink.put("srtt", "ms", self.rtt.smoothed_if_sampled().map_or(f64::NAN, Span::as_ms_f64));
        sink.put("delivery_rate", "Mbit/s", self.sampler.latest().mbps());
        if let Some(bitrate) = self.stream.bitrate() {
            sink.put("encoder_rate", "Mbit/s", bitrate.mbps());
        }
        self.controller.fields(sink);
    }

    /// Writes [`Sender::fields`] and further fields of the transport: everything that a trace of every event shows.
    pub fn all_fields(&self, sink: &mut dyn FieldSink) {
        let rtt_ms = |rtt: Span| self.rtt.smoothed_if_sampled().map_or(f64::NAN, |_| rtt.as_ms_f64());
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

    /// Returns true if a window other than the configured maximum limits the bytes in flight.
    fn has_window(&self) -> bool {
        self.recovery.window().is_some() || self.control.window_bytes != u64::MAX
    }

    /// Returns the pacing rate; `None` if packets leave as fast as the window opens.
    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        let threshold = || self.controller.slow_start_threshold_bytes();
        self.pacer.rate(&self.control, self.window_bytes(), self.rtt.smoothed_if_sampled(), threshold)
    }

    /// Reads the controller's decisions after an event.
    fn refresh_control(&mut self) {
        self.control = self.controller.control();
        if self.control.app_limited {
            self.sampler.mark_app_limited(self.flight.bytes());
        }
        if self.is_agent {
            self.awaits_decision = self.controller.agent().is_some_and(|agent| agent.is_waiting());
        }
    }

    /// Returns the position of the next transmission.
    fn frontier(&self) -> Frontier {
        Frontier { number: self.flight.next_number(), offset: self.stream.next_offset() }
    }

    /// Passes the packets that the detector has just declared lost to the stream.
    fn resend_lost(&mut self) {
        for lost in self.flight.lost() {
            if let Some(packet) = self.flight.get(lost.number) {
                self.stream.on_lost(lost.number, packet);
            }
        }
    }
}
