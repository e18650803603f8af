//! Behavior of receivers as senders of feedback: honest, or misbehaving (RFC 9743 7.6; Savage et al. 1999, "TCP
//! congestion control with a misbehaving receiver").

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use serde::{Deserialize, Deserializer, Serialize};
use strict_input::Refusal;

/// Behavior of a receiver: the transport's key `receiver`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReceiverBehavior {
    /// Sends correct ACKs at their times.
    #[default]
    Honest,
    /// Splits each ACK into several ACKs. Each one acknowledges an equal part of every packet.
    AckDivision {
        /// Number of ACKs sent instead of one.
        #[schemars(range(min = 1, max = 1000))]
        parts: u32,
    },
    /// Acknowledges packets before they arrive, and hides missing packets below them.
    Optimistic {
        /// Packets acknowledged beyond the highest number that arrived.
        #[schemars(range(min = 1, max = 1000))]
        ahead_packets: u32,
    },
    /// Sends no feedback during one interval.
    Silent {
        /// Beginning of the interval, s after the first packet arrived.
        #[schemars(range(min = 0, max = 1_000_000))]
        after_s: f64,
        /// Length of the interval, s; absent: to the end.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1_000_000))]
        for_s: Option<f64>,
    },
    /// Leaves out ACKs at random.
    DropFeedback {
        /// Probability that an ACK is left out.
        #[schemars(range(min = 0, max = 1))]
        probability: f64,
    },
}

impl ReceiverBehavior {
    /// Reads a table with `kind`, or the kind alone.
    ///
    /// # Errors
    /// The error of serde.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let table = if value.is_string() { serde_json::json!({ "kind": value }) } else { value };
        Self::deserialize(table).map_err(serde::de::Error::custom)
    }

    /// Returns the schema of the values that [`Self::read`] accepts.
    pub(crate) fn schema_of_either(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Self>();
        json_schema!({
            "anyOf": [table, {"type": "string", "enum": ["honest"]}]
        })
    }

    /// Checks all values.
    ///
    /// # Errors
    /// One line naming the key, the value and what is allowed.
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        let check = |name: &str, value: f64, min: f64, max: f64| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(Refusal::of_value(
                    format!("transport.receiver.{name}"),
                    value,
                    format!("allowed is {min} to {max}"),
                ))
            }
        };
        match self {
            Self::Honest => Ok(()),
            Self::AckDivision { parts } => check("parts", f64::from(*parts), 1.0, 1000.0),
            Self::Optimistic { ahead_packets } => {
                check("ahead_packets", f64::from(*ahead_packets), 1.0, 1000.0)
            }
            Self::Silent { after_s, for_s } => {
                check("after_s", *after_s, 0.0, 1e6)?;
                for_s.map_or(Ok(()), |length| check("for_s", length, 0.0, 1e6))
            }
            Self::DropFeedback { probability } => check("probability", *probability, 0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<ReceiverBehavior, Refusal> {
        let conduct = ReceiverBehavior::read(value).map_err(|error| Refusal::new(error.to_string()))?;
        conduct.validate().map(|()| conduct)
    }

    #[test]
    fn a_kind_alone_is_a_table_without_keys() {
        assert_eq!(read(json!("honest")), Ok(ReceiverBehavior::Honest));
        assert_eq!(read(json!({"kind": "honest"})), Ok(ReceiverBehavior::Honest));
        let error = read(json!("silent")).unwrap_err().to_string();
        assert!(error.contains("after_s"), "{error}");
    }

    #[test]
    fn every_kind_is_read_with_its_keys() {
        let kinds = [
            (json!({"kind": "ack-division", "parts": 4}), ReceiverBehavior::AckDivision { parts: 4 }),
            (
                json!({"kind": "optimistic", "ahead_packets": 3}),
                ReceiverBehavior::Optimistic { ahead_packets: 3 },
            ),
            (
                json!({"kind": "silent", "after_s": 1.5}),
                ReceiverBehavior::Silent { after_s: 1.5, for_s: None },
            ),
            (
                json!({"kind": "drop-feedback", "probability": 0.5}),
                ReceiverBehavior::DropFeedback { probability: 0.5 },
            ),
        ];
        for (value, conduct) in kinds {
            assert_eq!(read(value), Ok(conduct));
        }
        assert!(
            read(json!({"kind": "silent", "after_s": 1.0, "until_s": 2.0}))
                .unwrap_err()
                .to_string()
                .contains("until_s")
        );
        assert!(read(json!("rude")).unwrap_err().to_string().contains("rude"));
    }

    #[test]
    fn a_value_out_of_bounds_is_named_with_what_is_allowed() {
        let faults = [
            (json!({"kind": "ack-division", "parts": 0}), "parts = 0: allowed is 1 to 1000"),
            (
                json!({"kind": "optimistic", "ahead_packets": 1001}),
                "ahead_packets = 1001: allowed is 1 to 1000",
            ),
            (json!({"kind": "silent", "after_s": -1.0}), "after_s = -1: allowed is 0 to 1000000"),
            (json!({"kind": "silent", "after_s": 0.0, "for_s": -2.0}), "for_s = -2: allowed is 0 to 1000000"),
            (json!({"kind": "drop-feedback", "probability": 1.5}), "probability = 1.5: allowed is 0 to 1"),
        ];
        for (value, fault) in faults {
            assert_eq!(read(value).unwrap_err().to_string(), format!("transport.receiver.{fault}"));
        }
        assert!(ReceiverBehavior::DropFeedback { probability: f64::NAN }.validate().is_err());
    }
}
