//! DCTCP: reduces the window in proportion to the fraction of packets that were marked.
//!
//! Source: Alizadeh et al. 2010 and RFC 8257 as in Linux v5.15 (`net/ipv4/tcp_dctcp.c`). Once per window the moving
//! average `alpha` of the marked fraction is updated. Once per round trip with marks the window loses `alpha / 2` of
//! itself. Growth is Reno's, with none during a reduction; a loss halves the window. `alpha` is a whole number of
//! 1/1024. Windows, their reductions and their growth are whole packets.
//!
//! Deviations from Linux:
//!
//! - The reduction uses the `alpha` from before the ACK that brings the first mark. Linux updates `alpha` first if a
//!   window ends with that ACK.
//! - The exact counts come with every ACK (accurate ECN), so no receiver needs to switch its delayed ACKs.
//!
//! The network must mark at a threshold K (queue `step`), and the transport must send ECT(0); without marks it is Reno.
//!
//! Expected: the queue oscillates just under K at full throughput if K >= C * RTT / 7.

use crate::parts::{Completed, Counted, Rounds, Window};
use crate::{
    Ack, Build, Control, Controller, Ecn, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
};
use units::Time;

/// Value of `alpha` for 1, when every packet is marked.
const ONE: u64 = 1 << ONE_SHIFT;
const ONE_SHIFT: u32 = 10;
/// Minimum window after a reduction, packets.
const MIN_WINDOW: f64 = 2.0;
/// Fraction of the window kept on loss.
const LOSS_BETA: f64 = 0.5;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "dctcp",
    summary: "DCTCP (RFC 8257) as in Linux: reduces by the share of marked packets",
    parameters: &[
        Parameter::integer(
            "shift_g",
            "",
            4,
            (0, 10),
            "Weight of a new window's marks in alpha is 2^-shift_g (Linux: 4).",
        ),
        Parameter::integer(
            "alpha_on_init",
            "1/1024",
            1024,
            (0, 1024),
            "First alpha (Linux: 1024, the first mark halves).",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(Dctcp::new(parameters, start))),
};

#[derive(Debug)]
struct Dctcp {
    shift_g: u32,
    window: Window,
    counted: Counted,
    completed: Completed,
    /// Slow start threshold, packets.
    ssthresh: f64,
    /// Moving average of the marked fraction, in 1/1024.
    alpha: u64,
    /// Windows over which marks are counted.
    rounds: Rounds,
    delivered_packets: u64,
    ce_packets: u64,
    /// True if the present episode began with a mark: a loss in it must still halve the window.
    marked: bool,
    /// Window before the latest loss, packets, for the undo.
    before_loss: Option<f64>,
}

impl Dctcp {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            shift_g: parameters.integer("shift_g") as u32,
            window: Window::from_bytes(start.initial_window_bytes, start.mss_bytes),
            counted: Counted::default(),
            completed: Completed::default(),
            ssthresh: f64::INFINITY,
            alpha: parameters.integer("alpha_on_init") as u64,
            rounds: Rounds::default(),
            delivered_packets: 0,
            ce_packets: 0,
            marked: false,
            before_loss: None,
        }
    }

    /// Updates `alpha = (1 - g) alpha + g F`, once per window.
    fn update_alpha(&mut self) {
        let decay = self.alpha >> self.shift_g;
        // Whole numbers would stop above zero.
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let marked = self.ce_packets.min(self.delivered_packets);
        if marked > 0 {
            let step = (marked << (ONE_SHIFT - self.shift_g)) / self.delivered_packets;
            self.alpha = (self.alpha + step).min(ONE);
        }
        self.delivered_packets = 0;
        self.ce_packets = 0;
    }

    /// Reduces the window by `packets`, to whole packets.
    fn reduce_by(&mut self, packets: f64) {
        self.counted.reset();
        self.ssthresh = (self.window.packets - packets).floor().max(MIN_WINDOW);
        self.window.packets = self.ssthresh;
    }

    fn grow(&mut self, acked: f64) {
        let mut left = acked;
        if self.window.packets < self.ssthresh {
            let grown = (self.window.packets + left).min(self.ssthresh);
            left -= grown - self.window.packets;
            self.window.packets = grown;
        }
        self.counted.grow(&mut self.window, left);
    }
}

impl Controller for Dctcp {
    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.packets.is_empty() {
            return;
        }
        self.delivered_packets += ack.packets.len() as u64;
        if self.rounds.ended(ack) {
            self.update_alpha();
        }
        let is_duplicate = self.completed.is_duplicate(ack);
        if ack.in_recovery {
            return;
        }
        self.marked = false;
        if !is_duplicate && ack.may_grow(self.window.bytes(), self.window.packets < self.ssthresh) {
            self.grow(self.window.in_packets(ack.growth_bytes));
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.ce_packets += ecn.ce_packets;
        if ecn.new_episode {
            self.marked = true;
            self.before_loss = None;
            let cut = self.window.packets * self.alpha as f64 / (2 * ONE) as f64;
            self.reduce_by(cut.floor());
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode || self.marked {
            self.marked = false;
            self.before_loss = Some(self.window.packets);
            self.reduce_by(self.window.packets * LOSS_BETA);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time) {
        if let Some(window) = self.before_loss.take() {
            self.window.packets = self.window.packets.max(window);
        }
    }

    fn on_sent(&mut self, event: &Sent) {
        self.window.restart(event.idle_timeouts, &mut self.ssthresh);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reduces_threshold() {
            self.before_loss = Some(self.window.packets);
            self.reduce_by(self.window.packets * LOSS_BETA);
        }
        self.marked = false;
        self.window.packets = timeout.window_packets();
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
        sink.put("alpha", "", self.alpha as f64 / ONE as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    /// Returns a driver with a window of ten packets in congestion avoidance, and `alpha` in 1/1024.
    fn at_ten(alpha: &str) -> Driver {
        let mut driver = Driver::new(&ENTRY, &[("alpha_on_init", alpha)]);
        driver.ack_window(); // ends the first observation window: 20 packets
        driver.lose(1, true); // 10 packets
        assert_eq!(driver.field("cwnd"), 10.0);
        driver
    }

    fn in_1024ths(driver: &Driver) -> f64 {
        driver.field("alpha") * 1024.0
    }

    #[test]
    fn the_first_mark_halves_and_ends_slow_start() {
        let mut driver = Driver::new(&ENTRY, &[]);
        driver.mark(true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (5.0, 5.0));
    }

    #[test]
    fn a_mark_reduces_by_half_of_alpha_once_per_episode() {
        // The first window without marks leaves 15/16 of 256: 240.
        let mut driver = at_ten("256");
        assert_eq!(in_1024ths(&driver), 240.0);
        driver.mark(true);
        driver.mark(false);
        // 10 * 240 / 2048 = 1.17: a whole packet.
        assert_eq!(driver.field("cwnd"), 9.0);
    }

    #[test]
    fn alpha_is_the_moving_average_of_the_marked_share_with_weight_one_sixteenth() {
        let mut driver = at_ten("0");
        driver.ack(1);
        // Nothing else is in flight, so each ACK is a window. 5 of 10 packets: 1/16 * 1/2 of 1024 are 32.
        for (marks, alpha) in [(5, 32.0), (5, 62.0), (10, 123.0), (0, 116.0), (0, 109.0), (3, 122.0)] {
            // One ACK reports all marks; the last round trip has none.
            if marks > 0 {
                driver.mark_packets(marks - 1, false);
                driver.mark(false);
            }
            driver.ack(10);
            assert_eq!(in_1024ths(&driver), alpha, "{marks} marks");
        }
    }

    #[test]
    fn alpha_decays_to_zero() {
        let mut driver = at_ten("1024");
        for _ in 0..200 {
            driver.ack_window();
        }
        assert_eq!(driver.field("alpha"), 0.0);
        let before = driver.field("cwnd");
        driver.mark(true);
        assert_eq!(driver.field("cwnd"), before, "nothing to reduce by: the next window's alpha will");
    }

    #[test]
    fn without_marks_it_is_reno() {
        let mut driver = at_ten("0");
        driver.ack_window();
        // Ten packets of a window of ten are acknowledged.
        assert_eq!(driver.field("cwnd"), 11.0);
        let before = driver.field("cwnd");
        driver.lose(1, true);
        driver.lose(1, false);
        assert_eq!(driver.field("cwnd"), (before / 2.0).floor());
        driver.controller.on_spurious_loss(driver.now);
        assert_eq!(driver.field("cwnd"), before);
    }

    #[test]
    fn a_loss_within_an_episode_of_marks_still_halves() {
        let mut driver = at_ten("0");
        driver.in_recovery = true;
        driver.mark(true);
        driver.ack(1);
        driver.lose(1, false);
        assert_eq!(driver.field("cwnd"), 5.0);
        driver.lose(1, false);
        assert_eq!(driver.field("cwnd"), 5.0);
    }

    #[test]
    fn nothing_grows_during_a_reduction_and_two_packets_stay() {
        let mut driver = at_ten("1024");
        driver.in_recovery = true;
        driver.mark(true);
        let before = driver.field("cwnd");
        driver.ack(4);
        assert_eq!(driver.field("cwnd"), before);
        (0..9).for_each(|_| driver.lose(1, true));
        assert_eq!(driver.field("cwnd"), 2.0);
    }

    #[test]
    fn timeout_restarts_from_one_packet() {
        let mut driver = at_ten("0");
        driver.timeout(false);
        driver.timeout(true);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (1.0, 5.0));
    }
}
