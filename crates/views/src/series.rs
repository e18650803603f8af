//! Series of a run and their names.

use crate::error::Error;
use crate::pyramid::{FlowIndex, Owner, Pyramid, SampledSeries};
use crate::sums::Sums;
use measure::reading::enumerated;
use serde::{Deserialize, Serialize};

/// Description of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesDescription {
    /// Owner: `flow 1`, `link data/bottleneck`, `path`.
    pub owner: String,
    /// Name in requests.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Unit; empty without a unit.
    pub unit: String,
    /// Kind of display. `points` are samples of a continuous quantity, `steps` hold until the next value, `bars` are
    /// means over a bin of time.
    pub kind: &'static str,
    /// Names of the values 0, 1, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
}

/// Request for a series by name, of one owner or of all owners.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum SeriesSelector {
    /// Name, for all owners.
    Named(String),
    /// Owner and name.
    Owned(String, String),
}

impl SeriesSelector {
    /// Reads a list of requests: `["throughput", ["flow 1", "rtt"]]`.
    ///
    /// # Errors
    /// Returns an error if the JSON has another format.
    pub fn list(json: &str) -> Result<Vec<Self>, Error> {
        serde_json::from_str(json).map_err(|_| Error::InvalidArgument {
            key: "series",
            value: json.chars().take(100).collect(),
            allowed: "a list of names and of pairs of owner and name, as [\"throughput\", [\"flow 1\", \"rtt\"]]",
        })
    }
}

/// Series of a pyramid.
#[derive(Clone, Debug)]
pub(crate) struct Series<'a> {
    pub(crate) owner: Owner,
    pub(crate) name: &'a str,
    pub(crate) values: Values<'a>,
}

/// Source of a series' values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values<'a> {
    /// Rate of sent, delivered or offered bytes.
    Rate(&'a Sums, Source),
    /// One-way delays.
    Delay(&'a FlowIndex),
    /// Sampled field.
    Field(&'a SampledSeries),
}

/// Records that a rate sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Sent,
    Delivered,
    Offered,
}

/// Names that stand for the first present one of several fields.
const ALIASES: [(&str, &[&str]); 3] =
    [("rtt", &["latest_rtt", "srtt"]), ("cwnd", &["window"]), ("pacing_rate", &["pacing"])];

/// Fields that are samples of a continuous quantity and do not hold until the next value.
const POINTS: [&str; 4] = ["latest_rtt", "rtt", "frame_delay", "frame_size"];

/// Titles of fields.
const TITLES: [(&str, &str); 16] = [
    ("throughput", "Throughput"),
    ("send_rate", "Sending rate"),
    ("one_way_delay", "One-way delay"),
    ("capacity", "Capacity"),
    ("rtt", "RTT"),
    ("srtt", "Smoothed RTT"),
    ("latest_rtt", "Latest RTT"),
    ("lowest_rtt", "Lowest RTT"),
    ("rttvar", "RTT variation"),
    ("in_flight", "In flight"),
    ("cwnd", "Congestion window"),
    ("window", "Congestion window in bytes"),
    ("pacing_rate", "Pacing rate"),
    ("ssthresh", "Slow start threshold"),
    ("queue", "Queue"),
    ("queue_bytes", "Queue in bytes"),
];

impl Series<'_> {
    fn unit(&self) -> &str {
        match self.values {
            Values::Rate(..) => "Mbit/s",
            Values::Delay(_) => "ms",
            Values::Field(sampled) => &sampled.unit,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.values {
            Values::Rate(..) => "bars",
            Values::Delay(_) => "points",
            Values::Field(sampled) if POINTS.contains(&sampled.field.as_str()) => "points",
            Values::Field(_) => "steps",
        }
    }

    pub(crate) fn description(&self) -> SeriesDescription {
        let names =
            enumerated(self.unit()).map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
        let title = TITLES.iter().find(|(name, _)| *name == self.name).map(|(_, title)| (*title).to_owned());
        SeriesDescription {
            owner: self.owner.to_string(),
            name: self.name.to_owned(),
            title: title.unwrap_or_else(|| sentence_case(self.name)),
            unit: if names.is_some() { String::new() } else { self.unit().to_owned() },
            kind: self.kind(),
            names,
        }
    }
}

/// Returns a name as a title: `bandwidth_estimate` as `Bandwidth estimate`.
fn sentence_case(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(char::to_uppercase);
    first
        .into_iter()
        .flatten()
        .chain(letters)
        .map(|letter| if letter == '_' { ' ' } else { letter })
        .collect()
}

impl Pyramid {
    /// Returns every series of the run: of flows in order of their numbers, of links, of the path.
    pub fn series(&self) -> Vec<SeriesDescription> {
        self.all_series().iter().map(Series::description).collect()
    }

    pub(crate) fn all_series(&self) -> Vec<Series<'_>> {
        let mut samples = Vec::new();
        let mut rest = &self.sampled[..];
        let mut flows = &self.flows[..];
        loop {
            // Both lists are in order of flows.
            let of_packets = flows.first().map(|flow| Owner::Flow(flow.number));
            let of_samples = rest.first().map(|samples| samples.owner.clone());
            let owner = match (of_packets, of_samples) {
                (Some(packets), Some(samples)) => packets.min(samples),
                (Some(owner), None) | (None, Some(owner)) => owner,
                (None, None) => break,
            };
            if let Some((flow, others)) = flows.split_first()
                && owner == Owner::Flow(flow.number)
            {
                samples.extend(series_of_flow(flow));
                flows = others;
            }
            let mine = rest.iter().take_while(|samples| samples.owner == owner).count();
            let (mine, others) = rest.split_at(mine);
            samples.extend(series_of_samples(&owner, mine));
            rest = others;
        }
        if !self.offered.bins.is_empty() {
            let values = Values::Rate(&self.offered, Source::Offered);
            samples.push(Series { owner: Owner::Path, name: "capacity", values });
        }
        samples
    }

    /// Returns the requested series in the order of the requests, without duplicates.
    pub(crate) fn select<'a>(&'a self, wanted: &[SeriesSelector]) -> Vec<Series<'a>> {
        let all = self.all_series();
        let mut is_taken = vec![false; all.len()];
        let mut selection = Vec::new();
        for selector in wanted {
            for (place, series) in all.iter().enumerate() {
                let is_it = match selector {
                    SeriesSelector::Named(name) => series.name == name,
                    SeriesSelector::Owned(owner, name) => {
                        series.name == name && series.owner.to_string() == *owner
                    }
                };
                if is_it && !std::mem::replace(&mut is_taken[place], true) {
                    selection.push(series.clone());
                }
            }
        }
        selection
    }
}

fn series_of_flow(flow: &FlowIndex) -> impl Iterator<Item = Series<'_>> {
    let owner = Owner::Flow(flow.number);
    let named = move |name, values| Series { owner: owner.clone(), name, values };
    let delivered = !flow.delivered.bins.is_empty();
    let sent = !flow.sent.bins.is_empty();
    [
        delivered.then(|| named("throughput", Values::Rate(&flow.delivered, Source::Delivered))),
        sent.then(|| named("send_rate", Values::Rate(&flow.sent, Source::Sent))),
        delivered.then(|| named("one_way_delay", Values::Delay(flow))),
    ]
    .into_iter()
    .flatten()
}

/// Returns the series of one owner's samples: aliases, then fields.
fn series_of_samples<'a>(owner: &Owner, sampled: &'a [SampledSeries]) -> Vec<Series<'a>> {
    let named = |name, series| Series { owner: owner.clone(), name, values: Values::Field(series) };
    let field = |name: &str| sampled.iter().find(|series| series.field == name);
    let mut series = Vec::with_capacity(sampled.len() + ALIASES.len());
    if matches!(owner, Owner::Flow(_)) {
        let missing = ALIASES.into_iter().filter(|(alias, _)| field(alias).is_none());
        series.extend(missing.filter_map(|(alias, fields)| {
            fields.iter().find_map(|name| field(name)).map(|series| named(alias, series))
        }));
    }
    series.extend(sampled.iter().map(|series| named(&series.field, series)));
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PyramidBuilder;

    #[test]
    fn fields_are_found_under_the_names_that_all_runs_have() {
        let mut builder = PyramidBuilder::new();
        for (field, unit) in [("srtt", "ms"), ("window", "bytes"), ("mode", "0 startup, 1 drain")] {
            builder.flow_value(0, 2, field, unit, 1.0);
        }
        builder.flow_value(0, 1, "latest_rtt", "ms", 30.0);
        builder.flow_value(0, 1, "srtt", "ms", 40.0);
        builder.link_value(0, "data/bottleneck", "queue", "packets", 4.0);
        let pyramid = builder.finish();
        let series = pyramid.series();
        let names: Vec<_> = series.iter().map(|one| format!("{}: {}", one.owner, one.name)).collect();
        assert_eq!(
            names,
            [
                "flow 1: rtt",
                "flow 1: latest_rtt",
                "flow 1: srtt",
                "flow 2: rtt",
                "flow 2: cwnd",
                "flow 2: srtt",
                "flow 2: window",
                "flow 2: mode",
                "link data/bottleneck: queue",
            ]
        );
        assert_eq!(series[7].names.as_deref(), Some(&["startup".to_owned(), "drain".to_owned()][..]));
        assert_eq!((series[4].title.as_str(), series[4].unit.as_str()), ("Congestion window", "bytes"));
        let selectors =
            SeriesSelector::list(r#"[["flow 2", "rtt"], "srtt", ["flow 2", "srtt"], "nothing"]"#).unwrap();
        let selection = pyramid.select(&selectors);
        let names: Vec<_> = selection.iter().map(|one| format!("{}: {}", one.owner, one.name)).collect();
        assert_eq!(names, ["flow 2: rtt", "flow 1: srtt", "flow 2: srtt"]);
        assert!(
            SeriesSelector::list("{}").unwrap_err().to_string().starts_with("series = {}: allowed is a list")
        );
    }
}
