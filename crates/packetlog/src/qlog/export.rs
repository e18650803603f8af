//! Export of one flow of a run as a qlog text sequence.

use super::Draft;
use super::metrics::{Gather, Update};
use crate::pending::Pending;
use crate::{Error, Interrupts, Key, LogFile, PacketLogReader, SampleReader, SampleTable};
use record::{Event, Record};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// First byte of every record of a JSON text sequence (RFC 7464).
pub(crate) const RECORD_SEPARATOR: u8 = 0x1e;

/// Maximum packets in one acknowledgment event. Further packets acknowledged at that time begin another event.
const MAX_ACKNOWLEDGED: u64 = 1 << 20;

/// Steps of work per record.
const STEPS_PER_RECORD: u64 = 4;

/// Write buffer, bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// Description of a trace.
#[derive(Clone, Debug, Default)]
pub struct TraceInfo {
    /// Title of file and trace.
    pub title: String,
    /// Description of the contents.
    pub description: String,
    /// Name of the vantage point, which is the scheme.
    pub name: String,
}

/// Unfinished qlog of one flow. The file gets its name only when it is complete.
pub struct QlogExport {
    pending: Pending,
    out: BufWriter<File>,
    draft: Draft,
    flow: u32,
    events: u64,
    /// Packet whose fragments, or acknowledgment whose packets, may still follow.
    open: Option<OpenEvent>,
    /// Arrival, ns, of an ACK whose effect is not written yet; `None` without such an ACK.
    acked_ns: Option<u64>,
    range: TimeRange,
}

/// Time range of the written events, ns, and the state at its start.
#[derive(Default)]
struct TimeRange {
    from_ns: u64,
    /// End of the range, ns, exclusive; `None`: the end of the log.
    to_ns: Option<u64>,
    /// Last value of each metric before `from_ns`.
    metrics: Map<String, Value>,
    /// Last congestion state before `from_ns`.
    state: Option<Value>,
}

struct OpenEvent {
    first: Record,
    size_bytes: u64,
    /// Newly acknowledged packets, as first and last numbers.
    ranges: Vec<(u64, u64)>,
    /// Number of newly acknowledged packets.
    acknowledged: u64,
}

impl OpenEvent {
    fn new(first: &Record) -> Self {
        Self { first: *first, size_bytes: u64::from(first.size_bytes), ranges: Vec::new(), acknowledged: 0 }
    }

    /// Adds a newly acknowledged packet.
    fn add(&mut self, number: u64) {
        self.acknowledged += 1;
        match self.ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => self.ranges.push((number, number)),
        }
    }
}

impl QlogExport {
    /// Creates the qlog of `flow`, which gets the name `path` when complete.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn create(path: impl AsRef<Path>, draft: Draft, flow: u32, info: &TraceInfo) -> Result<Self, Error> {
        let (pending, file) = Pending::create(path.as_ref())?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        let range = TimeRange::default();
        let mut export = Self { pending, out, draft, flow, events: 0, open: None, acked_ns: None, range };
        export.write_record(&header(draft, flow, info).to_string())?;
        Ok(export)
    }

    /// Limits the events to the range from `from_ns` to before `to_ns`. The state at its start comes first.
    #[must_use]
    pub fn during(mut self, from_ns: u64, to_ns: Option<u64>) -> Self {
        self.range = TimeRange { from_ns, to_ns, ..TimeRange::default() };
        self
    }

    /// Writes the flow's part of the run's files in bounded memory. Returns the number of events. `samples`
    /// (`flows.parquet`) may be missing.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or written, or the work is interrupted.
    pub fn write_run(
        mut self,
        packets: impl Into<LogFile>,
        samples: Option<LogFile>,
        interrupts: &Interrupts,
    ) -> Result<u64, Error> {
        let mut updates = Updates::open(samples, self.flow, interrupts)?;
        let mut interrupts = interrupts.clone();
        for record in PacketLogReader::open(packets)? {
            interrupts.after(STEPS_PER_RECORD)?;
            let record = record?;
            while let Some(update) = updates.before(record.time_ns)? {
                self.update(&update)?;
            }
            if record.flow == self.flow {
                if record.event == Event::Send {
                    updates.gather.note_payload(record.data_bytes);
                    // The effect of an ACK comes before the packets that the ACK released.
                    if self.acked_ns == Some(record.time_ns)
                        && let Some(update) = updates.before(record.time_ns + 1)?
                    {
                        self.update(&update)?;
                    }
                }
                self.record(&record)?;
            }
        }
        while let Some(update) = updates.before(u64::MAX)? {
            self.update(&update)?;
        }
        self.finish()
    }

    /// Adds one record of the flow.
    fn record(&mut self, record: &Record) -> Result<(), Error> {
        if let Some(open) = &mut self.open
            && open.first.time_ns == record.time_ns
        {
            let same_packet = record.seq == open.first.seq && record.data_bytes == 0;
            match (open.first.event, record.event) {
                (Event::AckDeliver | Event::Acked, Event::Acked) if open.acknowledged < MAX_ACKNOWLEDGED => {
                    self.acked_ns = Some(record.time_ns);
                    open.add(record.seq);
                    return Ok(());
                }
                (Event::Send, Event::Send) | (Event::AckDeliver, Event::AckDeliver) if same_packet => {
                    open.size_bytes += u64::from(record.size_bytes);
                    return Ok(());
                }
                _ => {}
            }
        }
        match record.event {
            // With real packets the sender handles an ACK some time after its arrival. The log does not name this
            // ACK.
            Event::Send | Event::AckDeliver | Event::Acked => {
                self.close()?;
                let mut open = OpenEvent::new(record);
                if record.event == Event::Acked {
                    open.add(record.seq);
                }
                self.open = Some(open);
                Ok(())
            }
            Event::Lost => {
                self.close()?;
                let name = self.name("packet_lost");
                self.event(record.time_ns, name, json!({"header": packet_header(record.seq)}))
            }
            _ => Ok(()),
        }
    }

    /// Writes the open packet or acknowledgment, which is complete.
    fn close(&mut self) -> Result<(), Error> {
        let Some(OpenEvent { first, size_bytes, ranges, .. }) = self.open.take() else { return Ok(()) };
        if first.event == Event::Acked {
            let numbers: Vec<u64> = ranges.into_iter().flat_map(|(first, last)| first..=last).collect();
            let data = json!({"packet_number_space": "application_data", "packet_numbers": numbers});
            return self.event(first.time_ns, self.name("packets_acked"), data);
        }
        let mut data = json!({"header": packet_header(first.seq), "raw": {"length": size_bytes}});
        let name = if first.event == Event::Send {
            if first.data_bytes > 0 {
                data["raw"]["payload_length"] = first.data_bytes.into();
            }
            "packet_sent"
        } else {
            if !ranges.is_empty() {
                let ranges: Vec<_> = ranges.into_iter().map(|(first, last)| json!([first, last])).collect();
                data["frames"] = json!([{"frame_type": "ack", "acked_ranges": ranges}]);
            }
            "packet_received"
        };
        self.event(first.time_ns, self.name(name), data)
    }

    /// Adds an update of the flow's state.
    fn update(&mut self, update: &Update) -> Result<(), Error> {
        self.close()?;
        self.acked_ns = None;
        if let Some((old, new)) = &update.state {
            let mut data = json!({"new": new});
            if let Some(old) = old {
                data["old"] = old.as_str().into();
            }
            if update.time_ns < self.range.from_ns {
                self.range.state = Some(data["new"].clone());
            }
            self.event(update.time_ns, self.name("congestion_state_updated"), data)?;
        }
        if !update.metrics.is_empty() {
            if update.time_ns < self.range.from_ns {
                self.range.metrics.extend(update.metrics.clone());
            }
            let name = self.name("metrics_updated");
            self.event(update.time_ns, name, Value::Object(update.metrics.clone()))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<u64, Error> {
        self.close()?;
        let path = self.pending.path().to_owned();
        let file = self.out.into_inner().map_err(|e| Error::io(&path, "write", e.into_error()))?;
        self.pending.commit(file)?;
        Ok(self.events)
    }

    /// Returns the event's full name.
    fn name(&self, event: &str) -> &'static str {
        match (self.draft, event) {
            (Draft::V03, "packet_sent") => "transport:packet_sent",
            (Draft::V03, "packet_received") => "transport:packet_received",
            (Draft::V03, "packets_acked") => "transport:packets_acked",
            (Draft::V03, "packet_lost") => "recovery:packet_lost",
            (Draft::V03, "congestion_state_updated") => "recovery:congestion_state_updated",
            (Draft::V03, _) => "recovery:metrics_updated",
            (Draft::Quic13, "packet_sent") => "quic:packet_sent",
            (Draft::Quic13, "packet_received") => "quic:packet_received",
            (Draft::Quic13, "packets_acked") => "quic:packets_acked",
            (Draft::Quic13, "packet_lost") => "quic:packet_lost",
            (Draft::Quic13, "congestion_state_updated") => "quic:congestion_state_updated",
            (Draft::Quic13, _) => "quic:recovery_metrics_updated",
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "made for this call everywhere")]
    fn event(&mut self, time_ns: u64, name: &str, data: Value) -> Result<(), Error> {
        if time_ns < self.range.from_ns || self.range.to_ns.is_some_and(|to_ns| time_ns >= to_ns) {
            return Ok(());
        }
        let from_ns = self.range.from_ns;
        if let Some(state) = self.range.state.take() {
            self.write_event(from_ns, self.name("congestion_state_updated"), &json!({"new": state}))?;
        }
        let metrics = std::mem::take(&mut self.range.metrics);
        if !metrics.is_empty() {
            self.write_event(from_ns, self.name("metrics_updated"), &Value::Object(metrics))?;
        }
        self.write_event(time_ns, name, &data)
    }

    fn write_event(&mut self, time_ns: u64, name: &str, data: &Value) -> Result<(), Error> {
        self.events += 1;
        // This is the usual order for readers; a map would sort its keys.
        let (time, name) = (json!(time_ns as f64 / 1e6), json!(name));
        self.write_record(&format!(r#"{{"time":{time},"name":{name},"data":{data}}}"#))
    }

    fn write_record(&mut self, text: &str) -> Result<(), Error> {
        let parts: [&[u8]; 3] = [&[RECORD_SEPARATOR], text.as_bytes(), b"\n"];
        let result = parts.into_iter().try_for_each(|part| self.out.write_all(part));
        result.map_err(|error| Error::io(self.pending.path(), "write", error))
    }
}

/// Returns the first record of the file.
fn header(draft: Draft, flow: u32, info: &TraceInfo) -> Value {
    // In the built-in transport the sender opens the connection.
    let vantage_point = json!({"name": info.name, "type": "client"});
    let group = format!("flow-{flow}");
    match draft {
        Draft::V03 => json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": info.title,
            "description": info.description,
            "trace": {
                "title": info.title,
                "description": info.description,
                "vantage_point": vantage_point,
                "common_fields": {"group_id": group, "time_format": "relative", "reference_time": 0},
            },
        }),
        Draft::Quic13 => json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": info.title,
            "description": info.description,
            "trace": {
                "title": info.title,
                "description": info.description,
                "vantage_point": vantage_point,
                "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
                "common_fields": {
                    "group_id": group,
                    "time_format": "relative_to_epoch",
                    "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
                },
            },
        }),
    }
}

fn packet_header(number: u64) -> Value {
    json!({"packet_type": "1RTT", "packet_number": number})
}

/// Updates of a flow in order of time, read on demand.
struct Updates {
    samples: Option<SampleReader>,
    flow: Key,
    gather: Gather,
    next: Option<Update>,
    interrupts: Interrupts,
}

impl Updates {
    fn open(samples: Option<LogFile>, flow: u32, interrupts: &Interrupts) -> Result<Self, Error> {
        let samples = samples.map(|log| SampleReader::open(log, SampleTable::Flows)).transpose()?;
        let (flow, gather, interrupts) = (Key::Flow(flow), Gather::default(), interrupts.clone());
        let mut updates = Self { samples, flow, gather, next: None, interrupts };
        updates.next = updates.read()?;
        Ok(updates)
    }

    /// Returns the next update if it is before `time_ns`.
    fn before(&mut self, time_ns: u64) -> Result<Option<Update>, Error> {
        if self.next.as_ref().is_none_or(|update| update.time_ns >= time_ns) {
            return Ok(None);
        }
        let following = self.read()?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    fn read(&mut self) -> Result<Option<Update>, Error> {
        while let Some(samples) = &mut self.samples {
            self.interrupts.after(STEPS_PER_RECORD)?;
            match samples.next().transpose()? {
                Some(sample) if sample.key == self.flow => {
                    if let Some(update) = self.gather.push(&sample) {
                        return Ok(Some(update));
                    }
                }
                Some(_) => {}
                None => {
                    self.samples = None;
                    return Ok(self.gather.finish());
                }
            }
        }
        Ok(None)
    }
}
