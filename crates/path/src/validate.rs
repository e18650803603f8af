//! Checks of a path: the settings of its elements, and every state that schedules and walks lead to.

use crate::Error;
use crate::change::{Change, LATEST_S, WalkSpec};
use crate::element::no_queue;
use crate::element_settings::{not_negative, refuse};
use crate::queues::Queue;
use crate::spec::{ElementSpec, PathSpec};
use crate::until::{Until, to_the_end};
use strict_input::Refusal;
use units::Rng;

/// Maximum number of elements of a direction: every event looks at all of them.
const MOST_ELEMENTS: usize = 1000;
/// Maximum number of elements of a direction that duplicate packets: at most 256 copies of each packet.
const MOST_COPYING: usize = 8;

impl ElementSpec {
    /// Returns the element after each of its changes, in the order of the schedule; `None` for a change of the queue
    /// only.
    pub(crate) fn states(&self, until: Until<'_>) -> Result<Vec<Option<Self>>, Error> {
        let mut state = None;
        let mut last_s = 0.0;
        let changes = self.schedule().iter().enumerate();
        let states = changes.map(|(index, change)| {
            let result = self.state_after(&mut state, change, last_s);
            last_s = change.at_s;
            until(1)?;
            result.map_err(|refusal| refusal.at(format!("schedule[{index}]")).into())
        });
        states.collect()
    }

    fn state_after(
        &self,
        state: &mut Option<Self>,
        change: &Change,
        last_s: f64,
    ) -> Result<Option<Self>, Refusal> {
        if change.at_s.is_nan() {
            return Err(Refusal::new("missing field `at_s`"));
        }
        not_negative("at_s", change.at_s, LATEST_S)?;
        if change.at_s < last_s {
            return Err(refuse(
                "at_s",
                change.at_s,
                format!("must not be before {last_s}, the change before it"),
            ));
        }
        if change.settings.is_empty() {
            if change.queue.is_empty() {
                return Err(Refusal::new("nothing to change"));
            }
            return Ok(None);
        }
        let state = state.get_or_insert_with(|| self.without_schedule());
        for (name, &value) in &change.settings {
            state.set(name, value)?;
        }
        state.check(true)?;
        Ok(Some(state.clone()))
    }

    fn without_schedule(&self) -> Self {
        let mut copy = self.clone();
        copy.table_mut().clear_schedule();
        copy
    }

    /// Checks the settings and their changes.
    ///
    /// # Errors
    /// One line naming the key, its value and what is allowed.
    pub fn validate(&self) -> Result<(), Error> {
        self.validate_until(&mut to_the_end)
    }

    fn validate_until(&self, until: Until<'_>) -> Result<(), Error> {
        self.check(false)?;
        let states = self.states(until)?;
        if let Some(walk) = self.walk() {
            self.check_walk(walk, &states, until).map_err(|error| error.at("walk"))?;
        }
        Ok(self.check_queue_changes()?)
    }

    fn check_queue_changes(&self) -> Result<(), Refusal> {
        let mut queue = None;
        for (index, change) in self.schedule().iter().enumerate() {
            for (name, &value) in &change.queue {
                let place = |refusal: Refusal| refusal.at(format!("schedule[{index}]"));
                let spec = self.table().queue().ok_or_else(|| place(no_queue(name)))?;
                if queue.is_none() {
                    queue = Some(Queue::build(spec, Rng::new(0, ""))?);
                }
                queue.as_mut().map_or(Ok(()), |queue| queue.set(name, value)).map_err(place)?;
            }
        }
        Ok(())
    }

    /// Checks the walks of an element whose states after its scheduled changes are `states`: in each state every
    /// combination of lowest and highest values must be allowed.
    fn check_walk(&self, walk: &WalkSpec, states: &[Option<Self>], until: Until<'_>) -> Result<(), Error> {
        walk.check()?;
        for (name, key) in &walk.keys {
            self.clone().set(name, key.min)?;
            key.check().map_err(|refusal| refusal.at(name.clone()))?;
            let mut changes = self.schedule().iter();
            if let Some(index) = changes.position(|change| change.settings.contains_key(name)) {
                return Err(Refusal::of_key(
                    name,
                    format!("schedule[{index}] sets it too: allowed is one of walk and schedule"),
                )
                .into());
            }
        }
        self.at_start().check(false)?;
        for state in core::iter::once(self).chain(states.iter().flatten()) {
            for corner in 0..1u32 << walk.keys.len() {
                let mut at_corner = state.clone();
                for (bit, (name, key)) in walk.keys.iter().enumerate() {
                    at_corner.set(name, if corner & (1 << bit) == 0 { key.min } else { key.max })?;
                }
                at_corner.check(true)?;
                until(1)?;
            }
        }
        Ok(())
    }
}

/// Checks the elements of the direction called `direction`.
pub(crate) fn validate_direction(
    elements: &[ElementSpec],
    direction: &str,
    until: Until<'_>,
) -> Result<(), Error> {
    if elements.len() > MOST_ELEMENTS {
        let reason = format!("{} elements: allowed are at most {MOST_ELEMENTS}", elements.len());
        return Err(Refusal::of_key(direction, reason).into());
    }
    let copying = elements.iter().filter(|element| matches!(element, ElementSpec::Duplicate(_))).count();
    if copying > MOST_COPYING {
        let copies = "each may double what the one before lets pass";
        let reason =
            format!("{copying} elements of kind duplicate: allowed are at most {MOST_COPYING}, for {copies}");
        return Err(Refusal::of_key(direction, reason).into());
    }
    for (index, element) in elements.iter().enumerate() {
        element
            .validate_until(until)
            .map_err(|error| error.at(format!("{direction}[{index}] ({})", element.kind())))?;
    }
    Ok(())
}

impl PathSpec {
    /// Checks everything.
    ///
    /// # Errors
    /// One line naming the element, the key, its value and what is allowed.
    pub fn validate(&self) -> Result<(), Error> {
        self.validate_until(&mut to_the_end)
    }

    /// Checks everything, even if a schedule is long: `until` can end the work.
    ///
    /// # Errors
    /// One line naming the element, the key, its value and what is allowed. The error of `until`.
    pub fn validate_until(&self, until: Until<'_>) -> Result<(), Error> {
        validate_direction(&self.data, "data", until)?;
        validate_direction(&self.ack, "ack", until)?;
        self.validate_channels()?;
        self.encapsulation().validate()?;
        Ok(self.encapsulation().validate_changes(&self.schedule)?)
    }

    /// Checks that every shared channel has one element of each direction.
    fn validate_channels(&self) -> Result<(), Refusal> {
        let (data, ack) = (self.data.as_slice(), self.ack.as_slice());
        for (name, elements) in [("data", data), ("ack", ack)] {
            for (index, element) in elements.iter().enumerate() {
                let ElementSpec::HalfDuplex(station) = element else { continue };
                let is_same = |element: &&ElementSpec| matches!(element, ElementSpec::HalfDuplex(other) if other.channel == station.channel);
                if [data, ack].iter().any(|elements| elements.iter().filter(is_same).count() != 1) {
                    let value =
                        station.channel.as_ref().map_or(String::new(), |channel| format!(" = `{channel}`"));
                    let key = format!("channel{value}");
                    return Err(Refusal::of_key(key, "must be that of one element of each direction")
                        .at(format!("{name}[{index}] (half-duplex)")));
                }
            }
        }
        Ok(())
    }

    /// Checks that real packets can pass: their two directions run on separate clocks.
    ///
    /// # Errors
    /// One line naming the element.
    pub fn validate_real(&self) -> Result<(), Refusal> {
        for (name, elements) in [("data", &self.data), ("ack", &self.ack)] {
            let shares = |element: &ElementSpec| matches!(element, ElementSpec::HalfDuplex(_));
            if let Some(index) = elements.iter().position(shares) {
                let reason = "real packets cannot take turns on one channel; only simulated ones can";
                return Err(Refusal::of_key(format!("{name}[{index}] (half-duplex)"), reason));
            }
        }
        if !self.schedule.is_empty() {
            let reason = "the MTU of real devices stays; only that of a simulated path can change";
            return Err(Refusal::of_key("schedule", reason));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(data: &str) -> String {
        let json = format!(r#"{{"data": [{data}], "ack": []}}"#);
        match serde_json::from_str::<PathSpec>(&json) {
            Ok(spec) => spec.validate().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn bad_settings_are_named_in_one_line() {
        for (element, expected) in [
            (r#"{"kind": "link", "rate_mbps": 0}"#, "data[0] (link): rate_mbps = 0: must be above 0"),
            (r#"{"kind": "link", "rate_mbps": -3}"#, "rate_mbps = -3: must be above 0"),
            (r#"{"kind": "link", "rate_mbps": 1e9}"#, "rate_mbps = 1000000000: must be at most 1000000"),
            (r#"{"kind": "link", "rate_mbps": 1, "count_in_service": true}"#, "only with a `droptail` queue"),
            (
                r#"{"kind": "link", "rate_mbps": 1, "queue": {"kind": "droptail", "packets": 0}}"#,
                "data[0] (link): queue `droptail`: packets = 0",
            ),
            (r#"{"kind": "delay", "delay_ms": -1}"#, "data[0] (delay): delay_ms = -1: must not be negative"),
            (r#"{"kind": "delay", "delay_ms": 1, "tick_ms": 0}"#, "tick_ms = 0: must be above 0"),
            (r#"{"kind": "loss", "probability": 1.5}"#, "probability = 1.5: must be from 0 to 1"),
            (r#"{"kind": "loss"}"#, "probability, every, keep_every, packets: exactly one is needed"),
            (r#"{"kind": "loss", "probability": 0.1, "every": 3}"#, "exactly one is needed"),
            (r#"{"kind": "loss", "every": 0}"#, "every = 0: must be at least 1"),
            (r#"{"kind": "loss", "keep_every": 0}"#, "keep_every = 0: must be at least 1"),
            (r#"{"kind": "loss", "keep_every": 2, "every": 3}"#, "exactly one is needed"),
            (r#"{"kind": "loss", "every": 3, "min_bytes": 0}"#, "min_bytes = 0: must be from 1 to 1000000"),
            (
                r#"{"kind": "loss", "every": 3, "min_bytes": 9, "max_bytes": 8}"#,
                "data[0] (loss): max_bytes = 8: must be at least min_bytes = 9",
            ),
            (
                r#"{"kind": "remark", "codepoint": "ect0", "becomes": "ect0"}"#,
                "data[0] (remark): becomes = `ect0`: must be another one than codepoint = `ect0`",
            ),
            (
                r#"{"kind": "remark", "codepoint": "ect", "becomes": "ce", "probability": 1.5}"#,
                "probability = 1.5: must be from 0 to 1",
            ),
            (r#"{"kind": "remark", "codepoint": "ect2", "becomes": "ce"}"#, "unknown variant `ect2`"),
            (r#"{"kind": "remark", "codepoint": "ect0", "becomes": "ect"}"#, "unknown variant `ect`"),
            (r#"{"kind": "loss", "packets": [0]}"#, "packets[0] = 0: must be above 0"),
            (r#"{"kind": "loss", "packets": [3, 3]}"#, "packets[1] = 3: must be above 3"),
            (r#"{"kind": "gilbert-elliott", "p": 0.1, "r": 2}"#, "r = 2: must be from 0 to 1"),
            (r#"{"kind": "reorder", "probability": 0.1}"#, "delay_ms, gap: at least one is needed"),
            (r#"{"kind": "reorder", "probability": 0.1, "gap": 0}"#, "gap = 0: must be at least 1"),
            (r#"{"kind": "duplicate", "probability": -0.1}"#, "probability = -0.1: must be from 0 to 1"),
            (r#"{"kind": "shaper", "rate_mbps": 1, "burst_bytes": 0}"#, "burst_bytes = 0: must be from 1"),
            (r#"{"kind": "policer", "rate_mbps": 0, "burst_bytes": 1}"#, "rate_mbps = 0: must be above 0"),
            (r#"{"kind": "half-duplex", "rate_mbps": 0}"#, "rate_mbps = 0: must be above 0"),
            (
                r#"{"kind": "half-duplex", "rate_mbps": 1, "access_us": 2e6}"#,
                "access_us = 2000000: must be at most 1000000",
            ),
            (
                r#"{"kind": "half-duplex", "rate_mbps": 1, "turn_packets": 0}"#,
                "turn_packets = 0: must be from 1 to 100000",
            ),
            (r#"{"kind": "aggregate", "slot_ms": 0}"#, "slot_ms = 0: must be above 0"),
            (r#"{"kind": "granted", "request_ms": 0, "grant_ms": 1}"#, "request_ms = 0: must be above 0"),
            (r#"{"kind": "slotted", "slot_ms": 0}"#, "slot_ms = 0: must be at least 0.001"),
            (r#"{"kind": "blackout", "every_ms": 0, "lasts_ms": 0}"#, "every_ms = 0: must be above 0"),
            (
                r#"{"kind": "blackout", "every_ms": 9, "lasts_ms": 9}"#,
                "lasts_ms = 9: must be below every_ms = 9",
            ),
            (
                r#"{"kind": "aggregate", "slot_ms": 1, "max_packets": 0}"#,
                "max_packets = 0: must be at least 1",
            ),
            (
                r#"{"kind": "netem", "delay_ms": 1, "rate_mbps": 1}"#,
                "rate_mbps, burst_bytes: allowed is both",
            ),
            (r#"{"kind": "netem", "delay_ms": 1, "limit_packets": 0}"#, "limit_packets = 0"),
            (r#"{"kind": "poisson", "rate_mbps": 1, "opportunity_bytes": 0}"#, "opportunity_bytes = 0"),
            (r#"{"kind": "poisson", "rate_mbps": 1, "head_s": 1, "head_gap_ms": 0}"#, "head_gap_ms = 0"),
            (
                r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 1, "deviation_ms": 1}"#,
                "deviation_ms = 1: not allowed with an exponential",
            ),
            (r#"{"kind": "jitter", "distribution": "normal", "mean_ms": 1}"#, "deviation_ms: missing"),
            (
                r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 1, "redraw_min_ms": 8}"#,
                "redraw_min_ms, redraw_max_ms: allowed is both or none",
            ),
            (
                r#"{"kind": "jitter", "distribution": "exponential", "mean_ms": 1, "redraw_min_ms": 8,
                    "redraw_max_ms": 4}"#,
                "redraw_max_ms = 4: must be at least redraw_min_ms = 8",
            ),
            (r#"{"kind": "jitter", "distribution": "cauchy", "mean_ms": 1}"#, "unknown variant `cauchy`"),
            (r#"{"kind": "link", "rate_mbps": 1, "rate": 1}"#, "unknown field `rate`"),
            (r#"{"kind": "wire"}"#, "unknown variant `wire`"),
        ] {
            let error = refusal(element);
            assert!(error.contains(expected) && !error.contains('\n'), "{element}: {error}");
        }
    }

    #[test]
    fn bad_traces_are_named_in_one_line() {
        for (trace, expected) in [
            (r#""base_ms": 0"#, "times_ms, even, poisson: exactly one is needed"),
            (r#""times_ms": [1], "even": {"lines": 3, "period_ms": 3}"#, "exactly one is needed"),
            (r#""times_ms": []"#, "times_ms: empty"),
            (r#""times_ms": [0, 0]"#, "times_ms: last time = 0: must be above 0"),
            (r#""times_ms": [3, 2]"#, "times_ms[1] = 2: must not be before 3"),
            (r#""times_ms": [-1]"#, "times_ms[0] = -1: must not be negative"),
            (r#""times_ms": [0.5, 1], "mode": "mahimahi""#, "times_ms[0] = 0.5: must be whole ms"),
            (r#""times_ms": [1], "mode": "mahimahi", "opportunity_bytes": 1500"#, "must be 1504"),
            (r#""times_ms": [1], "opportunity_bytes": 0"#, "opportunity_bytes = 0"),
            (r#""times_ms": [1], "base_ms": -1"#, "base_ms = -1: must not be negative"),
            (r#""times_ms": [1], "count_in_service": true"#, "only with a `droptail` queue"),
            (r#""even": {"lines": 0, "period_ms": 3}"#, "even.lines = 0: must be from 1"),
            (
                r#""even": {"lines": 1, "period_ms": 3}, "mode": "mahimahi""#,
                "the last opportunity would be at 0",
            ),
            (r#""even": {"lines": 100000000, "period_ms": 86400000}"#, "too many for so long a period"),
            (r#""poisson": {"rate_mbps": 0}"#, "poisson.rate_mbps = 0: must be above 0"),
            (r#""poisson": {"rate_mbps": 900000, "period_s": 9000}"#, "too high for so long a trace"),
            (r#""poisson": {"rate_mbps": 1, "head_s": 61}"#, "poisson.head_s = 61: must be at most 60"),
            (r#""times_ms": [1], "schedule": [{"at_s": 1, "base_ms": 3}]"#, "only its queue can"),
            (r#""times_ms": [0.00001, 0.00001]"#, "2400000 Mbit/s on average: must be at most 1000000"),
            (r#""poisson": {"rate_mbps": 1000000, "period_s": 1}"#, "too high for so long a trace"),
        ] {
            let error = refusal(&format!(r#"{{"kind": "trace", {trace}}}"#));
            assert!(error.contains(expected) && !error.contains('\n'), "{trace}: {error}");
        }
    }

    #[test]
    fn bad_schedules_are_named_in_one_line() {
        for (schedule, expected) in [
            (r#"{"at_s": 1, "rate": 3}"#, "data[0] (link): schedule[0]: rate cannot be changed"),
            (r#"{"at_s": 1, "rate": 3}"#, "allowed: rate_mbps, framing_bytes, device_packets"),
            (r#"{"at_s": 1, "rate_mbps": -3}"#, "schedule[0]: rate_mbps = -3: must be above 0"),
            (
                r#"{"at_s": 1, "framing_bytes": 1.5}"#,
                "schedule[0]: framing_bytes = 1.5: must be a whole number",
            ),
            (r#"{"at_s": -1, "rate_mbps": 3}"#, "schedule[0]: at_s = -1: must not be negative"),
            (
                r#"{"at_s": 2, "rate_mbps": 3}, {"at_s": 1, "rate_mbps": 3}"#,
                "schedule[1]: at_s = 1: must not be before 2",
            ),
            (r#"{"at_s": 1}"#, "schedule[0]: nothing to change"),
            (r#"{"at_s": 1, "queue": {"packets": 0}}"#, "schedule[0]: queue `droptail`: packets = 0"),
            (r#"{"at_s": 1, "queue": {"target_ms": 4}}"#, "schedule[0]: queue `droptail`: target_ms cannot"),
            (r#"{"at_s": 1, "rate_mbps": "fast"}"#, "invalid type: string"),
            (r#"{"rate_mbps": 3}"#, "missing field `at_s`"),
        ] {
            let error = refusal(&format!(
                r#"{{"kind": "link", "rate_mbps": 1, "queue": {{"kind": "droptail", "packets": 3}},
                    "schedule": [{schedule}]}}"#
            ));
            assert!(error.contains(expected) && !error.contains('\n'), "{schedule}: {error}");
        }
        let error = refusal(
            r#"{"kind": "delay", "delay_ms": 1, "schedule": [{"at_s": 1, "queue": {"packets": 1}}]}"#,
        );
        assert!(error.contains("data[0] (delay): schedule[0]: queue: packets cannot be changed"), "{error}");
    }

    #[test]
    fn elements_that_multiply_are_bounded() {
        let many = |element: &str, count: usize| refusal(&vec![element; count].join(","));
        let copying = r#"{"kind": "duplicate", "probability": 1}"#;
        let message = many(copying, 60);
        assert!(
            message.starts_with("data: 60 elements of kind duplicate: allowed are at most 8"),
            "{message}"
        );
        let message = many(r#"{"kind": "delay", "delay_ms": 1}"#, 1001);
        assert_eq!(message, "data: 1001 elements: allowed are at most 1000");
    }

    #[test]
    fn a_narrow_mtu_is_refused() {
        let spec: PathSpec =
            serde_json::from_str(r#"{"data": [], "ack": [], "overhead_bytes": 36, "mtu_bytes": 50}"#)
                .unwrap();
        assert!(spec.validate().unwrap_err().to_string().contains("mtu_bytes = 50: must be at least 64"));
        assert!(serde_json::from_str::<PathSpec>(r#"{"data": [], "ack": [], "mtu": 50}"#).is_err());
    }

    #[test]
    fn bad_changes_of_the_mtu_are_named_in_one_line() {
        for (fragment, changes, expected) in [
            (true, r#"{"at_s": 1, "mtu_bytes": 63}"#, "schedule[0]: mtu_bytes = 63: must be at least 64"),
            (true, r#"{"at_s": -1, "mtu_bytes": 900}"#, "schedule[0]: at_s = -1: must not be negative"),
            (
                true,
                r#"{"at_s": 2, "mtu_bytes": 900}, {"at_s": 1, "mtu_bytes": 900}"#,
                "schedule[1]: at_s = 1: must not be before 2",
            ),
            (false, r#"{"at_s": 1, "mtu_bytes": 900}"#, "schedule: allowed with fragment = true"),
            (true, r#"{"at_s": 1, "fragment": true}"#, "unknown field `fragment`"),
        ] {
            let json = format!(
                r#"{{"data": [], "ack": [], "overhead_bytes": 36, "mtu_bytes": 1500, "fragment": {fragment}, "schedule": [{changes}]}}"#
            );
            let error = match serde_json::from_str::<PathSpec>(&json) {
                Ok(spec) => spec.validate().unwrap_err().to_string(),
                Err(error) => error.to_string(),
            };
            assert!(error.contains(expected) && !error.contains('\n'), "{changes}: {error}");
        }
    }

    #[test]
    fn what_real_packets_cannot_pass_is_named_in_one_line() {
        let station = r#"{"kind": "half-duplex", "rate_mbps": 1}"#;
        for (json, expected) in [
            (
                format!(r#"{{"data": [{{"kind": "delay", "delay_ms": 1}}, {station}], "ack": [{station}]}}"#),
                "data[1] (half-duplex): real packets cannot take turns on one channel; only simulated ones can",
            ),
            (
                r#"{"data": [], "ack": [], "fragment": true, "schedule": [{"at_s": 1, "mtu_bytes": 900}]}"#
                    .to_owned(),
                "schedule: the MTU of real devices stays; only that of a simulated path can change",
            ),
        ] {
            let path: PathSpec = serde_json::from_str(&json).unwrap();
            assert_eq!(path.validate(), Ok(()));
            assert_eq!(path.validate_real().unwrap_err().to_string(), expected);
        }
    }
}
