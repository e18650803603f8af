//! Congestion-window push-back: while more is in flight than a window holds, the encoder gets less than the target. The
//! pacer keeps the target. Sources: libwebrtc `congestion_window_pushback_controller.cc`, `goog_cc_network_control.cc`,
//! `video_stream_encoder.cc`. It is on by default as
//! `WebRTC-CongestionWindow/QueueSize:350,MinBitrate:30000,DropFrame:true`.

use super::numbers::signed_ms;
use crate::{AckedPacket, Parameters};
use std::collections::VecDeque;
use units::{Span, Time};

/// Number of reports whose longest RTTs count. The window covers the minimum of these RTTs, and the allowed queue.
const RTTS: usize = 32;
/// Minimum window, bytes.
const MIN_WINDOW_BYTES: f64 = 3000.0;
/// Time after which packets without a report are forgotten.
const HISTORY: Span = Span::from_secs(60);
/// Fraction of the target up to which a reduction drops no frame.
const LEAST_REDUCTION: f64 = 0.01;
/// Minimum number of frames from one dropped frame to the next.
const LEAST_INTERVAL: f64 = 2.0;
/// Encoder rate below which no frame is dropped, bit/s.
const MIN_ENCODER_RATE: f64 = 30e3;

/// Bytes in flight, the window for them, and the resulting reduction of the encoder's rate.
#[derive(Debug)]
pub(super) struct Pushback {
    is_on: bool,
    drops_frames: bool,
    queue_ms: f64,
    min_rate: f64,
    /// Number, departure time and bytes of every packet newer than all reported ones.
    in_flight: VecDeque<(u64, Time, f64)>,
    outstanding_bytes: f64,
    /// Longest RTT of each of the latest reports, including the wait for the report, ms.
    rtts: VecDeque<f64>,
    window_bytes: Option<f64>,
    ratio: f64,
    /// Target before the push-back, bit/s.
    target: f64,
}

impl Pushback {
    pub(super) fn new(parameters: &Parameters, target: f64) -> Self {
        Self {
            is_on: parameters.flag("pushback"),
            drops_frames: parameters.flag("pushback_drop_frames"),
            queue_ms: parameters.number("pushback_queue_ms"),
            min_rate: parameters.number("pushback_min_kbps") * 1e3,
            in_flight: VecDeque::with_capacity(1024),
            outstanding_bytes: 0.0,
            rtts: VecDeque::with_capacity(RTTS + 1),
            window_bytes: None,
            ratio: 1.0,
            target,
        }
    }

    /// Counts a sent packet; `bytes` of its IP datagram.
    pub(super) fn on_sent(&mut self, now: Time, number: u64, bytes: f64) {
        while self.in_flight.front().is_some_and(|packet| now - packet.1 > HISTORY) {
            self.forget_first();
        }
        self.in_flight.push_back((number, now, bytes));
        self.outstanding_bytes += bytes;
    }

    /// Handles a report: packets sent before its newest packet are no longer in flight, lost or not. Timers of the
    /// transport do not count: without reports everything stays in flight.
    pub(super) fn on_report(&mut self, now: Time, received: &[AckedPacket]) {
        let Some(newest) = received.last() else { return };
        while self.in_flight.front().is_some_and(|packet| packet.0 <= newest.number) {
            self.forget_first();
        }
        let longest = received.iter().map(|packet| signed_ms(now, packet.sent_at)).fold(0.0, f64::max);
        self.rtts.push_back(longest);
        if self.rtts.len() > RTTS {
            self.rtts.pop_front();
        }
    }

    fn forget_first(&mut self) {
        let Some((_, _, bytes)) = self.in_flight.pop_front() else { return };
        self.outstanding_bytes -= bytes;
    }

    /// Moves the window half the way to the wanted one: the target's bytes in an RTT and the allowed queue.
    pub(super) fn set_window(&mut self) {
        if self.rtts.is_empty() {
            return;
        }
        let rtt_ms = self.rtts.iter().copied().fold(f64::INFINITY, f64::min);
        let wanted = self.target / 8e3 * (rtt_ms + self.queue_ms);
        let window = self.window_bytes.map_or(wanted, |before| f64::midpoint(wanted, before));
        self.window_bytes = Some(window.max(MIN_WINDOW_BYTES));
    }

    /// Makes one step of the push-back at this target (bit/s): with every packet sent, every report and every 25 ms.
    pub(super) fn update(&mut self, target: f64) {
        self.target = target;
        let Some(window) = self.window_bytes.filter(|_| self.is_on) else { return };
        let fill = self.outstanding_bytes / window;
        self.ratio = if fill > 1.5 {
            self.ratio * 0.9
        } else if fill > 1.0 {
            self.ratio * 0.95
        } else if fill < 0.1 {
            1.0
        } else {
            (self.ratio * 1.05).min(1.0)
        };
    }

    /// Returns the target after the push-back, bit/s.
    pub(super) const fn pushed(&self) -> f64 {
        (self.target * self.ratio).max(self.min_rate.min(self.target))
    }

    /// Returns the bytes in flight.
    pub(super) const fn outstanding_bytes(&self) -> f64 {
        self.outstanding_bytes
    }

    /// Returns the encoder's part of `rate`, which is its share of the target, bit/s.
    ///
    /// If frames are dropped, it is every second one, or one in a larger whole number. The reduction is then at least
    /// the push-back's. The encoder gets the rate of the remaining frames and spreads it over all frames; the frames do
    /// not grow when some are dropped. So the fraction counts twice: Chromium at half of its target and of its frames
    /// sends a quarter (measured, `docs/evidence/webrtc.md`).
    pub(super) fn encoder_rate(&self, rate: f64) -> f64 {
        let share = self.pushed() / self.target;
        if !self.drops_frames {
            return rate * share;
        }
        let reduction = (rate * (1.0 - share)).min(rate - MIN_ENCODER_RATE);
        if 1.0 - share <= LEAST_REDUCTION || reduction <= 0.0 {
            return rate;
        }
        let interval = (rate / reduction).floor().max(LEAST_INTERVAL);
        let share = 1.0 - 1.0 / interval;
        rate * share * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn pushback(settings: &[(&str, &str)]) -> Pushback {
        let mut parameters = Parameters::defaults(super::super::PARAMETERS);
        for (name, value) in settings {
            parameters.set(name, value).unwrap();
        }
        Pushback::new(&parameters, 1e6)
    }

    fn received(number: u64, sent_ms: u64) -> AckedPacket {
        AckedPacket { number, sent_at: at(sent_ms), ..AckedPacket::default() }
    }

    /// Returns a push-back with a window of 1 Mbit/s for 50 + 350 ms (50 kB) and nothing in flight.
    fn ready(settings: &[(&str, &str)]) -> Pushback {
        let mut pushback = pushback(settings);
        pushback.on_sent(at(0), 0, 1000.0);
        pushback.on_report(at(50), &[received(0, 0)]);
        pushback.set_window();
        pushback
    }

    #[test]
    fn the_window_is_the_targets_worth_of_an_rtt_and_the_allowed_queue_and_moves_by_halves() {
        let mut pushback = ready(&[]);
        assert_eq!(pushback.window_bytes, Some(50_000.0));
        pushback.on_report(at(200), &[received(1, 100)]);
        pushback.update(2e6);
        pushback.set_window();
        // The minimum RTT stays 50 ms: the window moves from 50 half the way to 100 kB.
        assert_eq!(pushback.window_bytes, Some(75_000.0));
        for number in 2..34 {
            pushback.on_report(at(number * 100 + 100), &[received(number, number * 100)]);
        }
        pushback.set_window();
        // The RTT of 50 ms has left the latest 32: the window moves half the way to 112.5 kB.
        assert_eq!(pushback.window_bytes, Some(93_750.0));
        pushback.update(5e3);
        (0..20).for_each(|_| pushback.set_window());
        assert_eq!(pushback.window_bytes, Some(3000.0));
    }

    #[test]
    fn a_report_takes_all_up_to_its_newest_packet_out_of_flight() {
        let mut pushback = pushback(&[]);
        (0..10).for_each(|number| pushback.on_sent(at(number), number, 1000.0));
        pushback.on_report(at(50), &[received(2, 2), received(6, 6)]);
        assert_eq!(pushback.outstanding_bytes(), 3000.0);
        pushback.on_report(at(60), &[received(4, 4)]);
        assert_eq!(pushback.outstanding_bytes(), 3000.0);
        pushback.on_sent(at(60_010), 10, 500.0);
        assert_eq!(pushback.outstanding_bytes(), 500.0);
    }

    #[test]
    fn nothing_is_pushed_back_before_the_first_report() {
        let mut pushback = pushback(&[]);
        for number in 0..1000 {
            pushback.on_sent(at(number), number, 1000.0);
            pushback.set_window();
            pushback.update(1e6);
        }
        assert_eq!(pushback.pushed(), 1e6);
    }

    #[test]
    fn the_target_falls_by_5_or_10_percent_a_step_rises_by_5_and_returns_at_once_when_little_is_in_flight() {
        let mut pushback = ready(&[]);
        pushback.on_sent(at(100), 1, 75_000.0);
        pushback.update(1e6);
        assert!((pushback.pushed() - 0.95e6).abs() < 1.0);
        pushback.on_sent(at(100), 2, 1.0);
        pushback.update(1e6);
        assert!((pushback.pushed() - 0.95 * 0.9e6).abs() < 1.0);
        (0..100).for_each(|_| pushback.update(1e6));
        assert_eq!(pushback.pushed(), 30e3);
        pushback.update(20e3);
        assert_eq!(pushback.pushed(), 20e3);
        pushback.on_report(at(150), &[received(2, 100)]);
        pushback.on_sent(at(151), 3, 5000.0);
        let low = pushback.ratio;
        pushback.update(1e6);
        assert!((pushback.ratio / low - 1.05).abs() < 1e-9);
        pushback.on_report(at(152), &[received(3, 151)]);
        pushback.update(1e6);
        assert_eq!(pushback.pushed(), 1e6);
    }

    #[test]
    fn the_encoder_leaves_out_whole_frames_and_at_most_every_other() {
        let mut pushback = ready(&[]);
        assert_eq!(pushback.encoder_rate(0.9e6), 0.9e6);
        pushback.on_sent(at(100), 1, 60_000.0);
        pushback.update(1e6);
        pushback.update(1e6);
        // 0.95^2 is 9.75 % less, one frame in ten.
        assert!((pushback.encoder_rate(0.9e6) - 0.729e6).abs() < 1.0);
        (0..100).for_each(|_| pushback.update(1e6));
        assert_eq!(pushback.encoder_rate(0.9e6), 0.225e6);
        // From 40 to 30 kbit/s one frame in four is dropped.
        assert_eq!(pushback.encoder_rate(40e3), 22.5e3);
        assert_eq!(pushback.encoder_rate(25e3), 25e3);
    }

    #[test]
    fn without_dropping_frames_the_encoder_gets_its_share_and_off_is_off() {
        let mut pushback = ready(&[("pushback_drop_frames", "false")]);
        pushback.on_sent(at(100), 1, 100_000.0);
        (0..100).for_each(|_| pushback.update(1e6));
        assert!((pushback.encoder_rate(0.9e6) - 27e3).abs() < 1e-6);
        let mut off = ready(&[("pushback", "false")]);
        off.on_sent(at(100), 1, 100_000.0);
        (0..100).for_each(|_| off.update(1e6));
        assert_eq!((off.pushed(), off.encoder_rate(0.9e6)), (1e6, 0.9e6));
    }
}
