//! What an observer is told of flows after a run with real packets, whatever was between their ends.

use crate::Error;
use crate::program_samples::ProgramSample;
use endpoint::{FlowReport, is_plain};
use record::{Event, Record};
use runs::{Observer, RunSpec, tell};

/// Payload that has arrived, flow by flow.
#[derive(Debug)]
pub(crate) struct Delivered(Vec<u64>);

impl Delivered {
    /// Nothing yet.
    pub(crate) fn of(spec: &RunSpec) -> Self {
        Self(vec![0; spec.flows.len()])
    }

    #[inline]
    pub(crate) fn count(&mut self, record: &Record) {
        if record.event == Event::Deliver {
            self.0[record.flow as usize - 1] += u64::from(record.data_bytes);
        }
    }

    /// Refuses a run in which a flow of programs has delivered nothing: what is said of it then.
    ///
    /// # Errors
    /// That.
    pub(crate) fn require(self, silences: Vec<Option<String>>) -> Result<(), Error> {
        // Handshakes carry nothing: a program that only connects is silent too.
        let silent =
            self.0.into_iter().zip(silences).find_map(|(bytes, silence)| silence.filter(|_| bytes == 0));
        silent.map_or(Ok(()), |silence| Err(Error::Silent(silence)))
    }
}

/// Tells the samples and decoded frames of all flows, and what programs wrote about themselves.
pub(crate) fn tell_flows(
    flows: &[Option<FlowReport>],
    samples: &[Vec<ProgramSample>],
    observer: &mut dyn Observer,
) {
    for (index, flow) in flows.iter().enumerate() {
        if let Some(flow) = flow {
            flow.tell_samples(observer, index as u32 + 1);
            for frame in flow.frames() {
                tell::decoded_frame(observer, index as u32 + 1, frame);
            }
        }
    }
    for (index, samples) in samples.iter().enumerate() {
        for ProgramSample { at, field, unit, value } in samples {
            if is_plain(field, unit, *value) {
                observer.flow_value(*at, index as u32 + 1, field, unit, *value);
            }
        }
    }
}
