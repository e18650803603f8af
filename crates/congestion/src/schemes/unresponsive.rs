//! No congestion control: the application's data leaves regardless of the path's state.
//!
//! Source: ccperf's traffic models `CBR` and `Poisson` over UDP (ccperf.net/traffic), and the unresponsive traffic that
//! RFC 7928 and RFC 9743 5.2 run against responsive flows. The only limit is the line of the sending host.
//!
//! Expected: the application's rate is sent; the path loses the excess.

use crate::{Ack, Build, Control, Controller, Entry, FieldSink, Parameter};
use units::Rate;

/// Entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "unresponsive",
    summary: "No congestion control: sends what the application writes (UDP traffic)",
    parameters: &[Parameter::number(
        "line_rate_mbps",
        "Mbit/s",
        1000.0,
        (0.001, 1e6),
        "Rate of the sending host's line, which a greedy application fills.",
    )],
    receiver: None,
    agent: None,
    policy: None,
    build: Build::Function(|parameters, _| {
        Box::new(Unresponsive { line_rate: Rate::from_mbps(parameters.number("line_rate_mbps")) })
    }),
};

#[derive(Debug)]
struct Unresponsive {
    line_rate: Rate,
}

impl Controller for Unresponsive {
    fn on_ack(&mut self, _ack: &Ack<'_>) {}

    fn control(&self) -> Control {
        Control {
            pacing: Some(self.line_rate),
            media_rate: Some(self.line_rate),
            ..Control::window(u64::MAX)
        }
    }

    fn fields(&self, _sink: &mut dyn FieldSink) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    #[test]
    fn nothing_that_happens_changes_anything() {
        let mut driver = Driver::new(&ENTRY, &[("line_rate_mbps", "50")]);
        let before = driver.control();
        driver.ack(3);
        driver.lose(5, true);
        driver.timeout(false);
        assert_eq!(driver.control(), before);
        assert_eq!((before.pacing, before.window_bytes), (Some(Rate::from_mbps(50.0)), u64::MAX));
    }
}
