//! Meter of a run: records in, statistics out.

use super::fairness::Fairness;
use super::flow::{FlowMeter, FrameDelivery};
use super::flow_table::FlowTable;
use super::jain::{ActiveRule, JainWindows};
use super::sampled_state::{SampledSpan, SampledStates};
use super::sampling::Sampling;
use super::tally::Tally;
use crate::inputs::{FlowInfo, MeterConfig, Read, Sample, Tells};
use record::{Event, Record};
use units::{Span, Time};

/// Computes the metrics of a run from its records, in time order.
#[derive(Clone, Debug)]
pub struct RunMeter {
    pub(crate) flows: Vec<FlowMeter>,
    /// Planned flows of unknown start that have not appeared yet.
    awaited: Vec<FlowInfo>,
    table: FlowTable,
    pub(crate) fairness: Fairness,
    /// Jain's index in windows, by each rule; flows in the order of `flows`.
    pub(crate) jain: [JainWindows; 2],
    pub(crate) sampling: Sampling,
    pub(crate) tells_reads: bool,
    senders_view: bool,
    pub(crate) tells: Tells,
    /// Planned length of the run.
    pub(crate) duration: Span,
    warmup_ns: u64,
    pub(crate) last_record_ns: u64,
    /// Zero of an imported log's clock.
    pub(crate) log_zero: Option<Time>,
    pub(crate) first_delivery_ns: Option<u64>,
    pub(crate) first_ack_delivery_ns: Option<u64>,
    /// Delivery opportunities of the data direction.
    pub(crate) opportunities: Tally,
    pub(crate) drops_seen: bool,
    /// True if any record told payload bytes.
    pub(crate) payload_seen: bool,
}

impl RunMeter {
    /// Returns a meter for the flows of `config`. A flow listed twice keeps its first description.
    pub fn new(config: MeterConfig) -> Self {
        let warmup_ns = config.warmup.as_ns();
        let mut table = FlowTable::default();
        let mut flows: Vec<FlowMeter> = Vec::with_capacity(config.flows.len());
        let (planned, awaited): (Vec<_>, Vec<_>) =
            config.flows.into_iter().partition(|info| info.start.is_finite());
        for info in planned {
            if table.get(info.flow).is_none() {
                table.insert(info.flow, flows.len());
                flows.push(FlowMeter::new(info, warmup_ns));
            }
        }
        let jain = [ActiveRule::SeenInBucket, ActiveRule::ScheduledActive].map(|rule| {
            let mut windows = JainWindows::new(config.jain_window, rule);
            for flow in &flows {
                windows.plan(flow.info.start, flow.info.stop);
            }
            windows
        });
        let from_ns = flows.iter().map(|flow| flow.from_ns).fold(warmup_ns, u64::max);
        let to_ns = flows.iter().map(|flow| flow.to_ns).fold(u64::MAX, u64::min);
        Self {
            flows,
            awaited,
            table,
            fairness: Fairness::new(config.bin, from_ns, to_ns),
            jain,
            sampling: Sampling::new(config.sample_interval, config.convergence_delta, config.last_change),
            tells_reads: config.tells_reads,
            senders_view: config.senders_view,
            tells: config.tells,
            duration: config.duration,
            warmup_ns,
            last_record_ns: 0,
            log_zero: config.log_zero,
            first_delivery_ns: None,
            first_ack_delivery_ns: None,
            opportunities: Tally::default(),
            drops_seen: false,
            payload_seen: false,
        }
    }

    /// Counts the next record. Records come in time order; in an imported log the clock may have stepped back.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        self.last_record_ns = self.last_record_ns.max(record.time_ns);
        match record.event {
            Event::Send => {
                self.payload_seen |= record.data_bytes > 0;
                self.flow(record).send(record);
            }
            Event::Deliver => self.deliver(record),
            Event::Drop => {
                self.drops_seen = true;
                let position = self.position(record);
                let is_common = self.fairness.is_common(record.time_ns);
                self.flows[position].drop(record, is_common);
            }
            Event::Mark => self.flow(record).marked_packets += 1,
            Event::AckSend => self.flow(record).ack.sent.add(record.time_ns, record.size_bytes),
            Event::AckDeliver => {
                self.first_ack_delivery_ns.get_or_insert(record.time_ns);
                self.flow(record).ack.deliver(record);
            }
            Event::Opportunity => self.opportunities.add(record.time_ns, record.size_bytes),
            Event::Lost if self.senders_view => self.flow(record).declare_lost(record),
            // No metric counts these. Dropped ACKs show as sent and not delivered.
            Event::Enqueue
            | Event::Dequeue
            | Event::AckDrop
            | Event::AckMark
            | Event::AckOpportunity
            | Event::Lost
            | Event::Acked
            | Event::Restored => {}
        }
    }

    /// Counts a read of an application. Reads come in time order among the records; reads of flows that are not planned
    /// are ignored.
    #[inline]
    pub fn read(&mut self, read: &Read) {
        if let Some(position) = self.table.get(read.flow) {
            self.read_by(position, read.at.as_ns(), read.bytes, read.waited_byte_ns);
        }
    }

    /// Handles the end of a sample interval, before any event at that time.
    pub fn sample(&mut self, sample: &Sample<'_>) {
        self.sampling.close(sample, &mut self.flows);
    }

    /// Counts a decoded frame of a planned flow; frames of one flow come in time order. Other flows are ignored.
    pub fn frame(&mut self, frame: &FrameDelivery) {
        if let Some(position) = self.table.get(frame.flow) {
            self.flows[position].frame(frame);
        }
    }

    /// Returns an integrator for states that senders stated. Call it after all records, because means cover the time of
    /// the records.
    pub fn sampled_states(&self) -> SampledStates {
        let span = |flow: &FlowMeter| SampledSpan {
            flow: flow.info.flow,
            from: flow.info.start,
            acknowledged: match flow.delivered.first_ns() {
                Some(first_ns) => Some(Time::from_ns(first_ns)),
                // Without arrivals nothing else tells the time of the first acknowledgement.
                None => (!self.tells.arrivals).then_some(flow.info.start),
            },
            to: Time::from_ns(flow.to_ns.min(self.end_ns())),
        };
        SampledStates::new(self.flows.iter().map(span))
    }

    /// Starts all flows that have not begun, at the end of the run.
    pub(crate) fn begin_awaited(&mut self) {
        while let Some(info) = self.awaited.pop() {
            if self.table.get(info.flow).is_none() {
                self.insert(FlowInfo { start: Time::from_ns(self.end_ns()), ..info });
            }
        }
    }

    /// Returns the end of the run, ns: the planned end, or the last record if that is later. The clock of an imported
    /// log can start before the run does.
    pub(crate) fn end_ns(&self) -> u64 {
        self.duration.as_ns().max(self.last_record_ns)
    }

    #[inline]
    fn deliver(&mut self, record: &Record) {
        self.first_delivery_ns.get_or_insert(record.time_ns);
        self.payload_seen |= record.data_bytes > 0;
        // Shares are payload, or bytes on the path if a log does not tell payload.
        let share_bytes = if self.payload_seen { record.data_bytes } else { record.size_bytes };
        let position = self.position(record);
        if record.time_ns >= self.fairness.bin_end_ns {
            self.fairness.advance(record.time_ns, &mut self.flows);
        }
        for windows in &mut self.jain {
            windows.deliver(position, record.time_ns, record.size_bytes);
        }
        let flow = &mut self.flows[position];
        flow.bin_bytes += u64::from(share_bytes);
        flow.deliver(record, self.fairness.is_common(record.time_ns));
        if !self.tells_reads {
            self.read_by(position, record.time_ns, u64::from(record.data_bytes), 0);
        }
    }

    #[inline]
    fn read_by(&mut self, position: usize, time_ns: u64, bytes: u64, waited_byte_ns: u128) {
        let was_done = self.flows[position].samples.done_ns.is_some();
        self.flows[position].read(time_ns, bytes, waited_byte_ns);
        if !was_done && self.flows[position].samples.done_ns.is_some() {
            // A complete transfer is not active any more.
            self.fairness.end_after(time_ns);
            for windows in &mut self.jain {
                windows.stop(position, time_ns);
            }
        }
    }

    #[inline]
    fn flow(&mut self, record: &Record) -> &mut FlowMeter {
        let position = self.position(record);
        &mut self.flows[position]
    }

    #[inline]
    fn position(&mut self, record: &Record) -> usize {
        self.table.get(record.flow).unwrap_or_else(|| self.add_flow(record))
    }

    #[cold]
    #[inline(never)]
    fn add_flow(&mut self, record: &Record) -> usize {
        let start = Time::from_ns(record.time_ns);
        let position = match self.awaited.iter().position(|info| info.flow == record.flow) {
            Some(awaited) => {
                let info = self.awaited.remove(awaited);
                self.insert(FlowInfo { start, ..info })
            }
            None => {
                self.insert(FlowInfo { flow: record.flow, start, stop: Time::NEVER, ..FlowInfo::default() })
            }
        };
        let flow = &self.flows[position];
        let (from_ns, to_ns) = (flow.from_ns, flow.to_ns);
        self.fairness.restart(from_ns, to_ns, &mut self.flows);
        position
    }

    fn insert(&mut self, info: FlowInfo) -> usize {
        let position = self.flows.len();
        self.table.insert(info.flow, position);
        for windows in &mut self.jain {
            windows.plan(info.start, info.stop);
        }
        self.flows.push(FlowMeter::new(info, self.warmup_ns));
        position
    }
}
