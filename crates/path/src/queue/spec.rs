//! What can be asked of a queue: the `queue` table of a link.

use super::cobalt::CobaltSpec;
use super::control_law::Settings as CodelSettings;
use super::dualpi2::Dualpi2Spec;
use super::fifo::{fraction, milliseconds, milliseconds_or_zero, refuse, whole, whole_milliseconds};
use super::fq_codel::quantum;
use super::step::Threshold;
use super::{pie, pie_mahimahi, red};
use serde::{Deserialize, Serialize};
use units::Span;

/// Most queues of FQ-CoDel.
const MOST_FLOWS: u64 = 65_536;

/// A queue discipline with its parameters. `packets` and `bytes` limit the backlog; a backlog equal to a limit is
/// allowed, an absent limit is none. With `ecn`, ECN-capable packets are marked where others are dropped, except
/// when a size limit drops them.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueSpec {
    /// Keeps everything.
    Infinite {},
    /// Refuses arrivals that do not fit. At least one limit is needed.
    Droptail {
        /// Limit, packets.
        packets: Option<u64>,
        /// Limit, bytes.
        bytes: Option<u64>,
    },
    /// Drops the oldest packets for arrivals that do not fit. At least one limit is needed.
    Drophead {
        /// Limit, packets.
        packets: Option<u64>,
        /// Limit, bytes.
        bytes: Option<u64>,
    },
    /// Controlled delay, RFC 8289.
    Codel {
        /// Limit, packets.
        packets: Option<u64>,
        /// Limit, bytes.
        bytes: Option<u64>,
        /// Acceptable standing delay, ms.
        #[serde(default = "five")]
        target_ms: f64,
        /// Width of the estimator's window, ms.
        #[serde(default = "hundred")]
        interval_ms: f64,
        /// Mark instead of drop.
        #[serde(default)]
        ecn: bool,
        /// Differences to the RFC.
        #[serde(default)]
        quirk: QueueQuirk,
    },
    /// Proportional integral controller enhanced, RFC 8033.
    Pie {
        /// Limit, packets.
        packets: Option<u64>,
        /// Limit, bytes.
        bytes: Option<u64>,
        /// Delay to hold, ms.
        #[serde(default = "fifteen")]
        target_ms: f64,
        /// Time between updates of the probability, ms: 15 if absent, 30 with quirk `mahimahi`.
        t_update_ms: Option<f64>,
        /// Burst let in unharmed after calm, ms.
        #[serde(default = "hundred_fifty")]
        max_burst_ms: f64,
        /// Mark instead of drop while the probability is at most 10 %.
        #[serde(default)]
        ecn: bool,
        /// Differences to the RFC.
        #[serde(default)]
        quirk: QueueQuirk,
    },
    /// Random early detection. Both thresholds are needed, both in packets or both in bytes.
    Red {
        /// Limit, packets.
        packets: Option<u64>,
        /// Limit, bytes.
        bytes: Option<u64>,
        /// Average backlog below which nothing is dropped, packets.
        min_threshold_packets: Option<u64>,
        /// Average backlog at which the probability reaches its maximum, packets.
        max_threshold_packets: Option<u64>,
        /// The lower threshold in bytes.
        min_threshold_bytes: Option<u64>,
        /// The upper threshold in bytes.
        max_threshold_bytes: Option<u64>,
        /// Probability at the upper threshold.
        #[serde(default = "tenth")]
        max_probability: f64,
        /// Weight of a new sample in the average.
        #[serde(default = "red_weight")]
        weight: f64,
        /// Usual packet size, bytes; ages the average in idle times.
        #[serde(default = "full_packet")]
        packet_bytes: u64,
        /// Raise the probability to 1 between once and twice the upper threshold instead of at once.
        #[serde(default = "yes")]
        gentle: bool,
        /// Mark instead of drop, except where everything is dropped.
        #[serde(default)]
        ecn: bool,
    },
    /// Fair queueing with CoDel per flow, RFC 8290.
    FqCodel {
        /// Number of queues.
        #[serde(default = "fq_flows")]
        flows: u64,
        /// Bytes per round and flow.
        #[serde(default = "fq_quantum")]
        quantum_bytes: u64,
        /// Acceptable standing delay, ms.
        #[serde(default = "five")]
        target_ms: f64,
        /// Width of the estimator's window, ms.
        #[serde(default = "hundred")]
        interval_ms: f64,
        /// Limit over all flows, packets.
        #[serde(default = "fq_packets")]
        packets: u64,
        /// Limit over all flows, bytes (the role of Linux's memory limit).
        bytes: Option<u64>,
        /// Mark instead of drop.
        #[serde(default)]
        ecn: bool,
    },
    /// Marks every ECN-capable packet beyond one threshold. Exactly one threshold is needed.
    Step {
        /// Limit, packets.
        packets: Option<u64>,
        /// Limit, bytes.
        bytes: Option<u64>,
        /// Backlog, arrival included, beyond which arrivals are marked (DCTCP's K), packets.
        threshold_packets: Option<u64>,
        /// Time in the queue beyond which departures are marked (L4S), ms.
        threshold_ms: Option<f64>,
    },
    /// CoDel and BLUE, as in CAKE.
    Cobalt(CobaltSpec),
    /// Dual-queue coupled AQM for L4S, RFC 9332.
    Dualpi2(Dualpi2Spec),
}

/// Known differences to a discipline's RFC, kept for comparison with results measured with them.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum QueueQuirk {
    /// None: the RFC.
    #[default]
    None,
    /// As in Mahimahi's `mm-link`.
    Mahimahi,
}

fn five() -> f64 {
    5.0
}
fn fifteen() -> f64 {
    15.0
}
fn hundred() -> f64 {
    100.0
}
fn hundred_fifty() -> f64 {
    150.0
}
fn tenth() -> f64 {
    0.1
}
/// Floyd and Jacobson 1993.
fn red_weight() -> f64 {
    0.002
}
fn full_packet() -> u64 {
    1500
}
fn yes() -> bool {
    true
}
// RFC 8290 section 5.2.
fn fq_flows() -> u64 {
    1024
}
fn fq_quantum() -> u64 {
    1514
}
fn fq_packets() -> u64 {
    10_240
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self::Infinite {}
    }
}

impl QueueSpec {
    /// Checks the parameters.
    ///
    /// # Errors
    /// One line naming the discipline, the key, its value and what is allowed.
    pub fn validate(&self) -> Result<(), String> {
        self.check().map_err(|why| format!("queue `{}`: {why}", self.kind()))
    }

    /// The discipline's name, as in `kind`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Infinite {} => "infinite",
            Self::Droptail { .. } => "droptail",
            Self::Drophead { .. } => "drophead",
            Self::Codel { .. } => "codel",
            Self::Pie { .. } => "pie",
            Self::Red { .. } => "red",
            Self::FqCodel { .. } => "fq-codel",
            Self::Step { .. } => "step",
            Self::Cobalt(_) => "cobalt",
            Self::Dualpi2(_) => "dualpi2",
        }
    }

    fn check(&self) -> Result<(), String> {
        let (packets, bytes) = self.limits();
        for (name, limit) in [("packets", packets), ("bytes", bytes)] {
            limit.map_or(Ok(0), |limit| whole(name, limit as f64))?;
        }
        match self {
            Self::Droptail { .. } | Self::Drophead { .. } if packets.or(bytes).is_none() => {
                Err("`packets` or `bytes` is missing: allowed is a whole number, at least 1".to_owned())
            }
            Self::Codel { .. } => self.codel_settings().map(drop),
            Self::Pie { .. } => self.pie_settings().map(drop),
            Self::Red { .. } => self.red_settings().map(drop),
            Self::FqCodel { flows, quantum_bytes, .. } => {
                if !(1..=MOST_FLOWS).contains(flows) {
                    return Err(refuse("flows", *flows as f64, "a whole number from 1 to 65536"));
                }
                quantum(*quantum_bytes as f64)?;
                self.codel_settings().map(drop)
            }
            Self::Step { .. } => self.step_threshold().map(drop),
            Self::Cobalt(spec) => spec.settings().map(drop),
            Self::Dualpi2(spec) => spec.settings().map(drop),
            Self::Infinite {} | Self::Droptail { .. } | Self::Drophead { .. } => Ok(()),
        }
    }

    /// The size limits, packets and bytes.
    pub(super) fn limits(&self) -> (Option<u64>, Option<u64>) {
        match *self {
            Self::Infinite {} => (None, None),
            Self::Droptail { packets, bytes }
            | Self::Drophead { packets, bytes }
            | Self::Codel { packets, bytes, .. }
            | Self::Pie { packets, bytes, .. }
            | Self::Red { packets, bytes, .. }
            | Self::Step { packets, bytes, .. }
            | Self::Cobalt(CobaltSpec { packets, bytes, .. })
            | Self::Dualpi2(Dualpi2Spec { packets, bytes, .. }) => (packets, bytes),
            Self::FqCodel { packets, bytes, .. } => (Some(packets), bytes),
        }
    }

    /// Whether packets are dropped and marked as they arrive only, never as they leave.
    pub(crate) const fn decides_on_arrival(&self) -> bool {
        match self {
            Self::Infinite {}
            | Self::Droptail { .. }
            | Self::Drophead { .. }
            | Self::Pie { .. }
            | Self::Red { .. } => true,
            Self::Step { threshold_ms, .. } => threshold_ms.is_none(),
            Self::Codel { .. } | Self::FqCodel { .. } | Self::Cobalt(_) | Self::Dualpi2(_) => false,
        }
    }

    /// Whether Mahimahi's variant is asked for.
    pub(super) fn is_mahimahi(&self) -> bool {
        matches!(self, Self::Codel { quirk, .. } | Self::Pie { quirk, .. } if *quirk == QueueQuirk::Mahimahi)
    }

    /// Refuses what Mahimahi's variant cannot do.
    fn check_mahimahi(ecn: bool, times_ms: &[(&str, f64)]) -> Result<(), String> {
        if ecn {
            return Err("`ecn` = true: allowed is false with `quirk` = mahimahi".to_owned());
        }
        times_ms.iter().try_for_each(|(name, value)| whole_milliseconds(name, *value))
    }

    /// The settings of the control law, for CoDel and FQ-CoDel.
    pub(super) fn codel_settings(&self) -> Result<CodelSettings, String> {
        let (Self::Codel { target_ms, interval_ms, ecn, .. }
        | Self::FqCodel { target_ms, interval_ms, ecn, .. }) = *self
        else {
            return Err(format!("`{}` has no control law", self.kind()));
        };
        let mut settings = CodelSettings {
            target: milliseconds("target_ms", target_ms)?,
            interval: milliseconds("interval_ms", interval_ms)?,
            tick: Span::from_ns(1),
            one_packet_bytes: 0,
            ecn,
        };
        if self.is_mahimahi() {
            Self::check_mahimahi(ecn, &[("target_ms", target_ms), ("interval_ms", interval_ms)])?;
            settings.tick = Span::from_ms(1);
            settings.one_packet_bytes = super::codel::MAHIMAHI_PACKET_BYTES;
        }
        Ok(settings)
    }

    pub(super) fn pie_settings(&self) -> Result<pie::Settings, String> {
        let Self::Pie { target_ms, t_update_ms, max_burst_ms, ecn, .. } = *self else {
            return Err(format!("`{}` is not `pie`", self.kind()));
        };
        let mahimahi = self.is_mahimahi();
        let usual = if mahimahi { pie_mahimahi::T_UPDATE_MS } else { fifteen() };
        let t_update_ms = t_update_ms.unwrap_or(usual);
        let settings = pie::Settings {
            target: milliseconds("target_ms", target_ms)?,
            t_update: milliseconds("t_update_ms", t_update_ms)?,
            max_burst: milliseconds_or_zero("max_burst_ms", max_burst_ms)?,
            ecn,
        };
        if mahimahi {
            let times =
                [("target_ms", target_ms), ("t_update_ms", t_update_ms), ("max_burst_ms", max_burst_ms)];
            Self::check_mahimahi(ecn, &times)?;
        }
        Ok(settings)
    }

    pub(super) fn step_threshold(&self) -> Result<Threshold, String> {
        match *self {
            Self::Step { threshold_packets: Some(most), threshold_ms: None, .. } => {
                Ok(Threshold::Packets(whole("threshold_packets", most as f64)?))
            }
            Self::Step { threshold_packets: None, threshold_ms: Some(longest), .. } => {
                Ok(Threshold::Sojourn(milliseconds("threshold_ms", longest)?))
            }
            _ => Err("threshold: allowed is one of `threshold_packets` and `threshold_ms`".to_owned()),
        }
    }

    pub(super) fn red_settings(&self) -> Result<red::Settings, String> {
        let Self::Red {
            min_threshold_packets,
            max_threshold_packets,
            min_threshold_bytes,
            max_threshold_bytes,
            max_probability,
            weight,
            packet_bytes,
            gentle,
            ecn,
            ..
        } = *self
        else {
            return Err(format!("`{}` is not `red`", self.kind()));
        };
        let given = [min_threshold_packets, max_threshold_packets, min_threshold_bytes, max_threshold_bytes];
        let (min, max, in_bytes) = match given {
            [Some(min), Some(max), None, None] => (min, max, false),
            [None, None, Some(min), Some(max)] => (min, max, true),
            _ => {
                return Err("thresholds: allowed is `min_threshold_packets` with `max_threshold_packets`, \
                            or `min_threshold_bytes` with `max_threshold_bytes`"
                    .to_owned());
            }
        };
        let name = if in_bytes { "min_threshold_bytes" } else { "min_threshold_packets" };
        let settings = red::Settings {
            min: whole(name, min as f64)? as f64,
            max: max as f64,
            in_bytes,
            max_probability: fraction("max_probability", max_probability)?,
            weight: fraction("weight", weight)?,
            packet_bytes: whole("packet_bytes", packet_bytes as f64)?,
            gentle,
            ecn,
        };
        settings.check()?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<QueueSpec, String> {
        let spec: QueueSpec = serde_json::from_str(json).map_err(|error| error.to_string())?;
        spec.validate()?;
        Ok(spec)
    }

    #[test]
    fn defaults_are_those_of_the_rfcs() {
        assert_eq!(read(r#"{"kind": "infinite"}"#).unwrap(), QueueSpec::default());
        let codel = r#"{"kind": "codel", "packets": 100}"#;
        let QueueSpec::Codel { packets, bytes, target_ms, interval_ms, ecn, quirk } = read(codel).unwrap()
        else {
            panic!()
        };
        assert_eq!((packets, bytes, target_ms, interval_ms, ecn), (Some(100), None, 5.0, 100.0, false));
        assert_eq!(quirk, QueueQuirk::None);
        let settings = read(r#"{"kind": "pie"}"#).unwrap().pie_settings().unwrap();
        let ms = [settings.target, settings.t_update, settings.max_burst].map(Span::as_ms_f64);
        assert_eq!(ms, [15.0, 15.0, 150.0]);
        let settings = read(r#"{"kind": "pie", "quirk": "mahimahi"}"#).unwrap().pie_settings().unwrap();
        assert_eq!(settings.t_update, Span::from_ms(30));
        let QueueSpec::FqCodel { flows, quantum_bytes, packets, bytes, .. } =
            read(r#"{"kind": "fq-codel"}"#).unwrap()
        else {
            panic!()
        };
        assert_eq!((flows, quantum_bytes, packets, bytes), (1024, 1514, 10_240, None));
        let red = r#"{"kind": "red", "min_threshold_packets": 5, "max_threshold_packets": 15}"#;
        let settings = read(red).unwrap().red_settings().unwrap();
        assert_eq!((settings.weight, settings.max_probability, settings.gentle), (0.002, 0.1, true));
    }

    #[test]
    fn what_is_written_reads_back() {
        for json in [
            r#"{"kind": "infinite"}"#,
            r#"{"kind": "drophead", "bytes": 30000}"#,
            r#"{"kind": "codel", "quirk": "mahimahi", "target_ms": 20}"#,
            r#"{"kind": "pie", "ecn": true, "t_update_ms": 1.5}"#,
            r#"{"kind": "red", "min_threshold_bytes": 30000, "max_threshold_bytes": 35000, "gentle": false}"#,
            r#"{"kind": "fq-codel", "bytes": 1000000}"#,
            r#"{"kind": "step", "packets": 300, "threshold_packets": 20}"#,
            r#"{"kind": "step", "threshold_ms": 1}"#,
            r#"{"kind": "cobalt", "packets": 100, "target_ms": 3}"#,
            r#"{"kind": "dualpi2", "bytes": 100000, "l4s_range_ms": 0}"#,
        ] {
            let spec = read(json).unwrap();
            assert_eq!(read(&serde_json::to_string(&spec).unwrap()).unwrap(), spec);
        }
    }

    #[test]
    fn bad_values_are_named_with_what_is_allowed() {
        for (json, parts) in [
            (r#"{"kind": "droptail"}"#, ["queue `droptail`", "`packets` or `bytes`"]),
            (r#"{"kind": "droptail", "packets": 0}"#, ["`packets` = 0", "at least 1"]),
            (r#"{"kind": "drophead", "bytes": 0}"#, ["`bytes` = 0", "at least 1"]),
            (r#"{"kind": "codel", "target_ms": 0}"#, ["`target_ms` = 0", "above 0"]),
            (r#"{"kind": "codel", "interval_ms": -3}"#, ["`interval_ms` = -3", "above 0"]),
            (
                r#"{"kind": "codel", "quirk": "mahimahi", "target_ms": 2.5}"#,
                ["`target_ms` = 2.5", "whole ms"],
            ),
            (r#"{"kind": "codel", "quirk": "mahimahi", "ecn": true}"#, ["`ecn` = true", "false"]),
            (r#"{"kind": "pie", "t_update_ms": 0}"#, ["`t_update_ms` = 0", "above 0"]),
            (r#"{"kind": "pie", "max_burst_ms": -1}"#, ["`max_burst_ms` = -1", "from 0"]),
            (r#"{"kind": "red", "min_threshold_packets": 5}"#, ["thresholds", "max_threshold_packets"]),
            (
                r#"{"kind": "red", "min_threshold_packets": 5, "max_threshold_packets": 5}"#,
                ["`max_threshold_packets` = 5", "above the minimum"],
            ),
            (
                r#"{"kind": "red", "min_threshold_bytes": 5, "max_threshold_bytes": 9, "weight": 0}"#,
                ["`weight` = 0", "at most 1"],
            ),
            (r#"{"kind": "fq-codel", "flows": 0}"#, ["`flows` = 0", "65536"]),
            (r#"{"kind": "fq-codel", "quantum_bytes": 10}"#, ["`quantum_bytes` = 10", "from 64"]),
            (r#"{"kind": "step", "packets": 9}"#, ["queue `step`: threshold", "`threshold_ms`"]),
            (
                r#"{"kind": "step", "threshold_packets": 9, "threshold_ms": 1}"#,
                ["one of", "`threshold_packets`"],
            ),
            (r#"{"kind": "step", "threshold_ms": 0}"#, ["`threshold_ms` = 0", "above 0"]),
            (r#"{"kind": "cobalt", "target_ms": 0}"#, ["queue `cobalt`: `target_ms` = 0", "above 0"]),
            (r#"{"kind": "cobalt", "bytes": 0}"#, ["`bytes` = 0", "at least 1"]),
            (r#"{"kind": "dualpi2", "threshold_ms": 1}"#, ["unknown field `threshold_ms`", "l4s_min_ms"]),
            (r#"{"kind": "infinite", "packets": 3}"#, ["unknown field", "packets"]),
            (r#"{"kind": "codel", "targetms": 3}"#, ["unknown field `targetms`", "target_ms"]),
            (r#"{"kind": "codel", "quirk": "linux"}"#, ["unknown variant `linux`", "mahimahi"]),
            (r#"{"kind": "fifo"}"#, ["unknown variant `fifo`", "droptail"]),
        ] {
            let error = read(json).unwrap_err();
            assert!(
                parts.iter().all(|part| error.contains(part)) && !error.contains('\n'),
                "{json}: {error}"
            );
        }
    }
}
