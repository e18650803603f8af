//! Prague: CUBIC for L4S. It reduces its window by the fraction of marked packets and grows independently of its RTT.
//!
//! Source: `PragueSender` of Chromium (google/quiche@4942657, `quiche/quic/core/congestion_control/prague_sender.h` and
//! `.cc`), after draft-briscoe-iccrg-prague-congestion-control-04. The base is the built-in [`Cubic`] (RFC 9438).
//!
//! - The virtual RTT is the smoothed one, but at least 25 ms. Once per virtual RTT the moving average `alpha` of the
//!   marked fraction is updated, with weight 1/16; it starts at 1 with the first mark.
//! - A mark ends slow start. It reduces the window by `alpha` times CUBIC's reduction on loss, once per virtual RTT and
//!   without a recovery period.
//! - A loss within a virtual RTT after such a reduction undoes it first, then is CUBIC's loss.
//! - Marked bytes are not credited. After 500 RTTs growth in congestion avoidance is multiplied by (srtt / virtual
//!   RTT)^2: per second the rate grows alike for all RTTs below 25 ms.
//! - Pacing is at 1.25 times the window per RTT, and twice the window in slow start.
//!
//! Deviations from Chromium:
//!
//! - There is one connection; Chromium's default has the aggressiveness of two (`connections`).
//! - The base is RFC 9438, not Chromium's integer CUBIC.
//! - The growth factor applies to the acknowledged bytes, not to the growth afterwards, because CUBIC's estimate of
//!   Reno's window would then exceed the window. It does not apply in slow start.
//!
//! The network must mark at a shallow threshold (queue `step`), and the transport must send ECT(1); without marks it is
//! CUBIC.
//!
//! Expected: with a step at 1 ms a queue of that order at nearly full throughput.

use crate::schemes::cubic::Cubic;
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Start, Timeout,
};
use units::{Rate, Span, Time};

/// Pacing gain in slow start.
const SLOW_START_PACING: f64 = 2.0;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "prague",
    summary: "Prague for L4S, on CUBIC, as in Chromium's QUIC",
    parameters: &[
        Parameter::number(
            "rtt_virt_ms",
            "ms",
            25.0,
            (0.1, 1000.0),
            "Smallest virtual RTT (kPragueRttVirtMin).",
        ),
        Parameter::number("gain", "", 0.0625, (0.001, 1.0), "Weight of a new share of marks in alpha."),
        Parameter::integer(
            "dependent_rounds",
            "RTTs",
            500,
            (0, 1_000_000_000),
            "RTTs before growth becomes independent of the RTT.",
        ),
        Parameter::number(
            "pacing_gain",
            "",
            1.25,
            (0.5, 10.0),
            "Pacing rate in windows per RTT, after slow start.",
        ),
        Parameter::integer(
            "connections",
            "",
            1,
            (1, 100),
            "Connections whose aggressiveness one flow has (kDefaultNumConnections: 2 in Chromium).",
        ),
        Parameter::number("c", "packets/s^3", 0.4, (0.001, 100.0), "Steepness of the cubic (RFC 9438 5.1)."),
        Parameter::number("beta", "", 0.7, (0.1, 0.95), "Factor of the window kept on loss (RFC 9438 4.6)."),
        Parameter::flag(
            "fast_convergence",
            true,
            "A shrinking flow gives up window for newcomers (RFC 9438 4.7).",
        ),
        Parameter::flag("reno_friendly", true, "Never grow slower than Reno would (RFC 9438 4.3)."),
        Parameter::choice(
            "slow_start",
            "hystart++",
            &["hystart++", "hystart", "classic"],
            "How slow start ends without marks: RFC 9406, Linux's HyStart, or by loss.",
        ),
        Parameter::integer(
            "hystart_limit",
            "packets",
            0,
            (0, 1_000_000),
            "L of HyStart++: most growth per ACK; 0 for no limit when pacing (RFC 9406 4.3).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Prague::new(parameters, start))),
};

#[derive(Debug)]
struct Prague {
    rtt_virt_min: Span,
    gain: f64,
    dependent_rounds: u64,
    pacing_gain: f64,
    base: Cubic,
    mss_bytes: u32,
    started: Time,
    srtt: Span,
    rtt_virt: Span,
    /// Moving average of the marked fraction; `None` before the first mark.
    alpha: Option<f64>,
    alpha_updated: Time,
    packets: u64,
    ce_packets: u64,
    /// CE event that the next ACK belongs to.
    marks: Option<Ecn>,
    /// Time of the latest reduction by a mark, and its size in packets.
    cut: Option<(Time, f64)>,
    is_rtt_independent: bool,
    /// Credited fraction of a byte that has not counted yet.
    credit_bytes: f64,
    /// Number below which losses belong to a loss that was already handled.
    recovery_end: u64,
}

impl Prague {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let rtt_virt_min = Span::from_secs_f64(parameters.number("rtt_virt_ms") / 1e3);
        Self {
            rtt_virt_min,
            gain: parameters.number("gain"),
            dependent_rounds: parameters.integer("dependent_rounds") as u64,
            pacing_gain: parameters.number("pacing_gain"),
            base: Cubic::new(parameters, start).emulating(parameters.integer("connections") as f64),
            mss_bytes: start.mss_bytes,
            started: start.now,
            srtt: Span::ZERO,
            rtt_virt: rtt_virt_min,
            alpha: None,
            alpha_updated: start.now,
            packets: 0,
            ce_packets: 0,
            marks: None,
            cut: None,
            is_rtt_independent: false,
            credit_bytes: 0.0,
            recovery_end: 0,
        }
    }

    fn update_alpha(&mut self, now: Time, packets: u64, ce_packets: u64) {
        let Some(alpha) = self.alpha else {
            if ce_packets > 0 {
                self.alpha = Some(1.0);
                self.alpha_updated = now;
                (self.packets, self.ce_packets) = (packets, ce_packets);
            }
            return;
        };
        self.packets += packets;
        self.ce_packets += ce_packets;
        if now - self.alpha_updated > self.rtt_virt {
            let share = self.ce_packets as f64 / self.packets as f64;
            self.alpha = Some(alpha + self.gain * (share - alpha));
            self.alpha_updated = now;
            (self.packets, self.ce_packets) = (0, 0);
        }
    }

    /// Reduces the window by `alpha` times CUBIC's reduction, once per virtual RTT.
    fn react_to_marks(&mut self, marks: &Ecn) {
        if self.base.in_slow_start() {
            self.base.end_slow_start();
        }
        if self.cut.is_some_and(|(at, _)| marks.now - at <= self.rtt_virt) {
            return;
        }
        let before = self.base.window();
        self.base.on_ecn(&Ecn { new_episode: true, ..*marks });
        let cut = (before - self.base.window()) * self.alpha.unwrap_or(1.0);
        self.cut = Some((marks.now, cut));
        self.base.set_window(before - cut);
        self.base.end_slow_start();
    }

    /// Returns the acknowledged bytes that count for growth.
    fn credit(&mut self, ack: &Ack<'_>, ce_share: f64) -> u64 {
        let mut factor = 1.0 - ce_share;
        if self.is_rtt_independent && !self.base.in_slow_start() {
            let ratio = self.srtt.as_secs_f64() / self.rtt_virt.as_secs_f64();
            factor *= ratio * ratio;
        }
        self.credit_bytes += ack.acked_bytes as f64 * factor;
        let whole = self.credit_bytes.floor();
        self.credit_bytes -= whole;
        whole as u64
    }
}

impl Controller for Prague {
    fn on_established(&mut self, now: Time, rtt: Span) {
        self.srtt = rtt;
        self.base.on_established(now, rtt);
    }

    /// Keeps the marks for [`Self::on_ack`] of the same ACK, which has the number of unmarked packets.
    fn on_ecn(&mut self, ecn: &Ecn) {
        self.marks = Some(*ecn);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        self.srtt = ack.srtt;
        self.rtt_virt = ack.srtt.max(self.rtt_virt_min);
        let marks = self.marks.take();
        let packets = ack.packets.len() as u64;
        let ce_packets = marks.map_or(0, |marks| marks.ce_packets.min(packets));
        self.update_alpha(ack.now, packets, ce_packets);
        let has_lost = ack.lost_bytes > 0;
        if !self.base.in_slow_start() && !has_lost {
            self.is_rtt_independent |= ack.now - self.started > self.srtt * self.dependent_rounds;
        }
        if let Some(marks) = &marks
            && !has_lost
        {
            self.react_to_marks(marks);
        }
        let ce_share = ce_packets as f64 / packets as f64;
        let growth_bytes = self.credit(ack, ce_share);
        let in_recovery = ack.newest().number < self.recovery_end;
        self.base.on_ack(&Ack { growth_bytes, in_recovery, ..*ack });
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        // A reduction by marks shortly before the loss counts as part of the loss's reduction.
        if let Some((at, cut)) = self.cut
            && loss.now - at < self.rtt_virt
        {
            self.cut = None;
            self.base.set_window(self.base.window() + cut);
        }
        let new_episode = loss.packets.last().is_some_and(|packet| packet.number >= self.recovery_end);
        if new_episode {
            self.recovery_end = loss.next_number;
        }
        self.base.on_loss(&Loss { new_episode, ..*loss });
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.cut = None;
        self.recovery_end = timeout.next_number;
        self.base.on_timeout(timeout);
    }

    fn on_spurious_loss(&mut self, now: Time) {
        self.recovery_end = 0;
        self.base.on_spurious_loss(now);
    }

    fn control(&self) -> Control {
        let allowed = self.base.control();
        let gain = if self.base.in_slow_start() { SLOW_START_PACING } else { self.pacing_gain };
        let rate = Rate::from_bytes_per(allowed.window_bytes, self.srtt.max(Span::from_us(1))).mul_f64(gain);
        let pacing = (!self.srtt.is_zero()).then(|| rate.max(Rate::from_bps(1)));
        Control { pacing, burst_bytes: u64::from(self.mss_bytes), ..allowed }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        self.base.fields(sink);
        // Before the first mark the value is 0.
        sink.put("alpha", "", self.alpha.unwrap_or(0.0));
        sink.put("rtt_virt", "ms", self.rtt_virt.as_ms_f64());
        sink.put("rtt_independent", "0 no, 1 yes", f64::from(u8::from(self.is_rtt_independent)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    /// Returns a driver with a window of 10 packets in congestion avoidance, RTT 100 ms, without marks so far.
    fn at_ten(settings: &[(&str, &str)]) -> Driver {
        let mut driver = Driver::new(&ENTRY, settings);
        driver.ack_window();
        driver.lose(1, true);
        driver.next_acked = driver.next_number;
        driver.ack(1); // ends the recovery
        assert!((driver.field("cwnd") - 14.0).abs() < 0.2, "{}", driver.field("cwnd"));
        driver
    }

    /// Delivers one ACK for `packets`, of which the first `marks` are marked.
    fn ack_marked(driver: &mut Driver, packets: u64, marks: u64) {
        driver.controller.on_ecn(&Ecn {
            now: driver.now,
            ce_packets: marks,
            packets,
            newest_sent_at: driver.now,
            new_episode: false,
            in_flight_bytes: 10_000,
            srtt: driver.rtt,
        });
        driver.ack(packets);
    }

    #[test]
    fn the_first_mark_ends_slow_start_and_cuts_as_cubic_would() {
        let mut driver = Driver::new(&ENTRY, &[]);
        driver.window_limited = false;
        driver.peak_in_flight_packets = 0.0;
        ack_marked(&mut driver, 1, 1);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh"), driver.field("alpha")), (7.0, 7.0, 1.0));
    }

    #[test]
    fn alpha_is_averaged_once_per_virtual_rtt_and_scales_the_cut() {
        let mut driver = at_ten(&[]);
        driver.window_limited = false;
        ack_marked(&mut driver, 1, 1);
        let (cwnd, alpha) = (driver.field("cwnd"), driver.field("alpha"));
        assert_eq!(alpha, 1.0);
        driver.now += Span::from_ms(100);
        ack_marked(&mut driver, 4, 1);
        assert_eq!(
            (driver.field("alpha"), driver.field("cwnd")),
            (1.0, cwnd),
            "not later than a virtual RTT"
        );
        driver.now += Span::from_ns(1);
        ack_marked(&mut driver, 5, 3);
        // Half of ten packets were marked: 15/16 + 1/16 * 1/2.
        let alpha = 15.0 / 16.0 + 0.5 / 16.0;
        assert_eq!(driver.field("alpha"), alpha);
        assert!((driver.field("cwnd") - cwnd * (1.0 - 0.3 * alpha)).abs() < 1e-9);
        assert_eq!(driver.field("ssthresh"), driver.field("cwnd"));
    }

    #[test]
    fn the_virtual_rtt_is_at_least_25_ms() {
        let mut driver = Driver::new(&ENTRY, &[]);
        driver.rtt = Span::from_ms(5);
        driver.ack(1);
        assert_eq!(driver.field("rtt_virt"), 25.0);
        driver.rtt = Span::from_ms(40);
        driver.ack(1);
        assert_eq!(driver.field("rtt_virt"), 40.0);
    }

    #[test]
    fn growth_after_500_rtts_is_scaled_by_the_square_of_the_rtt_ratio() {
        let growth = |settings: &[(&str, &str)]| {
            let mut driver = at_ten(settings);
            driver.rtt = Span::from_ms(5);
            driver.now += Span::from_secs(60);
            driver.ack(1);
            driver.now += Span::from_secs(60);
            let before = driver.field("cwnd");
            (0..1000).for_each(|_| driver.ack(1));
            driver.field("cwnd") - before
        };
        let (dependent, independent) = (growth(&[("dependent_rounds", "1000000")]), growth(&[]));
        // The growth is (5 / 25)^2 of the other flow's; both grow by half a packet per credited packet, CUBIC's limit.
        let ratio = independent / dependent;
        assert!((0.039..0.041).contains(&ratio), "{independent} of {dependent}");
    }

    #[test]
    fn marked_bytes_are_not_credited() {
        let mut driver = Driver::new(&ENTRY, &[]);
        ack_marked(&mut driver, 4, 4);
        assert_eq!(driver.field("cwnd"), 7.0);
        let mut driver = Driver::new(&ENTRY, &[]);
        ack_marked(&mut driver, 4, 2);
        assert!(driver.field("cwnd") > 7.0);
    }

    #[test]
    fn a_loss_soon_after_a_cut_replaces_it() {
        let mut driver = at_ten(&[]);
        driver.window_limited = false;
        let cwnd = driver.field("cwnd");
        ack_marked(&mut driver, 1, 1);
        assert!((driver.field("cwnd") - 0.7 * cwnd).abs() < 1e-9);
        driver.now += Span::from_ms(50);
        driver.lose(1, true);
        assert!((driver.field("cwnd") - 0.7 * cwnd).abs() < 1e-9, "one reduction for both");
        let mut driver = at_ten(&[]);
        driver.window_limited = false;
        ack_marked(&mut driver, 1, 1);
        driver.now += Span::from_ms(101);
        driver.lose(1, true);
        assert!((driver.field("cwnd") - 0.49 * cwnd).abs() < 1e-9, "two events, two reductions");
    }

    #[test]
    fn losses_count_once_per_window_and_without_marks_it_is_cubic() {
        let mut driver = at_ten(&[]);
        let cwnd = driver.field("cwnd");
        driver.next_number = driver.next_acked + 5;
        driver.lose(1, true);
        driver.lose(1, true);
        assert!((driver.field("cwnd") - 0.7 * cwnd).abs() < 1e-9);
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!(driver.field("cwnd"), cwnd);
        driver.timeout(false);
        assert_eq!(driver.field("cwnd"), 1.0);
    }

    /// Tests a fixed defect: only the aggressiveness of one connection was possible. Chromium's default is that of two.
    #[test]
    fn two_connections_could_not_be_asked_for() {
        let kept = |connections| {
            let mut driver = Driver::new(&ENTRY, &[("connections", connections)]);
            driver.ack_window();
            let cwnd = driver.field("cwnd");
            driver.lose(1, true);
            driver.field("cwnd") / cwnd
        };
        assert!((kept("1") - 0.7).abs() < 1e-9);
        assert!((kept("2") - 0.85).abs() < 1e-9);
    }

    #[test]
    fn it_paces_at_twice_the_window_per_rtt_in_slow_start_and_five_quarters_later() {
        let mut driver = Driver::new(&ENTRY, &[]);
        assert_eq!(driver.control().pacing, None);
        driver.ack(1);
        let rate = |driver: &Driver| driver.control().pacing.unwrap().mbps() / (driver.field("cwnd") * 0.08);
        assert!((rate(&driver) - 2.0).abs() < 1e-3);
        ack_marked(&mut driver, 1, 1);
        assert!((rate(&driver) - 1.25).abs() < 1e-3);
    }
}
