//! LEDBAT: keeps a fixed queueing delay and yields to all other flows.
//!
//! Source: RFC 6817. The queueing delay is the minimum of the last few one-way delays less the base delay, the minimum
//! of the last minutes; both contain the unknown clock offset, which cancels. The window moves by at most `gain`
//! packets per RTT, in proportion to the distance of the queueing delay from the target.
//!
//! - Congestion timeout: the transport's RTO, which RFC 6817 takes from RFC 6298.
//! - As in RFC 6817 the delay rule also applies during a loss episode; the reduction happens once per episode.
//! - Slow start, which the RFC permits without describing it, is off by default. If it is on, the window doubles per
//!   RTT until the queueing delay exceeds three quarters of the target (LEDBAT++'s rule) or a packet is lost.
//!
//! `quirk_kernel_module` imitates the Linux module TCP-LEDBAT of 2017 to January 2020, which a widely quoted benchmark
//! used (silviov/TCP-LEDBAT@4e30e77, `src/tcp_ledbat.c`). The module has two mistakes. The window moves by the
//! remainder of a division by one, so the delay rule never moves it. And the test "no ACK for more than a round trip"
//! compares jiffies with microseconds in the wrong direction, so every ACK but the first sets the window to one
//! segment.
//!
//! Expected: alone, the target as standing queue if the buffer allows it, else halving on loss. It reaches the target
//! with a time constant of the target queue in packets, counted in RTTs. A later flow takes the existing queue for base
//! delay and starves the earlier flows (known defect).

use crate::parts::{MAX_MINUTES, QueuingDelay, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};

/// Fraction of the target at which the optional slow start ends.
const SLOW_START_END: f64 = 0.75;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "ledbat",
    summary: "LEDBAT (RFC 6817): background transport with a target queueing delay",
    parameters: &[
        Parameter::number(
            "target_ms",
            "ms",
            100.0,
            (1.0, 1000.0),
            "Queueing delay to keep (RFC 6817 2.5: at most 100).",
        ),
        Parameter::number(
            "gain",
            "packets/RTT",
            1.0,
            (0.01, 10.0),
            "Growth per RTT without queue (RFC 6817 2.5: at most 1).",
        ),
        Parameter::number(
            "allowed_increase",
            "packets",
            1.0,
            (0.1, 1000.0),
            "How far the window may exceed the flight size (RFC 6817 2.5: 1).",
        ),
        Parameter::number("init_cwnd", "packets", 2.0, (1.0, 1000.0), "First window (RFC 6817 2.5: 2)."),
        Parameter::number("min_cwnd", "packets", 2.0, (1.0, 100.0), "Smallest window (RFC 6817 2.5: 2)."),
        Parameter::integer(
            "base_history",
            "min",
            10,
            (1, MAX_MINUTES as i64),
            "Minutes whose smallest delay is the base delay (RFC 6817 2.5: 10).",
        ),
        Parameter::integer(
            "current_filter",
            "samples",
            4,
            (1, 1000),
            "The smallest of this many delays is the current one (RFC 6817 2.5: at least 4).",
        ),
        Parameter::flag("slow_start", false, "Double per RTT at first, until the queue shows or a loss."),
        Parameter::flag(
            "quirk_kernel_module",
            false,
            "The module TCP-LEDBAT of 2017: one segment from the second ACK on.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Ledbat::new(parameters, start))),
};

#[derive(Debug)]
struct Ledbat {
    target_ns: f64,
    /// Maximum growth, packets per RTT.
    gain: f64,
    /// Maximum excess of the window over the flight, packets.
    allowed_increase: f64,
    /// Minimum window, packets.
    min_cwnd: f64,
    window: Window,
    /// Slow start threshold, packets; 0 without slow start.
    ssthresh: f64,
    queuing_delay: QueuingDelay,
    /// True if the module's mistakes are imitated, and true after the first ACK.
    is_module: bool,
    has_acks: bool,
}

impl Ledbat {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let min_cwnd = parameters.number("min_cwnd");
        let is_module = parameters.flag("quirk_kernel_module");
        let mut window = Window::from_bytes(start.initial_window_bytes, start.mss_bytes);
        // The module leaves the first window to the kernel.
        if !is_module {
            window.packets = parameters.number("init_cwnd").max(min_cwnd);
        }
        Self {
            target_ns: parameters.number("target_ms") * 1e6,
            gain: parameters.number("gain"),
            allowed_increase: parameters.number("allowed_increase"),
            min_cwnd,
            window,
            ssthresh: if parameters.flag("slow_start") { f64::INFINITY } else { 0.0 },
            queuing_delay: QueuingDelay::new(parameters),
            is_module,
            has_acks: false,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window.packets < self.ssthresh
    }

    /// Halves the window, once per loss episode. [RFC 6817 2.4.2]
    fn reduce(&mut self) {
        let half = (self.window.packets / 2.0).max(self.min_cwnd);
        self.window.packets = self.window.packets.min(half);
        self.ssthresh = self.ssthresh.min(self.window.packets);
    }
}

impl Controller for Ledbat {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        for packet in ack.packets {
            self.queuing_delay.add(ack.now, packet.one_way_delay_ns());
        }
        if self.is_module {
            if std::mem::replace(&mut self.has_acks, true) {
                self.window.packets = 1.0;
            }
            return;
        }
        let delay_ns = self.queuing_delay.ns();
        let acked = self.window.in_packets(ack.growth_bytes);
        if self.in_slow_start() && delay_ns > SLOW_START_END * self.target_ns {
            self.ssthresh = self.window.packets;
        }
        if self.in_slow_start() {
            if !ack.in_recovery && ack.may_grow(self.window.bytes(), true) {
                self.window.packets = (self.window.packets + acked).min(self.ssthresh);
            }
            return;
        }
        // Delay rule. [RFC 6817 2.4.2]
        let off_target = (self.target_ns - delay_ns) / self.target_ns;
        let moved = self.window.packets + self.gain * off_target * acked / self.window.packets;
        let limit = self.window.in_packets(ack.in_flight_before_bytes) + self.allowed_increase;
        self.window.packets = moved.min(limit).max(self.min_cwnd);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.reduce();
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reduces_threshold() {
            self.reduce();
        }
        // This is below the minimum window, to which the next ACK raises it. [RFC 6817 2.4.2]
        self.window.packets = timeout.window_packets();
    }

    fn on_sent(&mut self, event: &Sent) {
        // RFC 6817 does not mention pauses; the module leaves them to the kernel.
        if self.is_module {
            self.window.restart(event.idle_timeouts, &mut self.ssthresh);
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if ecn.new_episode {
            self.reduce();
        }
    }

    fn control(&self) -> Control {
        Control::window(self.window.bytes())
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("queuing_delay", "ms", self.queuing_delay.ns() / 1e6);
        // The base delay contains the clock offset: only its changes have a meaning.
        sink.put("base_delay", "ms", self.queuing_delay.base_ns().map_or(f64::NAN, |ns| ns as f64 / 1e6));
        sink.put("target", "ms", self.target_ns / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;
    use units::Span;

    /// Returns a driver with 10 packets of window and in flight, and a base delay of 50 ms.
    fn at_ten(settings: &[(&str, &str)]) -> Driver {
        let mut settings = settings.to_vec();
        settings.push(("init_cwnd", "10"));
        let mut driver = Driver::new(&ENTRY, &settings);
        driver.ack(1);
        driver
    }

    /// Acknowledges four packets at `queue_ms` above the base, which fill the filter.
    fn queue(driver: &mut Driver, queue_ms: u64) {
        driver.one_way = Span::from_ms(50 + queue_ms);
        driver.ack(4);
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
    }

    #[test]
    fn the_first_window_is_two_packets_whatever_the_transport_starts_with() {
        assert_eq!(Driver::new(&ENTRY, &[]).control().window_bytes, 2000);
    }

    #[test]
    fn without_queue_each_ack_adds_gain_over_the_window() {
        near(at_ten(&[]).field("cwnd"), 10.0 + 1.0 / 10.0);
        near(at_ten(&[("gain", "0.5")]).field("cwnd"), 10.0 + 0.5 / 10.0);
    }

    #[test]
    fn the_window_moves_in_proportion_to_the_distance_from_the_target() {
        for (queue_ms, off_target) in [(0, 1.0), (40, 0.6), (100, 0.0), (150, -0.5)] {
            let mut driver = at_ten(&[]);
            let before = driver.field("cwnd");
            queue(&mut driver, queue_ms);
            assert_eq!(driver.field("queuing_delay"), queue_ms as f64);
            near(driver.field("cwnd"), before + off_target * 4.0 / before);
        }
    }

    #[test]
    fn only_the_smallest_of_the_last_four_delays_counts() {
        let mut driver = at_ten(&[]);
        driver.one_way = Span::from_ms(90);
        (0..3).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("queuing_delay"), 0.0);
        driver.ack(1);
        assert_eq!(driver.field("queuing_delay"), 40.0);
        driver.one_way = Span::from_ms(60);
        driver.ack(1);
        assert_eq!(driver.field("queuing_delay"), 10.0);
    }

    #[test]
    fn a_constant_clock_offset_changes_nothing() {
        let (mut near_clock, mut far_clock) = (at_ten(&[]), Driver::new(&ENTRY, &[("init_cwnd", "10")]));
        far_clock.one_way = Span::from_secs(3600);
        far_clock.ack(1);
        near_clock.one_way = Span::from_ms(50 + 30);
        far_clock.one_way = Span::from_secs(3600) + Span::from_ms(30);
        near_clock.ack(4);
        far_clock.ack(4);
        assert_eq!(near_clock.field("cwnd"), far_clock.field("cwnd"));
        assert_eq!(far_clock.field("queuing_delay"), 30.0);
    }

    #[test]
    fn the_base_delay_is_forgotten_after_ten_minutes() {
        let mut driver = at_ten(&[]);
        driver.one_way = Span::from_ms(80);
        for minute in 1..=10 {
            assert_eq!(driver.field("base_delay"), 50.0, "minute {minute}");
            driver.now += Span::from_ms(60_001);
            driver.ack(4);
        }
        assert_eq!((driver.field("base_delay"), driver.field("queuing_delay")), (80.0, 0.0));
    }

    #[test]
    fn the_window_exceeds_the_flight_by_at_most_the_allowed_increase() {
        let mut driver = at_ten(&[]);
        driver.in_flight_packets = 3.0;
        driver.ack(1);
        // Three packets and the one just acknowledged were in flight.
        assert_eq!(driver.field("cwnd"), 5.0);
        let mut driver = at_ten(&[("allowed_increase", "2")]);
        driver.in_flight_packets = 3.0;
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 6.0);
    }

    #[test]
    fn loss_and_marks_halve_once_per_episode_down_to_two_packets() {
        let mut driver = at_ten(&[]);
        let before = driver.field("cwnd");
        driver.lose(1, true);
        driver.lose(1, false);
        near(driver.field("cwnd"), before / 2.0);
        driver.mark(true);
        driver.mark(false);
        near(driver.field("cwnd"), before / 4.0);
        driver.lose(1, true);
        assert_eq!(driver.field("cwnd"), 2.0);
    }

    #[test]
    fn timeout_restarts_from_one_packet() {
        let mut driver = at_ten(&[]);
        driver.timeout(false);
        assert_eq!(driver.field("cwnd"), 1.0);
        driver.in_flight_packets = 0.0;
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 2.0);
    }

    #[test]
    fn the_kernel_module_of_2017_knows_one_segment_from_its_second_ack_on() {
        let mut driver = Driver::new(&ENTRY, &[("quirk_kernel_module", "on")]);
        assert_eq!(driver.control().window_bytes, 10_000, "the transport's first window");
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 10.0);
        (0..100).for_each(|_| driver.ack(1));
        assert_eq!((driver.field("cwnd"), driver.field("queuing_delay")), (1.0, 0.0));
    }

    #[test]
    fn a_huge_queue_shrinks_the_window_to_its_smallest_and_no_further() {
        let mut driver = at_ten(&[]);
        queue(&mut driver, 60_000);
        assert_eq!(driver.field("cwnd"), 2.0);
    }

    #[test]
    fn optional_slow_start_doubles_until_three_quarters_of_the_target() {
        let mut driver = Driver::new(&ENTRY, &[("slow_start", "on")]);
        driver.ack_window();
        driver.ack_window();
        assert_eq!(driver.field("cwnd"), 8.0);
        queue(&mut driver, 75);
        assert_eq!(driver.field("cwnd"), 12.0);
        queue(&mut driver, 76);
        assert!(driver.field("cwnd") < 12.1, "{}", driver.field("cwnd"));
        queue(&mut driver, 0);
        assert!(driver.field("cwnd") < 12.6, "slow start came back");
    }

    #[test]
    fn alone_on_a_link_it_keeps_the_target_as_queueing_delay() {
        // 20 packets fit per 100 ms of base RTT, so each packet in the queue costs 5 ms. 100 ms are 20 packets, cwnd
        // 40.
        let mut driver = Driver::new(&ENTRY, &[]);
        for _ in 0..400 {
            let queued = (driver.field("cwnd") - 20.0).max(0.0);
            driver.one_way = Span::from_us((50_000.0 + 5_000.0 * queued) as u64);
            driver.rtt = driver.one_way + Span::from_ms(50);
            driver.ack_window();
        }
        assert!((driver.field("queuing_delay") - 100.0).abs() < 5.0, "{}", driver.field("queuing_delay"));
        assert!((driver.field("cwnd") - 40.0).abs() < 1.0, "{}", driver.field("cwnd"));
    }
}
