//! Arriving direction: the packets received, the posterior of the link, and the forecast.
//!
//! Source: keithw/sprout@366e35c, `src/sprout/receiver.cc`.

use super::forecast::{Counts, Tables};
use super::model::Posterior;
use super::wire::{Forecast, Header};
use std::collections::VecDeque;
use std::sync::Arc;

/// Length of a tick, ms.
pub(super) const TICK_MS: u64 = 20;
/// Unit in which arrivals count, bytes.
const UNIT_BYTES: f64 = 1400.0;
/// Ticks by which the program's model has moved, without evidence, when a connection begins: its clock starts at 1000
/// ms and the model at 0.
const START_TICKS: usize = 49;
/// Maximum silence that is evaluated, ticks; after it nothing changes any more.
const LONGEST_SILENCE_TICKS: u64 = 500;

/// Direction of a connection at its receiving end. Times are ms.
#[derive(Debug)]
pub(super) struct Inbound {
    tables: Arc<Tables>,
    posterior: Posterior,
    quantile: f64,
    /// Expected silence after a packet that ends a flight.
    heartbeat: u64,
    /// End of the evaluated ticks; `None` before the first packet.
    evaluated: Option<u64>,
    /// End of the announced silence; until then silence is no evidence.
    silence_until: u64,
    /// Packets of the present tick.
    arrived: f64,
    /// Sequence number below which everything is received or lost.
    settled: u64,
    /// Sequence number and bytes of packets from `settled` on, in order.
    received: VecDeque<(u64, u64)>,
    /// Newest sequence number, to complete the shortened ones on the wire.
    newest: u64,
    counts: Counts,
    /// Tick for which `counts` was computed.
    counts_of: Option<u64>,
}

impl Inbound {
    pub(super) fn new(tables: Arc<Tables>, quantile: f64, heartbeat: u64) -> Self {
        let mut posterior = tables.posterior();
        (0..START_TICKS).for_each(|_| posterior.tick(None));
        let counts = tables.forecast(&posterior, quantile);
        Self {
            tables,
            posterior,
            quantile,
            heartbeat,
            evaluated: None,
            silence_until: 0,
            arrived: 0.0,
            settled: 0,
            received: VecDeque::with_capacity(256),
            newest: 0,
            counts,
            counts_of: None,
        }
    }

    pub(super) const fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// Returns the latest forecast without an update.
    pub(super) const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Evaluates all ticks that have ended.
    fn advance(&mut self, now: u64) {
        let Some(mut evaluated) = self.evaluated else { return };
        while evaluated + TICK_MS < now {
            let is_evidence = evaluated >= self.silence_until || self.arrived > 0.0;
            self.posterior.tick(is_evidence.then(|| whole_packets(self.arrived)));
            if is_evidence {
                self.arrived = 0.0;
            }
            evaluated += TICK_MS;
            let silence = now.saturating_sub(evaluated) / TICK_MS;
            evaluated += silence.saturating_sub(LONGEST_SILENCE_TICKS) * TICK_MS;
        }
        self.evaluated = Some(evaluated);
    }

    /// Handles a packet that arrived.
    pub(super) fn on_packet(&mut self, now: u64, header: &Header) {
        if self.evaluated.is_none() {
            (self.evaluated, self.silence_until) = (Some(now), now);
        }
        self.advance(now);
        let bytes = header.body_bytes();
        self.arrived += bytes as f64 / UNIT_BYTES;
        let sequence = header.sequence.near(self.newest);
        self.newest = self.newest.max(sequence);
        self.note(sequence, bytes);
        self.settle(sequence.saturating_sub(u64::from(header.throwaway_bytes)));
        let silence = if header.ends_flight { self.heartbeat } else { 0 };
        self.silence_until = self.silence_until.max(self.evaluated.unwrap_or(now) + silence);
    }

    fn note(&mut self, sequence: u64, bytes: u64) {
        let index = self.received.partition_point(|(other, _)| *other < sequence);
        match self.received.get_mut(index) {
            Some(known) if known.0 == sequence => known.1 = bytes,
            _ => self.received.insert(index, (sequence, bytes)),
        }
    }

    fn settle(&mut self, below: u64) {
        self.settled = self.settled.max(below);
        while self.received.front().is_some_and(|(sequence, _)| *sequence < self.settled) {
            self.received.pop_front();
        }
    }

    /// Returns the present forecast with its tick; `None` before the first packet.
    pub(super) fn forecast(&mut self, now: u64) -> Option<(u64, Forecast)> {
        self.advance(now);
        let tick = self.evaluated?;
        if self.counts_of != Some(tick) {
            self.counts = self.tables.forecast(&self.posterior, self.quantile);
            self.counts_of = Some(tick);
        }
        let bytes: u64 = self.received.iter().map(|(_, bytes)| bytes).sum();
        Some((tick, Forecast { received_or_lost: (self.settled + bytes).into(), counts: self.counts }))
    }
}

/// Rounds arrivals to a whole number; a part of a packet counts as one.
fn whole_packets(arrived: f64) -> u32 {
    if arrived > 0.0 && arrived < 1.0 { 1 } else { (arrived + 0.5) as u32 }
}

#[cfg(test)]
mod tests {
    use super::super::model::Motion;
    use super::*;

    fn inbound() -> Inbound {
        Inbound::new(Tables::get(Motion { sigma: 200.0, outage_escape: 1.0 }), 0.05, 50)
    }

    fn packet(sequence: u64, ends_flight: bool) -> Header {
        Header { sequence: sequence.into(), ends_flight, data_bytes: 1400, ..Header::default() }
    }

    /// Receives five packets per tick for a second, then silence; returns the mean rate after the silence.
    fn after_silence(announced: bool, silence: u64) -> f64 {
        let mut inbound = inbound();
        for number in 0..250 {
            inbound.on_packet(4 * number, &packet(1452 * number, announced));
        }
        inbound.forecast(996 + silence);
        inbound.posterior().mean()
    }

    #[test]
    fn announced_silence_is_no_evidence() {
        let before = after_silence(true, 0);
        // The unfinished tick had four packets.
        assert!((0.95..1.0).contains(&(after_silence(true, 50) / before)));
        assert!(after_silence(false, 50) < 0.8 * before);
        assert!(after_silence(true, 200) < 0.2 * before);
    }

    #[test]
    fn long_silences_end_where_longer_ones_do() {
        let (ten_seconds, a_year) = (after_silence(true, 10_000), after_silence(true, 31_536_000_000));
        assert!((ten_seconds - a_year).abs() < 1e-9, "{ten_seconds} {a_year}");
    }

    fn settled(inbound: &mut Inbound, known: u64) -> u64 {
        inbound.forecast(0).unwrap().1.received_or_lost.near(known)
    }

    #[test]
    fn packets_that_will_not_be_overtaken_any_more_count_as_lost() {
        let mut inbound = inbound();
        assert_eq!(inbound.forecast(0), None);
        inbound.on_packet(0, &packet(0, false));
        // The second of three packets is missing: only bodies that have arrived count.
        inbound.on_packet(0, &Header { throwaway_bytes: 2904, ..packet(2904, false) });
        assert_eq!(settled(&mut inbound, 2904), 2 * 1402);
        // A packet sent 10 ms later settles everything before it.
        inbound.on_packet(0, &packet(4356, true));
        assert_eq!(settled(&mut inbound, 4356), 4356 + 1402);
        // The missing packet arrives after all: it is settled already.
        inbound.on_packet(0, &Header { throwaway_bytes: 1452, ..packet(1452, false) });
        assert_eq!(settled(&mut inbound, 4356), 4356 + 1402);
    }

    #[test]
    fn something_is_never_nothing() {
        assert_eq!([0.0, 0.001, 0.6, 1.4, 1.5].map(whole_packets), [0, 1, 1, 1, 2]);
    }
}
