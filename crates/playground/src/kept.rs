//! What a run has shown so far, as far as a page can ask for it.

use record::{Event, Record};
use runs::{Observer, RunSpec};
use units::Time;

/// So many records are kept whole: 160 MB. Of a longer run a page can see packets of its beginning alone; bins and samples
/// have all of it.
const MOST_RECORDS: usize = 4_000_000;
/// Records in one piece of memory: what is there is not moved when more come.
const CHUNK: usize = 1 << 16;
/// Bins of a run.
const BINS: f64 = 4096.0;
/// Shortest bin, ns.
const LEAST_BIN_NS: u64 = 100_000;
/// So many rare events are kept.
const MOST_EVENTS: usize = 400_000;

/// What a flow did in one bin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// Bytes on the path that were sent, and that arrived.
    pub(crate) sent_bytes: u64,
    pub(crate) delivered_bytes: u64,
    /// The one-way delays of what arrived, ns, and when the first of it did.
    pub(crate) first_ns: u64,
    pub(crate) low_ns: i64,
    pub(crate) high_ns: i64,
}

impl Bin {
    const EMPTY: Self =
        Self { sent_bytes: 0, delivered_bytes: 0, first_ns: 0, low_ns: i64::MAX, high_ns: i64::MIN };

    /// Takes in a record.
    #[inline]
    fn add(&mut self, record: &Record) {
        match record.event {
            Event::Send => self.sent_bytes += u64::from(record.size_bytes),
            Event::Deliver => {
                if self.low_ns == i64::MAX {
                    self.first_ns = record.time_ns;
                }
                self.delivered_bytes += u64::from(record.size_bytes);
                self.low_ns = self.low_ns.min(record.one_way_delay_ns);
                self.high_ns = self.high_ns.max(record.one_way_delay_ns);
            }
            _ => {}
        }
    }

    /// Takes in a later bin.
    pub(crate) fn join(&mut self, later: &Self) {
        if self.low_ns == i64::MAX {
            self.first_ns = later.first_ns;
        }
        self.sent_bytes += later.sent_bytes;
        self.delivered_bytes += later.delivered_bytes;
        self.low_ns = self.low_ns.min(later.low_ns);
        self.high_ns = self.high_ns.max(later.high_ns);
    }

    /// Whether anything arrived in it.
    pub(crate) const fn has_delays(&self) -> bool {
        self.low_ns <= self.high_ns
    }
}

/// Equal parts of a time, of each flow.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    pub(crate) from_ns: u64,
    pub(crate) width_ns: u64,
    /// By flow, then by time; a flow has as many as it needed.
    pub(crate) flows: Vec<Vec<Bin>>,
}

impl Bins {
    /// Parts of `width_ns` each for so many flows.
    pub(crate) fn new(from_ns: u64, width_ns: u64, flows: usize) -> Self {
        Self { from_ns, width_ns: width_ns.max(1), flows: vec![Vec::new(); flows] }
    }

    /// Takes in a record at or after `from_ns`.
    #[inline]
    pub(crate) fn add(&mut self, record: &Record) {
        if !matches!(record.event, Event::Send | Event::Deliver) {
            return;
        }
        let Some(bins) = self.flows.get_mut((record.flow as usize).wrapping_sub(1)) else { return };
        let index = ((record.time_ns - self.from_ns) / self.width_ns) as usize;
        if bins.len() <= index {
            bins.resize(index + 1, Bin::EMPTY);
        }
        bins[index].add(record);
    }

    /// The same in parts of about `width_ns`, within a time.
    pub(crate) fn coarser(&self, from_ns: u64, to_ns: u64, width_ns: u64) -> Self {
        let step = width_ns.div_ceil(self.width_ns).max(1);
        let first = (from_ns.saturating_sub(self.from_ns) / self.width_ns / step * step) as usize;
        let last = to_ns.saturating_sub(self.from_ns).div_ceil(self.width_ns) as usize;
        let mut made = Self::new(self.from_ns + first as u64 * self.width_ns, step * self.width_ns, 0);
        for bins in &self.flows {
            let within = &bins[first.min(bins.len())..last.min(bins.len())];
            let joined = within.chunks(step as usize).map(|chunk| {
                let mut bin = chunk[0];
                chunk[1..].iter().for_each(|later| bin.join(later));
                bin
            });
            made.flows.push(joined.collect());
        }
        made
    }
}

/// The samples of one field of a flow or a link.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    /// `flow 1`, `link data/bottleneck`.
    pub(crate) owner: String,
    pub(crate) field: String,
    pub(crate) unit: String,
    pub(crate) time_ns: Vec<f64>,
    pub(crate) value: Vec<f64>,
}

/// The observer that keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    chunks: Vec<Vec<Record>>,
    records: usize,
    pub(crate) bins: Bins,
    pub(crate) series: Vec<Sampled>,
    /// Where the last sample went: they come in the same order each time.
    last: usize,
    /// What is rare: drops, marks, losses.
    pub(crate) events: Vec<Record>,
    /// How many there were.
    pub(crate) all_events: usize,
    /// The longest one-way delay so far, ns.
    pub(crate) longest_ns: u64,
}

impl Kept {
    /// For a run of `spec`.
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let width_ns = (spec.duration().as_ns() as f64 / BINS) as u64;
        Self {
            chunks: Vec::new(),
            records: 0,
            bins: Bins::new(0, width_ns.max(LEAST_BIN_NS), spec.flows.len()),
            series: Vec::new(),
            last: 0,
            events: Vec::new(),
            all_events: 0,
            longest_ns: 0,
        }
    }

    /// The records from a time on, as far as they are kept, in order of time.
    pub(crate) fn records_from(&self, from_ns: u64) -> impl Iterator<Item = &Record> {
        let skipped =
            self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| last.time_ns < from_ns));
        let within = self.chunks.get(skipped);
        let begin = within.map_or(0, |chunk| chunk.partition_point(|record| record.time_ns < from_ns));
        self.chunks[skipped..].iter().flatten().skip(begin)
    }

    /// Up to when all records are kept, ns; without end if nothing was left out.
    pub(crate) fn whole_until_ns(&self) -> u64 {
        if self.records < MOST_RECORDS {
            return u64::MAX;
        }
        self.chunks.last().and_then(|chunk| chunk.last()).map_or(0, |record| record.time_ns)
    }

    fn sample(
        &mut self,
        at: Time,
        is_owner: impl Fn(&str) -> bool,
        name: impl Fn() -> String,
        of: (&str, &str, f64),
    ) {
        let (field, unit, value) = of;
        let known = self.series.len();
        let found = (1..=known).map(|step| (self.last + step) % known).find(|&index| {
            let one = &self.series[index];
            one.field == field && is_owner(&one.owner)
        });
        self.last = found.unwrap_or_else(|| {
            let (field, unit) = (field.to_owned(), unit.to_owned());
            self.series.push(Sampled { owner: name(), field, unit, time_ns: Vec::new(), value: Vec::new() });
            known
        });
        let series = &mut self.series[self.last];
        series.time_ns.push(at.as_ns() as f64);
        series.value.push(value);
    }
}

impl Observer for Kept {
    #[inline]
    fn record(&mut self, record: &Record) {
        self.bins.add(record);
        match record.event {
            Event::Drop | Event::Mark | Event::Lost | Event::AckDrop => {
                self.all_events += 1;
                if self.events.len() < MOST_EVENTS {
                    self.events.push(*record);
                }
            }
            Event::Deliver => self.longest_ns = self.longest_ns.max(record.one_way_delay_ns.unsigned_abs()),
            _ => {}
        }
        if self.records < MOST_RECORDS {
            match self.chunks.last_mut() {
                Some(chunk) if chunk.len() < CHUNK => chunk.push(*record),
                _ => {
                    let mut chunk = Vec::with_capacity(CHUNK);
                    chunk.push(*record);
                    self.chunks.push(chunk);
                }
            }
            self.records += 1;
        }
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        let is_owner =
            |owner: &str| owner.strip_prefix("flow ").and_then(|text| text.parse().ok()) == Some(flow);
        self.sample(at, is_owner, || format!("flow {flow}"), (field, unit, value));
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        let is_owner = |owner: &str| owner.strip_prefix("link ") == Some(link);
        self.sample(at, is_owner, || format!("link {link}"), (field, unit, value));
    }
}
