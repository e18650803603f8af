//! Live media: frames from capture to decoding, and stalls of the picture.

use crate::inputs::MediaCounters;
use crate::meters::tally::{mbps, round_to_us};
use crate::statistics::{DelayHistogram, DelaySummary};
use std::collections::VecDeque;
use units::{Span, Time};

/// Minimum stall, as a multiple of the average interval between frames [W3C webrtc-stats, freezeCount].
const STALL_INTERVALS: u64 = 3;
/// Minimum excess of a stall over the average interval.
const STALL_EXCESS: Span = Span::from_ms(150);
/// Number of intervals in the average.
const AVERAGED_INTERVALS: usize = 30;

/// Frame that could be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameDelivery {
    /// Number of the flow.
    pub flow: u32,
    /// Bytes of the frame.
    pub bytes: u64,
    /// Capture time.
    pub captured: Time,
    /// Time at which the frame and all frames that it depends on had arrived.
    pub decoded: Time,
    /// Total duration of the source's planned pauses before the frame.
    pub paused: Span,
}

/// Counters of one live flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct MediaMeter {
    decoded: u64,
    /// Bytes of the frames decoded in the measured time.
    measured_bytes: u64,
    delay: DelayHistogram,
    last_decoded: Option<Time>,
    /// Planned pauses up to the last frame.
    paused: Span,
    /// Latest intervals between decoded frames, and their sum.
    intervals: VecDeque<Span>,
    interval_sum: Span,
    stalls: u64,
    stalled: Span,
}

impl MediaMeter {
    /// Counts a decoded frame, in the measured values only if `is_measured`.
    pub(crate) fn frame(&mut self, frame: &FrameDelivery, is_measured: bool) {
        self.decoded += 1;
        if let Some(last) = self.last_decoded {
            // A planned pause is no stall.
            self.interval((frame.decoded - last) - (frame.paused - self.paused), is_measured);
        }
        self.paused = frame.paused;
        self.last_decoded = Some(frame.decoded);
        if is_measured {
            self.measured_bytes += frame.bytes;
            self.delay.record(round_to_us((frame.decoded - frame.captured).as_ns() as i64));
        }
    }

    /// Counts an interval between two frames, in which the picture stood still.
    fn interval(&mut self, interval: Span, is_measured: bool) {
        if self.is_stall(interval) && is_measured {
            self.stalls += 1;
            self.stalled += interval;
        }
        if self.intervals.len() == AVERAGED_INTERVALS
            && let Some(oldest) = self.intervals.pop_front()
        {
            self.interval_sum -= oldest;
        }
        self.intervals.push_back(interval);
        self.interval_sum += interval;
    }

    fn is_stall(&self, interval: Span) -> bool {
        let Some(count) = core::num::NonZeroU64::new(self.intervals.len() as u64) else { return false };
        let average = self.interval_sum / count.get();
        interval >= (average * STALL_INTERVALS).max(average + STALL_EXCESS)
    }

    /// Returns the counters of a flow that is measured for `active` until `end`. `share_mbps` is the flow's share of
    /// the bottleneck.
    pub(crate) fn known(
        mut self,
        counters: &MediaCounters,
        active: Span,
        end: Time,
        share_mbps: Option<f64>,
    ) -> KnownMedia {
        let playing = |from: Time| {
            let paused = counters.pauses.iter().map(|&(begin, over)| over.min(end) - begin.max(from));
            paused.fold(end - from, |left, pause| left - pause)
        };
        let active = playing(end - active);
        if let Some(last) = self.last_decoded {
            // A picture that stands still at the end may never move again.
            self.interval(playing(last), true);
        } else if !active.is_zero() {
            self.stalled = active;
            self.stalls = 1;
        }
        let most_mbps = counters.max_rate.mbps();
        KnownMedia {
            active,
            could_mbps: share_mbps.map_or(most_mbps, |share| share.min(most_mbps)),
            delay: self.delay.summary(),
            measured_bytes: self.measured_bytes,
            stalls: self.stalls,
            stalled: self.stalled,
            frames: counters.frames,
            frames_skipped: counters.frames_skipped,
            decoded: self.decoded,
        }
    }
}

/// Counters of a live flow at the end of a run.
#[derive(Debug)]
pub(crate) struct KnownMedia {
    /// Measured time, without pauses.
    pub(crate) active: Span,
    /// Highest rate at which the source could have sent, Mbit/s.
    pub(crate) could_mbps: f64,
    /// Times from capture to decoding.
    pub(crate) delay: Option<DelaySummary>,
    measured_bytes: u64,
    pub(crate) stalls: u64,
    pub(crate) stalled: Span,
    pub(crate) frames: u64,
    pub(crate) frames_skipped: u64,
    pub(crate) decoded: u64,
}

impl KnownMedia {
    pub(crate) fn rate_mbps(&self) -> Option<f64> {
        mbps(self.measured_bytes, self.active)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{LogTells, MediaStats};
    use units::Rate;

    impl MediaMeter {
        fn stats(self, counters: &MediaCounters, active: Span, end: Time, share: Option<f64>) -> MediaStats {
            MediaStats::of(&self.known(counters, active, end, share), LogTells::default())
        }
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn frame(decoded_ms: u64) -> FrameDelivery {
        FrameDelivery {
            flow: 1,
            bytes: 5_000,
            captured: at(decoded_ms - 60),
            decoded: at(decoded_ms),
            paused: Span::ZERO,
        }
    }

    fn counters(max_mbps: f64) -> MediaCounters {
        let max_rate = Rate::from_mbps(max_mbps);
        MediaCounters { frames: 100, frames_skipped: 2, max_rate, ..MediaCounters::default() }
    }

    /// Returns a meter of 100 frames 40 ms apart; the 51st and all later frames are `late` ms later than that.
    fn meter(late: u64) -> MediaMeter {
        let mut meter = MediaMeter::default();
        for number in 0..100_u64 {
            meter.frame(&frame(100 + number * 40 + if number > 50 { late } else { 0 }), true);
        }
        meter
    }

    #[test]
    fn frames_in_time_make_rate_and_delay_and_no_stall() {
        let stats = meter(0).stats(&counters(2.0), Span::from_secs(4), at(4_100), None);
        // 100 frames of 5000 bytes over 4 s are 1 Mbit/s, half of the source's maximum.
        assert_eq!((stats.media_rate_mbps, stats.media_utilization), (Some(1.0), Some(0.5)));
        assert_eq!((stats.frame_delay_p50_ms, stats.frame_delay_p99_ms), (Some(60.0), Some(60.0)));
        assert_eq!((stats.stalls, stats.stall_time_s, stats.frames_decoded), (0, 0.0, 100));
    }

    #[test]
    fn a_stall_is_150_ms_more_than_the_average_interval() {
        let stalls = |late| meter(late).stats(&counters(2.0), Span::from_secs(4), at(4_100 + late), None);
        assert_eq!(stalls(149).stalls, 0);
        let stats = stalls(150);
        assert_eq!((stats.stalls, stats.stall_ratio), (1, Some(0.19 / 4.0)));
    }

    #[test]
    fn a_planned_pause_is_no_stall_and_no_time_to_fill() {
        let mut meter = meter(0);
        for number in 0..100_u64 {
            meter.frame(&FrameDelivery { paused: Span::from_secs(20), ..frame(24_100 + number * 40) }, true);
        }
        let counters = MediaCounters { pauses: vec![(at(4_060), at(24_060))], ..counters(2.0) };
        let stats = meter.stats(&counters, Span::from_secs(28), at(28_100), None);
        assert_eq!((stats.stalls, stats.stall_time_s, stats.media_rate_mbps), (0, 0.0, Some(1.0)));
    }

    #[test]
    fn a_planned_pause_that_lasts_to_the_end_or_began_before_is_neither() {
        // Frames from 100 to 4060 ms, an earlier pause that is partly measured, and a pause without an end.
        let pauses = vec![(at(0), at(90)), (at(4_070), at(30_000))];
        let counters = MediaCounters { pauses, ..counters(2.0) };
        let stats = meter(0).stats(&counters, Span::from_ms(14_010), at(14_060), None);
        // From 90 to 4070 ms are 3.98 s.
        assert!((stats.media_rate_mbps.unwrap() - 100.0 * 40_000.0 / 3.98 / 1e6).abs() < 1e-12);
        assert_eq!((stats.stalls, stats.stall_ratio), (0, Some(0.0)));
    }

    #[test]
    fn a_flow_that_is_paused_by_plan_all_the_time_neither_stalls_nor_has_a_rate() {
        let counters = MediaCounters { pauses: vec![(at(0), at(9_000))], ..counters(2.0) };
        let stats = MediaMeter::default().stats(&counters, Span::from_secs(4), at(4_000), None);
        assert_eq!((stats.stalls, stats.stall_ratio, stats.media_rate_mbps), (0, None, None));
    }

    #[test]
    fn a_picture_that_stands_still_to_the_end_is_stalled() {
        let stats = meter(0).stats(&counters(2.0), Span::from_secs(14), at(14_060), None);
        assert_eq!((stats.stalls, stats.stall_time_s), (1, 10.0));
        let stats = MediaMeter::default().stats(&counters(2.0), Span::from_secs(4), at(4_000), None);
        assert_eq!((stats.stall_ratio, stats.frame_delay_p95_ms), (Some(1.0), None));
    }

    #[test]
    fn a_narrow_bottleneck_is_the_measure_of_utilization() {
        let stats = meter(0).stats(&counters(2.0), Span::from_secs(4), at(4_100), Some(1.25));
        assert_eq!(stats.media_utilization, Some(0.8));
    }
}
