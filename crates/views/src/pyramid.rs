//! What is kept of a run so that any part of it can be shown at once: minima, maxima and sums over time, and rare events.

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

/// Most bins of a series.
pub(crate) const MOST_BINS: usize = 1 << 16;
/// Most bins of all series together, if there are not so many that each has but a few.
const MOST_BINS_IN_ALL: usize = 1 << 21;
/// As few.
const LEAST_BINS: usize = 32;
/// Most bins of a sampled series: what is closer is read from few rows.
const MOST_SAMPLED_BINS: usize = 1 << 14;
/// Most events of a kind.
pub(crate) const MOST_RARE: usize = 1 << 16;
/// Most flows.
pub(crate) const MOST_FLOWS: usize = 10_000;
/// Most sampled series.
pub(crate) const MOST_SAMPLED: usize = 1 << 16;
/// Most links, and most different names of fields, units and modes.
pub(crate) const MOST_NAMES: usize = 1 << 12;
/// Longest of these names, bytes.
pub(crate) const MOST_NAME_BYTES: usize = 1 << 10;

/// Whose a series is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A flow, by its number from 1.
    Flow(u32),
    /// A link, by its name.
    Link(String),
    /// The path as a whole.
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

/// What the packets of a flow tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FlowIndex {
    pub(crate) number: u32,
    /// Bytes that entered the path.
    pub(crate) sent: Sums,
    /// Bytes that left it.
    pub(crate) delivered: Sums,
    /// One-way delays of data, ns.
    pub(crate) delay: Bins,
    /// Where packets of which number were sent.
    pub(crate) checkpoints: Checkpoints,
    pub(crate) packets_sent: u64,
    pub(crate) packets_delivered: u64,
    /// Longest one-way delay of a packet of the return direction, ns.
    pub(crate) longest_ack_delay_ns: u64,
    /// Whether the log says when packets were acknowledged.
    pub(crate) tells_acked: bool,
    /// Whether the log says how much of what arrived was new to the receiver.
    pub(crate) tells_new: bool,
    pub(crate) resends: Resends,
}

/// A sampled series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) owner: Owner,
    pub(crate) field: String,
    pub(crate) unit: String,
    pub(crate) bins: Bins,
}

/// What is kept of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pyramid {
    /// Records that were told.
    pub(crate) records: u64,
    /// Samples that were told.
    pub(crate) samples: u64,
    /// The latest time of all.
    pub(crate) end_ns: u64,
    /// Flows beyond the most.
    pub(crate) flows_left_out: u64,
    /// Records by time.
    pub(crate) density: Sums,
    /// Samples of flows by time.
    pub(crate) sample_density: Sums,
    /// Bytes that the data direction could have carried.
    pub(crate) offered: Sums,
    /// In order of their numbers.
    pub(crate) flows: Vec<FlowIndex>,
    /// In order of owners, then as they came.
    pub(crate) sampled: Vec<Sampled>,
    /// By the code of their kind.
    pub(crate) rare: [Rares; RareKind::ALL.len()],
    /// What modes are called.
    pub(crate) texts: Vec<String>,
}

impl Pyramid {
    /// How many packet events it was made of.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// How many samples of flows and links it was made of.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// The latest time of the run that anything tells, ns.
    pub const fn end_ns(&self) -> u64 {
        self.end_ns
    }

    pub(crate) fn flow(&self, number: u32) -> Option<&FlowIndex> {
        let place = self.flows.binary_search_by_key(&number, |flow| flow.number).ok()?;
        Some(&self.flows[place])
    }
}

/// Makes a [`Pyramid`] of what a run tells; also as an observer of it.
#[derive(Debug)]
pub struct PyramidBuilder {
    made: Pyramid,
    /// Positions of flows.
    flows: HashMap<u32, usize>,
    /// The flow of the latest record, and its position.
    latest: Option<(u32, usize)>,
    owners: Numbers<Owner>,
    fields: Numbers<String>,
    /// Positions of sampled series, by numbers of owner and field.
    series: HashMap<(u32, u32), usize>,
    /// The mode that each sampled series said last, and what its modes are called.
    modes: HashMap<usize, (Vec<u32>, f64)>,
    texts: Numbers<String>,
    most_bins: usize,
}

/// Names by number, in the order in which they came.
#[derive(Debug)]
struct Numbers<T> {
    names: Vec<T>,
    /// Where the last one was found: samples repeat the same round of names, so the next one is just behind.
    last: usize,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { names: Vec::new(), last: 0 }
    }
}

impl<T> Numbers<T> {
    fn number(&mut self, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> Option<u32> {
        let known = self.names.len();
        let found = (0..known).map(|step| (self.last + step) % known).find(|&at| is_it(&self.names[at]));
        self.last = match found {
            Some(at) => at,
            None if known == MOST_NAMES.max(MOST_FLOWS) => return None,
            None => {
                self.names.push(make());
                known
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
    /// Of a run that has told nothing yet.
    pub fn new() -> Self {
        Self {
            made: Pyramid::default(),
            flows: HashMap::new(),
            latest: None,
            owners: Numbers::default(),
            fields: Numbers::default(),
            series: HashMap::new(),
            modes: HashMap::new(),
            texts: Numbers::default(),
            most_bins: MOST_BINS,
        }
    }

    /// Adds a packet event. They come in order of time; in a log from elsewhere a clock may have stepped back.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        let time_ns = record.time_ns;
        self.made.records += 1;
        self.made.end_ns = self.made.end_ns.max(time_ns);
        self.made.density.add(time_ns, 1, MOST_BINS);
        if record.event == Event::Opportunity {
            return self.made.offered.add(time_ns, u64::from(record.size_bytes), MOST_BINS);
        }
        let most = self.most_bins;
        let Some(place) = self.place_of(record.flow) else { return };
        let flow = &mut self.made.flows[place];
        match record.event {
            Event::Send => {
                flow.packets_sent += 1;
                flow.sent.add(time_ns, u64::from(record.size_bytes), most);
                flow.checkpoints.add(time_ns, record.seq);
                flow.resends.sent(record.seq, record.data_bytes);
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
                flow.resends.acked(record.seq);
            }
            Event::Restored => flow.resends.restored(record.seq),
            event => {
                if event == Event::Lost {
                    flow.resends.lost(record.seq, record.data_bytes);
                }
                if let Some(kind) = RareKind::of(event) {
                    let event = Rare { time_ns, flow: record.flow, what: record.seq };
                    self.made.rare[kind as usize].add(event, MOST_RARE);
                }
            }
        }
    }

    /// Adds a value of flow number `flow`.
    pub fn flow_value(&mut self, time_ns: u64, flow: u32, field: &str, unit: &str, value: f64) {
        self.made.sample_density.add(time_ns, 1, MOST_BINS);
        let owner = self.owners.number(|owner| *owner == Owner::Flow(flow), || Owner::Flow(flow));
        let Some(series) = self.value(time_ns, owner, field, unit, value) else { return };
        if let Some((texts, last)) = self.modes.get_mut(&series)
            && *last != value
        {
            *last = value;
            if let Some(&text) = texts.get(value as usize) {
                let event = Rare { time_ns, flow, what: u64::from(text) };
                self.made.rare[RareKind::Mode as usize].add(event, MOST_RARE);
            }
        }
    }

    /// Adds a value of a link.
    pub fn link_value(&mut self, time_ns: u64, link: &str, field: &str, unit: &str, value: f64) {
        let is_it = |owner: &Owner| matches!(owner, Owner::Link(name) if name == link);
        let fits = link.len() <= MOST_NAME_BYTES;
        let owner = fits.then(|| self.owners.number(is_it, || Owner::Link(link.to_owned()))).flatten();
        self.value(time_ns, owner, field, unit, value);
    }

    /// Adds a value to the series of this owner and field; returns the position of the series.
    fn value(
        &mut self,
        time_ns: u64,
        owner: Option<u32>,
        field: &str,
        unit: &str,
        value: f64,
    ) -> Option<usize> {
        self.made.samples += 1;
        self.made.end_ns = self.made.end_ns.max(time_ns);
        if field.len() > MOST_NAME_BYTES || unit.len() > MOST_NAME_BYTES || !value.is_finite() {
            return None;
        }
        let (owner, field_number) =
            (owner?, self.fields.number(|known| known == field, || field.to_owned())?);
        let place = match self.series.get(&(owner, field_number)) {
            Some(&place) => place,
            None if self.series.len() == MOST_SAMPLED => return None,
            None => {
                let place = self.made.sampled.len();
                let owner_name = self.owners.names[owner as usize].clone();
                let is_flow = matches!(owner_name, Owner::Flow(_));
                self.made.sampled.push(Sampled {
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
        self.made.sampled[place].bins.add(time_ns, value, self.most_bins.min(MOST_SAMPLED_BINS));
        Some(place)
    }

    /// What the modes that this field names are called, as numbers of texts; none of other fields.
    fn texts_of(&mut self, field: &str, unit: &str) -> Option<Vec<u32>> {
        // whether the transport repairs a loss is not the controller's mode
        let names = enumerated(unit).filter(|_| field != "recovery")?;
        let is_switch = names == ["no", "yes"];
        let mut texts = Vec::with_capacity(names.len());
        for name in names {
            let text = if is_switch { format!("{field}: {name}") } else { name.to_owned() };
            texts.push(self.texts.number(|known| *known == text, || text.clone())?);
        }
        Some(texts)
    }

    /// The position of a flow, unless there are too many.
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
            None if self.flows.len() == MOST_FLOWS => {
                self.made.flows_left_out += 1;
                return None;
            }
            None => {
                let place = self.made.flows.len();
                self.made.flows.push(FlowIndex { number, ..FlowIndex::default() });
                self.flows.insert(number, place);
                self.share_bins();
                place
            }
        };
        self.latest = Some((number, place));
        Some(place)
    }

    /// How many bins each of so many series may have.
    fn share_bins(&mut self) {
        let series = self.made.sampled.len() + 3 * self.made.flows.len();
        self.most_bins = (MOST_BINS_IN_ALL / series.max(1)).clamp(LEAST_BINS, MOST_BINS);
    }

    /// What is kept so far, for a run that goes on.
    pub fn so_far(&self) -> Pyramid {
        let mut made = self.made.clone();
        made.texts.clone_from(&self.texts.names);
        made.settle(self.most_bins);
        made
    }

    /// What is kept.
    pub fn finish(self) -> Pyramid {
        let mut made = self.made;
        made.texts = self.texts.names;
        made.settle(self.most_bins);
        made
    }
}

impl Pyramid {
    /// Puts everything in order.
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
