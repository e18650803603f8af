//! Verus: every 5 ms a delay is chosen, and a learned profile gives the window that leads to it.
//!
//! Source: Zaki, Poetsch, Chen, Subramanian and Goerg, "Adaptive Congestion Control for Unpredictable Cellular
//! Networks" (SIGCOMM 2015), in the form of the authors' program that Pantheon ran (yzaki/verus@d4b447e,
//! `src/verus_server.cpp`). The set point falls by 1 ms per epoch while the maximum delay rises, and grows by 2 ms
//! otherwise. While the delay exceeds six times the minimum, it falls by 2 ms. The profile ([`profile`]) is the average
//! RTT per window, smoothed once per second. Losses end slow start. Later ones lower the set point to the profile's
//! delay for 0.7 of the window.
//!
//! The sender counts packets in flight itself. An epoch allows a number of packets to be sent at once; the transport
//! gets a window of the bytes in flight plus that credit. The program's acknowledgements echo window and run number;
//! here a table has them. The program also handles a full socket buffer (it undoes the packet and lowers the window),
//! which does not exist here.
//!
//! Expected: a queue of up to five times the minimum RTT; with a smaller buffer, continuous loss.

mod profile;
mod spline;

use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start};
use profile::{MAX_WINDOW, Profile};
use std::collections::VecDeque;
use units::{Span, Time};

/// Minimum RTT before the first sample (the program's initial `dMin`), ms.
const UNKNOWN_MIN_MS: f64 = 1000.0;
/// Addition to the minimum RTT when it starves the flow, ms.
const STARVED_STEP_MS: f64 = 10.0;
/// Rise of the delay below which it does not count, ms.
const RISE_MS: f64 = 0.0001;
/// Weight of the past in the smoothed RTT, and in the maximum delay of an epoch.
const RTT_MEMORY: f64 = 0.875;
const MAX_MEMORY: f64 = 0.2;
/// Time of the ACK timer: five RTTs within these bounds, ms.
const TIMER_RTTS: f64 = 5.0;
const TIMER_MIN_MS: f64 = 150.0;
const TIMER_MAX_MS: f64 = 1000.0;
/// Window above which losses end slow start, packets.
const SLOW_START_MIN: f64 = 20.0;
/// Number of packets whose window is remembered.
const REMEMBERED: usize = 1 << 16;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "verus",
    summary: "Verus (SIGCOMM 2015): a delay set point every 5 ms, a learned profile from delay to window",
    parameters: &[
        Parameter::number("epoch_ms", "ms", 5.0, (1.0, 1000.0), "Time between two decisions (EPOCH)."),
        Parameter::number(
            "delta1_ms",
            "ms",
            1.0,
            (0.0, 100.0),
            "Step down of the set point while the delay rises (DELTA1).",
        ),
        Parameter::number(
            "delta2_ms",
            "ms",
            2.0,
            (0.0, 100.0),
            "Step up of the set point otherwise, and down above `r` (DELTA2).",
        ),
        Parameter::number(
            "r",
            "",
            6.0,
            (1.0, 100.0),
            "Largest ratio of the delay to its minimum (VERUS_R; the paper studies 2, 4 and 6).",
        ),
        Parameter::number(
            "decrease",
            "",
            0.7,
            (0.1, 0.99),
            "Share of a lost packet's window that is kept (VERUS_M_DECREASE).",
        ),
        Parameter::number("refit_s", "s", 1.0, (0.01, 100.0), "Time between two fits (CURVE_TIMER)."),
        Parameter::number(
            "smoothing",
            "",
            2.0,
            (-8.0, 8.0),
            "Decimal logarithm of the price on bends of the profile (ALGLIB's rho).",
        ),
        Parameter::number(
            "missing_ms",
            "ms",
            150.0,
            (1.0, 10_000.0),
            "A packet overtaken by another is lost after this time (MISSING_PKT_EXPIRY).",
        ),
        Parameter::number(
            "slow_start_rtt_ms",
            "ms",
            500.0,
            (1.0, 10_000.0),
            "RTT that ends slow start (SS_EXIT_THRESHOLD).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Verus::new(parameters, start))),
};

#[derive(Debug)]
struct Verus {
    epoch: Span,
    delta1_ms: f64,
    delta2_ms: f64,
    ratio: f64,
    decrease: f64,
    refit: Span,
    smoothing: f64,
    missing_after: Span,
    slow_start_rtt_ms: f64,
    mss_bytes: u64,
    run: Run,
    profile: Profile,
    windows: Windows,
    /// Bytes in flight as the transport counts them.
    in_flight_bytes: u64,
    next_epoch: Time,
}

/// State that a restart resets; in brackets the names in the program.
#[derive(Debug)]
struct Run {
    /// Number of the run's first packet. Acknowledgements of earlier packets belong to an earlier run.
    first: u64,
    /// Window, packets (`wBar`).
    window: f64,
    /// Packets in flight (`wCrt`).
    in_flight: i64,
    /// Packets that may leave now (`tempS`).
    credit: u64,
    /// Set point, ms (`dEst`).
    set_point: f64,
    /// Minimum RTT, ms (`dMin`).
    min_rtt: f64,
    /// Maximum RTT of this epoch so far, and the smoothed one of earlier epochs, ms (`dMax`, `dMaxLast`).
    epoch_max: Option<f64>,
    last_max: Option<f64>,
    /// Smoothed and latest RTT, ms (`dTBar`, `delay`).
    smoothed_rtt: f64,
    latest_rtt: f64,
    phase: Phase,
    /// True if delay ended slow start and some of its packets are still in flight.
    leaving_slow_start: bool,
    /// True if packets sent before the last decrease are still being acknowledged.
    loss_phase: bool,
    /// Next packet to be acknowledged if none overtakes another (`seqLast` + 1).
    expected: u64,
    acked_at: Option<Time>,
    /// Packets overtaken by others, ascending.
    missing: VecDeque<Missing>,
    timer_at: Time,
    began: Time,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    SlowStart,
    /// Normal phase, with the time of the next fit of the profile.
    Steady {
        refit_at: Time,
    },
}

#[derive(Clone, Copy, Debug)]
struct Missing {
    number: u64,
    /// Window when it was sent, packets.
    window: u32,
    noticed: Time,
}

impl Run {
    fn new(now: Time, first: u64) -> Self {
        Self {
            first,
            window: 1.0,
            in_flight: 0,
            credit: 1,
            set_point: 0.0,
            min_rtt: UNKNOWN_MIN_MS,
            epoch_max: None,
            last_max: None,
            smoothed_rtt: 0.0,
            latest_rtt: 0.0,
            phase: Phase::SlowStart,
            leaving_slow_start: false,
            loss_phase: false,
            expected: first,
            acked_at: None,
            missing: VecDeque::with_capacity(64),
            timer_at: now + span(TIMER_MAX_MS),
            began: now,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.phase == Phase::SlowStart
    }

    fn leave_slow_start(&mut self) {
        self.phase = Phase::Steady { refit_at: Time::ZERO };
    }

    /// Forgets all outstanding packets.
    fn forget_outstanding(&mut self, next: u64) {
        self.in_flight = 0;
        self.expected = next;
        self.missing.clear();
    }

    fn rearm(&mut self, now: Time) {
        self.timer_at = now + span((TIMER_RTTS * self.latest_rtt).clamp(TIMER_MIN_MS, TIMER_MAX_MS));
    }

    /// Returns the packets to send now so that a window leaves per RTT of `n` epochs.
    fn allowance(&self, epoch: Span) -> u64 {
        let n = (self.smoothed_rtt / epoch.as_ms_f64()).ceil() as i64;
        let allowance = if n > 1 {
            self.window + (self.in_flight * (2 - n) / (n - 1)) as f64
        } else {
            self.window - self.in_flight as f64
        };
        allowance.max(0.0) as u64
    }
}

/// Windows at which the latest packets were sent, which the program's acknowledgements echo.
#[derive(Debug)]
struct Windows {
    first: u64,
    sizes: VecDeque<u32>,
}

impl Windows {
    fn push(&mut self, number: u64, size: u32) {
        if number != self.next() {
            self.sizes.clear();
        }
        if self.sizes.is_empty() {
            self.first = number;
        }
        if self.sizes.len() == REMEMBERED {
            self.sizes.pop_front();
            self.first += 1;
        }
        self.sizes.push_back(size);
    }

    fn get(&self, number: u64) -> Option<u32> {
        self.sizes.get(number.checked_sub(self.first)? as usize).copied()
    }

    /// Returns the number of the next packet.
    fn next(&self) -> u64 {
        self.first + self.sizes.len() as u64
    }
}

fn span(ms: f64) -> Span {
    Span::from_secs_f64(ms / 1e3)
}

impl Verus {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let epoch = span(parameters.number("epoch_ms"));
        Self {
            epoch,
            delta1_ms: parameters.number("delta1_ms"),
            delta2_ms: parameters.number("delta2_ms"),
            ratio: parameters.number("r"),
            decrease: parameters.number("decrease"),
            refit: Span::from_secs_f64(parameters.number("refit_s")),
            smoothing: parameters.number("smoothing"),
            missing_after: span(parameters.number("missing_ms")),
            slow_start_rtt_ms: parameters.number("slow_start_rtt_ms"),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            run: Run::new(start.now, 0),
            profile: Profile::new(),
            windows: Windows { first: 0, sizes: VecDeque::new() },
            in_flight_bytes: 0,
            next_epoch: start.now + epoch,
        }
    }

    fn restart(&mut self, now: Time) {
        self.run = Run::new(now, self.windows.next());
        self.profile.clear();
    }

    fn on_packet(&mut self, now: Time, number: u64, sent_at: Time) {
        let Some(size) = self.windows.get(number) else { return };
        if number < self.run.first {
            return;
        }
        let rtt = (now - sent_at).as_ms_f64();
        if self.run.in_slow_start() && rtt > self.slow_start_rtt_ms {
            self.run.window = (self.decrease * f64::from(size)).max(1.0);
            self.run.set_point = self.profile.delay_at(self.run.window);
            self.run.loss_phase = true;
            self.run.leaving_slow_start = true;
            self.run.leave_slow_start();
        }
        self.run.latest_rtt = rtt;
        self.run.rearm(now);
        if self.run.loss_phase && f64::from(size) <= self.run.window {
            self.run.epoch_max = None;
            self.run.loss_phase = false;
            self.run.leaving_slow_start = false;
        }
        self.sort_in(now, number, size);
        if self.run.in_slow_start() {
            self.run.window = (self.run.window + 1.0).min((MAX_WINDOW - 1) as f64);
            self.run.credit =
                self.run.credit.max((self.run.window as i64 - self.run.in_flight).max(0) as u64);
        }
    }

    /// Finds the packets that the acknowledged one overtook. Learns from the packet unless it was already counted as
    /// lost.
    fn sort_in(&mut self, now: Time, number: u64, size: u32) {
        if number >= self.run.expected {
            for overtaken in self.run.expected.max(self.windows.first)..number {
                if let Some(window) = self.windows.get(overtaken) {
                    self.run.missing.push_back(Missing { number: overtaken, window, noticed: now });
                }
            }
            self.run.expected = number + 1;
            self.run.acked_at = Some(now);
        } else {
            let Ok(at) = self.run.missing.binary_search_by_key(&number, |missing| missing.number) else {
                return;
            };
            self.run.missing.remove(at);
        }
        self.learn(size);
    }

    fn learn(&mut self, size: u32) {
        let run = &mut self.run;
        let rtt = run.latest_rtt;
        run.in_flight = (run.in_flight - 1).max(0);
        run.epoch_max = Some(run.epoch_max.map_or(rtt, |max| max.max(rtt)));
        run.smoothed_rtt = RTT_MEMORY * run.smoothed_rtt + (1.0 - RTT_MEMORY) * rtt;
        run.min_rtt = run.min_rtt.min(rtt);
        if run.loss_phase {
            run.window += 1.0 / run.window;
            if self.profile.has_curve() {
                run.set_point = run.set_point.min(self.profile.delay_at(run.window));
            }
        } else {
            self.profile.record(size as usize, rtt);
        }
    }

    /// Counts packets as lost that have been missing for too long.
    fn give_up_missing(&mut self, now: Time) {
        let run = &mut self.run;
        while let Some(lost) = run.missing.front().copied() {
            if now - lost.noticed <= self.missing_after {
                return;
            }
            run.missing.pop_front();
            run.in_flight = (run.in_flight - 1).max(0);
            if !run.loss_phase {
                run.loss_phase = true;
                run.window = run.window.min(self.decrease * f64::from(lost.window)).max(1.0);
                run.set_point = if run.in_slow_start() {
                    self.profile.recorded(run.window)
                } else {
                    self.profile.delay_at(run.window)
                };
            }
            if run.in_slow_start() && run.window.trunc() > SLOW_START_MIN {
                self.profile.distrust_from(lost.window as usize);
                run.leave_slow_start();
                run.forget_outstanding(self.windows.next());
            }
        }
    }

    fn on_epoch(&mut self, now: Time) {
        self.give_up_missing(now);
        let Phase::Steady { refit_at } = self.run.phase else { return };
        let holds = self.move_set_point(now);
        let Some(window) = self.profile.window_for(self.run.set_point) else {
            self.restart(now);
            return;
        };
        self.run.window = window.max(1.0);
        if !holds {
            // The program always has data, so nothing is left of the previous epoch's credit.
            self.run.credit = self.run.credit.max(self.run.allowance(self.epoch));
        }
        if now >= refit_at {
            self.run.phase = Phase::Steady { refit_at: now + self.refit };
            if !self.profile.fit(self.smoothing) {
                self.restart(now);
            }
        }
    }

    /// Chooses the target delay. Returns true if no packets may be added although the delay is at its minimum.
    fn move_set_point(&mut self, now: Time) -> bool {
        let run = &mut self.run;
        let since_ack = (now - run.acked_at.unwrap_or(run.began)).as_ms_f64();
        let silence = || run.last_max.map_or(since_ack, |last| last.max(since_ack));
        let max = run.epoch_max.take().unwrap_or_else(silence);
        let last = run.last_max.unwrap_or(max);
        run.last_max = Some(MAX_MEMORY * last + (1.0 - MAX_MEMORY) * max);
        if last > self.ratio * run.min_rtt {
            if run.leaving_slow_start {
                return false;
            }
            run.set_point = run.min_rtt.max(run.set_point - self.delta2_ms);
            let is_lowest = run.set_point <= run.min_rtt;
            let is_starved = is_lowest && run.in_flight < 2;
            if is_starved {
                run.min_rtt += STARVED_STEP_MS;
            }
            return is_lowest && !is_starved;
        }
        if max - last > RISE_MS {
            run.set_point = run.min_rtt.max(run.set_point - self.delta1_ms);
        } else {
            run.set_point += self.delta2_ms;
        }
        false
    }

    fn on_timer(&mut self, now: Time) {
        if self.run.acked_at.is_none() {
            self.restart(now);
            return;
        }
        if self.run.in_slow_start() {
            self.run.leave_slow_start();
        } else {
            self.run.loss_phase = true;
            self.run.set_point = self.run.min_rtt;
            self.run.forget_outstanding(self.windows.next());
        }
        self.run.rearm(now);
    }
}

impl Controller for Verus {
    fn on_sent(&mut self, event: &Sent) {
        self.in_flight_bytes = event.in_flight_bytes;
        self.windows.push(event.number, self.run.window as u32);
        self.run.in_flight += 1;
        self.run.credit = self.run.credit.saturating_sub(1);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.in_flight_bytes = ack.in_flight_bytes;
        for packet in ack.packets {
            self.on_packet(ack.now, packet.number, packet.sent_at);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        // Verus detects its losses itself.
        self.in_flight_bytes = loss.in_flight_bytes;
    }

    fn on_timeout(&mut self, _timeout: &crate::Timeout) {
        self.in_flight_bytes = 0;
    }

    fn on_wake(&mut self, now: Time) {
        if now >= self.run.timer_at {
            self.on_timer(now);
        }
        if now >= self.next_epoch {
            self.next_epoch = now + self.epoch;
            self.on_epoch(now);
        }
    }

    fn control(&self) -> Control {
        let window = self.in_flight_bytes.saturating_add(self.run.credit.saturating_mul(self.mss_bytes));
        Control { wake_at: self.next_epoch.min(self.run.timer_at), ..Control::window(window.max(1)) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let run = &self.run;
        sink.put("cwnd", "packets", run.window);
        sink.put("verus_in_flight", "packets", run.in_flight as f64);
        sink.put("set_point", "ms", run.set_point);
        sink.put("min_rtt", "ms", run.min_rtt);
        sink.put("smoothed_rtt", "ms", run.smoothed_rtt);
        sink.put("slow_start", "0 no, 1 yes", f64::from(u8::from(run.in_slow_start())));
        sink.put("loss_phase", "0 no, 1 yes", f64::from(u8::from(run.loss_phase)));
    }
}

#[cfg(test)]
mod tests;
