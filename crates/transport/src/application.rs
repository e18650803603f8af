//! Applications behind a flow: the data to send, and their times.

use crate::config::ms;
use crate::encoder::{Encoder, EncoderSpec, EncoderStats};
use crate::wire::FrameMark;
use congestion::Frame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strict_input::Refusal;
use units::{Rate, Rng, Span, Time};

/// An application as written in an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ApplicationSpec {
    /// Always has data.
    #[default]
    Greedy,
    /// A transfer of a fixed size.
    Fixed {
        /// Size of the transfer.
        #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64))]
        bytes: u64,
    },
    /// A constant bit rate, one packet at a time.
    Constant {
        /// Payload rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1_000_000))]
        rate_mbps: f64,
        /// Total bytes; 0: no end.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64))]
        bytes: u64,
    },
    /// Packets at exponentially distributed distances.
    Poisson {
        /// Mean payload rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1_000_000))]
        rate_mbps: f64,
        /// Total bytes; 0: no end.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64))]
        bytes: u64,
        /// Payload of a packet; 0: a full one.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64))]
        packet_bytes: u64,
    },
    /// Files of uniformly distributed sizes, one after the other, with exponentially distributed pauses between the
    /// last byte of one leaving and the next (RFC 8867 5.7).
    Files {
        /// Smallest file.
        #[schemars(range(min = 1))]
        least_bytes: u64,
        /// Largest file.
        #[schemars(range(min = 1, max = 1_000_000_000_000_000_u64))]
        most_bytes: u64,
        /// Mean pause.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1_000_000_000))]
        idle_ms: f64,
        /// Begin with a pause, not with a file.
        #[serde(default)]
        idle_first: bool,
    },
    /// Greedy phases in turn with silent or low-rate phases; durations are fixed or exponential.
    OnOff {
        /// (Mean) length of the greedy phases.
        #[schemars(range(min = 0.001, max = 1_000_000_000))]
        on_ms: f64,
        /// (Mean) length of the silent or low-rate phases.
        #[schemars(range(min = 0.001, max = 1_000_000_000))]
        off_ms: f64,
        /// Payload rate of the low-rate phases, one packet at a time; 0: silent.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1_000_000))]
        off_mbps: f64,
        /// Draw both lengths from exponential distributions.
        #[serde(default)]
        exponential: bool,
        /// Begin with a silent or low-rate phase, not with a greedy one.
        #[serde(default)]
        off_first: bool,
        /// Each greedy phase is a new flow: packets in flight are forgotten, and the controller restarts.
        #[serde(default)]
        anew: bool,
    },
    /// Writes of given sizes at given times.
    Trace {
        /// Time since the flow's start, ms, and bytes written; in time order.
        writes: Vec<(f64, u64)>,
    },
    /// A live video encoder that follows the controller's rate.
    Encoder(EncoderSpec),
}

/// Maximum rate at which an application writes, Mbit/s.
const HIGHEST_MBPS: f64 = 1e6;
/// Maximum number of bytes that an application writes.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// Shortest phase of an on-off application, and longest time that any application names, ms.
const PHASE_MS: f64 = 1e-3;
const LONGEST_MS: f64 = 1e9;

impl ApplicationSpec {
    /// Checks all values.
    ///
    /// # Errors
    /// One line naming the key, the value and what is allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        let above = |name: &str, value: f64, bound: f64| {
            if value > bound && value.is_finite() {
                Ok(())
            } else {
                Err(Refusal::of_value(format!("application.{name}"), value, format!("must be above {bound}")))
            }
        };
        let within = |name: &str, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(Refusal::of_value(
                    format!("application.{name}"),
                    value,
                    format!("allowed is {least} to {most}"),
                ))
            }
        };
        let most_bytes = |name: &str, bytes: u64| within(name, bytes as f64, 0.0, MOST_BYTES as f64);
        match self {
            Self::Greedy => Ok(()),
            Self::Fixed { bytes } => {
                above("bytes", *bytes as f64, 0.0)?;
                most_bytes("bytes", *bytes)
            }
            Self::Constant { rate_mbps, bytes } | Self::Poisson { rate_mbps, bytes, .. } => {
                above("rate_mbps", *rate_mbps, 0.0)?;
                within("rate_mbps", *rate_mbps, 0.0, HIGHEST_MBPS)?;
                most_bytes("bytes", *bytes)?;
                match self {
                    Self::Poisson { packet_bytes, .. } => most_bytes("packet_bytes", *packet_bytes),
                    _ => Ok(()),
                }
            }
            Self::Files { least_bytes, most_bytes: most_file, idle_ms, .. } => {
                above("least_bytes", *least_bytes as f64, 0.0)?;
                if most_file < least_bytes {
                    return Err(Refusal::of_value(
                        "application.most_bytes",
                        most_file,
                        format!("must be at least least_bytes = {least_bytes}"),
                    ));
                }
                most_bytes("most_bytes", *most_file)?;
                above("idle_ms", *idle_ms, 0.0)?;
                within("idle_ms", *idle_ms, 0.0, LONGEST_MS)
            }
            Self::OnOff { on_ms, off_ms, off_mbps, .. } => {
                within("on_ms", *on_ms, PHASE_MS, LONGEST_MS)?;
                within("off_ms", *off_ms, PHASE_MS, LONGEST_MS)?;
                within("off_mbps", *off_mbps, 0.0, HIGHEST_MBPS)
            }
            Self::Trace { writes } => {
                if writes.is_empty() {
                    return Err(Refusal::of_key("application.writes", "must not be empty"));
                }
                if writes.windows(2).any(|pair| pair[1].0 < pair[0].0) || writes[0].0 < 0.0 {
                    return Err(Refusal::of_key(
                        "application.writes",
                        "times must not be negative or decrease",
                    ));
                }
                within("writes: last time", writes[writes.len() - 1].0, 0.0, LONGEST_MS)?;
                let bytes = writes.iter().fold(0u64, |sum, write| sum.saturating_add(write.1));
                most_bytes("writes: sum of bytes", bytes)
            }
            Self::Encoder(spec) => spec.validate(),
        }
    }

    /// Returns the packets written per second, if the application writes at fixed or random times; `payload_bytes` is a
    /// full packet's payload.
    pub fn packets_per_s(&self, payload_bytes: u32) -> Option<f64> {
        let (rate_mbps, bytes) = match self {
            Self::Poisson { rate_mbps, packet_bytes: bytes @ 1.., .. } => (rate_mbps, *bytes as f64),
            Self::Constant { rate_mbps, .. } | Self::Poisson { rate_mbps, .. } => {
                (rate_mbps, f64::from(payload_bytes))
            }
            _ => return None,
        };
        Some(rate_mbps * 1e6 / 8.0 / bytes)
    }

    /// Returns the total number of bytes, if the application ends.
    pub fn total(&self) -> Option<u64> {
        match self {
            Self::Fixed { bytes } => Some(*bytes),
            Self::Constant { bytes, .. } | Self::Poisson { bytes, .. } => (*bytes > 0).then_some(*bytes),
            Self::Trace { writes } => Some(writes.iter().map(|write| write.1).sum()),
            _ => None,
        }
    }
}

/// Running application; counts the bytes it has written so far.
#[derive(Clone, Debug)]
pub struct Application {
    spec: ApplicationSpec,
    rng: Rng,
    start: Time,
    /// Bytes written up to now; `u64::MAX` while greedy.
    written: u64,
    /// Total bytes that the socket takes, as known so far; `None` if the socket takes only bytes that are sent at once.
    room: Option<u64>,
    /// Time of the next change of the amount.
    next_change: Time,
    /// Index of the next write, frame or phase.
    step: u64,
    /// End of the current phase.
    phase_ends: Time,
    payload_bytes: u32,
    /// True if a new flow has begun that [`begins_anew`](Self::begins_anew) has not reported.
    anew: bool,
    encoder: Option<Box<Encoder>>,
}

impl Application {
    /// Returns an application that starts at `start`; `payload_bytes` is a full packet's payload.
    pub fn new(spec: ApplicationSpec, start: Time, payload_bytes: u32, seed: u64) -> Self {
        let rng = Rng::new(seed, "application");
        let encoder = match &spec {
            ApplicationSpec::Encoder(spec) => Some(Box::new(Encoder::new(spec.clone(), start, seed))),
            _ => None,
        };
        let mut application = Self {
            spec,
            rng,
            start,
            written: 0,
            room: None,
            next_change: start,
            step: 0,
            phase_ends: start,
            payload_bytes,
            anew: false,
            encoder,
        };
        match &application.spec {
            ApplicationSpec::Greedy => {
                (application.written, application.next_change) = (u64::MAX, Time::NEVER);
            }
            ApplicationSpec::Fixed { bytes } => {
                (application.written, application.next_change) = (*bytes, Time::NEVER);
            }
            ApplicationSpec::Poisson { .. } | ApplicationSpec::Files { idle_first: true, .. } => {
                application.next_change = start + application.gap();
            }
            ApplicationSpec::Trace { writes } => {
                application.next_change = writes.first().map_or(Time::NEVER, |write| start + ms(write.0));
            }
            _ => {}
        }
        application
    }

    /// Returns the bytes that may be sent now beyond the first `sent` ones; at most one frame of a live source.
    #[inline]
    pub fn available(&mut self, now: Time, sent: u64) -> u64 {
        if let Some(encoder) = &self.encoder {
            return encoder.left_in_frame(sent);
        }
        if self.next_change <= now || matches!(self.spec, ApplicationSpec::Files { .. }) {
            self.catch_up(now, sent);
        }
        self.written.min(self.room.unwrap_or(u64::MAX)).saturating_sub(sent)
    }

    /// Writes the data due at `now`, when `sent` bytes have left.
    #[inline(never)]
    fn catch_up(&mut self, now: Time, sent: u64) {
        while self.next_change <= now {
            self.advance(sent);
        }
        if matches!(self.spec, ApplicationSpec::Files { .. })
            && self.written <= sent
            && !self.next_change.is_finite()
        {
            self.next_change = now + self.gap();
        }
    }

    /// Returns true if a new flow has begun after the first `sent` bytes; reports each beginning once.
    pub fn begins_anew(&mut self, now: Time, sent: u64) -> bool {
        if matches!(self.spec, ApplicationSpec::OnOff { anew: true, .. }) {
            self.available(now, sent);
        }
        core::mem::take(&mut self.anew)
    }

    /// Returns true if [`begins_anew`](Self::begins_anew) has a beginning to report.
    pub const fn awaits_beginning(&self) -> bool {
        self.anew
    }

    /// Tells the application that the socket has room for the first `bytes` bytes.
    pub fn make_room(&mut self, bytes: u64) {
        self.room = self.room.max(Some(bytes));
    }

    /// Returns the total bytes that the socket takes, as known so far; `None` if the socket takes only bytes that are
    /// sent at once.
    pub const fn room(&self) -> Option<u64> {
        self.room
    }

    /// Returns the bytes written to the socket so far, of which `sent` have left.
    pub fn accepted(&self, sent: u64) -> u64 {
        self.room.map_or(sent, |room| self.written.min(room).max(sent))
    }

    /// Returns the time at which more may become available; [`Time::NEVER`] for never.
    pub fn next_change(&self) -> Time {
        self.encoder.as_ref().map_or(self.next_change, |encoder| encoder.next_frame_at())
    }

    /// Returns true for a live source: its frames come at their times, whether or not they may be sent.
    pub const fn is_live(&self) -> bool {
        self.encoder.is_some()
    }

    /// Captures the frame of a live source that is due at `now`, at the bitrate `target`; `sent` bytes have left so
    /// far. Returns `None` if no frame was written.
    pub fn capture(&mut self, now: Time, sent: u64, target: Option<Rate>) -> Option<Frame> {
        self.encoder.as_mut()?.capture(now, sent, target)
    }

    /// Handles the final loss of the packet with byte `offset`.
    pub fn on_loss(&mut self, offset: u64) {
        if let Some(encoder) = &mut self.encoder {
            encoder.on_loss(offset);
        }
    }

    /// Returns true if lost data at `offset` are still worth sending again: a live source gives up on old data.
    pub fn is_worth_sending(&self, now: Time, offset: u64) -> bool {
        self.encoder.as_ref().is_none_or(|encoder| encoder.is_worth_sending(now, offset))
    }

    /// Drops the frames of a live source that have waited longer than `limit` and have no bytes among the first `sent`
    /// bytes.
    pub fn drop_frames(&mut self, now: Time, sent: u64, limit: Span) {
        if let Some(encoder) = &mut self.encoder {
            encoder.drop_frames(now, sent, limit);
        }
    }

    /// Returns the bytes from `offset` to the end of its frame; 0 for applications other than live sources.
    pub fn left_in_frame(&self, offset: u64) -> u64 {
        self.encoder.as_ref().map_or(0, |encoder| encoder.left_in_frame(offset))
    }

    /// Returns the frame that byte `offset` belongs to.
    pub fn frame_at(&self, offset: u64) -> FrameMark {
        self.encoder.as_ref().map_or_else(FrameMark::default, |encoder| encoder.frame_at(offset))
    }

    /// Returns the bytes written beyond the first `sent` ones; `u64::MAX` if there is always more.
    pub fn queued_bytes(&self, sent: u64) -> u64 {
        match &self.encoder {
            Some(encoder) => encoder.written() - sent,
            None if self.written == u64::MAX => u64::MAX,
            None => self.written.saturating_sub(sent),
        }
    }

    /// Returns the time that the oldest unsent frame of a live source has waited.
    pub fn queue_delay(&self, now: Time, sent: u64) -> Span {
        self.encoder.as_ref().map_or(Span::ZERO, |encoder| encoder.queue_delay(now, sent))
    }

    /// Returns the current bitrate of a live source.
    pub fn bitrate(&self) -> Option<Rate> {
        self.encoder.as_ref().map(|encoder| encoder.bitrate())
    }

    /// Returns the counters of a live source.
    pub fn encoder_stats(&self) -> Option<EncoderStats> {
        self.encoder.as_ref().map(|encoder| *encoder.stats())
    }

    /// Returns the total number of bytes, if the application ends.
    pub fn total(&self) -> Option<u64> {
        self.spec.total()
    }

    /// Returns the time to the next packet or file.
    fn gap(&mut self) -> Span {
        let mean = match &self.spec {
            ApplicationSpec::Poisson { rate_mbps, packet_bytes, .. } => {
                Rate::from_mbps(*rate_mbps).time_for(self.packet_bytes(*packet_bytes))
            }
            ApplicationSpec::Files { idle_ms, .. } => ms(*idle_ms),
            _ => return Span::ZERO,
        };
        self.rng.exponential_span(mean).max(Span::from_ns(1))
    }

    /// Returns the payload of a packet for the experiment's value `given`.
    fn packet_bytes(&self, given: u64) -> u64 {
        if given > 0 { given } else { u64::from(self.payload_bytes) }
    }

    /// Writes a packet of `bytes`, or the rest of `total` (0: no end); returns true if more follows.
    const fn write(&mut self, bytes: u64, total: u64) -> bool {
        self.written += bytes;
        if total > 0 && self.written >= total {
            self.written = total;
            return false;
        }
        true
    }

    /// Makes one change: the write, frame, packet or phase that is due at `next_change`.
    fn advance(&mut self, sent: u64) {
        let due = self.next_change;
        match &self.spec {
            ApplicationSpec::Greedy | ApplicationSpec::Fixed { .. } => self.next_change = Time::NEVER,
            ApplicationSpec::Constant { rate_mbps, bytes } => {
                let (rate, total) = (Rate::from_mbps(*rate_mbps), *bytes);
                let more = self.write(u64::from(self.payload_bytes), total);
                self.step += 1;
                let next = self.start + rate.time_for(self.step * u64::from(self.payload_bytes));
                self.next_change = if more { next } else { Time::NEVER };
            }
            ApplicationSpec::Poisson { bytes, packet_bytes, .. } => {
                let (total, packet) = (*bytes, self.packet_bytes(*packet_bytes));
                let more = self.write(packet, total);
                self.next_change = if more { due + self.gap() } else { Time::NEVER };
            }
            ApplicationSpec::Files { least_bytes, most_bytes, .. } => {
                self.written = sent + least_bytes + self.rng.below(most_bytes - least_bytes + 1);
                // The next file waits until this file has left.
                self.next_change = Time::NEVER;
            }
            ApplicationSpec::OnOff { on_ms, off_ms, off_mbps, exponential, off_first, anew } => {
                let begins = due >= self.phase_ends;
                let on = (self.step + u64::from(!begins)).is_multiple_of(2) != *off_first;
                let gap = (!on && *off_mbps > 0.0)
                    .then(|| Rate::from_mbps(*off_mbps).time_for(u64::from(self.payload_bytes)));
                if begins {
                    self.anew |= on && *anew;
                    let mean = ms(if on { *on_ms } else { *off_ms });
                    // At the end of a greedy phase, data that the socket did not take are dropped.
                    self.written = if on { u64::MAX } else { self.accepted(sent) };
                    let length = if *exponential { self.rng.exponential_span(mean) } else { mean };
                    self.phase_ends = due + length.max(Span::from_ns(1));
                    self.step += 1;
                }
                self.next_change = self.phase_ends;
                if let Some(gap) = gap {
                    self.written += u64::from(self.payload_bytes);
                    self.next_change = self.phase_ends.min(due + gap);
                }
            }
            ApplicationSpec::Trace { writes } => {
                self.written += writes[self.step as usize].1;
                self.step += 1;
                let next = writes.get(self.step as usize);
                self.next_change = next.map_or(Time::NEVER, |write| self.start + ms(write.0));
            }
            // Frames are requested together with their rate.
            ApplicationSpec::Encoder(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn a_trace_becomes_available_write_by_write() {
        let spec = ApplicationSpec::Trace { writes: vec![(0.0, 100), (20.0, 50)] };
        let mut application = Application::new(spec, at(5), 1000, 1);
        assert_eq!(application.available(at(5), 0), 100);
        assert_eq!(application.next_change(), at(25));
        assert_eq!(application.available(at(24), 100), 0);
        assert_eq!(application.available(at(25), 100), 50);
        assert_eq!((application.next_change(), application.total()), (Time::NEVER, Some(150)));
    }

    #[test]
    fn constant_rate_is_exact_over_a_second() {
        let mut application =
            Application::new(ApplicationSpec::Constant { rate_mbps: 8.0, bytes: 0 }, at(0), 1000, 1);
        // 8 Mbit/s are 1000 packets of 1000 B per second; the one at t = 0 comes on top.
        assert_eq!(application.available(at(1000), 0), 1_001_000);
    }

    #[test]
    fn a_limit_ends_constant_and_poisson_traffic_in_the_middle_of_a_packet() {
        for spec in [
            ApplicationSpec::Constant { rate_mbps: 8.0, bytes: 10_500 },
            ApplicationSpec::Poisson { rate_mbps: 8.0, bytes: 10_500, packet_bytes: 0 },
        ] {
            let mut application = Application::new(spec, at(0), 1000, 1);
            assert_eq!(application.available(at(1000), 0), 10_500);
            assert_eq!((application.next_change(), application.total()), (Time::NEVER, Some(10_500)));
        }
    }

    #[test]
    fn poisson_packets_have_exponential_gaps_of_the_given_rate() {
        let spec = ApplicationSpec::Poisson { rate_mbps: 8.0, bytes: 0, packet_bytes: 500 };
        let mut application = Application::new(spec, at(0), 1000, 7);
        let (mut sent, mut last, mut gaps) = (0, at(0), Vec::new());
        while gaps.len() < 20_000 {
            let now = application.next_change();
            assert_eq!(application.available(now, sent), 500);
            sent += 500;
            gaps.push((now - last).as_ms_f64());
            last = now;
        }
        // 500 B at 8 Mbit/s: every 0.5 ms on average. In an exponential distribution 1/e of the gaps, 0.368, are
        // longer.
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let longer = gaps.iter().filter(|gap| **gap > 0.5).count() as f64 / gaps.len() as f64;
        assert!((mean / 0.5 - 1.0).abs() < 0.03 && (longer / 0.368 - 1.0).abs() < 0.03);
    }

    #[test]
    fn a_file_waits_until_the_one_before_has_left_and_a_pause() {
        let spec =
            ApplicationSpec::Files { least_bytes: 1000, most_bytes: 3000, idle_ms: 50.0, idle_first: false };
        let mut application = Application::new(spec, at(0), 1000, 3);
        let (mut sent, mut sizes, mut pauses) = (0, Vec::new(), Vec::new());
        let mut now = at(0);
        for _ in 0..2000 {
            let size = application.available(now, sent);
            assert!((1000..=3000).contains(&size));
            assert_eq!(application.next_change(), Time::NEVER, "the file has not left yet");
            sizes.push(size as f64);
            sent += size;
            now += Span::from_ms(20);
            assert_eq!(application.available(now, sent), 0);
            pauses.push((application.next_change() - now).as_ms_f64());
            now = application.next_change();
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&sizes) / 2000.0 - 1.0).abs() < 0.03 && (mean(&pauses) / 50.0 - 1.0).abs() < 0.06);
    }

    #[test]
    fn on_off_alternates_and_forgets_what_was_not_sent() {
        let spec = ApplicationSpec::OnOff {
            on_ms: 10.0,
            off_ms: 30.0,
            off_mbps: 0.0,
            exponential: false,
            off_first: false,
            anew: false,
        };
        let mut application = Application::new(spec, at(0), 1000, 1);
        assert!(application.available(at(9), 0) > 1_000_000);
        assert_eq!(application.available(at(10), 7000), 0);
        assert_eq!(application.next_change(), at(40));
        assert!(application.available(at(40), 7000) > 1_000_000);
    }

    #[test]
    fn a_phase_at_a_low_rate_writes_packet_by_packet_until_the_greedy_one() {
        let spec = ApplicationSpec::OnOff {
            on_ms: 10.0,
            off_ms: 30.0,
            off_mbps: 0.8,
            exponential: false,
            off_first: true,
            anew: false,
        };
        let mut application = Application::new(spec, at(0), 1000, 1);
        // 0.8 Mbit/s are a packet of 1000 B every 10 ms; the first one comes at once.
        let bytes = [0, 9, 10, 29].map(|ms| application.available(at(ms), 0));
        assert_eq!(bytes, [1000, 1000, 2000, 3000]);
        assert_eq!(application.available(at(30), 3000), u64::MAX - 3000);
        assert_eq!(application.available(at(39), 500_000), u64::MAX - 500_000);
        assert_eq!([40, 55].map(|ms| application.available(at(ms), 500_000)), [1000, 2000]);
    }

    #[test]
    fn each_greedy_phase_can_be_a_flow_of_its_own_and_the_first_one_may_be_late() {
        let spec = ApplicationSpec::OnOff {
            on_ms: 10.0,
            off_ms: 30.0,
            off_mbps: 0.0,
            exponential: false,
            off_first: true,
            anew: true,
        };
        let mut application = Application::new(spec, at(0), 1000, 1);
        let mut begins = |ms| application.begins_anew(at(ms), 0);
        assert_eq!(
            [0, 29, 30, 31, 40, 69, 70, 71].map(&mut begins),
            [0, 0, 1, 0, 0, 0, 1, 0].map(|one| one == 1)
        );
        // A caller that did not ask meanwhile gets the report later.
        assert_eq!(application.available(at(115), 0), u64::MAX);
        assert!(application.awaits_beginning());
        assert!(application.begins_anew(at(125), 0) && !application.begins_anew(at(125), 0));
    }

    #[test]
    fn a_socket_with_room_takes_more_than_is_sent() {
        let mut application = Application::new(ApplicationSpec::Greedy, at(0), 1000, 1);
        assert_eq!(application.accepted(3000), 3000);
        application.make_room(5000);
        assert_eq!((application.available(at(1), 3000), application.accepted(3000)), (2000, 5000));
        application.make_room(4000);
        assert_eq!(application.available(at(2), 5000), 0);
        let mut application = Application::new(ApplicationSpec::Fixed { bytes: 4000 }, at(0), 1000, 1);
        application.make_room(5000);
        assert_eq!((application.available(at(1), 3000), application.accepted(3000)), (1000, 4000));
    }

    #[test]
    fn a_silent_phase_sends_what_the_socket_has_taken() {
        let spec = ApplicationSpec::OnOff {
            on_ms: 10.0,
            off_ms: 30.0,
            off_mbps: 0.0,
            exponential: false,
            off_first: false,
            anew: false,
        };
        let mut application = Application::new(spec, at(0), 1000, 1);
        application.make_room(9000);
        assert_eq!(application.available(at(9), 7000), 2000);
        assert_eq!((application.available(at(10), 7000), application.accepted(7000)), (2000, 9000));
        application.make_room(12_000);
        assert_eq!(application.available(at(20), 9000), 0);
    }

    #[test]
    fn bad_values_are_refused_by_name() {
        let refusal = ApplicationSpec::Fixed { bytes: 0 }.validate().unwrap_err().to_string();
        assert_eq!(refusal, "application.bytes = 0: must be above 0");
        assert!(ApplicationSpec::Constant { rate_mbps: f64::NAN, bytes: 0 }.validate().is_err());
        for (spec, expected) in [
            (
                ApplicationSpec::Constant { rate_mbps: 2e6, bytes: 0 },
                "rate_mbps = 2000000: allowed is 0 to 1000000",
            ),
            (
                ApplicationSpec::Fixed { bytes: u64::MAX },
                "bytes = 18446744073709552000: allowed is 0 to 1000000000000000",
            ),
            (
                ApplicationSpec::OnOff {
                    on_ms: 1e-9,
                    off_ms: 1.0,
                    off_mbps: 0.0,
                    exponential: false,
                    off_first: false,
                    anew: false,
                },
                "on_ms = 0.000000001: allowed is 0.001 to 1000000000",
            ),
            (
                ApplicationSpec::Trace { writes: vec![(0.0, u64::MAX), (1.0, 9)] },
                "writes: sum of bytes = 18446744073709552000",
            ),
            (ApplicationSpec::Trace { writes: vec![(1e300, 1)] }, "writes: last time = 1"),
        ] {
            let refusal = spec.validate().unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("application.{expected}")), "{refusal}");
        }
        assert!(ApplicationSpec::Trace { writes: vec![(5.0, 1), (1.0, 1)] }.validate().is_err());
    }
}
