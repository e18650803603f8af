//! Rates over time, for plots.

use super::flow_table::FlowTable;
use record::{Event, Record};
use serde::Serialize;
use units::Span;

/// Interval of Pantheon (StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py`).
const DEFAULT_BIN: Span = Span::from_ms(500);

/// Maximum number of bins over all flows: more than a plot can show.
const MOST_BINS: usize = 1 << 18;

/// Sums the bytes of each flow and of the delivery opportunities in time bins.
///
/// If a log needs more than 262,144 bins (a day and a half of one flow in 500 ms), the bin length is doubled,
/// repeatedly if necessary. Bin `i` covers `[first + i * bin, first + (i + 1) * bin)`. `first` is the time of the first
/// record of the data direction, including opportunities (Pantheon's rule, in integer ns). Memory: 16 bytes per bin and
/// flow.
#[derive(Clone, Debug)]
pub struct SeriesMeter {
    bin_ns: u64,
    first_ns: Option<u64>,
    table: FlowTable,
    flows: Vec<FlowBins>,
    capacity: Vec<u64>,
    /// Maximum number of bins per flow.
    most: usize,
}

#[derive(Clone, Debug)]
struct FlowBins {
    flow: u32,
    ingress: Vec<u64>,
    egress: Vec<u64>,
}

/// Rates over time. All series start in bin 0; those of flows are equally long, padded with zeros.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Length of a bin, s.
    pub bin_s: f64,
    /// Start of bin 0, s since the start of the run.
    pub start_s: f64,
    /// Rates of flows, in order of flow numbers.
    pub flows: Vec<FlowSeries>,
    /// Delivery opportunities, Mbit/s; empty if the log has none.
    pub capacity_mbps: Vec<f64>,
}

/// Rates of one flow over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowSeries {
    /// Number of the flow.
    pub flow: u32,
    /// Rate into the path, Mbit/s, overhead included.
    pub ingress_mbps: Vec<f64>,
    /// Rate out of the path, Mbit/s, overhead included.
    pub egress_mbps: Vec<f64>,
}

impl SeriesMeter {
    /// Returns a meter with bins of length `bin`; 500 ms if zero.
    pub fn new(bin: Span) -> Self {
        let bin = if bin.is_zero() { DEFAULT_BIN } else { bin };
        Self {
            bin_ns: bin.as_ns(),
            first_ns: None,
            table: FlowTable::default(),
            flows: Vec::new(),
            capacity: Vec::new(),
            most: MOST_BINS,
        }
    }

    /// Counts the next record. Records come in time order.
    #[inline]
    pub fn record(&mut self, record: &Record) {
        if !matches!(record.event, Event::Send | Event::Deliver | Event::Opportunity) {
            return;
        }
        let first_ns = *self.first_ns.get_or_insert(record.time_ns);
        let since_ns = record.time_ns.saturating_sub(first_ns);
        if since_ns / self.bin_ns >= self.most as u64 {
            self.widen(since_ns);
        }
        let bin = (since_ns / self.bin_ns) as usize;
        let bins = match record.event {
            Event::Opportunity => &mut self.capacity,
            Event::Send => &mut self.flow(record.flow).ingress,
            _ => &mut self.flow(record.flow).egress,
        };
        if bins.len() <= bin {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += u64::from(record.size_bytes);
    }

    /// Returns the series.
    pub fn finish(mut self) -> Series {
        self.flows.sort_by_key(|flow| flow.flow);
        let bins = self.flows.iter().map(|flow| flow.ingress.len().max(flow.egress.len())).max().unwrap_or(0);
        let bin_ns = self.bin_ns as f64;
        // 1 bit/ns is 1000 Mbit/s.
        let rates = |bytes: &[u64], bins: usize| -> Vec<f64> {
            let padded = bytes.iter().copied().chain(core::iter::repeat(0)).take(bins);
            padded.map(|bytes| (bytes * 8) as f64 * 1_000.0 / bin_ns).collect()
        };
        let series = |flow: &FlowBins| FlowSeries {
            flow: flow.flow,
            ingress_mbps: rates(&flow.ingress, bins),
            egress_mbps: rates(&flow.egress, bins),
        };
        Series {
            bin_s: Span::from_ns(self.bin_ns).as_secs_f64(),
            start_s: Span::from_ns(self.first_ns.unwrap_or(0)).as_secs_f64(),
            flows: self.flows.iter().map(series).collect(),
            capacity_mbps: rates(&self.capacity, self.capacity.len()),
        }
    }

    /// Doubles the bin length until there is a bin for this time.
    #[cold]
    fn widen(&mut self, since_ns: u64) {
        while since_ns / self.bin_ns >= self.most as u64 {
            self.bin_ns = self.bin_ns.saturating_mul(2);
            let of_flows = self.flows.iter_mut().flat_map(|flow| [&mut flow.ingress, &mut flow.egress]);
            for bins in of_flows.chain([&mut self.capacity]) {
                *bins = bins.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
        }
    }

    #[inline]
    fn flow(&mut self, flow: u32) -> &mut FlowBins {
        let position = self.table.get(flow).unwrap_or_else(|| {
            self.table.insert(flow, self.flows.len());
            self.flows.push(FlowBins { flow, ingress: Vec::new(), egress: Vec::new() });
            self.most = (MOST_BINS / self.flows.len()).max(1);
            self.flows.len() - 1
        });
        &mut self.flows[position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_ms: u64, flow: u32, event: Event, size_bytes: u32) -> Record {
        let time_ns = time_ms * 1_000_000;
        Record { time_ns, flow, event, seq: 0, size_bytes, data_bytes: 0, one_way_delay_ns: 0 }
    }

    #[test]
    fn bins_start_at_the_first_record_even_if_it_is_an_opportunity() {
        let mut meter = SeriesMeter::new(Span::ZERO);
        for record in [
            record(50, 0, Event::AckSend, 99),
            record(100, 0, Event::Opportunity, 1500),
            record(599, 2, Event::Send, 1000),
            record(600, 2, Event::Send, 2000),
            record(1_700, 2, Event::Deliver, 500),
            record(1_800, 1, Event::Send, 250),
            record(1_900, 1, Event::Drop, 250),
        ] {
            meter.record(&record);
        }
        let series = meter.finish();
        // B x 8 / 500 ms: 1,000 B are 16 kbit/s. Bins start at 100, 600, 1,100, 1,600 ms.
        let flow = |flow, ingress: [f64; 4], egress: [f64; 4]| FlowSeries {
            flow,
            ingress_mbps: ingress.to_vec(),
            egress_mbps: egress.to_vec(),
        };
        let expected = Series {
            bin_s: 0.5,
            start_s: 0.1,
            flows: vec![
                flow(1, [0.0, 0.0, 0.0, 0.004], [0.0; 4]),
                flow(2, [0.016, 0.032, 0.0, 0.0], [0.0, 0.0, 0.0, 0.008]),
            ],
            capacity_mbps: vec![0.024],
        };
        assert_eq!(series, expected);
    }

    #[test]
    fn bins_of_a_log_without_end_become_longer() {
        let mut meter = SeriesMeter::new(Span::from_ms(1));
        let last_ms = 5 * MOST_BINS as u64;
        for time_ms in (0..=last_ms).step_by(1 << 10) {
            meter.record(&record(time_ms, 1, Event::Send, 1000));
        }
        let series = meter.finish();
        // five times the maximum does not fit with bins twice as long, nor four times as long
        assert_eq!(series.bin_s, 0.008);
        let rates = &series.flows[0].ingress_mbps;
        assert_eq!(rates.len(), 5 * MOST_BINS / 8 + 1);
        // 1,000 B in 8 ms are 1 Mbit/s, in each 128th bin
        assert!(rates.iter().enumerate().all(|(bin, &rate)| rate == f64::from(u8::from(bin % 128 == 0))));
    }

    #[test]
    fn nothing_recorded_gives_empty_series() {
        let series = SeriesMeter::new(Span::from_ms(100)).finish();
        assert_eq!(series, Series { bin_s: 0.1, ..Series::default() });
    }
}
