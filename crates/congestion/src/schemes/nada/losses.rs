//! Loss ratio, and loss intervals as in TFRC.

use crate::Loss;
use std::collections::VecDeque;
use units::{Span, Time};

/// Weights of the last loss intervals, newest first (RFC 5348 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Losses of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    window: Span,
    /// Times of the recent losses, and their numbers.
    recent: VecDeque<(Time, u64)>,
    ratio: f64,
    /// Number of packets from one loss event to the next, newest first.
    intervals: [f64; WEIGHTS.len()],
    count: usize,
    /// First lost packet of the latest event.
    event: u64,
    /// Number below which losses belong to that event.
    floor: u64,
    newest_acked: u64,
}

impl Losses {
    /// Returns a counter of losses over `window`.
    pub(crate) fn new(window: Span) -> Self {
        Self {
            window,
            recent: VecDeque::new(),
            ratio: 0.0,
            intervals: [0.0; WEIGHTS.len()],
            count: 0,
            event: 0,
            floor: 0,
            newest_acked: 0,
        }
    }

    /// Adds packets that were declared lost; the losses of one flight are one event.
    pub(crate) fn add(&mut self, loss: &Loss<'_>) {
        self.recent.push_back((loss.now, loss.packets.len() as u64));
        let Some(first) = loss.packets.iter().map(|packet| packet.number).find(|&n| n >= self.floor) else {
            return;
        };
        self.intervals.rotate_right(1);
        self.intervals[0] = (first - self.event).max(1) as f64;
        self.count = (self.count + 1).min(WEIGHTS.len());
        self.event = first;
        self.floor = loss.next_number;
    }

    pub(crate) fn acknowledged(&mut self, number: u64) {
        self.newest_acked = self.newest_acked.max(number);
    }

    /// Averages the loss ratio of the window in which `received` packets arrived; returns the average.
    pub(crate) fn update(&mut self, now: Time, received: usize, alpha: f64) -> f64 {
        while self.recent.front().is_some_and(|&(at, _)| now - at > self.window) {
            self.recent.pop_front();
        }
        let lost: u64 = self.recent.iter().map(|&(_, lost)| lost).sum();
        let ratio = if lost > 0 { lost as f64 / (lost as f64 + received as f64) } else { 0.0 };
        self.ratio += alpha * (ratio - self.ratio);
        self.ratio
    }

    /// Returns true if anything was lost in the window of the last update.
    pub(crate) fn in_window(&self) -> bool {
        !self.recent.is_empty()
    }

    /// Returns the averaged loss ratio.
    pub(crate) const fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Returns the number of packets since the latest loss event, and its weighted average between events; `None`
    /// before the first event.
    pub(crate) fn intervals(&self) -> Option<(f64, f64)> {
        if self.count == 0 {
            return None;
        }
        let weights = &WEIGHTS[..self.count];
        let total: f64 =
            weights.iter().zip(&self.intervals).map(|(weight, interval)| weight * interval).sum();
        let current = self.newest_acked.saturating_sub(self.event) as f64;
        Some((current, total / weights.iter().sum::<f64>()))
    }
}
