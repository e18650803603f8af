//! The sending side: what may leave now, and when to ask again. Acknowledgements are processed in `acked.rs`.

use crate::application::Application;
use crate::config::{Config, Ecn, LossDetection, TimerKind, WindowRounding, ms};
use crate::encoder::{EncoderStats, FrameMark};
use crate::pacer::Pacer;
use crate::rate::RateSampler;
use crate::recovery::{Episode, Prr};
use crate::rtt::RttEstimator;
use crate::scoreboard::{Progress, Scoreboard};
use crate::sent::{Fate, SentPacket, SentPackets};
use crate::timers::{Expiry, Timers};
use crate::wire::{Data, EcnCounts};
use congestion::{AckedPacket, Control, Controller, FieldSink, Message, Sent, Timeout, TimeoutKind};
use std::collections::VecDeque;
use units::{Rate, Span, Time};

/// Share of a window or pacing rate that an encoder is to fill whose controller names no rate.
pub const MEDIA_SHARE: f64 = 0.9;

/// Counters and exact time integrals of the sending side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent, retransmissions and the opener included.
    pub packets_sent: u64,
    /// Packets sent that carried payload sent before.
    pub retransmissions: u64,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Packets declared lost that turned out to be delivered.
    pub spurious_losses: u64,
    /// Recovery episodes that losses began.
    pub episodes: u64,
    /// Expiries of the retransmission timer, and persistent congestion.
    pub timeouts: u64,
    /// Probes sent.
    pub probes: u64,
    /// Integral of the window over time, byte * ns.
    pub window_byte_ns: u128,
    /// Time in which there was a window.
    pub window_active: Span,
    /// Integral of bytes in flight over time, byte * ns.
    pub in_flight_byte_ns: u128,
    /// Integral of the smoothed RTT over time, ns * ns.
    pub srtt_ns_ns: u128,
    /// Time since the first RTT sample.
    pub srtt_active: Span,
    /// Integral of the latest delivery rate over time, bit/s * ns.
    pub delivery_rate_ns: u128,
    /// Time since the first delivery rate.
    pub delivery_rate_active: Span,
    /// Time the integrals cover: from the start until the stop, or until a finite transfer is complete.
    pub active: Span,
    /// Loss episodes that are over.
    pub recoveries: u64,
    /// How long they took together.
    pub recovery: Span,
    /// When the last byte of a finite transfer was acknowledged.
    pub completed_at: Option<Time>,
}

/// The sender's last word on a packet for now: it was acknowledged or declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Packet number.
    pub number: u64,
    /// Payload bytes of the packet.
    pub payload_bytes: u32,
    /// Whether it was declared lost. A lost packet may still be acknowledged: a spurious loss.
    pub lost: bool,
}

/// What a packet carries: new payload, payload to send again, or filler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// Number of the packet that was lost with it; `u64::MAX` if it was never sent.
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) payload_bytes: u32,
    pub(crate) filler: bool,
}

/// A value now and its largest since the start of the previous round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundPeak {
    current: u64,
    previous: u64,
}

impl RoundPeak {
    pub(crate) fn note(&mut self, value: u64) {
        self.current = self.current.max(value);
    }

    pub(crate) fn next_round(&mut self, value: u64) {
        self.previous = self.current;
        self.current = value;
    }

    pub(crate) fn peak(self) -> u64 {
        self.current.max(self.previous)
    }
}

/// Sender of one flow.
#[derive(Debug)]
pub struct Sender {
    pub(crate) config: Config,
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) control: Control,
    application: Application,
    start: Time,
    stop: Time,
    /// Whether the flow was asked for packets since its start.
    started: bool,
    pub(crate) established: bool,
    pub(crate) sent: SentPackets,
    pub(crate) in_flight: u64,
    pub(crate) rtt: RttEstimator,
    pub(crate) sampler: RateSampler,
    pub(crate) pacer: Pacer,
    pub(crate) timers: Timers,
    pub(crate) episode: Episode,
    pub(crate) prr: Option<Prr>,
    /// When the present loss episode began.
    recovery_since: Option<Time>,
    /// Segments by sequence, where losses are told from it.
    pub(crate) board: Option<Scoreboard>,
    /// What the ACK being processed tells about the stream.
    pub(crate) progress: Progress,
    /// The stream has arrived up to here.
    pub(crate) complete: u64,
    pub(crate) resend: VecDeque<Load>,
    pub(crate) next_offset: u64,
    pub(crate) largest_acked: Option<u64>,
    pub(crate) next_ack: u64,
    pub(crate) next_round_delivered: u64,
    pub(crate) peak_in_flight: RoundPeak,
    pub(crate) window_limited: RoundPeak,
    /// Whether the last poll stopped at the window.
    pub(crate) blocked: bool,
    /// When the time threshold makes the next packet lost.
    pub(crate) loss_at: Time,
    /// When the pacer lets the next packet go; never while it is not the pacer that we wait for.
    pace_at: Time,
    waits_for_application: bool,
    keepalive_at: Time,
    /// When the last filler packet left: without pacing there is one at a time.
    filler_at: Time,
    /// Packets to send regardless of window and pacing.
    pub(crate) probes: u32,
    /// Duplicate ACKs in a row (without selective acknowledgement).
    pub(crate) duplicates: u64,
    pub(crate) ecn: EcnCounts,
    pub(crate) latest_rate: Rate,
    /// Application bytes of the packets acknowledged completely.
    pub(crate) payload_acked: u64,
    pub(crate) acked: Vec<AckedPacket>,
    pub(crate) lost: Vec<AckedPacket>,
    /// Those of the last call.
    pub(crate) verdicts: Vec<Verdict>,
    integrated_at: Time,
    pub(crate) stats: SenderStats,
}

impl Sender {
    /// A sender that opens at `start` and falls silent at `stop`.
    pub fn new(
        config: Config,
        controller: Box<dyn Controller>,
        mut application: Application,
        start: Time,
        stop: Time,
    ) -> Self {
        let keepalive_at = if config.keepalive_ms > 0.0 { start } else { Time::NEVER };
        if config.send_buffer_bytes > 0 {
            application.make_room(config.send_buffer_bytes);
        }
        Self {
            control: controller.control(),
            timers: Timers::new(&config, start),
            established: !config.handshake,
            controller,
            application,
            start,
            stop,
            started: false,
            sent: SentPackets::new(),
            in_flight: 0,
            rtt: RttEstimator::new(),
            sampler: RateSampler::default(),
            pacer: Pacer::new(start),
            episode: Episode::new(config.timer == TimerKind::Rto && config.reliable),
            prr: None,
            recovery_since: None,
            board: (config.loss_detection == LossDetection::Sequence).then(Scoreboard::default),
            progress: Progress::default(),
            complete: 0,
            resend: VecDeque::new(),
            next_offset: 0,
            largest_acked: None,
            next_ack: 0,
            next_round_delivered: 0,
            peak_in_flight: RoundPeak::default(),
            window_limited: RoundPeak::default(),
            blocked: false,
            loss_at: Time::NEVER,
            pace_at: Time::NEVER,
            waits_for_application: false,
            keepalive_at,
            filler_at: Time::NEVER,
            probes: 0,
            duplicates: 0,
            ecn: EcnCounts::default(),
            latest_rate: Rate::ZERO,
            payload_acked: 0,
            acked: Vec::with_capacity(64),
            lost: Vec::with_capacity(64),
            verdicts: Vec::with_capacity(64),
            integrated_at: start,
            config,
            stats: SenderStats::default(),
        }
    }

    /// Under a real clock a driver comes late: the pacer makes up for at most `slack` of that. Zero by default.
    pub const fn set_timer_slack(&mut self, slack: Span) {
        self.pacer.set_timer_slack(slack);
    }

    /// ECN codepoint of data packets.
    pub const fn ecn_codepoint(&self) -> Ecn {
        self.config.ecn
    }

    /// Counters; call [`Sender::finish`] first for integrals up to the end.
    pub const fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// Brings the integrals up to `now` (or to the flow's stop).
    pub fn finish(&mut self, now: Time) {
        self.integrate(now.min(self.stop));
    }

    /// Bytes in flight now.
    pub const fn in_flight_bytes(&self) -> u64 {
        self.in_flight
    }

    /// The smoothed RTT, once there is one.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.has_sample().then(|| self.rtt.smoothed())
    }

    /// Bytes that may be in flight now.
    pub fn window_bytes(&self) -> u64 {
        let window = self.prr.as_ref().map_or(self.control.window_bytes, Prr::window);
        window.min(self.config.max_window_bytes)
    }

    /// Whether the flow has begun and is not over: later its state says nothing any more.
    pub fn is_active(&self, now: Time) -> bool {
        let is_over = now > self.stop || (self.stats.completed_at.is_some() && self.in_flight == 0);
        now >= self.start && !is_over
    }

    /// State of transport and controller by name and unit, for time series.
    pub fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("in_flight", "bytes", self.in_flight as f64);
        sink.put("delivered", "bytes", self.sampler.delivered_bytes as f64);
        sink.put(
            "srtt",
            "ms",
            if self.rtt.has_sample() { self.rtt.smoothed().as_ms_f64() } else { f64::NAN },
        );
        sink.put("delivery_rate", "Mbit/s", self.latest_rate.mbps());
        if let Some(bitrate) = self.application.bitrate() {
            sink.put("encoder_rate", "Mbit/s", bitrate.mbps());
        }
        self.controller.fields(sink);
    }

    /// [`Sender::fields`], and what the transport adds to it: everything that a trace of every event shows.
    pub fn all_fields(&self, sink: &mut dyn FieldSink) {
        let rtt_ms = |rtt: Span| if self.rtt.has_sample() { rtt.as_ms_f64() } else { f64::NAN };
        sink.put("window", "bytes", if self.has_window() { self.window_bytes() as f64 } else { f64::NAN });
        sink.put("pacing", "Mbit/s", self.pacing_rate().map_or(f64::NAN, Rate::mbps));
        sink.put("latest_rtt", "ms", rtt_ms(self.rtt.latest()));
        sink.put("lowest_rtt", "ms", rtt_ms(self.rtt.min()));
        sink.put("rttvar", "ms", rtt_ms(self.rtt.variation()));
        sink.put("recovery", "0 no, 1 yes", f64::from(u8::from(self.episode.is_active())));
        self.fields(sink);
    }

    /// What the last [`Sender::on_ack`] or [`Sender::on_timer`] found out about packets, in that order.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Whether a window limits what is in flight, besides the largest one that is configured.
    const fn has_window(&self) -> bool {
        self.prr.is_some() || self.control.window_bytes != u64::MAX
    }

    pub(crate) fn integrate(&mut self, now: Time) {
        let now = now.min(self.stop);
        let span = now - self.integrated_at;
        self.integrated_at = self.integrated_at.max(now);
        if span.is_zero() || self.stats.completed_at.is_some() {
            return;
        }
        let ns = u128::from(span.as_ns());
        if self.has_window() {
            self.stats.window_byte_ns += u128::from(self.window_bytes()) * ns;
            self.stats.window_active += span;
        }
        self.stats.in_flight_byte_ns += u128::from(self.in_flight) * ns;
        self.stats.active += span;
        if self.rtt.has_sample() {
            self.stats.srtt_ns_ns += u128::from(self.rtt.smoothed().as_ns()) * ns;
            self.stats.srtt_active += span;
        }
        if self.latest_rate != Rate::ZERO {
            self.stats.delivery_rate_ns += u128::from(self.latest_rate.bps()) * ns;
            self.stats.delivery_rate_active += span;
        }
    }

    /// A loss episode begins; one that QUIC has going on ends with it.
    pub(crate) fn enter_recovery(&mut self, now: Time) {
        self.leave_recovery(now);
        self.recovery_since = Some(now);
    }

    /// The loss episode, if there was one, is over.
    pub(crate) fn leave_recovery(&mut self, now: Time) {
        if let Some(since) = self.recovery_since.take() {
            self.stats.recoveries += 1;
            self.stats.recovery += now - since;
        }
    }

    /// The receiver has the first `bytes` bytes in order: the socket forgets them.
    pub(crate) fn free_buffer(&mut self, bytes: u64) {
        if self.config.send_buffer_bytes > 0 {
            self.application.make_room(bytes + self.config.send_buffer_bytes);
        }
    }

    /// Bytes the application has written to the socket.
    pub fn accepted_bytes(&self) -> u64 {
        if self.established { self.application.accepted(self.next_offset) } else { 0 }
    }

    /// Reads what the controller allows after an event.
    pub(crate) fn refresh_control(&mut self) {
        self.control = self.controller.control();
    }

    /// When [`Sender::on_timer`] and [`Sender::poll_transmit`] want to be called again without an ACK arriving.
    pub fn next_timer(&self) -> Time {
        let mut next = self.control.wake_at.min(self.pace_at).min(self.loss_at);
        if self.established {
            next = next.min(self.keepalive_at);
        }
        if self.in_flight > 0 || (!self.established && self.sent.next_number() > 0) {
            next = next.min(self.timers.expiry(&self.rtt));
        }
        if self.waits_for_application || self.application.is_live() {
            next = next.min(self.application.next_change());
        }
        if !self.started {
            next = next.min(self.start);
        }
        if next < self.stop { next } else { Time::NEVER }
    }

    /// Handles whatever timer is due at `now`; poll for packets afterwards.
    pub fn on_timer(&mut self, now: Time) {
        self.verdicts.clear();
        if now < self.start || now >= self.stop {
            return;
        }
        if self.loss_at <= now {
            self.integrate(now);
            self.detect_losses(now, 0);
            self.refresh_control();
        }
        let outstanding = self.in_flight > 0 || (!self.established && self.sent.next_number() > 0);
        if outstanding && self.timers.expiry(&self.rtt) <= now {
            self.integrate(now);
            self.on_expiry(now);
        }
        if self.control.wake_at <= now {
            self.controller.on_wake(now);
            self.refresh_control();
            // A controller that asks for the past again would keep the driver from ever moving on.
            self.control.wake_at = self.control.wake_at.max(now + Span::from_ns(1));
        }
    }

    fn on_expiry(&mut self, now: Time) {
        let expiry = self.timers.on_expiry(now, &self.rtt);
        if !self.established || expiry == Expiry::Probe {
            self.stats.probes += 1;
            self.probes = 1;
            return;
        }
        self.stats.timeouts += 1;
        let in_flight_before_bytes = self.in_flight;
        for number in self.sent.first_in_flight()..self.sent.next_number() {
            self.lose(number);
        }
        self.lost.clear();
        self.restart_by_sequence();
        self.episode.on_timeout(self.sent.next_number(), self.next_offset);
        self.leave_recovery(now);
        self.prr = None;
        self.loss_at = Time::NEVER;
        self.duplicates = 0;
        let repeated = self.timers.is_backed_off();
        let next_number = self.sent.next_number();
        let kind = TimeoutKind::Rto;
        self.controller.on_timeout(&Timeout { now, kind, repeated, in_flight_before_bytes, next_number });
        self.refresh_control();
    }

    /// Declares one packet lost if it is in flight, and queues its payload.
    pub(crate) fn lose(&mut self, number: u64) {
        let reliable = self.config.reliable;
        let Some(packet) = self.sent.get_mut(number).filter(|packet| packet.fate == Fate::InFlight) else {
            return;
        };
        packet.fate = Fate::Lost;
        let (offset, payload_bytes, filler) = (packet.offset, packet.payload_bytes, packet.filler);
        let lost = acked_packet(number, packet, Time::ZERO);
        self.in_flight -= u64::from(lost.bytes);
        self.sampler.lost_bytes += u64::from(lost.bytes);
        self.stats.packets_lost += 1;
        self.lost.push(lost);
        self.verdicts.push(Verdict { number, payload_bytes, lost: true });
        if payload_bytes > 0 && !filler {
            if reliable {
                self.resend.push_back(Load { number, offset, payload_bytes, filler });
            } else {
                self.application.on_loss(offset);
            }
        }
    }

    /// Fills `data` with the next packet that may leave at `now` and returns true; call until it returns false.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, data: &mut Data) -> bool {
        // What we wait for is found out anew each time.
        (self.pace_at, self.waits_for_application) = (Time::NEVER, false);
        if now < self.start || now >= self.stop {
            return false;
        }
        self.started = true;
        if self.application.is_live() {
            self.capture_frames(now);
        }
        if !self.established {
            return self.poll_opener(now, data);
        }
        let forced = self.probes > 0 || self.keepalive_at <= now;
        let payload = self.next_payload(now);
        if payload.is_none() && self.keepalive_at <= now {
            self.note_event(now);
        }
        self.blocked = payload.is_some_and(|next| !forced && !self.window_admits(next.payload_bytes));
        if self.blocked {
            self.window_limited.note(1);
        }
        let Some(next) = payload.filter(|_| !self.blocked).or_else(|| self.filler(now)) else {
            self.pacer.set_waiting(false);
            return false;
        };
        if !forced && self.pacing_rate().is_some() && self.pacer.next() > now {
            self.pace_at = self.pacer.next();
            self.pacer.set_waiting(true);
            return false;
        }
        self.probes = self.probes.saturating_sub(1);
        self.transmit(now, next, data);
        true
    }

    /// Captures whatever frames of a live source are due.
    fn capture_frames(&mut self, now: Time) {
        while self.application.next_change() <= now {
            let target = self.media_rate();
            if let Some(frame) = self.application.capture(now, self.next_offset, target) {
                self.controller.on_frame(&frame);
                self.refresh_control();
            }
        }
    }

    /// Bitrate an encoder is to produce: the controller's word or, for controllers that know nothing of encoders, most of
    /// what they let through, as programs that stream over TCP do.
    fn media_rate(&self) -> Option<Rate> {
        self.control.media_rate.or_else(|| {
            let window = self.window_bytes();
            let by_window = (self.rtt.has_sample() && window != u64::MAX)
                .then(|| Rate::from_bytes_per(window, self.rtt.smoothed()));
            let allowed = match (by_window, self.control.pacing) {
                (Some(window), Some(pacing)) => Some(window.min(pacing)),
                (window, pacing) => window.or(pacing),
            };
            allowed.map(|rate| rate.mul_f64(MEDIA_SHARE))
        })
    }

    /// A packet without application data, if the controller wants one now.
    fn filler(&self, now: Time) -> Option<Load> {
        let payload_bytes = self.control.filler_bytes?;
        let fits = payload_bytes == 0 || self.window_admits(payload_bytes);
        let paced = payload_bytes > 0 && self.pacing_rate().is_some();
        (fits && (paced || self.filler_at != now)).then_some(Load {
            number: u64::MAX,
            offset: self.next_offset,
            payload_bytes,
            filler: true,
        })
    }

    fn poll_opener(&mut self, now: Time, data: &mut Data) -> bool {
        let retransmission = self.sent.next_number() > 0;
        if retransmission && self.probes == 0 {
            return false;
        }
        self.probes = 0;
        self.send(now, &Load { number: 0, offset: 0, payload_bytes: 0, filler: false }, retransmission, data);
        true
    }

    /// What would be sent next: lost payload first, then new; `None` (and application-limited) if there is nothing.
    fn next_payload(&mut self, now: Time) -> Option<Load> {
        while let Some(resend) = self.resend.front() {
            // What arrived after all needs no retransmission, the packet being forgotten meanwhile or not.
            let is_complete = resend.offset + u64::from(resend.payload_bytes) <= self.complete;
            if !is_complete && self.sent.get(resend.number).is_none_or(|packet| packet.fate != Fate::Acked) {
                if self.application.is_worth_sending(now, resend.offset) {
                    return Some(*resend);
                }
                self.application.on_loss(resend.offset);
            }
            self.resend.pop_front();
        }
        let held_back = self.fills_receive_window()
            || (!self.config.limited_transmit && !self.episode.is_active() && self.has_hole());
        let available = if held_back { 0 } else { self.application.available(now, self.next_offset) };
        if available == 0 {
            self.waits_for_application = !held_back;
            if self.probes > 0 && self.in_flight > 0 {
                return self.oldest_outstanding();
            }
            if !held_back && self.in_flight < self.window_bytes() {
                self.sampler.mark_app_limited(self.in_flight);
            }
            return None;
        }
        let payload_bytes = available.min(u64::from(self.config.payload_bytes)) as u32;
        Some(Load { number: u64::MAX, offset: self.next_offset, payload_bytes, filler: false })
    }

    /// Whether another full packet would go beyond what the receiver can keep.
    fn fills_receive_window(&self) -> bool {
        let most = self.config.receive_window_bytes;
        most > 0 && self.next_offset + u64::from(self.config.payload_bytes) > self.complete + most
    }

    fn has_hole(&mut self) -> bool {
        let first = self.sent.first_in_flight();
        self.largest_acked.is_some_and(|largest| first < largest)
    }

    /// Without new data a probe repeats the oldest outstanding payload (RFC 9002 6.2.4).
    fn oldest_outstanding(&mut self) -> Option<Load> {
        let number = self.sent.first_in_flight();
        let packet = self.sent.get(number)?;
        let (offset, payload_bytes, filler) = (packet.offset, packet.payload_bytes, packet.filler);
        Some(Load { number, offset, payload_bytes, filler })
    }

    fn window_admits(&self, payload_bytes: u32) -> bool {
        let payload = u64::from(payload_bytes);
        let in_flight = self.in_flight.saturating_sub(self.duplicates * u64::from(self.config.payload_bytes));
        let window = self.window_bytes();
        // Nothing in flight: one packet may leave, or a window below one packet would block for ever. A controller that has a
        // timer set reopens the window itself (schemes that grant credit).
        (self.in_flight == 0 && !self.control.wake_at.is_finite())
            || match self.config.window_rounding {
                WindowRounding::Down => in_flight + payload <= window,
                WindowRounding::Up => in_flight < window,
            }
    }

    /// The controller's pacing rate, or the transport's own for controllers without one.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        self.control.pacing.or_else(|| {
            (self.config.pacing_gain > 0.0 && self.rtt.has_sample() && self.control.window_bytes != u64::MAX)
                .then(|| {
                    Rate::from_bytes_per(self.window_bytes(), self.rtt.smoothed())
                        .mul_f64(self.config.pacing_gain)
                })
        })
    }

    fn transmit(&mut self, now: Time, next: Load, data: &mut Data) {
        let retransmission = !next.filler && next.offset < self.next_offset;
        if let Some(rate) = self.pacing_rate() {
            self.pacer.sent(now, next.payload_bytes, rate, self.control.burst_bytes);
        }
        if next.filler {
            self.filler_at = now;
        } else if self.resend.front().is_some_and(|front| front.number == next.number) {
            self.resend.pop_front();
        }
        if !retransmission && !next.filler {
            self.next_offset += u64::from(next.payload_bytes);
        }
        if let Some(prr) = &mut self.prr {
            prr.on_sent(u64::from(next.payload_bytes));
        }
        self.send(now, &next, retransmission, data);
    }

    fn send(&mut self, now: Time, load: &Load, retransmission: bool, data: &mut Data) {
        let Load { offset, payload_bytes, filler, .. } = *load;
        self.integrate(now);
        let number = self.sent.next_number();
        let was_idle = self.in_flight == 0;
        self.in_flight += u64::from(payload_bytes);
        self.peak_in_flight.note(self.in_flight);
        let snapshot = self.sampler.on_sent(now, self.in_flight, was_idle);
        self.sent.push(SentPacket {
            sent_at: now,
            offset,
            payload_bytes,
            acked_bytes: 0,
            fate: Fate::InFlight,
            retransmission,
            filler,
            snapshot,
        });
        if let Some(board) = self.board.as_mut().filter(|_| payload_bytes > 0 && !filler) {
            board.on_sent(offset, payload_bytes, number);
        }
        self.timers.on_sent(now, was_idle);
        if self.keepalive_at.is_finite() {
            self.note_event(now);
        }
        self.stats.packets_sent += 1;
        self.stats.retransmissions += u64::from(retransmission && payload_bytes > 0);
        let mut message = Message::default();
        if self.established {
            let in_flight_bytes = self.in_flight;
            let sent = Sent { now, number, bytes: payload_bytes, in_flight_bytes, retransmission, filler };
            self.controller.on_sent(&sent);
            message = self.controller.message(&sent);
            self.refresh_control();
        }
        let is_media = self.application.is_live() && !filler && payload_bytes > 0;
        *data = Data {
            number,
            offset,
            payload_bytes,
            datagram_bytes: payload_bytes + self.config.header_bytes,
            sent_at: now,
            least_unacked: self.sent.base(),
            retransmission,
            filler,
            frame: if is_media { self.application.frame_at(offset) } else { FrameMark::default() },
            message,
        };
    }

    /// Something happened: the keepalive starts over.
    pub(crate) fn note_event(&mut self, now: Time) {
        if self.keepalive_at.is_finite() {
            self.keepalive_at = now + ms(self.config.keepalive_ms);
        }
    }

    /// Bytes the application has written and that wait to be sent, and how long the oldest frame of a live source has.
    pub(crate) fn queued(&self, now: Time) -> (u64, Span) {
        let sent = self.next_offset;
        (self.application.queued_bytes(sent), self.application.queue_delay(now, sent))
    }

    /// What the encoder of a live source has done.
    pub fn encoder_stats(&self) -> Option<EncoderStats> {
        self.application.encoder_stats()
    }

    /// Total bytes of the application, if it ends.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.application.total()
    }
}

/// A sent packet as controllers see it.
pub(crate) fn acked_packet(number: u64, packet: &SentPacket, received_at: Time) -> AckedPacket {
    AckedPacket {
        number,
        bytes: packet.outstanding_bytes(),
        sent_at: packet.sent_at,
        received_at,
        lost_at_send_bytes: packet.snapshot.lost_bytes,
        in_flight_at_send_bytes: packet.snapshot.in_flight_bytes,
        retransmission: packet.retransmission,
        was_lost: packet.fate == Fate::Lost,
    }
}
