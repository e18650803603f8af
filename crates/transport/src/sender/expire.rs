//! Timers: the times at which the sender must be called without an ACK, and its actions then.

use super::Sender;
use crate::advance::Advance;
use crate::timers::Expiry;
use congestion::{Timeout, TimeoutKind};
use units::{Span, Time};

impl Sender {
    /// Returns the time at which [`Sender::on_timer`] and [`Sender::poll_transmit`] must be called if no ACK arrives
    /// earlier.
    pub fn next_timer(&self) -> Time {
        let mut next = self.control.wake_at.min(self.pacer.next_timer()).min(self.detector.next_timer());
        next = next.min(self.stream.next_change());
        if self.opening.is_over() {
            next = next.min(self.keepalive.at());
        }
        if self.is_waiting() {
            next = next.min(self.timers.expiry(&self.rtt, self.opening.is_over()));
        }
        if !self.started {
            next = next.min(self.start);
        }
        if next < self.stop { next } else { Time::NEVER }
    }

    /// Handles all timers that are due at `now`; poll for packets afterwards.
    pub fn on_timer(&mut self, now: Time) {
        self.flight.begin_event();
        if now < self.start || now >= self.stop {
            return;
        }
        if self.detector.next_timer() <= now {
            self.integrate_to(now);
            self.detect_losses(now, 0, &Advance::default(), false);
            self.refresh_control();
            self.note_flight();
        }
        if self.is_waiting() && self.timers.expiry(&self.rtt, self.opening.is_over()) <= now {
            self.integrate_to(now);
            match self.timers.on_expiry(now, &self.rtt, self.opening.is_over()) {
                Expiry::Probe => self.probes = 1,
                Expiry::LoseAll => self.lose_all(now),
            }
        }
        if self.stream.begins_anew(now) {
            self.begin_anew(now);
        }
        if self.control.wake_at <= now {
            self.controller.on_wake(now);
            self.refresh_control();
            // A controller that asks for a past time again would keep the driver from moving on.
            self.control.wake_at = self.control.wake_at.max(now + Span::from_ns(1));
        }
    }

    /// Returns true if the sender waits for an ACK.
    fn is_waiting(&self) -> bool {
        self.flight.bytes() > 0 || (!self.opening.is_over() && self.flight.next_number() > 0)
    }

    /// Begins a new flow of the application: all packets in flight belong to the previous flow.
    fn begin_anew(&mut self, now: Time) {
        self.integrate_to(now);
        self.forget_flight(now);
        self.pacer.begin_anew(now);
        self.controller.on_anew(now, self.flight.next_number());
        self.refresh_control();
    }

    /// Handles an expired retransmission timer: declares everything in flight lost.
    fn lose_all(&mut self, now: Time) {
        let in_flight_before_bytes = self.flight.bytes();
        let next_number = self.forget_flight(now);
        let (kind, repeated) = (TimeoutKind::Rto, self.timers.is_backed_off());
        self.controller.on_timeout(&Timeout { now, kind, repeated, in_flight_before_bytes, next_number });
        self.refresh_control();
    }

    /// Declares everything in flight lost; returns the number of the next packet.
    fn forget_flight(&mut self, now: Time) -> u64 {
        let in_flight_before_bytes = self.flight.bytes();
        self.flight.begin_losses();
        let first = self.flight.first_in_flight();
        for number in first..self.flight.next_number() {
            self.flight.lose(number);
        }
        self.sampler.on_lost(in_flight_before_bytes - self.flight.bytes());
        self.resend_lost();
        if self.detector.on_timeout() {
            self.stream.sort_resends();
        }
        let next = self.frontier();
        self.recovery.on_timeout(now, first, next);
        next.number
    }
}
