//! Loss detection by age alone: a packet is lost a number of RTTs and four variations after its departure, whether or
//! not a later packet has arrived.
//!
//! PCCproject/PCC-Uspace@30c2cfe, `src/core/core.cpp`: its UDT declares losses after two RTTs and four variations.
//! Reordering is no loss. In an outage every packet becomes a loss, although no ACK arrives that could report one.

use crate::flight::Flight;
use crate::packets::Fate;
use crate::recovery::Onset;
use crate::rtt::RttEstimator;
use units::{Span, Time};

#[derive(Debug)]
pub(super) struct ByAge {
    /// Multiple of the smoothed RTT.
    rtts: f64,
    /// Time at which the oldest packet is lost; [`Time::NEVER`] without any.
    next_timer: Time,
}

impl ByAge {
    pub(super) const fn new(rtts: f64) -> Self {
        Self { rtts, next_timer: Time::NEVER }
    }

    pub(super) const fn next_timer(&self) -> Time {
        self.next_timer
    }

    pub(super) const fn on_timeout(&mut self) {
        self.next_timer = Time::NEVER;
    }

    /// Returns the age at which a packet is lost.
    pub(super) fn limit(&self, rtt: &RttEstimator) -> Span {
        rtt.smoothed().mul_f64(self.rtts) + rtt.variation() * 4
    }

    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, rtt: &RttEstimator) {
        if !self.next_timer.is_finite() {
            self.next_timer = now + self.limit(rtt);
        }
    }

    #[inline]
    pub(super) fn detect(&mut self, now: Time, flight: &mut Flight, rtt: &RttEstimator) -> Onset {
        self.next_timer = Time::NEVER;
        let limit = self.limit(rtt);
        for number in flight.first_in_flight()..flight.next_number() {
            let Some(packet) = flight.get(number) else { break };
            if packet.fate != Fate::InFlight {
                continue;
            }
            let due = packet.sent_at + limit;
            if due > now {
                self.next_timer = due;
                break;
            }
            flight.lose(number);
        }
        Onset::IfSentSince
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * 1_000_000)
    }

    fn lost(flight: &Flight) -> Vec<u64> {
        flight.lost().iter().map(|packet| packet.number).collect()
    }

    /// Ten packets, sent every millisecond from 0 on; a first sample of 100 ms makes a limit of 2 x 100 + 4 x 50 ms.
    #[test]
    fn neither_later_packets_nor_their_absence_matter() {
        let (mut flight, mut rtt) = (Flight::of_test(&Config::tcp()), RttEstimator::new(&Config::tcp()));
        rtt.on_ack(at(100), at(0), Span::ZERO);
        flight.acknowledged_for_test(0, &[1, 6, 7, 8, 9], 0);
        let mut rule = ByAge::new(2.0);
        assert_eq!(rule.detect(at(399), &mut flight, &rtt), Onset::IfSentSince);
        assert_eq!((lost(&flight), rule.next_timer()), (vec![], at(400)));
        rule.detect(at(402), &mut flight, &rtt);
        assert_eq!((lost(&flight), rule.next_timer()), (vec![0, 2], at(403)));
        rule.detect(at(1000), &mut flight, &rtt);
        assert_eq!((lost(&flight), rule.next_timer()), (vec![0, 2, 3, 4, 5], Time::NEVER));
        rule.on_sent(at(2000), &rtt);
        rule.on_sent(at(2001), &rtt);
        assert_eq!(rule.next_timer(), at(2400), "that of the oldest");
    }
}
