//! LEDBAT++: LEDBAT that measures round trips, reduces in proportion to its window, and slows down at intervals to
//! measure the empty queue.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-06. Differences from [`crate::schemes::ledbat`]:
//!
//! - The delay is the minimum of the last four RTTs, the base the minimum of the last ten minutes; the target is 60 ms.
//! - `gain = 1 / min(16, ceil(2 target / base))`: the shorter the path, the slower than Reno.
//! - Per round trip the window grows by `gain` below the target. Above it the window changes by `max(gain - constant W
//!   (delay / target - 1), -W / 2)`. Each ACK applies its proportion.
//! - Slow start grows by `gain` per packet; the first ends when the delay exceeds three quarters of the target.
//! - In a slowdown the window is two packets for two RTTs, and slow start restores it. The first slowdown comes two
//!   RTTs after the first slow start. Each later one comes nine times the duration of the last one after it. All flows
//!   of a bottleneck that slow down see its base delay sooner or later, so a later flow has no advantage. Slowdowns
//!   take at most a tenth of the time.
//!
//! Choices that the draft leaves open:
//!
//! - A slowdown lasts until the window is restored (or lost a packet before).
//! - Loss halves the window to which a slowdown returns, as well.
//! - The window does not grow during a loss episode or while it does not limit sending.
//!
//! Expected: alone, a queue of the target and nearly the whole link; yields to loss-based flows; shares with other
//! LEDBAT++ flows.

use crate::parts::{MAX_MINUTES, QueuingDelay, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Start, Timeout,
};
use units::{Span, Time};

/// Fraction of the target at which the first slow start ends.
const SLOW_START_END: f64 = 0.75;
/// Number of round trips from the end of the first slow start to the first slowdown, and for which a slowdown holds the
/// window.
const PAUSE_RTTS: u64 = 2;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "ledbat-plus-plus",
    summary: "LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): background transport with slowdowns",
    parameters: &[
        Parameter::number("target_ms", "ms", 60.0, (1.0, 1000.0), "Queueing delay to keep (draft: 60)."),
        Parameter::integer(
            "gain_divisor",
            "",
            16,
            (1, 1000),
            "Growth per RTT is never below one packet divided by this (draft: 16).",
        ),
        Parameter::number(
            "constant",
            "",
            1.0,
            (0.01, 100.0),
            "Steepness of the decrease above the target (draft: 1).",
        ),
        Parameter::flag("slowdowns", true, "Slow down at intervals to see the base delay."),
        Parameter::number(
            "slowdown_interval",
            "slowdowns",
            9.0,
            (0.0, 1000.0),
            "Time between slowdowns, in durations of the last one (draft: 9).",
        ),
        Parameter::number("init_cwnd", "packets", 2.0, (1.0, 1000.0), "First window (RFC 6817 2.5: 2)."),
        Parameter::number(
            "min_cwnd",
            "packets",
            2.0,
            (1.0, 100.0),
            "Smallest window, and the window of slowdowns (draft: 2).",
        ),
        Parameter::integer(
            "base_history",
            "min",
            10,
            (1, MAX_MINUTES as i64),
            "Minutes whose smallest RTT is the base delay (draft: 10).",
        ),
        Parameter::integer(
            "current_filter",
            "samples",
            4,
            (1, 1000),
            "The smallest of this many RTTs is the current one (draft: 4).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(LedbatPlusPlus::new(parameters, start))),
};

/// Phase of the algorithm; the discriminants are the values of the field `phase`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// First slow start.
    SlowStart,
    /// Delay rules; the next slowdown comes at this time.
    Avoidance { slowdown_at: Time },
    /// Slowdown that holds the window at its minimum; it returns to `ssthresh`.
    Held { began: Time, until: Time },
    /// Slow start at the end of a slowdown.
    Return { began: Time },
}

#[derive(Debug)]
struct LedbatPlusPlus {
    target_ns: f64,
    gain_divisor: f64,
    constant: f64,
    slowdowns: bool,
    slowdown_interval: f64,
    /// Minimum window, packets.
    min_cwnd: f64,
    phase: Phase,
    window: Window,
    /// Slow start threshold, packets.
    ssthresh: f64,
    /// Queueing delay, computed from RTTs.
    queuing_delay: QueuingDelay,
    srtt: Span,
}

impl LedbatPlusPlus {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let min_cwnd = parameters.number("min_cwnd");
        let mut window = Window::from_bytes(0, start.mss_bytes);
        window.packets = parameters.number("init_cwnd").max(min_cwnd);
        Self {
            target_ns: parameters.number("target_ms") * 1e6,
            gain_divisor: parameters.number("gain_divisor"),
            constant: parameters.number("constant"),
            slowdowns: parameters.flag("slowdowns"),
            slowdown_interval: parameters.number("slowdown_interval"),
            min_cwnd,
            phase: Phase::SlowStart,
            window,
            ssthresh: f64::INFINITY,
            queuing_delay: QueuingDelay::new(parameters),
            srtt: Span::ZERO,
        }
    }

    /// Returns the gain, packets per RTT. [4.2]
    fn gain(&self) -> f64 {
        let base_ns = self.queuing_delay.base_ns().unwrap_or(0).max(1) as f64;
        1.0 / (2.0 * self.target_ns / base_ns).ceil().clamp(1.0, self.gain_divisor)
    }

    /// Begins the delay rules, with the next slowdown after `pause`.
    fn enter_avoidance(&mut self, now: Time, pause: Span) {
        let slowdown_at = if self.slowdowns { now + pause } else { Time::NEVER };
        self.phase = Phase::Avoidance { slowdown_at };
    }

    /// Ends slow start, by delay, at `ssthresh` or by loss. [4.4]
    fn leave_slow_start(&mut self, now: Time) {
        match self.phase {
            Phase::SlowStart => self.enter_avoidance(now, self.srtt * PAUSE_RTTS),
            Phase::Return { began } => {
                self.enter_avoidance(now, (now - began).mul_f64(self.slowdown_interval));
            }
            Phase::Avoidance { .. } | Phase::Held { .. } => {}
        }
    }

    fn grow_in_slow_start(&mut self, ack: &Ack<'_>) {
        let is_first = self.phase == Phase::SlowStart;
        if is_first && self.queuing_delay.ns() > SLOW_START_END * self.target_ns {
            self.leave_slow_start(ack.now);
        } else if ack.may_grow(self.window.bytes(), true) {
            let grown = self.window.packets + self.gain() * self.window.in_packets(ack.acked_bytes);
            self.window.packets = grown.min(self.ssthresh);
            if grown >= self.ssthresh {
                self.leave_slow_start(ack.now);
            }
        }
    }

    /// Applies the delay rules. [4.3]
    fn follow_delay(&mut self, ack: &Ack<'_>) {
        let cwnd = self.window.packets;
        let excess = self.queuing_delay.ns() / self.target_ns - 1.0;
        let per_rtt = if excess > 0.0 {
            (self.gain() - self.constant * cwnd * excess).max(-cwnd / 2.0)
        } else {
            self.gain()
        };
        if per_rtt <= 0.0 || (!ack.in_recovery && ack.may_grow(self.window.bytes(), false)) {
            let moved = cwnd + per_rtt * self.window.in_packets(ack.acked_bytes) / cwnd;
            self.window.packets = moved.max(self.min_cwnd);
        }
    }

    /// Halves the window, once per loss episode.
    fn reduce(&mut self, now: Time) {
        let halved = |packets: f64| packets.min((packets / 2.0).max(self.min_cwnd));
        let ssthresh = if matches!(self.phase, Phase::Held { .. }) {
            halved(self.ssthresh)
        } else {
            halved(self.window.packets)
        };
        if !matches!(self.phase, Phase::Held { .. }) {
            self.window.packets = ssthresh;
        }
        self.ssthresh = ssthresh;
        self.leave_slow_start(now);
    }
}

impl Controller for LedbatPlusPlus {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        self.srtt = ack.srtt;
        if let Some(rtt) = ack.rtt {
            self.queuing_delay.add(ack.now, rtt.as_ns() as i64);
        }
        match self.phase {
            Phase::Avoidance { slowdown_at } if ack.now >= slowdown_at => {
                self.ssthresh = self.window.packets;
                self.window.packets = self.min_cwnd;
                self.phase = Phase::Held { began: ack.now, until: ack.now + ack.srtt * PAUSE_RTTS };
            }
            Phase::Held { began, until } if ack.now >= until => self.phase = Phase::Return { began },
            _ => {}
        }
        match self.phase {
            Phase::SlowStart | Phase::Return { .. } => {
                if !ack.in_recovery {
                    self.grow_in_slow_start(ack);
                }
            }
            Phase::Avoidance { .. } => self.follow_delay(ack),
            Phase::Held { .. } => {}
        }
        self.window.packets = self.window.packets.max(self.min_cwnd);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.reduce(loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reduces_threshold() {
            self.reduce(timeout.now);
        }
        self.window.packets = timeout.window_packets();
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if ecn.new_episode {
            self.reduce(ecn.now);
        }
    }

    fn control(&self) -> Control {
        Control::window(self.window.bytes())
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let phase = match self.phase {
            Phase::SlowStart => 0.0,
            Phase::Avoidance { .. } => 1.0,
            Phase::Held { .. } => 2.0,
            Phase::Return { .. } => 3.0,
        };
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("ssthresh", "packets", self.ssthresh);
        sink.put("queuing_delay", "ms", self.queuing_delay.ns() / 1e6);
        sink.put("base_delay", "ms", self.queuing_delay.base_ns().map_or(f64::NAN, |ns| ns as f64 / 1e6));
        sink.put("gain", "packets/RTT", self.gain());
        sink.put("phase", "0 slow start, 1 avoidance, 2 held, 3 return", phase);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    const SLOW_START: f64 = 0.0;
    const AVOIDANCE: f64 = 1.0;
    const HELD: f64 = 2.0;
    const RETURN: f64 = 3.0;

    /// Returns a driver with a base RTT of 100 ms, so the gain is 1/2.
    fn driver(settings: &[(&str, &str)]) -> Driver {
        let mut settings = settings.to_vec();
        settings.push(("init_cwnd", "10"));
        let mut driver = Driver::new(&ENTRY, &settings);
        driver.window_limited = false;
        driver.peak_in_flight_packets = 0.0;
        driver.ack(1);
        driver.window_limited = true;
        driver
    }

    /// Returns a driver with a window of 5 packets under the delay rules; the first slowdown comes in 200 ms.
    fn avoiding(settings: &[(&str, &str)]) -> Driver {
        let mut driver = driver(settings);
        driver.lose(1, true);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (AVOIDANCE, 5.0));
        driver
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, expected {expected}");
    }

    #[test]
    fn the_gain_is_one_over_twice_the_target_in_base_delays_and_at_least_a_sixteenth() {
        for (rtt_ms, gain) in
            [(300, 1.0), (120, 1.0), (119, 0.5), (60, 0.5), (40, 1.0 / 3.0), (8, 1.0 / 15.0), (1, 1.0 / 16.0)]
        {
            let mut driver = Driver::new(&ENTRY, &[]);
            driver.rtt = Span::from_ms(rtt_ms);
            driver.ack(1);
            near(driver.field("gain"), gain);
        }
    }

    #[test]
    fn slow_start_grows_by_the_gain_and_ends_at_three_quarters_of_the_target() {
        let mut driver = driver(&[]);
        driver.ack(4);
        near(driver.field("cwnd"), 12.0);
        driver.rtt = Span::from_ms(145);
        (0..4).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("phase"), SLOW_START);
        driver.rtt = Span::from_ms(146);
        (0..4).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("phase"), AVOIDANCE);
    }

    #[test]
    fn below_the_target_a_window_of_acks_adds_the_gain() {
        let mut driver = avoiding(&[]);
        driver.ack(5);
        near(driver.field("cwnd"), 5.5);
        driver.window_limited = false;
        driver.ack(5);
        near(driver.field("cwnd"), 5.5);
    }

    #[test]
    fn above_the_target_the_window_shrinks_in_proportion_to_itself_but_at_most_by_half() {
        // The delay is 1.25 times the target: 0.5 - 5 * 0.25 = -0.75 per RTT, of which 2 of 5 packets are acknowledged;
        // twice.
        let mut driver = avoiding(&[]);
        for _ in 0..3 {
            driver.rtt = Span::from_ms(175);
            driver.in_recovery = true;
            driver.window_limited = false;
            driver.rate = None;
            let before = driver.field("cwnd");
            driver.ack(1);
            assert_eq!(driver.field("cwnd"), before, "the filter still holds smaller ones");
        }
        driver.ack(2);
        near(driver.field("cwnd"), 5.0 - 0.75 * 2.0 / 5.0);
        let mut driver = avoiding(&[]);
        driver.window_limited = false;
        driver.rtt = Span::from_ms(1000);
        (0..3).for_each(|_| driver.ack(1));
        driver.ack(5);
        near(driver.field("cwnd"), 2.5);
        driver.ack(50);
        assert_eq!(driver.field("cwnd"), 2.0);
    }

    #[test]
    fn the_first_slowdown_comes_two_rtts_after_slow_start_and_the_next_nine_durations_later() {
        let mut driver = avoiding(&[]);
        driver.now += Span::from_ms(199);
        driver.ack(1);
        assert_eq!(driver.field("phase"), AVOIDANCE);
        driver.now += Span::from_ms(1);
        let before = driver.field("cwnd");
        driver.ack(1);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (HELD, 2.0));
        assert_eq!(driver.field("ssthresh"), before);
        driver.now += Span::from_ms(199);
        driver.ack(1);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (HELD, 2.0));
        driver.now += Span::from_ms(1);
        driver.ack(2);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (RETURN, 3.0));
        driver.now += Span::from_ms(100);
        driver.ack(100);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (AVOIDANCE, before));
        // The slowdown took 300 ms, so 2.7 s of delay rules follow.
        driver.now += Span::from_ms(2699);
        driver.ack(1);
        assert_eq!(driver.field("phase"), AVOIDANCE);
        driver.now += Span::from_ms(1);
        driver.ack(1);
        assert_eq!(driver.field("phase"), HELD);
    }

    #[test]
    fn without_slowdowns_it_never_slows_down() {
        let mut driver = avoiding(&[("slowdowns", "off")]);
        driver.now += Span::from_secs(1000);
        driver.ack(1);
        assert_eq!(driver.field("phase"), AVOIDANCE);
    }

    #[test]
    fn the_return_goes_on_whatever_the_delay_and_ends_by_loss() {
        let mut driver = avoiding(&[]);
        driver.now += Span::from_ms(200);
        driver.ack(1);
        driver.now += Span::from_ms(200);
        driver.rtt = Span::from_ms(150);
        driver.ack(1);
        assert_eq!(driver.field("phase"), RETURN);
        (0..4).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("phase"), RETURN);
        let before = driver.field("cwnd");
        driver.lose(1, true);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (AVOIDANCE, (before / 2.0).max(2.0)));
    }

    #[test]
    fn a_loss_during_a_slowdown_halves_the_window_it_returns_to() {
        let mut driver = avoiding(&[]);
        driver.now += Span::from_ms(200);
        driver.ack(1);
        let ssthresh = driver.field("ssthresh");
        driver.lose(1, true);
        driver.lose(1, false);
        assert_eq!((driver.field("phase"), driver.field("cwnd")), (HELD, 2.0));
        assert_eq!(driver.field("ssthresh"), ssthresh / 2.0);
    }

    #[test]
    fn loss_and_marks_halve_once_per_episode_down_to_two_packets() {
        let mut driver = driver(&[]);
        driver.lose(1, true);
        driver.lose(1, false);
        assert_eq!(driver.field("cwnd"), 5.0);
        driver.mark(true);
        driver.mark(false);
        assert_eq!(driver.field("cwnd"), 2.5);
        driver.lose(1, true);
        assert_eq!(driver.field("cwnd"), 2.0);
        driver.timeout(false);
        assert_eq!(driver.field("cwnd"), 1.0);
        driver.ack(1);
        assert!(driver.field("cwnd") >= 2.0);
    }
}
