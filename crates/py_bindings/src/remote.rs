//! Runs between two machines: the local endpoint, and the joining of both reports.

use crate::errors::Cause;
use crate::errors::error;
use crate::outside::RunResources;
use clocks::Reference;
use datapath::remote::{Carried, Compared, Exchange, Joined, Meet, Open, Probe, RunPart, SideReport, join};
use datapath::{LiveFile, ProgramReport};
use endpoint::{Distortion, Guarded, distort, monotonic_ns};
use measure::{RunMeter, RunStats};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use recorder::Recorder;
use runs::{Backend, RunSpec, meter_config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// This machine's endpoint of a remote run.
#[pyclass(frozen)]
#[derive(Default)]
pub(crate) struct RemoteEndpoint {
    endpoint: Mutex<datapath::remote::RemoteEndpoint>,
    stopped: AtomicBool,
}

impl RemoteEndpoint {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut datapath::remote::RemoteEndpoint) -> Result<T, datapath::Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut self.endpoint.lock().unwrap_or_else(PoisonError::into_inner))).map_err(error)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl RemoteEndpoint {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Opens sockets; JSON in and out.
    fn open(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: Open = strict_input::parse(request).map_err(error)?;
        let opened = self.with(py, |endpoint| endpoint.open(&request))?;
        serde_json::to_string(&opened).map_err(error)
    }

    /// Connects to the peer; JSON in and out.
    fn meet(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        // An error must not show the request, since it contains keys.
        let request: Meet =
            serde_json::from_str(request).map_err(|_| error("meet: not the request that is expected"))?;
        let met = self.with(py, |endpoint| endpoint.meet(&request, &|| self.is_stopped()))?;
        serde_json::to_string(&met).map_err(error)
    }

    /// Measures the peer's clock by timestamp exchanges. Returns the exchanges as JSON.
    fn ask(&self, py: Python<'_>, seconds: f64, per_s: f64) -> PyResult<String> {
        let exchanges = self.with(py, |endpoint| endpoint.ask(seconds, per_s, &|| self.is_stopped()))?;
        serde_json::to_string(&exchanges).map_err(error)
    }

    /// Sends bursts of packets and receives the peer's bursts; JSON in and out.
    fn probe(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: Probe = strict_input::parse(request).map_err(error)?;
        let probed = self.with(py, |endpoint| endpoint.probe(&request, &|| self.is_stopped()))?;
        serde_json::to_string(&probed).map_err(error)
    }

    /// Executes this machine's part of a run.
    ///
    /// When all is prepared, calls `ready`, which returns the start time, ns of this machine's clock. `live` is a
    /// file that shows the progress during the run.
    #[pyo3(signature = (specification, part, ready, live=None))]
    fn run(
        &self,
        py: Python<'_>,
        specification: &str,
        part: &str,
        ready: Py<PyAny>,
        live: Option<PathBuf>,
    ) -> PyResult<()> {
        let live = live.map(|file| LiveFile { file, attempt: 1 });
        let mut spec: RunSpec = strict_input::parse(specification).map_err(error)?;
        let part: RunPart = strict_input::parse(part).map_err(error)?;
        let resources = RunResources::for_run(py, &mut spec)?;
        spec.validate(Backend::Emulation, &resources.registry).map_err(error)?;
        let when = || -> Result<u64, datapath::Cause> {
            Python::attach(|py| ready.call0(py)?.extract::<u64>(py)).map_err(datapath::Cause::from)
        };
        let stop = || self.is_stopped() || resources.watch.failure().is_some();
        let result = self.with(py, |endpoint| {
            Ok(endpoint.run(&spec, &part, &resources.registry, live.as_ref(), &when, &stop))
        })?;
        resources.outcome(result.map_err(Cause::from)).map_err(error)
    }

    /// Returns this machine's report of the run, for [`join_sides`].
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let report = self.with(py, |endpoint| Ok(endpoint.finish()?.to_bytes()?))?;
        Ok(PyBytes::new(py, &report))
    }

    /// Ends any operation in progress.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Clock offset from another source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockReference {
    at_ns: i64,
    offset_ns: i64,
    error_ns: i64,
    source: String,
}

/// Statistics of a remote run: the content of `stats.json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "JoinedRun")]
pub(crate) struct Report {
    #[serde(flatten)]
    stats: RunStats,
    /// Number of packet events on both machines.
    events: u64,
    clocks: Compared,
    remote: Between,
}

/// Events on and around the network between two machines.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "BetweenMachines")]
struct Between {
    /// Events around the packets of each flow.
    flows: Vec<Carried>,
    /// Packets lost by ends behind tunnels, on both machines.
    lost_at_ends: u64,
    /// Maximum lateness of a built-in sender's wake-up, us; null if all flows are programs.
    ends_latest_us: Option<u64>,
    /// True if the schedulers of both machines preferred the run's threads to ordinary programs.
    real_time: bool,
    /// Datagrams from other senders on the control channel.
    channel: Guarded,
    /// Reason why the run must not be used; null if it may.
    invalid: Option<String>,
    /// Reason why the run's times do not show the network alone; null without one.
    degraded: Option<String>,
    /// Lateness of an end or a tunnel in a run with valid results; null without one.
    remark: Option<String>,
    /// Reports of the run's programs.
    programs: Vec<ProgramReport>,
}

/// Joins the reports of both machines and returns the run's statistics as JSON.
///
/// Each report comes from `finish` and has at most `max_report_bytes` bytes. The logs are written into `directory`.
/// `references` (JSON) are clock offsets from other sources.
#[pyfunction]
#[pyo3(signature = (specification, local_sends, local, remote, max_report_bytes, references="[]", directory=None))]
#[allow(clippy::too_many_arguments, reason = "each is one of Python's")]
pub(crate) fn join_sides(
    py: Python<'_>,
    specification: &str,
    local_sends: bool,
    local: &[u8],
    remote: &[u8],
    max_report_bytes: usize,
    references: &str,
    directory: Option<PathBuf>,
) -> PyResult<String> {
    let spec: RunSpec = strict_input::parse(specification).map_err(error)?;
    let listed: Vec<ClockReference> = strict_input::parse(references).map_err(error)?;
    let references: Vec<Reference> = listed
        .into_iter()
        .map(|ClockReference { at_ns, offset_ns, error_ns, source }| Reference {
            at_ns,
            offset_ns,
            error_ns,
            source,
        })
        .collect();
    let report = py.detach(|| -> Result<Report, Cause> {
        let [local, remote] = [local, remote].map(|bytes| SideReport::from_bytes(bytes, max_report_bytes));
        let (local, remote) = (local?, remote?);
        let meter = RunMeter::new(meter_config(&spec, Backend::Emulation));
        let mut observers = (meter, Recorder::create(directory.as_deref(), &spec)?);
        let joined = join(&spec, local_sends, local, remote, &references, &mut observers)?;
        let (meter, recorder) = observers;
        recorder.finish()?;
        let Joined {
            totals,
            clocks,
            flows,
            lost_at_ends,
            ends_latest,
            real_time,
            channel,
            invalid,
            degraded,
            remark,
            programs,
        } = joined;
        let stats = totals.stats(meter)?;
        let ends_latest_us = ends_latest.map(|latest| latest.as_ns() / 1000);
        let remote = Between {
            flows,
            lost_at_ends,
            ends_latest_us,
            real_time,
            channel,
            invalid,
            degraded,
            remark,
            programs,
        };
        Ok(Report { stats, events: totals.events, clocks, remote })
    });
    serde_json::to_string(&report.map_err(error)?).map_err(error)
}

/// Returns the clock offset and the round trip, ns, of the exchange with the shortest round trip (RFC 5905, section
/// 8).
///
/// Exchanges with impossible times from `machine` are ignored.
#[pyfunction]
pub(crate) fn clock_offset(exchanges: &str, machine: &str) -> PyResult<(i64, i64)> {
    let least = offsets_and_round_trips(exchanges, machine)?.into_iter().min_by_key(|(_, rtt_ns)| *rtt_ns);
    least.ok_or_else(|| error("no question for the time was answered"))
}

/// Returns the round trips, ns, in the order of the exchanges, without exchanges with impossible times from
/// `machine`.
#[pyfunction]
pub(crate) fn round_trips(exchanges: &str, machine: &str) -> PyResult<Vec<i64>> {
    Ok(offsets_and_round_trips(exchanges, machine)?.into_iter().map(|(_, rtt_ns)| rtt_ns).collect())
}

/// Returns clock offset and round trip of each valid exchange, ns; an error if there are exchanges and none is valid.
fn offsets_and_round_trips(exchanges: &str, machine: &str) -> PyResult<Vec<(i64, i64)>> {
    let exchanges: Vec<Exchange> = serde_json::from_str(exchanges).map_err(error)?;
    let (mut comparisons, mut first_error) = (Vec::with_capacity(exchanges.len()), None);
    for exchange in &exchanges {
        match exchange.compared() {
            Ok(comparison) => comparisons.push(comparison),
            Err(why) => first_error = first_error.or(Some(why)),
        }
    }
    match first_error.filter(|_| comparisons.is_empty()) {
        Some(why) => Err(error(format_args!("{machine}: {why}"))),
        None => Ok(comparisons),
    }
}

/// Returns the clock of remote runs, ns.
#[pyfunction]
pub(crate) fn clock_ns() -> u64 {
    monotonic_ns()
}

/// Distorts the clock of this process from now on: `offset=37ms,drift=100ppm,step=+20ms@5s`.
#[pyfunction]
pub(crate) fn distort_clock(text: &str) -> PyResult<()> {
    distort(Distortion::parse(text, monotonic_ns()).map_err(error)?);
    Ok(())
}
