//! The adapter: dumbbell's events become the stack's calls. `cargo build` makes `libstack_cubic.so` for `dumbbell check`.

mod stack;

use congestion::{Ack, Control, Controller, Entry, FieldSink, Loss, Start, Timeout};
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

impl Controller for Adapter {
    fn on_ack(&mut self, event: &Ack<'_>) {
        let rtt = event.srtt.as_ms_f64() / 1e3;
        let limited = event.window_limited || self.cubic.window() < self.cubic.ssthresh();
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
            self.cubic.on_congestion(seconds(event.now), seconds(newest.sent_at));
        }
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.cubic.on_persistent_congestion(seconds(event.now));
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
