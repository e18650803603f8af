//! The adapter: dumbbell's events become the stack's calls. `cargo build` makes the library of `stack-cubic.toml`.

mod stack;

use congestion::{Ack, Control, Controller, Ecn, Entry, FieldSink, Loss, Start, Timeout};
use stack::Cubic;
use units::Time;

/// What the library exports.
pub const ENTRY: Entry =
    Entry::new("stack-cubic", "CUBIC as a QUIC stack has it", &[], |_, start: &Start| {
        let cubic = Cubic::new(f64::from(start.mss_bytes), start.initial_window_bytes as f64);
        Box::new(Adapter { cubic, mss: f64::from(start.mss_bytes) })
    });

plugin::export!(ENTRY);

#[derive(Debug)]
struct Adapter {
    cubic: Cubic,
    mss: f64,
}

const fn seconds(at: Time) -> f64 {
    at.as_ns() as f64 / 1e9
}

/// When an episode begins for a stack that compares send times with it. Packets that leave in answer to the same ACK
/// have its time here, and a later one in the stack: they belong to the time after the reduction.
const fn before(at: Time) -> f64 {
    (at.as_ns() - 1) as f64 / 1e9
}

impl Controller for Adapter {
    fn on_ack(&mut self, event: &Ack<'_>) {
        let rtt = event.srtt.as_ms_f64() / 1e3;
        let limited = event.window_limited || event.pacing_limited;
        for packet in event.packets {
            self.cubic.on_ack(
                seconds(event.now),
                seconds(packet.sent_at),
                f64::from(packet.bytes),
                rtt,
                limited,
            );
        }
    }

    fn on_loss(&mut self, event: &Loss<'_>) {
        if let Some(newest) = event.packets.last() {
            self.cubic.on_congestion(before(event.now), seconds(newest.sent_at));
        }
    }

    fn on_ecn(&mut self, event: &Ecn) {
        self.cubic.on_congestion(before(event.now), seconds(event.newest_sent_at));
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.cubic.on_persistent_congestion();
    }

    fn control(&self) -> Control {
        Control::window(self.cubic.window() as u64)
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.cubic.window() / self.mss);
        let ssthresh = self.cubic.ssthresh();
        sink.put("ssthresh", "packets", if ssthresh.is_finite() { ssthresh / self.mss } else { f64::NAN });
    }
}
