//! Packet and time threshold (RFC 9002 6.1): a packet is lost when enough later ones were acknowledged, or when it was sent
//! long enough before one of them.

use crate::flight::Flight;
use crate::packets::Fate;
use crate::recovery::Onset;
use crate::rtt::RttEstimator;
use units::{Span, Time};

/// Smallest time threshold (RFC 9002 6.1.2).
const GRANULARITY: Span = Span::from_ms(1);

#[derive(Debug)]
pub(super) struct Thresholds {
    packets: u64,
    /// Multiple of the RTT; 0: time alone makes no packet lost.
    time: f64,
    /// When the time threshold makes the next packet lost.
    next_timer: Time,
}

impl Thresholds {
    pub(super) const fn new(packets: u64, time: f64) -> Self {
        Self { packets, time, next_timer: Time::NEVER }
    }

    pub(super) const fn next_timer(&self) -> Time {
        self.next_timer
    }

    pub(super) const fn on_timeout(&mut self) {
        self.next_timer = Time::NEVER;
    }

    #[inline]
    pub(super) fn detect(&mut self, now: Time, flight: &mut Flight, rtt: &RttEstimator) -> Onset {
        self.next_timer = Time::NEVER;
        let first = flight.first_in_flight();
        if let Some(largest) = flight.largest_acked().filter(|largest| first < *largest) {
            self.mark(now, flight, rtt, first..largest);
        }
        Onset::IfSentSince
    }

    /// Marks the lost ones of `numbers`, which are below the largest that was acknowledged.
    fn mark(&mut self, now: Time, flight: &mut Flight, rtt: &RttEstimator, numbers: std::ops::Range<u64>) {
        let largest = numbers.end;
        let wait = rtt.latest().max(rtt.smoothed()).mul_f64(self.time).max(GRANULARITY);
        for number in numbers {
            let Some(packet) = flight.get(number) else { break };
            // Of what is acknowledged in parts the rest comes with the ACKs that follow: it has arrived.
            if packet.fate != Fate::InFlight || packet.acked_bytes > 0 {
                continue;
            }
            let due = if self.time > 0.0 { packet.sent_at + wait } else { Time::NEVER };
            if largest < number + self.packets && due > now {
                // Later packets were sent later and are nearer to the largest: none of them is lost either.
                self.next_timer = due;
                break;
            }
            flight.lose(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Ten packets, sent every millisecond from 0 on, over an RTT of 100 ms; `arrived` did at 100 ms.
    fn after(arrived: &[u64]) -> (Flight, RttEstimator) {
        let (mut flight, mut rtt) = (Flight::of_test(&Config::tcp()), RttEstimator::new(&Config::tcp()));
        rtt.on_ack(at(100), at(0), Span::ZERO);
        flight.acknowledged_for_test(0, arrived, 0);
        (flight, rtt)
    }

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn lost(flight: &Flight) -> Vec<u64> {
        flight.lost().iter().map(|packet| packet.number).collect()
    }

    #[test]
    fn three_later_packets_make_a_loss_and_time_makes_the_next() {
        let (mut flight, rtt) = after(&[1, 4]);
        let mut thresholds = Thresholds::new(3, 1.25);
        assert_eq!(thresholds.detect(at(100), &mut flight, &rtt), Onset::IfSentSince);
        assert_eq!(lost(&flight), [0]);
        // Packet 2 was sent at 2 ms: 5/4 of the RTT later it is lost, and 3 one millisecond after it.
        assert_eq!(thresholds.next_timer(), at(127));
        thresholds.detect(at(127), &mut flight, &rtt);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![0, 2], at(128)));
        thresholds.on_timeout();
        assert_eq!(thresholds.next_timer(), Time::NEVER);
    }

    #[test]
    fn without_a_time_threshold_only_later_packets_count() {
        let (mut flight, rtt) = after(&[2]);
        let mut thresholds = Thresholds::new(3, 0.0);
        thresholds.detect(at(10_000), &mut flight, &rtt);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![], Time::NEVER));
    }

    #[test]
    fn nothing_is_lost_above_the_largest_that_arrived() {
        let (mut flight, rtt) = after(&[0, 1, 2]);
        let mut thresholds = Thresholds::new(1, 1.0);
        thresholds.detect(at(10_000), &mut flight, &rtt);
        assert_eq!((lost(&flight), thresholds.next_timer()), (vec![], Time::NEVER));
    }
}
