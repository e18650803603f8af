//! Time series of a flow, which the flow's thread keeps until the end of the run.

use crate::clock::Correction;
use congestion::FieldSink;
use measure::FlowState;
use runs::Observer;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use units::{Span, Time};

/// Maximum length of a field's name and of its unit, bytes.
const MAX_NAME: usize = 64;

/// Values of a flow's state. Values of one time are adjacent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rows {
    rows: Vec<Sample>,
    /// Time of the current fields.
    at: Time,
}

/// Value at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    at: Time,
    name: Cow<'static, str>,
    unit: Cow<'static, str>,
    value: f64,
}

impl Rows {
    /// Adds the values that `fields` puts at time `at`, which must not be before earlier values.
    pub(crate) fn add(&mut self, at: Time, fields: impl FnOnce(&mut Self)) {
        self.at = at;
        fields(self);
    }

    /// Reports these values and `others` in time order. At equal times these values come first.
    fn tell(&self, others: &Self, correction: &Correction, observer: &mut dyn Observer, flow: u32) {
        let mut rows: Vec<&Sample> = self.rows.iter().chain(&others.rows).collect();
        rows.sort_by_key(|row| row.at);
        for Sample { at, name, unit, value } in rows {
            // Fields without a value are left out.
            if is_plain(name, unit, *value) {
                observer.flow_value(correction.time_of(*at), flow, name, unit, *value);
            }
        }
    }
}

/// Returns true if number, name and unit of a value can be displayed. Values of another machine or a program may be
/// invalid.
pub fn is_plain(name: &str, unit: &str, value: f64) -> bool {
    let is_short =
        |text: &str| text.len() <= MAX_NAME && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    value.is_finite() && !name.is_empty() && is_short(name) && is_short(unit)
}

impl FieldSink for Rows {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.rows.push(Sample { at: self.at, name: name.into(), unit: unit.into(), value });
    }
}

/// Samples of one flow on the grid of the sample interval, as in the simulator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Samples {
    interval: Span,
    next: Time,
    taken: Rows,
    /// Maximum lateness of the flow's thread after the flow began.
    latest: Span,
}

impl Samples {
    /// Creates samples at this interval.
    pub(crate) fn every(interval: Span) -> Self {
        Self { interval, next: Time::ZERO + interval, taken: Rows::default(), latest: Span::ZERO }
    }

    /// Returns the time of the next sample.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Returns the maximum lateness of samples. The first sample is excluded, since it waits for the flow to begin. The
    /// flow's thread wakes up for each sample, so a large value shows that the thread could not run.
    pub(crate) const fn latest(&self) -> Span {
        self.latest
    }

    /// Takes the sample that is due at `now`, if any, from `fields`. After a delay of more than an interval, missed
    /// samples are left out.
    pub(crate) fn take_due(&mut self, now: Time, fields: impl FnOnce(&mut dyn FieldSink)) {
        if now < self.next {
            return;
        }
        if !self.taken.rows.is_empty() {
            self.latest = self.latest.max(now - self.next);
        }
        let missed = (now - self.next).as_ns() / self.interval.as_ns().max(1);
        let at = self.next + self.interval * missed;
        self.next = at + self.interval;
        self.taken.add(at, |rows| fields(rows));
    }

    /// Returns the sender's state in the sample at `at`, if any.
    pub(crate) fn state(&self, at: Time) -> Option<FlowState> {
        let rows = &self.taken.rows;
        let first = rows.partition_point(|row| row.at < at);
        let rows = || rows[first..].iter().take_while(|row| row.at == at);
        let value =
            |name| rows().find(|row| row.name == name).map(|row| row.value).filter(|value| value.is_finite());
        let srtt = value("srtt").map(|ms| Span::from_secs_f64(ms / 1e3));
        Some(FlowState { in_flight_bytes: value("in_flight")? as u64, srtt })
    }

    /// Reports all samples, with the `changes` between samples. `correction` applies to the clock of the samples.
    pub(crate) fn tell(
        &self,
        changes: &Rows,
        correction: &Correction,
        observer: &mut dyn Observer,
        flow: u32,
    ) {
        self.taken.tell(changes, correction, observer, flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    #[test]
    fn values_that_cannot_be_shown_are_told_from_others() {
        assert!(is_plain("pacing rate", "Mbit/s", -1.5));
        assert!(is_plain("mode", "", 0.0));
        for (name, unit, value) in [
            ("rtt", "ms", f64::NAN),
            ("rtt", "ms", f64::INFINITY),
            ("", "ms", 1.0),
            ("rtt\x1b[2J", "ms", 1.0),
            ("rtt", "\u{b5}s", 1.0),
        ] {
            assert!(!is_plain(name, unit, value), "{name} {unit} {value}");
        }
        assert!(!is_plain(&"x".repeat(65), "ms", 1.0));
    }

    #[test]
    fn samples_lie_on_the_grid_and_missed_ones_are_left_out() {
        let mut samples = Samples::every(Span::from_ms(100));
        for now in [50, 101, 150, 430, 500] {
            samples.take_due(at(now), |sink| sink.put("now", "ms", now as f64));
        }
        let rows: Vec<_> = samples.taken.rows.iter().map(|row| (row.at, row.value)).collect();
        assert_eq!(rows, [(at(100), 101.0), (at(400), 430.0), (at(500), 500.0)]);
        assert_eq!(samples.next(), at(600));
        assert_eq!(samples.latest(), Span::from_ms(230));
    }

    #[test]
    fn the_state_at_a_time_is_what_was_sampled_then() {
        let mut samples = Samples::every(Span::from_ms(100));
        for (ms, srtt) in [(100, f64::NAN), (200, 50.0)] {
            samples.take_due(at(ms), |sink| {
                sink.put("in_flight", "bytes", ms as f64 * 10.0);
                sink.put("srtt", "ms", srtt);
            });
        }
        assert_eq!(samples.state(at(100)), Some(FlowState { in_flight_bytes: 1000, srtt: None }));
        let srtt = Some(Span::from_ms(50));
        assert_eq!(samples.state(at(200)), Some(FlowState { in_flight_bytes: 2000, srtt }));
        assert_eq!((samples.state(at(150)), samples.state(at(300))), (None, None));
    }

    #[test]
    fn a_flow_that_begins_late_is_not_late() {
        let mut samples = Samples::every(Span::from_ms(100));
        samples.take_due(at(950), |sink| sink.put("now", "ms", 0.0));
        assert_eq!(samples.latest(), Span::ZERO);
    }
}
