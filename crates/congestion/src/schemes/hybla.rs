//! Hybla: at long RTTs it grows as fast per second as Reno at a short RTT, for paths over satellites.
//!
//! Source: Caini and Firrincieli 2004 (TCP Hybla: a TCP enhancement for heterogeneous networks, International Journal
//! of Satellite Communications and Networking 22), as Linux v6.12 implements it (`net/ipv4/tcp_hybla.c`). With `rho =
//! RTT / rtt0`, at least 1, an ACK adds `2^rho - 1` packets in slow start and `rho^2 / cwnd` in congestion avoidance. A
//! loss halves the window.
//!
//! As in Linux:
//!
//! - The RTT is the minimum of the smoothed RTT.
//! - The window begins with `rho` packets.
//! - The window grows like Reno from the first packet beyond a hole until recovery is over. After a timeout it does so
//!   until all packets sent before are settled.
//! - Increments are rounded down. If an ACK adds nothing, a window of ACKs adds a packet.
//!
//! Expected: the sending rate grows by `1 / rtt0^2` packets/s per second in congestion avoidance at every RTT from
//! `rtt0` on, if every packet is acknowledged.

use crate::parts::{Completed, Counted, Undo, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::{Span, Time};

/// Minimum window after a reduction, packets.
const MIN_WINDOW: f64 = 2.0;
/// Maximum window of Linux's growth, packets.
const MAX_WINDOW: f64 = 65_535.0;
/// Maximum window of the exact form, packets: Linux counts packets in 32 bits (`snd_cwnd_clamp`).
const MOST_PACKETS: f64 = 4_294_967_295.0;
/// Maximum whole part of rho in the exponent of slow start (Linux).
const MAX_EXPONENT: f64 = 16.0;
/// Number of parts of a packet in which Linux counts increments, rounded down.
const PARTS: f64 = 128.0;
/// Linux's powers of two, by eighths of the exponent, in parts of a packet: `128 * 2^(k / 8)`, rounded down.
const POWERS: [f64; 8] = [128.0, 139.0, 152.0, 165.0, 181.0, 197.0, 215.0, 234.0];

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "hybla",
    summary: "TCP Hybla (Caini and Firrincieli 2004) as in Linux",
    parameters: &[
        Parameter::number(
            "rtt0_ms",
            "ms",
            25.0,
            (1.0, 1000.0),
            "At this RTT and below it grows like Reno (Linux: 25).",
        ),
        Parameter::choice(
            "increase",
            "linux",
            &["linux", "exact"],
            "Growth: for each ACK, with rho in eighths and increments in 128ths of a packet, rounded down, as Linux; or for each packet, without rounding.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Hybla::new(parameters, start))),
};

#[derive(Debug)]
struct Hybla {
    rtt0_ns: f64,
    /// True if growth is the paper's, not Linux's.
    is_exact: bool,
    window: Window,
    /// Slow start threshold, packets.
    ssthresh: f64,
    /// Minimum smoothed RTT; [`Span::MAX`] before the first.
    min_srtt: Span,
    /// Ratio of the RTT to `rtt0`, at least 1.
    rho: f64,
    /// Fraction of a packet that Linux's growth has not added yet, packets.
    part: f64,
    /// Number of ACKs since Linux's growth last added a packet.
    stood_for: f64,
    /// Counter for growth like Reno's.
    counted: Counted,
    completed: Completed,
    /// First packet number whose acknowledgement ends growth like Reno after a timeout.
    repaired_from: u64,
    undo: Undo,
}

impl Hybla {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            rtt0_ns: parameters.number("rtt0_ms") * 1e6,
            is_exact: parameters.choice("increase") == "exact",
            window: Window::from_bytes(start.initial_window_bytes, start.mss_bytes),
            ssthresh: f64::INFINITY,
            min_srtt: Span::MAX,
            rho: 1.0,
            part: 0.0,
            stood_for: 0.0,
            counted: Counted::default(),
            completed: Completed::default(),
            repaired_from: 0,
            undo: Undo::default(),
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window.packets < self.ssthresh
    }

    fn hear(&mut self, srtt: Span) {
        if srtt >= self.min_srtt {
            return;
        }
        self.min_srtt = srtt;
        let rho = srtt.as_ns() as f64 / self.rtt0_ns;
        let counted = if self.is_exact { rho } else { (8.0 * rho).floor() / 8.0 };
        self.rho = counted.max(1.0);
    }

    /// Returns `2^rho - 1`, packets.
    fn slow_start_increment(&self) -> f64 {
        let whole = self.rho.floor();
        let power = if self.is_exact {
            libm::exp2(self.rho - whole)
        } else {
            POWERS[(8.0 * (self.rho - whole)) as usize] / PARTS
        };
        power * libm::exp2(whole.min(MAX_EXPONENT)) - 1.0
    }

    /// Grows the window after an ACK of `acked` packets.
    fn grow(&mut self, acked: f64) {
        let (window, slow_start) = (self.window.packets, self.in_slow_start());
        let increment = if slow_start { self.slow_start_increment() } else { self.rho * self.rho / window };
        let grown = if self.is_exact {
            (window + acked * increment).min(MOST_PACKETS)
        } else {
            (window + self.whole_packets(increment)).min(MAX_WINDOW)
        };
        self.window.packets = if slow_start { grown.min(self.ssthresh) } else { grown };
    }

    /// Returns Linux's growth for an ACK with this increment, whole packets.
    fn whole_packets(&mut self, increment: f64) -> f64 {
        let increment = (PARTS * increment).floor() / PARTS;
        self.part += increment;
        let whole = self.part.floor();
        self.part -= whole;
        self.stood_for = if whole > 0.0 { 0.0 } else { self.stood_for + 1.0 };
        if increment == 0.0 && self.stood_for >= self.window.packets {
            self.stood_for = 0.0;
            return 1.0;
        }
        whole
    }

    fn reduce(&mut self) {
        self.counted.reset();
        self.stood_for = 0.0;
        self.ssthresh = (self.window.packets / 2.0).floor().max(MIN_WINDOW);
        self.window.packets = self.ssthresh;
    }
}

impl Controller for Hybla {
    fn on_established(&mut self, _now: Time, rtt: Span) {
        self.hear(rtt);
        self.window.packets = self.rho.floor();
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.hear(ack.srtt);
        if self.completed.is_duplicate(ack) || ack.in_recovery {
            return;
        }
        if !ack.may_grow(self.window.bytes(), self.in_slow_start()) {
            return;
        }
        let acked = self.window.in_packets(ack.growth_bytes);
        if ack.has_hole() || ack.newest().number < self.repaired_from {
            self.counted.grow_like_reno(&mut self.window, self.ssthresh, acked);
        } else {
            self.grow(acked);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.undo.remember(self.window, self.ssthresh);
            self.reduce();
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
            self.reduce();
        }
        self.window.packets = timeout.window_packets();
        self.repaired_from = timeout.next_number;
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if ecn.new_episode {
            self.undo.forget();
            self.reduce();
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
        sink.put("rho", "", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    /// Returns a driver whose RTT is 100 ms, so rho is 4.
    fn driver(settings: &[(&str, &str)]) -> Driver {
        Driver::new(&ENTRY, settings)
    }

    #[test]
    fn an_ack_adds_two_to_the_rho_less_one_in_slow_start() {
        let mut driver = driver(&[]);
        driver.ack(2);
        assert_eq!((driver.field("rho"), driver.field("cwnd")), (4.0, 25.0));
        let mut driver = self::driver(&[("increase", "exact")]);
        driver.ack(2);
        assert_eq!(driver.field("cwnd"), 40.0);
    }

    #[test]
    fn linux_rounds_rho_and_its_power_down() {
        // At 60 ms rho is 2.4, or 2 and 3 eighths. Seven ACKs add 2^2.4 - 1 = 4.278 each, or 4 * 165 / 128 - 1 = 4.156
        // in whole packets.
        for (increase, rho, cwnd) in [("linux", 2.375, 39.0), ("exact", 2.4, 39.946)] {
            let mut driver = driver(&[("increase", increase)]);
            driver.rtt = Span::from_ms(60);
            (0..7).for_each(|_| driver.ack(1));
            assert_eq!(driver.field("rho"), rho);
            assert!((driver.field("cwnd") - cwnd).abs() < 1e-3, "{}", driver.field("cwnd"));
        }
    }

    #[test]
    fn congestion_avoidance_adds_rho_squared_packets_per_window() {
        let mut driver = driver(&[]);
        driver.ack(1);
        driver.lose(1, true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (12.0, 12.0));
        // Each ACK adds 16 / 12 of a packet, rounded down to 170 / 128: a whole packet, and 42 parts are kept.
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 13.0);
        // 157 more make 199; then 146 make 217, 136 make 225, and 128 make 225 again: one packet each.
        (0..4).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd"), 17.0);
    }

    #[test]
    fn a_window_that_rounding_stops_grows_by_a_packet_per_window_of_acks() {
        let mut driver = driver(&[]);
        driver.rtt = Span::from_ms(25);
        (0..7).for_each(|_| driver.ack_window());
        driver.peak_in_flight_packets = 2000.0;
        driver.lose(1, true);
        let cwnd = driver.field("cwnd");
        assert_eq!(cwnd, 640.0);
        (0..639).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd"), cwnd);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), cwnd + 1.0);
    }

    #[test]
    fn linux_grows_to_65535_packets() {
        let mut driver = driver(&[]);
        driver.rtt = Span::from_ms(600);
        driver.peak_in_flight_packets = 100_000.0;
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 65_535.0);
    }

    #[test]
    fn a_short_rtt_grows_like_reno() {
        let mut driver = driver(&[("increase", "exact")]);
        driver.rtt = Span::from_ms(10);
        driver.ack_window();
        assert_eq!((driver.field("rho"), driver.field("cwnd")), (1.0, 20.0));
        driver.lose(1, true);
        driver.ack(1);
        assert!((driver.field("cwnd") - 10.1).abs() < 1e-9);
    }

    #[test]
    fn it_begins_with_rho_packets_and_keeps_the_smallest_rtt() {
        let mut driver = driver(&[]);
        driver.controller.on_established(driver.now, Span::from_ms(130));
        assert_eq!((driver.field("rho"), driver.field("cwnd")), (5.125, 5.0));
        driver.ack(1);
        assert_eq!(driver.field("rho"), 4.0);
        driver.rtt = Span::from_ms(500);
        driver.ack(1);
        assert_eq!(driver.field("rho"), 4.0);
    }

    #[test]
    fn after_a_timeout_it_grows_like_reno_until_all_is_repaired() {
        let mut driver = driver(&[]);
        driver.next_acked = 3;
        driver.timeout(false);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (1.0, 5.0));
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 2.0);
        // Packets sent since the timeout would add 2^4 - 1, but ssthresh limits the growth.
        driver.next_acked = driver.next_number;
        driver.next_number += 10;
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 5.0);
    }

    #[test]
    fn a_false_alarm_is_undone() {
        let mut driver = driver(&[]);
        driver.lose(1, true);
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (10.0, f64::INFINITY));
        driver.mark(true);
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!(driver.field("cwnd"), 5.0);
    }
}
