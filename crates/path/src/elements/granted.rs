//! Uplink of a cellular modem: packets leave with grants that the modem has to request.
//!
//! A modem with nothing to send has no grant. It requests one at its next opportunity, `request_ms` apart (3GPP TS
//! 36.321 V14.5, section 5.4.4, scheduling request). It sends up to `first_bytes` after `grant_ms`. With every grant it
//! reports the bytes that still wait (section 5.4.5, buffer status report). The next grant has that size, at most
//! `grant_bytes`, and comes again after `grant_ms`. If nothing waits, the modem has to request again. So sparse packets
//! wait for opportunities, and dense ones leave in bursts `grant_ms` apart. Other users delay each grant by up to
//! `spread_ms`.

use crate::change::{Change, WalkSpec};
use crate::element::{Element, ElementTable, Streams, Table, settings};
use crate::element_settings::{full_packet, milliseconds, milliseconds_above_zero, packet_bytes};
use crate::{Packet, Tap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strict_input::Refusal;
use units::{Rng, Span, Time};

/// Settings of granted deliveries.
#[derive(Deserialize, Serialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantedSpec {
    /// Name, for the reader.
    pub name: Option<String>,
    /// Time between request opportunities, ms; their phase is drawn once.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub request_ms: f64,
    /// Time from request to transmission, ms; part of the base RTT.
    #[schemars(range(min = 0.000_001, max = 3_600_000))]
    pub grant_ms: f64,
    /// Maximum additional delay of a grant, ms, uniform.
    #[serde(default)]
    #[schemars(range(min = 0, max = 3_600_000))]
    pub spread_ms: f64,
    /// Size of the first grant, bytes.
    #[serde(default = "full_packet::<u32>")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub first_bytes: u32,
    /// Maximum size of a later grant, bytes: a rate of `grant_bytes` per `grant_ms` and half of `spread_ms`; no limit
    /// if absent.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub grant_bytes: Option<u32>,
    /// Changes during the run.
    #[serde(default)]
    pub schedule: Vec<Change>,
    /// Random walks of settings.
    pub walk: Option<WalkSpec>,
}

impl Table for GrantedSpec {
    fn check(&self, _running: bool) -> Result<(), Refusal> {
        milliseconds_above_zero("request_ms", self.request_ms)?;
        milliseconds_above_zero("grant_ms", self.grant_ms)?;
        milliseconds("spread_ms", self.spread_ms)?;
        packet_bytes("first_bytes", self.first_bytes)?;
        self.grant_bytes.map_or(Ok(()), |bytes| packet_bytes("grant_bytes", bytes))
    }

    fn delay_ms(&self) -> f64 {
        self.grant_ms
    }

    settings!(request_ms, grant_ms, spread_ms, first_bytes, grant_bytes);
}

impl ElementTable for GrantedSpec {
    type Element = UplinkGrants;

    fn build(&self, _name: String, streams: &Streams<'_>) -> Result<UplinkGrants, Refusal> {
        let mut rng = streams.element();
        let phase = rng.uniform();
        Ok(UplinkGrants {
            spec: self.clone(),
            rng,
            phase,
            waiting: VecDeque::new(),
            bytes: 0,
            rest: 0,
            due: Time::NEVER,
            left: 0,
        })
    }
}

/// Uplink of a cellular modem.
#[derive(Clone, Debug)]
pub(crate) struct UplinkGrants {
    spec: GrantedSpec,
    rng: Rng,
    /// Phase of the request opportunities, as a share of the time between them.
    phase: f64,
    waiting: VecDeque<Packet>,
    /// Waiting bytes, without the part of the first packet that has left.
    bytes: u64,
    /// Remaining bytes of the first packet.
    rest: u64,
    /// Time of the next grant.
    due: Time,
    /// Remaining bytes of the grant.
    left: u64,
}

fn span(ms: f64) -> Span {
    Span::from_secs_f64(ms / 1e3)
}

impl UplinkGrants {
    /// Returns the first request opportunity at or after `now`.
    fn opportunity(&self, now: Time) -> Time {
        let distance = span(self.spec.request_ms).as_ns().max(1);
        let first = (distance as f64 * self.phase) as u64;
        let since = now.as_ns().saturating_sub(first);
        Time::ZERO + Span::from_ns(first + since.div_ceil(distance) * distance)
    }

    /// Plans a grant of `bytes` that was requested at `time`.
    fn grant(&mut self, time: Time, bytes: u64) {
        let later = span(self.spec.spread_ms).mul_f64(self.rng.uniform());
        self.due = time + span(self.spec.grant_ms) + later;
        self.left = bytes;
    }

    /// Reports at `now` the waiting bytes: the next grant has this size.
    fn announce(&mut self, now: Time) {
        let most = self.spec.grant_bytes.map_or(u64::MAX, u64::from);
        self.grant(now, self.bytes.min(most));
    }
}

impl Element for UplinkGrants {
    type Table = GrantedSpec;

    #[inline]
    fn arrive<T: Tap>(&mut self, now: Time, packet: Packet, _tap: &mut T) -> Option<Packet> {
        if self.waiting.is_empty() {
            self.grant(self.opportunity(now), u64::from(self.spec.first_bytes));
            self.rest = u64::from(packet.size_bytes);
        }
        self.bytes += u64::from(packet.size_bytes);
        self.waiting.push_back(packet);
        None
    }

    #[inline]
    fn next_event(&self) -> Time {
        self.due
    }

    #[inline]
    fn step<T: Tap>(&mut self, now: Time, _tap: &mut T) -> Option<Packet> {
        let part = self.rest.min(self.left);
        self.rest -= part;
        self.bytes -= part;
        self.left -= part;
        if self.rest > 0 {
            self.announce(now);
            return None;
        }
        let packet = self.waiting.pop_front();
        self.rest = self.waiting.front().map_or(0, |next| u64::from(next.size_bytes));
        if self.waiting.is_empty() {
            self.due = Time::NEVER;
        } else if self.left == 0 {
            self.announce(now);
        }
        packet
    }

    fn change(&mut self, _now: Time, table: &GrantedSpec) {
        self.spec = table.clone();
    }

    fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Bench, at_ms, at_us};

    const MODEM: &str = r#"[{"kind": "granted", "request_ms": 10, "grant_ms": 4}]"#;

    #[test]
    fn what_was_announced_leaves_with_the_next_grant() {
        let mut bench = Bench::new(MODEM);
        (0..8).for_each(|_| bench.send(at_us(1), 500));
        let first = bench.direction.next_event();
        let later = |ms| first + units::Span::from_ms(ms);
        // The first grant's report did not include this packet, so it waits for the third grant. The next packet comes
        // with that report.
        bench.send(later(1), 500);
        bench.send(later(4), 500);
        // Long after the last grant the modem requests again: opportunities are 10 ms apart, and one was 4 ms before
        // the first grant.
        bench.send(later(55), 500);
        bench.run_until(later(200));
        let times: Vec<_> = bench.out.iter().map(|(time, _)| *time).collect();
        assert_eq!(times[..3], [first; 3], "the first grant is of 1500 bytes");
        assert_eq!(times[3..8], [later(4); 5]);
        assert_eq!(times[8..], [later(8), later(12), later(56 + 4)]);
        assert!(bench.is_conserved() && bench.numbers().is_sorted());
    }

    #[test]
    fn sparse_packets_wait_for_an_opportunity_at_random() {
        let mut waits = Vec::new();
        for seed in 0..200 {
            let mut bench = Bench::seeded(MODEM, seed);
            (0..5).for_each(|i| bench.send(at_ms(100 * i + 3), 100));
            bench.run_until(at_ms(1000));
            let waits_us: Vec<u64> =
                bench.times_us().iter().zip(0..).map(|(out, i)| out - 100_000 * i - 3000).collect();
            // All packets, 100 ms apart, have the same phase to the opportunities.
            assert!(waits_us.windows(2).all(|pair| pair[0] == pair[1]), "{waits_us:?}");
            waits.push(waits_us[0] as f64 / 1e3);
        }
        assert!(waits.iter().all(|ms| (4.0..14.0).contains(ms)));
        // 4 ms plus uniform over 10 ms: a standard error of 0.2 ms.
        let mean = waits.iter().sum::<f64>() / 200.0;
        assert!((mean - 9.0).abs() < 0.8, "{mean}");
    }

    #[test]
    fn a_limited_grant_is_a_rate() {
        let json =
            r#"[{"kind": "granted", "request_ms": 10, "grant_ms": 4, "spread_ms": 2, "grant_bytes": 2000}]"#;
        let mut bench = Bench::new(json);
        (0..5000).for_each(|_| bench.send(at_us(1), 700));
        bench.run_until(at_ms(5000));
        // 2000 bytes every 5 ms on average, in parts of packets: 3.2 Mbit/s.
        let mbps = bench.out.len() as f64 * 700.0 * 8.0 / 5e6;
        assert!((mbps / 3.2 - 1.0).abs() < 0.02, "{mbps}");
        assert!(bench.is_conserved());
    }
}
