//! Reads rows of a run for windows that its pyramid shows too coarsely.

use crate::View;
use crate::bins::{Bin, Bins};
use crate::error::Error;
use crate::pyramid::Owner;
use crate::rare::{Rare, RareKind};
use crate::rows::Rows;
use crate::series::{Series, Source, Values};
use crate::sums::{Sums, readable};
use crate::window::Window;
use record::{Event, Record};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Bins in a window that are fine enough for any number of columns.
const FINE: usize = 1 << 10;
/// Maximum rows read for one window, since more take too long.
const MAX_ROWS: f64 = 1_500_000.0;
/// Mean packets in a bar. If packets are few, narrower bars would only show single packets.
const PACKETS_PER_BAR: f64 = 8.0;
/// Minimum bars of a window, even if a bar then has fewer packets.
const MIN_BARS: f64 = 8.0;

/// Source and resolution of a displayed series.
#[derive(Debug)]
pub(crate) struct Task<'a> {
    pub(crate) series: Series<'a>,
    /// True if the values come from rows, false if from the pyramid.
    pub(crate) from_rows: bool,
    /// Width of the bars, ns, for a rate.
    pub(crate) bar_ns: Option<u64>,
}

/// Values of a series from rows.
#[derive(Debug, Default)]
pub(crate) struct RowValues {
    /// Samples in the window.
    pub(crate) bins: Bins,
    /// Value at the beginning of the window.
    pub(crate) before: Option<f64>,
    /// Bytes by bar number.
    pub(crate) bars: HashMap<u64, u64>,
}

/// Rows read for a window.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Values in the order of the tasks.
    pub(crate) series: Vec<RowValues>,
    /// Rare events of packets, if records were read.
    pub(crate) rare: Option<Vec<(RareKind, Rare)>>,
    pub(crate) rows: u64,
}

impl<R: Rows + ?Sized> View<'_, R> {
    pub(crate) fn task<'b>(&self, window: &Window, series: Series<'b>) -> Task<'b> {
        let fits = |density: &Sums| density.about(window.from_ns, window.to_ns) <= MAX_ROWS;
        let has_records = self.rows.has_records() && fits(&self.pyramid.density);
        let is_coarse = |bins: &Bins| {
            let enough = FINE.min(window.columns as usize);
            !bins.is_exact() && bins.within(window.from_ns, window.to_ns).len() < enough
        };
        match series.values {
            Values::Rate(sums, source) => {
                let least_ns = self.least_bar_ns(window, &series.owner, sums, source);
                let narrow_ns = readable(least_ns, 1);
                let from_rows = has_records && narrow_ns < sums.width_ns;
                let bar_ns = Some(if from_rows { narrow_ns } else { readable(least_ns, sums.width_ns) });
                Task { series, from_rows, bar_ns }
            }
            Values::Delay(flow) => {
                Task { from_rows: has_records && is_coarse(&flow.delay), bar_ns: None, series }
            }
            Values::Field(field_series) => {
                let from_rows = fits(&self.pyramid.sample_density)
                    && self.rows.has_samples()
                    && is_coarse(&field_series.bins);
                Task { from_rows, bar_ns: None, series }
            }
        }
    }

    /// Returns the minimum width of the bars of a rate, ns.
    fn least_bar_ns(&self, window: &Window, owner: &Owner, sums: &Sums, source: Source) -> u64 {
        let span_ns = window.span_ns() as f64;
        let mut least_ns = span_ns / f64::from(window.columns.div_ceil(2));
        if let Owner::Flow(number) = owner
            && let Some(flow) = self.pyramid.flow(*number)
        {
            let packets = if source == Source::Sent { flow.packets_sent } else { flow.packets_delivered };
            let mean_bytes = sums.total() as f64 / packets.max(1) as f64;
            let here = sums.about(window.from_ns, window.to_ns) / mean_bytes.max(1.0);
            let by_packets_ns = span_ns * (PACKETS_PER_BAR / here.max(1.0)).min(1.0 / MIN_BARS);
            least_ns = least_ns.max(by_packets_ns);
        }
        (least_ns.ceil() as u64).max(1)
    }

    /// Reads the rows that the tasks need.
    pub(crate) fn gather(&self, window: &Window, tasks: &[Task<'_>]) -> Result<Read, Error> {
        let mut read =
            Read { series: tasks.iter().map(|_| RowValues::default()).collect(), ..Read::default() };
        let of_rows = || tasks.iter().enumerate().filter(|(_, task)| task.from_rows);
        let needs_records = of_rows().any(|(_, task)| !matches!(task.series.values, Values::Field(_)));
        let rares = self.pyramid.rare.iter();
        let has_gaps = rares
            .take(RareKind::Mode as usize)
            .any(|rares| rares.is_thinned() && !rares.within(window.from_ns, window.to_ns).is_empty());
        let fits = self.pyramid.density.about(window.from_ns, window.to_ns) <= MAX_ROWS;
        if needs_records || (has_gaps && fits && self.rows.has_records()) {
            self.gather_records(window, tasks, &mut read)?;
        }
        if of_rows().any(|(_, task)| matches!(task.series.values, Values::Field(_))) {
            self.gather_samples(window, tasks, &mut read)?;
        }
        Ok(read)
    }

    fn gather_records(&self, window: &Window, tasks: &[Task<'_>], read: &mut Read) -> Result<(), Error> {
        // Bars begin at multiples of their width, thus the first bar may begin before the window.
        let (mut from_ns, mut to_ns) = (window.from_ns, window.to_ns);
        let mut bars: HashMap<(Source, u32), (usize, u64)> = HashMap::new();
        let mut delays: HashMap<u32, usize> = HashMap::new();
        for (place, task) in tasks.iter().enumerate().filter(|(_, task)| task.from_rows) {
            let flow = if let Owner::Flow(number) = task.series.owner { number } else { 0 };
            match (task.series.values, task.bar_ns) {
                (Values::Rate(_, source), Some(bar_ns)) => {
                    bars.insert((source, flow), (place, bar_ns));
                    from_ns = from_ns.min(window.from_ns / bar_ns * bar_ns);
                    to_ns = to_ns.max(window.to_ns.next_multiple_of(bar_ns));
                }
                (Values::Delay(_), _) => {
                    delays.insert(flow, place);
                }
                _ => {}
            }
        }
        let mut rare = Vec::new();
        let Read { series, rows, .. } = read;
        self.rows.records(from_ns, to_ns, &mut |record| {
            *rows += 1;
            if let Some(source) = source_of(record)
                && let Some(&(place, bar_ns)) = bars.get(&(source, record.flow))
            {
                *series[place].bars.entry(record.time_ns / bar_ns).or_default() +=
                    u64::from(record.size_bytes);
            }
            if (window.from_ns..window.to_ns).contains(&record.time_ns) {
                if record.event == Event::Deliver
                    && let Some(&place) = delays.get(&record.flow)
                {
                    series[place].bins.list.push(Bin::of(record.time_ns, record.one_way_delay_ns as f64));
                }
                if let Some(kind) = RareKind::of(record.event) {
                    rare.push((
                        kind,
                        Rare { time_ns: record.time_ns, flow: record.flow, detail: record.seq },
                    ));
                }
            }
            ControlFlow::Continue(())
        })?;
        for place in delays.into_values() {
            series[place].bins.list.sort_by_key(|bin| bin.first_ns);
        }
        read.rare = Some(rare);
        Ok(())
    }

    fn gather_samples(&self, window: &Window, tasks: &[Task<'_>], read: &mut Read) -> Result<(), Error> {
        let mut from_ns = window.from_ns;
        let mut places: HashMap<&Owner, HashMap<&str, usize>> = HashMap::new();
        for (place, task) in tasks.iter().enumerate().filter(|(_, task)| task.from_rows) {
            let Values::Field(sampled) = task.series.values else { continue };
            // `rtt` and `srtt` can be one field.
            places.entry(&sampled.owner).or_default().entry(&sampled.field).or_insert(place);
            let bins = &sampled.bins.list;
            let next = bins.partition_point(|bin| bin.first_ns < window.from_ns);
            if let Some(bin) = next.checked_sub(1).map(|before| bins[before]) {
                if bin.last_ns < window.from_ns {
                    read.series[place].before = Some(bin.close);
                } else {
                    // The value at the window's beginning was sampled inside this bin.
                    from_ns = from_ns.min(bin.first_ns);
                }
            }
        }
        let Read { series, rows, .. } = &mut *read;
        self.rows.samples(from_ns, window.to_ns, &mut |time_ns, owner, field, value| {
            *rows += 1;
            if let Some(&place) = places.get(owner).and_then(|fields| fields.get(field)) {
                if time_ns < window.from_ns {
                    series[place].before = Some(value);
                } else {
                    series[place].bins.list.push(Bin::of(time_ns, value));
                }
            }
            ControlFlow::Continue(())
        })?;
        for (place, task) in tasks.iter().enumerate().filter(|(_, task)| task.from_rows) {
            let Values::Field(sampled) = task.series.values else { continue };
            let first = places[&sampled.owner][sampled.field.as_str()];
            if first == place {
                read.series[place].bins.list.sort_by_key(|bin| bin.first_ns);
            } else {
                let (bins, before) = (read.series[first].bins.clone(), read.series[first].before);
                read.series[place] = RowValues { bins, before, ..RowValues::default() };
            }
        }
        Ok(())
    }
}

/// Returns the sum that counts a record.
const fn source_of(record: &Record) -> Option<Source> {
    match record.event {
        Event::Send => Some(Source::Sent),
        Event::Deliver => Some(Source::Delivered),
        Event::Opportunity => Some(Source::Offered),
        _ => None,
    }
}
