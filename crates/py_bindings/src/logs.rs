//! Measurement of packet logs and samples: metrics, time series, delays and statistics.

use crate::columns::Series;
use crate::errors::error;
use crate::source::{LogArgument, Source, each_record, each_sample};
use measure::{
    ActiveRule, DelayHistogram, Denominators, FlowInfo, FlowOfRun, IntervalMeter, JainMeter, MeterConfig,
    RunMeter, SeriesMeter, Tells, round_to_us, statistics,
};
use packetlog::{Extent, Key, PacketLogReader, Sample, SampleReader, SampleTable, Thinning};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use record::Event;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use units::{Span, Time};

/// Returns the definitions of all metrics as JSON.
#[pyfunction]
pub(crate) fn metrics() -> PyResult<String> {
    serde_json::to_string(&measure::metrics().collect::<Vec<_>>()).map_err(error)
}

/// Returns the keys of statistics that are no metrics, as JSON.
#[pyfunction]
pub(crate) fn labels() -> PyResult<String> {
    serde_json::to_string(&measure::labels().collect::<Vec<_>>()).map_err(error)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasureOptions {
    #[serde(default)]
    duration_s: f64,
    #[serde(default)]
    warmup_s: f64,
    #[serde(default)]
    bin_s: f64,
    #[serde(default)]
    flows: Vec<PlannedFlow>,
    /// Samples with the sender's own state, if the log is a sender's view.
    #[serde(default)]
    stated: Option<PathBuf>,
    /// Time of the log's own zero, ns, if the log is imported.
    #[serde(default)]
    log_zero_ns: Option<u64>,
    /// Events that the records of the log contain.
    #[serde(default)]
    tells: Tells,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedFlow {
    flow: u32,
    #[serde(default)]
    scheme: String,
    #[serde(default)]
    start_s: Option<f64>,
    #[serde(default)]
    stop_s: Option<f64>,
}

impl From<PlannedFlow> for FlowInfo {
    fn from(flow: PlannedFlow) -> Self {
        Self {
            flow: flow.flow,
            scheme: flow.scheme,
            start: flow.start_s.map_or(Time::NEVER, Time::from_secs_f64),
            stop: flow.stop_s.map_or(Time::NEVER, Time::from_secs_f64),
            ..Self::default()
        }
    }
}

/// Returns all metrics of a log as JSON; without packet records, only the metrics from the sender's own state.
#[pyfunction]
#[pyo3(signature = (packets, options))]
pub(crate) fn measure_log(py: Python<'_>, packets: Option<LogArgument>, options: &str) -> PyResult<String> {
    let options: MeasureOptions = serde_json::from_str(options).map_err(error)?;
    let mut meter = RunMeter::new(MeterConfig {
        flows: options.flows.into_iter().map(FlowInfo::from).collect(),
        duration: Span::from_secs_f64(options.duration_s),
        warmup: Span::from_secs_f64(options.warmup_s),
        bin: Span::from_secs_f64(options.bin_s),
        senders_view: options.stated.is_some(),
        log_zero: options.log_zero_ns.map(Time::from_ns),
        tells: options.tells,
        ..MeterConfig::default()
    });
    let stats = py.detach(|| {
        if let Some(packets) = packets {
            each_record(PacketLogReader::open(packets.0).map_err(error)?, |record| {
                meter.record(record);
                Ok(())
            })?;
        }
        let mut senders = Vec::new();
        if let Some(samples) = options.stated {
            let mut stated = meter.sampled_states();
            let samples = SampleReader::open(samples, SampleTable::Flows).map_err(error)?;
            each_sample(samples, |Sample { time_ns, key, field, unit, value }| {
                if let Key::Flow(flow) = key {
                    stated.state(Time::from_ns(time_ns), flow, &field, &unit, value);
                }
                Ok(())
            })?;
            senders = stated.finish();
        }
        PyResult::Ok(meter.finish(&[], &senders))
    })?;
    serde_json::to_string(&stats).map_err(error)
}

#[derive(Serialize)]
struct RatesAndDelays {
    #[serde(flatten)]
    rates: measure::Series,
    delay_range_ms: Option<(f64, f64)>,
}

/// Returns the rates over time of a packet log, and the range of its delays, as JSON.
#[pyfunction]
#[pyo3(signature = (packets, bin_s=0.5))]
pub(crate) fn series(py: Python<'_>, packets: Source, bin_s: f64) -> PyResult<String> {
    if !(1e-6..=1e6).contains(&bin_s) {
        return Err(error(format_args!("bin_s = {bin_s}: allowed is a number from 0.000001 to 1000000")));
    }
    let bin = Span::from_secs_f64(bin_s);
    let mut meter = SeriesMeter::new(bin);
    let series = py.detach(|| {
        let mut extent = Extent::new();
        packets.records_by_interval(bin, |record| {
            meter.record(record);
            if record.event == Event::Deliver {
                extent.add(record.time_ns, record.one_way_delay_ns);
            }
        })?;
        PyResult::Ok(RatesAndDelays { rates: meter.finish(), delay_range_ms: extent.range_ms() })
    })?;
    serde_json::to_string(&series).map_err(error)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JainOptions {
    window_s: f64,
    rule: ActiveRule,
    #[serde(default)]
    duration_s: f64,
    #[serde(default)]
    flows: Vec<PlannedFlow>,
}

/// Returns Jain's index in windows of time, over the flows that a rule counts, as JSON.
#[pyfunction]
pub(crate) fn jain_series(py: Python<'_>, packets: Source, options: &str) -> PyResult<String> {
    let options: JainOptions = serde_json::from_str(options).map_err(error)?;
    if !(1e-6..=1e6).contains(&options.window_s) {
        return Err(error(format_args!(
            "window_s = {}: allowed is a number from 0.000001 to 1000000",
            options.window_s
        )));
    }
    let flows: Vec<_> = options
        .flows
        .into_iter()
        .map(FlowInfo::from)
        .map(|flow| (flow.flow, flow.start, flow.stop))
        .collect();
    let window = Span::from_secs_f64(options.window_s);
    let mut meter = JainMeter::new(window, options.rule, &flows);
    let indices = py.detach(|| {
        packets.records_by_interval(window, |record| meter.record(record))?;
        PyResult::Ok(meter.finish(Span::from_secs_f64(options.duration_s)))
    })?;
    serde_json::to_string(&indices).map_err(error)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransferOptions {
    interval_s: f64,
    #[serde(default)]
    duration_s: f64,
    #[serde(default)]
    flows: Vec<PlannedFlow>,
}

/// Returns the bytes that flows transferred per interval, at both ends, as JSON.
#[pyfunction]
pub(crate) fn transfers(py: Python<'_>, packets: Source, options: &str) -> PyResult<String> {
    let options: TransferOptions = serde_json::from_str(options).map_err(error)?;
    if !(1e-3..=1e6).contains(&options.interval_s) {
        let interval_s = options.interval_s;
        return Err(error(format_args!(
            "interval_s = {interval_s}: allowed is a number from 0.001 to 1000000"
        )));
    }
    let interval = Span::from_secs_f64(options.interval_s);
    let mut meter = IntervalMeter::new(
        interval,
        Span::from_secs_f64(options.duration_s),
        options.flows.into_iter().map(FlowInfo::from).collect(),
    );
    let transfers = py.detach(|| {
        packets.records_by_interval(interval, |record| meter.record(record))?;
        meter.finish().map_err(|why| packets.error(why))
    })?;
    serde_json::to_string(&transfers).map_err(error)
}

/// Flat arrays in native byte order.
type Points<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Interval so long that only the number of flows is bounded.
const LONGEST: Span = Span::from_ms(1_000_000_000);

/// Returns one-way delays: flows (u32), times in s and delays in ms (f64).
///
/// Above `all_up_to` points, returns only points that are distinct in a figure.
#[pyfunction]
pub(crate) fn delay_points<'py>(
    py: Python<'py>,
    packets: Source,
    direction: &str,
    all_up_to: u64,
) -> PyResult<Points<'py>> {
    let event = match direction {
        "data" => Event::Deliver,
        "ack" => Event::AckDeliver,
        _ => return Err(error(format_args!("direction `{direction}`: allowed are data, ack"))),
    };
    let points = py.detach(|| -> PyResult<_> {
        let mut extent = Extent::new();
        if packets.rows()? > all_up_to {
            packets.records_by_interval(LONGEST, |record| {
                if record.event == event {
                    extent.add(record.time_ns, record.one_way_delay_ns);
                }
            })?;
        }
        let mut thinning = (extent.points > all_up_to).then(|| Thinning::new(extent));
        let mut points = (Vec::new(), Vec::new(), Vec::new());
        packets.records_by_interval(LONGEST, |record| {
            if record.event != event {
                return;
            }
            let (flow, time_ns, delay_ns) = (record.flow, record.time_ns, record.one_way_delay_ns);
            if thinning.as_mut().is_none_or(|thinning| thinning.keeps(flow, time_ns, delay_ns)) {
                points.0.extend_from_slice(&record.flow.to_ne_bytes());
                points.1.extend_from_slice(&(record.time_ns as f64 / 1e9).to_ne_bytes());
                points.2.extend_from_slice(&(record.one_way_delay_ns as f64 / 1e6).to_ne_bytes());
            }
        })?;
        Ok(points)
    });
    let (flows, times, delays) = points?;
    Ok((PyBytes::new(py, &flows), PyBytes::new(py, &times), PyBytes::new(py, &delays)))
}

/// Records between two checks of the memory of the delays.
const RECORDS_PER_LOOK: usize = 1 << 20;
/// Maximum memory of a log's delays, bytes. Valid delays take 2 bytes for each µs between the smallest and the
/// largest.
const MOST_DELAY_BYTES: usize = 1 << 30;

/// Flow, delays in ms at which its distribution rises, and number of packets with at most this delay (f64).
type DelaySteps<'py> = (u32, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Returns the distribution of the one-way delays of each flow's delivered data packets, in whole µs: about `most`
/// steps.
///
/// # Errors
/// Returns an error if the log is damaged, the delays differ too much to fit in memory, or a signal raised an
/// exception.
#[pyfunction]
pub(crate) fn delay_steps(py: Python<'_>, packets: Source, most: usize) -> PyResult<Vec<DelaySteps<'_>>> {
    let histograms = py.detach(|| -> PyResult<_> {
        let mut flows = BTreeMap::<u32, DelayHistogram>::new();
        let (mut records, mut fits) = (0, true);
        packets.records_by_interval(LONGEST, |record| {
            records += 1;
            if records % RECORDS_PER_LOOK == 0 {
                fits &= flows.values().map(DelayHistogram::heap_bytes).sum::<usize>() <= MOST_DELAY_BYTES;
            }
            if fits && record.event == Event::Deliver {
                flows.entry(record.flow).or_default().record(round_to_us(record.one_way_delay_ns));
            }
        })?;
        if fits {
            Ok(flows)
        } else {
            Err(packets.error("the delays differ so much that they take more than 1 GiB of memory"))
        }
    })?;
    let array = |values: Vec<f64>| {
        PyBytes::new(py, &values.into_iter().flat_map(f64::to_ne_bytes).collect::<Vec<_>>())
    };
    let to_python = |(flow, mut delays): (u32, DelayHistogram)| {
        let (delay_ms, passed) =
            delays.steps(most).into_iter().map(|(us, count)| (us as f64 / 1e3, count as f64)).unzip();
        (flow, array(delay_ms), array(passed))
    };
    Ok(histograms.into_iter().map(to_python).collect())
}

/// Time series: key, field, unit, times in s and values (f64).
type SampleSeries<'py> = (String, String, String, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Returns the time series of samples, by key and field.
#[pyfunction]
pub(crate) fn samples(py: Python<'_>, samples: Source) -> PyResult<Vec<SampleSeries<'_>>> {
    let list = py.detach(|| samples.series())?;
    let to_python = |series: Series| {
        let seconds = |time_ns: &u64| (*time_ns as f64 / 1e9).to_ne_bytes();
        let times: Vec<u8> = series.points.time_ns.iter().flat_map(seconds).collect();
        let values: Vec<u8> = series.points.value.iter().flat_map(|value| value.to_ne_bytes()).collect();
        (series.key, series.field, series.unit, PyBytes::new(py, &times), PyBytes::new(py, &values))
    };
    Ok(list.into_iter().map(to_python).collect())
}

/// Returns the harm of a competitor to a victim by one metric; `None` if undefined.
#[pyfunction]
pub(crate) fn harm(solo: f64, with_competitor: f64, more_is_better: bool) -> Option<f64> {
    statistics::harm(solo, with_competitor, more_is_better)
}

/// Returns the confidence interval of the mean at `level`; `None` for too few values or without scatter.
///
/// With `fraction`, values are fractions, and the interval ends at 0 and 1.
#[pyfunction]
#[pyo3(signature = (values, level, fraction = false))]
#[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
pub(crate) fn confidence_interval(values: Numbers, level: f64, fraction: bool) -> Option<(f64, f64)> {
    let interval = if fraction { statistics::fraction_interval } else { statistics::confidence_interval };
    interval(&values.0, level)
}

/// Returns the mean, minimum and maximum of some values; `None` without values.
#[pyfunction]
pub(crate) fn mean_and_ends(values: Numbers) -> Option<(f64, f64, f64)> {
    let values = values.0;
    let least = values.iter().copied().reduce(|least, value| if value < least { value } else { least })?;
    let most = values.iter().copied().reduce(|most, value| if value > most { value } else { most })?;
    let sum = values.iter().fold(0.0, |sum, value| sum + value);
    Some((sum / values.len() as f64, least, most))
}

/// Numbers of a list, or of an array, which are copied unchanged.
pub(crate) struct Numbers(Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Numbers {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyList>() {
            return object.extract().map(Self);
        }
        PyBuffer::get(&object)?.to_vec(object.py()).map(Self)
    }
}

/// Returns critical values of Student's t at `level` for up to `max_tests` simultaneous tests, as JSON.
#[pyfunction]
pub(crate) fn critical_values(level: f64, max_tests: usize) -> PyResult<String> {
    let table = measure::CriticalValues::new(level, max_tests)
        .ok_or_else(|| error(format!("level {level}: expected a number between 0 and 1")))?;
    serde_json::to_string(&table).map_err(error)
}

/// Returns low end, high end and probability of the difference of two means, in pairs or of independent samples.
///
/// The fourth value is the difference that this number of values detects in 80 of 100 cases.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
pub(crate) fn difference(
    first: Vec<f64>,
    second: Vec<f64>,
    paired: bool,
    level: f64,
) -> Option<(f64, f64, f64, f64)> {
    let test = if paired { statistics::paired_difference } else { statistics::difference };
    test(&first, &second, level).map(|result| (result.low, result.high, result.p, result.would_show))
}

/// Returns the probabilities of simultaneous tests, adjusted by Holm's method.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
pub(crate) fn holm(probabilities: Vec<f64>) -> Vec<f64> {
    statistics::holm(&probabilities)
}

/// Returns normalised throughput and queueing delay of each scheme over many experiments: JSON in, JSON out.
#[pyfunction]
#[pyo3(signature = (flows, legacy, most_mbps=measure::MOST_MBPS))]
pub(crate) fn normalised(flows: &str, legacy: bool, most_mbps: f64) -> PyResult<String> {
    let flows: Vec<FlowOfRun> = serde_json::from_str(flows).map_err(error)?;
    let denominators = if legacy { Denominators::Legacy } else { Denominators::Own };
    serde_json::to_string(&measure::normalised(&flows, most_mbps, denominators)).map_err(error)
}

/// Returns Jain's index of each list of rates; `None` if all rates are 0.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's lists become")]
pub(crate) fn jain_index(rates: Vec<Vec<f64>>) -> Vec<Option<f64>> {
    rates.iter().map(|rates| statistics::jain_index(rates)).collect()
}
