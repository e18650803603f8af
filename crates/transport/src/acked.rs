//! Processing of acknowledgements and loss detection (RFC 9002 6.1): the second half of [`Sender`].

use crate::conduct::MAX_ARRIVALS;
use crate::config::{Recovery, TimerKind};
use crate::rate::Newest;
use crate::recovery::Prr;
use crate::sender::{Sender, Verdict, acked_packet};
use crate::sent::{Fate, SentPacket};
use crate::wire::{AckFrame, Part};
use congestion::{Ack, Ecn, Loss, RateSample, Timeout, TimeoutKind};
use units::{Span, Time};

/// Smallest time threshold (RFC 9002 6.1.2).
const GRANULARITY: Span = Span::from_ms(1);

/// What one ACK changed, for the controller; by default nothing.
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
    /// An acknowledgement arrived; poll for packets afterwards.
    pub fn on_ack(&mut self, now: Time, frame: &AckFrame) {
        self.verdicts.clear();
        self.integrate(now);
        self.note_event(now);
        self.free_buffer(frame.next_offset);
        let in_flight_before_bytes = self.in_flight;
        let lower_edge = self.sent.first_in_flight();
        let (newest_sent_at, is_false_alarm) = self.collect_acked(frame);
        self.take_progress(frame.next_offset);
        let Some(newest_sent_at) = newest_sent_at else {
            self.on_duplicate(now, frame, in_flight_before_bytes);
            return;
        };
        self.established = true;
        let acked_bytes: u64 = self.acked.iter().map(|packet| u64::from(packet.bytes)).sum();
        let newest_number = self.acked[self.acked.len() - 1].number;
        let rtt_sample = self.take_rtt(now, newest_number, newest_sent_at, frame.delay);
        // A packet of which only a part is acknowledged is not delivered yet: it gives no sample and ends no round.
        let (delivered_bytes, arrived) = self.delivered();
        let rate = arrived.and_then(|newest| {
            self.sampler.on_delivered(now, delivered_bytes);
            self.sampler.sample(now, &newest, self.rtt.min())
        });
        if let Some(sample) = &rate {
            self.latest_rate = sample.rate;
        }
        self.note_completion(now, frame.next_offset);
        if acked_bytes == 0 && !self.sent.get(newest_number).is_some_and(|packet| packet.filler) {
            // The opener: connection set-up gives an RTT, not a delivery.
            if let Some(rtt) = rtt_sample {
                self.controller.on_established(now, rtt);
                self.refresh_control();
            }
            self.finish_ack(now);
            return;
        }
        if self.episode.on_ack(newest_number, frame.next_offset) {
            self.prr = None;
            self.leave_recovery(now);
            // What such an ACK says about later segments begins no episode.
            self.progress.sacked = 0;
            if let Some(board) = &mut self.board {
                board.duplicates = 0;
            }
        }
        if is_false_alarm && self.config.undo {
            self.episode.end();
            self.leave_recovery(now);
            self.prr = None;
            self.controller.on_spurious_loss(now);
        }
        let round_start =
            arrived.is_some_and(|newest| newest.snapshot.delivered_bytes >= self.next_round_delivered);
        if round_start {
            self.next_round_delivered = self.sampler.delivered_bytes;
        }
        self.duplicates = 0;
        let lost_bytes = self.detect_losses(now, in_flight_before_bytes);
        self.take_ecn(now, frame, newest_number);
        let rtt = rtt_sample.filter(|_| !self.config.smoothed_samples).or_else(|| self.smoothed_sample());
        let growth_bytes = self.growth_bytes(acked_bytes);
        let news =
            News { acked_bytes, growth_bytes, lost_bytes, rtt, rate, round_start, in_flight_before_bytes };
        self.tell_controller(now, frame, news);
        if round_start {
            self.peak_in_flight.next_round(self.in_flight);
            self.window_limited.next_round(0);
        }
        if self.prr.is_some() {
            let moved = self.sent.first_in_flight() > lower_edge;
            self.tell_prr(acked_bytes, moved && lost_bytes == 0);
        }
        self.answer_partial_ack();
        self.finish_ack(now);
    }

    fn finish_ack(&mut self, now: Time) {
        if self.restarts_timer() {
            self.timers.on_progress(now);
        }
        self.sent.forget(now - (self.rtt.smoothed() * 2 + self.rtt.variation() * 4));
        if self.config.quirk_pace_after_block
            && self.blocked
            && let Some(rate) = self.pacing_rate()
        {
            self.pacer.restart(now, self.config.payload_bytes, rate);
        }
    }

    /// Fills `self.acked` in ascending order. Returns when the newest packet was sent, and whether the present loss
    /// episode turned out to be a false alarm.
    fn collect_acked(&mut self, frame: &AckFrame) -> (Option<Time>, bool) {
        self.acked.clear();
        let mut is_false_alarm = false;
        for arrival in &frame.arrivals {
            is_false_alarm |= self.acknowledge(arrival.number, arrival.at, frame.part);
        }
        // Beyond so many arrivals the rest is only in the ranges.
        let full = frame.arrivals.len() >= MAX_ARRIVALS;
        let gap = frame.number != self.next_ack;
        if frame.number >= self.next_ack {
            self.next_ack = frame.number + 1;
        }
        if gap || full || frame.arrivals.is_empty() {
            // An ACK went missing: what it listed is still in the ranges, without its exact receive times.
            let received_at = frame.arrivals.last().map_or(Time::ZERO, |arrival| arrival.at);
            for range in &frame.ranges {
                for number in range.start.max(self.sent.base())..range.end.min(self.sent.next_number()) {
                    is_false_alarm |= self.acknowledge(number, received_at, None);
                }
            }
        }
        // Also a packet that never arrived, if a probe with the same payload did.
        if (!self.config.sack || self.board.is_some()) && (gap || self.is_first_complete(frame.next_offset)) {
            let received_at = frame.arrivals.last().map_or(Time::ZERO, |arrival| arrival.at);
            self.acknowledge_below(frame.next_offset, received_at);
        }
        if self.acked.windows(2).any(|pair| pair[0].number > pair[1].number) {
            self.acked.sort_unstable_by_key(|packet| packet.number);
        }
        if frame.part.is_some() {
            // What a lost ACK said comes from the ranges: the rest of a packet of which a part was listed.
            self.acked.dedup_by(|later, packet| {
                let is_same = later.number == packet.number;
                packet.bytes += if is_same { later.bytes } else { 0 };
                is_same
            });
        }
        let newest = self.acked.last().and_then(|packet| self.sent.get(packet.number));
        (newest.map(|packet| packet.sent_at), is_false_alarm)
    }

    /// Payload bytes of the packets that `self.acked` completes, and the newest of them.
    fn delivered(&self) -> (u64, Option<Newest>) {
        let mut bytes = 0;
        let mut newest = None;
        for packet in self.acked.iter().filter_map(|acked| self.sent.get(acked.number)) {
            if packet.fate == Fate::Acked {
                bytes += u64::from(packet.payload_bytes);
                newest = Some(Newest { sent_at: packet.sent_at, snapshot: packet.snapshot });
            }
        }
        (bytes, newest)
    }

    fn is_first_complete(&mut self, next_offset: u64) -> bool {
        let first = self.sent.first_in_flight();
        self.sent
            .get(first)
            .is_some_and(|packet| packet.offset + u64::from(packet.payload_bytes) <= next_offset)
    }

    /// Cumulative acknowledgement: marks every packet in flight as delivered whose payload lies below `next_offset`.
    /// (Of a lost packet the payload may have arrived with its retransmission.)
    fn acknowledge_below(&mut self, next_offset: u64, received_at: Time) {
        let is_complete = |packet: &SentPacket| {
            packet.fate == Fate::InFlight && packet.offset + u64::from(packet.payload_bytes) <= next_offset
        };
        for number in self.sent.base()..self.sent.next_number() {
            if self.sent.get(number).is_some_and(is_complete) {
                self.acknowledge(number, received_at, None);
            }
        }
    }

    /// Marks one packet, or a part of it, as delivered; returns whether that makes the loss episode a false alarm. What was
    /// never sent cannot be acknowledged.
    fn acknowledge(&mut self, number: u64, received_at: Time, part: Option<Part>) -> bool {
        let Some(packet) = self.sent.get_mut(number).filter(|packet| packet.fate != Fate::Acked) else {
            return false;
        };
        let mut acked = acked_packet(number, packet, received_at);
        let acked_bytes = part.map_or(packet.payload_bytes, |part| part.acknowledged(packet.payload_bytes));
        if acked_bytes < packet.payload_bytes {
            if packet.fate == Fate::InFlight && acked_bytes > packet.acked_bytes {
                acked.bytes = acked_bytes - packet.acked_bytes;
                packet.acked_bytes = acked_bytes;
                self.in_flight -= u64::from(acked.bytes);
                self.acked.push(acked);
            }
            return false;
        }
        packet.fate = Fate::Acked;
        if !packet.filler {
            self.payload_acked += u64::from(packet.payload_bytes);
        }
        self.acked.push(acked);
        self.verdicts.push(Verdict { number, payload_bytes: acked.bytes, lost: false });
        if acked.was_lost {
            self.stats.spurious_losses += 1;
            return self.episode.count_spurious();
        }
        self.in_flight -= u64::from(acked.bytes);
        false
    }

    fn take_rtt(&mut self, now: Time, newest: u64, sent_at: Time, ack_delay: Span) -> Option<Span> {
        let is_newest = self.largest_acked.is_none_or(|largest| newest > largest);
        if is_newest {
            self.largest_acked = Some(newest);
        } else if self.board.is_none() {
            return None;
        }
        let latest = self.elapsed(self.timed_packet(sent_at)?, now);
        // TCP cannot know how long an ACK was held back; QUIC's ACKs say so.
        self.rtt.sample(latest, if self.config.timer == TimerKind::Pto { ack_delay } else { Span::ZERO });
        Some(latest)
    }

    /// The smoothed RTT, where controllers are given it for every sample.
    fn smoothed_sample(&self) -> Option<Span> {
        (self.config.smoothed_samples && self.rtt.has_sample()).then(|| self.rtt.smoothed())
    }

    /// A stream is complete with its last byte in order. Where nothing is sent again it is if nothing was lost.
    fn note_completion(&mut self, now: Time, next_offset: u64) {
        let arrived = if self.config.reliable { next_offset } else { self.payload_acked };
        if self.stats.completed_at.is_none() && self.total_bytes().is_some_and(|total| arrived >= total) {
            self.stats.completed_at = Some(now);
        }
    }

    /// An ACK that acknowledged nothing new.
    fn on_duplicate(&mut self, now: Time, frame: &AckFrame, in_flight_before_bytes: u64) {
        if !frame.feedback.is_empty() {
            self.tell_controller(now, frame, News { in_flight_before_bytes, ..News::default() });
        }
        if self.config.sack || self.in_flight == 0 {
            return;
        }
        self.duplicates += 1;
        if self.duplicates == self.config.packet_threshold && !self.episode.is_active() {
            self.detect_losses(now, in_flight_before_bytes);
            self.refresh_control();
        }
    }

    /// Reports an ACK to the controller and reads what it allows now.
    fn tell_controller(&mut self, now: Time, frame: &AckFrame, news: News) {
        let (queued_bytes, queue_delay) = self.queued(now);
        self.controller.on_ack(&Ack {
            now,
            packets: &self.acked,
            acked_bytes: news.acked_bytes,
            growth_bytes: news.growth_bytes,
            lost_bytes: news.lost_bytes,
            rtt: news.rtt,
            srtt: self.rtt.smoothed(),
            rttvar: self.rtt.variation(),
            min_rtt: if self.config.smoothed_samples { self.rtt.min_smoothed() } else { self.rtt.min() },
            ack_delay: frame.delay,
            in_flight_before_bytes: news.in_flight_before_bytes,
            in_flight_bytes: self.in_flight,
            peak_in_flight_bytes: self.peak_in_flight.peak(),
            window_limited: self.window_limited.peak() > 0,
            app_limited: self.sampler.is_app_limited(),
            delivered_bytes: self.sampler.delivered_bytes,
            rate: news.rate,
            round_start: news.round_start,
            in_recovery: self.episode.is_active(),
            next_number: self.sent.next_number(),
            queued_bytes,
            queue_delay,
            feedback: &frame.feedback,
        });
        self.refresh_control();
    }

    /// Declares packets lost and tells the controller; returns the bytes lost. `in_flight_before` is what was in
    /// flight before the ACK being processed.
    pub(crate) fn detect_losses(&mut self, now: Time, in_flight_before: u64) -> u64 {
        let before = self.in_flight;
        self.lost.clear();
        let begins = self.mark_by_sequence();
        if self.board.is_some() {
            if self.lost.is_empty() && !begins {
                return 0;
            }
        } else if self.config.sack {
            self.mark_losses(now);
        } else if self.duplicates >= self.config.packet_threshold || self.episode.is_active() {
            // Three duplicate ACKs, or a partial ACK during recovery (RFC 6582 3.2): the first outstanding is lost.
            let first = self.sent.first_in_flight();
            self.lose(first);
        }
        let next_number = self.sent.next_number();
        let new_episode = match self.lost.last() {
            _ if begins => {
                self.episode.begin(next_number, self.next_offset);
                true
            }
            _ if self.board.is_some() => false,
            Some(newest) => self.episode.on_congestion(newest.number, next_number, self.next_offset),
            None => return 0,
        };
        let lost_bytes = before - self.in_flight;
        self.episode.count_lost(self.lost.len() as u64);
        self.stats.episodes += u64::from(new_episode);
        if new_episode {
            self.enter_recovery(now);
        }
        self.controller.on_loss(&Loss {
            now,
            packets: &self.lost,
            lost_bytes,
            in_flight_before_bytes: before,
            in_flight_bytes: self.in_flight,
            new_episode,
            srtt: self.rtt.smoothed(),
            next_number,
        });
        if begins {
            self.resend_head();
        }
        if self.is_persistent() {
            self.stats.timeouts += 1;
            let kind = TimeoutKind::PersistentCongestion;
            let timeout = Timeout { now, kind, repeated: false, in_flight_before_bytes: before, next_number };
            self.controller.on_timeout(&timeout);
        }
        if new_episode {
            self.begin_prr(before.max(in_flight_before));
        }
        lost_bytes
    }

    fn begin_prr(&mut self, flight: u64) {
        let flight = match self.config.recovery {
            Recovery::Prr => flight,
            // All that is not acknowledged by the cumulative point.
            Recovery::PrrNs3 => self.next_offset - self.complete,
            Recovery::Immediate => return,
        };
        self.refresh_control();
        let mut prr = Prr::begin(self.control.window_bytes, flight);
        // Until the ACK is fully processed nothing may leave beyond what is in flight.
        prr.on_ack(0, self.in_flight, u64::from(self.config.payload_bytes), false);
        self.prr = Some(prr);
    }

    /// Packet and time threshold (RFC 9002 6.1), below the largest acknowledged packet.
    fn mark_losses(&mut self, now: Time) {
        self.loss_at = Time::NEVER;
        let Some(largest) = self.largest_acked else { return };
        let wait =
            (self.rtt.latest().max(self.rtt.smoothed())).mul_f64(self.config.time_threshold).max(GRANULARITY);
        let by_time = self.config.time_threshold > 0.0;
        let mut number = self.sent.first_in_flight();
        while number < largest {
            let Some(packet) = self.sent.get(number) else { break };
            // Of what is acknowledged in parts the rest comes with the ACKs that follow: it has arrived.
            if packet.fate == Fate::InFlight && packet.acked_bytes == 0 {
                let due = if by_time { packet.sent_at + wait } else { Time::NEVER };
                if largest < number + self.config.packet_threshold && due > now {
                    // Later packets were sent later and are nearer to the largest: none of them is lost either.
                    self.loss_at = due;
                    break;
                }
                self.lose(number);
            }
            number += 1;
        }
    }

    /// Persistent congestion: consecutive losses that span more than three probe timeouts (RFC 9002 7.6).
    fn is_persistent(&self) -> bool {
        if self.config.timer != TimerKind::Pto || !self.rtt.has_sample() {
            return false;
        }
        let limit = self.timers.persistent_congestion(&self.rtt);
        let mut run_start = self.lost[0];
        self.lost.windows(2).any(|pair| {
            if pair[1].number != pair[0].number + 1 {
                run_start = pair[1];
            }
            pair[1].sent_at - run_start.sent_at > limit
        })
    }

    fn take_ecn(&mut self, now: Time, frame: &AckFrame, newest: u64) {
        let ce_packets = frame.ecn.ce.saturating_sub(self.ecn.ce);
        let packets = frame.ecn.total().saturating_sub(self.ecn.total());
        if packets == 0 {
            return;
        }
        self.ecn = frame.ecn;
        if ce_packets > 0 {
            let new_episode = self.episode.on_congestion(newest, self.sent.next_number(), self.next_offset);
            let (in_flight_bytes, srtt) = (self.in_flight, self.rtt.smoothed());
            self.controller.on_ecn(&Ecn { now, ce_packets, packets, new_episode, in_flight_bytes, srtt });
            if new_episode {
                self.begin_prr(in_flight_bytes);
            }
        }
    }
}
