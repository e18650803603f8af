//! Index of a run that shows any part of it at once: minima, maxima and sums over time, and rare events.

use crate::bins::Bins;
use crate::checkpoints::Checkpoints;
use crate::rare::{Rare, RareKind, Rares};
use crate::resends::Resends;
use crate::sums::Sums;
use measure::reading::enumerated;
use record::{Event, Record};
use runs::Observer;
use std::collections::HashMap;
use std::fmt;
use units::Time;

/// Maximum bins of a series.
pub(crate) const MAX_BINS: usize = 1 << 16;
/// Maximum bins of all series together, unless each series would have fewer than [`MIN_BINS`].
const MAX_BINS_IN_ALL: usize = 1 << 21;
/// Minimum bins of a series.
const MIN_BINS: usize = 32;
/// Maximum bins of a sampled series. A closer view needs only few rows.
const MAX_SAMPLED_BINS: usize = 1 << 14;
/// Maximum events of a kind.
pub(crate) const MAX_RARE: usize = 1 << 16;
/// Maximum flows.
pub(crate) const MAX_FLOWS: usize = 10_000;
/// Maximum sampled series.
pub(crate) const MAX_SAMPLED: usize = 1 << 16;
/// Maximum links, and maximum distinct names of fields, units and modes.
pub(crate) const MAX_NAMES: usize = 1 << 12;
/// Maximum length of these names, bytes.
pub(crate) const MAX_NAME_BYTES: usize = 1 << 10;

/// Owner of a series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// Flow, by its number from 1.
    Flow(u32),
    /// Link, by its name.
    Link(String),
    /// Path as a whole.
    Path,
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow(number) => write!(out, "flow {number}"),
            Self::Link(name) => write!(out, "link {name}"),
            Self::Path => out.write_str("path"),
        }
    }
}

/// Series and counts of a flow's packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FlowIndex {
    pub(crate) number: u32,
    /// Bytes that entered the path.
    pub(crate) sent: Sums,
    /// Bytes that left the path.
    pub(crate) delivered: Sums,
    /// One-way delays of data, ns.
    pub(crate) delay: Bins,
    /// Times of packet numbers.
    pub(crate) checkpoints: Checkpoints,
    pub(crate) packets_sent: u64,
    pub(crate) packets_delivered: u64,
    /// Longest one-way delay in the ACK direction, ns.
    pub(crate) longest_ack_delay_ns: u64,
    /// True if the log contains the acknowledgments of packets.
    pub(crate) tells_acked: bool,
    /// True if the log contains the bytes that were new to the receiver.
    pub(crate) tells_new: bool,
    pub(crate) resends: Resends,
}

/// Series of a sampled field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SampledSeries {
    pub(crate) owner: Owner,
    pub(crate) field: String,
    pub(crate) unit: String,
    pub(crate) bins: Bins,
}

/// Index of a run for views at any scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pyramid {
    /// Number of records.
    pub(crate) records: u64,
    /// Number of samples.
    pub(crate) samples: u64,
    /// Latest time of a record or sample, ns.
    pub(crate) end_ns: u64,
    /// Number of records of flows above the maximum.
    pub(crate) flows_left_out: u64,
    /// Number of records over time.
    pub(crate) density: Sums,
    /// Number of flow samples over time.
    pub(crate) sample_density: Sums,
    /// Bytes that the data direction could have carried.
    pub(crate) offered: Sums,
    /// Flows in order of their numbers.
    pub(crate) flows: Vec<FlowIndex>,
    /// Sampled series in order of owners, then of appearance.
    pub(crate) sampled: Vec<SampledSeries>,
    /// Rare events by the code of their kind.
    pub(crate) rare: [Rares; RareKind::ALL.len()],
    /// Names of modes.
    pub(crate) texts: Vec<String>,
}

impl Pyramid {
    /// Returns the number of packet events in the index.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of samples of flows and links in the index.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the latest time of the run in the index, ns.
    pub const fn end_ns(&self) -> u64 {
        self.end_ns
    }

    pub(crate) fn flow(&self, number: u32) -> Option<&FlowIndex> {
        let place = self.flows.binary_search_by_key(&number, |flow| flow.number).ok()?;
        Some(&self.flows[place])
    }
}

/// Builder of a [`Pyramid`], also as an observer of a run.
#[derive(Debug)]
pub struct PyramidBuilder {
    pyramid: Pyramid,
    /// Positions of flows.
    flows: HashMap<u32, usize>,
    /// Flow of the latest record, and its position.
    latest: Option<(u32, usize)>,
    owners: Numbers<Owner>,
    fields: Numbers<String>,
    /// Positions of sampled series by the numbers of owner and field.
    series: HashMap<(u32, u32), usize>,
    /// Names (as numbers of texts) and last value of each sampled series of modes.
    modes: HashMap<usize, (Vec<u32>, f64)>,
    texts: Numbers<String>,
    most_bins: usize,
}

/// Names by number, in order of appearance.
#[derive(Debug)]
struct Numbers<T> {
    names: Vec<T>,
    /// Position of the latest name. Samples repeat their names in one order, thus the next name usually follows.
    last: usize,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { names: Vec::new(), last: 0 }
    }
}

impl<T> Numbers<T> {
    fn number(&mut self, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> Option<u32> {
        let count = self.names.len();
        let place = (0..count).map(|step| (self.last + step) % count).find(|&at| is_it(&self.names[at]));
        self.last = match place {
            Some(at) => at,
            None if count == MAX_NAMES.max(MAX_FLOWS) => return None,
            None => {
                self.names.push(make());
                count
            }
        };
        Some(self.last as u32)
    }
}

impl Default for PyramidBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl PyramidBuilder {
    /// Returns a builder without events.
    pub fn new() -> Self {
        Self {
            pyramid: Pyramid::default(),
            flows: HashMap::new(),
            latest: None,
            owners: Numbers::default(),
            fields: Numbers::default(),
            series: HashMap::new(),
            modes: HashMap::new(),
            texts: Numbers::default(),
            most_bins: MAX_BINS,
        }
    }

    /// Adds a packet event. Events come in order of time, but clocks in imported logs may step back.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        let time_ns = record.time_ns;
        self.pyramid.records += 1;
        self.pyramid.end_ns = self.pyramid.end_ns.max(time_ns);
        self.pyramid.density.add(time_ns, 1, MAX_BINS);
        if record.event == Event::Opportunity {
            return self.pyramid.offered.add(time_ns, u64::from(record.size_bytes), MAX_BINS);
        }
        let most = self.most_bins;
        let Some(place) = self.place_of(record.flow) else { return };
        let flow = &mut self.pyramid.flows[place];
        match record.event {
            Event::Send => {
                flow.packets_sent += 1;
                flow.sent.add(time_ns, u64::from(record.size_bytes), most);
                flow.checkpoints.add(time_ns, record.seq);
                flow.resends.add_sent(record.seq, record.data_bytes);
            }
            Event::Deliver => {
                flow.packets_delivered += 1;
                flow.tells_new |= record.data_bytes > 0;
                flow.delivered.add(time_ns, u64::from(record.size_bytes), most);
                flow.delay.add(time_ns, record.one_way_delay_ns as f64, most);
            }
            Event::AckDeliver => {
                let delay_ns = u64::try_from(record.one_way_delay_ns).unwrap_or(0);
                flow.longest_ack_delay_ns = flow.longest_ack_delay_ns.max(delay_ns);
            }
            Event::Acked => {
                flow.tells_acked = true;
                flow.resends.add_acked(record.seq);
            }
            Event::Restored => flow.resends.add_restored(record.seq),
            event => {
                if event == Event::Lost {
                    flow.resends.add_lost(record.seq, record.data_bytes);
                }
                if let Some(kind) = RareKind::of(event) {
                    let event = Rare { time_ns, flow: record.flow, detail: record.seq };
                    self.pyramid.rare[kind as usize].add(event, MAX_RARE);
                }
            }
        }
    }

    /// Adds a value of flow `flow`.
    pub fn flow_value(&mut self, time_ns: u64, flow: u32, field: &str, unit: &str, value: f64) {
        self.pyramid.sample_density.add(time_ns, 1, MAX_BINS);
        let owner = self.owners.number(|owner| *owner == Owner::Flow(flow), || Owner::Flow(flow));
        let Some(series) = self.value(time_ns, owner, field, unit, value) else { return };
        if let Some((texts, last)) = self.modes.get_mut(&series)
            && *last != value
        {
            *last = value;
            if let Some(&text) = texts.get(value as usize) {
                let event = Rare { time_ns, flow, detail: u64::from(text) };
                self.pyramid.rare[RareKind::Mode as usize].add(event, MAX_RARE);
            }
        }
    }

    /// Adds a value of a link.
    pub fn link_value(&mut self, time_ns: u64, link: &str, field: &str, unit: &str, value: f64) {
        let is_it = |owner: &Owner| matches!(owner, Owner::Link(name) if name == link);
        let fits = link.len() <= MAX_NAME_BYTES;
        let owner = fits.then(|| self.owners.number(is_it, || Owner::Link(link.to_owned()))).flatten();
        self.value(time_ns, owner, field, unit, value);
    }

    /// Adds a value to the series of this owner and field. Returns the position of the series.
    fn value(
        &mut self,
        time_ns: u64,
        owner: Option<u32>,
        field: &str,
        unit: &str,
        value: f64,
    ) -> Option<usize> {
        self.pyramid.samples += 1;
        self.pyramid.end_ns = self.pyramid.end_ns.max(time_ns);
        if field.len() > MAX_NAME_BYTES || unit.len() > MAX_NAME_BYTES || !value.is_finite() {
            return None;
        }
        let (owner, field_number) = (owner?, self.fields.number(|name| name == field, || field.to_owned())?);
        let place = match self.series.get(&(owner, field_number)) {
            Some(&place) => place,
            None if self.series.len() == MAX_SAMPLED => return None,
            None => {
                let place = self.pyramid.sampled.len();
                let owner_name = self.owners.names[owner as usize].clone();
                let is_flow = matches!(owner_name, Owner::Flow(_));
                self.pyramid.sampled.push(SampledSeries {
                    owner: owner_name,
                    field: field.to_owned(),
                    unit: unit.to_owned(),
                    bins: Bins::default(),
                });
                self.series.insert((owner, field_number), place);
                if is_flow && let Some(texts) = self.texts_of(field, unit) {
                    self.modes.insert(place, (texts, f64::NAN));
                }
                self.share_bins();
                place
            }
        };
        self.pyramid.sampled[place].bins.add(time_ns, value, self.most_bins.min(MAX_SAMPLED_BINS));
        Some(place)
    }

    /// Returns the texts of the modes that this field names, or `None` for other fields.
    fn texts_of(&mut self, field: &str, unit: &str) -> Option<Vec<u32>> {
        // Loss recovery is a state of the transport, not a mode of the controller.
        let names = enumerated(unit).filter(|_| field != "recovery")?;
        let is_switch = names == ["no", "yes"];
        let mut texts = Vec::with_capacity(names.len());
        for name in names {
            let text = if is_switch { format!("{field}: {name}") } else { name.to_owned() };
            texts.push(self.texts.number(|other| *other == text, || text.clone())?);
        }
        Some(texts)
    }

    /// Returns the position of a flow, or `None` if there are too many flows.
    #[inline]
    fn place_of(&mut self, number: u32) -> Option<usize> {
        match self.latest {
            Some((latest, place)) if latest == number => Some(place),
            _ => self.find_flow(number),
        }
    }

    fn find_flow(&mut self, number: u32) -> Option<usize> {
        let place = match self.flows.get(&number) {
            Some(&place) => place,
            None if self.flows.len() == MAX_FLOWS => {
                self.pyramid.flows_left_out += 1;
                return None;
            }
            None => {
                let place = self.pyramid.flows.len();
                self.pyramid.flows.push(FlowIndex { number, ..FlowIndex::default() });
                self.flows.insert(number, place);
                self.share_bins();
                place
            }
        };
        self.latest = Some((number, place));
        Some(place)
    }

    /// Divides the maximum number of bins between the series.
    fn share_bins(&mut self) {
        let series = self.pyramid.sampled.len() + 3 * self.pyramid.flows.len();
        self.most_bins = (MAX_BINS_IN_ALL / series.max(1)).clamp(MIN_BINS, MAX_BINS);
    }

    /// Returns the index so far, for a run that continues.
    pub fn so_far(&self) -> Pyramid {
        let mut pyramid = self.pyramid.clone();
        pyramid.texts.clone_from(&self.texts.names);
        pyramid.settle(self.most_bins);
        pyramid
    }

    /// Returns the index.
    pub fn finish(self) -> Pyramid {
        let mut pyramid = self.pyramid;
        pyramid.texts = self.texts.names;
        pyramid.settle(self.most_bins);
        pyramid
    }
}

impl Pyramid {
    /// Sorts flows, series and events, and applies the maximum number of bins.
    fn settle(&mut self, most_bins: usize) {
        self.flows.sort_by_key(|flow| flow.number);
        self.sampled.sort_by(|a, b| a.owner.cmp(&b.owner));
        for rares in &mut self.rare {
            rares.sort();
        }
        for flow in &mut self.flows {
            flow.sent.widen(most_bins);
            flow.delivered.widen(most_bins);
        }
        let delays = self.flows.iter_mut().map(|flow| &mut flow.delay);
        for bins in self.sampled.iter_mut().map(|series| &mut series.bins).chain(delays) {
            if bins.list.len() > most_bins {
                bins.thin(most_bins);
            }
        }
    }
}

impl Observer for PyramidBuilder {
    #[inline]
    fn record(&mut self, record: &Record) {
        Self::record(self, record);
    }

    fn wants_values(&self) -> bool {
        true
    }

    fn flow_value(&mut self, at: Time, flow: u32, field: &str, unit: &str, value: f64) {
        Self::flow_value(self, at.as_ns(), flow, field, unit, value);
    }

    fn link_value(&mut self, at: Time, link: &str, field: &str, unit: &str, value: f64) {
        Self::link_value(self, at.as_ns(), link, field, unit, value);
    }
}
