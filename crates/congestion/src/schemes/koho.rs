//! Koho 2.0 and its family: one-way delay steers the window by a quarter of a packet per ACK.
//!
//! Source: `greghill/koho_cc@f0f2e69`, `datagrump/controller.cc`, on datagrump's transport. The estimate of the forward
//! delay is half the minimum RTT, plus the one-way delay less its minimum. Above 1.45 times half the minimum RTT the
//! window shrinks, otherwise it grows. Integer-millisecond clocks on both sides are part of the published behaviour
//! (`ms_timestamps`). The transport provides the 50 ms keepalive, and releases lost packets as soon as a later packet
//! is acknowledged. The minima never expire, so a path whose base delay rises starves the flow.
//!
//! The author's other versions (@4b096d3, @92b5f6c, @c17327b, @3cb73c0d, @a003465) are settings of the parameters. Some
//! compare the queue with a constant (`threshold = "constant"`) or the RTT with its minimum (`"rtt"`). Some count
//! losses: a datagram counts as lost when one sent more than 5 ms later is acknowledged, and costs `loss_penalty`
//! packets of window.
//!
//! Expected (`docs/evidence/derivations.md`, Koho): at most 100 packets per RTT; a queue of about 0.225 RTT; 12 Mbit/s
//! with 20 ms one-way delay: 98 % utilisation, p95 one-way delay 42 ms; 50 Mbit/s: 59 % (the cap).

use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Parameter, Parameters, Sent, Start};
use std::collections::VecDeque;
use units::Time;

/// Initial window, packets.
const INITIAL_WINDOW: f64 = 16.0;
/// Departure distance that proves a loss, ms: a datagram is lost if one sent more than this later is acknowledged.
const REORDERING_MS: u64 = 5;
/// Maximum number of datagrams that are watched for loss.
const MAX_WATCHED: usize = 1 << 16;
const NS_PER_MS: u64 = 1_000_000;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "koho",
    summary: "Koho 2.0 (greghill/koho_cc@f0f2e69) and its family: a window steered by one-way delay",
    parameters: &[
        Parameter::choice(
            "threshold",
            "factor",
            &["factor", "constant", "rtt"],
            "What shrinks the window: a forward delay above a multiple of its base, a queue above a constant, or an RTT above a multiple of the smallest.",
        ),
        Parameter::number(
            "threshold_factor",
            "",
            1.45,
            (1.0, 100.0),
            "Estimated forward delay, in halves of the smallest RTT, above which the window shrinks.",
        ),
        Parameter::number(
            "threshold_ms",
            "ms",
            25.0,
            (0.0, 10_000.0),
            "Queueing delay above which the window shrinks, with a constant threshold.",
        ),
        Parameter::number(
            "hold_ms",
            "ms",
            0.0,
            (0.0, 10_000.0),
            "Range below the constant threshold in which the window stays (`koho_parameter_args`).",
        ),
        Parameter::number("step", "packets", 0.25, (0.001, 10.0), "Change of the window per ACK."),
        Parameter::number(
            "down_step",
            "packets",
            0.0,
            (0.0, 10.0),
            "Change of the window per ACK when it shrinks; 0 is `step`.",
        ),
        Parameter::number(
            "loss_penalty",
            "packets",
            0.0,
            (0.0, 100.0),
            "What a lost datagram takes from the window; 0 ignores losses.",
        ),
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
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Koho::new(parameters, start))),
};

/// Quantity that is compared with a threshold.
#[derive(Clone, Copy, Debug)]
enum Threshold {
    /// Estimated forward delay, compared with this multiple of half the minimum RTT.
    Factor(f64),
    /// Queueing delay. Above `down` the window shrinks; up to `up` it grows; ms.
    Constant { up: f64, down: f64 },
    /// RTT, compared with this multiple of its minimum.
    Rtt(f64),
}

/// Datagram that is watched for loss.
#[derive(Clone, Copy, Debug)]
struct Datagram {
    number: u64,
    /// Departure time on the sender's clock.
    sent: i64,
}

#[derive(Debug)]
struct Koho {
    threshold: Threshold,
    step: f64,
    down_step: f64,
    loss_penalty: f64,
    min_window: f64,
    max_window: f64,
    ms_timestamps: bool,
    mss_bytes: u64,
    start: Time,
    /// Window, packets; its whole part counts.
    window: f64,
    /// Minimum one-way delay, including the unknown clock offset, and minimum RTT so far; in the clock's unit.
    low_one_way: Option<i64>,
    low_rtt: Option<i64>,
    /// Latest estimate of the forward delay, in the clock's unit.
    estimate: i64,
    /// Datagrams neither acknowledged nor counted as lost, ascending; empty if losses are ignored.
    watched: VecDeque<Datagram>,
}

impl Koho {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let max_window = parameters.number("max_window");
        let (factor, constant) = (parameters.number("threshold_factor"), parameters.number("threshold_ms"));
        let (step, down_step) = (parameters.number("step"), parameters.number("down_step"));
        Self {
            threshold: match parameters.choice("threshold") {
                "constant" => Threshold::Constant {
                    up: (constant - parameters.number("hold_ms")).max(0.0),
                    down: constant,
                },
                "rtt" => Threshold::Rtt(factor),
                _ => Threshold::Factor(factor),
            },
            step,
            down_step: if down_step > 0.0 { down_step } else { step },
            loss_penalty: parameters.number("loss_penalty"),
            min_window: parameters.number("min_window").min(max_window),
            max_window,
            ms_timestamps: parameters.flag("ms_timestamps"),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            start: start.now,
            window: INITIAL_WINDOW.min(max_window),
            low_one_way: None,
            low_rtt: None,
            estimate: 0,
            watched: VecDeque::new(),
        }
    }

    /// Returns the clock's unit, ns.
    fn tick_ns(&self) -> u64 {
        if self.ms_timestamps { NS_PER_MS } else { 1 }
    }

    /// Returns `time` on the sender's clock, which counts from the flow's start.
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
        // This is an integer division: half of 41 ms is 20 ms.
        let base = low_rtt / 2;
        self.estimate = one_way - low_one_way + base;
        let queue_ms = self.ms(one_way - low_one_way);
        let (is_above, may_grow) = match self.threshold {
            Threshold::Factor(factor) => (self.estimate as f64 > factor * base as f64, true),
            Threshold::Constant { up, down } => (queue_ms > down, queue_ms <= up),
            Threshold::Rtt(factor) => (rtt as f64 > factor * low_rtt as f64, true),
        };
        if is_above {
            self.window -= self.down_step;
        } else if may_grow {
            self.window += self.step;
        }
        self.window = self.window.clamp(self.min_window, self.max_window);
    }

    /// Counts the losses that an acknowledgement of packet `number`, sent at `sent_at`, proves.
    fn count_losses(&mut self, number: u64, sent_at: Time) {
        let acked = self.sender_ticks(sent_at);
        let reordering = (REORDERING_MS * NS_PER_MS / self.tick_ns()) as i64;
        while self.watched.front().is_some_and(|oldest| oldest.sent + reordering < acked) {
            self.watched.pop_front();
            self.window -= self.loss_penalty;
        }
        if let Ok(at) = self.watched.binary_search_by_key(&number, |datagram| datagram.number) {
            self.watched.remove(at);
        }
    }

    fn ms(&self, ticks: i64) -> f64 {
        ticks as f64 * self.tick_ns() as f64 / 1e6
    }
}

impl Controller for Koho {
    fn on_sent(&mut self, event: &Sent) {
        if self.loss_penalty > 0.0 {
            if self.watched.len() == MAX_WATCHED {
                self.watched.pop_front();
            }
            let sent = self.sender_ticks(event.now);
            self.watched.push_back(Datagram { number: event.number, sent });
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        for packet in ack.packets {
            if self.loss_penalty > 0.0 {
                self.count_losses(packet.number, packet.sent_at);
            }
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
        // The base is 20 ms and the threshold 29 ms: a queue of 9 ms still grows the window, a queue of 10 ms shrinks
        // it.
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

    #[test]
    fn a_constant_threshold_is_queueing_delay_whatever_the_rtt() {
        let mut driver = driver(&[("threshold", "constant"), ("threshold_ms", "25")]);
        driver.ack(1);
        driver.one_way = Span::from_ms(45);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.5);
        driver.one_way = Span::from_ms(46);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.25);
    }

    #[test]
    fn the_rtt_can_be_what_is_compared() {
        let mut driver = driver(&[("threshold", "rtt")]);
        driver.ack(1);
        // The threshold is 1.45 times 40 ms; the one-way delay has no effect.
        driver.one_way = Span::from_ms(90);
        driver.rtt = Span::from_ms(58);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.5);
        driver.rtt = Span::from_ms(59);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.25);
    }

    #[test]
    fn between_two_thresholds_the_window_holds_and_the_steps_may_differ() {
        let settings =
            [("threshold", "constant"), ("threshold_ms", "20"), ("hold_ms", "5"), ("down_step", "2")];
        let mut driver = driver(&settings);
        driver.ack(1);
        let mut after = |queue: u64| {
            driver.one_way = Span::from_ms(20 + queue);
            driver.ack(1);
            driver.field("cwnd")
        };
        assert_eq!([after(15), after(16), after(20), after(21)], [16.5, 16.5, 16.5, 14.5]);
    }

    /// Sends `count` packets now.
    fn send(driver: &mut Driver, count: u64) {
        (0..count).for_each(|_| driver.send());
    }

    #[test]
    fn a_datagram_is_lost_once_one_sent_more_than_5_ms_later_is_acknowledged() {
        let mut driver = driver(&[("loss_penalty", "1.5")]);
        driver.next_number = 0;
        send(&mut driver, 3);
        driver.now += Span::from_ms(5);
        send(&mut driver, 1);
        driver.now += Span::from_ms(1);
        send(&mut driver, 1);
        // Packet 0 arrives, 1 and 2 do not; 3 left 5 ms after them, 4 left 6 ms after them.
        driver.now += Span::from_ms(34);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.25);
        driver.now += Span::from_ms(5);
        driver.next_acked = 3;
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.5);
        driver.now += Span::from_ms(1);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.5 - 2.0 * 1.5 + 0.25);
    }

    #[test]
    fn losses_cost_nothing_by_default() {
        let mut driver = driver(&[]);
        driver.next_number = 0;
        send(&mut driver, 10);
        driver.now += Span::from_ms(40);
        driver.ack(1);
        driver.next_acked = 8;
        driver.now += Span::from_ms(20);
        driver.ack(1);
        assert_eq!(driver.field("cwnd"), 16.5);
    }
}
