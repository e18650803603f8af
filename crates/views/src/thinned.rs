//! Window of a run: its series, thinned to the visible resolution, and its rare events.

use crate::View;
use crate::columns::Columns;
use crate::error::Error;
use crate::gather::{RowValues, Task};
use crate::rare::{Rare, RareKind};
use crate::rows::Rows;
use crate::series::{SeriesSelector, Values};
use crate::series_rows::{SeriesRows, bars, series_of_bins};
use crate::window::Window;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Maximum rows of all series together.
const MAX_ROWS_IN_ALL: usize = 1 << 22;
/// Maximum events of a window without thinning.
const MAX_EVENTS: usize = 20_000;

impl<R: Rows + ?Sized> View<'_, R> {
    /// Returns the series of a part of a run, from `from_ns` to before `to_ns`, and its rare events, as [`Columns`].
    ///
    /// A series with many samples has one row for each of `columns` equal parts of the window. The row contains the
    /// time of the first sample, and the minimum and maximum up to the next row.
    ///
    /// # Errors
    /// Returns an error if an argument is invalid, or the rows cannot be read.
    pub fn window(
        &self,
        from_ns: f64,
        to_ns: f64,
        columns: u32,
        series: &[SeriesSelector],
    ) -> Result<Vec<u8>, Error> {
        let window = Window::new(from_ns, to_ns, columns)?;
        let selected = self.pyramid.select(series);
        if selected.len().saturating_mul(columns as usize) > MAX_ROWS_IN_ALL {
            let value = format!("{} series in {columns} columns", selected.len());
            return Err(Error::InvalidArgument { key: "series", value, allowed: "4194304 rows in all" });
        }
        let tasks: Vec<Task<'_>> = selected.into_iter().map(|series| self.task(&window, series)).collect();
        let read = self.gather(&window, &tasks)?;
        let shown: Vec<SeriesRows> =
            tasks.iter().zip(&read.series).map(|(task, rows)| show(&window, task, rows)).collect();
        let mut first = 0;
        let mut series = Vec::with_capacity(tasks.len());
        for (task, shown) in tasks.iter().zip(&shown) {
            let mut one = json!(task.series.description());
            one["detail"] = json!(if shown.is_thinned { "thinned" } else { "all" });
            one["first"] = json!(first);
            one["rows"] = json!(shown.time_ns.len());
            if let Some(bar_ns) = task.bar_ns {
                one["bin_ns"] = json!(bar_ns);
            }
            series.push(one);
            first += shown.time_ns.len();
        }
        let (events, about) = self.events(&window, read.rare.as_deref());
        let meta = json!({
            "t0_ns": window.from_ns, "t1_ns": window.to_ns, "end_ns": self.pyramid.end_ns,
            "series": series, "events": about, "rows_read": read.rows,
        });
        let table = Columns::new(meta)
            .f64("time_ns", shown.iter().flat_map(|one| one.time_ns.iter().copied()))
            .f64("low", shown.iter().flat_map(|one| one.low.iter().copied()))
            .f64("high", shown.iter().flat_map(|one| one.high.iter().copied()));
        Ok(self.with_events(table, &events).into_bytes())
    }

    fn with_events(&self, table: Columns, events: &[(RareKind, Rare)]) -> Columns {
        let mut texts = vec![String::new()];
        texts.extend_from_slice(&self.pyramid.texts);
        let seq = |&(kind, event): &(RareKind, Rare)| match kind {
            RareKind::Mode => f64::NAN,
            _ => event.detail as f64,
        };
        let text = |&(kind, event): &(RareKind, Rare)| match kind {
            RareKind::Mode => event.detail as u32 + 1,
            _ => 0,
        };
        table
            .f64("event_time_ns", events.iter().map(|(_, event)| event.time_ns as f64))
            .u32("event_flow", events.iter().map(|(_, event)| event.flow))
            .short_codes("event_kind", events.iter().map(|(kind, _)| *kind as u8), &RareKind::NAMES)
            .f64("event_seq", events.iter().map(seq))
            .codes("event_text", events.iter().map(text), &texts)
    }

    /// Returns the rare events of the window and their summary. `rows`: events read from the log.
    fn events(&self, window: &Window, rows: Option<&[(RareKind, Rare)]>) -> (Vec<(RareKind, Rare)>, Value) {
        let mut events = Vec::new();
        let (mut total, mut is_thinned) = (0.0, false);
        for kind in RareKind::ALL {
            let before = events.len();
            // The log has no modes.
            if let Some(rows) = rows.filter(|_| kind != RareKind::Mode) {
                events.extend(rows.iter().filter(|(row_kind, _)| *row_kind == kind));
                total += (events.len() - before) as f64;
                continue;
            }
            let rares = &self.pyramid.rare[kind as usize];
            events.extend(rares.within(window.from_ns, window.to_ns).iter().map(|&event| (kind, event)));
            let count = events.len() - before;
            let events_per_row = rares.total as f64 / rares.events.len().max(1) as f64;
            total += (count as f64 * events_per_row).round();
            is_thinned |= rares.is_thinned() && count > 0;
        }
        if events.len() > MAX_EVENTS {
            is_thinned = true;
            let mut occupied = HashSet::new();
            events.retain(|(kind, event)| occupied.insert((*kind, event.flow, window.column(event.time_ns))));
        }
        events.sort_by_key(|(kind, event)| (event.time_ns, *kind));
        let about = json!({"thinned": is_thinned, "total": total, "rows": events.len()});
        (events, about)
    }
}

fn show(window: &Window, task: &Task<'_>, rows: &RowValues) -> SeriesRows {
    match task.series.values {
        Values::Rate(sums, _) => bars(window, task, sums, rows),
        Values::Delay(flow) if !task.from_rows => series_of_bins(window, &flow.delay, None, false, 1e6),
        Values::Delay(_) => series_of_bins(window, &rows.bins, None, false, 1e6),
        Values::Field(sampled) => {
            let holds = task.series.kind() == "steps";
            let bins = if task.from_rows { &rows.bins } else { &sampled.bins };
            series_of_bins(window, bins, rows.before, holds, 1.0)
        }
    }
}
