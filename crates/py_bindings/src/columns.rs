//! Conversion of packet events and samples to tables, and back.

use crate::arrow::{Column, Names, Values};
use crate::table::Table;
use packetlog::{Gathered, Points};
use record::{Event, Record};
use runs::{FlowSamples, LinkSamples, PacketColumns, SampleColumns, Texts};

impl From<PacketColumns> for Table {
    fn from(packets: PacketColumns) -> Self {
        // The codes in the column are positions in this list.
        let events = Names::new(Event::ALL.iter().map(|event| event.name()));
        Self::new(vec![
            Column::new("time_ns", Values::U64(packets.time_ns)),
            Column::new("flow", Values::U32(packets.flow)),
            Column::new("event", Values::Codes(packets.event, events)),
            Column::new("seq", Values::U64(packets.seq)),
            Column::new("size_bytes", Values::U32(packets.size_bytes)),
            Column::new("data_bytes", Values::U32(packets.data_bytes)),
            Column::new("one_way_delay_ns", Values::I64(packets.one_way_delay_ns)),
        ])
    }
}

impl From<FlowSamples> for Table {
    fn from(samples: FlowSamples) -> Self {
        sample_table(samples, |flows| Column::new("flow", Values::U32(flows)))
    }
}

impl From<LinkSamples> for Table {
    fn from(samples: LinkSamples) -> Self {
        sample_table(samples, |links| Column::new("link", texts(links)))
    }
}

fn sample_table<K>(samples: SampleColumns<K>, owner: impl FnOnce(K) -> Column) -> Table {
    Table::new(vec![
        Column::new("time_ns", Values::U64(samples.time_ns)),
        owner(samples.owner),
        Column::new("field", texts(samples.field)),
        Column::new("unit", texts(samples.unit)),
        Column::new("value", Values::F64(samples.value)),
    ])
}

fn texts(texts: Texts) -> Values {
    Values::WideCodes(texts.codes, Names::new(texts.names))
}

/// Returns the packet events of a table, or `None` for any other table.
pub(crate) fn records(table: &Table) -> Option<impl Iterator<Item = Record>> {
    use Values::{Codes, I64, U32, U64};
    let values: Vec<&Values> = table.columns().iter().map(|column| &column.values).collect();
    let &[U64(time), U32(flow), Codes(event, _), U64(seq), U32(size), U32(data), I64(delay)] = &values[..]
    else {
        return None;
    };
    let record = |row: usize| {
        Some(Record {
            time_ns: time[row],
            flow: flow[row],
            event: Event::of_code(event[row])?,
            seq: seq[row],
            size_bytes: size[row],
            data_bytes: data[row],
            one_way_delay_ns: delay[row],
        })
    };
    Some((0..time.len()).map_while(record))
}

/// Time series with its owner, field and unit.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) key: String,
    pub(crate) field: String,
    pub(crate) unit: String,
    pub(crate) points: Points,
}

impl Series {
    pub(crate) fn new(key: String, field: &str, unit: &str, points: Points) -> Self {
        Self { key, field: field.to_owned(), unit: unit.to_owned(), points }
    }
}

/// Returns the time series of a table of samples, by key, field and unit, or `None` for any other table.
///
/// # Errors
/// Returns an error if the table has too many series.
pub(crate) fn series(table: &Table) -> Option<Result<Vec<Series>, packetlog::Error>> {
    use Values::{F64, U32, U64, WideCodes};
    let values: Vec<&Values> = table.columns().iter().map(|column| &column.values).collect();
    let &[
        U64(time),
        U32(key) | WideCodes(key, _),
        WideCodes(field, fields),
        WideCodes(unit, units),
        F64(value),
    ] = &values[..]
    else {
        return None;
    };
    let mut series = Gathered::default();
    for row in 0..time.len() {
        if let Err(why) = series.add([key[row], field[row], unit[row]], time[row], value[row]) {
            return Some(Err(why));
        }
    }
    let name = |names: &Names, code: u32| names.iter().nth(code as usize).unwrap_or_default().to_owned();
    Some(Ok(sort_series(series.into_series().map(|([key, field, unit], points)| {
        let key = values[1].names().map_or_else(|| key.to_string(), |links| name(links, key));
        Series::new(key, &name(fields, field), &name(units, unit), points)
    }))))
}

/// Returns the series sorted by key, field and unit.
pub(crate) fn sort_series(series: impl Iterator<Item = Series>) -> Vec<Series> {
    let mut list: Vec<Series> = series.collect();
    list.sort_by(|a, b| (&a.key, &a.field, &a.unit).cmp(&(&b.key, &b.field, &b.unit)));
    list
}
