//! A controller that keeps the window which a table names: for experiments that need a known load.
//!
//! `cargo build` makes `libout_of_tree.so` for `dumbbell run --plugin`, and the program `weigh` (`src/bin/weigh.rs`).

use congestion::{Ack, Control, Controller, Entry, FieldSink, Parameter, Parameters, Start};
use units::Time;

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("window", "packets", 10, (1, 100_000), "Window before the table's first line."),
    Parameter::file("table", "Lines `SECONDS PACKETS`: from this time of the flow on, this window."),
];

/// What is added to a registry.
pub const ENTRY: Entry = Entry::new(
    "timetable",
    "A window by the clock: from a table, or always the same",
    PARAMETERS,
    |parameters, start| Box::new(Timetable::new(parameters, start)),
);

plugin::export!(ENTRY);

/// The controller of one flow.
#[derive(Debug)]
struct Timetable {
    mss_bytes: u64,
    packets: u64,
    /// What is still to come: when, and the window then; the next one last.
    lines: Vec<(Time, u64)>,
}

impl Timetable {
    /// Panics with the line that cannot be read: the run fails with that.
    fn new(parameters: &Parameters, start: &Start) -> Self {
        let text = parameters
            .file("table")
            .map_or(String::new(), |file| String::from_utf8_lossy(&file.contents).into_owned());
        let mut lines: Vec<(Time, u64)> = text.lines().map(|line| parsed(line, start)).collect();
        lines.sort_unstable();
        lines.reverse();
        let packets = parameters.integer("window").unsigned_abs();
        let mut timetable = Self { mss_bytes: u64::from(start.mss_bytes), packets, lines };
        timetable.look(start.now);
        timetable
    }

    fn look(&mut self, now: Time) {
        while let Some((_, packets)) = self.lines.pop_if(|(at, _)| *at <= now) {
            self.packets = packets;
        }
    }
}

fn parsed(line: &str, start: &Start) -> (Time, u64) {
    let read = || {
        let (seconds, packets) = line.trim().split_once(' ')?;
        let seconds: f64 = seconds.parse().ok().filter(|seconds| (0.0..1e6).contains(seconds))?;
        let packets: u64 = packets.trim().parse().ok().filter(|packets| (1..=100_000).contains(packets))?;
        Some((start.now + units::Span::from_secs_f64(seconds), packets))
    };
    read().unwrap_or_else(|| panic!("table: `{line}`: allowed is SECONDS PACKETS, like `2.5 40`"))
}

impl Controller for Timetable {
    fn on_ack(&mut self, event: &Ack<'_>) {
        self.look(event.now);
    }

    fn on_wake(&mut self, now: Time) {
        self.look(now);
    }

    fn control(&self) -> Control {
        let wake_at = self.lines.last().map_or(Time::NEVER, |(at, _)| *at);
        Control { wake_at, ..Control::window(self.packets * self.mss_bytes) }
    }

    fn fields(&self, sink: &mut dyn FieldSink) {
        sink.put("cwnd", "packets", self.packets as f64);
    }
}
