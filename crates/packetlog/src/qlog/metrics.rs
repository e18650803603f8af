//! Conversion of sampled state to qlog's metrics and congestion states.

use crate::Sample;
use serde_json::{Map, Number, Value};

/// Change of a flow's state at one time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Update {
    pub(crate) time_ns: u64,
    /// Metrics by their qlog names; may be empty.
    pub(crate) metrics: Map<String, Value>,
    /// Congestion state before and after, if the state changed.
    pub(crate) state: Option<(Option<String>, String)>,
}

/// Collector of one flow's samples into updates.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// Largest payload so far, bytes, which is the payload of a full packet. It converts windows in packets to bytes.
    payload_bytes: u32,
    time_ns: u64,
    metrics: Map<String, Value>,
    /// Fields of the current update. A repeated field begins the next update.
    fields: Vec<String>,
    state_fields: StateFields,
    state: Option<String>,
}

/// Fields that determine the congestion state.
#[derive(Debug, Default)]
struct StateFields {
    recovery: bool,
    slow_start: Option<bool>,
    cwnd: Option<f64>,
    ssthresh: Option<f64>,
    mode: Option<String>,
    /// True if the transport reports window, pacing and RTT. It takes precedence over a controller's fields of this
    /// meaning.
    has_transport: bool,
}

impl Gather {
    /// Adds the payload of a sent packet, bytes.
    pub(crate) fn note_payload(&mut self, bytes: u32) {
        self.payload_bytes = self.payload_bytes.max(bytes);
    }

    /// Adds the next sample. Returns the update that this sample completes, if any.
    pub(crate) fn push(&mut self, sample: &Sample) -> Option<Update> {
        let begins =
            sample.time_ns > self.time_ns || self.fields.iter().any(|field| **field == *sample.field);
        let ended = if begins { self.finish() } else { None };
        self.time_ns = self.time_ns.max(sample.time_ns);
        self.fields.push(sample.field.to_string());
        self.take(&sample.field, &sample.unit, sample.value);
        ended
    }

    /// Returns the incomplete update.
    pub(crate) fn finish(&mut self) -> Option<Update> {
        self.fields.clear();
        let state = self.state_fields.state().filter(|state| self.state.as_ref() != Some(state));
        let change = state.map(|new| (self.state.replace(new.clone()), new));
        let metrics = std::mem::take(&mut self.metrics);
        (!metrics.is_empty() || change.is_some()).then_some(Update {
            time_ns: self.time_ns,
            metrics,
            state: change,
        })
    }

    fn take(&mut self, field: &str, unit: &str, value: f64) {
        let has_transport = self.state_fields.has_transport;
        match field {
            "window" => {
                self.state_fields.has_transport = true;
                self.put("congestion_window", whole(value));
            }
            "pacing" => self.put("pacing_rate", whole(value * 1e6)),
            "latest_rtt" => self.put("latest_rtt", Number::from_f64(value)),
            "lowest_rtt" => self.put("min_rtt", Number::from_f64(value)),
            "rttvar" => self.put("rtt_variance", Number::from_f64(value)),
            "srtt" => self.put("smoothed_rtt", Number::from_f64(value)),
            "in_flight" => self.put("bytes_in_flight", whole(value)),
            "ssthresh" => {
                self.state_fields.ssthresh = Some(value);
                self.put("ssthresh", self.bytes(unit, value));
            }
            "cwnd" => {
                self.state_fields.cwnd = Some(value);
                if !has_transport {
                    self.put("congestion_window", self.bytes(unit, value));
                }
            }
            "pacing_rate" if !has_transport => self.put("pacing_rate", whole(value * 1e6)),
            "min_rtt" if !has_transport => self.put("min_rtt", Number::from_f64(value)),
            "recovery" => self.state_fields.recovery = value != 0.0,
            "slow_start" | "fast_start" | "ramp_up" => self.state_fields.slow_start = Some(value != 0.0),
            "mode" | "phase" => self.state_fields.mode = label(unit, value),
            _ => {}
        }
    }

    fn put(&mut self, name: &str, value: Option<Number>) {
        if let Some(value) = value {
            self.metrics.insert(name.to_owned(), Value::Number(value));
        }
    }

    fn bytes(&self, unit: &str, value: f64) -> Option<Number> {
        match unit {
            "bytes" => whole(value),
            "packets" if self.payload_bytes > 0 => whole(value * f64::from(self.payload_bytes)),
            _ => None,
        }
    }
}

impl StateFields {
    /// Returns the state: loss recovery, the controller's mode by name, slow start or congestion avoidance; `None` if
    /// unknown.
    fn state(&self) -> Option<String> {
        if self.recovery {
            return Some("recovery".to_owned());
        }
        if let Some(mode) = &self.mode {
            return Some(mode.clone());
        }
        let by_threshold = self.cwnd.zip(self.ssthresh).map(|(cwnd, ssthresh)| cwnd < ssthresh);
        let slow_start = self.slow_start.or(by_threshold)?;
        Some(if slow_start { "slow_start" } else { "congestion_avoidance" }.to_owned())
    }
}

/// Returns a whole number, since qlog counts bytes and bits in whole numbers.
fn whole(value: f64) -> Option<Number> {
    (value >= 0.0 && value < 2f64.powi(63)).then(|| Number::from(value.round() as u64))
}

/// Returns the name of a value in a unit like `0 startup, 1 drain`.
fn label(unit: &str, value: f64) -> Option<String> {
    unit.split(", ").find_map(|entry| {
        let (code, name) = entry.split_once(' ')?;
        (code.parse() == Ok(value)).then(|| name.replace(' ', "_"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use std::sync::Arc;

    fn updates(payload_bytes: u32, samples: &[(u64, &str, &str, f64)]) -> Vec<Update> {
        let mut gather = Gather::default();
        gather.note_payload(payload_bytes);
        let mut updates = Vec::new();
        for (time_ns, field, unit, value) in samples {
            let (field, unit) = (Arc::from(*field), Arc::from(*unit));
            let sample = Sample { time_ns: *time_ns, key: Key::Flow(1), field, unit, value: *value };
            updates.extend(gather.push(&sample));
        }
        updates.extend(gather.finish());
        updates
    }

    #[test]
    fn samples_of_one_time_are_one_update_until_a_field_comes_again() {
        let updates = updates(
            1000,
            &[
                (5, "in_flight", "bytes", 2000.0),
                (5, "srtt", "ms", 12.5),
                (5, "in_flight", "bytes", 3000.0),
                (7, "ssthresh", "packets", 2.5),
                (8, "delivery_rate", "Mbit/s", 1.0),
            ],
        );
        let metrics: Vec<_> = updates.iter().map(|u| (u.time_ns, Value::from(u.metrics.clone()))).collect();
        assert_eq!(metrics[0], (5, serde_json::json!({"bytes_in_flight": 2000, "smoothed_rtt": 12.5})));
        assert_eq!(metrics[1], (5, serde_json::json!({"bytes_in_flight": 3000})));
        assert_eq!(metrics[2], (7, serde_json::json!({"ssthresh": 2500})));
        assert_eq!(metrics.len(), 3, "what qlog has no word for is no update");
    }

    #[test]
    fn states_have_the_names_of_the_controller_or_of_rfc_9002() {
        let states = |samples: &[(u64, &str, &str, f64)]| -> Vec<String> {
            updates(0, samples).into_iter().filter_map(|update| update.state).map(|(_, new)| new).collect()
        };
        let reno = [
            (1, "cwnd", "packets", 10.0),
            (2, "recovery", "0 no, 1 yes", 1.0),
            (2, "ssthresh", "packets", 5.0),
            (3, "cwnd", "packets", 5.0),
            (3, "recovery", "0 no, 1 yes", 0.0),
            (4, "cwnd", "packets", 2.0),
        ];
        assert_eq!(states(&reno), ["recovery", "congestion_avoidance", "slow_start"]);
        let unit = "0 startup, 1 drain, 2 probe_bw";
        assert_eq!(states(&[(1, "mode", unit, 0.0), (2, "mode", unit, 2.0)]), ["startup", "probe_bw"]);
        assert_eq!(states(&[(1, "velocity", "packets", 1.0)]), [""; 0]);
    }
}
