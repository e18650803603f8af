//! Merge of several logs on one time axis. Each log keeps its order, and the earliest next line goes first.

use super::oddities::Oddity;
use super::source::{LONGEST_NS, Source, TOO_FAR};
use crate::Error;
use record::{Event, Record};

/// Treatment of the records of a log.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// Records pass unchanged.
    Plain,
    /// Records become packets of this flow (`merge_tunnel_logs.py multiple`).
    Flow(u32),
}

struct Part {
    source: Box<dyn Source>,
    role: Role,
    shift_ns: u64,
    head: Option<Record>,
}

impl Part {
    fn advance(&mut self) -> Result<Option<Record>, Error> {
        let mut next = self.source.next()?;
        if let Some(record) = &mut next {
            record.time_ns += self.shift_ns;
            if let Role::Flow(flow) = self.role {
                if record.flow != 0 || matches!(record.event, Event::Opportunity | Event::AckOpportunity) {
                    let (log, line) = (self.source.name().to_owned(), Some(self.source.line()));
                    let problem = "expected the log of one flow: no '#' lines, no flow numbers".into();
                    return Err(Error::Log { log, line, problem });
                }
                record.flow = flow;
            }
        }
        Ok(std::mem::replace(&mut self.head, next))
    }
}

/// Merge of logs by time. On ties the log that is earlier in the list goes first. Times count from the earliest start.
pub(super) struct Merge {
    parts: Vec<Part>,
    name: String,
    base_us: u64,
}

impl Merge {
    pub(super) fn new(sources: Vec<(Box<dyn Source>, Role)>) -> Result<Self, Error> {
        let mut inits = Vec::with_capacity(sources.len());
        for (source, _) in &sources {
            let missing =
                || Error::log(source.name(), "has no line '# init timestamp: TIME_MS', needed to merge it");
            inits.push(source.init_us().ok_or_else(missing)?);
        }
        let base_us = inits.iter().copied().min().unwrap_or(0);
        let far = sources.iter().zip(&inits).find(|(_, init_us)| (*init_us - base_us) * 1000 > LONGEST_NS);
        if let Some(((source, _), _)) = far {
            return Err(Error::log(source.name(), TOO_FAR));
        }
        let names: Vec<_> = sources.iter().map(|(source, _)| source.name()).collect();
        let name = names.join(", ");
        let mut parts = Vec::with_capacity(sources.len());
        for ((source, role), init_us) in sources.into_iter().zip(inits) {
            let mut part = Part { source, role, shift_ns: (init_us - base_us) * 1000, head: None };
            part.advance()?;
            parts.push(part);
        }
        Ok(Self { parts, name, base_us })
    }
}

impl Source for Merge {
    fn name(&self) -> &str {
        &self.name
    }

    fn init_us(&self) -> Option<u64> {
        Some(self.base_us)
    }

    fn zero_ns(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.shift_ns + part.source.zero_ns())
    }

    fn oddities(&self) -> Vec<Oddity> {
        self.parts.iter().flat_map(|part| part.source.oddities()).collect()
    }

    fn line(&self) -> u64 {
        self.parts.iter().map(|part| part.source.line()).sum()
    }

    fn next(&mut self) -> Result<Option<Record>, Error> {
        let heads = self.parts.iter().enumerate().filter_map(|(at, part)| Some((part.head?.time_ns, at)));
        match heads.min() {
            Some((_, at)) => self.parts[at].advance(),
            None => Ok(None),
        }
    }
}
