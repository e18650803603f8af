//! Probe clusters: short runs of packets at the probed rate, and their results (libwebrtc M150,
//! `modules/pacing/bitrate_prober.cc`, `modules/congestion_controller/goog_cc/probe_bitrate_estimator.cc`).

use super::numbers::{ms, rate_of, secs, signed_ms};
use super::probing::Probes;
use std::collections::VecDeque;
use units::{Span, Time};

/// Minimum duration of a cluster, and minimum number of its packets.
const MIN_DURATION_S: f64 = 0.015;
const MIN_PACKETS: u32 = 5;
/// Minimum gap between two runs of packets within a cluster.
pub(super) const MIN_GAP: Span = ms(2);
/// Time after which a cluster without packets to begin with is dropped, s.
const PENDING_S: f64 = 5.0;
/// Fraction of the cluster that must arrive.
const MIN_RECEIVED: f64 = 0.8;
/// Maximum length of a cluster, ms.
const MAX_INTERVAL_MS: f64 = 1000.0;
/// Maximum ratio of receive to send rate for a valid measurement.
const MAX_RATIO: f64 = 2.0;
/// Ratio of receive to send rate below which the link is full.
const UNSATURATED: f64 = 0.9;
/// Safe fraction of the receive rate of a full link.
const UTILIZATION: f64 = 0.95;
/// Maximum number of clusters that are remembered.
const MAX_CLUSTERS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Cluster {
    /// Probed rate, bit/s.
    rate: f64,
    created_at: Time,
    /// First and last packet number of the cluster.
    numbers: (u64, u64),
    sent_packets: u32,
    sent_bytes: f64,
    received: Option<Received>,
}

/// Statistics of a cluster's packets that arrived.
#[derive(Clone, Copy, Debug)]
struct Received {
    packets: u32,
    bytes: f64,
    first_sent_at: Time,
    last_sent_at: Time,
    last_sent_bytes: f64,
    first_arrival: Time,
    first_arrival_bytes: f64,
    last_arrival: Time,
}

impl Cluster {
    fn min_bytes(&self) -> f64 {
        self.rate * MIN_DURATION_S / 8.0
    }
}

/// Clusters to be sent, and clusters without a result yet.
#[derive(Debug)]
pub(super) struct Clusters {
    pending: VecDeque<Cluster>,
    sent: VecDeque<Cluster>,
    /// True if the first pending cluster is being sent.
    active: bool,
}

impl Clusters {
    pub(super) fn new() -> Self {
        Self {
            pending: VecDeque::with_capacity(MAX_CLUSTERS),
            sent: VecDeque::with_capacity(MAX_CLUSTERS),
            active: false,
        }
    }

    /// Adds a cluster for each rate; they begin with the next packet of the application.
    pub(super) fn add(&mut self, now: Time, probes: Probes) {
        for rate in probes.into_iter().flatten() {
            if self.pending.len() < MAX_CLUSTERS {
                self.pending.push_back(Cluster {
                    rate,
                    created_at: now,
                    numbers: (0, 0),
                    sent_packets: 0,
                    sent_bytes: 0.0,
                    received: None,
                });
            }
        }
    }

    /// Lets pending clusters begin, because the application has data to send.
    pub(super) fn begin(&mut self, now: Time) {
        if self.active {
            return;
        }
        self.pending.retain(|cluster| secs(now - cluster.created_at) <= PENDING_S);
        self.active = !self.pending.is_empty();
    }

    /// Returns the sending rate while a cluster is being sent, bit/s.
    pub(super) fn rate(&self) -> Option<f64> {
        if self.active { self.pending.front().map(|cluster| cluster.rate) } else { None }
    }

    /// Counts a sent packet; `bytes` of its IP datagram.
    pub(super) fn on_sent(&mut self, number: u64, bytes: f64) {
        if !self.active {
            return;
        }
        let Some(cluster) = self.pending.front_mut() else { return };
        if cluster.sent_packets == 0 {
            cluster.numbers.0 = number;
        }
        cluster.numbers.1 = number;
        cluster.sent_packets += 1;
        cluster.sent_bytes += bytes;
        if cluster.sent_packets < MIN_PACKETS || cluster.sent_bytes < cluster.min_bytes() {
            return;
        }
        if self.sent.len() == MAX_CLUSTERS {
            self.sent.pop_front();
        }
        self.sent.extend(self.pending.pop_front());
        self.active = !self.pending.is_empty();
    }

    /// Counts a received packet. Returns its cluster's result, bit/s, once enough packets have arrived.
    pub(super) fn on_received(
        &mut self,
        number: u64,
        sent_at: Time,
        arrival: Time,
        bytes: f64,
    ) -> Option<f64> {
        let index = self.sent.iter().position(|cluster| {
            let (first, last) = cluster.numbers;
            (first..=last).contains(&number)
        })?;
        let cluster = &mut self.sent[index];
        let received = cluster.received.get_or_insert(Received {
            packets: 0,
            bytes: 0.0,
            first_sent_at: sent_at,
            last_sent_at: sent_at,
            last_sent_bytes: bytes,
            first_arrival: arrival,
            first_arrival_bytes: bytes,
            last_arrival: arrival,
        });
        received.add(sent_at, arrival, bytes);
        let enough = f64::from(received.packets) >= MIN_RECEIVED * f64::from(MIN_PACKETS)
            && received.bytes >= MIN_RECEIVED * cluster.rate * MIN_DURATION_S / 8.0;
        if enough { received.rate() } else { None }
    }
}

impl Received {
    fn add(&mut self, sent_at: Time, arrival: Time, bytes: f64) {
        self.packets += 1;
        self.bytes += bytes;
        self.first_sent_at = self.first_sent_at.min(sent_at);
        if sent_at > self.last_sent_at {
            (self.last_sent_at, self.last_sent_bytes) = (sent_at, bytes);
        }
        if arrival < self.first_arrival {
            (self.first_arrival, self.first_arrival_bytes) = (arrival, bytes);
        }
        self.last_arrival = self.last_arrival.max(arrival);
    }

    fn rate(&self) -> Option<f64> {
        let sent_ms = signed_ms(self.last_sent_at, self.first_sent_at);
        let received_ms = signed_ms(self.last_arrival, self.first_arrival);
        let is_valid = |interval: f64| interval > 0.0 && interval <= MAX_INTERVAL_MS;
        if !is_valid(sent_ms) || !is_valid(received_ms) {
            return None;
        }
        let sent = rate_of(self.bytes - self.last_sent_bytes, sent_ms);
        let received = rate_of(self.bytes - self.first_arrival_bytes, received_ms);
        if received > MAX_RATIO * sent {
            return None;
        }
        Some(if received < UNSATURATED * sent { UTILIZATION * received } else { sent.min(received) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    /// Returns the result of a cluster of 4 Mbit/s, 1000 B every 2 ms; its packets arrive `gap_ms` apart, `skip` of
    /// them do not arrive.
    fn probe(gap_ms: u64, skip: u64) -> Option<f64> {
        let mut clusters = Clusters::new();
        clusters.add(at(0), [Some(4e6), None]);
        assert_eq!(clusters.rate(), None);
        clusters.begin(at(0));
        let mut sent = 0;
        while clusters.rate() == Some(4e6) {
            clusters.on_sent(sent, 1000.0);
            sent += 1;
        }
        // 15 ms of 4 Mbit/s are 7500 B.
        assert_eq!(sent, 8);
        let results = (skip..sent).filter_map(|number| {
            clusters.on_received(number, at(2 * number), at(100 + gap_ms * number), 1000.0)
        });
        results.last()
    }

    #[test]
    fn the_result_is_the_send_rate_or_95_percent_of_what_a_full_link_carries() {
        assert_eq!(probe(2, 0), Some(4e6));
        // 7000 B arrive in 21 ms.
        assert!((probe(3, 0).unwrap() - 0.95 * 8.0 / 3.0 * 1e6).abs() < 1.0);
    }

    #[test]
    fn a_cluster_that_is_not_there_or_arrives_too_fast_is_no_measurement() {
        // 5 packets are 5000 B of the 6000 that are needed.
        assert_eq!(probe(2, 3), None);
        assert_eq!(probe(2, 2), Some(4e6));
        assert_eq!(probe(0, 0), None);
    }

    #[test]
    fn slow_clusters_have_five_packets_and_the_second_follows_the_first() {
        let mut clusters = Clusters::new();
        clusters.add(at(0), [Some(0.3e6), Some(0.6e6)]);
        clusters.begin(at(10));
        let rates: Vec<f64> = (0..10)
            .map(|number| {
                let rate = clusters.rate().unwrap();
                clusters.on_sent(number, 600.0);
                rate
            })
            .collect();
        assert_eq!(rates, [[0.3e6; 5], [0.6e6; 5]].concat());
        assert_eq!(clusters.rate(), None);
    }

    #[test]
    fn clusters_that_nothing_was_sent_for_are_given_up() {
        let mut clusters = Clusters::new();
        clusters.add(at(0), [Some(1e6), None]);
        clusters.begin(at(5001));
        assert_eq!(clusters.rate(), None);
    }
}
