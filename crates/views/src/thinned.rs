//! A part of a run: its series, thinned to what can be seen, and its rare events.

use crate::View;
use crate::columns::Columns;
use crate::error::Error;
use crate::gather::{Gathered, Task};
use crate::rare::{Rare, RareKind};
use crate::rows::Rows;
use crate::series::{Wanted, What};
use crate::shown::{Shown, bars, series_of_bins};
use crate::window::Window;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Most rows of all series together.
const MOST_ROWS_IN_ALL: usize = 1 << 22;
/// Most events of a window that are not thinned.
const MOST_EVENTS: usize = 20_000;

impl<R: Rows + ?Sized> View<'_, R> {
    /// The series of a part of a run, from `from_ns` to before `to_ns`, and its rare events, as [`Columns`].
    ///
    /// Of a series with many samples there is a row for each of `columns` equal parts of the window: the time of its first sample,
    /// and the least and the largest of all of them up to the next row.
    ///
    /// # Errors
    /// One line: what was asked for cannot be, or the rows cannot be read.
    pub fn window(
        &self,
        from_ns: f64,
        to_ns: f64,
        columns: u32,
        series: &[Wanted],
    ) -> Result<Vec<u8>, Error> {
        let window = Window::new(from_ns, to_ns, columns)?;
        let found = self.pyramid.wanted(series);
        if found.len().saturating_mul(columns as usize) > MOST_ROWS_IN_ALL {
            let value = format!("{} series in {columns} columns", found.len());
            return Err(Error::Asked { key: "series", value, allowed: "4194304 rows in all" });
        }
        let tasks: Vec<Task<'_>> = found.into_iter().map(|found| self.task(&window, found)).collect();
        let read = self.gather(&window, &tasks)?;
        let shown: Vec<Shown> =
            tasks.iter().zip(&read.series).map(|(task, rows)| show(&window, task, rows)).collect();
        let mut first = 0;
        let mut series = Vec::with_capacity(tasks.len());
        for (task, shown) in tasks.iter().zip(&shown) {
            let mut one = json!(task.found.described());
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
            _ => event.what as f64,
        };
        let text = |&(kind, event): &(RareKind, Rare)| match kind {
            RareKind::Mode => event.what as u32 + 1,
            _ => 0,
        };
        table
            .f64("event_time_ns", events.iter().map(|(_, event)| event.time_ns as f64))
            .u32("event_flow", events.iter().map(|(_, event)| event.flow))
            .short_codes("event_kind", events.iter().map(|(kind, _)| *kind as u8), &RareKind::NAMES)
            .f64("event_seq", events.iter().map(seq))
            .codes("event_text", events.iter().map(text), &texts)
    }

    /// The rare events of the window, and what is to be said of them. `rows`: those that were read from the log.
    fn events(&self, window: &Window, rows: Option<&[(RareKind, Rare)]>) -> (Vec<(RareKind, Rare)>, Value) {
        let mut events = Vec::new();
        let (mut total, mut is_thinned) = (0.0, false);
        for kind in RareKind::ALL {
            let before = events.len();
            // the log has no modes
            if let Some(rows) = rows.filter(|_| kind != RareKind::Mode) {
                events.extend(rows.iter().filter(|(found, _)| *found == kind));
                total += (events.len() - before) as f64;
                continue;
            }
            let rares = &self.pyramid.rare[kind as usize];
            events.extend(rares.within(window.from_ns, window.to_ns).iter().map(|&event| (kind, event)));
            let found = events.len() - before;
            let each = rares.total as f64 / rares.kept.len().max(1) as f64;
            total += (found as f64 * each).round();
            is_thinned |= rares.is_thinned() && found > 0;
        }
        if events.len() > MOST_EVENTS {
            is_thinned = true;
            let mut taken = HashSet::new();
            events.retain(|(kind, event)| taken.insert((*kind, event.flow, window.column(event.time_ns))));
        }
        events.sort_by_key(|(kind, event)| (event.time_ns, *kind));
        let about = json!({"thinned": is_thinned, "total": total, "rows": events.len()});
        (events, about)
    }
}

fn show(window: &Window, task: &Task<'_>, rows: &Gathered) -> Shown {
    match task.found.what {
        What::Rate(sums, _) => bars(window, task, sums, rows),
        What::Delay(flow) if !task.from_rows => series_of_bins(window, &flow.delay, None, false, 1e6),
        What::Delay(_) => series_of_bins(window, &rows.bins, None, false, 1e6),
        What::Field(sampled) => {
            let holds = task.found.kind() == "steps";
            let bins = if task.from_rows { &rows.bins } else { &sampled.bins };
            series_of_bins(window, bins, rows.before, holds, 1.0)
        }
    }
}
