//! Display of a running flow's state. The flow's threads write it and another thread reads it; neither waits for the
//! other.

use congestion::FieldSink;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use units::{Span, Time};

/// Interval between two updates of the state.
const INTERVAL: Span = Span::from_ms(100);

/// Number of delay buckets, eight for each power of two of microseconds.
const BUCKETS: usize = 200;
/// Base-2 logarithm of the buckets per power of two.
const PARTS: u32 = 3;

/// Value of a sender's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// Name of the field.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Finite value.
    pub value: f64,
}

/// State of a flow's sender, and the flow's byte counts.
#[derive(Debug, Default)]
pub struct Board {
    state: Mutex<Vec<Shown>>,
    /// Counts of the packets and bytes that the ends of the flow sent and received. Unused if an emulated path counts
    /// them.
    pub meter: Meter,
}

impl Board {
    /// Returns the latest state of the sender; empty before the first update.
    pub fn state(&self) -> Vec<Shown> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the values that `fields` puts, unless a reader holds the lock.
    fn put(&self, fields: impl FnOnce(&mut dyn FieldSink)) {
        if let Ok(mut state) = self.state.try_lock() {
            state.clear();
            fields(&mut Rows(&mut state));
        }
    }
}

struct Rows<'a>(&'a mut Vec<Shown>);

impl FieldSink for Rows<'_> {
    fn put(&mut self, name: &'static str, unit: &'static str, value: f64) {
        if value.is_finite() {
            self.0.push(Shown { name, unit, value });
        }
    }
}

/// Updates the state of a sender on a board at intervals.
#[derive(Debug)]
pub(crate) struct Poster<'a> {
    board: Option<&'a Board>,
    next: Time,
}

impl<'a> Poster<'a> {
    /// Creates a poster that updates this board, if any.
    pub(crate) const fn to(board: Option<&'a Board>) -> Self {
        Self { board, next: Time::ZERO }
    }

    /// Stores the values that `fields` puts if an update is due.
    #[inline]
    pub(crate) fn put_due(&mut self, now: Time, fields: impl FnOnce(&mut dyn FieldSink)) {
        if let Some(board) = self.board.filter(|_| now >= self.next) {
            self.next = now + INTERVAL;
            board.put(fields);
        }
    }
}

/// Counters of a flow's sent and delivered packets, and of their delays. Each counter has only one writing thread.
#[derive(Debug)]
pub struct Meter {
    sent_bytes: AtomicU64,
    delivered_bytes: AtomicU64,
    delivered_packets: AtomicU64,
    delays: [AtomicU32; BUCKETS],
}

impl Default for Meter {
    fn default() -> Self {
        let zero = AtomicU64::default;
        Self {
            sent_bytes: zero(),
            delivered_bytes: zero(),
            delivered_packets: zero(),
            delays: std::array::from_fn(|_| AtomicU32::default()),
        }
    }
}

/// Values of a [`Meter`] at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Number of bytes sent since the start.
    pub sent_bytes: u64,
    /// Number of bytes delivered.
    pub delivered_bytes: u64,
    /// Number of packets delivered.
    pub delivered_packets: u64,
    delays: [u32; BUCKETS],
}

impl Default for Reading {
    fn default() -> Self {
        Self { sent_bytes: 0, delivered_bytes: 0, delivered_packets: 0, delays: [0; BUCKETS] }
    }
}

/// Adds to a counter with a single writer.
#[inline]
fn add(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

impl Meter {
    /// Counts a sent packet.
    #[inline]
    pub fn sent(&self, bytes: u32) {
        add(&self.sent_bytes, u64::from(bytes));
    }

    /// Counts a delivered packet.
    #[inline]
    pub fn delivered(&self, bytes: u32) {
        add(&self.delivered_bytes, u64::from(bytes));
        add(&self.delivered_packets, 1);
    }

    /// Counts a packet with this delay.
    #[inline]
    pub fn delayed(&self, by: Span) {
        let count = &self.delays[bucket(by.as_ns() / 1000)];
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Returns the current values.
    pub fn read(&self) -> Reading {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Reading {
            sent_bytes: read(&self.sent_bytes),
            delivered_bytes: read(&self.delivered_bytes),
            delivered_packets: read(&self.delivered_packets),
            delays: std::array::from_fn(|index| self.delays[index].load(Ordering::Relaxed)),
        }
    }
}

/// Returns the bucket of a delay, us.
#[inline]
const fn bucket(us: u64) -> usize {
    let bits = (us | 1).ilog2();
    let index = if bits < PARTS {
        us
    } else {
        (((bits - PARTS + 1) as u64) << PARTS) + ((us >> (bits - PARTS)) & ((1 << PARTS) - 1))
    };
    if index < BUCKETS as u64 { index as usize } else { BUCKETS - 1 }
}

/// Returns the middle of a bucket, ms.
fn middle_ms(bucket: usize) -> f64 {
    let parts = 1 << PARTS;
    if bucket < parts {
        return bucket as f64 / 1e3;
    }
    let width = (1_u64 << (bucket / parts - 1)) as f64;
    (width * ((bucket % parts + parts) as f64 + 0.5)) / 1e3
}

impl Reading {
    /// Returns percentiles of the delays since an earlier reading, ms, with 6 % accuracy; `None` without packets.
    pub fn delays_ms<const COUNT: usize>(
        &self,
        earlier: &Self,
        percents: [f64; COUNT],
    ) -> Option<[f64; COUNT]> {
        let counts = || {
            self.delays.iter().zip(&earlier.delays).map(|(now, before)| u64::from(now.wrapping_sub(*before)))
        };
        let all: u64 = counts().sum();
        let percentile = |percent: f64| {
            let wanted = ((percent / 100.0 * all as f64).ceil() as u64).clamp(1, all);
            let mut seen = 0;
            let found = counts().position(|count| {
                seen += count;
                seen >= wanted
            });
            middle_ms(found.unwrap_or(BUCKETS - 1))
        };
        (all > 0).then(|| percents.map(percentile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_is_in_a_bucket_whose_middle_is_near() {
        for us in (0..100_000).chain((17..26).map(|bits| (1 << bits) + 12_345)) {
            let middle_us = middle_ms(bucket(us)) * 1e3;
            assert!((middle_us - us as f64).abs() <= (0.07 * us as f64).max(0.5), "{us}: {middle_us}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert!((1..200_000).all(|us| bucket(us) >= bucket(us - 1)));
    }

    #[test]
    fn percentiles_are_of_what_came_since_the_last_look() {
        let meter = Meter::default();
        let first = meter.read();
        (0..100).for_each(|ms| meter.delayed(Span::from_ms(ms)));
        let second = meter.read();
        meter.delayed(Span::from_ms(500));
        let third = meter.read();
        let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.07;
        let [median, p95, most] = second.delays_ms(&first, [50.0, 95.0, 100.0]).unwrap();
        assert!(near(median, 49.0) && near(p95, 94.0) && near(most, 99.0), "{median} {p95} {most}");
        let [median, most] = third.delays_ms(&second, [50.0, 100.0]).unwrap();
        assert!(near(median, 500.0) && near(most, 500.0), "{median} {most}");
        assert_eq!(third.delays_ms(&third, [50.0]), None);
    }

    #[test]
    fn counts_go_on_from_the_start() {
        let meter = Meter::default();
        meter.sent(1500);
        meter.sent(40);
        meter.delivered(1500);
        let found = meter.read();
        assert_eq!((found.sent_bytes, found.delivered_bytes, found.delivered_packets), (1540, 1500, 1));
    }

    #[test]
    fn a_state_is_put_up_when_it_is_due_and_what_has_no_value_is_left_out() {
        let board = Board::default();
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let mut poster = Poster::to(Some(&board));
        for (ms, cwnd) in [(0, 1.0), (50, 2.0), (120, f64::INFINITY), (219, 4.0)] {
            poster.put_due(at(ms), |sink| {
                sink.put("cwnd", "packets", cwnd);
                sink.put("at", "ms", ms as f64);
            });
        }
        assert_eq!(board.state(), [Shown { name: "at", unit: "ms", value: 120.0 }]);
        Poster::to(None).put_due(at(0), |_| panic!("nobody looks"));
    }

    #[test]
    fn who_puts_up_does_not_wait_for_who_looks() {
        let board = Board::default();
        let held = board.state.lock().unwrap();
        board.put(|sink| sink.put("cwnd", "packets", 1.0));
        drop(held);
        assert_eq!(board.state(), []);
    }
}
