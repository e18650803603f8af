//! CUBIC of Chromium's QUIC in 2017 and 2018, in integer bytes and for two emulated connections.
//!
//! Source: `CubicBytes`, `TcpCubicSenderBase`, `HybridSlowStart` and `PacingSender` in google/proto-quic@77961f1 (May
//! 2017), `src/net/quic/core/congestion_control`, which Pantheon measured as "QUIC Cubic". Differences from
//! [`crate::schemes::cubic`]:
//!
//! - N = 2 emulated connections: a loss keeps `(N - 1 + 0.7) / N = 0.85` of the window, and the line of Reno rises by
//!   `3 N^2 (1 - beta) / (1 + beta) = 0.973` packets per RTT.
//! - Windows count packets of 1460 bytes for any packet size. They start at 32 and stay between 2 and 2000.
//! - A target is computed again only when the window has changed or 30 ms have passed.
//! - The target exceeds the window at most by half of the bytes acknowledged since the last target.
//! - The cubic moves in whole packets (`quirk_quantised`).
//! - Only the delay detector of HyStart ends slow start.
//! - Sending is paced, at twice the window per RTT in slow start and 1.25 times later. After quiescence ten packets are
//!   not paced.
//! - When the window does not limit, the epoch is forgotten.
//!
//! PRR, tail loss probes and timers are the transport's.
//!
//! Expected: like CUBIC, with a shallower saw-tooth; on the cellular path of Pantheon's report of January 2018: 38.39
//! Mbit/s, p95 160.6 ms, 0.52 % lost.

use crate::{
    Ack, Build, Control, Controller, Entry, FieldSink, Loss, Parameter, Parameters, Sent, Start, Timeout,
    TimeoutKind,
};
use units::{Rate, Span, Time};

/// Unit of the window (`kDefaultTCPMSS`), bytes.
const PACKET: u64 = 1460;
/// Minimum window, packets.
const MIN_WINDOW: u64 = 2;
/// Fraction of the window that one connection keeps on loss (`kBeta`).
const BETA: f64 = 0.7;
/// Scale of the cubic: `SCALE / 2^SHIFT` packets per (1/1024 s)^3 are 0.4 packets per s^3.
const SCALE: i128 = 410;
const SHIFT: u32 = 40;
/// Clock of the cubic, ticks per second.
const TICKS: u64 = 1024;
/// Distance from the window within which the window limits a sender (`kMaxBurstBytes`), bytes.
const NEARLY_FULL: u64 = 3 * PACKET;
/// Number of packets without pacing after quiescence.
const BURST: u64 = 10;
/// Granularity of the pacer's alarm; packets due within it leave together.
const ALARM: Span = Span::from_ms(1);
/// RTT assumed before the first measurement.
const INITIAL_RTT: Span = Span::from_ms(100);
/// Constants of the delay detector: samples per round, bounds and divisor of the rise that counts, minimum window.
const DETECTOR_SAMPLES: u32 = 8;
const DETECTOR_RISE: (Span, Span) = (Span::from_ms(4), Span::from_ms(16));
const DETECTOR_DIVISOR: u64 = 8;
const DETECTOR_WINDOW: u64 = 16 * PACKET;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "gquic_cubic",
    summary: "CUBIC of Chromium's QUIC in 2017 and 2018 (google/proto-quic@77961f1), measured as QUIC Cubic",
    parameters: &[
        Parameter::integer(
            "connections",
            "",
            2,
            (1, 100),
            "Connections whose aggressiveness one flow has (kDefaultNumConnections).",
        ),
        Parameter::number(
            "beta_last_max",
            "",
            0.85,
            (0.1, 1.0),
            "Share of the window a flow that did not regain its old maximum aims at (kBetaLastMax).",
        ),
        Parameter::integer(
            "initial_window",
            "packets",
            32,
            (2, 10_000),
            "First window, packets of 1460 bytes.",
        ),
        Parameter::integer(
            "max_window",
            "packets",
            2000,
            (2, 1_000_000),
            "Largest window and first ssthresh, packets of 1460 bytes.",
        ),
        Parameter::number(
            "update_ms",
            "ms",
            30.0,
            (0.0, 1000.0),
            "An unchanged window keeps its target for this time.",
        ),
        Parameter::integer(
            "packet_bytes",
            "bytes",
            1350,
            (200, 1460),
            "UDP payload of a full packet, which is what the window counts; the transport counts the stream's bytes in it.",
        ),
        Parameter::flag(
            "quirk_quantised",
            true,
            "The cubic moves in whole packets, rounded down before it is subtracted.",
        ),
    ],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| Box::new(GquicCubic::new(parameters, start))),
};

#[derive(Debug)]
struct GquicCubic {
    mss_bytes: u64,
    packet_bytes: u64,
    max_window: u64,
    /// Window, bytes, like all windows here.
    window: u64,
    ssthresh: u64,
    cubic: Cubic,
    detector: DelayDetector,
    srtt: Span,
    /// Number of packets that may leave without pacing.
    burst: u64,
}

impl GquicCubic {
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let packets = |name: &str| parameters.integer(name).unsigned_abs() * PACKET;
        let max_window = packets("max_window");
        Self {
            mss_bytes: u64::from(start.mss_bytes.max(1)),
            packet_bytes: parameters.integer("packet_bytes").unsigned_abs(),
            max_window,
            window: packets("initial_window").min(max_window),
            ssthresh: max_window,
            cubic: Cubic::new(parameters),
            detector: DelayDetector::default(),
            srtt: INITIAL_RTT,
            burst: BURST,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Converts the transport's bytes (of the stream) to this sender's bytes (of packets).
    fn in_packet_bytes(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * u128::from(self.packet_bytes) / u128::from(self.mss_bytes)) as u64
    }

    fn window_of_stream(&self) -> u64 {
        (u128::from(self.window) * u128::from(self.mss_bytes) / u128::from(self.packet_bytes)) as u64
    }

    fn is_window_limited(&self, in_flight: u64) -> bool {
        in_flight + NEARLY_FULL >= self.window || (self.in_slow_start() && in_flight > self.window / 2)
    }

    fn on_packet(&mut self, ack: &Ack<'_>, bytes: u32, in_flight: u64) {
        if !self.is_window_limited(in_flight) {
            self.cubic.epoch = None;
        } else if self.window < self.max_window {
            self.window = if self.in_slow_start() {
                self.window + PACKET
            } else {
                let acked = self.in_packet_bytes(u64::from(bytes));
                self.cubic.on_ack(acked, self.window, ack.min_rtt, ack.now).min(self.max_window)
            };
        }
    }

    fn refill_burst(&mut self) {
        self.burst = BURST.min(self.window / PACKET);
    }
}

impl Controller for GquicCubic {
    fn on_established(&mut self, _now: Time, rtt: Span) {
        self.srtt = rtt;
    }

    fn on_sent(&mut self, _event: &Sent) {
        self.burst = self.burst.saturating_sub(1);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.srtt = ack.srtt;
        if let Some(rtt) = ack.rtt
            && self.in_slow_start()
        {
            let rtt = if rtt > ack.ack_delay { rtt - ack.ack_delay } else { rtt };
            if self.detector.finds_rise(rtt, ack.min_rtt, ack.next_number) && self.window >= DETECTOR_WINDOW {
                self.ssthresh = self.window;
            }
        }
        if !ack.in_recovery {
            let in_flight = self.in_packet_bytes(ack.in_flight_before_bytes);
            for packet in ack.packets {
                self.on_packet(ack, packet.bytes, in_flight);
                if self.in_slow_start() {
                    self.detector.on_packet(packet.number);
                }
            }
            if ack.in_flight_bytes == 0 {
                self.refill_burst();
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.new_episode {
            self.window = self.cubic.on_loss(self.window);
            self.ssthresh = self.window;
            self.window = self.window.max(MIN_WINDOW * PACKET);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.detector = DelayDetector::default();
        self.cubic.reset();
        // The program has no persistent congestion, whose losses have already set the threshold.
        if timeout.kind == TimeoutKind::Rto {
            self.ssthresh = self.window / 2;
        }
        self.window = MIN_WINDOW * PACKET;
        self.refill_burst();
    }

    fn control(&self) -> Control {
        let gain = if self.in_slow_start() { 2.0 } else { 1.25 };
        let window_bytes = self.window_of_stream();
        let rate = Rate::from_bytes_per(window_bytes, self.srtt.max(Span::from_us(1))).mul_f64(gain);
        // The rate would be zero after days without an acknowledgement.
        let rate = rate.max(Rate::from_bps(1));
        Control {
            pacing: (self.burst == 0).then_some(rate),
            burst_bytes: rate.bytes_in(ALARM),
            ..Control::window(window_bytes)
        }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        let packets = |bytes: u64| bytes as f64 / PACKET as f64;
        let k = self.cubic.epoch.map_or(f64::NAN, |epoch| epoch.to_origin as f64 / TICKS as f64);
        sink.put("cwnd", "packets", packets(self.window));
        sink.put("ssthresh", "packets", packets(self.ssthresh));
        sink.put("w_max", "packets", packets(self.cubic.last_max));
        sink.put("k", "s", k);
        sink.put("w_est", "packets", self.cubic.epoch.map_or(f64::NAN, |epoch| packets(epoch.reno_window)));
    }
}

/// Window function (`CubicBytes`).
#[derive(Debug)]
struct Cubic {
    beta: f64,
    /// Rise of Reno's line, packets per RTT.
    alpha: f64,
    beta_last_max: f64,
    update_interval: Span,
    quantised: bool,
    /// Window before the latest reduction, bytes, lowered to leave room for new flows.
    last_max: u64,
    epoch: Option<Epoch>,
    /// Latest target: its window, its time, and its value.
    last: (u64, Time, u64),
}

/// Congestion avoidance since a reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// Top of the plateau, bytes, and the time from the beginning to it, ticks.
    origin: u64,
    to_origin: i64,
    /// Estimate of Reno's window, bytes.
    reno_window: u64,
    /// Bytes acknowledged since the latest target.
    acked: u64,
}

impl Cubic {
    fn new(parameters: &Parameters) -> Self {
        let n = parameters.number("connections");
        let beta = (n - 1.0 + BETA) / n;
        Self {
            beta,
            alpha: 3.0 * n * n * (1.0 - beta) / (1.0 + beta),
            beta_last_max: parameters.number("beta_last_max"),
            update_interval: Span::from_secs_f64(parameters.number("update_ms") / 1e3),
            quantised: parameters.flag("quirk_quantised"),
            last_max: 0,
            epoch: None,
            last: (0, Time::ZERO, 0),
        }
    }

    fn reset(&mut self) {
        (self.last_max, self.epoch, self.last) = (0, None, (0, Time::ZERO, 0));
    }

    /// Returns the window after a loss at `window`.
    fn on_loss(&mut self, window: u64) -> u64 {
        let never_regained = window + PACKET < self.last_max;
        self.last_max = if never_regained { (self.beta_last_max * window as f64) as u64 } else { window };
        self.epoch = None;
        (window as f64 * self.beta) as u64
    }

    /// Returns the window after `acked` bytes of a packet were acknowledged at `window`.
    fn on_ack(&mut self, acked: u64, window: u64, min_rtt: Span, now: Time) -> u64 {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(window, now));
        epoch.acked += acked;
        let (last_window, last_update, last_target) = self.last;
        if self.epoch.is_some() && last_window == window && now - last_update <= self.update_interval {
            self.epoch = Some(epoch);
            return last_target.max(epoch.reno_window);
        }
        let elapsed = (now - epoch.began + min_rtt).as_ns() / 1000;
        let elapsed = (u128::from(elapsed) * u128::from(TICKS) / 1_000_000) as i64;
        let target = self
            .value(epoch.origin, i128::from(epoch.to_origin) - i128::from(elapsed))
            .min(window + epoch.acked / 2);
        let growth = epoch.acked as f64 * self.alpha * PACKET as f64 / epoch.reno_window as f64;
        epoch.reno_window += growth as u64;
        epoch.acked = 0;
        self.last = (window, now, target);
        self.epoch = Some(epoch);
        target.max(epoch.reno_window)
    }

    fn begin(&self, window: u64, now: Time) -> Epoch {
        let rise = self.last_max.saturating_sub(window);
        // `kCubeFactor` is the inverse of the cubic's scale per byte.
        let factor = (1_u64 << SHIFT) / SCALE as u64 / PACKET;
        let to_origin = libm::cbrt(factor as f64 * rise as f64) as i64;
        Epoch { began: now, origin: self.last_max.max(window), to_origin, reno_window: window, acked: 0 }
    }

    /// Returns the cubic `offset` ticks before its plateau at `origin`; negative offsets are after it.
    fn value(&self, origin: u64, offset: i128) -> u64 {
        let cube = SCALE * offset * offset * offset;
        let packet = i128::from(PACKET);
        // Shifting rounds down, so beyond the plateau the quantised cubic is up to a packet ahead.
        let delta = if self.quantised { (cube >> SHIFT) * packet } else { (cube * packet) >> SHIFT };
        (i128::from(origin) - delta).clamp(0, i128::from(u64::MAX / 4)) as u64
    }
}

/// Detector that ends slow start when the RTT of a round's first packets has risen (`HybridSlowStart`).
#[derive(Debug, Default)]
struct DelayDetector {
    /// Last packet of the present round.
    round_end: Option<u64>,
    samples: u32,
    round_min: Span,
    found: bool,
}

impl DelayDetector {
    /// Returns true if the RTT has risen in this round or an earlier one.
    fn finds_rise(&mut self, rtt: Span, min_rtt: Span, next_number: u64) -> bool {
        if self.round_end.is_none() {
            (self.round_end, self.samples, self.round_min) =
                (Some(next_number.saturating_sub(1)), 0, Span::MAX);
        }
        self.samples += 1;
        if self.samples <= DETECTOR_SAMPLES {
            self.round_min = self.round_min.min(rtt);
        }
        if self.samples == DETECTOR_SAMPLES {
            let rise = (min_rtt / DETECTOR_DIVISOR).clamp(DETECTOR_RISE.0, DETECTOR_RISE.1);
            self.found |= self.round_min > min_rtt + rise;
        }
        self.found
    }

    fn on_packet(&mut self, number: u64) {
        if self.round_end.is_some_and(|end| number >= end) {
            self.round_end = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    fn driver(settings: &[(&str, &str)]) -> Driver {
        // The driver's packets of 1000 bytes represent whole packets.
        let mut driver = Driver::new(&ENTRY, settings);
        driver.in_flight_packets = 3000.0;
        driver
    }

    /// Returns a driver in congestion avoidance after a loss at `packets`.
    fn avoiding(packets: &str, settings: &[(&str, &str)]) -> Driver {
        let mut driver = driver(&[settings, &[("initial_window", packets)]].concat());
        driver.lose(1, true);
        driver
    }

    #[test]
    fn it_starts_with_32_packets_and_slow_start_adds_one_per_packet() {
        let mut driver = driver(&[]);
        assert_eq!(driver.field("cwnd"), 32.0);
        // 46 720 bytes are packets of 1350 bytes, each with 1000 bytes of the stream.
        assert_eq!(driver.control().window_bytes, 46_720 * 1000 / 1350);
        driver.ack(10);
        assert_eq!(driver.field("cwnd"), 42.0);
    }

    #[test]
    fn two_connections_keep_85_percent() {
        let driver = avoiding("100", &[]);
        assert_eq!(
            (driver.field("cwnd"), driver.field("ssthresh"), driver.field("w_max")),
            (85.0, 85.0, 100.0)
        );
        assert_eq!(avoiding("100", &[("connections", "1")]).field("cwnd"), 70.0);
    }

    #[test]
    fn a_flow_that_did_not_regain_its_maximum_aims_lower() {
        let mut driver = avoiding("100", &[]);
        driver.lose(1, false);
        assert_eq!(driver.field("cwnd"), 85.0);
        driver.lose(1, true);
        assert_eq!((driver.field("cwnd"), driver.field("w_max")), (72.25, 72.25));
    }

    /// Acknowledges a packet per ms for `ms` and returns the final window, packets.
    fn pass(driver: &mut Driver, ms: u64) -> f64 {
        for _ in 0..ms {
            driver.now += Span::from_ms(1);
            driver.ack(1);
        }
        driver.field("cwnd")
    }

    #[test]
    fn the_cubic_reaches_its_maximum_after_k_and_then_leaves_it() {
        let mut driver = avoiding("1000", &[("connections", "1")]);
        pass(&mut driver, 1);
        // cbrt(300 / 0.4) = 9.09 s, which includes the RTT of 100 ms.
        let k = driver.field("k");
        assert!((k - 9.09).abs() < 0.02, "{k}");
        let plateau = pass(&mut driver, 9000);
        assert!((plateau - 1000.0).abs() <= 1.0, "{plateau}");
        // The window is 0.4 * 5^3 = 50 packets beyond; the flow is far from the line of Reno.
        let later = pass(&mut driver, 5000);
        assert!((later - 1050.0).abs() <= 3.0, "{later}");
    }

    #[test]
    fn the_quantised_cubic_moves_in_whole_packets() {
        let fractions = |quirk: &str| {
            let mut driver = avoiding("1000", &[("quirk_quantised", quirk), ("connections", "1")]);
            pass(&mut driver, 3000);
            let fraction = driver.field("cwnd").fract();
            (0..500).filter(|_| (pass(&mut driver, 1).fract() - fraction).abs() > 1e-9).count()
        };
        // Only the cap on growth remains.
        assert!(fractions("on") < 10, "{}", fractions("on"));
        assert!(fractions("off") > 100, "{}", fractions("off"));
    }

    #[test]
    fn an_unchanged_window_keeps_its_target_for_30_ms() {
        let mut cubic = Cubic::new(&Parameters::defaults(ENTRY.parameters));
        cubic.last_max = 2000 * PACKET;
        let window = 1000 * PACKET;
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let first = cubic.on_ack(1350, window, Span::from_ms(20), at(1000));
        assert_eq!(cubic.on_ack(1350, window, Span::from_ms(20), at(1030)), first);
        // Two packets count in the update that is due.
        let due = cubic.on_ack(1350, window, Span::from_ms(20), at(1031));
        assert_eq!(due, window + 1350);
        assert_eq!(first, window + 675);
    }

    #[test]
    fn slow_start_ends_when_eight_samples_show_a_rise() {
        let mut driver = driver(&[]);
        driver.next_number = 60;
        (0..8).for_each(|_| driver.ack(1));
        // The rise is an eighth of 100 ms; the next round begins with packet 60.
        driver.next_acked = 59;
        driver.ack(1);
        driver.rtt = Span::from_ms(113);
        driver.next_number = 120;
        (0..7).for_each(|_| driver.ack(1));
        assert!(driver.field("cwnd") < driver.field("ssthresh"));
        driver.ack(1);
        assert!(driver.field("cwnd") >= driver.field("ssthresh"));
    }

    #[test]
    fn a_window_that_does_not_limit_freezes_and_forgets_the_epoch() {
        let mut driver = avoiding("1000", &[]);
        pass(&mut driver, 100);
        let before = driver.field("cwnd");
        driver.in_flight_packets = 100.0;
        assert_eq!(pass(&mut driver, 100), before);
        assert!(driver.field("k").is_nan());
    }

    #[test]
    fn ten_packets_go_unpaced_after_quiescence() {
        let mut driver = driver(&[]);
        (0..10).for_each(|_| {
            assert_eq!(driver.control().pacing, None);
            driver.send();
        });
        // The rate is 200 % of 46 720 bytes of packets in 100 ms.
        let rate = driver.control().pacing.unwrap().mbps();
        assert!((rate - 2.0 * 46_720.0 / 1.35 * 8e-5).abs() < 0.01, "{rate}");
        driver.in_flight_packets = 0.0;
        driver.ack(1);
        assert_eq!(driver.control().pacing, None);
    }

    #[test]
    fn a_timeout_leaves_two_packets_and_half_of_the_window_to_aim_at() {
        let mut driver = avoiding("100", &[]);
        driver.timeout(false);
        assert_eq!((driver.field("cwnd"), driver.field("ssthresh")), (2.0, 42.5));
    }

    #[test]
    fn windows_end_at_2000_packets() {
        let mut driver = driver(&[]);
        driver.ack(3000);
        assert_eq!(driver.field("cwnd"), 2000.0);
    }
}
