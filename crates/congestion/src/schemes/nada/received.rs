//! Packets that the receiver got in the last 500 ms.

use crate::AckedPacket;
use std::collections::VecDeque;
use units::{Span, Time};

/// Number of samples in the minimum filter over delays and RTTs.
const FILTER_SAMPLES: usize = 15;

/// Received packet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    bytes: u32,
    one_way_ns: i64,
}

/// Minimum of the last samples.
#[derive(Clone, Copy, Debug)]
struct MinFilter {
    samples: [i64; FILTER_SAMPLES],
    next: usize,
}

impl MinFilter {
    const fn new() -> Self {
        Self { samples: [i64::MAX; FILTER_SAMPLES], next: 0 }
    }

    const fn add(&mut self, sample: i64) {
        self.samples[self.next] = sample;
        self.next = (self.next + 1) % FILTER_SAMPLES;
    }

    fn get(&self) -> Option<i64> {
        self.samples.iter().copied().min().filter(|&least| least != i64::MAX)
    }
}

/// Arrivals of one flow, by the receiver's clock.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    window: Span,
    arrivals: VecDeque<Arrival>,
    bytes: u64,
    /// Minimum one-way delay since the flow began, ns with an unknown clock offset in it.
    base_ns: Option<i64>,
    one_way: MinFilter,
    rtt: MinFilter,
}

impl Received {
    /// Returns a state that remembers arrivals for `window`.
    pub(crate) fn new(window: Span) -> Self {
        Self {
            window,
            arrivals: VecDeque::new(),
            bytes: 0,
            base_ns: None,
            one_way: MinFilter::new(),
            rtt: MinFilter::new(),
        }
    }

    /// Adds a packet that was reported at `now`.
    pub(crate) fn add(&mut self, now: Time, packet: &AckedPacket) {
        let one_way_ns = packet.one_way_delay_ns();
        self.base_ns = Some(self.base_ns.map_or(one_way_ns, |base| base.min(one_way_ns)));
        self.one_way.add(one_way_ns);
        self.rtt.add((now - packet.sent_at).as_ns() as i64);
        self.arrivals.push_back(Arrival { at: packet.received_at, bytes: packet.bytes, one_way_ns });
        self.bytes += u64::from(packet.bytes);
        while let Some(oldest) = self.arrivals.front()
            && packet.received_at - oldest.at > self.window
        {
            self.bytes -= u64::from(oldest.bytes);
            self.arrivals.pop_front();
        }
    }

    /// Returns the number of packets in the window.
    pub(crate) fn packets(&self) -> usize {
        self.arrivals.len()
    }

    /// Returns the receive rate, bit/s; zero before two packets.
    pub(crate) fn rate_bps(&self) -> f64 {
        let (Some(first), Some(last)) = (self.arrivals.front(), self.arrivals.back()) else { return 0.0 };
        let span = last.at - first.at;
        if span.is_zero() {
            return 0.0;
        }
        // The first packet's bytes arrived before the span.
        (self.bytes - u64::from(first.bytes)) as f64 * 8.0 / span.as_secs_f64()
    }

    fn above_base_ms(&self, one_way_ns: i64) -> f64 {
        self.base_ns.map_or(0.0, |base| one_way_ns.saturating_sub(base) as f64 / 1e6)
    }

    /// Returns the filtered queueing delay, ms.
    pub(crate) fn queue_delay_ms(&self) -> f64 {
        self.one_way.get().map_or(0.0, |one_way_ns| self.above_base_ms(one_way_ns))
    }

    /// Returns the maximum queueing delay in the window, ms.
    pub(crate) fn largest_queue_delay_ms(&self) -> f64 {
        let largest = self.arrivals.iter().map(|arrival| arrival.one_way_ns).max();
        largest.map_or(0.0, |one_way_ns| self.above_base_ms(one_way_ns))
    }

    /// Returns the filtered RTT, ms.
    pub(crate) fn rtt_ms(&self) -> f64 {
        self.rtt.get().map_or(0.0, |rtt_ns| rtt_ns as f64 / 1e6)
    }
}
