//! Groups of packets that were sent together, and the differences between their departures and between their arrivals
//! (libwebrtc M150, `modules/congestion_controller/goog_cc/inter_arrival_delta.cc`).

use super::numbers::{ms, signed_ms};
use units::{Span, Time};

/// Maximum time from a group's first departure to its other departures.
const GROUP_LENGTH: Span = ms(5);
/// Maximum arrival gap within a burst, ms. Packets of a burst also arrive closer together than they were sent.
const BURST_GAP_MS: f64 = 5.0;
/// Maximum length of a burst, ms.
const BURST_LENGTH_MS: f64 = 100.0;
/// Maximum advance of the receiver's clock over the sender's between two groups, ms.
const CLOCK_JUMP_MS: f64 = 3000.0;
/// Number of consecutive groups with decreasing arrival times after which the groups restart.
const REORDERED_GROUPS: u32 = 3;

/// Differences between two consecutive groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Deltas {
    /// Time between their last departures, ms.
    pub(super) send_ms: f64,
    /// Time between their last arrivals, ms.
    pub(super) arrival_ms: f64,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent_at: Time,
    last_sent_at: Time,
    first_arrival: Time,
    last_arrival: Time,
    /// Time when the sender got the feedback for the last packet.
    reported_at: Time,
}

/// Builder of groups from packets in the order of their arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

impl Groups {
    /// Adds one packet, whose feedback came at `now`. Returns the differences if it completes a group.
    pub(super) fn add(&mut self, sent_at: Time, arrival: Time, now: Time) -> Option<Deltas> {
        let fresh = Group {
            first_sent_at: sent_at,
            last_sent_at: sent_at,
            first_arrival: arrival,
            last_arrival: arrival,
            reported_at: now,
        };
        let Some(group) = &mut self.current else {
            self.current = Some(fresh);
            return None;
        };
        if sent_at < group.first_sent_at {
            return None;
        }
        if group.takes(sent_at, arrival) {
            group.last_sent_at = group.last_sent_at.max(sent_at);
            group.last_arrival = arrival;
            group.reported_at = now;
            return None;
        }
        let complete = *group;
        let mut deltas = None;
        if let Some(previous) = self.previous {
            let between = complete.since(&previous);
            let clock_ms = signed_ms(complete.reported_at, previous.reported_at);
            if between.arrival_ms - clock_ms >= CLOCK_JUMP_MS {
                *self = Self::default();
                return None;
            }
            if between.arrival_ms < 0.0 {
                self.reordered += 1;
                if self.reordered >= REORDERED_GROUPS {
                    *self = Self::default();
                }
                return None;
            }
            self.reordered = 0;
            deltas = Some(between);
        }
        self.previous = Some(complete);
        self.current = Some(fresh);
        deltas
    }
}

impl Group {
    fn takes(&self, sent_at: Time, arrival: Time) -> bool {
        sent_at == self.last_sent_at
            || self.is_burst(sent_at, arrival)
            || sent_at - self.first_sent_at <= GROUP_LENGTH
    }

    /// Returns true if the packet belongs to a burst: the path (Wi-Fi, a cell) held packets back and delivered them
    /// together.
    fn is_burst(&self, sent_at: Time, arrival: Time) -> bool {
        let arrival_ms = signed_ms(arrival, self.last_arrival);
        arrival_ms < signed_ms(sent_at, self.last_sent_at)
            && arrival_ms <= BURST_GAP_MS
            && signed_ms(arrival, self.first_arrival) < BURST_LENGTH_MS
    }

    fn since(&self, previous: &Self) -> Deltas {
        Deltas {
            send_ms: signed_ms(self.last_sent_at, previous.last_sent_at),
            arrival_ms: signed_ms(self.last_arrival, previous.last_arrival),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: f64) -> Time {
        Time::from_ns((ms * 1e6) as u64)
    }

    /// Adds packets (sent, arrived), whose feedback comes at their arrival; returns all differences.
    fn deltas(groups: &mut Groups, packets: &[(f64, f64)]) -> Vec<Deltas> {
        packets.iter().filter_map(|&(sent, arrived)| groups.add(at(sent), at(arrived), at(arrived))).collect()
    }

    #[test]
    fn packets_within_five_ms_are_one_group_and_the_group_ends_with_its_last() {
        let packets = [(0.0, 20.0), (5.0, 26.0), (40.0, 62.0), (44.0, 70.0), (80.0, 104.0)];
        let found = deltas(&mut Groups::default(), &packets);
        // Groups end at (5, 26) and (44, 70): the packet at 80 completes the second.
        assert_eq!(found, [Deltas { send_ms: 39.0, arrival_ms: 44.0 }]);
    }

    #[test]
    fn packets_released_together_after_a_stall_are_one_burst() {
        // Packets leave 10 ms apart and arrive 2 ms apart from 50 on: one group, until one arrives 10 ms after its
        // predecessor.
        let packets = [(0.0, 5.0), (10.0, 50.0), (20.0, 52.0), (30.0, 54.0), (40.0, 64.0), (50.0, 74.0)];
        let found = deltas(&mut Groups::default(), &packets);
        let expected =
            [Deltas { send_ms: 30.0, arrival_ms: 49.0 }, Deltas { send_ms: 10.0, arrival_ms: 10.0 }];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_packet_sent_before_the_group_began_is_ignored() {
        let packets = [(0.0, 20.0), (10.0, 30.0), (20.0, 40.0), (3.0, 41.0), (30.0, 50.0)];
        let found = deltas(&mut Groups::default(), &packets);
        assert_eq!(found, [Deltas { send_ms: 10.0, arrival_ms: 10.0 }; 2]);
    }

    #[test]
    fn a_jump_of_the_receivers_clock_starts_over() {
        let mut groups = Groups::default();
        deltas(&mut groups, &[(0.0, 20.0), (10.0, 30.0), (20.0, 40.0)]);
        // Reports are 10 ms apart on the sender's clock, arrivals 3.5 s apart on the receiver's.
        assert_eq!(
            groups.add(at(30.0), at(3550.0), at(50.0)),
            Some(Deltas { send_ms: 10.0, arrival_ms: 10.0 })
        );
        assert_eq!(groups.add(at(40.0), at(3560.0), at(60.0)), None);
        assert!(groups.current.is_none() && groups.previous.is_none());
    }
}
