//! A run that a page makes: begun, carried on slice by slice, looked at.

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

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    Paused,
    /// It is over.
    Finished,
}

/// The digest as an observer.
#[derive(Clone, Copy, Debug, Default)]
struct Counted(Digest);

impl Observer for Counted {
    #[inline]
    fn record(&mut self, record: &Record) {
        self.0.add(record);
    }
}

/// One run, and what it has shown so far.
#[derive(Debug)]
pub struct Run {
    simulation: Simulation<Box<RunSpec>>,
    observers: (RunMeter, Counted, Kept),
}

/// What a run comes to.
#[derive(Debug, Serialize)]
struct Totals {
    /// Over all fields of all records.
    digest: String,
    records: u64,
    /// Events that the simulator worked through.
    events: u64,
    statistics: RunStats,
}

impl Run {
    /// Begins a run of a specification (JSON), with the files that its flows' parameters name.
    ///
    /// # Errors
    /// One line: what is wrong with it.
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
        let observers =
            (RunMeter::new(meter_config(&spec, Backend::Simulation)), Counted::default(), Kept::new(&spec));
        Ok(Self { simulation: Simulation::new(spec, &registry)?, observers })
    }

    /// Goes on for so many events at most, and no further than `until`.
    ///
    /// # Errors
    /// One line: why the run ended early.
    pub fn advance(&mut self, until: Time, events: u64) -> Result<State, Error> {
        match self.simulation.advance_by(Slice { until, events }, &mut self.observers)? {
            Progress::Paused => Ok(State::Paused),
            Progress::Finished => Ok(State::Finished),
            Progress::Due(_) | Progress::Waiting => Err(Error::Undecided),
        }
    }

    /// The simulated time.
    pub const fn now(&self) -> Time {
        self.simulation.now()
    }

    /// Over all records so far.
    pub const fn digest(&self) -> Digest {
        self.observers.1.0
    }

    /// Series and rare events from `from_ns` to `to_ns`, in about `columns` parts, as the bytes of a table.
    pub fn window(&self, from_ns: u64, to_ns: u64, columns: u32) -> Vec<u8> {
        self.observers.2.window(from_ns, to_ns, columns)
    }

    /// The data packets that were on the path from `from_ns` to `to_ns`, of one flow (from 1) or of all (0), as the bytes of
    /// a table; if there are more than `most`, their number alone.
    pub fn packets(&self, from_ns: u64, to_ns: u64, flow: u32, most: u32) -> Vec<u8> {
        self.observers.2.packets(from_ns, to_ns, flow, most)
    }

    /// What the run came to, as JSON: digest, counts, and its statistics as `stats.json` has them.
    ///
    /// # Errors
    /// One line: how its metrics contradict each other.
    pub fn totals(&self) -> Result<String, Error> {
        let (meter, Counted(digest), _) = &self.observers;
        let counted = self.simulation.totals();
        let totals = Totals {
            digest: digest.text(),
            records: digest.records(),
            events: counted.events,
            statistics: counted.stats(meter.clone())?,
        };
        Ok(serde_json::to_string(&totals).unwrap_or_default())
    }
}
