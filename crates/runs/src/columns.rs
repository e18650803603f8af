//! Records and samples of a run as columns that other code (Arrow, numpy, a page) uses without a copy.

use record::Record;
use units::Time;

/// Rows of a packet log; see [`Record`] for the meaning of the columns.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "documented in Record")]
pub struct PacketColumns {
    pub time_ns: Vec<u64>,
    pub flow: Vec<u32>,
    /// Codes of events.
    pub event: Vec<u8>,
    pub seq: Vec<u64>,
    pub size_bytes: Vec<u32>,
    pub data_bytes: Vec<u32>,
    pub one_way_delay_ns: Vec<i64>,
}

impl PacketColumns {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, record: &Record) {
        self.time_ns.push(record.time_ns);
        self.flow.push(record.flow);
        self.event.push(record.event as u8);
        self.seq.push(record.seq);
        self.size_bytes.push(record.size_bytes);
        self.data_bytes.push(record.data_bytes);
        self.one_way_delay_ns.push(record.one_way_delay_ns);
    }
}

/// Rows of samples: one value of one field of one owner (a flow's number or a link's name) per row.
#[derive(Clone, Debug, Default)]
pub struct SampleColumns<K> {
    /// Times since the start of the run, ns.
    pub time_ns: Vec<u64>,
    /// Owner of each value.
    pub owner: K,
    /// Field of each value.
    pub field: Texts,
    /// Unit of each value; "" without a unit.
    pub unit: Texts,
    /// Values.
    pub value: Vec<f64>,
}

impl<K> SampleColumns<K> {
    fn push(&mut self, at: Time, field: &str, unit: &str, value: f64) {
        self.time_ns.push(at.as_ns());
        self.field.push(field);
        self.unit.push(unit);
        self.value.push(value);
    }

    fn remove_rows(&mut self) {
        self.time_ns.clear();
        self.field.codes.clear();
        self.unit.codes.clear();
        self.value.clear();
    }
}

/// Samples of flows, by number.
pub type FlowSamples = SampleColumns<Vec<u32>>;

impl FlowSamples {
    /// Adds a row.
    pub fn flow(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        self.owner.push(flow);
        self.push(at, field, unit, value);
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.owner.clear();
        self.remove_rows();
    }
}

/// Samples of links, by name.
pub type LinkSamples = SampleColumns<Texts>;

impl LinkSamples {
    /// Adds a row.
    pub fn link(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        self.owner.push(link);
        self.push(at, field, unit, value);
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.owner.codes.clear();
        self.remove_rows();
    }
}

/// Column of few distinct strings: each row has the position of its string in a list.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Position in `names`, by row.
    pub codes: Vec<u32>,
    /// Distinct strings, in order of their first row.
    pub names: Vec<String>,
    /// Position of the latest string. Samples repeat their names in one order, thus the next name usually follows.
    last: usize,
}

impl Texts {
    fn push(&mut self, text: &str) {
        let count = self.names.len();
        let place = (0..count).map(|step| (self.last + step) % count).find(|&at| self.names[at] == text);
        self.last = place.unwrap_or_else(|| {
            self.names.push(text.to_owned());
            count
        });
        self.codes.push(self.last as u32);
    }

    /// Returns the string of row `row`.
    pub fn get(&self, row: usize) -> &str {
        &self.names[self.codes[row] as usize]
    }
}
