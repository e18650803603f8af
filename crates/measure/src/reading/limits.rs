//! Who limited a flow, in each part of its time.

use super::links::Link;
use super::packets::FlowPackets;
use super::states::{FlowStates, Part, Room};

/// Part of its pacing rate that a sender has to send for the pacing to be what limits it.
const PACED: f64 = 0.85;

/// Who limited a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Limit {
    /// A link of the path was full.
    Path,
    /// The congestion window.
    Window,
    /// The pacing rate.
    Pacing,
    /// The application, or the receiver.
    Application,
    /// The log does not tell.
    Unknown,
}

impl Limit {
    pub(super) const ALL: [Self; 5] =
        [Self::Path, Self::Window, Self::Pacing, Self::Application, Self::Unknown];

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Path => "the path (a link was full)",
            Self::Window => "its congestion window (no link was full)",
            Self::Pacing => "its pacing rate (no link was full)",
            Self::Application => "its application or its receiver",
            Self::Unknown => "something that this log does not tell",
        }
    }

    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Path => "path_share",
            Self::Window => "window_share",
            Self::Pacing => "pacing_share",
            Self::Application => "application_share",
            Self::Unknown => "unknown_share",
        }
    }
}

/// The parts of a flow's time and who limited it, in order of time.
pub(super) fn limits(
    states: &FlowStates,
    packets: Option<&FlowPackets>,
    application: Option<&str>,
    links: &[&Link],
) -> Vec<(u64, u64, Limit)> {
    let mut full: Vec<(u64, u64)> = links.iter().flat_map(|link| link.full()).collect();
    full.sort_unstable();
    let mut found: Vec<(u64, u64, Limit)> = Vec::new();
    let mut add = |from_ns: u64, to_ns: u64, limit: Limit| match found.last_mut() {
        _ if from_ns >= to_ns => {}
        Some(last) if last.2 == limit && last.1 == from_ns => last.1 = to_ns,
        _ => found.push((from_ns, to_ns, limit)),
    };
    for part in &states.parts {
        let limit = limit(part, states, packets, application);
        if !matches!(limit, Limit::Window | Limit::Pacing) {
            add(part.from_ns, part.to_ns, limit);
            continue;
        }
        let mut from_ns = part.from_ns;
        let first = full.partition_point(|&(_, end)| end <= part.from_ns);
        for &(begin, end) in full[first..].iter().take_while(|&&(begin, _)| begin < part.to_ns) {
            add(from_ns, begin.max(from_ns), limit);
            add(begin.max(from_ns), end.min(part.to_ns), Limit::Path);
            from_ns = from_ns.max(end.min(part.to_ns));
        }
        add(from_ns, part.to_ns, limit);
    }
    found
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
            // an application that always has data leaves nothing but the pacing, which this log does not have
            _ if application == Some("greedy") && !states.is_full => Limit::Pacing,
            _ if states.is_full && packets.is_some() => Limit::Application,
            _ => Limit::Unknown,
        },
    }
}
