//! Packets of flows and the values derived from them.

use super::episodes::Episodes;
use super::fates::Fates;
use super::means::Means;
use record::{Event, Record};

/// Maximum number of times of losses and marks that are kept: the first ones show the end of slow start.
const MOST_TIMES: usize = 1 << 12;
/// Maximum number of drops whose time is kept.
const MOST_DROPS: usize = 1 << 20;
/// Maximum number of pauses between deliveries that are kept.
const MOST_PAUSES: usize = 1 << 12;
/// Shortest pause that is kept, ns.
const LEAST_PAUSE_NS: u64 = 50_000_000;

/// Longest time without an event, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    latest: Option<u64>,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Gap {
    fn event(&mut self, time_ns: u64) {
        if let Some(last_ns) = self.latest
            && time_ns.saturating_sub(last_ns) > self.to - self.from
        {
            (self.from, self.to) = (last_ns, time_ns);
        }
        self.latest = Some(self.latest.unwrap_or(0).max(time_ns));
    }

    pub(super) const fn ns(&self) -> u64 {
        self.to - self.from
    }
}

/// Packets of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowPackets {
    pub(super) first_sent_ns: Option<u64>,
    pub(super) last_sent_ns: u64,
    pub(super) last_delivered_ns: u64,
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) delivered_bytes: u64,
    pub(super) dropped: u64,
    pub(super) marked: u64,
    pub(super) declared: u64,
    /// Payload of the largest packet, bytes.
    pub(super) largest_payload: u32,
    /// Shortest and longest one-way delay, ns, and the arrival of the packet with the longest one.
    pub(super) least_ns: Option<i64>,
    pub(super) most_ns: i64,
    pub(super) most_at_ns: u64,
    /// Latest delays of the data and the ACK direction, ns.
    latest_ns: [u64; 2],
    /// One-way delays over time.
    pub(super) delays: Means,
    /// Payload sent over time.
    pub(super) payload: Means,
    pub(super) sends: Gap,
    pub(super) deliveries: Gap,
    /// Loss episodes by the times of drops, and by the times of declarations.
    pub(super) drops: Episodes,
    pub(super) declarations: Episodes,
    pub(super) first_declared: Vec<u64>,
    pub(super) first_marked: Vec<u64>,
    pub(super) last_marked_ns: u64,
    pub(super) fates: Fates,
}

impl FlowPackets {
    pub(super) fn record(&mut self, record: &Record) {
        let now = record.time_ns;
        self.fates.record(record);
        match record.event {
            Event::Send => {
                self.first_sent_ns.get_or_insert(now);
                self.last_sent_ns = now;
                self.sent += 1;
                self.largest_payload = self.largest_payload.max(record.data_bytes);
                self.payload.add(now, f64::from(record.data_bytes));
                self.sends.event(now);
            }
            Event::Deliver => {
                let delay_ns = record.one_way_delay_ns;
                self.delivered += 1;
                self.delivered_bytes += u64::from(record.size_bytes);
                self.last_delivered_ns = now;
                self.deliveries.event(now);
                self.least_ns = Some(self.least_ns.map_or(delay_ns, |least| least.min(delay_ns)));
                if self.delivered == 1 || delay_ns > self.most_ns {
                    (self.most_ns, self.most_at_ns) = (delay_ns, now);
                }
                self.latest_ns[0] = u64::try_from(delay_ns).unwrap_or(0);
                self.delays.add(now, delay_ns as f64);
                self.drops.arrived(now.saturating_sub(u64::try_from(delay_ns).unwrap_or(0)));
            }
            Event::AckDeliver => self.latest_ns[1] = u64::try_from(record.one_way_delay_ns).unwrap_or(0),
            Event::Drop => {
                self.dropped += 1;
                self.drops.lost(now, self.round_trip_ns());
            }
            Event::Mark => {
                self.marked += 1;
                self.last_marked_ns = now;
                if self.first_marked.len() < MOST_TIMES {
                    self.first_marked.push(now);
                }
            }
            Event::Lost => {
                self.declared += 1;
                self.declarations.lost(now, self.round_trip_ns());
                if self.first_declared.len() < MOST_TIMES {
                    self.first_declared.push(now);
                }
            }
            _ => {}
        }
    }

    /// Returns the sum of the latest delays of both directions, ns.
    pub(super) fn round_trip_ns(&self) -> u64 {
        self.latest_ns[0].saturating_add(self.latest_ns[1])
    }
}

/// Packets of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    /// Times of drops, ns.
    pub(super) drops: Vec<u64>,
    pub(super) drop_count: u64,
    /// Long times without a delivery.
    pub(super) pauses: Vec<(u64, u64)>,
    last_delivered_ns: Option<u64>,
    pub(super) delivered_bytes: u64,
}

impl Network {
    pub(super) fn record(&mut self, record: &Record) {
        match record.event {
            Event::Drop => {
                self.drop_count += 1;
                if self.drops.len() < MOST_DROPS {
                    self.drops.push(record.time_ns);
                }
            }
            Event::Deliver => {
                self.delivered_bytes += u64::from(record.size_bytes);
                if let Some(last_ns) = self.last_delivered_ns
                    && record.time_ns.saturating_sub(last_ns) >= LEAST_PAUSE_NS
                    && self.pauses.len() < MOST_PAUSES
                {
                    self.pauses.push((last_ns, record.time_ns));
                }
                self.last_delivered_ns = Some(record.time_ns);
            }
            _ => {}
        }
    }

    /// Returns the number of packets dropped from `from_ns` to before `to_ns`; `None` if not all drops are known.
    pub(super) fn drops_within(&self, from_ns: u64, to_ns: u64) -> Option<u64> {
        let place = |time_ns: u64| self.drops.partition_point(|&at| at < time_ns) as u64;
        (self.drops.len() as u64 == self.drop_count).then(|| place(to_ns).saturating_sub(place(from_ns)))
    }
}
