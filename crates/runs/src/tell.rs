//! What both drivers tell observers in the same words.

use crate::Observer;
use congestion::FieldSink;
use measure::FrameDelivery;
use path::LinkTally;
use transport::DecodedFrame;
use units::Time;

/// The state of flow number `flow` (from 1): whatever `fields` puts. What has no value yet (an infinite threshold, no RTT
/// sample) is left out.
pub fn flow_fields<O: Observer + ?Sized>(
    observer: &mut O,
    at: Time,
    flow: u32,
    fields: impl FnOnce(&mut dyn FieldSink),
) {
    fields(&mut FlowFields { observer, at, flow });
}

struct FlowFields<'a, O: ?Sized> {
    observer: &'a mut O,
    at: Time,
    flow: u32,
}

impl<O: Observer + ?Sized> FieldSink for FlowFields<'_, O> {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        if value.is_finite() {
            self.observer.flow_value(self.at, self.flow, name, unit, value);
        }
    }
}

/// The state of a link of the direction called `direction` (`data` or `ack`).
pub fn link_fields<O: Observer + ?Sized>(observer: &mut O, at: Time, direction: &str, link: &LinkTally) {
    let name = full_name(direction, &link.name);
    for (field, unit, value) in [
        ("queue", "packets", link.queue_packets as f64),
        ("queue_bytes", "bytes", link.queue_bytes as f64),
        ("dropped", "packets", link.packets_dropped as f64),
        ("marked", "packets", link.packets_marked as f64),
        ("delivered", "bytes", link.bytes_out as f64),
    ] {
        observer.link_value(at, &name, field, unit, value);
    }
    // A link without a rate has no limit: it offers no number of bytes.
    if link.capacity_bits > 0 {
        observer.link_value(at, &name, "offered", "bytes", (link.capacity_bits / 8) as f64);
    }
}

/// A frame of a live source was decoded at the receiver of flow number `flow`.
pub fn decoded_frame<O: Observer + ?Sized>(observer: &mut O, flow: u32, frame: &DecodedFrame) {
    let (captured, decoded) = (frame.mark.captured_at, frame.decoded_at);
    let (bytes, paused) = (u64::from(frame.mark.bytes), frame.mark.paused);
    observer.frame(&FrameDelivery { flow, bytes, captured, decoded, paused });
    if observer.wants_values() {
        observer.flow_value(decoded, flow, "frame_delay", "ms", (decoded - captured).as_ms_f64());
        observer.flow_value(decoded, flow, "frame_size", "bytes", f64::from(frame.mark.bytes));
    }
}

/// What a link is called in results: `data/bottleneck` and the like.
pub(crate) fn full_name(direction: &str, link: &str) -> String {
    format!("{direction}/{link}")
}
