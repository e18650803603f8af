//! Stock controller of sourdough: a fixed window.
//!
//! Source: keithw/sourdough@afc3851, `datagrump/controller.cc`: the students' starting point in the contest from which
//! Koho came. The window is always 50 datagrams. The transport sends one datagram per second without any event, and
//! releases lost ones as soon as a later one is acknowledged.
//!
//! Expected: `window / RTT` until the link is full, then a queue of the packets that the path does not hold.

use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Parameter};

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "sourdough",
    summary: "sourdough's stock controller: a fixed window of 50 packets",
    parameters: &[Parameter::integer("window", "packets", 50, (1, 1_000_000), "Packets in flight.")],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, start| {
        Box::new(Sourdough {
            window: parameters.integer("window").unsigned_abs(),
            mss_bytes: u64::from(start.mss_bytes.max(1)),
        })
    }),
};

#[derive(Debug)]
struct Sourdough {
    /// Window, packets.
    window: u64,
    mss_bytes: u64,
}

impl Controller for Sourdough {
    fn on_ack(&mut self, _ack: &Ack<'_>) {}

    fn control(&self) -> Control {
        Control::window(self.window * self.mss_bytes)
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.window as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;
    use units::Span;

    #[test]
    fn nothing_moves_the_window() {
        for (settings, packets) in [(&[][..], 50), (&[("window", "100")][..], 100)] {
            let mut driver = Driver::new(&ENTRY, settings);
            driver.ack(10);
            driver.rtt = Span::from_secs(3);
            driver.ack(10);
            driver.lose(5, true);
            driver.timeout(false);
            assert_eq!(
                (driver.control().window_bytes, driver.field("cwnd")),
                (packets * 1000, packets as f64)
            );
        }
    }
}
