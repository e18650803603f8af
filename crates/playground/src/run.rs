//! Run of a page, which advances in slices and can be inspected between them.

use crate::digest::Digest;
use crate::error::Error;
use crate::kept::Kept;
use congestion::{Files, ParameterKind, Registry};
use measure::{RunMeter, RunStats};
use record::Record;
use runs::{Backend, Observer, RunSpec, meter_config};
use serde::Serialize;
use simulator::{Progress, Simulation, Slice};
use units::Time;
use views::{NoRows, SeriesSelector, View};

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The run continues.
    Paused,
    /// The run is over.
    Finished,
}

/// Observer that computes the digest.
#[derive(Clone, Copy, Debug, Default)]
struct Counted(Digest);

impl Observer for Counted {
    #[inline]
    fn record(&mut self, record: &Record) {
        self.0.add(record);
    }
}

/// Run with its data so far.
#[derive(Debug)]
pub struct Run {
    simulation: Simulation<Box<RunSpec>>,
    /// Observers; the meter is taken when the totals are made.
    observers: (Option<RunMeter>, Counted, Kept),
    is_over: bool,
    totals: Option<String>,
    /// Number of retransmissions of each flow, after the run's end.
    retransmissions: Vec<(u32, u64)>,
}

/// Totals of a run.
#[derive(Debug, Serialize)]
struct Totals {
    /// Digest of all fields of all records.
    digest: String,
    records: u64,
    /// Number of simulated events.
    events: u64,
    statistics: RunStats,
}

impl Run {
    /// Begins a run of a run spec (JSON), with the files that its flows' parameters name.
    ///
    /// # Errors
    /// Returns one line with the problem.
    pub fn begin(specification: &str, files: &Files) -> Result<Self, Error> {
        let mut spec: Box<RunSpec> = Box::new(strict_input::parse(specification)?);
        let registry = Registry::builtin();
        for (index, flow) in spec.flows.iter_mut().enumerate() {
            let Ok(entry) = registry.find(&flow.controller) else { continue };
            for parameter in entry.parameters.iter().filter(|one| one.kind == ParameterKind::File) {
                let Some(name) = flow.parameters.get(parameter.name) else { continue };
                let contents = files.get(name).ok_or_else(|| Error::NoFile {
                    flow: index,
                    parameter: parameter.name,
                    name: name.clone(),
                })?;
                flow.files.insert(name.clone(), contents.clone());
            }
        }
        let meter = RunMeter::new(meter_config(&spec, Backend::Simulation));
        let observers = (Some(meter), Counted::default(), Kept::default());
        let simulation = Simulation::new(spec, &registry)?;
        Ok(Self { simulation, observers, is_over: false, totals: None, retransmissions: Vec::new() })
    }

    /// Continues the run for at most `events` events, and at most to `until`.
    ///
    /// # Errors
    /// Returns one line with the reason why the run ended early.
    pub fn advance(&mut self, until: Time, events: u64) -> Result<State, Error> {
        if self.is_over {
            return Ok(State::Finished);
        }
        match self.simulation.advance_by(Slice { until, events }, &mut self.observers)? {
            Progress::Paused => Ok(State::Paused),
            Progress::Finished => {
                let records = self.digest().records();
                self.observers.2.close(records);
                self.is_over = true;
                Ok(State::Finished)
            }
            Progress::Due(_) | Progress::Waiting => Err(Error::Undecided),
        }
    }

    /// Returns the simulated time.
    pub const fn now(&self) -> Time {
        self.simulation.now()
    }

    /// Returns the digest of all records so far.
    pub const fn digest(&self) -> Digest {
        self.observers.1.0
    }

    /// Returns the series so far, as JSON.
    pub fn series(&mut self) -> String {
        let records = self.digest().records();
        let (pyramid, _) = self.observers.2.look(records);
        serde_json::to_string(&pyramid.series()).unwrap_or_default()
    }

    /// Returns a part of the run, as [`View::window`] does. `wanted` is a list of series, as JSON.
    ///
    /// # Errors
    /// Returns an error for an invalid request.
    pub fn window(&mut self, from_ns: f64, to_ns: f64, columns: u32, wanted: &str) -> Result<Vec<u8>, Error> {
        let wanted = SeriesSelector::list(wanted)?;
        let records = self.digest().records();
        let (pyramid, rows) = self.observers.2.look(records);
        if to_ns > rows.whole_until_ns() as f64 {
            return Ok(View::new(pyramid, &NoRows).window(from_ns, to_ns, columns, &wanted)?);
        }
        Ok(View::new(pyramid, rows).window(from_ns, to_ns, columns, &wanted)?)
    }

    /// Returns the packets of a part of the run, as [`View::packets`] does.
    ///
    /// # Errors
    /// Returns an error for an invalid request.
    pub fn packets(&mut self, from_ns: f64, to_ns: f64, flow: u32, most: u32) -> Result<Vec<u8>, Error> {
        let records = self.digest().records();
        let (pyramid, rows) = self.observers.2.look(records);
        if from_ns >= rows.whole_until_ns() as f64 {
            return Err(Error::NotKept);
        }
        let view = View::new(pyramid, rows).with_retransmissions(self.retransmissions.iter().copied());
        Ok(view.packets(from_ns, to_ns, flow, most)?)
    }

    /// Returns the history of a packet, as [`View::life`] does.
    ///
    /// # Errors
    /// Returns an error if there is no such packet.
    pub fn life(&mut self, flow: u32, seq: u64) -> Result<String, Error> {
        let records = self.digest().records();
        let (pyramid, rows) = self.observers.2.look(records);
        let view = View::new(pyramid, rows).with_retransmissions(self.retransmissions.iter().copied());
        Ok(view.life(flow, seq)?)
    }

    /// Returns a description of the run in sentences, as [`View::reading`] does. `facts` contains further facts on the
    /// run, as JSON.
    ///
    /// # Errors
    /// Returns an error if `facts` is invalid or not all packets were kept.
    pub fn reading(&mut self, facts: &str) -> Result<String, Error> {
        let records = self.digest().records();
        let (pyramid, rows) = self.observers.2.look(records);
        if rows.whole_until_ns() < u64::MAX {
            return Err(Error::NotKept);
        }
        Ok(View::new(pyramid, rows).reading(facts)?)
    }

    /// Returns the totals of a finished run as JSON: digest, counts, and its statistics as in `stats.json`.
    ///
    /// # Errors
    /// Returns an error if the run is not over or its metrics contradict each other.
    pub fn totals(&mut self) -> Result<&str, Error> {
        if self.totals.is_none() {
            let meter = self.observers.0.take_if(|_| self.is_over).ok_or(Error::GoesOn)?;
            let counted = self.simulation.totals();
            let statistics = counted.stats(meter)?;
            let flows = (1..).zip(&statistics.flows);
            self.retransmissions =
                flows.filter_map(|(number, flow)| Some((number, flow.retransmissions?))).collect();
            let totals = Totals {
                digest: self.digest().text(),
                records: self.digest().records(),
                events: counted.events,
                statistics,
            };
            self.totals = Some(serde_json::to_string(&totals).unwrap_or_default());
        }
        Ok(self.totals.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn specification() -> Value {
        json!({
            "seed": 3, "duration_s": 4.0, "sample_interval_s": 0.05, "log": "packets",
            "path": {
                "data": [
                    {"kind": "link", "name": "bottleneck", "rate_mbps": 10.0,
                     "queue": {"kind": "droptail", "packets": 30}},
                    {"kind": "delay", "delay_ms": 20.0},
                ],
                "ack": [{"kind": "delay", "delay_ms": 20.0}],
            },
            "flows": [
                {"scheme": "reno", "controller": "reno"},
                {"scheme": "cubic", "controller": "cubic", "start_s": 1.0},
            ],
        })
    }

    fn finished(slice: u64) -> Run {
        let mut run = Run::begin(&specification().to_string(), &Files::new()).unwrap();
        while run.advance(Time::NEVER, slice).unwrap() == State::Paused {}
        run
    }

    /// Returns the header of a table, and one of its columns of numbers.
    fn column(bytes: &[u8], name: &str) -> (Value, Vec<f64>) {
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        let columns = header["columns"].as_array().unwrap();
        let one = columns.iter().find(|column| column["name"] == name).unwrap();
        let begin = 4 + length + one["offset"].as_u64().unwrap() as usize;
        let rows = one["length"].as_u64().unwrap() as usize;
        let values = bytes[begin..begin + rows * 8].chunks_exact(8);
        let values = values.map(|value| f64::from_le_bytes(value.try_into().unwrap())).collect();
        (header["meta"].clone(), values)
    }

    #[test]
    fn slices_change_nothing() {
        let (mut whole, mut sliced) = (finished(u64::MAX), finished(1000));
        assert_eq!(whole.totals().unwrap(), sliced.totals().unwrap());
        assert_eq!(whole.series(), sliced.series());
        let window =
            |run: &mut Run| run.window(0.0, 4e9, 300, r#"["throughput", "one_way_delay", "cwnd"]"#).unwrap();
        assert!(window(&mut whole) == window(&mut sliced));
    }

    #[test]
    fn it_can_be_looked_at_while_it_goes_on() {
        let mut run = Run::begin(&specification().to_string(), &Files::new()).unwrap();
        let mut rows = Vec::new();
        while run.advance(Time::NEVER, 500).unwrap() == State::Paused {
            let (_, time_ns) = column(&run.window(0.0, 4e9, 400, r#"["throughput"]"#).unwrap(), "time_ns");
            rows.push(time_ns.len());
        }
        assert!(rows.len() > 3 && rows.first() < rows.last(), "{rows:?}");
        assert!(run.series().contains("one_way_delay"));
    }

    #[test]
    fn packets_are_those_on_the_path() {
        let mut run = finished(u64::MAX);
        let bytes = run.packets(2e9, 2.01e9, 0, 1000).unwrap();
        let (meta, sent) = column(&bytes, "send_ns");
        let (_, delivered) = column(&bytes, "deliver_ns");
        assert!(meta["too_many"].is_null());
        assert!(sent.len() > 20, "{}", sent.len());
        assert!(sent.iter().all(|&sent_ns| sent_ns < 2.01e9));
        assert!(delivered.iter().filter(|at| at.is_finite()).all(|&at| at >= 2e9));
        let many = run.packets(0.0, 4e9, 0, 100).unwrap();
        assert!(String::from_utf8_lossy(&many).contains("too_many"));
    }

    #[test]
    fn the_life_of_a_packet_and_what_happened_are_told() {
        let mut run = finished(u64::MAX);
        run.totals().unwrap();
        let life: Value = serde_json::from_str(&run.life(1, 5).unwrap()).unwrap();
        assert_eq!((&life["packet"]["seq"], &life["packet"]["retransmission"]), (&json!(5), &json!(0)));
        assert!(life["sentences"][0].as_str().unwrap().starts_with("Sent at "), "{life}");
        assert_eq!(run.life(1, 1 << 40).unwrap_err().to_string(), "flow 1 sent no packet 1099511627776");
        let facts = json!({"duration_ns": 4e9, "flows": [{"flow": 1, "scheme": "reno"}]}).to_string();
        let reading: Value = serde_json::from_str(&run.reading(&facts).unwrap()).unwrap();
        let kinds: Vec<&Value> =
            reading["sentences"].as_array().unwrap().iter().map(|each| &each["kind"]).collect();
        assert!(kinds.contains(&&json!("slow_start")) && kinds.contains(&&json!("loss")), "{reading}");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        let refusal = |change: fn(&mut Value)| {
            let mut given = specification();
            change(&mut given);
            Run::begin(&given.to_string(), &Files::new()).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(|given| {
                given["flows"][1]["controller"] = json!("indigo");
                given["flows"][1]["parameters"] = json!({"weights": "mine"});
            }),
            "flows[1]: `weights` = `mine`: this file was not handed over"
        );
        let message = refusal(|given| given["flows"][0]["controller"] = json!("rono"));
        assert!(message.starts_with("flows[0] (reno): unknown controller `rono`"), "{message}");
        assert!(refusal(|given| given["duration"] = json!(1)).contains("duration"));
    }
}
