//! Import and export of other tools' logs.

use crate::errors::{DamagedLog, error};
use crate::source::{LogArgument, interruptible};
use packetlog::capture::{Clocks, Delays, ImportedCapture, Role, import_both as import_captures, import_one};
use packetlog::pantheon::{
    ClockOffsets, Direction, FlowLog, Imported, Input, Log, MergedExport, RawPair, import, import_run,
};
use packetlog::qlog::{Draft, QlogExport, TraceInfo, import_file};
use packetlog::{Error, Interrupts, PacketLogReader, PacketLogWriter, SampleTable, SampleWriter};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use record::{Event, Record};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Imports Pantheon's merged logs. Returns a summary as JSON.
#[pyfunction]
#[pyo3(signature = (data, ack, packets, strict))]
pub(crate) fn import_merged_log(
    py: Python<'_>,
    data: PathBuf,
    ack: Option<PathBuf>,
    packets: PathBuf,
    strict: bool,
) -> PyResult<String> {
    interruptible(py, |until| import_both(Log::Merged, &data, ack.as_deref(), &packets, strict, until))
}

/// Imports mm-link logs. Returns a summary as JSON.
#[pyfunction]
#[pyo3(signature = (data, ack, packets, strict))]
pub(crate) fn import_mahimahi(
    py: Python<'_>,
    data: PathBuf,
    ack: Option<PathBuf>,
    packets: PathBuf,
    strict: bool,
) -> PyResult<String> {
    interruptible(py, |until| import_both(Log::MmLink, &data, ack.as_deref(), &packets, strict, until))
}

/// Files of one flow: egress and ingress log of one direction.
type RawFiles = (PathBuf, PathBuf);

/// Imports the raw tunnel logs of a run's flows, in flow order. Returns a summary as JSON.
#[pyfunction]
#[pyo3(signature = (data, ack, offsets_ms, packets, strict))]
pub(crate) fn import_raw_logs(
    py: Python<'_>,
    data: Vec<RawFiles>,
    ack: Vec<RawFiles>,
    offsets_ms: (f64, f64),
    packets: PathBuf,
    strict: bool,
) -> PyResult<String> {
    let us = |ms: f64| (ms * 1e3).round() as i64;
    let (sender_us, receiver_us) = (us(offsets_ms.0), us(offsets_ms.1));
    interruptible(py, |until| {
        write(&packets, strict, until, |sink| {
            let forth = ClockOffsets { egress_us: sender_us, ingress_us: receiver_us };
            let data = raw_log(&data, forth, strict, until)?;
            if ack.is_empty() {
                return import(data, Direction::Data, sink);
            }
            let back = ClockOffsets { egress_us: receiver_us, ingress_us: sender_us };
            import_run(data, raw_log(&ack, back, strict, until)?, sink)
        })
    })
}

/// Returns the bytes of a file that may be compressed; refuses more than `most` bytes.
#[pyfunction]
pub(crate) fn read_compressed(py: Python<'_>, file: PathBuf, most: u64) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| Input::open(file)?.bytes(most)).map_err(|cause: Error| error(cause))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Returns at most `most` first bytes of a file that may be compressed.
#[pyfunction]
pub(crate) fn read_head(py: Python<'_>, file: PathBuf, most: u64) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| Input::open(file)?.head(most)).map_err(|cause: Error| error(cause))?;
    Ok(PyBytes::new(py, &bytes))
}

fn open(path: &Path, strict: bool, until: &Interrupts) -> Result<Input, Error> {
    let input = Input::open(path)?.until(until);
    Ok(if strict { input } else { input.leniently() })
}

fn raw_log(
    flows: &[RawFiles],
    offsets: ClockOffsets,
    strict: bool,
    until: &Interrupts,
) -> Result<Log, Error> {
    let flows = flows.iter().map(|(egress, ingress)| {
        let (egress, ingress) = (open(egress, strict, until)?, open(ingress, strict, until)?);
        Ok(FlowLog::Raw(RawPair { egress, ingress, offsets }))
    });
    Ok(Log::Multiple { flows: flows.collect::<Result<_, Error>>()?, mm_link: None })
}

fn import_both(
    form: fn(Input) -> Log,
    data: &Path,
    ack: Option<&Path>,
    packets: &Path,
    strict: bool,
    until: &Interrupts,
) -> Result<String, Error> {
    write(packets, strict, until, |sink| {
        let data = form(open(data, strict, until)?);
        match ack {
            Some(ack) => import_run(data, form(open(ack, strict, until)?), sink),
            None => import(data, Direction::Data, sink),
        }
    })
}

/// Receiver of imported records.
type Sink<'a> = &'a mut dyn FnMut(Record) -> Result<(), Error>;

/// Writes the records of `read` to a packet log. Returns a summary as JSON, which also tells if the log is unusable.
///
/// In strict mode, an unreadable log is an error.
fn write(
    packets: &Path,
    strict: bool,
    until: &Interrupts,
    read: impl FnOnce(Sink<'_>) -> Result<Imported, Error>,
) -> Result<String, Error> {
    let mut log = PacketLogWriter::create_as_logged(packets)?;
    let mut until = until.clone();
    let (mut last_ns, mut last_flow, mut flows, mut unwritten) = (0, None, BTreeSet::new(), false);
    let result = read(&mut |record| {
        until.after(1)?;
        last_ns = last_ns.max(record.time_ns);
        if matches!(record.event, Event::Send | Event::Deliver)
            && last_flow.replace(record.flow) != Some(record.flow)
        {
            flows.insert(record.flow);
        }
        log.write(&record).inspect_err(|_| unwritten = true)
    });
    let imported = match result {
        Ok(imported) => imported,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(unusable) if matches!(unusable, Error::Log { .. }) || !(strict || unwritten) => {
            return Ok(json!({"unusable": unusable.to_string()}).to_string());
        }
        Err(other) => return Err(other),
    };
    log.finish()?;
    let oddities: Vec<_> = imported.oddities.iter().map(ToString::to_string).collect();
    let summary = json!({
        "unusable": null,
        "records": imported.records,
        "init_us": imported.init_us,
        "log_zero_ns": imported.zero_ns,
        "last_s": last_ns as f64 / 1e9,
        "flows": flows,
        "oddities": oddities,
    });
    Ok(summary.to_string())
}

/// Writes a packet log as Pantheon's merged logs of both directions.
#[pyfunction]
pub(crate) fn export_pantheon(
    py: Python<'_>,
    packets: LogArgument,
    data: PathBuf,
    ack: PathBuf,
    init_us: i64,
) -> PyResult<()> {
    let init_us = u64::try_from(init_us)
        .map_err(|_| error(format_args!("init_us = {init_us}: must not be negative")))?;
    interruptible(py, |until| {
        let mut until = until.clone();
        let mut data = MergedExport::create(data, Direction::Data, init_us)?;
        let mut ack = MergedExport::create(ack, Direction::Ack, init_us)?;
        for record in PacketLogReader::open(packets.0)? {
            until.after(1)?;
            let record = record?;
            data.write(&record)?;
            ack.write(&record)?;
        }
        data.finish()?;
        ack.finish()?;
        Ok::<(), Error>(())
    })
}

/// Writes one flow of a run as a qlog: all of it, or the time from `from_ns` to before `to_ns`.
///
/// Returns the number of events. An incomplete log raises `DamagedLog`.
#[pyfunction]
#[pyo3(signature = (packets, samples, out, flow, draft, trace, from_ns = 0, to_ns = None))]
#[expect(clippy::too_many_arguments, reason = "as Python calls it")]
pub(crate) fn export_qlog(
    py: Python<'_>,
    packets: LogArgument,
    samples: Option<LogArgument>,
    out: PathBuf,
    flow: u32,
    draft: &str,
    trace: &str,
    from_ns: u64,
    to_ns: Option<u64>,
) -> PyResult<u64> {
    let draft = Draft::named(draft).ok_or_else(|| {
        let names: Vec<_> = Draft::NAMES.iter().map(|(_, name)| *name).collect();
        error(format_args!("draft `{draft}`: allowed are {}", names.join(", ")))
    })?;
    let trace: Trace = serde_json::from_str(trace).map_err(error)?;
    let info = TraceInfo { title: trace.title, description: trace.description, name: trace.name };
    let result = interruptible(py, |until| {
        let export = QlogExport::create(out, draft, flow, &info)?.during(from_ns, to_ns);
        match export.write_run(packets.0, samples.map(|log| log.0), until) {
            Err(error @ (Error::Interrupted | Error::Io { .. })) => Err(error),
            result => Ok(result),
        }
    })?;
    result.map_err(|damage| DamagedLog::new_err(damage.to_string()))
}

/// Description of the qlog, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    title: String,
    description: String,
    name: String,
}

/// Imports the traces of a qlog file, each into its own directory below `directory`. Returns their summaries as JSON.
#[pyfunction]
pub(crate) fn import_qlog(py: Python<'_>, file: PathBuf, directory: PathBuf) -> PyResult<String> {
    let traces = interruptible(py, |until| import_file(&file, &directory, until))?;
    let traces = traces.into_iter().map(|(title, totals)| {
        json!({
            "title": title,
            "events": totals.events,
            "sent": totals.sent,
            "acked": totals.acked,
            "lost": totals.lost,
            "other_spaces": totals.other_spaces,
            "unknown": totals.unknown,
            "ack_frames": totals.ack_frames,
            "sent_bytes": totals.sent_bytes,
            "received_bytes": totals.received_bytes,
            "vantage_point": totals.vantage_point,
            "metrics": totals.metrics,
            "last_s": totals.last_ns as f64 / 1e9,
            "notes": totals.notes,
        })
    });
    Ok(traces.collect::<serde_json::Value>().to_string())
}

/// Imports packet captures of one end or of both ends into directories below `directory`. Returns their summaries as
/// JSON.
#[pyfunction]
#[pyo3(signature = (file, receiver, end, clocks, directory))]
pub(crate) fn import_capture(
    py: Python<'_>,
    file: PathBuf,
    receiver: Option<PathBuf>,
    end: Option<&str>,
    clocks: &str,
    directory: PathBuf,
) -> PyResult<String> {
    let role = match end {
        None => None,
        Some("sender") => Some(Role::Sender),
        Some("receiver") => Some(Role::Receiver),
        Some(other) => return Err(error(format_args!("end `{other}`: allowed are sender, receiver"))),
    };
    let clocks = match clocks {
        "auto" => Clocks::Auto,
        "stamps" => Clocks::Stamps,
        "unknown" => Clocks::Unknown,
        other => return Err(error(format_args!("clocks `{other}`: allowed are auto, stamps, unknown"))),
    };
    let captures = interruptible(py, |until| match &receiver {
        Some(receiver) => {
            import_captures(&file, receiver, clocks, &directory, until).map(|capture| vec![capture])
        }
        None => import_one(&file, role, &directory, until),
    });
    Ok(captures?.iter().map(capture_json).collect::<serde_json::Value>().to_string())
}

fn capture_json(capture: &ImportedCapture) -> serde_json::Value {
    let seconds = |(from_ns, to_ns): (u64, u64)| [from_ns as f64 / 1e9, to_ns as f64 / 1e9];
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
    let flows = capture.flows.iter().map(|flow| {
        json!({
            "from": flow.from,
            "to": flow.to,
            "protocol": flow.protocol,
            "payload_bytes": flow.payload_bytes,
            "least_answer_ms": ms(flow.turn_ns),
            "spin_rtt_min_ms": ms(flow.spin_rtt_ns),
            "life_s": seconds(flow.life_ns),
            "data_s": flow.data_ns.map(seconds),
        })
    });
    json!({
        "name": capture.name,
        "role": capture.role.map(|role| match role {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
        }),
        "flows": flows.collect::<serde_json::Value>(),
        "records": capture.records,
        "has_samples": capture.has_samples,
        "first_s": capture.first_ns as f64 / 1e9,
        "last_s": capture.last_ns as f64 / 1e9,
        "tells_sendings": capture.role != Some(Role::Receiver),
        "tells_arrivals": capture.tells_arrivals,
        "tells_marks": capture.role != Some(Role::Sender),
        "delays": match capture.delays {
            Delays::RoundTrip => "round-trip",
            Delays::Stamps => "one-way",
            Delays::AboveSmallest => "above-smallest",
            Delays::Unknown => "unknown",
        },
        "notes": capture.notes,
    })
}

/// Sample of a flow: time in ns, number of the flow, field, unit, value.
type SampleRow = (u64, u32, String, String, f64);

/// Writes samples of flows (`flows.parquet`).
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
pub(crate) fn write_samples(py: Python<'_>, file: PathBuf, rows: Vec<SampleRow>) -> PyResult<()> {
    py.detach(|| {
        let mut samples = SampleWriter::create(&file, SampleTable::Flows)?;
        for (time_ns, flow, field, unit, value) in &rows {
            samples.flow(*time_ns, *flow, field, unit, *value)?;
        }
        samples.finish().map(|_| ())
    })
    .map_err(|cause: Error| error(cause))
}
