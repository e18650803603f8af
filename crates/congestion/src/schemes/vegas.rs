//! Vegas: keeps between alpha and beta of its packets in the queue.
//!
//! Source: Brakmo and Peterson 1995 as Linux v5.15 implements it (`net/ipv4/tcp_vegas.c`). Once per round trip `diff =
//! cwnd * (rtt - base_rtt) / base_rtt` estimates the flow's queued packets. `rtt` is the minimum of the round, and
//! `base_rtt` the minimum since the flow last began to send from idle.
//!
//! As in Linux:
//!
//! - Slow start doubles every round and ends at the window that the measured rate needs without a queue.
//! - A round with fewer than three RTT samples grows like Reno.
//! - Loss halves the window.
//! - Vegas pauses from the first packet beyond a hole until recovery is over, and grows like Reno in this time.
//! - Windows are whole packets.
//! - Only that Reno fallback checks that the window limits sending.
//!
//! Expected: alone, 2 to 4 packets of queue and no loss; one packet per RTT after an early end of slow start; starved
//! by loss-based flows in deep buffers.

use crate::parts::{Completed, Counted, Rounds, Undo, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::{Span, Time};

/// Minimum window of the Vegas rule and after a reduction, packets.
const MIN_WINDOW: f64 = 2.0;
/// Number of RTT samples that a round needs for the Vegas rule.
const MIN_SAMPLES: u32 = 3;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "vegas",
    summary: "TCP Vegas (Brakmo and Peterson 1995) as in Linux",
    parameters: &[
        Parameter::integer(
            "alpha",
            "packets",
            2,
            (0, 1000),
            "Below this many queued packets the window grows (Linux: 2).",
        ),
        Parameter::integer(
            "beta",
            "packets",
            4,
            (0, 1000),
            "Above this many queued packets the window shrinks (Linux: 4).",
        ),
        Parameter::integer(
            "gamma",
            "packets",
            1,
            (0, 1000),
            "Above this many queued packets slow start ends (Linux: 1).",
        ),
        Parameter::choice(
            "queued",
            "linux",
            &["linux", "ns3"],
            "Queued packets: cwnd * (rtt - base) / base rounded down, or ns-3's cwnd - floor(cwnd * base / rtt).",
        ),
        Parameter::choice(
            "on_loss",
            "halve",
            &["halve", "step"],
            "Loss halves the window, or takes one packet and leaves it at ssthresh at most (ns-3).",
        ),
        Parameter::choice(
            "round_ends",
            "next",
            &["next", "last"],
            "With the first packet sent after the round began, or (ns-3) with the last one before.",
        ),
        Parameter::flag("forget_idle", true, "The smallest RTT is forgotten when sending starts from idle."),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Vegas::new(parameters, start))),
};

#[derive(Debug)]
struct Vegas {
    /// Queue below which the window grows, packets.
    alpha: f64,
    /// Queue above which the window shrinks, packets.
    beta: f64,
    /// Queue that ends slow start, packets.
    gamma: f64,
    /// True for ns-3's count of queued packets.
    by_target: bool,
    /// True if a loss removes one packet.
    step_on_loss: bool,
    forget_idle: bool,
    window: Window,
    /// Counter for growth like Reno's.
    counted: Counted,
    /// Slow start threshold, packets.
    ssthresh: f64,
    /// Base RTT; [`Span::MAX`] before the first sample.
    base_rtt: Span,
    round: Round,
    /// Queued packets at the latest decision, rounded down.
    diff: f64,
    /// Packet number whose acknowledgement is the earliest end of a pause; `None` while Vegas decides. A pause is a
    /// hole in the arrivals, a loss episode or the time after a timeout.
    paused_until: Option<u64>,
    completed: Completed,
    undo: Undo,
}

/// RTT samples of the present round.
#[derive(Clone, Copy, Debug)]
struct Round {
    rounds: Rounds,
    min_rtt: Span,
    samples: u32,
}

impl Vegas {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let is_early = parameters.choice("round_ends") == "last";
        let rounds = if is_early { Rounds::early() } else { Rounds::default() };
        Self {
            alpha: parameters.number("alpha"),
            beta: parameters.number("beta"),
            gamma: parameters.number("gamma"),
            by_target: parameters.choice("queued") == "ns3",
            step_on_loss: parameters.choice("on_loss") == "step",
            forget_idle: parameters.flag("forget_idle"),
            window: Window::from_bytes(start.initial_window_bytes, start.mss_bytes),
            counted: Counted::default(),
            completed: Completed::default(),
            ssthresh: f64::INFINITY,
            base_rtt: Span::MAX,
            round: Round { rounds, min_rtt: Span::MAX, samples: 0 },
            diff: 0.0,
            paused_until: None,
            undo: Undo::default(),
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window.packets < self.ssthresh
    }

    /// Forgets the round's samples; a new round lasts until packet `next_number` is acknowledged.
    fn restart_round(&mut self, next_number: u64) {
        self.round.rounds.restart(next_number);
        self.round.min_rtt = Span::MAX;
        self.round.samples = 0;
    }

    fn reduce(&mut self) {
        self.counted.reset();
        let kept = if self.step_on_loss { self.stepped_down() } else { (self.window.packets / 2.0).floor() };
        self.ssthresh = kept.max(MIN_WINDOW);
        self.window.packets = self.ssthresh;
    }

    /// Returns ssthresh after ns-3's reduction.
    fn stepped_down(&self) -> f64 {
        self.ssthresh.min(self.window.packets - 1.0)
    }

    /// Returns the queued packets of the window if the round's minimum RTT is `rtt` and the base RTT `base`.
    fn queued(&self, rtt: f64, base: f64) -> f64 {
        let cwnd = self.window.packets;
        if self.by_target {
            return cwnd.floor() - (cwnd.floor() * base / rtt).floor();
        }
        // Linux counts whole packets: "above beta" begins at beta + 1.
        (cwnd * (rtt - base).max(0.0) / base).floor()
    }

    fn grow_in_slow_start(&mut self, acked: f64) {
        self.window.packets = (self.window.packets + acked).min(self.ssthresh);
    }

    fn grow_like_reno(&mut self, ack: &Ack<'_>) {
        if !ack.may_grow(self.window.bytes(), self.in_slow_start()) {
            return;
        }
        let acked = self.window.in_packets(ack.growth_bytes);
        self.counted.grow_like_reno(&mut self.window, self.ssthresh, acked);
    }

    /// Returns ssthresh after a decision for a smaller window.
    fn lowered_ssthresh(&self) -> f64 {
        if self.step_on_loss { self.stepped_down() } else { self.ssthresh.min(self.window.packets) }
    }

    /// Decides at the end of a round with enough samples.
    fn decide(&mut self, acked: f64) {
        let cwnd = self.window.packets;
        let (rtt, base) = (self.round.min_rtt.as_ns().max(1) as f64, self.base_rtt.as_ns().max(1) as f64);
        self.diff = self.queued(rtt, base);
        if self.in_slow_start() {
            if self.diff > self.gamma {
                let target = (cwnd * base / rtt).floor();
                self.window.packets = cwnd.min(target + 1.0);
                self.ssthresh = self.lowered_ssthresh();
            } else {
                self.grow_in_slow_start(acked);
            }
        } else if self.diff > self.beta {
            self.window.packets -= 1.0;
            self.ssthresh = self.lowered_ssthresh();
        } else if self.diff < self.alpha {
            self.window.packets += 1.0;
        }
        self.window.packets = self.window.packets.max(MIN_WINDOW);
        self.ssthresh = self.ssthresh.max(0.75 * self.window.packets);
    }

    /// Returns true if Vegas decides on this ACK; begins a fresh round when a pause is over. A hole causes a pause from
    /// the first packet beyond it on (Linux: the state Disorder).
    fn is_deciding(&mut self, ack: &Ack<'_>) -> bool {
        let has_hole = ack.has_hole();
        if has_hole && self.paused_until.is_none() {
            self.paused_until = Some(0);
        }
        if let Some(until) = self.paused_until {
            if has_hole || ack.in_recovery || ack.newest().number < until {
                return false;
            }
            self.paused_until = None;
            self.restart_round(ack.next_number);
        }
        true
    }
}

impl Controller for Vegas {
    fn on_sent(&mut self, sent: &Sent) {
        self.window.restart(sent.idle_timeouts, &mut self.ssthresh);
        let is_from_idle = sent.in_flight_bytes <= u64::from(sent.bytes);
        if self.forget_idle && is_from_idle && !sent.retransmission {
            self.base_rtt = Span::MAX;
            self.restart_round(sent.number);
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.round.min_rtt = self.round.min_rtt.min(rtt);
            self.round.samples += 1;
        }
        let is_deciding = self.is_deciding(ack);
        if self.completed.is_duplicate(ack) || ack.in_recovery {
            return;
        }
        let acked = self.window.in_packets(ack.growth_bytes);
        if !is_deciding {
            self.grow_like_reno(ack);
        } else if self.round.rounds.ended(ack) {
            if self.round.samples < MIN_SAMPLES {
                self.grow_like_reno(ack);
            } else {
                self.decide(acked);
            }
            self.restart_round(ack.next_number);
        } else if self.in_slow_start() {
            self.grow_in_slow_start(acked);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.undo.remember(self.window, self.ssthresh);
            self.reduce();
            self.paused_until = Some(0);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reduces_threshold() {
            self.undo.remember(self.window, self.ssthresh);
            self.reduce();
        }
        self.window.packets = timeout.window_packets();
        self.paused_until = Some(timeout.next_number);
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if ecn.new_episode {
            self.undo.forget();
            self.reduce();
            self.paused_until = Some(0);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        self.undo.restore(&mut self.window, &mut self.ssthresh);
    }

    fn control(&self) -> Control {
        Control::window(self.window.bytes())
    }

    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        Some(self.window.in_bytes(self.ssthresh))
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let base_rtt_ms = if self.base_rtt == Span::MAX { f64::NAN } else { self.base_rtt.as_ms_f64() };
        sink.put("cwnd", "packets", self.window.packets);
        sink.put("ssthresh", "packets", self.ssthresh);
        sink.put("base_rtt", "ms", base_rtt_ms);
        sink.put("diff", "packets", self.diff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    fn driver() -> Driver {
        Driver::new(&ENTRY, &[])
    }

    /// Returns a driver in congestion avoidance at 10 packets with a base RTT of 100 ms, after one loss at 20 packets.
    fn avoiding() -> Driver {
        let mut driver = driver();
        driver.ack_window();
        driver.lose(1, true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (10.0, 10.0));
        // The next window re-enables Vegas; the one after is its first full round.
        driver.ack_window();
        assert_eq!(driver.field("cwnd"), 10.0);
        driver
    }

    /// Acknowledges one window at `rtt_us`, and the first packet of the next, which decides.
    fn round(driver: &mut Driver, rtt_us: u64) {
        driver.rtt = Span::from_us(rtt_us);
        driver.ack_window();
    }

    #[test]
    fn slow_start_doubles_every_round_without_queue() {
        let mut driver = driver();
        (0..3).for_each(|_| driver.ack_window());
        assert_eq!(driver.field("cwnd"), 80.0);
    }

    #[test]
    fn slow_start_ends_at_the_measured_rate_times_the_base_rtt() {
        let mut driver = driver();
        driver.ack_window();
        round(&mut driver, 125_000);
        assert_eq!(driver.field("cwnd"), 40.0);
        driver.next_number += 40;
        driver.ack(1);
        // diff = 40 * 25 / 100 = 10 > 1, so cwnd = 40 * 100 / 125 + 1 = 33 = ssthresh.
        assert_eq!(
            (driver.field("diff"), driver.field("cwnd"), driver.field("ssthresh")),
            (10.0, 33.0, 33.0)
        );
        assert_eq!(driver.field("base_rtt"), 100.0);
    }

    #[test]
    fn one_packet_more_below_alpha_one_less_above_beta_nothing_between() {
        // 11 packets, base 100 ms: 118 ms queue 1.98 packets, 119 ms 2.09, 145 ms 4.95 (still 4), 146 ms 5.06.
        let cases = [(100, 0.0, 1.0), (118, 1.0, 1.0), (119, 2.0, 0.0), (145, 4.0, 0.0), (146, 5.0, -1.0)];
        for (rtt_ms, diff, change) in cases {
            let mut driver = avoiding();
            // The first ACK of this window still judges the previous round, which had no queue.
            round(&mut driver, rtt_ms * 1000);
            assert_eq!(driver.field("cwnd"), 11.0);
            driver.next_number += 20;
            driver.ack(1);
            assert_eq!((driver.field("diff"), driver.field("cwnd")), (diff, 11.0 + change), "{rtt_ms} ms");
        }
    }

    #[test]
    fn ns3_counts_the_queue_by_its_target() {
        // 20 packets at 105 over 100 ms: Linux counts floor(1) queued, ns-3 20 - floor(19.05).
        for (queued, cwnd) in [("linux", 40.0), ("ns3", 40.0)] {
            let mut driver = Driver::new(&ENTRY, &[("queued", queued)]);
            driver.ack_window();
            round(&mut driver, 105_000);
            assert_eq!(driver.field("cwnd"), cwnd, "{queued}");
        }
        // 40 packets at 104 ms: floor(1.6) = 1 continues, 40 - floor(38.46) = 2 leaves slow start for 39.
        let leaves = |queued| {
            let mut driver = Driver::new(&ENTRY, &[("queued", queued)]);
            driver.ack_window();
            round(&mut driver, 104_000);
            driver.next_number += 40;
            driver.ack(1);
            (driver.field("diff"), driver.field("ssthresh"))
        };
        assert_eq!(leaves("linux"), (1.0, f64::INFINITY));
        assert_eq!(leaves("ns3"), (2.0, 39.0));
    }

    #[test]
    fn in_ns3_a_loss_takes_one_packet_and_idling_keeps_the_base_rtt() {
        let mut driver = Driver::new(&ENTRY, &[("on_loss", "step"), ("forget_idle", "false")]);
        driver.ack_window();
        driver.lose(1, true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (19.0, 19.0));
        driver.in_flight_packets = 1.0;
        driver.send();
        assert_eq!(driver.field("base_rtt"), 100.0);
    }

    #[test]
    fn a_round_may_end_with_the_last_packet_of_the_one_before() {
        // Ten packets are in flight when the first ACK begins a round. The round ends with the tenth, or with the next
        // one.
        for (round_ends, diff) in [("next", 0.0), ("last", 3.0)] {
            let mut driver = Driver::new(&ENTRY, &[("round_ends", round_ends)]);
            driver.ack(1);
            driver.rtt = Span::from_ms(120);
            (0..9).for_each(|_| driver.ack(1));
            assert_eq!(driver.field("diff"), diff, "{round_ends}");
        }
    }

    #[test]
    fn the_window_settles_between_alpha_and_beta_queued_packets() {
        // A link carries 40 packets per 100 ms: RTT = max(100, 100 * cwnd / 40) ms.
        let mut driver = driver();
        let mut windows = vec![];
        for _ in 0..60 {
            let cwnd = driver.field("cwnd");
            round(&mut driver, (2_500.0 * cwnd).max(100_000.0) as u64);
            windows.push(driver.field("cwnd"));
        }
        assert!(windows[40..].iter().all(|cwnd| (41.0..=45.0).contains(cwnd)), "{windows:?}");
        assert!(windows[59] >= 42.0, "at least alpha queued packets: {windows:?}");
    }

    #[test]
    fn fewer_than_three_samples_per_round_grow_like_reno() {
        let mut driver = driver();
        driver.rtt = Span::from_ms(500);
        driver.min_rtt = Span::from_ms(100);
        for _ in 0..3 {
            driver.next_number += 10;
            driver.ack(10);
        }
        // After three rounds of one ACK each there is no decision, although the RTT would cause one.
        assert_eq!((driver.field("cwnd"), driver.field("diff")), (40.0, 0.0));
    }

    #[test]
    fn vegas_pauses_in_recovery_and_starts_over_after_it() {
        let mut driver = driver();
        driver.ack_window();
        driver.lose(1, true);
        driver.in_recovery = true;
        driver.rtt = Span::from_ms(300);
        driver.ack_window();
        assert_eq!((driver.field("cwnd"), driver.field("diff")), (10.0, 0.0));
        driver.in_recovery = false;
        driver.ack_window();
        assert_eq!(driver.field("diff"), 0.0);
        driver.next_number += 20;
        driver.ack(1);
        // The round after recovery is the first that counts: 10 * 200 / 100.
        assert_eq!((driver.field("diff"), driver.field("cwnd")), (20.0, 9.0));
    }

    #[test]
    fn vegas_does_not_decide_on_packets_beyond_a_hole() {
        let mut driver = driver();
        driver.ack_window();
        // Packets of the second round arrive beyond a hole, late enough to end slow start. A decision would set the
        // window to the rate's need; growth would add 20 and 20.
        driver.rtt = Span::from_ms(200);
        driver.stream_bytes = Some((20_000, 60_000));
        driver.ack_window();
        driver.ack(20);
        assert_eq!((driver.field("cwnd"), driver.field("diff")), (20.0 + 1.0, 0.0));
        // ACKs that complete the stream during the hole grow the window like Reno: slow start.
        driver.stream_bytes = Some((21_000, 60_000));
        driver.ack(1);
        assert_eq!((driver.field("cwnd"), driver.field("diff")), (22.0, 0.0));
    }

    #[test]
    fn timeout_restarts_with_reno_until_the_lost_flight_is_replaced() {
        let mut driver = driver();
        driver.next_number = 30;
        driver.timeout(false);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (1.0, 5.0));
        driver.timeout(true);
        assert_eq!(driver.field("ssthresh"), 5.0);
        // Slow start to 5 packets, then one packet per window at any RTT.
        driver.rtt = Span::from_ms(400);
        (0..4).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd"), 5.0);
        (0..5).for_each(|_| driver.ack(1));
        assert_eq!(driver.field("cwnd"), 6.0);
    }

    #[test]
    fn sending_from_idle_forgets_the_base_rtt() {
        let mut driver = driver();
        driver.ack_window();
        assert_eq!(driver.field("base_rtt"), 100.0);
        driver.in_flight_packets = 1.0;
        driver.send();
        assert!(driver.field("base_rtt").is_nan());
        driver.rtt = Span::from_ms(150);
        driver.ack(1);
        assert_eq!(driver.field("base_rtt"), 150.0);
    }

    #[test]
    fn marks_halve_once_per_episode_and_false_alarms_are_undone() {
        let mut driver = driver();
        driver.ack_window();
        driver.mark(true);
        driver.mark(false);
        assert_eq!(driver.field("cwnd"), 10.0);
        driver.lose(1, true);
        assert_eq!(driver.field("cwnd"), 5.0);
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (10.0, 10.0));
    }
}
