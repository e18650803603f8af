//! One run from specification to statistics.

use crate::world::World;
use congestion::Registry;
use measure::{MeterConfig, RunStats, SenderCounters};
use runs::{LogLevel, Recorder, RunSpec, link_counters, meter_config, sender_counters};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// What a run leaves behind: the content of `stats.json`.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// The metrics.
    #[serde(flatten)]
    pub stats: RunStats,
    /// Seconds in the simulator's own loop, on this machine's clock.
    pub sim_wall_s: f64,
    /// Events the simulator processed.
    pub events: u64,
}

/// Runs `spec` with controllers of `registry`. With a directory, `packets.parquet` (unless `log` is `none`), `flows.parquet` and `links.parquet` are
/// written there. `stop` is asked now and then whether to give up.
///
/// # Errors
/// One line: what is wrong with the specification, what could not be written, or that the run was stopped.
pub fn run(
    spec: &RunSpec,
    registry: &Registry,
    directory: Option<&Path>,
    stop: &dyn Fn() -> bool,
) -> Result<RunReport, String> {
    let mut world = World::build(spec, registry)?;
    let config = MeterConfig { tells_reads: true, ..meter_config(spec) };
    let mut recorder = Recorder::create(config, directory, spec.log != LogLevel::None)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a run took is reported; nothing in the run depends on it"
    )]
    let started = Instant::now();
    let finished = world.run(&mut recorder, stop)?;
    let sim_wall_s = started.elapsed().as_secs_f64();
    if !finished && !recorder.has_failed() {
        return Err("stopped".to_owned());
    }
    let [data, ack] = world.directions();
    let links = link_counters(data, ack, spec);
    let senders: Vec<SenderCounters> =
        world.senders().enumerate().map(|(index, sender)| sender_counters(spec, index, sender)).collect();
    let stats = recorder.finish(&links, &senders)?;
    Ok(RunReport { stats, sim_wall_s, events: world.events() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lossy_spec(change: impl FnOnce(&mut serde_json::Value)) -> RunSpec {
        let mut spec = json!({
            "seed": 3, "duration_s": 5.0, "log": "none",
            "path": {
                "data": [
                    {"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "droptail", "packets": 20}},
                    {"kind": "loss", "probability": 0.01},
                    {"kind": "duplicate", "probability": 0.01},
                    {"kind": "delay", "delay_ms": 20.0},
                ],
                "ack": [{"kind": "loss", "probability": 0.02}, {"kind": "delay", "delay_ms": 20.0}],
                "overhead_bytes": 36, "mtu_bytes": 1500, "fragment": true,
            },
            "flows": [
                {"scheme": "reno", "controller": "reno"},
                {"scheme": "reno", "controller": "reno", "start_s": 1.0, "stop_s": 4.0, "rtt_ms": 90.0, "reverse": true},
            ],
        });
        change(&mut spec);
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn contents_are_released_exactly_when_their_packets_leave() {
        let spec = lossy_spec(|_| {});
        let mut world = World::build(&spec, &Registry::builtin()).unwrap();
        let mut recorder = Recorder::create(meter_config(&spec), None, false).unwrap();
        assert!(world.run(&mut recorder, &|| false).unwrap());
        // Fragments and copies share contents, so there are at most as many contents as packets.
        assert!(world.contents_in_use() as u64 <= world.packets_inside());
        assert!(world.packets_inside() < 200, "{} packets inside", world.packets_inside());
    }

    #[test]
    fn every_flow_moves_data_in_its_own_direction_and_time() {
        let report = run(&lossy_spec(|_| {}), &Registry::builtin(), None, &|| false).unwrap();
        let stats = serde_json::to_value(&report).unwrap();
        assert!(stats["flows"][0]["goodput_mbps"].as_f64().unwrap() > 1.0);
        assert!(stats["flows"][1]["goodput_mbps"].as_f64().unwrap() > 1.0);
        assert!(stats["flows"][1]["owd_min_ms"].as_f64().unwrap() >= 45.0);
    }

    #[test]
    fn wrong_specifications_are_refused_in_one_line() {
        let refusal = |change: fn(&mut serde_json::Value)| {
            run(&lossy_spec(change), &Registry::builtin(), None, &|| false).unwrap_err()
        };
        let message = refusal(|spec| spec["flows"][0]["controller"] = json!("rono"));
        assert!(message.starts_with("flows[0] (reno): unknown controller `rono`: allowed are"), "{message}");
        let message = refusal(|spec| spec["flows"][1]["rtt_ms"] = json!(10.0));
        assert!(message.contains("rtt_ms = 10: must be at least the path's own 40 ms"), "{message}");
        let message = refusal(|spec| spec["flows"][0]["parameters"] = json!({"beta": "7"}));
        assert!(message.contains("`beta` = `7`"), "{message}");
        assert!(refusal(|spec| spec["duration_s"] = json!(0.0)).contains("duration_s"));
        assert!(refusal(|spec| spec["flows"] = json!([])).contains("flows"));
        assert!(refusal(|spec| spec["flows"][0]["start_s"] = json!(9.0)).contains("start_s = 9"));
    }

    #[test]
    fn the_bottleneck_is_the_first_link_wherever_it_stands() {
        let spec = lossy_spec(|spec| {
            let access = json!({"kind": "link", "name": "access", "rate_mbps": 1000.0});
            spec["path"]["data"].as_array_mut().unwrap().insert(0, access);
        });
        let stats = serde_json::to_value(run(&spec, &Registry::builtin(), None, &|| false).unwrap()).unwrap();
        let names: Vec<&str> =
            stats["links"].as_array().unwrap().iter().map(|link| link["link"].as_str().unwrap()).collect();
        assert_eq!(names, ["data/link-2", "data/access"]);
    }

    #[test]
    fn a_run_can_be_stopped() {
        assert_eq!(
            run(&lossy_spec(|spec| spec["duration_s"] = json!(500.0)), &Registry::builtin(), None, &|| true)
                .unwrap_err(),
            "stopped"
        );
    }
}
