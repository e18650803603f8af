//! Koho 2.0: a window steered by one-way delay, a quarter of a packet per ACK.
//!
//! Source: `koho_cc` at f0f2e69 on datagrump's transport (reference `schemes-learned` 3.2 and 3.3). The forward delay
//! is estimated as half the smallest RTT plus what the one-way delay exceeds its minimum by; above 1.45 times half the
//! smallest RTT the window shrinks, otherwise it grows. Integer-millisecond clocks on both sides are part of the
//! published behaviour (`ms_timestamps`). The 50 ms keepalive and the release of lost packets as soon as something
//! later is acknowledged are the transport's. The minima never age, so a path whose base delay rises starves the flow.
//!
//! Expected: at most 100 packets per RTT; a queue of about 0.225 RTT; 12 Mbit/s with 20 ms one-way delay: 98 %
//! utilisation, p95 one-way delay 42 ms; 50 Mbit/s: 59 % (the cap).

use crate::{Ack, Control, Controller, Entry, FieldSink, Parameter, Parameters, Start};
use units::Time;

/// Window at the start, packets.
const INITIAL_WINDOW: f64 = 16.0;
const NS_PER_MS: u64 = 1_000_000;

/// Registry entry.
pub(crate) const ENTRY: Entry = Entry {
    name: "koho",
    summary: "Koho 2.0 (koho_cc at f0f2e69): a window steered by one-way delay",
    parameters: &[
        Parameter::number(
            "threshold_factor",
            "",
            1.45,
            (1.0, 100.0),
            "Estimated forward delay, in halves of the smallest RTT, above which the window shrinks.",
        ),
        Parameter::number("step", "packets", 0.25, (0.001, 10.0), "Change of the window per ACK."),
        Parameter::number("min_window", "packets", 2.0, (1.0, 1e6), "Smallest window."),
        Parameter::number(
            "max_window",
            "packets",
            100.0,
            (1.0, 1e6),
            "Largest window; wins over the smallest.",
        ),
        Parameter::flag("ms_timestamps", true, "Clocks count whole milliseconds, as the published sender's."),
    ],
    receiver: None,
    build: |parameters, start| Box::new(Koho::new(parameters, start)),
};

#[derive(Debug)]
struct Koho {
    threshold_factor: f64,
    step: f64,
    min_window: f64,
    max_window: f64,
    ms_timestamps: bool,
    mss_bytes: u64,
    start: Time,
    /// Packets; its whole part counts.
    window: f64,
    /// Smallest one-way delay, with the unknown clock offset in it, and smallest RTT so far; in the clock's unit.
    low_one_way: Option<i64>,
    low_rtt: Option<i64>,
    /// Latest estimate of the forward delay, in the clock's unit.
    estimate: i64,
}

impl Koho {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let max_window = parameters.number("max_window");
        Self {
            threshold_factor: parameters.number("threshold_factor"),
            step: parameters.number("step"),
            min_window: parameters.number("min_window").min(max_window),
            max_window,
            ms_timestamps: parameters.flag("ms_timestamps"),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            start: start.now,
            window: INITIAL_WINDOW.min(max_window),
            low_one_way: None,
            low_rtt: None,
            estimate: 0,
        }
    }

    /// The clock's unit, ns.
    fn tick_ns(&self) -> u64 {
        if self.ms_timestamps { NS_PER_MS } else { 1 }
    }

    /// The sender's clock counts from its start.
    fn sender_ticks(&self, time: Time) -> i64 {
        (time.since(self.start).as_ns() / self.tick_ns()) as i64
    }

    fn on_packet(&mut self, now: Time, sent_at: Time, received_at: Time) {
        let sent = self.sender_ticks(sent_at);
        let one_way = (received_at.as_ns() / self.tick_ns()) as i64 - sent;
        let rtt = self.sender_ticks(now) - sent;
        let low_one_way = self.low_one_way.map_or(one_way, |low| low.min(one_way));
        let low_rtt = self.low_rtt.map_or(rtt, |low| low.min(rtt));
        self.low_one_way = Some(low_one_way);
        self.low_rtt = Some(low_rtt);
        // Integer division: half of 41 ms is 20 ms.
        let base = low_rtt / 2;
        self.estimate = one_way - low_one_way + base;
        let is_above = self.estimate as f64 > self.threshold_factor * base as f64;
        let change = if is_above { -self.step } else { self.step };
        self.window = (self.window + change).clamp(self.min_window, self.max_window);
    }

    fn ms(&self, ticks: i64) -> f64 {
        ticks as f64 * self.tick_ns() as f64 / 1e6
    }
}

impl Controller for Koho {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        for packet in ack.packets {
            self.on_packet(ack.now, packet.sent_at, packet.received_at);
        }
    }

    fn control(&self) -> Control {
        Control::window(self.window as u64 * self.mss_bytes)
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.window);
        sink.put("min_rtt", "ms", self.low_rtt.map_or(f64::NAN, |low| self.ms(low)));
        sink.put("forward_delay", "ms", self.ms(self.estimate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;
    use units::Span;

    fn driver(settings: &[(&str, &str)]) -> Driver {
        let mut driver = Driver::new(&ENTRY, settings);
        driver.rtt = Span::from_ms(40);
        driver.one_way = Span::from_ms(20);
        driver
    }

    #[test]
    fn four_acks_grow_the_window_by_one_packet() {
        let mut driver = driver(&[]);
        assert_eq!(driver.control().window_bytes, 16_000);
        (0..3).for_each(|_| driver.ack(1));
        assert_eq!((driver.field("cwnd"), driver.control().window_bytes), (16.75, 16_000));
        driver.ack(1);
        assert_eq!(driver.control().window_bytes, 17_000);
    }

    #[test]
    fn the_window_shrinks_above_145_percent_of_half_the_smallest_rtt() {
        let mut driver = driver(&[]);
        driver.ack(1);
        // Base 20 ms, threshold 29 ms: a queue of 9 ms still grows, one of 10 ms shrinks.
        driver.one_way = Span::from_ms(29);
        driver.rtt = Span::from_ms(49);
        driver.ack(1);
        assert_eq!((driver.field("cwnd"), driver.field("forward_delay")), (16.5, 29.0));
        driver.one_way = Span::from_ms(30);
        driver.rtt = Span::from_ms(50);
        driver.ack(1);
        assert_eq!((driver.field("cwnd"), driver.field("forward_delay")), (16.25, 30.0));
    }

    #[test]
    fn the_clock_offset_does_not_matter() {
        let mut driver = driver(&[]);
        driver.one_way = Span::from_secs(5);
        driver.ack(1);
        driver.one_way = Span::from_secs(5) + Span::from_ms(10);
        driver.ack(1);
        assert_eq!(driver.field("forward_delay"), 30.0);
    }

    #[test]
    fn millisecond_clocks_hide_less_than_a_millisecond() {
        let estimate = |settings: &[(&str, &str)]| {
            let mut driver = driver(settings);
            driver.rtt = Span::from_ms(41);
            driver.ack(1);
            driver.one_way += Span::from_us(900);
            driver.ack(1);
            driver.field("forward_delay")
        };
        assert_eq!(estimate(&[]), 20.0); // 41 / 2 rounded down
        assert_eq!(estimate(&[("ms_timestamps", "off")]), 21.4);
    }

    #[test]
    fn the_window_stays_between_its_bounds() {
        let mut driver = driver(&[]);
        driver.ack(1000);
        assert_eq!(driver.field("cwnd"), 100.0);
        driver.one_way = Span::from_ms(60);
        driver.ack(1000);
        assert_eq!(driver.field("cwnd"), 2.0);
    }

    #[test]
    fn a_largest_window_below_the_smallest_wins() {
        let mut driver = driver(&[("min_window", "50"), ("max_window", "10")]);
        assert_eq!(driver.control().window_bytes, 10_000);
        driver.ack(1);
        assert_eq!(driver.control().window_bytes, 10_000);
    }
}
