//! Events that both drivers report to observers in the same form.

use crate::Observer;
use congestion::FieldSink;
use measure::FrameDelivery;
use path::LinkTally;
use transport::DecodedFrame;
use units::Time;

/// Reports the state of flow `flow` (from 1): the values of `fields`. Values that are not finite (an infinite
/// threshold, no RTT sample) are left out.
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

/// Reports the state of a link in `direction` (`data` or `ack`).
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
    // A link without a rate has no limit and thus no offered bytes.
    if link.capacity_bits > 0 {
        observer.link_value(at, &name, "offered", "bytes", (link.capacity_bits / 8) as f64);
    }
}

/// Reports a frame of a live source that the receiver of flow `flow` decoded.
pub fn decoded_frame<O: Observer + ?Sized>(observer: &mut O, flow: u32, frame: &DecodedFrame) {
    let (captured, decoded) = (frame.mark.captured_at, frame.decoded_at);
    let (bytes, paused) = (u64::from(frame.mark.bytes), frame.mark.paused);
    observer.frame(&FrameDelivery { flow, bytes, captured, decoded, paused });
    if observer.wants_values() {
        observer.flow_value(decoded, flow, "frame_delay", "ms", (decoded - captured).as_ms_f64());
        observer.flow_value(decoded, flow, "frame_size", "bytes", f64::from(frame.mark.bytes));
    }
}

/// Returns the name of a link in results, for example `data/bottleneck`.
pub(crate) fn full_name(direction: &str, link: &str) -> String {
    format!("{direction}/{link}")
}
