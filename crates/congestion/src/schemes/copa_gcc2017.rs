//! Copa as genericCC ran it for Pantheon's report of January 2018.
//!
//! Source: venkatarun95/genericCC@80b516c, `markoviancc.cc`. Differences from `copa-gcc2018`:
//!
//! - Every RTT is the latest sample (no `RTTstanding`), and the minimum RTT never expires.
//! - Up to twice the window may be in flight, paced at one window per RTT: the rate limits, not the window.
//! - The velocity doubles, and the direction turns, only if more than two thirds of an RTT's ACKs agree. The velocity
//!   is cut to the whole part of window * delta; while that product is below 1, it is 0 and freezes the window.
//! - Default mode needs a sample near the 10 s minimum both in the last two RTTs and in the two before. Fewer than four
//!   samples in either half also mean default mode. It sets delta at once.
//! - Delta is 1 when competitive mode begins for the first time. Losses raise delta without bound, but not before the
//!   window rule has set a spacing.
//! - Heavy loss causes no reduction.
//!
//! The source is ambiguous in two places. This code takes the delay range of the mode test from the same four RTTs.
//! Samples that have left the last two RTTs do not return when the RTT grows.
//!
//! Expected: alone on a 46 Mbit/s FIFO of 20 ms: 45.6 Mbit/s, about two thirds of the time competitive, queue 2.6 ms.

use crate::parts::copa_gcc::{
    Clock, DELTA, HISTORY_MS, INITIAL_WINDOW, Losses, MIN_WINDOW, PROBE_ACKS, ns, pacing,
};
use crate::parts::{WindowedMax, WindowedMin};
use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameters, Start, Timeout};
use std::collections::VecDeque;
use units::Time;

/// Fraction of the delay range below which a sample counts as "queue nearly empty".
const EMPTY_SHARE: f64 = 0.1;
/// Minimum number of samples in each half of the mode test.
const MODE_SAMPLES: usize = 4;
/// Delta at the start and when competitive mode begins for the first time, 1/packet.
const COMPETITIVE_DELTA: f64 = 1.0;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "copa-gcc2017",
    summary: "Copa as in genericCC 80b516c (Pantheon's report of January 2018), quirks included",
    parameters: &[DELTA],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(CopaGcc::new(parameters, start))),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Default,
    Competitive,
}

/// RTT statistics, ms.
#[derive(Debug)]
struct Rtts {
    latest: f64,
    /// Minimum since the flow began.
    min: f64,
    /// Minimum of the last ten seconds, for the mode test only.
    min10s: WindowedMin<f64>,
    max4: WindowedMax<f64>,
    /// Samples of the last two RTTs (time in ns, RTT) and their minimum.
    recent: VecDeque<(u64, f64)>,
    recent_min: WindowedMin<f64>,
    /// Times of the samples of the two RTTs before, and their minimum.
    older: VecDeque<u64>,
    older_min: WindowedMin<f64>,
}

impl Rtts {
    fn new() -> Self {
        let length = ns(HISTORY_MS);
        Self {
            latest: 0.0,
            min: f64::INFINITY,
            min10s: WindowedMin::new(length),
            max4: WindowedMax::new(length),
            recent: VecDeque::new(),
            recent_min: WindowedMin::new(length),
            older: VecDeque::new(),
            older_min: WindowedMin::new(length),
        }
    }

    fn clear(&mut self) {
        self.min = f64::INFINITY;
        self.min10s.clear();
        self.max4.clear();
        self.recent.clear();
        self.recent_min.clear();
        self.older.clear();
        self.older_min.clear();
    }

    fn push(&mut self, now: Time, rtt: f64) {
        let now = now.as_ns();
        let (two, four) = (ns(2.0 * rtt), ns(4.0 * rtt));
        self.latest = rtt;
        self.min = self.min.min(rtt);
        self.min10s.push(now, rtt);
        self.max4.set_length(four);
        self.max4.push(now, rtt);
        self.recent_min.set_length(two);
        self.recent_min.push(now, rtt);
        self.recent.push_back((now, rtt));
        self.older_min.set_length(four);
        while let Some((at, rtt)) = self.recent.pop_front_if(|&mut (at, _)| now - at > two) {
            self.older.push_back(at);
            self.older_min.push(at, rtt);
        }
        while self.older.front().is_some_and(|&at| now - at > four) {
            self.older.pop_front();
        }
        self.older_min.expire(now);
    }

    fn was_queue_empty_twice(&self) -> bool {
        if self.recent.len() < MODE_SAMPLES || self.older.len() < MODE_SAMPLES {
            return true;
        }
        let min = self.min10s.get().unwrap_or(0.0);
        let threshold = min + EMPTY_SHARE * (self.max4.get().unwrap_or(0.0) - min);
        let has_sample_below = |filter: &WindowedMin<f64>| filter.get().is_some_and(|rtt| rtt < threshold);
        has_sample_below(&self.recent_min) && has_sample_below(&self.older_min)
    }
}

/// State that restarts after two seconds of silence. Times in ms, 0 for "never".
#[derive(Debug)]
struct State {
    /// Window, packets; twice as much may be in flight.
    window: f64,
    /// Time between two packets, ms; 0 (unpaced) before the first update of the window.
    spacing: f64,
    /// Copa's delta, 1/packet.
    delta: f64,
    mode: Mode,
    in_slow_start: bool,
    /// Velocity ("amt"): packets per RTT, times delta.
    velocity: u64,
    /// Increases less decreases since the last update ("dir"), and the direction in force ("pdir").
    direction_sum: i64,
    direction: i64,
    /// Number of ACKs since the last update.
    updates: i64,
    velocity_updated_at: f64,
    delta_updated_at: f64,
    delta_updated_on_loss_at: f64,
    acked: u64,
}

impl State {
    fn new() -> Self {
        Self {
            window: INITIAL_WINDOW,
            spacing: 0.0,
            delta: COMPETITIVE_DELTA,
            mode: Mode::Default,
            in_slow_start: true,
            velocity: 1,
            direction_sum: 1,
            direction: 1,
            updates: 1,
            velocity_updated_at: 0.0,
            delta_updated_at: 0.0,
            delta_updated_on_loss_at: 0.0,
            acked: 0,
        }
    }
}

#[derive(Debug)]
struct CopaGcc {
    default_delta: f64,
    mss_bytes: f64,
    clock: Clock,
    rtt: Rtts,
    losses: Losses,
    state: State,
}

impl CopaGcc {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        Self {
            default_delta: parameters.number("delta"),
            mss_bytes: f64::from(start.mss_bytes.max(1)),
            clock: Clock::new(start),
            rtt: Rtts::new(),
            losses: Losses::default(),
            state: State::new(),
        }
    }

    fn on_packet(&mut self, now: Time, sent_at: Time, has_losses: bool) {
        let rtt = now.since(sent_at).as_ms_f64();
        let now_ms = self.clock.ms(now);
        self.rtt.push(now, rtt);
        self.update_delta(now_ms, false, rtt);
        self.update_window(now_ms);
        if has_losses {
            self.update_delta(now_ms, true, 0.0);
        }
        self.state.acked += 1;
    }

    fn update_delta(&mut self, now: f64, lost: bool, rtt: f64) {
        let state = &mut self.state;
        if self.rtt.was_queue_empty_twice() {
            state.mode = Mode::Default;
            state.delta = self.default_delta;
            return;
        }
        state.mode = Mode::Competitive;
        if state.delta_updated_at == 0.0 {
            state.delta = COMPETITIVE_DELTA;
        }
        if lost && state.spacing != 0.0 && state.delta_updated_on_loss_at + rtt < now {
            state.delta *= 2.0;
            state.delta_updated_on_loss_at = now;
        } else if state.delta_updated_at + rtt < now {
            state.delta = 1.0 / (1.0 / state.delta + 1.0);
            state.delta_updated_at = now;
        }
    }

    fn update_window(&mut self, now: f64) {
        let state = &mut self.state;
        if state.acked < PROBE_ACKS {
            return;
        }
        let latest = self.rtt.latest;
        let queueing = latest - self.rtt.min;
        let target = if queueing == 0.0 { f64::INFINITY } else { latest / (queueing * state.delta) };
        if state.in_slow_start {
            state.window += 1.0;
            state.in_slow_start = state.window < target;
        } else {
            if state.velocity_updated_at + latest < now {
                state.end_round();
                state.velocity_updated_at = now;
            }
            // The velocity is cut to a whole number. Below 1 the window freezes, until the velocity is set to 1 again.
            state.velocity = state.velocity.min((state.window * state.delta) as u64);
            let step = state.velocity as f64 / (state.delta * state.window);
            let sign = if state.window < target { 1 } else { -1 };
            state.direction_sum += sign;
            state.updates += 1;
            state.window += sign as f64 * step;
        }
        state.window = state.window.max(MIN_WINDOW);
        state.spacing = latest / state.window;
    }
}

impl State {
    /// Ends an RTT: if more than two thirds of the ACKs agree, the velocity doubles or the direction turns.
    fn end_round(&mut self) {
        let is_clear = 3 * self.direction_sum.abs() > 2 * self.updates;
        let agrees = self.direction * self.direction_sum > 0;
        if is_clear && agrees {
            self.velocity *= 2;
        } else {
            self.velocity = 1;
            if is_clear {
                self.direction = -self.direction;
            }
        }
        self.direction_sum = 0;
        self.updates = 0;
    }
}

impl Controller for CopaGcc {
    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.losses.note(loss.packets.len());
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some((newest, older)) = ack.packets.split_last() else { return };
        for packet in older {
            self.on_packet(ack.now, packet.sent_at, false);
        }
        let has_losses = self.losses.take() > 0;
        self.on_packet(ack.now, newest.sent_at, has_losses);
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.rtt.clear();
        self.losses = Losses::default();
        self.state = State::new();
    }

    fn control(&self) -> Control {
        Control {
            pacing: pacing(self.mss_bytes, self.state.spacing),
            ..Control::window((2.0 * self.state.window * self.mss_bytes) as u64)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let min = if self.rtt.min.is_finite() { self.rtt.min } else { 0.0 };
        sink.put("cwnd", "packets", self.state.window);
        sink.put("velocity", "packets", self.state.velocity as f64);
        sink.put("direction", "", self.state.direction as f64);
        sink.put("delta", "1/packet", self.state.delta);
        sink.put("rtt_min", "ms", min);
        sink.put("queueing_delay", "ms", (self.rtt.latest - min).max(0.0));
        sink.put(
            "mode",
            "0 default, 1 competitive",
            f64::from(u8::from(self.state.mode == Mode::Competitive)),
        );
        sink.put("slow_start", "0 no, 1 yes", f64::from(u8::from(self.state.in_slow_start)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::copa_gcc::ack;
    use crate::testing::Driver;

    /// Returns a driver after the 19 probe ACKs, 100 ms apart at an RTT of 100 ms.
    fn driver(settings: &[(&str, &str)]) -> Driver {
        let mut driver = Driver::new(&ENTRY, settings);
        (0..19).for_each(|_| ack(&mut driver, 100, 100));
        driver
    }

    #[test]
    fn twice_the_window_may_be_in_flight_and_pacing_is_one_window_per_rtt() {
        let mut driver = driver(&[]);
        assert_eq!((driver.field("cwnd"), driver.control().window_bytes), (10.0, 20_000));
        ack(&mut driver, 100, 100);
        assert_eq!((driver.field("cwnd"), driver.control().window_bytes), (11.0, 22_000));
        // Pacing is 11 packets of 8000 bit per 100 ms.
        assert_eq!(driver.control().pacing.unwrap().bps(), 880_000);
    }

    /// Tests a fixed defect: the first nineteen ACKs used a spacing of a tenth of the handshake's RTT (80b516c
    /// `markoviancc.cc:47, :288` sets 0).
    #[test]
    fn the_first_window_was_spaced_where_the_program_sends_it_at_once() {
        let mut driver = Driver::new(&ENTRY, &[]);
        driver.controller.on_established(driver.now, units::Span::from_ms(100));
        for _ in 0..19 {
            assert_eq!(driver.control().pacing, None);
            ack(&mut driver, 100, 100);
        }
        ack(&mut driver, 100, 100);
        assert!(driver.control().pacing.is_some());
    }

    #[test]
    fn fewer_than_four_samples_in_half_of_the_mode_test_mean_default_mode() {
        // ACKs are 100 ms apart, so there are two or three samples in two RTTs.
        let driver = driver(&[("delta", "0.1")]);
        assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.1));
    }

    #[test]
    fn both_halves_need_a_sample_near_the_minimum() {
        let mut driver = driver(&[]);
        // ACKs 25 ms apart at 200 ms give 16 samples per half. Soon no sample of 100 ms is within 400 ms.
        (0..17).for_each(|_| ack(&mut driver, 25, 200));
        assert_eq!((driver.field("mode"), driver.field("delta")), (1.0, 1.0 / 2.0));
        // One sample near the minimum looks at 400 ms only: the older half still lacks one.
        ack(&mut driver, 25, 100);
        ack(&mut driver, 25, 200);
        assert_eq!(driver.field("mode"), 1.0);
        // 301 ms later a fresh sample of 101 ms looks at the last 202 ms; the old one is in the 202 ms before.
        (0..11).for_each(|_| ack(&mut driver, 25, 200));
        assert_eq!(driver.field("mode"), 1.0);
        ack(&mut driver, 1, 101);
        assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.5));
    }

    #[test]
    fn losses_raise_delta_without_bound_in_competitive_mode() {
        let mut driver = driver(&[]);
        (0..17).for_each(|_| ack(&mut driver, 25, 200));
        assert_eq!(driver.field("delta"), 0.5);
        for doubled in [1.0, 2.0, 4.0] {
            driver.lose(1, true);
            ack(&mut driver, 1, 200);
            assert_eq!(driver.field("delta"), doubled);
        }
    }

    /// Returns a driver after slow start, in default mode with delta 0.5 and window 11, at an RTT of 100 ms.
    fn after_slow_start() -> Driver {
        let mut driver = driver(&[]);
        ack(&mut driver, 100, 150); // target 150 / (50 * 0.5) = 6
        assert_eq!((driver.field("slow_start"), driver.field("cwnd")), (0.0, 11.0));
        driver
    }

    #[test]
    fn velocity_doubles_when_two_thirds_of_the_acks_agree() {
        let mut driver = after_slow_start();
        ack(&mut driver, 100, 100); // first update: the initial sum agrees
        assert_eq!(driver.field("velocity"), 2.0);
        ack(&mut driver, 101, 100); // one up of one
        assert_eq!(driver.field("velocity"), 4.0);
        // In the next RTT there are 5 increases (one at the update above) and 1 decrease: a sum of 4 of 6 is not more
        // than two thirds.
        (0..4).for_each(|_| ack(&mut driver, 10, 100));
        ack(&mut driver, 10, 200);
        ack(&mut driver, 101, 100);
        assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, 1.0));
        // Then 7 increases and 1 decrease: 6 of 8.
        (0..6).for_each(|_| ack(&mut driver, 10, 100));
        ack(&mut driver, 10, 200);
        ack(&mut driver, 101, 100);
        assert_eq!((driver.field("velocity"), driver.field("direction")), (2.0, 1.0));
    }

    #[test]
    fn an_opposing_rtt_turns_the_direction() {
        let mut driver = after_slow_start();
        ack(&mut driver, 100, 150);
        ack(&mut driver, 151, 150);
        assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, -1.0));
    }

    /// Tests a fixed defect: any opposing sum turned the direction. In the program two thirds of the ACKs must oppose
    /// (`markoviancc.cc:172`).
    #[test]
    fn a_few_opposing_acks_turned_the_direction() {
        let mut driver = after_slow_start();
        (0..3).for_each(|_| ack(&mut driver, 10, 150)); // the first ends the round, and all three are down
        (0..2).for_each(|_| ack(&mut driver, 10, 100)); // 2 up: 1 of 5 is not more than two thirds
        ack(&mut driver, 151, 150);
        assert_eq!((driver.field("velocity"), driver.field("direction")), (1.0, 1.0));
    }

    /// Tests a fixed defect: delta began at 1 each time. The program does so only before delta's first update
    /// (`markoviancc.cc:105`), and uses the default later.
    #[test]
    fn competitive_mode_began_at_a_delta_of_one_each_time() {
        let mut driver = driver(&[]);
        (0..17).for_each(|_| ack(&mut driver, 25, 200));
        assert_eq!((driver.field("mode"), driver.field("delta")), (1.0, 1.0 / 2.0));
        (0..40).for_each(|_| ack(&mut driver, 1000, 100));
        assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.5));
        while driver.field("mode") == 0.0 {
            ack(&mut driver, 25, 200);
        }
        assert_eq!(driver.field("delta"), 1.0 / 3.0);
    }

    #[test]
    fn a_window_below_one_over_delta_is_frozen() {
        let mut driver = driver(&[("delta", "0.01")]);
        // Competitive mode begins at the 17th of these ACKs; delta 1/2 ends slow start at 10 + 17 packets.
        (0..17).for_each(|_| ack(&mut driver, 25, 200));
        assert_eq!((driver.field("slow_start"), driver.field("cwnd")), (0.0, 27.0));
        // Sparse ACKs mean default mode again. 27 * 0.01 is below 1, so the window stays although it should grow
        // without queue.
        (0..40).for_each(|_| ack(&mut driver, 1000, 100));
        assert_eq!((driver.field("mode"), driver.field("delta")), (0.0, 0.01));
        assert_eq!((driver.field("velocity"), driver.field("cwnd")), (0.0, 27.0));
    }

    #[test]
    fn the_minimum_rtt_never_ages_until_the_flow_restarts() {
        let mut driver = after_slow_start();
        (0..30).for_each(|_| ack(&mut driver, 1000, 200));
        assert_eq!((driver.field("rtt_min"), driver.field("queueing_delay")), (100.0, 100.0));
        driver.timeout(false);
        ack(&mut driver, 1000, 200);
        assert_eq!((driver.field("rtt_min"), driver.field("cwnd")), (200.0, 10.0));
    }
}
