//! A live video encoder: frames at a fixed rate whose sizes follow a target bitrate.

use crate::config::ms;
use crate::wire::FrameMark;
use congestion::Frame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::{Rate, Rng, Span, Time};

/// Shortest time from one requested key frame to the next (libwebrtc answers picture-loss indications no faster).
const KEY_REQUEST_SPACING: Span = Span::from_ms(300);

/// Share of each frame by which frames after a key frame are smaller, to repay the extra bytes of the key frame.
const REPAYMENT: f64 = 0.3;

/// Minimum frame size, as a share of the size that the bitrate allows.
const SMALLEST_SHARE: f64 = 0.1;

/// Number of sent frames to remember: their packets may have to be sent again.
const REMEMBERED_FRAMES: usize = 512;

/// A live encoder as written in an experiment (its defaults for rates: libwebrtc M150,
/// `api/transport/bitrate_settings.h` and `video/config/encoder_stream_factory.cc`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EncoderSpec {
    /// Frames per second.
    #[schemars(range(min = 1, max = 1000))]
    pub fps: f64,
    /// Lowest bitrate.
    #[schemars(range(min = 0.001, max = 100_000))]
    pub min_rate_mbps: f64,
    /// Bitrate before the controller names one.
    #[schemars(range(min = 0.001, max = 100_000))]
    pub start_rate_mbps: f64,
    /// Highest bitrate.
    #[schemars(range(min = 0.001, max = 100_000))]
    pub max_rate_mbps: f64,
    /// Time from one key frame to the next; 0: only the first frame, and after losses.
    #[schemars(range(min = 0, max = 100_000))]
    pub key_interval_s: f64,
    /// Size of a key frame relative to the others.
    #[schemars(range(min = 1, max = 100))]
    pub key_factor: f64,
    /// Standard deviation of frame sizes relative to their mean.
    #[schemars(range(min = 0, max = 1))]
    pub deviation: f64,
    /// Time constant with which the bitrate follows its target.
    #[schemars(range(min = 0, max = 10_000))]
    pub reaction_ms: f64,
    /// Fastest rise of the bitrate, Mbit/s per second; 0: no limit.
    #[schemars(range(min = 0, max = 100_000))]
    pub ramp_mbps_per_s: f64,
    /// A frame is skipped while the oldest unsent one has waited longer than this.
    #[schemars(range(min = 1, max = 100_000))]
    pub skip_queue_ms: f64,
    /// Send a key frame after a packet is lost for good.
    pub key_after_loss: bool,
    /// Lost packets of frames captured longer ago are not sent again (libwebrtc keeps them for a second); 0: always
    /// sent again.
    #[schemars(range(min = 0, max = 100_000))]
    pub resend_within_ms: f64,
    /// Planned pauses of the source: beginning and end, s since its start.
    pub pauses: Vec<(f64, f64)>,
}

impl Default for EncoderSpec {
    /// A camera at 30 frames/s under libwebrtc's default limits for one stream larger than 960x540.
    fn default() -> Self {
        Self {
            fps: 30.0,
            min_rate_mbps: 0.03,
            start_rate_mbps: 0.3,
            max_rate_mbps: 2.5,
            key_interval_s: 0.0,
            key_factor: 4.0,
            deviation: 0.1,
            reaction_ms: 100.0,
            ramp_mbps_per_s: 0.0,
            skip_queue_ms: 400.0,
            key_after_loss: true,
            resend_within_ms: 1000.0,
            pauses: Vec::new(),
        }
    }
}

impl EncoderSpec {
    /// Checks all values.
    ///
    /// # Errors
    /// One line naming the key, the value and what is allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        let check = |name: &str, value: f64, min: f64, max: f64| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(Refusal::of_value(
                    format!("application.{name}"),
                    value,
                    format!("allowed is {min} to {max}"),
                ))
            }
        };
        check("fps", self.fps, 1.0, 1000.0)?;
        check("min_rate_mbps", self.min_rate_mbps, 0.001, 100_000.0)?;
        check("max_rate_mbps", self.max_rate_mbps, self.min_rate_mbps, 100_000.0)?;
        check("start_rate_mbps", self.start_rate_mbps, self.min_rate_mbps, self.max_rate_mbps)?;
        check("key_interval_s", self.key_interval_s, 0.0, 100_000.0)?;
        check("key_factor", self.key_factor, 1.0, 100.0)?;
        check("deviation", self.deviation, 0.0, 1.0)?;
        check("reaction_ms", self.reaction_ms, 0.0, 10_000.0)?;
        check("ramp_mbps_per_s", self.ramp_mbps_per_s, 0.0, 100_000.0)?;
        check("skip_queue_ms", self.skip_queue_ms, 1.0, 100_000.0)?;
        check("resend_within_ms", self.resend_within_ms, 0.0, 100_000.0)?;
        let mut last = 0.0;
        for &(from, to) in &self.pauses {
            check("pauses", from, last, 1e6)?;
            check("pauses", to, from, 1e6)?;
            last = to;
        }
        Ok(())
    }
}

/// Counters of an encoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncoderStats {
    /// Frames written.
    pub frames: u64,
    /// Frames skipped because too much data was waiting.
    pub frames_skipped: u64,
    /// Frames written but dropped before any byte was sent, because the controller limits their waiting time.
    pub frames_dropped: u64,
    /// Key frames among those written.
    pub key_frames: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Frame that was written.
#[derive(Clone, Copy, Debug)]
struct WrittenFrame {
    /// Stream offset behind its last byte.
    end: u64,
    mark: FrameMark,
}

impl WrittenFrame {
    /// Returns the stream offset of the first byte.
    fn begin(&self) -> u64 {
        self.end - u64::from(self.mark.bytes)
    }
}

/// A running encoder.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    spec: EncoderSpec,
    rng: Rng,
    start: Time,
    /// Number of frame times so far.
    ticks: u64,
    /// Number and total duration of the planned pauses so far.
    pauses: usize,
    paused: Span,
    bitrate_bps: f64,
    frames: VecDeque<WrittenFrame>,
    written: u64,
    key_requested: bool,
    last_key: Time,
    last_key_number: u32,
    /// Bytes that key frames took beyond the bitrate.
    debt: f64,
    stats: EncoderStats,
}

impl Encoder {
    pub(crate) fn new(spec: EncoderSpec, start: Time, seed: u64) -> Self {
        let mut encoder = Self {
            rng: Rng::new(seed, "encoder"),
            start,
            ticks: 0,
            pauses: 0,
            paused: Span::ZERO,
            bitrate_bps: spec.start_rate_mbps * 1e6,
            frames: VecDeque::with_capacity(REMEMBERED_FRAMES),
            written: 0,
            key_requested: true,
            last_key: start,
            last_key_number: 0,
            debt: 0.0,
            stats: EncoderStats::default(),
            spec,
        };
        encoder.pass_pauses();
        encoder
    }

    pub(crate) const fn stats(&self) -> &EncoderStats {
        &self.stats
    }

    /// Returns the current bitrate.
    pub(crate) fn bitrate(&self) -> Rate {
        Rate::from_bps_f64(self.bitrate_bps)
    }

    /// Returns the capture time of the next frame.
    pub(crate) fn next_frame_at(&self) -> Time {
        self.start + Span::from_secs_f64(self.ticks as f64 / self.spec.fps)
    }

    /// Returns the stream offset behind the last byte written.
    pub(crate) const fn written(&self) -> u64 {
        self.written
    }

    /// Moves the next frame behind the planned pause that it falls into.
    fn pass_pauses(&mut self) {
        while let Some(&(from, to)) = self.spec.pauses.get(self.pauses) {
            if (self.ticks as f64) < from * self.spec.fps {
                return;
            }
            self.ticks = self.ticks.max((to * self.spec.fps).ceil() as u64);
            self.pauses += 1;
            self.paused += Span::from_secs_f64(to - from);
            // A viewer needs a fresh picture after the pause.
            self.key_requested = true;
        }
    }

    /// Returns the index of the frame that byte `offset` belongs to.
    fn index(&self, offset: u64) -> usize {
        self.frames.partition_point(|frame| frame.end <= offset)
    }

    /// Returns the bytes from `offset` to the end of its frame: packets do not span frames.
    pub(crate) fn left_in_frame(&self, offset: u64) -> u64 {
        self.frames.get(self.index(offset)).map_or(0, |frame| frame.end - offset)
    }

    /// Returns the frame that byte `offset` belongs to; an empty mark if the frame is forgotten.
    pub(crate) fn frame_at(&self, offset: u64) -> FrameMark {
        self.frames.get(self.index(offset)).map_or_else(FrameMark::default, |frame| frame.mark)
    }

    /// Returns the time that the oldest frame with bytes beyond `sent` has waited.
    pub(crate) fn queue_delay(&self, now: Time, sent: u64) -> Span {
        self.frames.get(self.index(sent)).map_or(Span::ZERO, |frame| now - frame.mark.captured_at)
    }

    /// Drops the frames that have waited longer than `limit` and have no bytes among the first `sent` bytes. Later data
    /// move up. Later frames cannot be decoded without a key frame.
    pub(crate) fn drop_frames(&mut self, now: Time, sent: u64, limit: Span) {
        let current = self.index(sent);
        let first = current + usize::from(self.frames.get(current).is_some_and(|frame| frame.begin() < sent));
        let waited_too_long = |frame: &&WrittenFrame| now - frame.mark.captured_at > limit;
        let count = self.frames.iter().skip(first).take_while(waited_too_long).count();
        if count == 0 {
            return;
        }
        let dropped: Vec<FrameMark> =
            self.frames.drain(first..first + count).map(|frame| frame.mark).collect();
        let bytes: u64 = dropped.iter().map(|mark| u64::from(mark.bytes)).sum();
        for frame in self.frames.iter_mut().skip(first) {
            frame.end -= bytes;
        }
        self.written -= bytes;
        self.stats.frames_dropped += count as u64;
        let is_missed = dropped.last().is_some_and(|last| last.number >= self.last_key_number);
        self.key_requested |= self.spec.key_after_loss && is_missed;
    }

    /// Returns true if lost data of the frame at `offset` are still worth sending again at `now`.
    pub(crate) fn is_worth_sending(&self, now: Time, offset: u64) -> bool {
        let limit = ms(self.spec.resend_within_ms);
        limit.is_zero() || now - self.frame_at(offset).captured_at <= limit
    }

    /// Handles the final loss of the packet with byte `offset`. Later frames cannot be decoded without a key frame,
    /// unless one was sent since.
    pub(crate) fn on_loss(&mut self, offset: u64) {
        self.key_requested |=
            self.spec.key_after_loss && self.frame_at(offset).number >= self.last_key_number;
    }

    /// Captures the frame that is due at `now`; `sent` bytes have left so far. Returns `None` if no frame is due or the
    /// frame is skipped.
    pub(crate) fn capture(&mut self, now: Time, sent: u64, target: Option<Rate>) -> Option<Frame> {
        let captured_at = self.next_frame_at();
        if captured_at > now {
            return None;
        }
        self.ticks += 1;
        self.follow(target);
        let frame = self.write(now, captured_at, sent);
        self.pass_pauses();
        frame
    }

    fn write(&mut self, now: Time, captured_at: Time, sent: u64) -> Option<Frame> {
        if self.queue_delay(now, sent) > ms(self.spec.skip_queue_ms) {
            self.stats.frames_skipped += 1;
            return None;
        }
        let key = self.key_is_due(captured_at);
        let bytes = self.size(key);
        self.written += u64::from(bytes);
        self.stats.frames += 1;
        self.stats.key_frames += u64::from(key);
        self.stats.bytes += u64::from(bytes);
        let mark =
            FrameMark { number: self.stats.frames as u32, bytes, key, captured_at, paused: self.paused };
        if key {
            self.last_key_number = mark.number;
        }
        if self.frames.len() == REMEMBERED_FRAMES
            && self.frames.front().is_some_and(|frame| frame.end <= sent)
        {
            self.frames.pop_front();
        }
        self.frames.push_back(WrittenFrame { end: self.written, mark });
        Some(Frame {
            now,
            number: mark.number,
            bytes: u64::from(bytes),
            key,
            queued_bytes: self.written - sent,
            queue_delay: self.queue_delay(now, sent),
        })
    }

    /// Moves the bitrate towards its target, as far as one frame interval allows.
    fn follow(&mut self, target: Option<Rate>) {
        let Some(target) = target else { return };
        let (low, high) = (self.spec.min_rate_mbps * 1e6, self.spec.max_rate_mbps * 1e6);
        let target = (target.bps() as f64).clamp(low, high);
        let interval = 1.0 / self.spec.fps;
        let share = interval / (interval + self.spec.reaction_ms / 1e3);
        let mut step = (target - self.bitrate_bps) * share;
        if self.spec.ramp_mbps_per_s > 0.0 {
            step = step.min(self.spec.ramp_mbps_per_s * 1e6 * interval);
        }
        self.bitrate_bps = (self.bitrate_bps + step).clamp(low, high);
    }

    fn key_is_due(&mut self, now: Time) -> bool {
        let interval = Span::from_secs_f64(self.spec.key_interval_s);
        let since = now - self.last_key;
        let answers = self.key_requested && (self.stats.frames == 0 || since >= KEY_REQUEST_SPACING);
        let due = answers || (!interval.is_zero() && since >= interval);
        if due {
            self.key_requested = false;
            self.last_key = now;
        }
        due
    }

    /// Returns the size of the next frame, bytes.
    fn size(&mut self, key: bool) -> u32 {
        let fair = self.bitrate_bps / 8.0 / self.spec.fps;
        let size = if key {
            self.debt += fair * (self.spec.key_factor - 1.0);
            fair * self.spec.key_factor
        } else {
            let repaid = self.debt.min(fair * REPAYMENT);
            self.debt -= repaid;
            fair - repaid
        };
        let random_size = self.rng.normal(size, size * self.spec.deviation);
        random_size.max(fair * SMALLEST_SHARE).max(1.0).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn encoder(change: impl FnOnce(&mut EncoderSpec)) -> Encoder {
        let mut spec = EncoderSpec { deviation: 0.0, reaction_ms: 0.0, ..EncoderSpec::default() };
        change(&mut spec);
        spec.validate().unwrap();
        Encoder::new(spec, at(0), 1)
    }

    /// Captures all frames up to `until`; everything is sent at once.
    fn run(encoder: &mut Encoder, until: Time, target: Option<Rate>) -> Vec<Frame> {
        let mut frames = Vec::new();
        while encoder.next_frame_at() <= until {
            let now = encoder.next_frame_at();
            frames.extend(encoder.capture(now, encoder.written(), target));
        }
        frames
    }

    #[test]
    fn bytes_follow_the_target_within_its_limits() {
        for (target, rate) in [(1.0, 1.0), (0.001, 0.03), (50.0, 2.5)] {
            let mut encoder = encoder(|spec| spec.key_factor = 1.0);
            run(&mut encoder, at(9_999), Some(Rate::from_mbps(target)));
            let mean_mbps = encoder.written() as f64 * 8.0 / 10e6;
            assert!((mean_mbps / rate - 1.0).abs() < 0.01, "target {target}: {mean_mbps} Mbit/s");
        }
    }

    #[test]
    fn key_frames_do_not_change_the_mean_bitrate() {
        let mut encoder = encoder(|spec| (spec.key_interval_s, spec.key_factor) = (2.0, 6.0));
        let frames = run(&mut encoder, at(59_999), Some(Rate::from_mbps(2.0)));
        assert_eq!(frames.iter().filter(|frame| frame.key).count(), 30);
        let mbps = encoder.written() as f64 * 8.0 / 60e6;
        assert!((mbps / 2.0 - 1.0).abs() < 0.01, "{mbps}");
    }

    #[test]
    fn the_bitrate_rises_no_faster_than_the_ramp() {
        let mut encoder = encoder(|spec| spec.ramp_mbps_per_s = 0.1);
        run(&mut encoder, at(10_000), Some(Rate::from_mbps(2.5)));
        assert!((encoder.bitrate().mbps() - 1.3).abs() < 0.02, "{:?}", encoder.bitrate());
        run(&mut encoder, at(10_100), Some(Rate::from_mbps(0.5)));
        assert!((encoder.bitrate().mbps() - 0.5).abs() < 0.01, "down at once: {:?}", encoder.bitrate());
    }

    #[test]
    fn frames_are_skipped_while_too_much_waits() {
        let mut encoder = encoder(|spec| (spec.fps, spec.skip_queue_ms) = (10.0, 250.0));
        let captured: Vec<bool> =
            (0..6).map(|tick| encoder.capture(at(tick * 100), 0, None).is_some()).collect();
        assert_eq!(captured, [true, true, true, false, false, false]);
        assert_eq!((encoder.stats().frames, encoder.stats().frames_skipped), (3, 3));
        let sent = encoder.written();
        assert!(encoder.capture(at(600), sent, None).is_some());
    }

    #[test]
    fn packets_end_with_their_frame_and_know_it() {
        let mut encoder = encoder(|_| {});
        let first = encoder.capture(at(0), 0, None).unwrap().bytes;
        let second = encoder.capture(at(40), 0, None).unwrap();
        assert_eq!((second.queued_bytes, second.queue_delay), (first + second.bytes, Span::from_ms(40)));
        assert_eq!(encoder.left_in_frame(first - 10), 10);
        assert_eq!(encoder.left_in_frame(first), second.bytes);
        assert_eq!(encoder.left_in_frame(first + second.bytes), 0);
        let (one, two) = (encoder.frame_at(first - 1), encoder.frame_at(first));
        assert_eq!((one.number, one.key, two.number, two.key), (1, true, 2, false));
        assert_eq!(encoder.frame_at(first + second.bytes), FrameMark::default());
    }

    #[test]
    fn a_loss_is_answered_by_one_key_frame() {
        let mut encoder = encoder(|_| {});
        run(&mut encoder, at(500), None);
        let before = encoder.written();
        encoder.on_loss(before - 1);
        let frames = run(&mut encoder, at(570), None);
        assert_eq!(frames.iter().map(|frame| frame.key).collect::<Vec<_>>(), [true, false]);
        encoder.on_loss(before - 1);
        assert!(run(&mut encoder, at(2000), None).iter().all(|frame| !frame.key), "a key frame came since");
    }

    #[test]
    fn a_lost_key_frame_is_answered_as_soon_as_may_be() {
        let mut encoder = encoder(|_| {});
        run(&mut encoder, at(0), None);
        encoder.on_loss(0);
        let key = run(&mut encoder, at(1000), None).iter().position(|frame| frame.key);
        // The frame at 33 ms is the first of these; the frame 300 ms after the first key frame is the ninth.
        assert_eq!(key, Some(8));
    }

    #[test]
    fn frames_of_long_ago_are_not_worth_sending() {
        let mut encoder = encoder(|_| {});
        run(&mut encoder, at(0), None);
        assert!(encoder.is_worth_sending(at(1000), 0));
        assert!(!encoder.is_worth_sending(at(1001), 0));
    }

    #[test]
    fn a_planned_pause_has_no_frames_and_ends_with_a_key_frame() {
        let mut encoder = encoder(|spec| (spec.fps, spec.pauses) = (10.0, vec![(0.25, 1.0), (2.0, 2.5)]));
        let mut times = Vec::new();
        let mut keys = Vec::new();
        while encoder.next_frame_at() < at(3000) {
            let now = encoder.next_frame_at();
            let frame = encoder.capture(now, encoder.written(), None).unwrap();
            times.push(now.as_ns() / 1_000_000);
            keys.extend(frame.key.then_some(now.as_ns() / 1_000_000));
        }
        let expected = [0, 100, 200].into_iter().chain((10..20).chain(25..30).map(|tick| tick * 100));
        assert_eq!(times, expected.collect::<Vec<_>>());
        assert_eq!(keys, [0, 1000, 2500]);
        assert_eq!(encoder.frame_at(encoder.written() - 1).paused, Span::from_ms(1250));
    }

    #[test]
    fn bad_values_are_refused_by_name() {
        let spec = EncoderSpec { pauses: vec![(40.0, 60.0), (50.0, 70.0)], ..EncoderSpec::default() };
        assert_eq!(
            spec.validate().unwrap_err().to_string(),
            "application.pauses = 50: allowed is 60 to 1000000"
        );
        let spec = EncoderSpec { max_rate_mbps: 0.01, ..EncoderSpec::default() };
        assert_eq!(
            spec.validate().unwrap_err().to_string(),
            "application.max_rate_mbps = 0.01: allowed is 0.03 to 100000"
        );
        let spec = EncoderSpec { fps: f64::NAN, ..EncoderSpec::default() };
        assert!(spec.validate().unwrap_err().to_string().starts_with("application.fps = NaN"));
    }
}
