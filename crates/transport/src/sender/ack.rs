//! Processing of acknowledgements; [`Sender::on_ack`] lists the steps.

use super::Sender;
use crate::advance::Advance;
use crate::flight::{AckSummary, Departure};
use crate::loss::lasts_longer_than;
use crate::rate::Newest;
use crate::recovery::Onset;
use crate::wire::AckFrame;
use congestion::{Ack, Ecn, Loss, RateSample, Timeout, TimeoutKind};
use units::{Span, Time};

/// Changes by one ACK, for the controller; by default nothing.
#[derive(Clone, Copy, Default)]
struct News {
    acked_bytes: u64,
    growth_bytes: u64,
    lost_bytes: u64,
    rtt: Option<Span>,
    rate: Option<RateSample>,
    round_start: bool,
    in_flight_before_bytes: u64,
}

impl Sender {
    /// Handles an acknowledgement; poll for packets afterwards.
    pub fn on_ack(&mut self, now: Time, frame: &AckFrame) {
        self.flight.begin_event();
        self.integrate_to(now);
        self.keepalive.restart(now);
        let (in_flight_before_bytes, lower_edge) = (self.flight.bytes(), self.flight.first_in_flight());
        let acknowledged = self.flight.collect(frame);
        let mut advance = self.detector.advance(&mut self.flight, frame.next_offset);
        advance.completed_bytes = self.stream.advance(frame.next_offset);
        let is_false_alarm = acknowledged.spurious > 0 && self.recovery.on_spurious(self.flight.acked());
        let Some(newest) = acknowledged.newest else {
            self.on_duplicate(now, frame, in_flight_before_bytes);
            return self.free_buffers(now, frame.next_offset);
        };
        if frame.part.is_none() {
            let packets = self.flight.acked().len() as u64;
            self.validator.on_ack(frame.ecn, packets, acknowledged.is_largest);
        }
        self.opening.on_answer(newest.number, self.flight.next_number());
        let rtt = self.sample_rtt(now, newest, acknowledged.is_largest, frame.delay, &advance);
        let arrived = self.flight.newest(&acknowledged);
        let rate = arrived.and_then(|arrived| self.sample_rate(now, acknowledged.delivered_bytes, &arrived));
        self.note_completion(now, frame.next_offset, acknowledged.application_bytes);
        if self.is_opener(&acknowledged, newest) {
            // Earlier handshake packets carried the same request: a lost one is no hole that delays anything.
            self.flight.retire_below(newest.number);
            if self.opening.is_over() {
                self.on_established(now, rtt);
            }
            return self.conclude(now, frame.next_offset, &advance);
        }
        if self.recovery.on_ack(now, newest.number, frame.next_offset) {
            self.detector.end_episode(&mut advance);
            self.controller.on_recovered(now);
        }
        if is_false_alarm {
            self.undo(now);
        }
        let round_start = arrived.is_some_and(|arrived| self.ends_round(&arrived));
        let next_number = self.flight.next_number();
        let departed_bytes = self.detector.departed_bytes();
        self.detector.on_new(&self.flight, &acknowledged, next_number);
        let lost_bytes = self.detect_losses(now, in_flight_before_bytes, &advance, true);
        self.take_ecn(now, frame, newest);
        let acked_bytes = acknowledged.bytes;
        let reports_hole = advance.completed_bytes == 0
            && self.recovery.episode().is_of_tcp()
            && !self.detector.has_seen_reordering()
            && (self.recovery.episode().is_active() || self.flight.has_hole());
        let complete = self.stream.complete();
        let growth_bytes = self.recovery.growth_bytes(acked_bytes, &advance, complete, reports_hole);
        let rtt = self.rtt.reported(rtt);
        let news =
            News { acked_bytes, growth_bytes, lost_bytes, rtt, rate, round_start, in_flight_before_bytes };
        self.tell_controller(now, frame, &news);
        if round_start {
            self.rounds.begin(self.flight.bytes());
        }
        let is_safe = lost_bytes == 0 && self.flight.first_in_flight() > lower_edge;
        // Bytes that duplicate ACKs stood for are counted already.
        let delivered_bytes = acked_bytes.saturating_sub(departed_bytes);
        self.recovery.proceed(delivered_bytes, self.flight.bytes(), is_safe, &advance);
        if self.detector.wants_head(self.recovery.episode(), &advance) {
            self.probes = self.probes.max(1);
        }
        self.repeat_at_once();
        self.conclude(now, frame.next_offset, &advance);
    }

    /// Frees room in the socket buffers after the receiver got the first `complete` bytes in order.
    fn free_buffers(&mut self, now: Time, complete: u64) {
        let (window_bytes, rtt) = (self.window_bytes(), self.rtt.smoothed_if_sampled());
        self.stream.free_buffers(now, complete, window_bytes, self.flight.bytes(), rtt);
    }

    /// Finishes the processing of an ACK that acknowledges something new; `complete` bytes have arrived in order.
    fn conclude(&mut self, now: Time, complete: u64, advance: &Advance) {
        self.free_buffers(now, complete);
        let is_progress = self.detector.is_progress(advance, self.stream.complete());
        self.timers.on_ack(now, is_progress, advance, &mut self.recovery);
        self.note_flight();
        self.flight.forget(now, now - self.detector.memory(&self.rtt));
        if self.blocked
            && self.pacer.restarts_when_blocked()
            && let Some(rate) = self.pacing_rate()
        {
            self.pacer.restart(now, self.payload_bytes, rate);
        }
    }

    /// Tells the timer the state of the flight.
    pub(super) fn note_flight(&mut self) {
        let is_single = self.flight.bytes() <= u64::from(self.payload_bytes);
        let is_recovering = self.recovery.episode().is_active() || self.flight.has_hole();
        self.timers.set_flight(is_single, is_recovering);
    }

    /// Handles an ACK that acknowledged nothing new.
    #[cold]
    fn on_duplicate(&mut self, now: Time, frame: &AckFrame, in_flight_before_bytes: u64) {
        if !frame.feedback.is_empty() {
            self.tell_controller(now, frame, &News { in_flight_before_bytes, ..News::default() });
        }
        let departed_before_bytes = self.detector.departed_bytes();
        if self.detector.on_duplicate(&self.flight, self.recovery.episode()) {
            self.detect_losses(now, in_flight_before_bytes, &Advance::default(), false);
            self.refresh_control();
            self.repeat_at_once();
        } else {
            // Without selective acknowledgement a duplicate ACK counts as one packet delivered (RFC 6937 2).
            let departed_bytes = self.detector.departed_bytes() - departed_before_bytes;
            if departed_bytes > 0 {
                self.recovery.proceed(departed_bytes, self.pipe_bytes(), false, &Advance::default());
            }
        }
    }

    /// Retransmits at once, regardless of the window, the packets that the detector names.
    #[inline]
    fn repeat_at_once(&mut self) {
        if self.detector.repeats_at_once() {
            self.resend_again();
        }
    }

    #[cold]
    fn resend_again(&mut self) {
        let before = self.flight.bytes();
        let again = self.detector.again(&mut self.flight);
        for number in again.iter().rev() {
            if let Some(packet) = self.flight.get(*number) {
                self.stream.resend_first(*number, packet);
            }
        }
        self.probes = self.probes.max(again.len() as u32);
        self.sampler.on_lost(before - self.flight.bytes());
    }

    /// Undoes the current or latest episode, which was a false alarm. After a timeout the packets that wait for
    /// retransmission are in flight as before.
    #[cold]
    fn undo(&mut self, now: Time) {
        let first = self.recovery.episode().first_lost();
        if self.recovery.undo(now) {
            let flight = &mut self.flight;
            self.stream.keep_resends(|number| number < first || !flight.restore(number));
        }
        self.controller.on_spurious_loss(now);
    }

    /// Returns the RTT of the packet that the detector times, if the ACK acknowledges that packet.
    fn sample_rtt(
        &mut self,
        now: Time,
        newest: Departure,
        is_largest: bool,
        ack_delay: Span,
        advance: &Advance,
    ) -> Option<Span> {
        let has_sent_payload = self.stream.next_offset() > 0;
        let sent_at =
            self.detector.timed_send(&self.flight, newest, is_largest, advance, has_sent_payload)?;
        Some(self.rtt.on_ack(now, sent_at, ack_delay))
    }

    /// Samples the delivery rate after `delivered_bytes` were delivered in packets up to `newest`. A packet that is
    /// acknowledged only in part is not delivered yet: it gives no sample and ends no round.
    fn sample_rate(&mut self, now: Time, delivered_bytes: u64, newest: &Newest) -> Option<RateSample> {
        self.sampler.on_delivered(now, delivered_bytes);
        self.sampler.sample(now, newest, self.rtt.min())
    }

    fn ends_round(&mut self, newest: &Newest) -> bool {
        self.rounds.is_over(newest.snapshot.delivered_bytes, self.sampler.delivered_bytes())
    }

    fn note_completion(&mut self, now: Time, in_order: u64, application_bytes: u64) {
        if self.stream.on_acknowledged(now, in_order, application_bytes) {
            self.integrals.stop();
        }
    }

    /// Returns true if the ACK acknowledged the handshake packet: connection set-up gives an RTT but no delivery.
    fn is_opener(&self, acknowledged: &AckSummary, newest: Departure) -> bool {
        acknowledged.bytes == 0 && !self.flight.get(newest.number).is_some_and(|packet| packet.filler)
    }

    fn on_established(&mut self, now: Time, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.controller.on_established(now, rtt);
            self.refresh_control();
        }
    }

    /// Reports an ACK to the controller and reads the controller's new decisions.
    #[inline]
    fn tell_controller(&mut self, now: Time, frame: &AckFrame, news: &News) {
        let (queued_bytes, queue_delay) = self.stream.queued(now);
        self.controller.on_ack(&Ack {
            now,
            packets: self.flight.acked(),
            acked_bytes: news.acked_bytes,
            growth_bytes: news.growth_bytes,
            lost_bytes: news.lost_bytes,
            rtt: news.rtt,
            srtt: self.rtt.smoothed(),
            rttvar: self.rtt.variation(),
            min_rtt: self.rtt.reported_min(),
            ack_delay: frame.delay,
            in_flight_before_bytes: news.in_flight_before_bytes,
            in_flight_bytes: self.flight.bytes(),
            peak_in_flight_bytes: self.rounds.peak_in_flight(),
            window_limited: self.rounds.was_window_limited(),
            pacing_limited: self.rounds.was_pacing_limited(),
            app_limited: self.sampler.is_app_limited(),
            delivered_bytes: self.sampler.delivered_bytes(),
            rate: news.rate,
            round_start: news.round_start,
            in_recovery: self.recovery.episode().is_active(),
            next_number: self.flight.next_number(),
            queued_bytes,
            queue_delay,
            feedback: &frame.feedback,
            complete_bytes: self.stream.complete(),
            sent_bytes: self.stream.next_offset(),
        });
        self.refresh_control();
    }

    /// Declares packets lost and tells the controller; returns the bytes lost. `in_flight_before`: bytes in flight
    /// before the current ACK. `by_ack`: true if the controller gets that ACK afterwards.
    #[inline]
    pub(super) fn detect_losses(
        &mut self,
        now: Time,
        in_flight_before: u64,
        advance: &Advance,
        by_ack: bool,
    ) -> u64 {
        let before = self.flight.bytes();
        self.flight.begin_losses();
        let episode = self.recovery.episode();
        let complete = self.stream.complete();
        let onset = self.detector.detect(now, &mut self.flight, &self.rtt, episode, complete, advance);
        if self.flight.lost().is_empty() && onset != Onset::Yes {
            return 0;
        }
        self.take_losses(now, onset, before, in_flight_before, by_ack)
    }

    /// Handles losses, or the beginning of an episode, with `before` bytes in flight.
    #[cold]
    fn take_losses(
        &mut self,
        now: Time,
        onset: Onset,
        before: u64,
        in_flight_before: u64,
        by_ack: bool,
    ) -> u64 {
        let lost_bytes = before - self.flight.bytes();
        self.sampler.on_lost(lost_bytes);
        self.resend_lost();
        let next = self.frontier();
        let new_episode = self.recovery.on_losses(now, onset, self.flight.lost(), next);
        self.controller.on_loss(&Loss {
            now,
            packets: self.flight.lost(),
            lost_bytes,
            in_flight_before_bytes: before,
            in_flight_bytes: self.flight.bytes(),
            new_episode,
            by_ack,
            srtt: self.rtt.smoothed(),
            next_number: next.number,
        });
        if new_episode {
            self.resend_head();
        }
        if new_episode {
            self.reduce(before.max(in_flight_before));
        }
        let limit = self.timers.persistent_congestion(&self.rtt);
        let first_sample_at = self.rtt.first_sample_at();
        if limit.is_some_and(|limit| lasts_longer_than(limit, first_sample_at, self.flight.lost())) {
            self.take_persistent_congestion(now, before, next.number);
        }
        lost_bytes
    }

    /// Handles persistent congestion (RFC 9002 7.6): the window is the smallest possible, the next sample becomes the
    /// minimum RTT (5.2), and the episode is forgotten (B.8).
    fn take_persistent_congestion(&mut self, now: Time, in_flight_before_bytes: u64, next_number: u64) {
        self.timers.count_timeout();
        let kind = TimeoutKind::PersistentCongestion;
        self.controller.on_timeout(&Timeout {
            now,
            kind,
            repeated: false,
            in_flight_before_bytes,
            next_number,
        });
        self.recovery.on_persistent_congestion(now);
        self.rtt.forget_min();
    }

    /// Retransmits before everything else the packet that the detector declares lost when an episode begins.
    fn resend_head(&mut self) {
        let before = self.flight.bytes();
        let Some(number) = self.detector.begin_episode(&mut self.flight) else { return };
        self.sampler.on_lost(before - self.flight.bytes());
        if let Some(packet) = self.flight.get(number) {
            self.stream.resend_first(number, packet);
        }
    }

    /// Begins the reduction of an episode with `flight` bytes in flight: the sender reaches the controller's new window
    /// step by step.
    fn reduce(&mut self, flight: u64) {
        self.refresh_control();
        let (window, unacknowledged) = (self.control.window_bytes, self.stream.outstanding_bytes());
        self.recovery.reduce(window, flight, unacknowledged, self.pipe_bytes());
    }

    /// Reads the receiver's packet counts by codepoint and reports new marks to the controller.
    fn take_ecn(&mut self, now: Time, frame: &AckFrame, newest: Departure) {
        let ce_packets = frame.ecn.ce.saturating_sub(self.ecn.ce);
        let packets = frame.ecn.total().saturating_sub(self.ecn.total());
        if packets == 0 {
            return;
        }
        self.ecn = frame.ecn;
        if ce_packets > 0 && self.validator.trusts_marks() {
            let new_episode = self.recovery.on_mark(newest.number, self.frontier());
            let (in_flight_bytes, srtt) = (self.flight.bytes(), self.rtt.smoothed());
            self.controller.on_ecn(&Ecn {
                now,
                ce_packets,
                packets,
                newest_sent_at: newest.at,
                new_episode,
                in_flight_bytes,
                srtt,
            });
            if new_episode {
                self.reduce(in_flight_bytes);
            }
        }
    }
}
