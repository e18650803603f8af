//! Maximum flight of the last second: near the highest bitrate the window must not exceed it by much.

use units::{Span, Time};

const SLOTS: usize = 20;
const SLOT: Span = Span::from_ms(50);

/// Maxima of 20 slots of 50 ms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    slots: [f64; SLOTS],
    next: usize,
    began: Option<Time>,
    current: f64,
}

impl Peak {
    /// Adds a value; returns true if a slot ended with it.
    pub(crate) fn add(&mut self, now: Time, value: f64) -> bool {
        self.current = self.current.max(value);
        let ended = now - *self.began.get_or_insert(now) > SLOT;
        if ended {
            self.slots[self.next] = self.current;
            self.next = (self.next + 1) % SLOTS;
            (self.began, self.current) = (Some(now), value);
        }
        ended
    }

    pub(crate) fn get(&self) -> f64 {
        self.slots.iter().copied().fold(self.current, f64::max)
    }
}
