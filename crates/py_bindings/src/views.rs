//! Views of a run for Python: windows of its series, its packets, and the life of one packet.

use crate::errors::error;
use crate::source::{LogArgument, each_record, each_sample};
use packetlog::{Key, LogFile, PacketLogReader, SampleReader, SampleTable};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use views::{
    Cause, Owner, Pyramid, PyramidBuilder, RecordVisitor, Rows, SampleVisitor, SeriesSelector, View,
};

/// Files of a run, each of which may be absent.
#[derive(Debug)]
struct Files {
    packets: Option<LogFile>,
    flows: Option<LogFile>,
    links: Option<LogFile>,
}

impl Files {
    /// Returns the existing tables of samples.
    fn tables(&self) -> impl Iterator<Item = Result<SampleReader, packetlog::Error>> {
        let flows = self.flows.iter().map(|file| SampleReader::open(file.clone(), SampleTable::Flows));
        flows.chain(self.links.iter().map(|file| SampleReader::open(file.clone(), SampleTable::Links)))
    }

    /// Returns the numbers of packet events and of samples.
    fn rows(&self) -> Result<(u64, u64), packetlog::Error> {
        let records =
            self.packets.as_ref().map_or(Ok(0), |file| Ok(PacketLogReader::open(file.clone())?.rows()))?;
        let mut samples = 0;
        for table in self.tables() {
            samples += table?.rows();
        }
        Ok((records, samples))
    }

    fn pyramid(&self) -> PyResult<Pyramid> {
        let mut builder = PyramidBuilder::new();
        if let Some(packets) = &self.packets {
            each_record(PacketLogReader::open(packets.clone()).map_err(error)?, |record| {
                builder.record(record);
                Ok(())
            })?;
        }
        for table in self.tables() {
            each_sample(table.map_err(error)?, |sample| {
                match &sample.key {
                    Key::Flow(flow) => {
                        builder.flow_value(sample.time_ns, *flow, &sample.field, &sample.unit, sample.value);
                    }
                    Key::Link(link) => {
                        builder.link_value(sample.time_ns, link, &sample.field, &sample.unit, sample.value);
                    }
                }
                Ok(())
            })?;
        }
        Ok(builder.finish())
    }
}

impl Rows for Files {
    fn has_records(&self) -> bool {
        self.packets.is_some()
    }

    fn has_samples(&self) -> bool {
        self.flows.is_some() || self.links.is_some()
    }

    fn records(&self, from_ns: u64, to_ns: u64, visit: &mut RecordVisitor<'_>) -> Result<(), Cause> {
        let Some(packets) = &self.packets else { return Ok(()) };
        let mut log = PacketLogReader::open(packets.clone())?.rows_between(from_ns, to_ns);
        while let Some(record) = log.read()? {
            if visit(&record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn samples(&self, from_ns: u64, to_ns: u64, visit: &mut SampleVisitor<'_>) -> Result<(), Cause> {
        let mut owners: HashMap<Key, Owner> = HashMap::new();
        for table in self.tables() {
            for sample in table?.rows_between(from_ns, to_ns) {
                let sample = sample?;
                let owner = owners.entry(sample.key).or_insert_with_key(|key| match key {
                    Key::Flow(number) => Owner::Flow(*number),
                    Key::Link(name) => Owner::Link(name.to_string()),
                });
                if visit(sample.time_ns, owner, &sample.field, sample.value).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// View of a run: its index in memory, and its files. The files are read once, unless `index` was made from them.
///
/// `retransmissions`: number of each flow's retransmissions, if known.
#[pyclass(frozen, module = "dumbbell._core")]
#[derive(Debug)]
pub(crate) struct RunView {
    files: Files,
    pyramid: Pyramid,
    retransmissions: HashMap<u32, u64>,
    /// True if `index` was missing or from other files.
    #[pyo3(get)]
    built: bool,
}

impl RunView {
    fn view(&self) -> View<'_, Files> {
        View::new(&self.pyramid, &self.files).with_retransmissions(self.retransmissions.clone())
    }
}

#[pymethods]
impl RunView {
    #[new]
    #[pyo3(signature = (packets=None, flows=None, links=None, index=None, retransmissions=None))]
    fn open(
        py: Python<'_>,
        packets: Option<LogArgument>,
        flows: Option<LogArgument>,
        links: Option<LogArgument>,
        index: Option<&[u8]>,
        retransmissions: Option<HashMap<u32, u64>>,
    ) -> PyResult<Self> {
        let log = |argument: Option<LogArgument>| argument.map(|argument| argument.0);
        let files = Files { packets: log(packets), flows: log(flows), links: log(links) };
        let retransmissions = retransmissions.unwrap_or_default();
        py.detach(|| {
            let rows = files.rows().map_err(error)?;
            let reusable = index.and_then(|bytes| Pyramid::from_bytes(bytes).ok());
            let reusable = reusable.filter(|pyramid| (pyramid.records(), pyramid.samples()) == rows);
            let built = reusable.is_none();
            let pyramid = reusable.map_or_else(|| files.pyramid(), Ok)?;
            Ok(Self { files, pyramid, retransmissions, built })
        })
    }

    /// Returns a view of a run that has only its index.
    #[staticmethod]
    fn of_index(py: Python<'_>, index: &[u8]) -> PyResult<Self> {
        let pyramid = py.detach(|| Pyramid::from_bytes(index)).map_err(error)?;
        let files = Files { packets: None, flows: None, links: None };
        Ok(Self { files, pyramid, retransmissions: HashMap::new(), built: false })
    }

    /// Returns the index as bytes, for a file beside the others.
    fn index<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.pyramid.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Latest time of the run, ns.
    #[getter]
    fn end_ns(&self) -> u64 {
        self.pyramid.end_ns()
    }

    /// Returns the series of the run as JSON: a list of owner, name, title, unit, kind.
    fn series(&self) -> PyResult<String> {
        serde_json::to_string(&self.pyramid.series()).map_err(error)
    }

    /// Returns the series of a part of the run, and its rare events.
    fn window<'py>(
        &self,
        py: Python<'py>,
        t0_ns: f64,
        t1_ns: f64,
        columns: u32,
        series: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let selectors = SeriesSelector::list(series).map_err(error)?;
        let bytes = py.detach(|| self.view().window(t0_ns, t1_ns, columns, &selectors)).map_err(error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the packets of a part of the run.
    #[pyo3(signature = (t0_ns, t1_ns, flow=0, most=100_000))]
    fn packets<'py>(
        &self,
        py: Python<'py>,
        t0_ns: f64,
        t1_ns: f64,
        flow: u32,
        most: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.view().packets(t0_ns, t1_ns, flow, most)).map_err(error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the events of a packet, as JSON.
    fn life(&self, py: Python<'_>, flow: u32, seq: u64) -> PyResult<String> {
        py.detach(|| self.view().life(flow, seq)).map_err(error)
    }

    /// Returns the events of the run in sentences, as JSON. `facts`: known facts about the run, as JSON.
    #[pyo3(signature = (facts="{}"))]
    fn reading(&self, py: Python<'_>, facts: &str) -> PyResult<String> {
        py.detach(|| self.view().reading(facts)).map_err(error)
    }
}
