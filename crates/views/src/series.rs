//! Which series a run has, and what they are called.

use crate::error::Error;
use crate::pyramid::{FlowIndex, Owner, Pyramid, Sampled};
use crate::sums::Sums;
use measure::reading::enumerated;
use serde::{Deserialize, Serialize};

/// What is shown of a series, besides its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// `flow 1`, `link data/bottleneck`, `path`.
    pub owner: String,
    /// What to ask for.
    pub name: String,
    /// For people.
    pub title: String,
    /// Empty without one.
    pub unit: String,
    /// `points` are samples of something that goes on between them, `steps` hold until the next, `bars` are means over a bin of time.
    pub kind: &'static str,
    /// What the values 0, 1, ... stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
}

/// A series that is asked for: by its name, of one owner or of all that have it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Wanted {
    /// Of all.
    Named(String),
    /// Of one.
    Owned(String, String),
}

impl Wanted {
    /// Reads a list of them: `["throughput", ["flow 1", "rtt"]]`.
    ///
    /// # Errors
    /// One line: it is something else.
    pub fn list(json: &str) -> Result<Vec<Self>, Error> {
        serde_json::from_str(json).map_err(|_| Error::Asked {
            key: "series",
            value: json.chars().take(100).collect(),
            allowed: "a list of names and of pairs of owner and name, as [\"throughput\", [\"flow 1\", \"rtt\"]]",
        })
    }
}

/// A series that a pyramid has.
#[derive(Clone, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) owner: Owner,
    pub(crate) name: &'a str,
    pub(crate) what: What<'a>,
}

/// Where its values are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    /// Rates of what was sent or delivered, or could have been.
    Rate(&'a Sums, Source),
    /// One-way delays.
    Delay(&'a FlowIndex),
    /// A sampled field.
    Field(&'a Sampled),
}

/// Which records are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Sent,
    Delivered,
    Offered,
}

/// Names under which one of several fields is shown, the best of them first.
const ALIASES: [(&str, &[&str]); 3] =
    [("rtt", &["latest_rtt", "srtt"]), ("cwnd", &["window"]), ("pacing_rate", &["pacing"])];

/// Fields that are samples of something, and do not hold until the next.
const POINTS: [&str; 4] = ["latest_rtt", "rtt", "frame_delay", "frame_size"];

/// What fields are called.
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

impl Found<'_> {
    fn unit(&self) -> &str {
        match self.what {
            What::Rate(..) => "Mbit/s",
            What::Delay(_) => "ms",
            What::Field(sampled) => &sampled.unit,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.what {
            What::Rate(..) => "bars",
            What::Delay(_) => "points",
            What::Field(sampled) if POINTS.contains(&sampled.field.as_str()) => "points",
            What::Field(_) => "steps",
        }
    }

    pub(crate) fn described(&self) -> Described {
        let names =
            enumerated(self.unit()).map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
        let title = TITLES.iter().find(|(name, _)| *name == self.name).map(|(_, title)| (*title).to_owned());
        Described {
            owner: self.owner.to_string(),
            name: self.name.to_owned(),
            title: title.unwrap_or_else(|| sentence_case(self.name)),
            unit: if names.is_some() { String::new() } else { self.unit().to_owned() },
            kind: self.kind(),
            names,
        }
    }
}

/// `bandwidth_estimate` as `Bandwidth estimate`.
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
    /// Every series of the run: of flows, in order of their numbers, of links, of the path.
    pub fn series(&self) -> Vec<Described> {
        self.all_series().iter().map(Found::described).collect()
    }

    pub(crate) fn all_series(&self) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        let mut rest = &self.sampled[..];
        let mut flows = &self.flows[..];
        loop {
            // both are in order of flows
            let of_packets = flows.first().map(|flow| Owner::Flow(flow.number));
            let of_samples = rest.first().map(|series| series.owner.clone());
            let owner = match (of_packets, of_samples) {
                (Some(packets), Some(samples)) => packets.min(samples),
                (Some(owner), None) | (None, Some(owner)) => owner,
                (None, None) => break,
            };
            if let Some((flow, others)) = flows.split_first()
                && owner == Owner::Flow(flow.number)
            {
                found.extend(of_flow(flow));
                flows = others;
            }
            let mine = rest.iter().take_while(|series| series.owner == owner).count();
            let (mine, others) = rest.split_at(mine);
            found.extend(of_samples_of(&owner, mine));
            rest = others;
        }
        if !self.offered.bins.is_empty() {
            let what = What::Rate(&self.offered, Source::Offered);
            found.push(Found { owner: Owner::Path, name: "capacity", what });
        }
        found
    }

    /// The series that are asked for, in the order in which they are; each once.
    pub(crate) fn wanted<'a>(&'a self, wanted: &[Wanted]) -> Vec<Found<'a>> {
        let all = self.all_series();
        let mut taken = vec![false; all.len()];
        let mut found = Vec::new();
        for wanted in wanted {
            for (place, series) in all.iter().enumerate() {
                let is_it = match wanted {
                    Wanted::Named(name) => series.name == name,
                    Wanted::Owned(owner, name) => series.name == name && series.owner.to_string() == *owner,
                };
                if is_it && !std::mem::replace(&mut taken[place], true) {
                    found.push(series.clone());
                }
            }
        }
        found
    }
}

fn of_flow(flow: &FlowIndex) -> impl Iterator<Item = Found<'_>> {
    let owner = Owner::Flow(flow.number);
    let named = move |name, what| Found { owner: owner.clone(), name, what };
    let delivered = !flow.delivered.bins.is_empty();
    let sent = !flow.sent.bins.is_empty();
    [
        delivered.then(|| named("throughput", What::Rate(&flow.delivered, Source::Delivered))),
        sent.then(|| named("send_rate", What::Rate(&flow.sent, Source::Sent))),
        delivered.then(|| named("one_way_delay", What::Delay(flow))),
    ]
    .into_iter()
    .flatten()
}

/// The series of the samples of one owner: the fields, and what they are called besides.
fn of_samples_of<'a>(owner: &Owner, sampled: &'a [Sampled]) -> Vec<Found<'a>> {
    let named = |name, series| Found { owner: owner.clone(), name, what: What::Field(series) };
    let field = |name: &str| sampled.iter().find(|series| series.field == name);
    let mut found = Vec::with_capacity(sampled.len() + ALIASES.len());
    if matches!(owner, Owner::Flow(_)) {
        let missing = ALIASES.into_iter().filter(|(alias, _)| field(alias).is_none());
        found.extend(missing.filter_map(|(alias, fields)| {
            fields.iter().find_map(|name| field(name)).map(|series| named(alias, series))
        }));
    }
    found.extend(sampled.iter().map(|series| named(&series.field, series)));
    found
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
        let asked = Wanted::list(r#"[["flow 2", "rtt"], "srtt", ["flow 2", "srtt"], "nothing"]"#).unwrap();
        let found = pyramid.wanted(&asked);
        let names: Vec<_> = found.iter().map(|one| format!("{}: {}", one.owner, one.name)).collect();
        assert_eq!(names, ["flow 2: rtt", "flow 1: srtt", "flow 2: srtt"]);
        assert!(Wanted::list("{}").unwrap_err().to_string().starts_with("series = {}: allowed is a list"));
    }
}
