//! Scheme with the recorded calls of its controller in a run.

use crate::closed_loop;
use crate::error::Error;
use crate::tape::{HalfTape, Recording, RecordingHalf, Shared, Tape, open};
use congestion::{Controller, Entry, Parameters, ReceiverHalf, Start};
use runs::FlowSpec;
use strict_input::Refusal;
use transport::{Application, Config, Receiver, Sender};
use units::Time;

const SEED: u64 = 1;
/// Length of the recorded run, s.
pub(crate) const DURATION_S: f64 = 20.0;

/// Scheme that can be built any number of times.
pub(crate) struct Scheme {
    entry: Entry,
    parameters: Parameters,
    config: Config,
    start: Start,
}

impl Scheme {
    fn of(flow: &FlowSpec, entry: Entry) -> Result<Self, Refusal> {
        let mut parameters = Parameters::defaults(entry.parameters).with_files(flow.files.clone());
        for (name, text) in &flow.parameters {
            parameters.set(name, text)?;
        }
        let config = flow.config()?;
        let start = Start {
            now: Time::ZERO,
            mss_bytes: config.payload_bytes,
            initial_window_bytes: u64::from(config.initial_window) * u64::from(config.payload_bytes),
            seed: SEED,
        };
        entry.check(&parameters, &start)?;
        Ok(Self { entry, parameters, config, start })
    }

    pub(crate) fn controller(&self) -> Box<dyn Controller> {
        self.entry.build(&self.parameters, &self.start).expect("checked when the scheme was read")
    }

    pub(crate) fn half(&self) -> Option<Box<dyn ReceiverHalf>> {
        self.entry.build_receiver(&self.parameters, &self.start).expect("checked when the scheme was read")
    }
}

/// Scheme with the recorded calls of its controller and receiver half in a run.
pub(crate) struct Recorded {
    pub(crate) scheme: Scheme,
    pub(crate) tape: Shared<Tape>,
    pub(crate) half_tape: Shared<HalfTape>,
    pub(crate) throughput_mbps: f64,
}

impl Recorded {
    /// Runs the controller that `entry` builds for `flow`, whose files are read.
    pub(crate) fn of(flow: &FlowSpec, entry: Entry) -> Result<Self, Error> {
        let scheme = Scheme::of(flow, entry)?;
        let (tape, half_tape) = (Shared::<Tape>::default(), Shared::<HalfTape>::default());
        let (start, end) = (scheme.start.now, Time::from_secs_f64(DURATION_S));
        let controller = Box::new(Recording::new(scheme.controller(), &tape));
        let payload_bytes = scheme.config.payload_bytes;
        let application = Application::new(flow.application.clone(), start, payload_bytes, SEED);
        let mut sender = Sender::new(&scheme.config, controller, application, start, end);
        let half = scheme.half().map(|half| Box::new(RecordingHalf::new(half, &half_tape)) as Box<_>);
        let mut receiver = Receiver::new(&scheme.config, half);
        let outcome = closed_loop::run(&mut sender, &mut receiver, end);
        if open(&tape).acks() == 0 {
            return Err(Error::NoAck { scheme: flow.scheme.clone(), duration_s: DURATION_S });
        }
        let throughput_mbps = outcome.payload_bytes as f64 * 8.0 / DURATION_S / 1e6;
        let recorded = Self { scheme, tape, half_tape, throughput_mbps };
        recorded.require_same(flow)?;
        Ok(recorded)
    }

    /// Refuses a controller that behaves differently with equal inputs.
    fn require_same(&self, flow: &FlowSpec) -> Result<(), Error> {
        let (tape, mut replayed) = (open(&self.tape), self.scheme.controller());
        tape.tell(replayed.as_mut(), || ());
        if tape.last_control() != Some(replayed.control()) {
            return Err(Error::Diverged { scheme: flow.scheme.clone() });
        }
        Ok(())
    }
}
