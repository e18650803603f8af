//! Reno: slow start, additive increase, halving on loss.
//!
//! Source: RFC 5681 and RFC 6582 as Linux v5.15 implements them (`net/ipv4/tcp_cong.c`): byte counting without an upper
//! limit per ACK, exactly one segment per window per round trip in congestion avoidance. Fast recovery and PRR are the
//! transport's.
//!
//! Expected: sawtooth between (BDP + queue) / 2 and BDP + queue, one packet per RTT; throughput `1.22 * MSS / (RTT *
//! sqrt(p))` at loss-event rate `p` (Mathis et al. 1997, one ACK per packet).

use crate::parts::{Counted, Undo, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::Time;

/// Minimum window after a reduction, segments (RFC 5681 equation 4).
const MIN_WINDOW: f64 = 2.0;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "reno",
    summary: "TCP Reno/NewReno (RFC 5681, RFC 6582) with Linux's exact increase",
    parameters: &[
        Parameter::number(
            "beta",
            "",
            0.5,
            (0.1, 0.95),
            "Factor of the window kept on loss (RFC 5681: one half).",
        ),
        Parameter::choice(
            "reduce_from",
            "window",
            &["window", "flight"],
            "What is reduced on loss: the window, as Linux does, or what is in flight then (RFC 5681, ns-3).",
        ),
        Parameter::choice(
            "increase",
            "exact",
            &["exact", "counted", "truncated"],
            "Growth: by acknowledged bytes; by whole packets counted, as Linux; per ACK in whole bytes, as ns-3's TcpNewReno.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Reno::new(parameters, start))),
};

#[derive(Debug)]
struct Reno {
    window: Window,
    /// Slow start threshold, segments.
    ssthresh: f64,
    beta: f64,
    /// True if a loss reduces the bytes in flight, not the window.
    from_flight: bool,
    /// True if growth is one segment per ACK in slow start, and whole bytes per ACK in congestion avoidance.
    truncated: bool,
    /// Count for growth in whole packets; `None` for other growth.
    counted: Option<Counted>,
    undo: Undo,
}

impl Reno {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            window: Window::from_bytes(start.initial_window_bytes, start.mss_bytes),
            ssthresh: f64::INFINITY,
            beta: parameters.number("beta"),
            from_flight: parameters.choice("reduce_from") == "flight",
            truncated: parameters.choice("increase") == "truncated",
            counted: (parameters.choice("increase") == "counted").then(Counted::default),
            undo: Undo::default(),
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window.packets < self.ssthresh
    }

    /// Reduces the window while `in_flight_bytes` are in flight.
    fn reduce(&mut self, in_flight_bytes: u64) {
        let base =
            if self.from_flight { self.window.in_packets(in_flight_bytes) } else { self.window.packets };
        self.ssthresh = (base * self.beta).max(MIN_WINDOW);
        self.window.packets = self.ssthresh;
    }

    /// Grows the window by one ACK like ns-3 (ns-3.41, `src/internet/model/tcp-congestion-ops.cc`, `TcpNewReno`): whole
    /// bytes.
    fn grow_truncated(&mut self) {
        if self.in_slow_start() {
            self.window.packets += 1.0;
        } else {
            let segment = self.window.segment_bytes();
            let step = (segment / self.window.packets).max(1.0).floor();
            self.window.packets += step / segment;
        }
    }
}

impl Controller for Reno {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.in_recovery || !ack.may_grow(self.window.bytes(), self.in_slow_start()) {
            return;
        }
        let mut acked = self.window.in_packets(ack.growth_bytes);
        if self.truncated {
            if acked >= 1.0 {
                self.grow_truncated();
            }
            return;
        }
        if self.in_slow_start() {
            let grown = (self.window.packets + acked).min(self.ssthresh);
            acked -= grown - self.window.packets;
            self.window.packets = grown;
        }
        // The rest after reaching ssthresh counts for congestion avoidance.
        if let Some(counted) = &mut self.counted {
            counted.grow(&mut self.window, acked);
        } else {
            self.window.packets += acked / self.window.packets;
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.undo.remember(self.window, self.ssthresh);
            self.reduce(loss.in_flight_bytes);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        self.undo.restore(&mut self.window, &mut self.ssthresh);
    }

    fn on_sent(&mut self, event: &Sent) {
        self.window.restart(event.idle_timeouts, &mut self.ssthresh);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reduces_threshold() {
            self.undo.remember(self.window, self.ssthresh);
            self.reduce(timeout.in_flight_before_bytes);
        }
        self.window.packets = timeout.window_packets();
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if ecn.new_episode {
            self.undo.forget();
            self.reduce(ecn.in_flight_bytes);
        }
    }

    fn control(&self) -> Control {
        Control::window(self.window.bytes())
    }

    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        Some(self.window.in_bytes(self.ssthresh))
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("ssthresh", "packets", self.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    fn driver() -> Driver {
        Driver::new(&ENTRY, &[])
    }

    #[test]
    fn slow_start_doubles_per_round() {
        let mut driver = driver();
        driver.ack_window();
        assert_eq!(driver.field("cwnd"), 20.0);
        driver.ack_window();
        assert_eq!(driver.field("cwnd"), 40.0);
    }

    #[test]
    fn window_halves_once_per_episode() {
        let mut driver = driver();
        driver.ack_window();
        driver.lose(1, true);
        driver.lose(1, false);
        assert_eq!(driver.field("cwnd"), 10.0);
        assert_eq!(driver.field("ssthresh"), 10.0);
    }

    #[test]
    fn a_false_alarm_is_undone_once_a_timeout_too() {
        let mut driver = driver();
        driver.ack_window();
        driver.lose(1, true);
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (20.0, f64::INFINITY));
        driver.controller.on_spurious_loss(driver.now);
        driver.timeout(false);
        driver.timeout(true);
        assert_eq!(driver.field("cwnd"), 1.0);
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (20.0, f64::INFINITY));
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_window() {
        let mut driver = driver();
        driver.ack_window();
        driver.lose(1, true);
        // Ten ACKs of one segment each at a window of 10 add a little less than one segment, because the window grows
        // in between.
        (0..10).for_each(|_| driver.ack(1));
        assert!((driver.field("cwnd") - 10.96).abs() < 0.01, "{}", driver.field("cwnd"));
    }

    #[test]
    fn truncated_growth_adds_whole_bytes_per_ack() {
        let mut driver = Driver::new(&ENTRY, &[("increase", "truncated")]);
        // An ACK of two segments adds one segment in slow start.
        driver.ack(2);
        assert_eq!(driver.field("cwnd"), 11.0);
        (0..5).for_each(|_| driver.ack_window());
        driver.lose(1, true);
        let (before, mss) = (driver.field("cwnd"), f64::from(crate::testing::MSS_BYTES));
        driver.ack(1);
        let step = (mss / before).floor() / mss;
        assert!((driver.field("cwnd") - before - step).abs() < 1e-12, "{before} {}", driver.field("cwnd"));
    }

    #[test]
    fn counted_growth_adds_a_whole_packet_per_window() {
        let mut driver = Driver::new(&ENTRY, &[("increase", "counted")]);
        driver.ack_window();
        driver.lose(1, true);
        (0..9).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd"), 10.0);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 11.0);
    }

    #[test]
    fn the_flight_can_be_what_is_halved() {
        let mut driver = Driver::new(&ENTRY, &[("reduce_from", "flight")]);
        driver.ack_window();
        driver.in_flight_packets = 14.0;
        driver.lose(1, true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (7.0, 7.0));
    }

    #[test]
    fn timeout_restarts_from_one_segment_and_keeps_half_as_threshold() {
        let mut driver = driver();
        driver.timeout(false);
        driver.timeout(true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (1.0, 5.0));
    }

    #[test]
    fn nothing_grows_while_the_application_limits() {
        let mut driver = driver();
        driver.window_limited = false;
        driver.peak_in_flight_packets = 2.0;
        (0..5).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd"), 10.0);
    }
}
