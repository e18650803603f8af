//! Simulation of one run, from specification to totals.

use crate::Error;
use crate::world::{Progress, Slice, World};
use congestion::{Agent, Registry};
use core::ops::Deref;
use path::Direction;
use runs::{Observer, RunSpec, Totals, link_counters, sender_counters};
use transport::Sender;
use units::Time;

/// A run that is ready to start, or continues from decision to decision. `S` holds its specification: a reference, or a
/// box.
#[derive(Debug)]
pub struct Simulation<S> {
    spec: S,
    world: World,
}

impl<S: Deref<Target = RunSpec>> Simulation<S> {
    /// Builds the run of `spec` with controllers of `registry`.
    ///
    /// # Errors
    /// One line: the fault in the specification.
    pub fn new(spec: S, registry: &Registry) -> Result<Self, Error> {
        let world = World::build(&spec, registry)?;
        Ok(Self { spec, world })
    }

    /// Executes the run and reports events to `observer`.
    ///
    /// # Errors
    /// The reason why the observer ended the run, or that the run has agents, whose decisions need a driver.
    pub fn run<O: Observer + ?Sized>(mut self, observer: &mut O) -> Result<Totals, Error> {
        loop {
            match self.advance(observer)? {
                Progress::Finished => return Ok(self.totals()),
                Progress::Paused => {}
                Progress::Due(flow) => return Err(Error::Undecided(Some(flow))),
                Progress::Waiting => return Err(Error::Undecided(None)),
            }
        }
    }

    /// Continues until a decision of an agent falls due, and stops before the flow sends anything more. If called again
    /// while the decision is due, it handles the other events of this instant.
    ///
    /// # Errors
    /// The reason why the observer ended the run, or the limit of the specification that was exceeded.
    pub fn advance<O: Observer + ?Sized>(&mut self, observer: &mut O) -> Result<Progress, Error> {
        self.advance_by(Slice::WHOLE, observer)
    }

    /// Continues as [`advance`](Self::advance), but at most to the end of `slice`.
    ///
    /// # Errors
    /// The errors of [`advance`](Self::advance).
    pub fn advance_by<O: Observer + ?Sized>(
        &mut self,
        slice: Slice,
        observer: &mut O,
    ) -> Result<Progress, Error> {
        self.world.advance(slice, observer)
    }

    /// Decides for the agent of flow number `flow` (from 0), which sends what the decision allows.
    pub fn decide<O: Observer + ?Sized>(&mut self, flow: usize, action: &[f32], observer: &mut O) {
        self.world.decide(flow, action, observer);
    }

    /// Returns the current time.
    pub const fn now(&self) -> Time {
        self.world.now()
    }

    /// Returns the specification of the run.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Returns the agent of flow number `flow` (from 0), if the flow has one.
    pub fn agent(&mut self, flow: usize) -> Option<&mut Agent> {
        self.world.sender(flow).agent()
    }

    /// Returns the sender of flow number `flow` (from 0).
    pub fn sender(&mut self, flow: usize) -> &Sender {
        self.world.sender(flow)
    }

    /// Returns both directions of the path, data first, with counters up to now.
    pub fn settled<O: Observer + ?Sized>(&mut self, observer: &mut O) -> &[Direction; 2] {
        self.world.settle(observer);
        self.world.directions()
    }

    /// Returns the final counters of the run.
    pub fn totals(&self) -> Totals {
        let [data, ack] = self.world.directions();
        let senders = self.world.senders().enumerate();
        Totals {
            links: link_counters(data, ack, &self.spec),
            senders: senders.map(|(index, sender)| sender_counters(&self.spec, index, sender)).collect(),
            events: self.world.events(),
        }
    }

    /// Returns the specification; its memory can serve the next run.
    pub fn into_spec(self) -> S {
        self.spec
    }
}

/// Simulates a run of `spec` with controllers of `registry` and reports events to `observer`.
///
/// This function is compiled once, for all observers. Each observer type of [`Simulation::run`] compiles the whole
/// packet processing again. That takes seconds to compile, and is a fifth faster if little is observed.
///
/// # Errors
/// One line: the fault in the specification, or the reason why the observer ended the run.
pub fn simulate(spec: &RunSpec, registry: &Registry, observer: &mut dyn Observer) -> Result<Totals, Error> {
    Simulation::new(spec, registry)?.run(observer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Read, RunMeter, Sample};
    use record::Record;
    use runs::{Backend, StopWhen, meter_config};
    use serde_json::{Value, json};
    use units::Span;

    struct Nobody;

    impl Observer for Nobody {}

    fn stats(spec: &RunSpec) -> Result<Value, Error> {
        let simulation = Simulation::new(spec, &Registry::builtin())?;
        let mut meter = RunMeter::new(meter_config(spec, Backend::Simulation));
        let totals = simulation.run(&mut meter)?;
        Ok(serde_json::to_value(totals.stats(meter)?).unwrap())
    }

    fn lossy_spec(change: impl FnOnce(&mut Value)) -> RunSpec {
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
        assert_eq!(world.advance(Slice::WHOLE, &mut Nobody), Ok(Progress::Finished));
        // Fragments and duplicates share contents, so there are at most as many contents as packets.
        assert!(world.contents_in_use() as u64 <= world.packets_inside());
        assert!(world.packets_inside() < 200, "{} packets inside", world.packets_inside());
    }

    #[test]
    fn every_flow_moves_data_in_its_own_direction_and_time() {
        let stats = stats(&lossy_spec(|_| {})).unwrap();
        assert!(stats["flows"][0]["goodput_mbps"].as_f64().unwrap() > 1.0);
        // The path loses 2 % of its packets in the ACK direction: about 1.1 Mbit/s over a long time.
        assert!(stats["flows"][1]["goodput_mbps"].as_f64().unwrap() > 0.5);
        assert!(stats["flows"][1]["owd_min_ms"].as_f64().unwrap() >= 45.0);
    }

    #[test]
    fn wrong_specifications_are_refused_in_one_line() {
        let refusal = |change: fn(&mut Value)| {
            simulate(&lossy_spec(change), &Registry::builtin(), &mut Nobody).unwrap_err().to_string()
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
        let stats = stats(&spec).unwrap();
        let names: Vec<&str> =
            stats["links"].as_array().unwrap().iter().map(|link| link["link"].as_str().unwrap()).collect();
        assert_eq!(names, ["data/link-2", "data/access"]);
    }

    #[test]
    fn a_run_can_be_stopped() {
        let spec = lossy_spec(|spec| spec["duration_s"] = json!(500.0));
        assert_eq!(
            simulate(&spec, &Registry::builtin(), &mut (Nobody, StopWhen(|| true))).unwrap_err().to_string(),
            "stopped"
        );
    }

    #[test]
    fn a_run_in_slices_is_the_same_run() {
        #[derive(Default)]
        struct Keep(Vec<Record>);
        impl Observer for Keep {
            fn record(&mut self, record: &Record) {
                self.0.push(*record);
            }
        }
        let spec = lossy_spec(|_| {});
        let registry = Registry::builtin();
        let mut whole = Keep::default();
        let totals = simulate(&spec, &registry, &mut whole).unwrap();
        for by_time in [false, true] {
            let (mut simulation, mut sliced) = (Simulation::new(&spec, &registry).unwrap(), Keep::default());
            let mut pauses = 0;
            loop {
                let until = simulation.now() + Span::from_ns(70_000_003);
                let slice = if by_time {
                    Slice { until, ..Slice::WHOLE }
                } else {
                    Slice { events: 97, ..Slice::WHOLE }
                };
                let (events, seen) = (simulation.totals().events, sliced.0.len());
                match simulation.advance_by(slice, &mut sliced).unwrap() {
                    Progress::Finished => break,
                    progress => assert_eq!(progress, Progress::Paused),
                }
                pauses += 1;
                assert!(by_time || simulation.totals().events == events + 97);
                assert!(!by_time || sliced.0[seen..].iter().all(|record| record.time_ns < until.as_ns()));
            }
            assert!(pauses > 30, "{pauses}");
            assert!(sliced.0 == whole.0, "other records");
            assert_eq!(simulation.totals().events, totals.events);
        }
    }

    #[test]
    fn a_run_in_which_nothing_takes_time_is_refused_or_stopped() {
        let refusal = |change: fn(&mut Value)| {
            simulate(&lossy_spec(change), &Registry::builtin(), &mut Nobody).unwrap_err().to_string()
        };
        let message = refusal(|spec| {
            spec["path"]["data"] = json!([]);
            spec["path"]["ack"] = json!([]);
        });
        assert_eq!(
            message,
            "path: data, ack: no element, so nothing takes time: needed is a link or a delay"
        );
        let message = refusal(|spec| {
            spec["path"]["data"] = json!([{"kind": "delay", "delay_ms": 0.0}]);
            spec["path"]["ack"] = json!([{"kind": "loss", "probability": 0.0}]);
            spec["most_events_per_s"] = json!(1_000_000);
        });
        assert!(message.starts_with("most_events_per_s = 1000000: 10"), "{message}");
        assert!(message.ends_with("events from 0.000000 s to 0.000000 s"), "{message}");
    }

    #[test]
    fn a_run_that_fills_the_memory_is_stopped() {
        let spec = lossy_spec(|spec| {
            spec["path"]["data"] =
                json!([{"kind": "link", "rate_mbps": 0.001}, {"kind": "delay", "delay_ms": 9.0}]);
            spec["flows"][0]["controller"] = json!("unresponsive");
            spec["flows"][0]["parameters"] = json!({"line_rate_mbps": "1000"});
            spec["flows"][0]["transport"] = json!({"profile": "datagram"});
            spec["most_packets"] = json!(100_000);
        });
        let message = simulate(&spec, &Registry::builtin(), &mut Nobody).unwrap_err().to_string();
        assert!(message.starts_with("most_packets = 100000: 1"), "{message}");
        assert!(message.contains(" packets on the path or unacknowledged at "), "{message}");
    }

    #[test]
    fn budgets_have_bounds() {
        let refusal = |change: fn(&mut Value)| {
            simulate(&lossy_spec(change), &Registry::builtin(), &mut Nobody).unwrap_err().to_string()
        };
        let message = refusal(|spec| spec["most_events_per_s"] = json!(0));
        assert_eq!(message, "most_events_per_s = 0: allowed is 1 to 1000000000000");
        let message = refusal(|spec| spec["sample_interval_s"] = json!(1e-9));
        assert_eq!(message, "sample_interval_s = 0.000000001: must be at least 0.00001 with duration_s = 5");
        let message = refusal(|spec| {
            spec["flows"][0]["application"] = json!({"kind": "poisson", "rate_mbps": 1e5, "packet_bytes": 1});
        });
        assert!(
            message.contains("12500000000 packets a second: allowed are most_events_per_s = 100000000"),
            "{message}"
        );
    }

    #[test]
    fn an_observer_of_any_kind_is_told_the_same() {
        #[derive(Default)]
        struct Count([u64; 5]);
        impl Observer for Count {
            fn record(&mut self, _: &Record) {
                self.0[0] += 1;
            }
            fn read(&mut self, _: &Read) {
                self.0[1] += 1;
            }
            fn sample(&mut self, _: &Sample<'_>) {
                self.0[2] += 1;
            }
            fn wants_values(&self) -> bool {
                true
            }
            fn flow_value(&mut self, _: Time, _: u32, _: &str, _: &str, _: f64) {
                self.0[3] += 1;
            }
            fn link_value(&mut self, _: Time, _: &str, _: &str, _: &str, _: f64) {
                self.0[4] += 1;
            }
        }
        let spec = lossy_spec(|_| {});
        let registry = Registry::builtin();
        let (mut alone, mut pair, mut unsized_one) =
            (Count::default(), (Nobody, Count::default()), Count::default());
        simulate(&spec, &registry, &mut alone).unwrap();
        simulate(&spec, &registry, &mut pair).unwrap();
        let observer: &mut dyn Observer = &mut unsized_one;
        simulate(&spec, &registry, observer).unwrap();
        assert!(alone.0.iter().all(|&count| count >= 50), "{:?}", alone.0);
        assert_eq!((alone.0, alone.0), (pair.1.0, unsized_one.0));
    }
}
