//! Reading and refusing `queue` tables of every kind.

use super::*;

fn read(json: &str) -> Result<QueueSpec, Refusal> {
    let spec: QueueSpec = serde_json::from_str(json).map_err(|error| Refusal::new(error.to_string()))?;
    spec.validate()?;
    Ok(spec)
}

#[test]
fn defaults_are_those_of_the_rfcs() {
    assert_eq!(read(r#"{"kind": "infinite"}"#).unwrap(), QueueSpec::default());
    let codel = r#"{"kind": "codel", "packets": 100}"#;
    let QueueSpec::Codel(codel) = read(codel).unwrap() else { panic!("another queue") };
    assert_eq!(
        (codel.packets, codel.bytes, codel.ecn, codel.quirk),
        (Some(100), None, false, QueueQuirk::None)
    );
    assert_eq!((codel.target_ms, codel.interval_ms), (5.0, 100.0));
    let QueueSpec::FqCodel(fair) = read(r#"{"kind": "fq-codel"}"#).unwrap() else { panic!("another queue") };
    assert_eq!((fair.flows, fair.quantum_bytes, fair.packets, fair.bytes), (1024, 1514, 10_240, None));
    let red = r#"{"kind": "red", "min_threshold_packets": 5, "max_threshold_packets": 15}"#;
    let QueueSpec::Red(red) = read(red).unwrap() else { panic!("another queue") };
    assert_eq!((red.weight, red.max_probability, red.gentle), (0.002, 0.1, true));
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
        (r#"{"kind": "droptail", "packets": 0}"#, ["packets = 0", "at least 1"]),
        (r#"{"kind": "drophead", "bytes": 0}"#, ["bytes = 0", "at least 1"]),
        (r#"{"kind": "codel", "target_ms": 0}"#, ["target_ms = 0", "above 0"]),
        (r#"{"kind": "codel", "interval_ms": -3}"#, ["interval_ms = -3", "above 0"]),
        (r#"{"kind": "codel", "quirk": "mahimahi", "target_ms": 2.5}"#, ["target_ms = 2.5", "whole ms"]),
        (r#"{"kind": "codel", "quirk": "mahimahi", "ecn": true}"#, ["ecn = true", "false"]),
        (r#"{"kind": "pie", "t_update_ms": 0}"#, ["t_update_ms = 0", "above 0"]),
        (r#"{"kind": "pie", "max_burst_ms": -1}"#, ["max_burst_ms = -1", "not be negative"]),
        (r#"{"kind": "red", "min_threshold_packets": 5}"#, ["thresholds", "max_threshold_packets"]),
        (
            r#"{"kind": "red", "min_threshold_packets": 5, "max_threshold_packets": 5}"#,
            ["max_threshold_packets = 5", "above the minimum"],
        ),
        (
            r#"{"kind": "red", "min_threshold_bytes": 5, "max_threshold_bytes": 9, "weight": 0}"#,
            ["weight = 0", "at most 1"],
        ),
        (r#"{"kind": "fq-codel", "flows": 0}"#, ["flows = 0", "65536"]),
        (r#"{"kind": "fq-codel", "quantum_bytes": 10}"#, ["quantum_bytes = 10", "from 64"]),
        (r#"{"kind": "step", "packets": 9}"#, ["queue `step`: threshold", "`threshold_ms`"]),
        (r#"{"kind": "step", "threshold_packets": 9, "threshold_ms": 1}"#, ["one of", "`threshold_packets`"]),
        (r#"{"kind": "step", "threshold_ms": 0}"#, ["threshold_ms = 0", "above 0"]),
        (r#"{"kind": "cobalt", "target_ms": 0}"#, ["queue `cobalt`: target_ms = 0", "above 0"]),
        (r#"{"kind": "cobalt", "bytes": 0}"#, ["bytes = 0", "at least 1"]),
        (r#"{"kind": "dualpi2", "threshold_ms": 1}"#, ["unknown field `threshold_ms`", "l4s_min_ms"]),
        (r#"{"kind": "infinite", "packets": 3}"#, ["unknown field", "packets"]),
        (r#"{"kind": "codel", "targetms": 3}"#, ["unknown field `targetms`", "target_ms"]),
        (r#"{"kind": "codel", "quirk": "linux"}"#, ["unknown variant `linux`", "mahimahi"]),
        (r#"{"kind": "fifo"}"#, ["unknown variant `fifo`", "droptail"]),
    ] {
        let error = read(json).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)) && !error.contains('\n'), "{json}: {error}");
    }
}
