//! Statistics of a live source.

use super::definition::Better::{Less, More, Neutral};
use super::definition::Convention::{Corrected, Counter};
use super::definition::OneWay::Data;
use super::row::{metric, statistics};
use super::sources::OWN;
use crate::meters::{KnownMedia, us_to_ms};

const RFC8868: &str = "after RFC 8868 (evaluation of interactive media)";
const FREEZE: &str = "W3C webrtc-stats, freezeCount and totalFreezesDuration";

statistics! {
    /// Statistics of a live source's flow.
    MediaStats, "media.", of KnownMedia {
        media_rate_mbps: Option<f64> = metric("Mbit/s", More, Corrected,
            "bits of decoded frames / (min(stop, end) - max(start, warm-up) - planned pauses in between), decoded in \
             that time; a frame is decoded when it is complete and so is every frame it depends on, back to a key frame",
            RFC8868)
            => KnownMedia::rate_mbps;
        media_utilization: Option<f64> = metric("", More, Corrected,
            "media_rate_mbps / min(the source's highest bitrate, mean capacity of the narrowest link of the \
             direction / number of flows in that direction)",
            RFC8868)
            => |media| media.rate_mbps().filter(|_| media.could_mbps > 0.0).map(|rate| rate / media.could_mbps);
        frame_delay_p50_ms: Option<f64> = metric("ms", Less, Corrected,
            "median of the times from capture to decoding", RFC8868).across(Data)
            => |media| media.delay.map(|delay| us_to_ms(delay.p50_us));
        frame_delay_p95_ms: Option<f64> = metric("ms", Less, Corrected, "95th percentile of the same times", RFC8868)
            .across(Data) => |media| media.delay.map(|delay| us_to_ms(delay.p95_us));
        frame_delay_p99_ms: Option<f64> = metric("ms", Less, Corrected, "99th percentile of the same times", RFC8868)
            .across(Data) => |media| media.delay.map(|delay| us_to_ms(delay.p99_us));
        stalls: u64 = metric("", Less, Corrected,
            "intervals between decoded frames, less planned pauses, of at least max(3 a, a + 150 ms), a = mean of the \
             (up to) 30 before, that end from max(start, warm-up) to min(stop, end); the time from the last frame to \
             the end is one too, and without any frame all of the time",
            FREEZE)
            => |media| media.stalls;
        stall_time_s: f64 = metric("s", Less, Corrected, "sum of the intervals of stalls", FREEZE)
            => |media| media.stalled.as_secs_f64();
        stall_ratio: Option<f64> = metric("", Less, Corrected, "stall_time_s / the time of media_rate_mbps", FREEZE)
            => |media| (!media.active.is_zero()).then(|| media.stalled.as_secs_f64() / media.active.as_secs_f64());
        frames_written: u64 = metric("frames", Neutral, Counter, "frames the encoder wrote", OWN)
            => |media| media.frames;
        frames_skipped: u64 = metric("frames", Less, Counter,
            "frames the encoder skipped because too much was waiting", OWN) => |media| media.frames_skipped;
        frames_decoded: u64 = metric("frames", More, Counter, "frames that could be decoded", OWN)
            => |media| media.decoded;
    }
}
