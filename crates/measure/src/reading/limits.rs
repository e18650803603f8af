//! Limits of a flow's rate in each part of its time.

use super::links::Link;
use super::packets::FlowPackets;
use super::states::{FlowStates, Part, Room};

/// Minimum sending rate, as a share of the pacing rate, at which pacing counts as the limit.
const PACED: f64 = 0.85;

/// Minimum time for which a receiver without room holds a flow back, ns.
const LEAST_BLOCKED_NS: u64 = 200_000_000;

/// Limit of a flow's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Limit {
    /// Full link of the path.
    Path,
    /// Outage: nothing arrived through the path.
    Outage,
    /// Congestion window.
    Window,
    /// Pacing rate.
    Pacing,
    /// Application, or receiver.
    Application,
    /// Unknown: the log does not tell.
    Unknown,
}

impl Limit {
    pub(super) const ALL: [Self; 6] =
        [Self::Path, Self::Outage, Self::Window, Self::Pacing, Self::Application, Self::Unknown];

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Path => "the path (a link was full)",
            Self::Outage => "the path (nothing arrived)",
            Self::Window => "its congestion window (no link was full)",
            Self::Pacing => "its pacing rate (no link was full)",
            Self::Application => "its application or its receiver",
            Self::Unknown => "something that this log does not tell",
        }
    }

    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Path => "path_share",
            Self::Outage => "outage_share",
            Self::Window => "window_share",
            Self::Pacing => "pacing_share",
            Self::Application => "application_share",
            Self::Unknown => "unknown_share",
        }
    }
}

/// Returns the parts of a flow's time with their limits, in order of time. In `outages` nothing arrived.
pub(super) fn limits(
    states: &FlowStates,
    packets: Option<&FlowPackets>,
    application: Option<&str>,
    links: &[&Link],
    outages: impl Iterator<Item = (u64, u64)>,
) -> Vec<(u64, u64, Limit)> {
    let outages = outages.map(|(from_ns, to_ns)| (from_ns, to_ns, Limit::Outage));
    let full =
        links.iter().flat_map(|link| link.full()).map(|(from_ns, to_ns)| (from_ns, to_ns, Limit::Path));
    let mut of_path: Vec<(u64, u64, Limit)> = outages.chain(full).collect();
    of_path.sort_unstable();
    let mut blocks: Vec<(u64, u64, Limit)> = Vec::new();
    let mut add = |from_ns: u64, to_ns: u64, limit: Limit| match blocks.last_mut() {
        _ if from_ns >= to_ns => {}
        Some(last) if last.2 == limit && last.1 == from_ns => last.1 = to_ns,
        _ => blocks.push((from_ns, to_ns, limit)),
    };
    for part in &states.parts {
        let limit = limit(part, states, packets, application);
        if !matches!(limit, Limit::Window | Limit::Pacing) {
            add(part.from_ns, part.to_ns, limit);
            continue;
        }
        let mut from_ns = part.from_ns;
        // intervals of several links overlap: an interval must not be skipped because another one ends later
        let candidates = of_path.iter().take_while(|interval| interval.0 < part.to_ns);
        for &(begin, end, by) in candidates.filter(|interval| interval.1 > part.from_ns) {
            add(from_ns, begin.max(from_ns).min(part.to_ns), limit);
            add(begin.max(from_ns), end.min(part.to_ns), by);
            from_ns = from_ns.max(end.min(part.to_ns));
        }
        add(from_ns, part.to_ns, limit);
    }
    if application == Some("greedy") {
        // A greedy application always has data. A short time below the pacing rate lies between two packets, or the
        // rate was a different one when it was sampled.
        let short = if states.is_full { Limit::Pacing } else { Limit::Unknown };
        for part in &mut blocks {
            if part.2 == Limit::Application && part.1 - part.0 < LEAST_BLOCKED_NS {
                part.2 = short;
            }
        }
    }
    blocks
}

fn limit(
    part: &Part,
    states: &FlowStates,
    packets: Option<&FlowPackets>,
    application: Option<&str>,
) -> Limit {
    match part.room {
        Room::No => Limit::Window,
        Room::Unknown => Limit::Unknown,
        Room::Yes => match (part.pacing_mbps, packets) {
            (Some(pacing_mbps), Some(packets)) => {
                let (_, bytes, ns) = packets.payload.within(part.from_ns, part.to_ns);
                let sent_mbps = bytes * 8.0 * 1e3 / ns.max(1) as f64;
                if sent_mbps >= PACED * pacing_mbps { Limit::Pacing } else { Limit::Application }
            }
            // for an application that always has data only pacing is left, which this log does not contain
            _ if application == Some("greedy") && !states.is_full => Limit::Pacing,
            _ if states.is_full && packets.is_some() => Limit::Application,
            _ => Limit::Unknown,
        },
    }
}
