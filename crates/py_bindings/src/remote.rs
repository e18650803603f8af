//! Runs between two machines: this one's side, and what joins the reports of both.

use crate::errors::Cause;
use crate::errors::error;
use crate::outside::Loaded;
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

/// This machine's side of a run between two.
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

    /// Finds the other side; JSON in and out.
    fn meet(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        // What is wrong with it may not be shown: there are keys in it.
        let request: Meet =
            serde_json::from_str(request).map_err(|_| error("meet: not the request that is expected"))?;
        let met = self.with(py, |endpoint| endpoint.meet(&request, &|| self.is_stopped()))?;
        serde_json::to_string(&met).map_err(error)
    }

    /// Asks the other side for the time; the exchanges as JSON.
    fn ask(&self, py: Python<'_>, seconds: f64, per_s: f64) -> PyResult<String> {
        let exchanges = self.with(py, |endpoint| endpoint.ask(seconds, per_s, &|| self.is_stopped()))?;
        serde_json::to_string(&exchanges).map_err(error)
    }

    /// Sends bursts of packets and listens to those of the other side; JSON in and out.
    fn probe(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: Probe = strict_input::parse(request).map_err(error)?;
        let probed = self.with(py, |endpoint| endpoint.probe(&request, &|| self.is_stopped()))?;
        serde_json::to_string(&probed).map_err(error)
    }

    /// Does this side's part in a run. When all is prepared `ready` is called, and says when to begin, ns of this
    /// machine's clock. `live` is a file that shows how it goes, as long as it does.
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
        let loaded = Loaded::for_run(py, &mut spec)?;
        spec.validate(Backend::Emulation, &loaded.registry).map_err(error)?;
        let when = || -> Result<u64, datapath::Cause> {
            Python::attach(|py| ready.call0(py)?.extract::<u64>(py)).map_err(datapath::Cause::from)
        };
        let stop = || self.is_stopped() || loaded.watch.failure().is_some();
        let result = self.with(py, |endpoint| {
            Ok(endpoint.run(&spec, &part, &loaded.registry, live.as_ref(), &when, &stop))
        })?;
        loaded.outcome(result.map_err(Cause::from)).map_err(error)
    }

    /// What this side knows of its run, for [`join_sides`].
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let report = self.with(py, |endpoint| Ok(endpoint.finish()?.to_bytes()?))?;
        Ok(PyBytes::new(py, &report))
    }

    /// Ends whatever goes on.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// What is known of the clocks from elsewhere.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    at_ns: i64,
    offset_ns: i64,
    error_ns: i64,
    source: String,
}

/// What a run between two machines leaves behind: the content of `stats.json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "JoinedRun")]
pub(crate) struct Report {
    #[serde(flatten)]
    stats: RunStats,
    /// Packet events of both sides.
    events: u64,
    clocks: Compared,
    remote: Between,
}

/// What happened on and around the network between two machines.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "BetweenMachines")]
struct Between {
    /// What happened around the packets, flow by flow.
    flows: Vec<Carried>,
    /// Packets that ends behind tunnels lost, on both sides.
    lost_at_ends: u64,
    /// How late a sending end of ours woke up at most, us; null if all are programs.
    ends_latest_us: Option<u64>,
    /// Whether the schedulers of both sides preferred the run's threads to ordinary programs.
    real_time: bool,
    /// What the channel beside the flows was sent by others.
    channel: Guarded,
    /// Why the run must not be used, if so.
    invalid: Option<String>,
    /// Why its times are not those of the network alone, if so.
    degraded: Option<String>,
    /// How late an end or a tunnel was, where the numbers are good all the same.
    remark: Option<String>,
    /// What the programs of the run did.
    programs: Vec<ProgramReport>,
}

/// Makes one run of what its two sides report, each as `finish` gave it and of `max_report_bytes` at most, and returns its
/// statistics as JSON; its logs are written into `directory`. `references` (JSON) are what is known of the clocks from elsewhere.
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
    let known: Vec<Known> = strict_input::parse(references).map_err(error)?;
    let references: Vec<Reference> = known
        .into_iter()
        .map(|Known { at_ns, offset_ns, error_ns, source }| Reference { at_ns, offset_ns, error_ns, source })
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

/// theta of the exchange with the shortest round trip, ns (RFC 5905, section 8), and that round trip, ns. Exchanges in which
/// `machine` states times that cannot be do not count.
#[pyfunction]
pub(crate) fn clock_offset(exchanges: &str, machine: &str) -> PyResult<(i64, i64)> {
    let least = compared(exchanges, machine)?.into_iter().min_by_key(|(_, rtt_ns)| *rtt_ns);
    least.ok_or_else(|| error("no question for the time was answered"))
}

/// Round trips, ns, in the order of the exchanges with `machine`, without those in which it states times that cannot be.
#[pyfunction]
pub(crate) fn round_trips(exchanges: &str, machine: &str) -> PyResult<Vec<i64>> {
    Ok(compared(exchanges, machine)?.into_iter().map(|(_, rtt_ns)| rtt_ns).collect())
}

/// theta and round trip of each exchange that can be; refused where there are some and none can.
fn compared(exchanges: &str, machine: &str) -> PyResult<Vec<(i64, i64)>> {
    let exchanges: Vec<Exchange> = serde_json::from_str(exchanges).map_err(error)?;
    let (mut found, mut refused) = (Vec::with_capacity(exchanges.len()), None);
    for exchange in &exchanges {
        match exchange.compared() {
            Ok(each) => found.push(each),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    match refused.filter(|_| found.is_empty()) {
        Some(why) => Err(error(format_args!("{machine}: {why}"))),
        None => Ok(found),
    }
}

/// The clock that sides go by, ns.
#[pyfunction]
pub(crate) fn clock_ns() -> u64 {
    monotonic_ns()
}

/// From now on the clock of this process is wrong, as `text` says: `offset=37ms,drift=100ppm,step=+20ms@5s`.
#[pyfunction]
pub(crate) fn distort_clock(text: &str) -> PyResult<()> {
    distort(Distortion::parse(text, monotonic_ns()).map_err(error)?);
    Ok(())
}
