//! The live encoder: dumbbell's, its frames as payloads of RTP packets.

use std::collections::VecDeque;
use transport::{Application, ApplicationSpec, EncoderSpec};
use units::{Rate, Time};

/// As the scheme `gcc` fills its packets; the same for the end of a frame, which is a shorter packet.
const PAYLOAD_BYTES: u64 = 1200;
/// RTP clock of video.
const RTP_HZ: f64 = 90_000.0;

/// A packet to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediaPacket {
    pub(crate) number: u64,
    pub(crate) rtp_time: u32,
    pub(crate) payload_bytes: usize,
    /// The last one of its frame.
    pub(crate) ends_frame: bool,
}

/// A camera and what of it waits to be sent.
pub(crate) struct Camera {
    application: Application,
    start: Time,
    packets: u64,
    /// Payload bytes sent, and of packets not yet sent.
    sent: u64,
    unsent: VecDeque<u64>,
}

impl Camera {
    pub(crate) fn new(spec: EncoderSpec, start: Time, seed: u64) -> Self {
        let spec = ApplicationSpec::Encoder(spec);
        let application = Application::new(spec, start, PAYLOAD_BYTES as u32, seed);
        Self { application, start, packets: 0, sent: 0, unsent: VecDeque::new() }
    }

    pub(crate) const fn start(&self) -> Time {
        self.start
    }

    pub(crate) fn next_frame_at(&self) -> Time {
        self.application.next_change()
    }

    /// The packets of the frame that is due at `now`; none if it is skipped.
    pub(crate) fn capture(&mut self, now: Time, target: Option<Rate>) -> Vec<MediaPacket> {
        let Some(frame) = self.application.capture(now, self.sent, target) else { return Vec::new() };
        let rtp_time = (now.since(self.start).as_secs_f64() * RTP_HZ) as u64 as u32;
        let mut left = frame.bytes;
        let mut packets = Vec::new();
        while left > 0 {
            let bytes = left.min(PAYLOAD_BYTES);
            left -= bytes;
            self.packets += 1;
            self.unsent.push_back(bytes);
            packets.push(MediaPacket {
                number: self.packets,
                rtp_time,
                payload_bytes: bytes as usize,
                ends_frame: left == 0,
            });
        }
        packets
    }

    /// The oldest packet that waited has left.
    pub(crate) fn on_sent(&mut self) {
        self.sent += self.unsent.pop_front().unwrap_or(0);
    }

    /// Frames written and skipped.
    pub(crate) fn frames(&self) -> (u64, u64) {
        self.application.encoder_stats().map_or((0, 0), |stats| (stats.frames, stats.frames_skipped))
    }
}
