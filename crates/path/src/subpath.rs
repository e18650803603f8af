//! Subpaths: the elements of a path that one flow passes, on paths with several bottlenecks.
//!
//! Data enter at one named element and leave behind another. In the other direction ACKs pass everything, unless its
//! elements have these names too. Then ACKs enter at the element named like the data's last one, and leave behind the
//! element named like the data's first one.

use crate::spec::{ElementSpec, PathSpec};
use strict_input::Refusal;

/// Range of elements of a direction, from `from` up to but excluding `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subpath {
    /// First element.
    pub from: usize,
    /// Element behind the last one.
    pub to: usize,
}

impl Subpath {
    /// Returns all of `elements`.
    const fn whole(elements: &[ElementSpec]) -> Self {
        Self { from: 0, to: elements.len() }
    }

    pub(crate) fn of(self, elements: &[ElementSpec]) -> &[ElementSpec] {
        &elements[self.from..self.to]
    }
}

/// Returns the index of the element named `name`, if there is one.
fn position(elements: &[ElementSpec], name: &str, direction: &str) -> Result<Option<usize>, Refusal> {
    let mut matches = elements
        .iter()
        .enumerate()
        .filter(|(_, element)| element.name() == Some(name))
        .map(|(index, _)| index);
    match (matches.next(), matches.next()) {
        (Some(_), Some(_)) => {
            Err(Refusal::new(format!("two elements of the {direction} direction have the name `{name}`")))
        }
        (first, _) => Ok(first),
    }
}

fn unknown(key: &str, name: &str, elements: &[ElementSpec], direction: &str) -> Refusal {
    let names: Vec<&str> = elements.iter().filter_map(ElementSpec::name).collect();
    let allowed = if names.is_empty() { "none has a name".to_owned() } else { names.join(", ") };
    let allowed = format!("must be the name of an element of the {direction} direction: {allowed}");
    Refusal::of_value(key, format_args!("`{name}`"), allowed)
}

impl PathSpec {
    /// Returns the parts of the data and of the ack direction that a flow passes. The flow's data enter at the element
    /// named `enter` and leave behind the one named `leave`; with `reverse` the data take the ack direction.
    ///
    /// # Errors
    /// One line if no element or more than one has such a name, or if the names are in the wrong order.
    pub fn subpaths(
        &self,
        enter: Option<&str>,
        leave: Option<&str>,
        reverse: bool,
    ) -> Result<[Subpath; 2], Refusal> {
        let (data, ack) = ((self.data.as_slice(), "data"), (self.ack.as_slice(), "ack"));
        let ((there, name), (back, back_name)) = if reverse { (ack, data) } else { (data, ack) };
        let resolve = |key, label: Option<&str>| match label {
            Some(label) => {
                position(there, label, name)?.map(Some).ok_or_else(|| unknown(key, label, there, name))
            }
            None => Ok(None),
        };
        let (first, last) = (resolve("enter", enter)?, resolve("leave", leave)?);
        let forward = Subpath { from: first.unwrap_or(0), to: last.map_or(there.len(), |last| last + 1) };
        if forward.from >= forward.to && first.is_some() {
            return Err(Refusal::of_key(
                format!("enter = `{}`, leave = `{}`", enter.unwrap_or_default(), leave.unwrap_or_default()),
                "packets pass `leave` before `enter`",
            ));
        }
        let mut backward = Subpath::whole(back);
        if let Some(leave) = leave {
            backward.from = position(back, leave, back_name)?.unwrap_or(0);
        }
        if let Some(enter) = enter {
            backward.to = position(back, enter, back_name)?.map_or(back.len(), |index| index + 1);
        }
        if backward.from >= backward.to && !back.is_empty() {
            return Err(Refusal::of_key(
                "enter, leave",
                format!(
                    "packets of the {back_name} direction pass the element resolve like `enter` first; it \
                 must be the last"
                ),
            ));
        }
        Ok(if reverse { [backward, forward] } else { [forward, backward] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Span, Time};

    fn path(ack: &str) -> PathSpec {
        let json = format!(
            r#"{{"data": [{{"kind": "link", "name": "a", "rate_mbps": 1}}, {{"kind": "delay", "name": "b", "delay_ms": 3}},
                {{"kind": "delay", "name": "c", "delay_ms": 5}}, {{"kind": "delay", "delay_ms": 7}}], "ack": [{ack}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    const NAMED: &str = r#"{"kind": "delay", "name": "c", "delay_ms": 10}, {"kind": "delay", "name": "b", "delay_ms": 20},
        {"kind": "delay", "delay_ms": 40}"#;

    #[test]
    fn base_rtts_follow_the_schedules_of_what_is_passed() {
        let json = r#"{
            "data": [{"kind": "link", "name": "a", "rate_mbps": 12, "schedule": [{"at_s": 7, "rate_mbps": 6}]},
                     {"kind": "delay", "name": "b", "delay_ms": 20, "schedule": [{"at_s": 3, "delay_ms": 40}]}],
            "ack": [{"kind": "delay", "delay_ms": 20, "schedule": [{"at_s": 3, "delay_ms": 30},
                     {"at_s": 5, "delay_ms": 10}]}]}"#;
        let mut path: PathSpec = serde_json::from_str(json).unwrap();
        let rtts = |path: &PathSpec, leave| path.base_rtts_within(path.subpaths(None, leave, false).unwrap());
        let expected = |steps: [(u64, u64); 3]| {
            steps.map(|(s, ms)| (Time::ZERO + Span::from_secs(s), Span::from_ms(ms)))
        };
        assert_eq!(rtts(&path, None), expected([(0, 40), (3, 70), (5, 50)]));
        assert_eq!(rtts(&path, Some("a")), expected([(0, 20), (3, 30), (5, 10)]));
        let walking = r#"{"kind": "delay", "delay_ms": 20, "walk": {"delay_ms": {"corr": 0.5, "std": 1.0, "min": 1.0, "max": 20.0}}}"#;
        path.data.push(serde_json::from_str(walking).unwrap());
        assert!(rtts(&path, None).is_empty());
        assert_eq!(rtts(&path, Some("b")).len(), 3);
    }

    #[test]
    fn data_passes_its_subpath_and_acks_the_whole_unless_named_alike() {
        let ms = |path: &PathSpec, enter, leave| {
            let subpaths = path.subpaths(enter, leave, false).unwrap();
            path.base_rtt_within(subpaths).as_ms_f64()
        };
        let (whole, named) = (path(r#"{"kind": "delay", "delay_ms": 100}"#), path(NAMED));
        assert_eq!(ms(&whole, None, None), 115.0);
        assert_eq!(ms(&whole, None, None), whole.base_rtt().as_ms_f64());
        assert_eq!(ms(&whole, Some("b"), Some("b")), 103.0);
        assert_eq!(ms(&whole, Some("c"), None), 112.0);
        assert_eq!(ms(&whole, None, Some("a")), 100.0);
        assert_eq!(ms(&named, None, None), 85.0);
        // 3 + 5 in the data direction, c and b in the ACK direction.
        assert_eq!(ms(&named, Some("b"), Some("c")), 38.0);
        // 3 in the data direction; b in the ACK direction.
        assert_eq!(ms(&named, Some("b"), Some("b")), 23.0);
        // 3 + 5 + 7 in the data direction; the ACK direction has no `a` and ends behind `b`.
        assert_eq!(ms(&named, Some("b"), None), 45.0);
    }

    #[test]
    fn flows_that_go_the_other_way_name_elements_of_theirs() {
        let path = path(NAMED);
        let [data, ack] = path.subpaths(Some("c"), Some("b"), true).unwrap();
        assert_eq!((ack, data), (Subpath { from: 0, to: 2 }, Subpath { from: 1, to: 3 }));
    }

    #[test]
    fn wrong_names_are_refused_in_one_line() {
        let twice = path(
            r#"{"kind": "delay", "name": "a", "delay_ms": 1}, {"kind": "delay", "name": "a", "delay_ms": 1}"#,
        );
        let disordered = path(
            r#"{"kind": "delay", "name": "a", "delay_ms": 1}, {"kind": "delay", "name": "b", "delay_ms": 1}"#,
        );
        for (path, enter, leave, expected) in [
            (
                &twice,
                Some("d"),
                None,
                "enter = `d`: must be the name of an element of the data direction: a, b, c",
            ),
            (&twice, None, Some("delay"), "leave = `delay`: must be"),
            (&twice, Some("b"), Some("a"), "packets pass `leave` before `enter`"),
            (&twice, Some("a"), None, "two elements of the ack direction have the name `a`"),
            (&disordered, Some("a"), Some("b"), "it must be the last"),
        ] {
            let error = path.subpaths(enter, leave, false).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }
}
