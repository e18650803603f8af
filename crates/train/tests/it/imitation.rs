//! Imitating networks: independent of the threads, better than their start, and errors for invalid input.

use crate::Patient;
use congestion::{Files, Registry};
use runs::{Observer, RunSpec};
use serde_json::json;
use train::{Error, Job, train};

fn settings(iterations: usize) -> String {
    json!({
        "rates_mbps": [5, 20], "delays_ms": [10, 30], "paths": [], "queue_ms": 5, "queue_share": 0,
        "drawn": {"count": 1, "rate_mbps": [5, 20], "rtt_ms": [20, 60], "buffer_bdp": [1, 2], "loss": 0.01},
        "transport": {"profile": "datagram", "payload_bytes": 1400, "header_bytes": 64},
        "jitter_ms": 3, "jitter_share": 0.3, "steps": 100, "iterations": iterations, "epochs": 4, "lessons": 200, "units": 32,
    })
    .to_string()
}

/// Returns settings with one path on which an episode has more than a hundred million packets.
pub(crate) fn endless() -> String {
    let fast = json!({
        "data": [{"kind": "link", "rate_mbps": 100_000, "queue": {"kind": "infinite"}}, {"kind": "delay", "delay_ms": 1}],
        "ack": [{"kind": "delay", "delay_ms": 1}],
    });
    let mut all: serde_json::Value = serde_json::from_str(&settings(1)).expect("settings");
    (all["rates_mbps"], all["drawn"]["count"]) = (json!([]), 0.into());
    (all["paths"], all["steps"]) = (json!([fast]), 10_000.into());
    all.to_string()
}

fn train_kind(kind: &str, settings: &str, jobs: usize, start: Option<&[u8]>) -> Result<Vec<u8>, Error> {
    let watch = Patient::default();
    train(kind, &Job { settings, seed: 3, jobs, seconds: f64::INFINITY, start, watch: &watch })
}

/// Returns the delivered packets of a flow of 10 s on a link that can send 8333 packets.
fn arrivals(controller: &str, network: Vec<u8>) -> usize {
    struct Count(usize);
    impl Observer for Count {
        fn record(&mut self, record: &record::Record) {
            self.0 += usize::from(record.event == record::Event::Deliver);
        }
    }
    let mut spec: RunSpec = serde_json::from_value(json!({
        "seed": 1, "duration_s": 10.0, "log": "none",
        "path": {"data": [{"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "infinite"}}, {"kind": "delay", "delay_ms": 20.0}],
                 "ack": [{"kind": "delay", "delay_ms": 20.0}], "overhead_bytes": 36},
        "flows": [{"scheme": "x", "controller": controller, "parameters": {"weights": "w"}, "application": {"kind": "greedy"},
                   "transport": {"profile": "datagram", "payload_bytes": 1400, "header_bytes": 64}}],
    }))
    .expect("a specification");
    spec.flows[0].files = Files::from([("w".to_owned(), network.into())]);
    let mut count = Count(0);
    simulator::simulate(&spec, &Registry::builtin(), &mut count).expect("a run");
    count.0
}

#[test]
fn what_is_learned_does_not_depend_on_threads() {
    for kind in ["indigo", "muses"] {
        assert_eq!(
            train_kind(kind, &settings(3), 3, None).unwrap(),
            train_kind(kind, &settings(3), 1, None).unwrap()
        );
    }
}

/// Returns settings with paths of every origin, jitter, loss, and queues that the expert counts.
fn varied() -> String {
    let mut all: serde_json::Value = serde_json::from_str(&settings(2)).expect("settings");
    let path = json!({
        "data": [{"kind": "link", "rate_mbps": 8, "queue": {"kind": "droptail", "packets": 30}}, {"kind": "delay", "delay_ms": 15},
                 {"kind": "loss", "probability": 0.002}],
        "ack": [{"kind": "delay", "delay_ms": 15, "schedule": [{"at_s": 0.5, "delay_ms": 17}]}], "mtu_bytes": 1500,
    });
    (all["paths"], all["queue_share"]) = (json!([path]), 0.3.into());
    (all["drawn"]["count"], all["jitter_share"]) = (3.into(), 0.7.into());
    all.to_string()
}

/// Returns the FNV-1a hash of the parameters in a file, which follow its header.
fn digest(file: &[u8]) -> u64 {
    let (length, rest) = file.split_first_chunk().expect("a length");
    let parameters = &rest[u64::from_le_bytes(*length) as usize..];
    parameters
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[test]
fn what_is_learned_stays_the_same() {
    let digests = ["indigo", "muses"].map(|kind| digest(&train_kind(kind, &varied(), 2, None).unwrap()));
    assert_eq!(digests, [0x2F44_FD9C_595D_CE99, 0xCC54_7D3A_F096_79FC]);
}

#[test]
fn what_is_learned_fills_a_link() {
    let file = train_kind("indigo", &settings(40), 2, None).unwrap();
    assert!(arrivals("indigo", file) > 6000);
}

#[test]
fn a_training_goes_on_from_a_file_of_its_own_alone() {
    let first = train_kind("indigo", &settings(2), 2, None).unwrap();
    let on = train_kind("indigo", &settings(3), 1, Some(&first)).unwrap();
    assert_ne!(on, first);
    assert_eq!(train_kind("indigo", &settings(3), 2, Some(&first)).unwrap(), on);
    let first_varied = train_kind("indigo", &varied(), 2, None).unwrap();
    let longer = varied().replace("\"iterations\":2", "\"iterations\":3");
    assert!(
        train_kind("indigo", &longer, 2, Some(&first_varied)).is_ok(),
        "paths are the same as they were given"
    );
    let error_text = |kind: &str, settings: &str, start: Option<&[u8]>| {
        let why = train_kind(kind, settings, 1, start).unwrap_err().to_string();
        assert!(!why.contains('\n'), "{why}");
        why
    };
    let other = settings(3).replace("\"queue_ms\":5", "\"queue_ms\":9");
    assert!(error_text("indigo", &other, Some(&first)).contains("other settings"));
    let other = longer.replace("\"packets\":30", "\"packets\":31");
    assert!(error_text("indigo", &other, Some(&first_varied)).contains("other settings"));
    let unknown = longer.replace("\"packets\":30", "\"packet\":30");
    assert!(
        error_text("indigo", &unknown, None).starts_with("paths[0].data[0].queue: unknown field `packet`")
    );
    assert!(error_text("muses", &settings(3), Some(&first)).starts_with("allowed is a file of this trainer"));
    for length in [0, 4, 8, 100, first.len() - 4] {
        assert!(error_text("indigo", &settings(3), Some(&first[..length])).contains("allowed is"));
    }
    assert!(
        error_text("indigo", &settings(3).replace("\"units\":32", "\"units\":33"), None)
            .starts_with("units = 33")
    );
    assert!(error_text("indigo", &settings(0), None).starts_with("iterations = 0: allowed is 1 to"));
    assert!(
        error_text("indigo", &settings(3).replace("[5,20]", "[0,20]"), None)
            .contains("allowed is 0.1 to 1000")
    );
}
