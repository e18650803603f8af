//! List of all definitions.

use super::definition::{Definition, Label, Level};
use super::flow::FlowStats;
use super::link::LinkStats;
use super::network::NetworkStats;
use super::row::Row;

/// Returns every row except groups: flows, links, network, each in the order of the JSON.
fn rows() -> Vec<Row> {
    fn gather(level: Level, rows: &[Row], into: &mut Vec<Row>) {
        for &row in rows {
            match row {
                Row::Group(rows) => gather(level, rows, into),
                row => into.push(row.at(level)),
            }
        }
    }
    let mut all = Vec::new();
    gather(Level::Flow, FlowStats::ROWS, &mut all);
    gather(Level::Link, LinkStats::ROWS, &mut all);
    gather(Level::Network, NetworkStats::ROWS, &mut all);
    all
}

/// Returns every metric: flows, links, network, each in the order of the JSON.
pub fn metrics() -> impl Iterator<Item = Definition> {
    rows().into_iter().filter_map(|row| match row {
        Row::Metric(definition) => Some(definition),
        Row::Label(_) | Row::Group(_) => None,
    })
}

/// Returns every key that is no metric, in that order.
pub fn labels() -> impl Iterator<Item = Label> {
    rows().into_iter().filter_map(|row| match row {
        Row::Label(label) => Some(label),
        Row::Metric(_) | Row::Group(_) => None,
    })
}
