//! State of a sender over time, from its samples.

use super::modes::Mode;

/// Maximum number of parts of time that are kept.
const MOST_PARTS: usize = 1 << 17;

/// Room of a sender to send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Room {
    /// Not even one more packet fits the window.
    No,
    /// The window is open.
    Yes,
    /// The samples do not tell.
    Unknown,
}

/// Part of time in which the state did not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) room: Room,
    /// Pacing rate, the maximum rate at which packets left.
    pub(super) pacing_mbps: Option<f64>,
}

/// State of one sender.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowStates {
    now_ns: Option<u64>,
    in_flight: Option<f64>,
    window: Option<f64>,
    cwnd_packets: Option<f64>,
    pacing_mbps: Option<f64>,
    pub(super) parts: Vec<Part>,
    pub(super) modes: Vec<Mode>,
    /// Time of the first slow start threshold, ns, and the time of the samples before.
    pub(super) threshold: Option<(u64, u64)>,
    last_ns: u64,
    pub(super) samples: u64,
    pub(super) first_ns: Option<u64>,
    /// True if there ever was a pacing rate.
    pub(super) tells_pacing: bool,
    /// True if the state was logged after every event.
    pub(super) is_full: bool,
}

/// Default payload of a packet, bytes.
const PAYLOAD_BYTES: f64 = 1448.0;

impl FlowStates {
    pub(super) fn value(&mut self, time_ns: u64, field: &str, unit: &str, value: f64) {
        if self.now_ns != Some(time_ns) {
            self.advance(time_ns);
        }
        self.samples += 1;
        self.first_ns.get_or_insert(time_ns);
        match (field, unit) {
            ("in_flight", "bytes") => self.in_flight = Some(value),
            ("window", "bytes") => {
                self.window = Some(value);
                self.is_full = true;
            }
            ("cwnd", "packets") => self.cwnd_packets = Some(value),
            ("cwnd", "bytes") => self.window = Some(value),
            ("pacing" | "pacing_rate", "Mbit/s") => {
                self.pacing_mbps = Some(value);
                self.tells_pacing = true;
            }
            ("ssthresh", _) => {
                let before_ns = self.last_ns;
                self.threshold.get_or_insert((before_ns, time_ns));
            }
            _ if field != "recovery" => self.mode(time_ns, field, unit, value),
            _ => {}
        }
    }

    fn mode(&mut self, time_ns: u64, field: &str, unit: &str, value: f64) {
        if !unit.starts_with("0 ") {
            return;
        }
        let place = self.modes.iter().position(|mode| mode.field == field);
        let place = match (place, Mode::new(field, unit)) {
            (Some(place), _) => place,
            (None, Some(mode)) if self.modes.len() < 16 => {
                self.modes.push(mode);
                self.modes.len() - 1
            }
            _ => return,
        };
        self.modes[place].value(time_ns, value);
    }

    /// Advances the time: the last values held until now.
    fn advance(&mut self, time_ns: u64) {
        let Some(from_ns) = self.now_ns.replace(time_ns) else { return };
        self.last_ns = from_ns;
        let window = self.window.or(self.cwnd_packets.map(|packets| packets * PAYLOAD_BYTES));
        let room = match (self.in_flight, window) {
            (Some(in_flight), Some(window)) => {
                // a sampled window in packets gives the bytes only approximately
                let fits = if self.is_full {
                    in_flight + PAYLOAD_BYTES <= window
                } else {
                    in_flight + 2.0 * PAYLOAD_BYTES <= 0.95 * window
                };
                if fits { Room::Yes } else { Room::No }
            }
            _ => Room::Unknown,
        };
        let pacing_mbps = self.pacing_mbps;
        let is_same = |last: &Part| {
            let near = |(a, b): (f64, f64)| (a - b).abs() <= 0.1 * a.max(b);
            let paced = last
                .pacing_mbps
                .zip(pacing_mbps)
                .map_or(last.pacing_mbps.is_none() == pacing_mbps.is_none(), near);
            last.room == room && last.to_ns == from_ns && paced
        };
        let is_crowded = self.parts.len() >= MOST_PARTS;
        match self.parts.last_mut() {
            Some(last) if is_same(last) || is_crowded => last.to_ns = time_ns,
            _ => self.parts.push(Part { from_ns, to_ns: time_ns, room, pacing_mbps }),
        }
    }

    pub(super) fn finish(&mut self, _end_ns: u64) {
        self.now_ns = None;
    }
}
