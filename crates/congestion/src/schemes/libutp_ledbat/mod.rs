//! LEDBAT as libutp implements it; Pantheon ran it under the name LEDBAT.
//!
//! Source: bittorrent/libutp@b3465b9, `utp_internal.cpp`. Differences from RFC 6817: windows in whole bytes (each ACK
//! rounds down), 3000 bytes per RTT, one delay sample per ACK with a filter of three, a base delay of 13 minutes that
//! is shifted for clock skew, at most one halving per 100 ms, a linear "slow start", windows down to 10 bytes, a cap of
//! 1 MiB.
//!
//! Mapping of its events to the transport's:
//!
//! - The peer's delay is the ACK's: arrival minus receive time minus reported ACK delay. A fall of its base raises this
//!   sender's base by the same amount (clock skew).
//! - "The window was hit within the last second" is the transport's `window_limited`, which remembers up to two round
//!   trips more.
//! - libutp's timer also fires with nothing in flight. On an idle flow it shrinks the window by a third; a window below
//!   one packet it opens again. The controller keeps that timer itself (`max(srtt + 4 * rttvar, 1 s)`, doubling) and
//!   leaves timeouts of outstanding packets to the transport.
//! - CE marks, which libutp ignores, count as loss.
//! - Not modelled: the choice and time of retransmissions (transport), MTU search, the peer's receive window,
//!   connection death after four timeouts.
//!
//! Expected: alone with a buffer above 100 ms, the link's rate at about 100 ms of queue; else halving; start-up gains
//! 3000 bytes per RTT; never more than 1 MiB per RTT.

mod delay;

use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use delay::{DelayHistory, Drift};
use units::{Span, Time};

/// Minimum window, bytes (`MIN_WINDOW_SIZE`).
const MIN_WINDOW_BYTES: u64 = 10;
/// Minimum time between two halvings (`MAX_WINDOW_DECAY`).
const DECAY_GATE: Span = Span::from_ms(100);
/// Time after the last full window during which the window may grow.
const WINDOW_MEMORY: Span = Span::from_secs(1);
/// Minimum timeout.
const MIN_TIMEOUT: Span = Span::from_secs(1);
/// Timeout before the first RTT sample.
const INITIAL_TIMEOUT: Span = Span::from_secs(3);
/// Maximum number of packets in flight: the outgoing buffer less one slot for the FIN.
const MAX_PACKETS: u64 = 1023;
/// Fraction of the target at which slow start ends.
const SLOW_START_END: f64 = 0.9;
/// Maximum fall of the peer's base delay that counts as clock skew.
const MAX_SKEW_NS: i64 = 10_000_000;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "libutp-ledbat",
    summary: "LEDBAT as in libutp (BitTorrent's uTP)",
    parameters: &[
        Parameter::number(
            "target_ms",
            "ms",
            100.0,
            (1.0, 1000.0),
            "Queueing delay to keep (CCONTROL_TARGET).",
        ),
        Parameter::integer(
            "increase_bytes",
            "bytes/RTT",
            3000,
            (1, 1_000_000),
            "Growth per RTT without queue (MAX_CWND_INCREASE_BYTES_PER_RTT).",
        ),
        Parameter::integer(
            "sndbuf_bytes",
            "bytes",
            1_048_576,
            (2_000, 1_073_741_824),
            "Largest window: the socket's send buffer (1 MiB).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Libutp::new(parameters, start))),
};

#[derive(Debug)]
struct Libutp {
    target_ns: f64,
    increase_bytes: f64,
    sndbuf_bytes: u64,
    packet_bytes: u64,
    window_bytes: u64,
    ssthresh_bytes: u64,
    slow_start: bool,
    ours: DelayHistory,
    /// Delays of the ACK direction.
    theirs: DelayHistory,
    drift: Drift,
    /// Queueing delay of the latest ACK, with the drift penalty.
    queuing_delay_ns: i64,
    last_decay: Option<Time>,
    /// Time when the window last limited sending.
    last_full: Time,
    timer: Timer,
}

/// Retransmission timer of libutp, for times with nothing in flight.
#[derive(Clone, Copy, Debug)]
struct Timer {
    in_flight_bytes: u64,
    /// Timeout before backing off.
    timeout: Span,
    /// Timeout with backing off.
    current: Span,
    due: Time,
}

impl Timer {
    fn restart(&mut self, now: Time) {
        self.current = self.timeout;
        self.due = now + self.current;
    }

    fn back_off(&mut self, now: Time) {
        self.current = self.current * 2;
        self.due = now + self.current;
    }
}

impl Libutp {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let packet_bytes = u64::from(start.mss_bytes.max(1));
        let sndbuf_bytes = parameters.integer("sndbuf_bytes") as u64;
        Self {
            target_ns: parameters.number("target_ms") * 1e6,
            increase_bytes: parameters.number("increase_bytes"),
            sndbuf_bytes,
            packet_bytes,
            window_bytes: packet_bytes,
            ssthresh_bytes: sndbuf_bytes,
            slow_start: true,
            ours: DelayHistory::new(),
            theirs: DelayHistory::new(),
            drift: Drift::new(start.now),
            queuing_delay_ns: 0,
            last_decay: None,
            last_full: start.now,
            timer: Timer {
                in_flight_bytes: 0,
                timeout: INITIAL_TIMEOUT,
                current: INITIAL_TIMEOUT,
                due: Time::NEVER,
            },
        }
    }

    /// Updates the delay histories; returns the queueing delay in ns.
    fn measure(&mut self, ack: &Ack<'_>) -> i64 {
        let newest = ack.newest();
        let rtt_ns = (ack.now - newest.sent_at).as_ns() as i64;
        let ack_left_ns = newest.received_at.as_ns() as i64 + ack.ack_delay.as_ns() as i64;
        let their_base = self.theirs.base_ns();
        self.theirs.add(ack.now, ack.now.as_ns() as i64 - ack_left_ns);
        if let (Some(before), Some(after)) = (their_base, self.theirs.base_ns()) {
            let fall_ns = before - after;
            if fall_ns > 0 && fall_ns <= MAX_SKEW_NS {
                self.ours.shift(fall_ns);
            }
        }
        let sample_ns = newest.one_way_delay_ns();
        self.ours.add(ack.now, sample_ns);
        self.drift.add(ack.now, sample_ns);
        let current_ns = self.ours.current_ns();
        if current_ns > rtt_ns {
            // A one-way delay above the RTT means that the base is too small.
            self.ours.shift(current_ns - rtt_ns);
        }
        current_ns.min(rtt_ns) + self.drift.penalty_ns()
    }

    /// Applies the window's rule. Every step is in whole bytes, rounded down.
    fn apply(&mut self, now: Time, acked_bytes: u64) {
        let window = self.window_bytes as f64;
        let acked = acked_bytes as f64;
        let share = acked.min(window) / acked.max(window);
        let off_target = (self.target_ns - self.queuing_delay_ns as f64) / self.target_ns;
        let mut gain = self.increase_bytes * share * off_target;
        if gain > 0.0 && now - self.last_full > WINDOW_MEMORY {
            gain = 0.0;
        }
        let moved = ((window + gain) as u64).max(MIN_WINDOW_BYTES);
        if self.slow_start {
            let grown = (window + share * self.packet_bytes as f64) as u64;
            if grown > self.ssthresh_bytes {
                self.slow_start = false;
            } else if self.queuing_delay_ns as f64 > SLOW_START_END * self.target_ns {
                self.slow_start = false;
                self.ssthresh_bytes = self.window_bytes;
            } else {
                self.window_bytes = grown.max(moved);
            }
        } else {
            self.window_bytes = moved;
        }
        self.window_bytes = self.window_bytes.clamp(MIN_WINDOW_BYTES, self.sndbuf_bytes);
    }

    /// Halves the window unless that happened within the last 100 ms.
    fn decay(&mut self, now: Time) {
        if self.last_decay.is_some_and(|last| now - last < DECAY_GATE) {
            return;
        }
        self.last_decay = Some(now);
        self.window_bytes = (self.window_bytes / 2).max(MIN_WINDOW_BYTES);
        self.slow_start = false;
        self.ssthresh_bytes = self.window_bytes;
    }

    /// Handles the timer: an idle window shrinks by a third; otherwise it becomes one packet and slow start begins.
    fn expire(&mut self, now: Time, is_idle: bool) {
        if is_idle && self.window_bytes > self.packet_bytes {
            self.window_bytes = (self.window_bytes * 2 / 3).max(self.packet_bytes);
        } else {
            self.window_bytes = self.packet_bytes;
            self.slow_start = true;
        }
        self.timer.back_off(now);
    }
}

impl Controller for Libutp {
    fn on_sent(&mut self, sent: &Sent) {
        self.timer.in_flight_bytes = sent.in_flight_bytes;
        if sent.in_flight_bytes <= u64::from(sent.bytes) && !sent.retransmission {
            self.timer.restart(sent.now);
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.timer.in_flight_bytes = ack.in_flight_bytes;
        self.timer.timeout = (ack.srtt + ack.rttvar * 4).max(MIN_TIMEOUT);
        self.timer.restart(ack.now);
        if ack.window_limited {
            self.last_full = ack.now;
        }
        self.queuing_delay_ns = self.measure(ack);
        self.apply(ack.now, ack.acked_bytes.max(1));
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.timer.in_flight_bytes = loss.in_flight_bytes;
        self.decay(loss.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.timer.in_flight_bytes = 0;
        self.expire(timeout.now, timeout.in_flight_before_bytes == 0);
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.decay(ecn.now);
    }

    fn on_wake(&mut self, now: Time) {
        if self.timer.in_flight_bytes == 0 && now >= self.timer.due {
            self.expire(now, true);
        }
    }

    fn control(&self) -> Control {
        let window_bytes = self.window_bytes.min(MAX_PACKETS * self.packet_bytes);
        let wake_at = if self.timer.in_flight_bytes == 0 { self.timer.due } else { Time::NEVER };
        Control { wake_at, ..Control::window(window_bytes) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let packets = |bytes: u64| bytes as f64 / self.packet_bytes as f64;
        sink.put("cwnd", "packets", packets(self.window_bytes));
        sink.put("ssthresh", "packets", packets(self.ssthresh_bytes));
        sink.put("queuing_delay", "ms", self.queuing_delay_ns as f64 / 1e6);
        // The base delay contains the clock offset: only its changes have a meaning.
        sink.put("base_delay", "ms", self.ours.base_ns().map_or(f64::NAN, |ns| ns as f64 / 1e6));
        sink.put("target", "ms", self.target_ns / 1e6);
        sink.put("clock_drift", "us/5s", self.drift.us_per_slot());
    }
}

#[cfg(test)]
mod tests;
