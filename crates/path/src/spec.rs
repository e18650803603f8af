//! Settings of a path: its elements in order, and its encapsulation.

use crate::change::{Change, WalkSpec};
use crate::element::Table;
use crate::elements::{element_kinds, tables};
use crate::encapsulation::{Encapsulation, MtuChange};
use crate::queues::QueueSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use strict_input::Refusal;
use units::Time;

/// Generates [`ElementSpec`] from the list of kinds.
macro_rules! define {
    ($($(#[$doc:meta])* $name:literal => $module:ident::$kind:ident($table:ident),)+) => {
        /// One element of a path. Packets pass the elements of a direction in the order listed.
        #[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum ElementSpec {
            $($(#[$doc])* #[serde(rename = $name)] $kind(tables::$table),)+
        }

        impl ElementSpec {
            /// Returns the value of `kind`.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $name,)+ }
            }

            pub(crate) fn table(&self) -> &dyn Table {
                match self { $(Self::$kind(table) => table,)+ }
            }

            pub(crate) fn table_mut(&mut self) -> &mut dyn Table {
                match self { $(Self::$kind(table) => table,)+ }
            }
        }
    };
}

element_kinds!(define);

impl ElementSpec {
    /// Returns the name that the user gave.
    pub fn name(&self) -> Option<&str> {
        self.table().name()
    }

    /// Returns the queue, if the element has one.
    pub fn queue(&self) -> Option<&QueueSpec> {
        self.table().queue()
    }

    pub(crate) fn schedule(&self) -> &[Change] {
        self.table().schedule()
    }

    pub(crate) fn walk(&self) -> Option<&WalkSpec> {
        self.table().walk()
    }

    pub(crate) fn check(&self, running: bool) -> Result<(), Refusal> {
        self.table().check(running)
    }

    /// Sets the numeric setting `name`, without checking its range.
    pub(crate) fn set(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.table_mut().set(name, value)
    }

    /// Sets the numeric setting `name` to the nearest allowed value: whole numbers are rounded.
    pub(crate) fn set_nearest(&mut self, name: &str, value: f64) -> Result<(), Refusal> {
        self.set(name, value).or_else(|_| self.set(name, value.round()))
    }

    /// Returns the element at the start, before a step of its walks.
    pub(crate) fn at_start(&self) -> Cow<'_, Self> {
        let Some(walk) = self.walk() else { return Cow::Borrowed(self) };
        let mut element = self.clone();
        for (name, value) in walk.starts() {
            let result = element.set_nearest(name, value);
            debug_assert!(result.is_ok(), "checked before: {result:?}");
        }
        Cow::Owned(element)
    }
}

/// Returns the names of elements in statistics: the user's name, or the kind, numbered from the second of a kind on.
pub(crate) fn names(elements: &[ElementSpec]) -> impl Iterator<Item = String> {
    elements.iter().enumerate().map(|(index, element)| {
        let kind = element.kind();
        let before = elements[..index].iter().filter(|other| other.kind() == kind).count();
        match (element.name(), before) {
            (Some(name), _) => name.to_owned(),
            (None, 0) => kind.to_owned(),
            (None, _) => format!("{kind}-{}", before + 1),
        }
    })
}

/// A path: the elements of the data direction and of the ACK direction, and the encapsulation of datagrams in packets.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// Elements from sender to receiver.
    pub data: Vec<ElementSpec>,
    /// Elements from receiver to sender.
    pub ack: Vec<ElementSpec>,
    /// Bytes added to every datagram, and to every fragment of one.
    #[serde(default)]
    pub overhead_bytes: u32,
    /// Largest packet, overhead included; no limit if absent.
    pub mtu_bytes: Option<u32>,
    /// Fragment datagrams that are too large instead of refusing them.
    #[serde(default)]
    pub fragment: bool,
    /// Changes of the MTU during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<MtuChange>,
}

impl PathSpec {
    /// Returns the encapsulation at the start.
    pub fn encapsulation(&self) -> Encapsulation {
        Encapsulation {
            overhead_bytes: self.overhead_bytes,
            mtu_bytes: self.mtu_bytes,
            fragment: self.fragment,
        }
    }

    /// Returns the encapsulation after each change during the run, with its time.
    pub fn later_encapsulations(&self) -> impl Iterator<Item = (Time, Encapsulation)> {
        self.encapsulation().after(&self.schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_written_and_read_back() {
        let json = r#"{
            "data": [{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 9}},
                     {"kind": "loss", "probability": 0.01}, {"kind": "delay", "delay_ms": 28}],
            "ack": [{"kind": "netem", "delay_ms": 10.5}, {"kind": "delay", "delay_ms": 2,
                     "schedule": [{"at_s": 5, "delay_ms": 80}]}],
            "overhead_bytes": 36, "mtu_bytes": 1500, "fragment": true,
            "schedule": [{"at_s": 3, "mtu_bytes": 1400}]}"#;
        let spec: PathSpec = serde_json::from_str(json).unwrap();
        assert_eq!(spec.validate(), Ok(()));
        let expected = Encapsulation { overhead_bytes: 36, mtu_bytes: Some(1500), fragment: true };
        assert_eq!(spec.encapsulation(), expected);
        let later: Vec<_> = spec.later_encapsulations().collect();
        assert_eq!(later, [(Time::from_secs_f64(3.0), Encapsulation { mtu_bytes: Some(1400), ..expected })]);
        let text = serde_json::to_string(&spec).unwrap();
        let again: PathSpec = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
    }

    #[test]
    fn elements_that_are_made_are_those_that_are_read() {
        use crate::{DelaySpec, DroptailSpec, JitterSpec, LinkSpec, LossSpec};
        let json = r#"[{"kind": "link", "rate_mbps": 12, "queue": {"kind": "droptail", "packets": 9}},
            {"kind": "link", "rate_mbps": 3}, {"kind": "delay", "delay_ms": 28}, {"kind": "loss", "probability": 0.01},
            {"kind": "jitter", "distribution": "exponential", "mean_ms": 2}]"#;
        let read: Vec<ElementSpec> = serde_json::from_str(json).unwrap();
        let queue = QueueSpec::Droptail(DroptailSpec { packets: Some(9), bytes: None });
        let originals = [
            ElementSpec::Link(LinkSpec::new(12.0, queue.clone())),
            ElementSpec::Link(LinkSpec::new(3.0, QueueSpec::default())),
            ElementSpec::Delay(DelaySpec::new(28.0)),
            ElementSpec::Loss(LossSpec::random(0.01)),
            ElementSpec::Jitter(JitterSpec::exponential(2.0)),
        ];
        assert_eq!(originals, *read);
        let limits = originals.each_ref().map(|element| element.queue().and_then(QueueSpec::packets));
        assert_eq!(limits, [Some(9), None, None, None, None]);
        assert_eq!(originals[2].queue(), None);
    }

    #[test]
    fn every_element_can_be_written_and_read_back() {
        let json = r#"[{"kind": "trace", "poisson": {"rate_mbps": 3, "head_s": 1}, "mode": "mahimahi", "once": true},
            {"kind": "trace", "even": {"lines": 9, "period_ms": 4.5}}, {"kind": "poisson", "rate_mbps": 1},
            {"kind": "shaper", "rate_mbps": 1, "burst_bytes": 9}, {"kind": "jitter", "distribution": "uniform",
            "mean_ms": 1, "deviation_ms": 1}, {"kind": "policer", "rate_mbps": 1, "burst_bytes": 9, "action": "mark"},
            {"kind": "aggregate", "slot_ms": 1}, {"kind": "slotted", "slot_ms": 1},
            {"kind": "blackout", "every_ms": 15000, "lasts_ms": 80, "first_ms": 3, "hold": true},
            {"kind": "granted", "request_ms": 5, "grant_ms": 4}, {"kind": "shared", "rate_mbps": 3, "least_mbps": 1, "full_bytes": 9},
            {"kind": "gilbert-elliott", "p": 0.1, "r": 0.2}, {"kind": "loss", "keep_every": 4, "min_bytes": 9, "max_bytes": 90},
            {"kind": "half-duplex", "channel": "air", "rate_mbps": 9, "access_us": 50, "turn_packets": 4},
            {"kind": "remark", "codepoint": "ect", "becomes": "not-ect", "probability": 0.5},
            {"kind": "reorder", "probability": 0.1, "gap": 3}, {"kind": "duplicate", "probability": 0.1},
            {"kind": "link", "rate_mbps": 3, "schedule": [{"at_s": 1, "rate_mbps": 2, "queue": {}}]}]"#;
        let elements: Vec<ElementSpec> = serde_json::from_str(json).unwrap();
        assert!(elements.iter().all(|element| element.validate().is_ok()));
        let text = serde_json::to_string(&elements).unwrap();
        let again: Vec<ElementSpec> = serde_json::from_str(&text).unwrap();
        assert!(again.iter().all(|element| element.validate().is_ok()));
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
    }
}
