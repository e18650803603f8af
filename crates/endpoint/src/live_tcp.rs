//! Live encoder over kernel TCP: capture of frames, and their arrival times.
//!
//! The stream carries no marks. The sender records the end of each frame in the stream, and the receiver records its
//! progress.

use crate::tcp_info::TcpInfo;
use serde::{Deserialize, Serialize};
use transport::{Application, DecodedFrame, FrameMark, MEDIA_SHARE};
use units::Time;

/// Frame in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamedFrame {
    /// Stream offset after the frame's last byte.
    pub(crate) end: u64,
    /// Mark of the frame.
    pub(crate) mark: FrameMark,
}

/// Progress of a stream at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Milestone {
    /// Time by the receiver's clock.
    pub(crate) at: Time,
    /// Total number of arrived bytes.
    pub(crate) bytes: u64,
}

/// Captures all due frames and appends them to `frames`.
///
/// `written` is the number of bytes written to the socket. The encoder gets the same information on the connection
/// (`info`) as from the built-in transport: bytes that wait in the socket are unsent, and the bitrate is a large part
/// of the rate that congestion control allows.
pub(crate) fn capture_frames(
    now: Time,
    application: &mut Application,
    info: &TcpInfo,
    written: u64,
    frames: &mut Vec<StreamedFrame>,
) {
    let sent = written.saturating_sub(info.unsent_bytes());
    let target = info.allowed_rate().map(|rate| rate.mul_f64(MEDIA_SHARE));
    while application.next_change() <= now {
        if let Some(frame) = application.capture(now, sent, target) {
            let end = sent + frame.queued_bytes;
            frames.push(StreamedFrame { end, mark: application.frame_at(end - 1) });
        }
    }
}

/// Returns the arrived frames with their times. Bytes arrive in order, so every complete frame can be decoded.
pub(crate) fn decoded(frames: &[StreamedFrame], arrived: &[Milestone]) -> Vec<DecodedFrame> {
    let arrival = |frame: &StreamedFrame| {
        let complete = arrived.partition_point(|step| step.bytes < frame.end);
        arrived.get(complete).map(|step| DecodedFrame { mark: frame.mark, decoded_at: step.at })
    };
    frames.iter().map_while(arrival).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_decoded_with_its_last_byte() {
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let frame = |number: u32, end: u64| StreamedFrame {
            end,
            mark: FrameMark { number, bytes: 1000, key: number == 1, ..FrameMark::default() },
        };
        let frames = [frame(1, 1000), frame(2, 2000), frame(3, 3000), frame(4, 4000)];
        let arrived = [(10, 999), (11, 1000), (20, 3500)].map(|(ms, bytes)| Milestone { at: at(ms), bytes });
        let decoded: Vec<(u32, Time)> =
            decoded(&frames, &arrived).iter().map(|frame| (frame.mark.number, frame.decoded_at)).collect();
        assert_eq!(decoded, [(1, at(11)), (2, at(20)), (3, at(20))]);
    }
}
