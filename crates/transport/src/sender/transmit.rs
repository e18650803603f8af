//! Transmission: the decision whether a packet may leave now, and its content.

use super::Sender;
use crate::bursts::Offer;
use crate::config::{MAX_PAYLOAD_BYTES, WindowRounding};
use crate::packets::{Fate, SentPacket};
use crate::stream::{Load, Stream};
use crate::wire::Data;
use congestion::{Message, Sent};
use units::{Rate, Time};

/// Share of a window or pacing rate that an encoder fills if its controller gives no media rate.
pub const MEDIA_SHARE: f64 = 0.9;

impl Sender {
    /// Fills `data` with the next packet that may leave at `now` and returns true; call until it returns false.
    pub fn poll_transmit(&mut self, now: Time, data: &mut Data) -> bool {
        self.stream.begin_poll();
        if now < self.start || now >= self.stop {
            self.pacer.set_waiting(false);
            return false;
        }
        self.started = true;
        if self.stream.is_live() {
            self.drop_frames(now);
            self.capture_frames(now);
        }
        if !self.opening.is_over() {
            return self.poll_opener(now, data);
        }
        let forced = self.probes > 0 || self.keepalive.at() <= now;
        let payload = self.next_payload(now);
        if payload.is_none() && self.keepalive.at() <= now {
            self.keepalive.restart(now);
        }
        if payload.is_some() && self.flight.bytes() == 0 {
            self.note_pause(now);
        }
        self.blocked = payload.is_some_and(|next| !forced && !self.window_admits(next.payload_bytes));
        if self.blocked && !self.rounds.is_window_limited() {
            self.note_blocked(payload.map_or(0, |next| next.payload_bytes));
        }
        let rate = self.pacing_rate();
        if let Some(rate) = rate {
            self.pacer.adjust(rate);
        }
        let next = payload.filter(|_| !self.blocked).or_else(|| self.filler(now, rate.is_some()));
        let waits = next.is_some()
            && !forced
            && rate.is_some()
            && self.pacer.next() > now
            && !self.bursts.goes_on(now);
        let Some(next) = next.filter(|_| !waits) else {
            self.pacer.set_waiting(waits);
            if waits && payload.is_some() {
                self.note_paced(now);
            }
            return false;
        };
        if !(self.bursts.is_off() || forced || next.filler || self.burst_admits(now, rate)) {
            self.blocked = true;
            if self.allowed_bytes() <= self.max_window_bytes {
                self.rounds.note_window_limited();
            }
            self.pacer.set_waiting(false);
            return false;
        }
        self.probes = self.probes.saturating_sub(1);
        self.transmit(now, &next, rate, data);
        true
    }

    /// Notes that the window blocks a packet of `payload_bytes`. Only the controller's window counts as a limit,
    /// because the controller cannot raise the configured maximum.
    #[cold]
    #[inline(never)]
    fn note_blocked(&mut self, payload_bytes: u32) {
        if self.pipe_bytes() + u64::from(payload_bytes) > self.allowed_bytes() {
            self.rounds.note_window_limited();
        }
    }

    /// Returns the bytes in flight, less the bytes that have left the flight although no ACK identifies them.
    pub(super) const fn pipe_bytes(&self) -> u64 {
        self.flight.bytes().saturating_sub(self.detector.departed_bytes())
    }

    /// Notes that the pacer delays a packet, if without the pacer the waiting data would fill the window.
    #[cold]
    #[inline(never)]
    fn note_paced(&mut self, now: Time) {
        let allowed = self.allowed_bytes();
        if allowed <= self.max_window_bytes
            && !self.rounds.is_limited()
            && self.flight.bytes().saturating_add(self.stream.sendable_bytes(now)) >= allowed
        {
            self.rounds.note_pacing_limited();
        }
    }

    /// Notes an idle period: data wait and nothing is in flight. Stores its length in timeouts.
    #[cold]
    #[inline(never)]
    fn note_pause(&mut self, now: Time) {
        if self.restart_window && self.stream.next_offset() > 0 {
            self.idle_timeouts = self.timers.idle_timeouts(now, &self.rtt);
        }
    }

    /// Returns true if the next packet belongs to the current burst or begins a burst.
    fn burst_admits(&mut self, now: Time, pacing: Option<Rate>) -> bool {
        if self.bursts.goes_on(now) {
            return true;
        }
        let offer = Offer {
            pacing,
            window_bytes: self.window_bytes(),
            in_flight_bytes: self.flight.bytes(),
            srtt: self.rtt.smoothed_if_sampled(),
            oldest_sent_at: self.flight.get(self.flight.base()).map(|oldest| oldest.sent_at),
            may_wait: !self.recovery.episode().is_active(),
        };
        self.bursts.begins(now, &offer)
    }

    /// Drops the frames of a live source that have waited longer than the controller allows.
    fn drop_frames(&mut self, now: Time) {
        if let Some(limit) = self.control.max_frame_wait {
            self.stream.drop_frames(now, limit);
        }
    }

    /// Captures all frames of a live source that are due.
    fn capture_frames(&mut self, now: Time) {
        while self.stream.has_frame_due(now) {
            let target = self.media_rate();
            if let Some(frame) = self.stream.capture(now, target) {
                self.controller.on_frame(&frame);
                self.refresh_control();
            }
        }
    }

    /// Returns the bitrate for an encoder: the controller's media rate. For controllers without a media rate it is most
    /// of the rate that they allow, as in programs that stream over TCP.
    fn media_rate(&self) -> Option<Rate> {
        self.control.media_rate.or_else(|| {
            let window = self.window_bytes();
            let srtt = self.rtt.smoothed_if_sampled().filter(|_| window != u64::MAX);
            let by_window = srtt.map(|srtt| Rate::from_bytes_per(window, srtt));
            let allowed = match (by_window, self.control.pacing) {
                (Some(window), Some(pacing)) => Some(window.min(pacing)),
                (window, pacing) => window.or(pacing),
            };
            allowed.map(|rate| rate.mul_f64(MEDIA_SHARE))
        })
    }

    /// Sends a handshake packet of a connection that is not set up.
    fn poll_opener(&mut self, now: Time, data: &mut Data) -> bool {
        let is_again = !self.opening.take_due();
        if is_again && self.probes == 0 {
            return false;
        }
        self.probes = 0;
        self.send(now, &Load { number: 0, offset: 0, payload_bytes: 0, filler: false }, is_again, data);
        true
    }

    /// Returns the payload to send next: lost payload first, then new. `None` (and application-limited) if there is
    /// nothing.
    #[inline]
    fn next_payload(&mut self, now: Time) -> Option<Load> {
        if let Some(resend) = self.stream.next_resend(now, &self.flight) {
            return Some(resend);
        }
        let is_held_back = self.stream.fills_receive_window() || self.awaits_hole();
        let new = if is_held_back { None } else { self.stream.next_new(now) };
        if new.is_some() {
            return new;
        }
        if self.probes > 0 && self.flight.bytes() > 0 {
            return Stream::outstanding(&mut self.flight, self.timers.repeats_latest());
        }
        if !is_held_back && self.flight.bytes() < self.window_bytes() {
            self.sampler.mark_app_limited(self.flight.bytes());
        }
        None
    }

    /// Returns true if new data wait until a missing packet is acknowledged or lost: without limited transmit (RFC
    /// 3042).
    fn awaits_hole(&mut self) -> bool {
        !self.limited_transmit && !self.recovery.episode().is_active() && self.flight.has_hole()
    }

    /// Returns a packet without application data if the controller wants one now.
    fn filler(&self, now: Time, is_paced: bool) -> Option<Load> {
        let payload_bytes = self.control.filler_bytes?.min(MAX_PAYLOAD_BYTES);
        let fits = payload_bytes == 0 || self.window_admits(payload_bytes);
        let is_due = (payload_bytes > 0 && is_paced) || self.filler_at != now;
        (fits && is_due).then(|| self.stream.filler(payload_bytes))
    }

    #[inline]
    fn window_admits(&self, payload_bytes: u32) -> bool {
        let payload = u64::from(payload_bytes);
        let in_flight = self.pipe_bytes();
        let window = self.window_bytes();
        // With nothing in flight one packet may leave. Otherwise a window below one packet would block for ever. A
        // controller that has a timer set reopens the window itself (schemes that grant credit).
        (self.flight.bytes() == 0 && !self.control.wake_at.is_finite())
            || match self.window_rounding {
                WindowRounding::Down => in_flight + payload <= window,
                WindowRounding::Up => in_flight < window,
            }
    }

    #[inline]
    fn transmit(&mut self, now: Time, next: &Load, rate: Option<Rate>, data: &mut Data) {
        if let Some(rate) = rate {
            self.pacer.sent(now, next.payload_bytes, rate, self.control.burst_bytes);
        }
        self.pacer.count();
        if next.filler {
            self.filler_at = now;
        }
        let retransmission = self.stream.on_sent(next);
        self.recovery.on_sent(next.payload_bytes);
        self.bursts.sent(now, next.payload_bytes);
        self.send(now, next, retransmission, data);
    }

    #[inline]
    fn send(&mut self, now: Time, load: &Load, retransmission: bool, data: &mut Data) {
        let Load { offset, payload_bytes, filler, .. } = *load;
        self.integrate_to(now);
        let number = self.flight.next_number();
        let was_idle = self.flight.bytes() == 0;
        let in_flight_bytes = self.flight.bytes() + u64::from(payload_bytes);
        let snapshot = self.sampler.on_sent(now, in_flight_bytes, was_idle);
        self.flight.send(SentPacket {
            sent_at: now,
            offset,
            snapshot,
            payload_bytes: payload_bytes as u16,
            acked_bytes: 0,
            fate: Fate::InFlight,
            retransmission,
            filler,
            app_limited: self.sampler.is_app_limited(),
        });
        self.rounds.note_in_flight(in_flight_bytes);
        if payload_bytes > 0 && !filler {
            self.detector.on_sent(now, &self.rtt, offset, payload_bytes, number);
        }
        self.timers.on_sent(now, was_idle);
        self.keepalive.restart(now);
        let is_of_frame = self.stream.is_live() && !filler && payload_bytes > 0;
        let (mark, frame_end) =
            if is_of_frame { self.stream.frame_at(offset, payload_bytes) } else { Default::default() };
        let mut message = Message::default();
        if self.opening.is_over() {
            let sent = Sent {
                now,
                number,
                bytes: payload_bytes,
                in_flight_bytes,
                retransmission,
                filler,
                frame: mark.number,
                frame_end,
                idle_timeouts: core::mem::take(&mut self.idle_timeouts),
            };
            self.controller.on_sent(&sent);
            message = self.controller.message(&sent);
            self.refresh_control();
        }
        *data = Data {
            number,
            offset,
            payload_bytes,
            datagram_bytes: payload_bytes + self.header_bytes,
            sent_at: now,
            least_unacked: self.flight.base(),
            retransmission,
            filler,
            frame: mark,
            message,
        };
    }
}
