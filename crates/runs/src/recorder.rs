//! Where a run's packet events and samples go: metrics always, files where wanted.

use crate::changes::Changes;
use crate::counters::link_name;
use congestion::FieldSink;
use measure::{FrameDelivery, LinkCounters, MeterConfig, Read, RunMeter, RunStats, Sample, SenderCounters};
use packetlog::{PacketLogWriter, SampleWriter, Table};
use path::LinkStats;
use record::Record;
use std::path::Path;
use transport::DecodedFrame;
use units::Time;

/// Feeds the meter, the packet log and the sample tables.
#[derive(Debug)]
pub struct Recorder {
    meter: RunMeter,
    log: Option<PacketLogWriter>,
    samples: Option<Samples>,
    /// By flow, what [`Recorder::flow_changes`] wrote last.
    changes: Vec<Changes>,
    failure: Option<String>,
}

#[derive(Debug)]
struct Samples {
    flows: SampleWriter,
    links: SampleWriter,
}

impl Recorder {
    /// Records into `directory` if there is one; `packet_log` switches the packet log within it.
    ///
    /// # Errors
    /// One line naming the file that cannot be written.
    pub fn create(config: MeterConfig, directory: Option<&Path>, packet_log: bool) -> Result<Self, String> {
        let text = |error: packetlog::Error| error.to_string();
        let log = directory
            .filter(|_| packet_log)
            .map(|directory| PacketLogWriter::create(directory.join("packets.parquet")))
            .transpose()
            .map_err(text)?;
        let samples = directory
            .map(|directory| {
                Ok(Samples {
                    flows: SampleWriter::create(directory.join("flows.parquet"), Table::Flows)?,
                    links: SampleWriter::create(directory.join("links.parquet"), Table::Links)?,
                })
            })
            .transpose()
            .map_err(text)?;
        let changes = vec![Changes::default(); config.flows.len()];
        Ok(Self { meter: RunMeter::new(config), log, samples, changes, failure: None })
    }

    /// One packet event; records must come in time order. A failure to write is kept for [`Recorder::finish`].
    #[inline]
    pub fn record(&mut self, record: &Record) {
        self.meter.record(record);
        if self.log.is_some() {
            self.write(record);
        }
    }

    // Apart, so that runs without a packet log do not pay for it.
    #[inline(never)]
    fn write(&mut self, record: &Record) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(record)
        {
            self.failure.get_or_insert_with(|| error.to_string());
            self.log = None;
        }
    }

    /// An application read.
    #[inline]
    pub fn read(&mut self, read: &Read) {
        self.meter.read(read);
    }

    /// A sample interval ends, before anything that happens at its end.
    pub fn sample(&mut self, sample: &Sample<'_>) {
        self.meter.sample(sample);
    }

    /// Whether something could not be written.
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Whether samples are kept.
    pub const fn wants_samples(&self) -> bool {
        self.samples.is_some()
    }

    /// The state of a flow at `at`: whatever `fields` puts.
    ///
    /// # Errors
    /// One line naming the file that cannot be written.
    pub fn sample_flow(
        &mut self,
        at: Time,
        flow: u32,
        fields: impl FnOnce(&mut dyn FieldSink),
    ) -> Result<(), String> {
        let Some(samples) = &mut self.samples else { return Ok(()) };
        let mut sink = FlowSink { writer: &mut samples.flows, at, flow, result: Ok(()) };
        fields(&mut sink);
        sink.result.map_err(|error| error.to_string())
    }

    /// Those of the `fields` of a flow that are not as they were when this was last called for it, and the field called
    /// `always` in any case ([`Changes`]). A failure to write is kept for [`Recorder::finish`].
    pub fn flow_changes(
        &mut self,
        at: Time,
        flow: u32,
        always: &'static str,
        fields: impl FnOnce(&mut dyn FieldSink),
    ) {
        let Some(samples) = &mut self.samples else { return };
        let Some(changes) = self.changes.get_mut(flow as usize - 1) else { return };
        let mut sink = FlowSink { writer: &mut samples.flows, at, flow, result: Ok(()) };
        changes.pass(always, &mut sink, fields);
        if let Err(error) = sink.result {
            self.failure.get_or_insert_with(|| error.to_string());
            self.samples = None;
        }
    }

    /// One value of a flow's state, by the name that its program gave it.
    ///
    /// # Errors
    /// One line naming the file that cannot be written.
    pub fn sample_flow_field(
        &mut self,
        at: Time,
        flow: u32,
        field: &str,
        unit: &str,
        value: f64,
    ) -> Result<(), String> {
        let Some(samples) = &mut self.samples else { return Ok(()) };
        samples.flows.flow(at.as_ns(), flow, field, unit, value).map_err(|error| error.to_string())
    }

    /// The state of a link of the direction called `direction` (`data` or `ack`).
    ///
    /// # Errors
    /// One line naming the file that cannot be written.
    pub fn sample_link(&mut self, at: Time, direction: &str, link: &LinkStats) -> Result<(), String> {
        let Some(samples) = &mut self.samples else { return Ok(()) };
        let name = link_name(direction, &link.name);
        let fields = [
            ("queue", "packets", link.queue_packets as f64),
            ("queue_bytes", "bytes", link.queue_bytes as f64),
            ("dropped", "packets", link.packets_dropped as f64),
            ("delivered", "bytes", link.bytes_out as f64),
        ];
        for (field, unit, value) in fields {
            samples.links.link(at.as_ns(), &name, field, unit, value).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// A frame of a live source was decoded at the receiver of `flow`. A failure to write is kept for
    /// [`Recorder::finish`].
    pub fn frame(&mut self, flow: u32, frame: &DecodedFrame) {
        let (captured, decoded) = (frame.mark.captured_at, frame.decoded_at);
        let (bytes, paused) = (u64::from(frame.mark.bytes), frame.mark.paused);
        self.meter.frame(&FrameDelivery { flow, bytes, captured, decoded, paused });
        let written = self.sample_flow(decoded, flow, |sink| {
            sink.put("frame_delay", "ms", (decoded - captured).as_ms_f64());
            sink.put("frame_size", "bytes", f64::from(frame.mark.bytes));
        });
        if let Err(failure) = written {
            self.failure.get_or_insert(failure);
        }
    }

    /// Completes the files and computes the metrics.
    ///
    /// # Errors
    /// One line about what could not be written, or how the metrics contradict each other.
    pub fn finish(self, links: &[LinkCounters], senders: &[SenderCounters]) -> Result<RunStats, String> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let text = |error: packetlog::Error| error.to_string();
        if let Some(log) = self.log {
            log.finish().map_err(text)?;
        }
        if let Some(samples) = self.samples {
            samples.flows.finish().map_err(text)?;
            samples.links.finish().map_err(text)?;
        }
        let stats = self.meter.finish(links, senders);
        match &stats.contradiction {
            Some(why) => Err(format!("the statistics contradict each other: {why}")),
            None => Ok(stats),
        }
    }
}

struct FlowSink<'a> {
    writer: &'a mut SampleWriter,
    at: Time,
    flow: u32,
    result: Result<(), packetlog::Error>,
}

impl FieldSink for FlowSink<'_> {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        // "None yet" (infinite thresholds, no sample) is an absent row.
        if self.result.is_ok() && value.is_finite() {
            self.result = self.writer.flow(self.at.as_ns(), self.flow, name, unit, value);
        }
    }
}
